/*
 * growth_walk.h - growth of groups in an event list or a log.
 *
 * The outstanding size at a sample follows from the events before it. So the events are walked as
 * for windows that are cut at the samples, and no lifetime is kept. Groups with other spans have
 * other samples; time is cut at all of them.
 */
#ifndef ETLHEAP_GROWTH_WALK_H
#define ETLHEAP_GROWTH_WALK_H

#include "growth.h"
#include "log_pass.h"

/* Start from {0}; must not move once it has begun. */
typedef struct growth_walk {
    row_spans spans;  /* of groups: those with one have the same samples */
    u32 *span_of;     /* by group: number of its span */
    window_pass cuts; /* windows cut at the samples of all sets */
    event_want events;
} growth_walk;

/* Asks the pass for what the groups do between samples. ETL_ERR_MEMORY. */
etl_status growth_walk_begin(growth_walk *out, const aggregator *a, const log_groups *groups,
                             log_pass *pass, etl_error *err);

/* Rates the aggregator's rows from `first` on: those of groups with lifetimes, in the same order.
 * ETL_ERR_MEMORY. */
etl_status growth_walk_finish(growth_walk *walk, aggregator *a, size_t first, etl_error *err);
void growth_walk_close(growth_walk *walk);

#endif
