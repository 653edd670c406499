/*
 * census_match.h - does every stack walk have its event? For `info`.
 *
 * A census checks the joins over all records, not only memory events: a stack
 * whose event is missing tells of losses, and a trace where nothing matches of
 * a recording whose clock we misread. Most stacks find their event while they are
 * scanned; the others look for it here.
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
    ETLHEAP_VECTOR(census_run) runs; /* of the latest two seconds */
    size_t old_runs;                 /* of slices before */
    i64 oldest_ticks;                /* earlier targets of those are forgotten */
    i64 patience_ticks;
    u64 matched, unmatched;
} census_matcher;

void census_match_open(census_matcher *matcher, const timebase *base);
void census_match_close(census_matcher *matcher);

/* Counts the stacks of the slice's tasks by whether their event was seen. The tasks
 * were scanned with keeps_targets. False without memory. */
bool census_match_slice(census_matcher *matcher, const scan_output *tasks, u32 task_count,
                        i64 end_ticks);

/* Counts every key of the tasks, in place of a join. deferred_define has run for the
 * slice. False without memory. */
bool census_count_keys(deferred_stacks *deferred, const scan_output *tasks, u32 task_count);

u64 census_match_bytes(const census_matcher *matcher); /* held between slices */

#endif
