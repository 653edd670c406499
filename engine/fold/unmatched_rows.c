/*
 * unmatched_rows.c - groups the frees whose allocation was not recorded, by who freed.
 *
 * In: heap frees from the parts of a log, and frees of other kinds from result.unmatched. Out:
 * groups of an aggregator with a single measure, the count.
 *
 * Such a free has no size, lifetime, type or allocating stack. So a query may select only by time,
 * owner and freeing thread, and group only by owner and freer; unmatched_refuse refuses all else.
 * With symbols, all stacks are collected and named before the first free is counted. Invariant:
 * numbers of heaps and freers come from a file; count_part checks both against their tables before
 * it uses them.
 */
#include "unmatched_rows.h"

#include <stdlib.h>

#include "engine/context/pool_heap.h"
#include "engine/core/cancel.h"
#include "engine/log/ehs_unmatched.h"
#include "engine/query/keys.h"
#include "engine/result/archive.h"
#include "free_groups.h"

/* One free, of any kind. */
typedef struct unmatched_row {
    i64 ticks;
    u64 heap;
    u32 process, thread;
    u8 kind;
} unmatched_row;

etl_status unmatched_refuse(const etlheap_query *query, etl_error *err)
{
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (!key_row_of(query->group_by[i])->of_unmatched)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "frees without an allocation have no %s to group by: only kind, "
                                 "process, heap, pool tag and who freed",
                                 etlheap_key_word(query->group_by[i]));
    }
    if (query->types != 0 || query->at_end || query_asks_lifetimes(query) ||
        query->lifetime_min_ns > 0 || query->lifetime_max_ns != INT64_MAX ||
        query->size_min_bytes > 0 || query->size_max_bytes != UINT64_MAX ||
        query_selects_frames(query))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "frees without an allocation have no size, lifetime, type or "
                             "allocating stack to select by");
    return ETL_OK;
}

static bool selects(const aggregator *a, const unmatched_row *row)
{
    return row->ticks >= a->plan.from_ticks && row->ticks < a->plan.kind_to_ticks[row->kind] &&
           query_select_owner(&a->plan, row->kind, row->process, row->heap) &&
           query_selects_thread(&a->plan, row->process, row->thread);
}

static bool count(aggregator *a, const unmatched_row *row, const free_key *freer)
{
    group_key key;
    u32 group;
    memset(&key, 0, sizeof key);
    key.kind = row->kind;
    key.process = query_groups_by(a->query, ETLHEAP_KEY_PROCESS) ? a->same_name[row->process] : 0;
    if (query_groups_by(a->query, ETLHEAP_KEY_HEAP)) {
        key.heap = row->heap;
        key.has_heap = etlheap_kind_has(row->kind, ETLHEAP_KIND_HAS_HEAP);
    }
    if (query_groups_by(a->query, ETLHEAP_KEY_POOL_TAG))
        key.heap |= pool_heap_tag(row->heap);
    key.free_stack = freer->stack;
    key.free_frame = freer->frame;
    key.free_module = freer->module;
    if (query_groups_by(a->query, ETLHEAP_KEY_FREE_THREAD))
        key.free_thread = row->thread;
    if (!aggregate_group(a, &key, &group))
        return false;
    aggregate_measures(a, group)[ETLHEAP_MEASURE_COUNT]++;
    a->totals[row->kind][ETLHEAP_MEASURE_COUNT]++;
    return true;
}

/* Counts frees of ranges, extents and custom blocks. While stacks are collected, it only resolves
 * them. False if memory runs out or the flag is set. */
static bool count_rows(aggregator *a)
{
    const lifetime_table *const store = &a->result->unmatched;
    bool ok = true;
    for (size_t s = 0; ok && s < store->segments.count; s++) {
        ok = !cancel_is_set(a->query->cancel);
        const etlheap_segment rows = store_view(&store->segments.at[s]);
        for (u32 at = 0; ok && at < rows.rows; at++) {
            const unmatched_row row = { rows.free_ticks[at], rows.heap_handle[at], rows.process[at],
                                        rows.free_thread[at], rows.kind[at] };
            u32 resolved = 0;
            free_key key;
            if (!selects(a, &row))
                continue;
            ok = !a->wants_free_stack ||
                 frames_resolve(&a->frames, row.process, rows.free_stack[at], row.ticks, &resolved);
            if (!ok || a->is_collecting)
                continue;
            aggregate_free_key(a, resolved, &key);
            ok = count(a, &row, &key);
        }
    }
    return ok;
}

static bool count_part(aggregator *a, const free_groups *groups, const unmatched_free *frees,
                       u32 free_count, bool *is_right)
{
    const ehs_origins *const origins = &a->result->archive->origins;
    bool ok = true;
    for (u32 i = 0; ok && *is_right && i < free_count; i++) {
        const unmatched_free *const from = &frees[i];
        *is_right =
            from->heap - (u64)1 < origins->heaps.count && from->freer <= origins->freers.count;
        if (!*is_right)
            break;
        const ehs_heap *const heap = &origins->heaps.at[from->heap - 1];
        const unmatched_row row = { from->ticks, heap->value, heap->process, from->thread,
                                    ETLHEAP_KIND_HEAP };
        if (selects(a, &row))
            ok = count(a, &row, &groups->keys.at[groups->of_freer[from->freer]]);
    }
    return ok;
}

static etl_status count_log(aggregator *a, const free_groups *groups, etl_error *err)
{
    const ehs_reader *const reader = &a->result->archive->reader;
    unmatched_free *const frees = malloc(EHS_PART_ROWS * sizeof *frees);
    ehs_codec codec = { 0 };
    u32 parts = 0, free_count = 0;
    bool is_right = true;
    etl_status status =
        frees == NULL ? etl_no_memory(err) : ehs_unmatched_parts(reader, &parts, err);
    for (u32 part = 0; status == ETL_OK && part < parts; part++) {
        status = cancel_check(a->query->cancel, err);
        if (status == ETL_OK)
            status = ehs_unmatched_read(reader, &codec, part, frees, &free_count, err);
        if (status == ETL_OK && !count_part(a, groups, frees, free_count, &is_right))
            status = etl_no_memory(err);
        if (status == ETL_OK && !is_right)
            status = etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                   "part %u of the frees without an allocation names a heap or "
                                   "stack that does not exist",
                                   part);
    }
    ehs_codec_free(&codec);
    free(frees);
    return status;
}

/* With symbols, all stacks are resolved before any is looked at. */
static etl_status finish_stacks(aggregator *a, etl_error *err)
{
    free_groups groups = { .of_freer = NULL };
    if (a->query->symbols == NULL || !a->wants_free_stack)
        return ETL_OK;
    a->is_collecting = true;
    const bool ok = free_groups_open(&groups, a, NULL) && count_rows(a);
    a->is_collecting = false;
    free_groups_close(&groups);
    return ok ? frames_finish(&a->frames, err) : cancelled_or_no_memory(a->query->cancel, err);
}

etl_status unmatched_rows(aggregator *a, etl_error *err)
{
    free_groups groups = { .of_freer = NULL };
    etl_status status = finish_stacks(a, err);
    if (status == ETL_OK && !free_groups_open(&groups, a, NULL))
        status = etl_no_memory(err);
    if (status == ETL_OK && a->result->archive != NULL)
        status = count_log(a, &groups, err);
    if (status == ETL_OK && !count_rows(a))
        status = cancelled_or_no_memory(a->query->cancel, err);
    free_groups_close(&groups);
    return status;
}
