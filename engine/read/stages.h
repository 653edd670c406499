/*
 * stages.h - the inputs and outputs of each stage of a slice.
 *
 *     scan  (per task)   records -> memory events, stack parts, system events
 *     merge (in order)   new stacks of tasks -> the run's stack table
 *     context            system events -> process and heap histories
 *     keys, join         stack parts -> the stack reference of each event
 *     order (per bucket) memory events in time order, cut into shards
 *     pair  (per shard)  memory events -> lifetimes, or entries of the event list
 *
 * A task owns everything it makes until the next stage reads it. Events of heaps are divided into
 * shards by (process id, address), so that all events of a block are in one shard; those of ranges
 * (VirtualAlloc, heap extents) by process id only.
 */
#ifndef ETLHEAP_STAGES_H
#define ETLHEAP_STAGES_H

#include "engine/context/context.h"
#include "engine/context/heap_sizes.h"
#include "engine/context/meminfo.h"
#include "engine/context/stacks.h"
#include "engine/context/thread_names.h"
#include "engine/engine.h"
#include "inventory.h"
#include "mark_events.h"
#include "plan.h"

#define HEAP_SHARDS  32
#define RANGE_SHARDS 8
#define SHARDS       (HEAP_SHARDS + RANGE_SHARDS)

/* Padding between data that two shards write for every event. Otherwise threads would take the
 * cache line from each other; processors fetch lines in pairs. */
#define SHARD_PADDING 128

typedef enum memory_op {
    OP_COUNT_HEAP, /* a heap event that only counts */
    OP_ALLOC,
    OP_FREE,
    OP_REALLOC_NEW,    /* moving realloc, at the new address */
    OP_REALLOC_UNSEEN, /* ... if the thread logged no free of the old address before it */
    OP_REALLOC_OLD,    /* moving realloc, at the old address ... */
    OP_REALLOC_FREED,  /* ... if its own alloc and free were logged before it */
    OP_REALLOC_ALONE,  /* ... in a trace in which no realloc had them so far */
    OP_REALLOC_CLOSE,  /* in-place realloc: the old block, ... */
    OP_REALLOC_SAME,   /* ... and the new one */
    OP_COMMIT,
    OP_RESERVE,       /* before the commit of the same call */
    OP_RESERVE_ALONE, /* by a call that commits nothing */
    OP_DECOMMIT,
    OP_RELEASE,
    OP_POOL_ALLOC,
    OP_POOL_FREE,
    OP_HANDLE_CREATE,
    OP_HANDLE_CLOSE,
    OP_MAP,
    OP_UNMAP,
    OP_SECTION_CREATE,
    OP_SECTION_DELETE,
    OP_RUNDOWN_START,
    OP_RUNDOWN_END,
    OP_POOL_AT_START,
    OP_POOL_AT_END,
    OP_HANDLE_AT_START,
    OP_HANDLE_AT_END,
    OP_MAPPED_AT_START,
    OP_MAPPED_AT_END,
    OP_SECTION_LISTED,
    OP_CUSTOM_ALLOC, /* by a custom allocator */
    OP_CUSTOM_FREE,  /* size 0: the whole block */
    OP_EXPAND,
    OP_CONTRACT
} memory_op;

/* What an event does with the block of its key, if it is of a kind whose blocks are found by key
 * (pair/key_blocks.h). */
typedef enum key_effect { KEY_NONE, KEY_ALLOC, KEY_FREE, KEY_AT_START, KEY_AT_END } key_effect;

static inline key_effect op_key_effect(u8 op)
{
    switch (op) {
    case OP_POOL_ALLOC:
    case OP_HANDLE_CREATE:
    case OP_MAP:
    case OP_SECTION_CREATE:
        return KEY_ALLOC;
    case OP_POOL_FREE:
    case OP_HANDLE_CLOSE:
    case OP_UNMAP:
    case OP_SECTION_DELETE:
        return KEY_FREE;
    case OP_POOL_AT_START:
    case OP_HANDLE_AT_START:
    case OP_MAPPED_AT_START:
    case OP_SECTION_LISTED:
        return KEY_AT_START;
    case OP_POOL_AT_END:
    case OP_HANDLE_AT_END:
    case OP_MAPPED_AT_END:
        return KEY_AT_END;
    default:
        return KEY_NONE;
    }
}

/* The kind of an op that has a key_effect. */
static inline etlheap_kind op_key_kind(u8 op)
{
    switch (op) {
    case OP_HANDLE_CREATE:
    case OP_HANDLE_CLOSE:
    case OP_HANDLE_AT_START:
    case OP_HANDLE_AT_END:
        return ETLHEAP_KIND_HANDLE;
    case OP_MAP:
    case OP_UNMAP:
    case OP_MAPPED_AT_START:
    case OP_MAPPED_AT_END:
        return ETLHEAP_KIND_MAPPED;
    case OP_SECTION_CREATE:
    case OP_SECTION_DELETE:
    case OP_SECTION_LISTED:
        return ETLHEAP_KIND_SECTION;
    default:
        return ETLHEAP_KIND_POOL;
    }
}

/* The kind of memory that an op is about. */
static inline etlheap_kind op_kind(u8 op)
{
    if (op < OP_COMMIT)
        return ETLHEAP_KIND_HEAP;
    if (op >= OP_EXPAND)
        return ETLHEAP_KIND_EXTENT;
    if (op_key_effect(op) != KEY_NONE)
        return op_key_kind(op);
    return op >= OP_CUSTOM_ALLOC ? ETLHEAP_KIND_CUSTOM : ETLHEAP_KIND_VIRTUALALLOC;
}

/* The kinds that a session records if it has an event with this op, as bits. */
static inline u32 op_kinds(memory_op op)
{
    const etlheap_kind kind = op_kind((u8)op);
    return 1u << kind | (kind == ETLHEAP_KIND_VIRTUALALLOC ? 1u << ETLHEAP_KIND_RESERVE : 0);
}

/* The same for the counts of a process (etlheap_process_info.events): extents are with heaps. */
static inline etlheap_kind op_counts_for(u8 op)
{
    return op >= OP_EXPAND ? ETLHEAP_KIND_HEAP : op_kind(op);
}

/* True for ops that begin a lifetime and may have a stack. */
static inline bool op_wants_stack(memory_op op)
{
    return op == OP_ALLOC || op == OP_REALLOC_NEW || op == OP_REALLOC_UNSEEN ||
           op == OP_REALLOC_SAME || op == OP_COMMIT || op == OP_RESERVE_ALONE ||
           op == OP_POOL_ALLOC || op == OP_HANDLE_CREATE || op == OP_MAP ||
           op == OP_SECTION_CREATE || op == OP_EXPAND;
}

/* True for ops without stack records: a session, not a thread, logs rundowns of all processes when
 * it begins or ends, and events of custom allocators contain their stacks. */
static inline bool op_has_no_walk(u8 op)
{
    return op >= OP_RUNDOWN_START && op <= OP_CUSTOM_FREE;
}

/* The CPU of events in traces without buffers per processor. */
#define CPU_UNKNOWN UINT16_MAX

/* True if the events may be from different CPUs. Only then can they be out of order. */
static inline bool may_be_two_cpus(u16 a, u16 b)
{
    return a != b || a == CPU_UNKNOWN;
}

typedef struct memory_event {
    i64 ticks;
    u64 address;
    u64 size; /* requested bytes; OLD, FREED, ALONE: the old size; RUNDOWN: committed bytes */
    u64 heap; /* handle, CUSTOM: etlheap_custom_heap; rundowns: region size; RESERVE, _ALONE: 1
                 in place of a placeholder; MAP: key of the file, until scan_name_views */
    u32 pid;  /* the memory's owner */
    u32 tid;  /* ETL_NO_ID unknown */
    union {
        stack_ref stack;
        u32 since_alloc; /* OLD: ticks since the realloc's own alloc, + 1; 0: not seen */
    };
    u8 op; /* memory_op */
    u8 shard;
    u16 cpu;
} memory_event;

static_assert(sizeof(memory_event) == 48, "memory events are the bulk of a slice");

typedef enum stack_part {
    PART_KERNEL, /* kernel frames only */
    PART_USER,   /* user frames only */
    PART_WHOLE   /* kernel and then user frames in one record */
} stack_part;

/*
 * What raises an event. A program raises events of blocks and extents, and its thread walks the
 * whole stack right away. The kernel raises commits. It walks its part of the stack at once, and
 * the user part when the thread returns to the program.
 */
typedef enum event_sort {
    SORT_UNKNOWN,
    SORT_BLOCK,
    SORT_COMMIT, /* commit or reservation, and what else the kernel hands out */
    SORT_EXTENT,
    SORT_UNWANTED, /* raised by the kernel, stack not needed */
    SORT_UNSURE,   /* unknown: an event without a thread follows, which may be meant */
    SORT_SPENT     /* the program's last event needs no stack, and none of the task lacks one */
} event_sort;

/* Asked for every stack, so it is a look-up for all but heap events, which most are. */
static inline event_sort event_sort_of(u8 op)
{
    static const u8 sorts[] = {
        [OP_COMMIT] = SORT_COMMIT,
        [OP_RESERVE] = SORT_UNWANTED,
        [OP_RESERVE_ALONE] = SORT_COMMIT,
        [OP_DECOMMIT] = SORT_UNWANTED,
        [OP_RELEASE] = SORT_UNWANTED,
        [OP_POOL_ALLOC] = SORT_COMMIT,
        [OP_POOL_FREE] = SORT_UNWANTED,
        [OP_HANDLE_CREATE] = SORT_COMMIT,
        [OP_HANDLE_CLOSE] = SORT_UNWANTED,
        [OP_HANDLE_AT_START] = SORT_UNWANTED,
        [OP_HANDLE_AT_END] = SORT_UNWANTED,
        [OP_RUNDOWN_START] = SORT_UNWANTED,
        [OP_RUNDOWN_END] = SORT_UNWANTED,
        [OP_POOL_AT_START] = SORT_UNWANTED,
        [OP_POOL_AT_END] = SORT_UNWANTED,
        [OP_CUSTOM_ALLOC] = SORT_UNWANTED,
        [OP_CUSTOM_FREE] = SORT_UNWANTED,
        [OP_EXPAND] = SORT_EXTENT,
        [OP_MAP] = SORT_COMMIT,
        [OP_UNMAP] = SORT_UNWANTED,
        [OP_SECTION_CREATE] = SORT_COMMIT,
        [OP_SECTION_DELETE] = SORT_UNWANTED,
        [OP_SECTION_LISTED] = SORT_UNWANTED,
        [OP_MAPPED_AT_START] = SORT_UNWANTED,
        [OP_MAPPED_AT_END] = SORT_UNWANTED,
        [OP_CONTRACT] = SORT_EXTENT,
    };
    static_assert(ETL_COUNT_OF(sorts) == OP_CONTRACT + 1, "each op has a sort");
    return op < OP_COMMIT ? SORT_BLOCK : (event_sort)sorts[op];
}

/* True for ops that end ranges or extents. Their stacks are needed with wants_frees. */
static inline bool op_ends_range(u8 op)
{
    return op == OP_DECOMMIT || op == OP_RELEASE || op == OP_POOL_FREE || op == OP_HANDLE_CLOSE ||
           op == OP_UNMAP || op == OP_SECTION_DELETE || op == OP_CONTRACT;
}

/* True for ops that free memory and may have a stack of their own. */
static inline bool op_frees(u8 op)
{
    return op == OP_FREE || op_key_effect(op) == KEY_FREE || op_ends_range(op);
}

/* True if the part can be the first, or the whole, of the stack of an event with this op. */
static inline bool part_suits(stack_part part, u8 op)
{
    return (part == PART_USER) == (op < OP_COMMIT || op >= OP_EXPAND);
}

/* The result of a piece in the join: whether an event that begins a lifetime took it, and whether
 * it may also be the user half of other events' stacks. */
typedef enum piece_fate { PIECE_LEFT, PIECE_TAKEN, PIECE_SHARED } piece_fate;

/* A piece of a stack that the join assigns to its event. */
typedef struct stack_piece {
    i64 ticks;       /* time of the stack record */
    i64 event_ticks; /* time of the event it belongs to */
    u64 key;         /* with is_key */
    u32 pid, tid;
    stack_ref stack;   /* without is_key */
    u32 events_before; /* events of its task before it */
    u32 task;          /* task in the slice; set when pieces are gathered */
    u16 cpu;
    u8 part : 2;    /* stack_part */
    u8 fate : 2;    /* piece_fate */
    u8 sort : 4;    /* event_sort of its event */
    u8 session : 7; /* stream_session of the session that logged it */
    bool is_key : 1;
} stack_piece;

/* The number of a session. If there are unusually many sessions, some share a number. */
static inline u8 stream_session(u64 stream)
{
    return (plan_trace(stream) * 7 + plan_session(stream)) & 127;
}

/* The result for an event whose stack had not arrived when its slice ended: its final reference,
 * and its thread if a piece had it. */
typedef struct waiting_origin {
    stack_ref stack;
    u32 tid; /* ETL_NO_ID unknown */
} waiting_origin;

/* A thread id begins or ceases to name a thread. */
typedef struct thread_turn {
    i64 ticks;
    u32 tid;
} thread_turn;

/* A user-half key with a known event, by far the most common case. */
typedef struct key_use {
    i64 ticks;
    u64 key;
    u32 event;       /* index in the task's events */
    bool is_unasked; /* of a free: not counted among the needed keys */
} key_use;

typedef struct key_definition {
    i64 ticks;
    u64 key;
    u64 stream;
    u32 order; /* in the slice; set when tasks are merged */
    stack_ref stack;
    bool is_kernel;
} key_definition;

/* The first realloc that had its alloc and free logged before it. */
typedef struct first_trail {
    i64 ticks;
    bool is_known;
} first_trail;

/* The free that a moving realloc logged. Without a stack of its own, it has the realloc's. */
typedef struct realloc_free {
    i64 ticks;   /* of the free */
    u32 summary; /* the realloc's first row, in its task */
    u32 task;    /* of the free, + 1; 0: of an earlier slice */
    u32 event;   /* of the free, in its task */
} realloc_free;

#define REALLOC_FREE_SAME_TASK UINT32_MAX

/* Consecutive events of one process id. */
typedef struct pid_span {
    u32 pid, count;
    i64 first_ticks, last_ticks;
} pid_span;

#define SCAN_SAMPLE_STEP 128u

/* The output of one task of a slice. */
typedef struct scan_output {
    ETLHEAP_VECTOR(memory_event) events;
    ETLHEAP_VECTOR(pid_span) spans;   /* of the events */
    bool is_unsorted;                 /* times of events go back */
    ETLHEAP_VECTOR(i64) sample;       /* time of every SCAN_SAMPLE_STEP-th event */
    ETLHEAP_VECTOR(u32) unresolved;   /* events that need a stack and have none, last first */
    ETLHEAP_VECTOR(u32) local_events; /* events with a stack that is new in the task */
    ETLHEAP_VECTOR(u32) trails;       /* reallocs to be completed, see realloc_trail.h */
    first_trail first_trail;          /* first trail that is wholly on one CPU */
    ETLHEAP_VECTOR(realloc_free) realloc_frees; /* with wants_frees */
    ETLHEAP_VECTOR(u32) range_frees; /* events for which op_ends_range is true, with wants_frees */
    ETLHEAP_VECTOR(stack_piece) pieces;
    ETLHEAP_VECTOR(thread_turn) turns;
    thread_notes thread_names; /* their text is in the arena */
    mark_notes marks;          /* likewise */
    ETLHEAP_VECTOR(key_use) key_uses;
    ETLHEAP_VECTOR(key_definition) definitions;
    ETLHEAP_VECTOR(system_event) system;
    heap_notes heap_notes;
    memory_notes memory_notes;
    ETLHEAP_VECTOR(inventory_target) targets; /* with keeps_targets */
    u64 met;                                  /* stack records that found their event at once */
    u64 item_free_stacks; /* events that free memory and contain their stack; with keeps_targets */
    stack_table new_stacks;
    etlheap_arena arena;
    record_inventory inventory;
    etl_diag_counts diag;
    u64 stream;
    i64 last_ticks; /* latest record, INT64_MIN without one */
    u32 kinds;      /* bit per etlheap_kind: of its memory events */
    etl_status status;
} scan_output;

/* The run's data that a scan reads. */
typedef struct scan_input {
    etl_trace *const *traces;
    const timebase *base;
    const stack_table *stacks;
    plan_buffer *buffers; /* of the task; resume is written */
    u32 buffer_count;
    i64 end_ticks;
    bool inventory_only; /* only count records */
    bool keeps_targets;  /* for inventory_match.h */
    bool no_lean;        /* for tests: handle all records the slow way, with the same output */
    bool wants_frees;    /* a question asks who freed */
    bool wants_files;    /* views get the names of their files */
    const etl_custom_allocator *custom_allocators; /* in addition to built-in ones */
    u32 custom_allocator_count;
    const mark_events *mark_events; /* NULL: only PerfInfo marks are marks */
} scan_input;

/* Reads the task's buffers up to end_ticks. *out starts as {0}; `scratch` belongs to the thread.
 * Failures are in out->status. */
void scan_task(const scan_input *input, etl_scratch *scratch, scan_output *out);

/* Fills out->sample when the events are complete. Part of scan_task, because the thread that cuts
 * the slice would have to fetch the events from another core. False if memory runs out. */
bool scan_take_sample(scan_output *out);

/* Gives stacks that are new in a task their final ids. False if memory runs out. */
bool scan_merge_stacks(scan_output *task, stack_table *stacks);

/* Gives the views of all tasks the numbers of their files, once the context knows the events of the
 * slice. False if memory runs out. */
bool scan_name_views(scan_output *tasks, u32 task_count, file_names *files);

/* Empties the output for another task, and keeps its memory and inventory. */
void scan_output_reset(scan_output *out);

void scan_output_free(scan_output *out);

#endif
