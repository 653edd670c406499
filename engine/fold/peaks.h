/*
 * peaks.h - the maximum of each group's outstanding curve over a window.
 *
 * Outstanding is the sum over lifetimes with alloc <= t < free, a function of
 * time: what happens in one tick happens together. The curve begins with what
 * is outstanding as the window opens, before anything in its first tick: the
 * same lifetimes whose sizes impacting_size is reckoned from. A group all of
 * whose lifetimes live on to the window's end peaks there, one without
 * allocations inside peaks at the start; only mixed groups are replayed, each
 * by sorting its own allocations and frees.
 */
#ifndef ETLHEAP_PEAKS_H
#define ETLHEAP_PEAKS_H

#include "engine/core/arena.h"

typedef struct peak_row {
    i64 alloc_ticks, free_ticks;
    u64 size;
    u32 group;
} peak_row;

typedef struct peak {
    i64 size, count;
} peak;

/*
 * peaks[g] for each group below group_count, over [from_ticks, to_ticks).
 * Reorders rows. Groups are spread over `jobs` threads. False without memory.
 */
bool peaks_compute(peak_row *rows, size_t row_count, u32 group_count, i64 from_ticks, i64 to_ticks,
                   u32 jobs, peak *peaks);

/* Puts rows into the order of their groups; starts has group_count + 1 places, all 0,
 * and says where each group begins. False without memory. */
bool peaks_sort(peak_row *rows, size_t row_count, size_t *starts, u32 group_count);

#endif
