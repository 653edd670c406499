/*
 * row_details.c - fills in the measures of rows that are not sums over lifetimes: ranks of
 * lifetimes, rates, and the sizes of heaps.
 *
 * In: an aggregator whose groups have all their sums, and the size histories of heaps in the
 * result. Out: further measures of the groups; and in the finished table, the heap that grows most.
 *
 *     heap sizes, by process, handle, time     (p1, 0x1f0000)  10 ms  12 s | 40 s
 *                                                                     ▲      window ends at 30 s
 *                                              added to the group with the same kind, process, heap
 *
 * Invariants: a size that was not recorded stays ETLHEAP_NOT_KNOWN, which is not 0. find_group must
 * build its key byte for byte as the aggregator does, because keys are hashed and compared as
 * bytes.
 */
#include "row_details.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "churn_rows.h"
#include "row_spans.h"

#define SHARE_WHOLE 1000000 /* shares are in millionths */

static void fill_rates(aggregator *a);
static bool fill_ranks(aggregator *a);
static bool fill_sizes(aggregator *a);

bool row_details_fill(aggregator *a)
{
    const etlheap_measure_set measures = etlheap_query_measures(a->query);
    if (a->query->lifetime_ranks && !fill_ranks(a))
        return false;
    if ((measures >> ETLHEAP_MEASURE_ALLOC_RATE & 1) != 0)
        fill_rates(a);
    return (measures >> ETLHEAP_MEASURE_COMMITTED_SIZE & 1) == 0 || fill_sizes(a);
}

/* Rates are set before rows are put in order, because rows can be sorted by them. */
static void fill_rates(aggregator *a)
{
    for (size_t i = 0; i < a->groups.count; i++)
        churn_set_rates(aggregate_measures(a, i), row_spans_ns(a->spans, &a->groups.at[i].key));
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        churn_set_rates(a->totals[kind], row_spans_ns_of_kinds(a->spans, 1u << kind));
}

static bool fill_ranks(aggregator *a)
{
    const u32 count = (u32)a->groups.count;
    const u32 jobs = etlheap_workers_jobs(a->query->jobs);
    lifetime_ranks *const ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    for (u32 i = 0; ranks != NULL && i < count; i++)
        ranks[i] = LIFETIME_RANKS_UNKNOWN;
    const bool ok = ranks != NULL;
    if (ok)
        lifetime_ranks_compute(&a->lifetimes, &(lifetime_sets){ .count = count }, jobs, ranks);
    for (u32 i = 0; ok && i < count; i++)
        lifetime_ranks_put(&ranks[i], aggregate_measures(a, i));
    free(ranks);
    return ok;
}

/* An index of groups by key, for adding heap sizes. */
typedef struct sized_groups {
    aggregator *a;
    etlheap_index index;
    bool by_process;
    bool with_pages; /* also the measures that query.heap_pages asks for */
} sized_groups;

/* What is known of a heap at the end of a window. */
typedef struct heap_figures {
    u64 committed, reserved, uncommitted, decommitted; /* HEAP_SIZE_UNKNOWN */
} heap_figures;

static bool same_key(const void *owner, u32 id, const void *key)
{
    const sized_groups *const sized = owner;
    return memcmp(&sized->a->groups.at[id - 1].key, key, sizeof(group_key)) == 0;
}

static void forget_sizes(i64 *measures, bool with_pages)
{
    measures[ETLHEAP_MEASURE_COMMITTED_SIZE] = ETLHEAP_NOT_KNOWN;
    measures[ETLHEAP_MEASURE_RESERVED_SIZE] = ETLHEAP_NOT_KNOWN;
    measures[ETLHEAP_MEASURE_OVERHEAD_SIZE] = ETLHEAP_NOT_KNOWN;
    if (!with_pages)
        return;
    measures[ETLHEAP_MEASURE_UNCOMMITTED_SIZE] = ETLHEAP_NOT_KNOWN;
    measures[ETLHEAP_MEASURE_DECOMMITTED_SIZE] = ETLHEAP_NOT_KNOWN;
    measures[ETLHEAP_MEASURE_FRAGMENTATION] = ETLHEAP_NOT_KNOWN;
}

static bool index_groups(sized_groups *sized)
{
    for (u32 i = 0; i < sized->a->groups.count; i++) {
        const group_key *const key = &sized->a->groups.at[i].key;
        forget_sizes(aggregate_measures(sized->a, i), sized->with_pages);
        if (!etlheap_index_add(&sized->index, etlheap_hash_bytes(key, sizeof *key), i + 1))
            return false;
    }
    return true;
}

static void add_size(i64 *measure, u64 bytes)
{
    if (bytes == HEAP_SIZE_UNKNOWN)
        return;
    const i64 more = bytes > INT64_MAX ? INT64_MAX : (i64)bytes;
    *measure = *measure == ETLHEAP_NOT_KNOWN ? more : etl_sat_add_i64(*measure, more);
}

/* The group of a heap; 0: it has no lifetimes. */
static u32 find_group(const sized_groups *sized, const heap_size *size, etlheap_kind kind)
{
    group_key key;
    memset(&key, 0, sizeof key);
    key.heap = size->handle;
    key.has_heap = 1;
    key.kind = (u8)kind;
    key.process = sized->by_process ? sized->a->same_name[size->process] : 0;
    const u64 hash = etlheap_hash_bytes(&key, sizeof key);
    return etlheap_index_find(&sized->index, hash, same_key, sized, &key);
}

/* Bytes that the heap decommitted from the start of the window to the row `last`. */
static u64 decommitted_in(const aggregator *a, const heap_size *first, const heap_size *last)
{
    u64 before = 0;
    for (const heap_size *at = first; at < last && at->ticks < a->plan.from_ticks; at++)
        before = at->decommitted;
    if (last->ticks < a->plan.from_ticks)
        before = last->decommitted;
    return last->decommitted == HEAP_SIZE_UNKNOWN ? HEAP_SIZE_UNKNOWN : last->decommitted - before;
}

/* The figures of a heap in the window of a kind; its rows are `first` to `last`. A process that has
 * ended has no heaps, if its end frees memory. */
static bool figures_at(const aggregator *a, const heap_size *first, const heap_size *last,
                       etlheap_kind kind, heap_figures *out)
{
    const i64 to_ticks = a->plan.kind_to_ticks[kind];
    const i64 exit_ticks = a->result->processes.at[first->process - 1].end_ticks;
    if (first->ticks >= to_ticks)
        return false;
    while (last->ticks >= to_ticks)
        last--;
    *out = (heap_figures){ .committed = last->committed,
                           .reserved = last->reserved,
                           .decommitted = decommitted_in(a, first, last) };
    if (a->query->at_exit_freed && exit_ticks < to_ticks)
        out->committed = out->reserved = 0;
    out->uncommitted = heap_size_uncommitted(
        &(heap_size){ .committed = out->committed, .reserved = out->reserved });
    return true;
}

static void add_figures(const sized_groups *sized, u32 group, const heap_figures *figures)
{
    i64 *const measures = aggregate_measures(sized->a, group);
    add_size(&measures[ETLHEAP_MEASURE_COMMITTED_SIZE], figures->committed);
    add_size(&measures[ETLHEAP_MEASURE_RESERVED_SIZE], figures->reserved);
    if (!sized->with_pages)
        return;
    add_size(&measures[ETLHEAP_MEASURE_UNCOMMITTED_SIZE], figures->uncommitted);
    add_size(&measures[ETLHEAP_MEASURE_DECOMMITTED_SIZE], figures->decommitted);
}

/* Adds one heap to its rows, one of each kind. */
static void add_history(const sized_groups *sized, const heap_size *first, const heap_size *last)
{
    static const etlheap_kind kinds[] = { ETLHEAP_KIND_HEAP, ETLHEAP_KIND_EXTENT };
    aggregator *const a = sized->a;
    for (size_t k = 0; k < ETL_COUNT_OF(kinds); k++) {
        heap_figures figures;
        if (!query_select_owner(&a->plan, kinds[k], first->process, first->handle) ||
            !figures_at(a, first, last, kinds[k], &figures))
            continue;
        const u32 group = find_group(sized, first, kinds[k]);
        if (group != 0)
            add_figures(sized, group - 1, &figures);
    }
}

/* `part` of `whole`, in millionths, rounded down. */
static i64 share_of(i64 part, i64 whole)
{
    return part <= INT64_MAX / SHARE_WHOLE ? part * SHARE_WHOLE / whole
                                           : part / (whole / SHARE_WHOLE);
}

/* Overhead is committed memory that is not handed out as blocks. Only rows of blocks have it, and
 * only if their blocks are no larger than the committed memory: large blocks lie outside of it. */
static void fill_overhead(const sized_groups *sized)
{
    const aggregator *const a = sized->a;
    for (size_t i = 0; i < a->groups.count; i++) {
        i64 *const measures = aggregate_measures(a, i);
        const i64 committed = measures[ETLHEAP_MEASURE_COMMITTED_SIZE];
        const bool is_blocks = a->groups.at[i].key.kind == ETLHEAP_KIND_HEAP;
        const i64 outstanding = measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
        if (!is_blocks || committed < outstanding)
            continue;
        measures[ETLHEAP_MEASURE_OVERHEAD_SIZE] = committed - outstanding;
        if (sized->with_pages && committed > 0)
            measures[ETLHEAP_MEASURE_FRAGMENTATION] = share_of(committed - outstanding, committed);
    }
}

static bool fill_sizes(aggregator *a)
{
    const etlheap_measure_set measures = etlheap_query_measures(a->query);
    sized_groups sized = { .a = a,
                           .by_process = query_groups_by(a->query, ETLHEAP_KEY_PROCESS),
                           .with_pages = (measures >> ETLHEAP_MEASURE_FRAGMENTATION & 1) != 0 };
    const heap_size_list *const list = &a->result->heap_sizes;
    bool ok = index_groups(&sized);
    for (size_t first = 0; ok && first < list->count;) {
        size_t last = first;
        while (last + 1 < list->count && list->at[last + 1].process == list->at[first].process &&
               list->at[last + 1].handle == list->at[first].handle)
            last++;
        add_history(&sized, &list->at[first], &list->at[last]);
        first = last + 1;
    }
    if (ok)
        fill_overhead(&sized);
    etlheap_index_free(&sized.index);
    return ok;
}

/* Computes the rates of merged rows again: rates are rounded, so they cannot be added up. */
static void mark_rates(owned_table *out)
{
    for (size_t i = 0; i < out->rows.count; i++) {
        etlheap_row *const row = &out->rows.at[i];
        if (row->merged_rows != 0)
            churn_set_rates(row->measures, row->rates_ns);
    }
}

void row_details_mark(const aggregator *a, owned_table *out)
{
    u32 best[ETLHEAP_KIND_COUNT] = { 0 }; /* + 1 */
    const etlheap_measure_set measures = etlheap_query_measures(a->query);
    out->table.rates_ns = row_spans_ns_of_kinds(a->spans, query_kinds(a->query));
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        out->table.totals[kind].rates_ns = row_spans_ns_of_kinds(a->spans, 1u << kind);
    if ((measures >> ETLHEAP_MEASURE_ALLOC_RATE & 1) != 0)
        mark_rates(out);
    if ((measures >> ETLHEAP_MEASURE_COMMITTED_SIZE & 1) == 0)
        return;
    for (u32 i = 0; i < out->rows.count; i++) {
        const etlheap_row *const row = &out->rows.at[i];
        const i64 kept = row->measures[ETLHEAP_MEASURE_IMPACTING_SIZE];
        const u32 than = best[row->kind];
        const i64 most =
            than == 0 ? 0 : out->rows.at[than - 1].measures[ETLHEAP_MEASURE_IMPACTING_SIZE];
        if (row->has_heap && kept > most)
            best[row->kind] = i + 1;
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (best[kind] != 0)
            out->rows.at[best[kind] - 1].grows_most = true;
    }
}
