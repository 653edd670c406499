/*
 * peaks.h - the maximum of each group's outstanding curve over a window.
 *
 * The outstanding amount at time t is the sum over lifetimes with alloc <= t < free; all events of
 * one tick happen together. The curve begins with the amount at the start of the window, before
 * anything in its first tick: the same lifetimes that impacting_size starts from. If no lifetime of
 * a group ends in the window, it peaks at the end; if none begins, at the start. Only mixed groups
 * are replayed, each by sorting its own allocations and frees.
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

/* Computes peaks[g] for each group below group_count, over [from_ticks, to_ticks). Reorders rows.
 * Groups are divided among `jobs` threads. False if memory runs out. */
bool peaks_compute(peak_row *rows, size_t row_count, u32 group_count, i64 from_ticks, i64 to_ticks,
                   u32 jobs, peak *peaks);

/* Sorts rows by group, and sets starts[g] to where each group begins. starts has group_count + 1
 * elements, all 0. False if memory runs out. */
bool peaks_sort(peak_row *rows, size_t row_count, size_t *starts, u32 group_count);

#endif
