/*
 * workload_world.h - programs that use memory as fuzz bytes say, the traces they leave,
 * and what became of each block and page.
 *
 *     bytes ──▶ world ──▶ one or two builders ──▶ traces
 *                 └─────▶ lives: the truth, from the world's own book-keeping
 *
 * Any bytes are a program: 8 for the machine, then 8 for each operation, of few processes,
 * threads, heaps and addresses, so that they meet. Nothing impossible happens: a thread
 * does one thing after another, no block is handed out while it is in use, and what
 * follows from something else is never at the same tick on another processor, since a
 * trace has no order for that and neither has the truth.
 *
 *     machine    +0 CPUs, one stream  +1 flags (world_flag)  +2 buffer size  +3 +4 how the
 *                trace is analyzed (fuzz_workload.c)  +5 window  +6 questions  +7 what is lost
 *     operation  +0 what  +1 who: 3 bits thread, 2 bits CPU, 3 bits variant  +2 time step
 *                +3 heap, process  +4 address  +5 size  +6 4 bits stack, 4 bits its form
 *                +7 delays
 */
#ifndef FUZZ_WORKLOAD_WORLD_H
#define FUZZ_WORKLOAD_WORLD_H

#include "engine/engine.h"
#include "engine/core/arena.h"
#include "tests/build/etl_build.h"

#define WORLD_BYTES      8u /* of the machine, and of an operation */
#define WORLD_OPS_MAX    256u
#define WORLD_PROCESSES  3u
#define WORLD_THREADS    6u
#define WORLD_HEAPS      3u
#define WORLD_BLOCKS     8u
#define WORLD_PAGES      32u
#define WORLD_PAGE       0x1000u
#define WORLD_FRAMES_MAX 12u
#define WORLD_WAITS_MAX  3u
#define WORLD_CPUS_MAX   4u
#define WORLD_NONE       UINT32_MAX

typedef enum world_flag {
    WORLD_KEYED = 1,
    WORLD_TWO_FILES = 2,
    WORLD_COMPRESSED = 4,
    WORLD_TIDLESS = 8,       /* VirtualAlloc records without a thread */
    WORLD_REALLOC_ONLY = 16, /* a moving realloc is one record */
    WORLD_NO_STACKS = 32,    /* of heap events */
    WORLD_FREE_STACKS = 64,
    WORLD_RUNDOWN_LATE = 128 /* processes are told of at the end alone */
} world_flag;

/* When and where the last record about something was written. */
typedef struct world_stamp {
    i64 ticks;
    u32 place; /* CPU and file; WORLD_NONE: none has the same */
} world_stamp;

/* A lifetime, as far as it has come. Its frames are those of `walk`. */
typedef struct world_life {
    u8 kind, free_type;
    bool is_realloc;
    u32 process;   /* index in world.ids */
    u32 tid;       /* ETL_NO_ID: no record tells */
    u32 walk;      /* index in world.walks */
    u32 free_walk; /* the same, of the free; WORLD_NONE: it has none */
    u64 heap, address, size;
    i64 alloc_ticks, free_ticks;
    i64 summary_ticks; /* of the realloc that moved it here */
} world_life;

/* What was recorded of a stack: numbers + 1 of the two halves, 0: nothing. */
typedef struct world_walk {
    u8 kernel, user;
} world_walk;

typedef struct world_id {
    u32 pid;
    const char *name;
    u64 unknown[ETLHEAP_KIND_COUNT]; /* frees of what was never allocated */
} world_id;

typedef struct world_block {
    u32 life; /* index + 1; 0: free */
    bool has_displaced;
    world_stamp last; /* nothing is done to it before */
    i64 late_ticks;   /* until then its last free is not logged */
    u32 late_place, late_tid;
} world_block;

/* The heaps and addresses that a thread's last two block records free, the last one first; 0:
 * it frees nothing. And what the last one allocates; 0: nothing. */
typedef struct world_frees {
    u64 heaps[2], addresses[2];
    u64 allocated, size;
} world_frees;

/* Which call committed a page: index + 1 in world.commits. */
typedef struct world_pages {
    u16 commit[WORLD_PAGES];
    bool is_known[WORLD_PAGES];
} world_pages;

typedef struct world_heap {
    bool is_open;
    u64 handle;
    world_stamp last, extents_last;
    world_block blocks[WORLD_BLOCKS];
    world_pages extents;
} world_heap;

typedef struct world_process {
    bool is_alive, ran_before;
    u32 id; /* index in world.ids */
    u32 pid;
    i64 quiet_ticks; /* its last record */
    world_heap heaps[WORLD_HEAPS];
    world_pages pages;
    u8 region[WORLD_PAGES]; /* number of its reservation; 0: none */
    u8 regions;
    world_stamp memory_last;
} world_process;

typedef struct world_thread {
    bool is_alive;
    u32 process; /* index in world.processes */
    u32 tid, cpu;
    i64 busy_ticks; /* of its last record */
    u32 waits[WORLD_WAITS_MAX];
    u32 wait_count; /* walks without their user half: it is in the kernel */
    i64 wait_ticks; /* of the last one's event */
} world_thread;

typedef struct world {
    etl_build *system, *heap; /* the same with one file */
    u8 flags;
    u32 cpus;
    bool one_stream, is_lossy, tells_pages;
    i64 now, start, virtual_ticks;
    u32 pids_in_use, tids_in_use; /* bits */
    i64 pid_ended[WORLD_PROCESSES];
    /* By pid and tid, which are taken again, and CPU; the last is for all. */
    world_frees frees[WORLD_PROCESSES][WORLD_THREADS][WORLD_CPUS_MAX + 1];
    world_process processes[WORLD_PROCESSES];
    world_thread threads[WORLD_THREADS];
    ETLHEAP_VECTOR(world_id) ids;
    ETLHEAP_VECTOR(world_life) lives;
    ETLHEAP_VECTOR(world_life) commits; /* address and size unused */
    ETLHEAP_VECTOR(world_walk) walks;
} world;

/* Writes the program; both builders are unfinished then. To be closed in any case. */
void world_run(world *w, const u8 *data, size_t size);
void world_close(world *w);

/* Innermost first, kernel frames before user frames; returns how many. */
u32 world_frames(const world *w, u32 walk, u64 frames[2 * WORLD_FRAMES_MAX]);

/* --- for the files of the world alone ------------------------------------------------- */

/* One operation with who does it. */
typedef struct world_op {
    u8 kind, variant, place, address, size, stack, form, delay;
    world_thread *thread;
    world_process *process;
} world_op;

/* Of the thread's latest block records on a CPU; WORLD_NONE: on all. */
world_frees *world_frees_of(world *w, const world_thread *thread, u32 cpu);
u32 world_place(const world *w, u32 cpu, bool is_heap);
/* Nothing happens to the stamp's owner before it, nor elsewhere in its tick. */
void world_touch(world *w, const world_stamp *stamp, u32 place);
/* Until a thread's next record; the process is not idle before. */
void world_busy(world *w, world_thread *thread, i64 ticks);
etl_build_at world_at(const world *w, const world_thread *thread, i64 ticks);
u32 world_add_walk(world *w, world_walk walk);
/* The delay of a record, of very different sizes. */
i64 world_delay(u8 number);
/* The user stack of the thread's event; returns the time of the next thing it does. */
i64 world_walk_user(world *w, const world_op *op, i64 ticks, bool is_heap, u32 *walk);
void world_leave_kernel(world *w, world_thread *thread);

void world_heap_op(world *w, const world_op *op);
void world_memory_op(world *w, const world_op *op);
/* What its creator commits in a process before it starts. */
void world_commit_early(world *w, const world_op *op, world_process *process);
/* Pages from before the trace, of which a rundown tells; and that of the end. */
void world_commit_before(world *w, world_process *process);
void world_run_down(world *w, const world_process *process, i64 ticks);
void world_end_heap(world *w, world_process *process, world_heap *heap, i64 ticks, u8 how);
void world_commit(world *w, world_pages *pages, u32 first, u32 count, const world_life *commit);
/* Ends what is committed of the pages. */
void world_remove(world *w, world_pages *pages, u64 base, u32 first, u32 count, i64 ticks, u8 how);
u64 world_extent_base(const world_heap *heap);
u64 world_memory_base(void);

#endif
