/*
 * suspect_sums.h - what a group of blocks does in its time, in little and fixed memory.
 *
 * The time in which the group's process ran is cut into equal parts at the moments of
 * growth.h. A block counts in the part in which it was allocated, its lifetime in a step of about
 * half an octave, and its size between two moments:
 *
 *     moments    0     1     2     3            32
 *     parts      |  0  |  1  |  2  |  ...  |  31  |
 *     block            ×───────────────○             born[1], steps[2] += size, steps[4] -= size
 *     block               ×──────────────────────▶   born[1], kept[1], steps[2] += size
 *
 * Sums of tasks are added up. No sum depends on the order of its terms: those of sizes alone stop at
 * the largest number, and those of changes are modulo 2^64.
 */
#ifndef ETLHEAP_SUSPECT_SUMS_H
#define ETLHEAP_SUSPECT_SUMS_H

#include "growth.h"

#define SUSPECT_PARTS     ETLHEAP_SUSPECT_PARTS
#define SUSPECT_LIFETIMES 76u /* steps, the first one up to 64 ns, the last one from 2.4 h on */

static_assert(SUSPECT_PARTS == GROWTH_SAMPLES - 1, "parts lie between samples");

/* When the process of a group ran, within the window. */
typedef struct suspect_time {
    i64 from_ns, to_ns;
    i64 ticks[GROWTH_SAMPLES]; /* the moments */
} suspect_time;

suspect_time suspect_time_of(const query_plan *plan, i64 start_ticks, i64 end_ticks);

/* Start from {0}. Counts are of blocks allocated in the window but for those outstanding. */
typedef struct suspect_sums {
    i64 alloc_count, kept_count, kept_size;
    i64 outstanding_count, outstanding_size;
    i64 first_ticks, last_ticks; /* of allocations that are kept, if there are any */
    u32 born[SUSPECT_PARTS];     /* by part of the allocation */
    u32 kept[SUSPECT_PARTS];     /* the same of those that are never freed */
    u32 lifetimes[SUSPECT_LIFETIMES];
    u64 steps
        [GROWTH_SAMPLES]; /* by how much the outstanding size changes up to a moment, modulo 2^64 */
    u32 thread_count;     /* that allocated what is kept: the lowest ids, ascending */
    u32 threads[ETLHEAP_SUSPECT_THREADS_MAX];
    bool has_more_threads;
} suspect_sums;

/* A block that the query selects. */
typedef struct suspect_block {
    query_row row;
    u64 size_bytes;
    u32 thread;
} suspect_block;

void suspect_add(suspect_sums *sums, const query_plan *plan, const suspect_time *time,
                 const suspect_block *block);
void suspect_join(suspect_sums *to, const suspect_sums *from);

/* What is outstanding at each moment. */
void suspect_sizes(const suspect_sums *sums, i64 sizes[GROWTH_SAMPLES]);

/* The lifetimes of a step: [from, to). */
typedef struct suspect_step {
    i64 from_ns, to_ns;
} suspect_step;

suspect_step suspect_step_of(u32 step);

/* In its middle; the last one's is its beginning. */
i64 suspect_step_middle(u32 step);

/* The step that the lifetime of this rank is in, of `count` freed blocks; ranks begin with 1. */
u32 suspect_step_at(const suspect_sums *sums, i64 rank);

#endif
