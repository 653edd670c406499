/*
 * workload.h - programs that use memory, as lists of operations; the traces
 * they leave; and the truth about them.
 *
 *     workload_random() or a scenario ──▶ workload: processes, stacks, operations
 *                                            │
 *                     workload_write()  ◀────┼────▶  workload_truth_of()
 *                     builder calls               a naive model: arrays, linear scans
 *                            │                           │
 *                        the trace                   the answers, also as JSON
 *
 * The truth is computed from the operations, never from the bytes, and by code
 * that shares nothing with the engine.
 */
#ifndef TESTS_WORKLOAD_H
#define TESTS_WORKLOAD_H

#include "etl_build.h"

#define WORKLOAD_NONE UINT32_MAX /* no stack, no process, no module */

typedef struct workload workload;

/* --- truth ------------------------------------------------------------------ */

typedef enum workload_kind {
    WORKLOAD_KIND_HEAP,
    WORKLOAD_KIND_VIRTUALALLOC,
    WORKLOAD_KIND_EXTENT,
    WORKLOAD_KIND_RESERVE
} workload_kind;

typedef enum workload_free_type {
    WORKLOAD_FREE_NONE,
    WORKLOAD_FREE_FREE,
    WORKLOAD_FREE_HEAP_DESTROY,
    WORKLOAD_FREE_PROCESS_EXIT
} workload_free_type;

/* "heap", "virtualalloc", "extent", "reserve" and "none", "free", ... as reports spell them. */
const char *workload_kind_name(workload_kind kind);
const char *workload_free_type_name(workload_free_type type);

/* One lifetime. A range split by a partial decommit is listed in parts. */
typedef struct workload_lifetime {
    workload_kind kind;
    u32 process; /* index: an instance, see workload_process_name() */
    u32 tid;     /* of the thread that allocated */
    u64 heap;    /* 0 for virtualalloc and reserve */
    u64 address;
    u64 size;
    i64 a;
    i64 f; /* meaningless with WORKLOAD_FREE_NONE */
    workload_free_type ft;
    u32 stack; /* index, WORKLOAD_NONE: not recorded; see workload_stack_text() */
    bool is_realloc;
    u32 free_tid;   /* of the thread that freed; WORKLOAD_NONE: none is known */
    u32 free_stack; /* likewise */
} workload_lifetime;

/* A heap free of a block that nobody saw allocated. */
typedef struct workload_unknown_free {
    u32 process, tid, stack; /* as in workload_lifetime */
    u64 heap, address;
    i64 ticks;
} workload_unknown_free;

typedef struct workload_truth {
    workload_lifetime *lifetimes; /* in the order in which the model met them */
    u32 count;
    u32 capacity;
    workload_lifetime *reservations; /* of kind RESERVE, which lifetimes has none of */
    u32 reservation_count;
    u64 *unknown_frees; /* per process index: heap frees of blocks never seen allocated */
    u32 process_count;
    workload_unknown_free *unknown; /* the same one by one, in time order */
    u32 unknown_count;
} workload_truth;

/* Runs the model over the operations. To be given to workload_truth_free(). */
workload_truth workload_truth_of(const workload *w);
void workload_truth_free(workload_truth *truth);

/*
 * Writes the truth as JSON: hz, H, end, records, lifetimes[], reservations[], unknown_frees.
 * `system` and `heap` are the finished builders the workload was written to.
 * False: the file cannot be written.
 */
bool workload_truth_save(const workload *w, const workload_truth *truth, const etl_build *system,
                         const etl_build *heap, const char *path);

/* --- random workloads ---------------------------------------------------------- */

/* Zero means the default in brackets. */
typedef struct workload_options {
    u64 seed;        /* [1] */
    u64 operations;  /* [4000] about: a few more are made to end things properly */
    u32 cpus;        /* [4] must not exceed the builder's */
    u64 clock_hz;    /* [10,000,000] as the builder's */
    i64 start_ticks; /* [1,000,000] as the builder's */
    u32 stacks;      /* distinct stacks per process [150] */
    u32 mean_gap_ns; /* between operations [26,000] */
    bool narrow;     /* a 32-bit system: the builder has 4-byte pointers */
    bool tidless;    /* make only stacks that tid-less VirtualAlloc records can be joined by */
    bool end_rundown_only; /* no rundown at the start: processes and images are known at the end */
    bool no_extents;       /* no heap Expand and Contract */
    bool no_early_commits; /* no commits before the Process/Start of their process */
    bool free_stacks;      /* what frees memory has call stacks, too */
    bool no_module_reuse;  /* no image loaded at the base of one unloaded before */
} workload_options;

/* A workload to be given to workload_free(). Same options, same workload. */
workload *workload_random(const workload_options *options);

void workload_free(workload *w); /* NULL is allowed */

/* --- writing --------------------------------------------------------------------- */

/*
 * Writes the operations as events. `system` takes processes, threads, images
 * and VirtualAlloc, `heap` the heap events; both may be the same builder. The
 * builders need order ETL_BUILD_SORTED or ETL_BUILD_STREAMING.
 */
void workload_write(const workload *w, etl_build *system, etl_build *heap);

/* --- names, for tests and JSON ------------------------------------------------------ */

u32 workload_process_count(const workload *w);
const char *workload_process_name(const workload *w, u32 process);
u32 workload_process_pid(const workload *w, u32 process);

/*
 * Frame `index` of a stack as seen by a process, "module.dll+0x12" in lower
 * case or a bare address; kernel frames first, innermost first. False past the
 * last frame.
 */
bool workload_stack_text(const workload *w, u32 stack, u32 index, char out[64]);

#endif
