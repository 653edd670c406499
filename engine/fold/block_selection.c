/* block_selection.c - see block_selection.h. */
#include "block_selection.h"

#include "engine/core/type_rule.h"

static bool same_threads(const query_plan *a, const query_plan *b)
{
    const bool selects = query_selects_threads(a->query);
    if (selects != query_selects_threads(b->query) || a->thread_count != b->thread_count)
        return false;
    return !selects || a->thread_count == 0 ||
           memcmp(a->threads, b->threads, a->thread_count * sizeof *a->threads) == 0;
}

bool block_selections_equal(const query_plan *a, const query_plan *b)
{
    const etlheap_query *const x = a->query, *const y = b->query;
    return a->from_ticks == b->from_ticks &&
           memcmp(a->kind_to_ticks, b->kind_to_ticks, sizeof a->kind_to_ticks) == 0 &&
           x->at_exit_freed == y->at_exit_freed && x->left_behind == y->left_behind &&
           x->size_min_bytes == y->size_min_bytes && x->size_max_bytes == y->size_max_bytes &&
           x->lifetime_min_ns == y->lifetime_min_ns && x->lifetime_max_ns == y->lifetime_max_ns &&
           same_threads(a, b);
}

/* Does nothing but one window, the same for all blocks of the batch, select them? */
static bool selects_by_window(const etlheap_query *query, const lifetimes_batch *batch)
{
    return (batch->kind == NULL || query->kind_to_ticks == NULL) && !query_selects_threads(query) &&
           !query->left_behind && query->size_min_bytes == 0 &&
           query->size_max_bytes == UINT64_MAX && query->lifetime_min_ns <= 0 &&
           query->lifetime_max_ns == INT64_MAX;
}

/* Without branches, because ends come as if by chance. */
static void fill_by_window(const query_plan *plan, const lifetimes_batch *batch, u8 *types)
{
    const i64 from_ticks = plan->from_ticks, to_ticks = plan->kind_to_ticks[ETLHEAP_KIND_HEAP];
    const bool at_exit_freed = plan->query->at_exit_freed;
    const lifetimes_batch b = *batch; /* in registers, as bytes are written below */
    for (u32 i = 0; i < b.count; i++) {
        const i64 alloc_ticks = b.alloc_ticks[i];
        const i64 free_ticks = query_end_ticks(at_exit_freed, b.how[i], b.free_ticks[i]);
        const u8 type = (u8)type_in_window(alloc_ticks, free_ticks, from_ticks, to_ticks);
        types[i] = type_touches(alloc_ticks, free_ticks, from_ticks, to_ticks)
                       ? type
                       : (u8)BLOCK_NOT_SELECTED;
    }
}

void block_selection_fill(const query_plan *plan, const lifetimes_batch *batch, u8 *types)
{
    const ehs_archive *const archive = plan->result->archive;
    if (selects_by_window(plan->query, batch)) {
        fill_by_window(plan, batch, types);
        return;
    }
    for (u32 i = 0; i < batch->count; i++) {
        const query_block block = lifetimes_batch_block(archive, batch, i);
        query_row row;
        const bool is_selected =
            query_examine_block(plan, lifetimes_batch_kind(batch, i), &block, &row);
        types[i] = is_selected ? (u8)row.type : (u8)BLOCK_NOT_SELECTED;
    }
}
