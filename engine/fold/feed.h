/*
 * feed.h - hands the blocks of a result, each with its end, to all folds that want them.
 *
 * A fold asks for batches of blocks and does not ask where they are kept. Heap blocks of a trace or
 * a store are in a log (lifetimes_source.h). Ranges, extents and custom blocks are rows in memory
 * (feed_rows.h), and so is everything in a result of a library's caller who asked for lifetimes.
 *
 *     log  ──lifetimes_source──┐
 *                              ├─▶ batches ──▶ the step of each fold, with the state of a task
 *     rows ──feed_rows─────────┘
 *
 * All wants share one reading of each source, which covers all their windows and sizes: each
 * selects its own blocks (block_selection.h). A source of which no fold wants a block is not read.
 * Invariant: what a want gets does not depend on which other wants share its reading.
 */
#ifndef ETLHEAP_FEED_H
#define ETLHEAP_FEED_H

#include "origin_groups.h"

/* A request for the blocks that may belong to a query. */
typedef struct block_want {
    const query_plan *plan;
    lifetimes_step_fn *step;
    lifetimes_states states; /* feed_tasks(plan->query) of them */
    u32 more;                /* additional columns */
    bool churns; /* blocks of all sizes, whose ends say how many allocations came before */
    /* By origin and origin: GROUP_NONE if none of its blocks are wanted. NULL: all of the log. */
    const u32 *of_origin;
} block_want;

/* Start from {0}. Requests are borrowed, and must be for one result. */
typedef struct block_feed {
    const etlheap_result *result;
    feed_rows rows; /* see feed_number */
    ETLHEAP_VECTOR(block_want) wants;
} block_feed;

void feed_close(block_feed *feed);

/* The number of threads for a query, which is the number of states of a step. */
u32 feed_tasks(const etlheap_query *query);

/* Numbers the rows of the aggregator's result, if there are any, and who freed them, if its query
 * asks. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status feed_number(block_feed *feed, const aggregator *a, etl_error *err);

/* Groups all blocks of the aggregator's result that have an origin in common: origins of the log,
 * and origins of rows. Also resolves stacks with symbols. ETL_ERR_MEMORY, ETL_ERR_CANCELLED; close
 * the groups in any case. */
etl_status feed_groups(block_feed *feed, aggregator *a, origin_groups *out, etl_error *err);

/* Reads what was requested, and forgets the requests. ETL_ERR_MEMORY, ETL_ERR_LIMIT,
 * ETL_ERR_CORRUPT (the store), ETL_ERR_CANCELLED, and errors of a step. */
etl_status feed_blocks(block_feed *feed, etl_error *err);

#endif
