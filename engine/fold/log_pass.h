/*
 * log_pass.h - reads a log or a journal once for several questions.
 *
 * A log can be read in two ways. Blocks come with their ends, one after the other
 * (lifetimes_source.h). Events come in time order, with the groups of their blocks (replay_walk.h).
 * A question that groups single blocks needs both: it knows its groups after reading the blocks,
 * and then follows them through the events.
 *
 *     requests for blocks  ──▶ log_pass_blocks ──▶ groups
 *     requests for events  ──▶ log_pass_events ──▶ sums, curves, cells, the moment of a peak
 *
 * All requests share a pass over the blocks, which covers all their windows and sizes: each selects
 * its own blocks (block_selection.h). Requests that agree on the words of blocks
 * (archive_walk_shares) share a walk over the events.
 */
#ifndef ETLHEAP_LOG_PASS_H
#define ETLHEAP_LOG_PASS_H

#include "lifetimes_source.h"
#include "log_groups.h"
#include "replay_walk.h"

/* A request for the blocks that may belong to a query. */
typedef struct block_want {
    const query_plan *plan;
    lifetimes_step_fn *step;
    lifetimes_states states; /* log_pass_tasks(plan->query) of them */
    u32 more;                /* additional columns */
    bool churns; /* blocks of all sizes, whose ends say how many allocations came before */
} block_want;

/* A request for a walk over the events with the groups of a query. */
typedef struct event_want {
    const aggregator *a;
    const log_groups *groups;
    replay_job job; /* the walk's options; groups and filters are set by this file */
    i64 peak_ticks; /* with job.walk.finds_moment: time of job.moment */
} event_want;

/* Start from {0}. Requests are borrowed. */
typedef struct log_pass {
    ETLHEAP_VECTOR(block_want) blocks;
    ETLHEAP_VECTOR(event_want *) events;
} log_pass;

void log_pass_close(log_pass *pass);

/* The number of threads for a query, which is the number of states of a step. */
u32 log_pass_tasks(const etlheap_query *query);

/* Read what was requested, and forget the requests, which must be for one result. ETL_ERR_MEMORY,
 * ETL_ERR_LIMIT, ETL_ERR_IO (the journal cannot be read back), ETL_ERR_CORRUPT (the store), and
 * errors of a step. */
etl_status log_pass_blocks(log_pass *pass, etl_error *err);
etl_status log_pass_events(log_pass *pass, etl_error *err);

#endif
