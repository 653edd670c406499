/*
 * suspect_sums.h - sums about the blocks of a group over time, in little and fixed memory.
 *
 * The time in which the group's process ran is cut into equal parts, at the moments of growth.h. A
 * block counts in the part in which it was allocated; its lifetime counts in a step of about half
 * an octave, and its size from its allocation to its free:
 *
 *     moments    0     1     2     3            32
 *     parts      |  0  |  1  |  2  |  ...  |  31  |
 *     block            ×───────────────○             born[1], steps[2] += size, steps[4] -= size
 *     block               ×──────────────────────▶   born[1], kept[1], steps[2] += size
 *
 * Sums of tasks are added up. No sum depends on the order of its terms: sums of sizes stop at the
 * largest number, and sums of changes are modulo 2^64.
 */
#ifndef ETLHEAP_SUSPECT_SUMS_H
#define ETLHEAP_SUSPECT_SUMS_H

#include "growth.h"

#define SUSPECT_PARTS     ETLHEAP_SUSPECT_PARTS
#define SUSPECT_LIFETIMES 76u /* steps: the first up to 64 ns, the last from 2.4 h on */

static_assert(SUSPECT_PARTS == GROWTH_SAMPLES - 1, "parts lie between samples");

/* The span of a group (row_spans.h): when its process ran, in the recorded part of the window. */
typedef struct suspect_time {
    i64 from_ns, to_ns;
    i64 ticks[GROWTH_SAMPLES]; /* the moments */
    i64 recorded_ticks;        /* blocks from before it may have been freed unseen */
} suspect_time;

/* The time of rows with a span. They are of these kinds, a bit each. */
suspect_time suspect_time_of(const query_plan *plan, etlheap_time_range span, u32 kinds);

/* Start from {0}. Counts only blocks allocated in the window, except for the outstanding size. */
typedef struct suspect_sums {
    i64 alloc_count, kept_count, kept_size;
    i64 outstanding_count, outstanding_size;
    i64 first_ticks, last_ticks; /* of never-freed allocations, if there are any */
    u32 born[SUSPECT_PARTS];     /* by part of the allocation */
    u32 kept[SUSPECT_PARTS];     /* the same for never-freed blocks */
    u32 lifetimes[SUSPECT_LIFETIMES];
    u64 steps[GROWTH_SAMPLES]; /* change of the outstanding size up to each moment, modulo 2^64 */
    u32 thread_count;          /* threads with never-freed blocks: the lowest ids, ascending */
    u32 threads[ETLHEAP_SUSPECT_THREADS_MAX];
    bool has_more_threads;
} suspect_sums;

/* A block that the query selects. */
typedef struct suspect_block {
    query_row row;
    u64 size_bytes;
    u32 thread;
} suspect_block;

/* Where in the sums of its group a block counts. */
typedef struct suspect_places {
    u32 first, end; /* the moments after its allocation and its free; GROWTH_SAMPLES: none */
    u32 part;       /* in which it was allocated */
    u32 step;       /* of its lifetime; SUSPECT_LIFETIMES: none is known */
    bool is_unsure; /* allocated before what was recorded */
} suspect_places;

suspect_places suspect_places_of(const query_plan *plan, const suspect_time *time,
                                 const suspect_block *block);

/* Prefetches what adding a block at these places writes: sums of many groups do not fit into the
 * cache. Always inlined, because compilers drop a function that only prefetches. */
__attribute__((always_inline)) static inline void suspect_fetch(suspect_sums *sums,
                                                                const suspect_places *places)
{
    __builtin_prefetch(&sums->alloc_count, 1);
    __builtin_prefetch(&sums->born[places->part], 1);
    __builtin_prefetch(&sums->steps[places->first], 1);
    __builtin_prefetch(&sums->steps[places->end], 1);
    __builtin_prefetch(&sums->lifetimes[places->step], 1);
}

void suspect_add(suspect_sums *sums, const suspect_block *block, const suspect_places *places);
void suspect_join(suspect_sums *to, const suspect_sums *from);

/* The outstanding size at each moment. */
void suspect_sizes(const suspect_sums *sums, i64 sizes[GROWTH_SAMPLES]);

/* The lifetimes of a step: [from, to). */
typedef struct suspect_step {
    i64 from_ns, to_ns;
} suspect_step;

suspect_step suspect_step_of(u32 step);

/* The middle of a step; of the last step: its beginning. */
i64 suspect_step_middle(u32 step);

/* The step of the lifetime with this rank among `count` freed blocks; ranks begin with 1. */
u32 suspect_step_at(const suspect_sums *sums, i64 rank);

#endif
