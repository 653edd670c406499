/*
 * replay.h - sums and peaks of heap groups from the journal.
 */
#ifndef ETLHEAP_REPLAY_H
#define ETLHEAP_REPLAY_H

#include "aggregate.h"

/*
 * Can the query be answered by walking a journal kept for its window? Threads,
 * lifetimes and how they end are not in a journal.
 */
bool replay_can(const etlheap_query *query);

/* Will sums by slot and type do (tally.h)? Sizes of single blocks are not in them,
 * and neither is what was in use at one time. */
bool replay_needs_sums_only(const etlheap_query *query);

/*
 * Adds the groups of kind heap that the query selects, with all measures, to the
 * aggregator: from the journal, or from the store that the result was read from.
 * ETL_ERR_MEMORY, LIMIT, IO (the journal cannot be read back), CORRUPT (the store).
 */
etl_status replay_run(aggregator *a, etl_error *err);

#endif
