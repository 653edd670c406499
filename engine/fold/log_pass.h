/*
 * log_pass.h - reads blocks and events once for several questions.
 *
 * A result can be read in two ways. Blocks come with their ends, one after the other (feed.h).
 * Events of a log, an event list or rows come in time order, with the groups of their blocks
 * (replay_walk.h).
 * A question that groups single blocks needs both: it knows its groups after reading the blocks,
 * and then follows them through the events.
 *
 *     requests for blocks  ──▶ feed_blocks      ──▶ groups
 *     requests for events  ──▶ log_pass_events  ──▶ sums, curves, cells, the moment of a peak
 *
 * Requests that agree on the words of blocks (archive_walk_shares) share a walk over the events.
 */
#ifndef ETLHEAP_LOG_PASS_H
#define ETLHEAP_LOG_PASS_H

#include "feed.h"
#include "log_groups.h"
#include "replay_walk.h"

/* A request for a walk over the events with the groups of a query. */
typedef struct event_want {
    const aggregator *a;
    const log_groups *groups;
    const u32 *of_word; /* those of one group, which get number 0; NULL: all, as groups->of_word */
    replay_job job;     /* the walk's options; groups and filters are set by this file */
    i64 peak_ticks;     /* with job.walk.finds_peak: time of job.peak */
} event_want;

/* Start from {0}. Requests are borrowed. */
typedef struct log_pass {
    block_feed feed;
    ETLHEAP_VECTOR(event_want *) events;
} log_pass;

void log_pass_close(log_pass *pass);

/* Reads what was requested of the events, and forgets the requests, which must be for one result.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_IO (the event list cannot be read back), ETL_ERR_CORRUPT
 * (the store), ETL_ERR_CANCELLED. */
etl_status log_pass_events(log_pass *pass, etl_error *err);

#endif
