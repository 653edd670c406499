/*
 * growth_walk.h - growth of groups whose lifetimes stay in a log.
 *
 * What is outstanding at a sample is what the time before it leaves. So the events are walked as
 * for windows that are cut at the samples, and no lifetime is kept for it.
 */
#ifndef ETLHEAP_GROWTH_WALK_H
#define ETLHEAP_GROWTH_WALK_H

#include "growth.h"
#include "log_pass.h"

/* Start from {0}; stays where it is once it has begun. */
typedef struct growth_walk {
    growth_moments moments;
    window_pass cuts; /* at the samples */
    event_want events;
} growth_walk;

/* Wants of the pass what the groups do between samples. ETL_ERR_MEMORY. */
etl_status growth_walk_begin(growth_walk *out, const aggregator *a, const log_groups *groups,
                             log_pass *pass, etl_error *err);

/* Rates the aggregator's rows from `first` on, which are those of the groups that have
 * lifetimes, in the same order. ETL_ERR_MEMORY. */
etl_status growth_walk_finish(growth_walk *walk, aggregator *a, size_t first, etl_error *err);
void growth_walk_close(growth_walk *walk);

#endif
