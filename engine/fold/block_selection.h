/*
 * block_selection.h - which blocks of a batch a query selects, decided once for all questions that
 * select alike.
 *
 * Types that a query leaves out do not matter for that: a question that wants some types only takes
 * them from the types of all.
 */
#ifndef ETLHEAP_BLOCK_SELECTION_H
#define ETLHEAP_BLOCK_SELECTION_H

#include "lifetimes_source.h"

/* True if two queries of one result select the same blocks, but for owners and types. */
bool block_selections_equal(const query_plan *a, const query_plan *b);

/* Writes the etlheap_type of each block of a batch; BLOCK_NOT_SELECTED: the query does not select
 * it. `types` has room for batch->count. */
void block_selection_fill(const query_plan *plan, const lifetimes_batch *batch, u8 *types);

/* Reads a block of a batch whose types are filled in; false if the query does not select it. */
static inline bool block_selected(const query_plan *plan, const lifetimes_batch *batch, u32 at,
                                  query_row *out)
{
    const u8 type = batch->type[at];
    static_assert(BLOCK_NOT_SELECTED >= ETLHEAP_TYPE_COUNT, "a bit that no query has");
    out->alloc_ticks = batch->alloc_ticks[at];
    out->free_ticks =
        query_end_ticks(plan->query->at_exit_freed, batch->how[at], batch->free_ticks[at]);
    out->type = (etlheap_type)type;
    return (plan->types >> type & 1) != 0;
}

#endif
