/*
 * replay.h - sums and peaks of heap groups from a journal or a log.
 */
#ifndef ETLHEAP_REPLAY_H
#define ETLHEAP_REPLAY_H

#include "log_groups.h"
#include "replay_walk.h"

/*
 * Adds the groups of kind heap that the query selects, with all measures, to the
 * aggregator: from the journal, or from the store that the result was read from.
 * ETL_ERR_MEMORY, LIMIT, IO (the journal cannot be read back), CORRUPT (the store).
 */
etl_status replay_run(aggregator *a, const log_groups *groups, etl_error *err);

/* What a walk leaves: live groups, free(*groups); cells of windows, which are appended; or the
 * moment of the peak, which takes a log. One of them is not NULL. */
typedef struct replay_out {
    live_group **groups;
    window_cell_list *cells;
    i64 *peak_ticks;
    replay_moment moment; /* with peak_ticks */
} replay_out;

/* Walks the heap events of the result for these groups. Of the walk, what says how it walks
 * is given; groups, filters and threads are set here. Errors as of replay_run. */
etl_status replay_walk_log(const aggregator *a, const log_groups *groups, replay_walk *walk,
                           replay_out *out, etl_error *err);

#endif
