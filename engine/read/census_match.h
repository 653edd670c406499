/*
 * census_match.h - does every stack walk have its event? For `info`.
 *
 * A census checks the joins over all records, not only memory events: a stack
 * whose event is missing tells of losses, and a trace where nothing matches of
 * a recording whose clock we misread.
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

/* Counts the pieces of the slice's tasks by whether their event was seen, and
 * uses every key. deferred_define has run for the slice. */
bool census_match_slice(census_matcher *matcher, deferred_stacks *deferred,
                        const scan_output *tasks, u32 task_count, i64 end_ticks);

#endif
