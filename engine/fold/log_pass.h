/*
 * log_pass.h - what several questions want of a log or a journal, read once for all of them.
 *
 * There are two ways through a log. Blocks come with their ends, one after the other
 * (lifetimes_source.h); events come in the order of time, with the groups of their blocks
 * (replay_walk.h). A question that groups single blocks goes both: its groups are known when it
 * has seen the blocks, and then it follows them through the events.
 *
 *     wants of blocks  ──▶ log_pass_blocks ──▶ groups
 *     wants of events  ──▶ log_pass_events ──▶ sums, curves, cells, the moment of a peak
 *
 * Wants of the same window and sizes share a reading of the blocks, and wants that agree on what
 * the words of blocks are (archive_walk_shares) share a walk over the events.
 */
#ifndef ETLHEAP_LOG_PASS_H
#define ETLHEAP_LOG_PASS_H

#include "lifetimes_source.h"
#include "log_groups.h"
#include "replay_walk.h"

/* A step for the blocks that may belong to a query. */
typedef struct block_want {
    const query_plan *plan;
    lifetimes_step_fn *step;
    lifetimes_states states; /* log_pass_tasks(plan->query) of them */
    u32 more;                /* columns beside those that every batch has: lifetimes_wanted.more */
} block_want;

/* A walk over the events with the groups that a query makes of them. */
typedef struct event_want {
    const aggregator *a;
    const log_groups *groups;
    replay_job job; /* its walk says how; groups and filters are filled in here */
    i64 peak_ticks; /* with job.walk.finds_moment: when job.moment was */
} event_want;

/* Start from {0}. All that is wanted is borrowed. */
typedef struct log_pass {
    ETLHEAP_VECTOR(block_want) blocks;
    ETLHEAP_VECTOR(event_want *) events;
} log_pass;

void log_pass_close(log_pass *pass);

/* How many threads a query takes, and states a step. */
u32 log_pass_tasks(const etlheap_query *query);

/* Reads what is wanted, and forgets what was. All wants are of one result. MEMORY, LIMIT, IO
 * (the journal cannot be read back), CORRUPT (the store), and what a step returns. */
etl_status log_pass_blocks(log_pass *pass, etl_error *err);
etl_status log_pass_events(log_pass *pass, etl_error *err);

#endif
