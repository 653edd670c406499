/*
 * census_match.h - checks that every stack walk has its event, for `info`.
 *
 * The census checks stacks of all records, not only of memory events. A stack without its event
 * shows that events were lost. A trace in which no stack matches shows that we misread its clock.
 * Most stacks find their event during the scan; this file finds the others.
 */
#ifndef ETLHEAP_CENSUS_MATCH_H
#define ETLHEAP_CENSUS_MATCH_H

#include "deferred.h"

/* The targets of one task, by time, thread and CPU. */
typedef struct census_run {
    census_target *at;
    size_t count; /* at least 1 */
} census_run;

typedef struct census_matcher {
    ETLHEAP_VECTOR(census_run) runs; /* of the last two seconds */
    size_t old_runs;                 /* runs of earlier slices */
    i64 oldest_ticks;                /* older targets of these are forgotten */
    i64 patience_ticks;
    u64 matched, unmatched;
} census_matcher;

void census_match_open(census_matcher *matcher, const timebase *base);
void census_match_close(census_matcher *matcher);

/* Counts the stacks of the slice's tasks, with and without an event. The tasks must have been
 * scanned with keeps_targets. False if memory runs out. */
bool census_match_slice(census_matcher *matcher, const scan_output *tasks, u32 task_count,
                        i64 end_ticks);

/* Counts every key of the tasks, instead of a join. Call deferred_define for the slice first. False
 * if memory runs out. */
bool census_count_keys(deferred_stacks *deferred, const scan_output *tasks, u32 task_count);

u64 census_match_bytes(const census_matcher *matcher); /* held between slices */

#endif
