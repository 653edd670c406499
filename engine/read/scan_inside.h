/*
 * scan_inside.h - shared by the files of the scan.
 *
 *     scan.c         buffers and records, and what each kind of event becomes
 *     scan_lean.c    the same for the few most frequent kinds
 *     scan_stacks.c  stacks on their way to their events
 *     scan_custom.c  events of custom allocators, with their stacks
 *     scan_heaps.c   events of whole heaps
 */
#ifndef ETLHEAP_SCAN_INSIDE_H
#define ETLHEAP_SCAN_INSIDE_H

#include "half_walks.h"
#include "wait_limit.h"

/* The kinds of records that scan_lean() handles. */
typedef enum lean_sort { LEAN_ALLOC, LEAN_FREE, LEAN_STACK, LEAN_STACK_KEY, LEAN_SORTS } lean_sort;

typedef struct scanner {
    const scan_input *input;
    scan_output *out;
    const tick_map *map;      /* clock of the buffer */
    const etl_record *record; /* the current one; not in scan_lean() */
    const etl_buffer *buffer; /* behind the current record; not in scan_lean() */
    i64 ticks;                /* of the record, base clock */
    u64 resolve_ticks;        /* stacks that come later than this are left to the join */
    bool out_of_memory;       /* ran out of memory in scan_lean() */
    stack_ring ring;
    u32 resolved; /* number of events that got a stack in the ring */
    half_walks walks;
    stack_queue queue;
    inventory_count lean_counts[LEAN_SORTS]; /* not added to the inventory yet */
    u64 *widened; /* room for STACK_FRAMES_MAX frames, to widen 4-byte ones */
} scanner;

/*
 * Reads records as long as they are plain, and stops at the first that is not. Does for them what
 * etl_record_next() and the handlers of scan.c do. Not used if times must be converted. False if
 * memory runs out.
 */
bool scan_lean(scanner *s, etl_buffer *buffer);

/* Adds the counts of scan_lean() to the inventory. False if memory runs out. */
bool scan_lean_count(scanner *s);

/* Finds the event of a part in the ring, and its sort. NULL if the ring does not have it, or if
 * another event is possible. */
stack_ring_entry *scan_find_event(scanner *s, const part_name *name, event_sort *sort);

/* True if the stack follows its event so soon that no limit on waiting matters. Only then may the
 * scan resolve a stack, because the stacks in one task depend on slices and the join must not
 * decide differently. */
static inline bool scan_is_soon(const scanner *s, i64 event_ticks, i64 ticks)
{
    return (u64)ticks - (u64)event_ticks <= s->resolve_ticks;
}

/* The frames of a stack, 8 bytes each, cut to the largest number. */
typedef struct frame_view {
    const void *at;
    u32 count;
    stack_part part;
} frame_view;

/* Makes a view of a stack's frames. Frames of 4 bytes are widened in a shared place, so pending
 * stacks there are looked up first. False if memory runs out. */
bool scan_view_frames(scanner *s, const u8 *frames, u32 frame_bytes, u32 count, frame_view *out);

/* Looks the stack up soon, and writes its reference to the place that `target` and `index` name.
 * False if memory runs out. */
bool scan_request_stack(scanner *s, const frame_view *frames, stack_target target, size_t index);

/* Appends an event of the current record to the task's events. False if memory runs out. */
bool scan_push_event(scanner *s, memory_event event);

/* Appends an event as it is, to be counted. False if memory runs out. */
bool scan_append_event(scan_output *out, const memory_event *event);

/* Handles an allocation or free of a custom allocator. False if memory runs out. */
bool scan_custom(scanner *s, const etl_event *event);

/* Records the process id and the order of times of an appended event. */
bool scan_note_event(scan_output *out, const memory_event *event);

/* The shard of a heap event, which is that of its block. */
static inline u8 scan_heap_shard(u64 address, u32 pid)
{
    return (u8)((u32)(etlheap_mix_u64(address ^ (u64)pid << 40) >> 32) % HEAP_SHARDS);
}

/* The process that was running, for what the system owns. The idle process asks for nothing; what
 * interrupts it does. */
static inline u32 scan_running(const scanner *s)
{
    const bool is_known = s->record->pid != ETL_NO_ID && s->record->pid != 0;
    return is_known ? s->record->pid : SYSTEM_PID;
}

/* Events of one block are in one shard, also if another process frees what outlives processes. */
static inline u8 scan_range_shard(const memory_event *event)
{
    const bool is_shared = etlheap_kind_has(op_kind(event->op), ETLHEAP_KIND_OUTLIVES);
    const u32 pid = is_shared ? 0 : event->pid;
    return (u8)(HEAP_SHARDS + (u32)(etlheap_mix_u64(pid) >> 32) % RANGE_SHARDS);
}

#endif
