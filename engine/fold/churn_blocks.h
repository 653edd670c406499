/*
 * churn_blocks.h - churn of the heap blocks of a log.
 *
 *     blocks of a pass ──▶ churn_note_row    whatever groups they have (block_groups.c)
 *                     └──▶ origin_churn      groups of origins, if the question follows these alone
 *
 * What is temporary depends on the order in which threads allocate, and not on groups. So a
 * question that knows the groups of its origins needs no groups of single blocks for it.
 */
#ifndef ETLHEAP_CHURN_BLOCKS_H
#define ETLHEAP_CHURN_BLOCKS_H

#include "churn.h"
#include "lifetimes_source.h"
#include "origin_groups.h"

struct log_pass;

/* What blocks are looked at with. */
typedef struct churn_view {
    const query_plan *plan;
    const origin_groups *origins;
    u32 *
        processes; /* by origin: threads are told apart by them too; NULL: the groups are of rows */
    i64 fast_ticks; /* lifetimes of more ticks are longer than 1 ms */
} churn_view;

/* False without memory; to be closed in any case. Aggregator and groups are borrowed. */
bool churn_view_open(churn_view *out, const aggregator *a, const origin_groups *groups);
void churn_view_close(churn_view *view);

/*
 * Notes a block of a batch. `group`: its number + 1, or 0 if the query does not select the block,
 * whose thread allocates all the same. What is temporary begins and ends inside the window, so
 * blocks before it count for nothing. `row` is read if the group is not 0. False without memory.
 */
bool churn_note_row(const churn_view *view, churn_track *track, const lifetimes_batch *batch,
                    u32 at, const query_block *block, u32 group, const query_row *row);

/* Start from {0}. */
typedef struct origin_churn {
    churn_view view;
    const origin_groups *origins;
    struct origin_churn_task *tasks;
    u32 task_count;
    churn_join join; /* after the end: sums by group */
} origin_churn;

/* Begins before the pass reads blocks and finishes after it; origins and aggregator are borrowed
 * until then. To be closed in any case. MEMORY. */
etl_status origin_churn_begin(origin_churn *out, const aggregator *a, const origin_groups *origins,
                              struct log_pass *pass, etl_error *err);
etl_status origin_churn_finish(origin_churn *churn, etl_error *err);
void origin_churn_close(origin_churn *churn);

#endif
