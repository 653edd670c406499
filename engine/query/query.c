/*
 * query.c - checks a query, prepares it for one result, and selects lifetimes by it.
 *
 * In: an etlheap_query of a caller, maybe of an older or newer size, and a result. Out: a
 * query_plan (window in ticks, processes and threads by id); then for each lifetime whether it is
 * selected, and its type.
 *
 * Whatever is the same for all lifetimes is worked out once, in query_open. It also refuses, with a
 * sentence, what contradicts itself (refuse) and what the result cannot answer (result_answers,
 * lacks_in_summary). Invariant: a question that the result cannot answer never gets an empty table.
 * So a new filter or measure needs a check there if some results lack its data.
 */
#include "query.h"
#include "keys.h"
#include "needs.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/result/archive.h"

#include "parser/sized.h"

#define NS_PER_SECOND 1000000000u

/* Checks all numbers that later serve as indexes of tables. */
static etl_status check_ids(const etlheap_query *query, etl_error *err)
{
    if (query->kinds >> ETLHEAP_KIND_COUNT != 0 || query->types >> ETLHEAP_TYPE_COUNT != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown kind or type to select");
    if (query->group_by_count > ETLHEAP_GROUP_BY_MAX)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "too many keys to group by");
    for (u32 i = 0; i < query->group_by_count; i++) {
        if ((u32)query->group_by[i] >= ETLHEAP_KEY_COUNT)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown key to group by");
    }
    if ((u32)query->sort >= ETLHEAP_MEASURES_COUNT)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown measure to sort by");
    return ETL_OK;
}

void etlheap_query_init(etlheap_query *query, size_t size)
{
    static const etlheap_query own = { .size = sizeof own,
                                       .from_ns = INT64_MIN,
                                       .to_ns = INT64_MAX,
                                       .lifetime_max_ns = INT64_MAX,
                                       .size_max_bytes = UINT64_MAX,
                                       .group_by = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                                     ETLHEAP_KEY_HEAP, ETLHEAP_KEY_TYPE,
                                                     ETLHEAP_KEY_STACK },
                                       .group_by_count = 5,
                                       .sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE };
    etl_init_sized(query, size, &own, sizeof own);
}

/* The same bytes may be in a block, an extent and a committed range, so that each row is of one
 * kind. */
static void add_kind(etlheap_query *query)
{
    const u32 kinds = query_kinds(query);
    if ((kinds & (kinds - 1)) == 0 || query_groups_by(query, ETLHEAP_KEY_KIND) ||
        query->group_by_count >= ETLHEAP_GROUP_BY_MAX)
        return;
    memmove(query->group_by + 1, query->group_by,
            query->group_by_count * sizeof query->group_by[0]);
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by_count++;
}

etl_status query_read(const etlheap_query *given, etlheap_query *own, etl_error *err)
{
    *own = etlheap_query_default();
    etl_status status = etl_read_sized(given, "etlheap_query", own, sizeof *own, err);
    if (status == ETL_OK)
        status = check_ids(own, err);
    if (status == ETL_OK)
        add_kind(own);
    return status;
}

/* The measures that rows of the query have, as bits. A row has the sizes of a heap only if it
 * covers whole heaps. */
static etlheap_measure_set measures_of(const etlheap_query *query)
{
    if (query->unmatched)
        return ETLHEAP_MEASURE_BIT(COUNT);
    const etlheap_measure_set peaks =
        ETLHEAP_MEASURE_BIT(PEAK_COUNT) | ETLHEAP_MEASURE_BIT(PEAK_SIZE);
    const etlheap_measure_set always = ((2u << ETLHEAP_MEASURE_PEAK_SIZE) - 1) &
                                       (query->sums_only ? ~peaks : ~(etlheap_measure_set)0);
    const etlheap_measure_set exclusive =
        ETLHEAP_MEASURE_BIT(EXCLUSIVE_COUNT) | ETLHEAP_MEASURE_BIT(EXCLUSIVE_SIZE);
    const etlheap_measure_set ranks =
        ETLHEAP_MEASURE_BIT(LIFETIME_MEAN) | ETLHEAP_MEASURE_BIT(LIFETIME_MEDIAN) |
        ETLHEAP_MEASURE_BIT(LIFETIME_P90) | ETLHEAP_MEASURE_BIT(LIFETIME_P99);
    const etlheap_measure_set sizes = ETLHEAP_MEASURE_BIT(COMMITTED_SIZE) |
                                      ETLHEAP_MEASURE_BIT(RESERVED_SIZE) |
                                      ETLHEAP_MEASURE_BIT(OVERHEAD_SIZE);
    const etlheap_measure_set pages = ETLHEAP_MEASURE_BIT(UNCOMMITTED_SIZE) |
                                      ETLHEAP_MEASURE_BIT(DECOMMITTED_SIZE) |
                                      ETLHEAP_MEASURE_BIT(FRAGMENTATION);
    const etlheap_measure_set growth =
        ETLHEAP_MEASURE_BIT(GROWTH_RATE) | ETLHEAP_MEASURE_BIT(STEADINESS);
    const etlheap_measure_set frees = ETLHEAP_MEASURE_BIT(FREED_BY_OTHER);
    const etlheap_measure_set times = ETLHEAP_MEASURE_BIT(FIRST) | ETLHEAP_MEASURE_BIT(LAST);
    const etlheap_measure_set rates =
        ETLHEAP_MEASURE_BIT(ALLOC_COUNT) | ETLHEAP_MEASURE_BIT(ALLOC_SIZE) |
        ETLHEAP_MEASURE_BIT(ALLOC_RATE) | ETLHEAP_MEASURE_BIT(ALLOC_BYTES_RATE) |
        ETLHEAP_MEASURE_BIT(FREED_COUNT) | ETLHEAP_MEASURE_BIT(FREED_SIZE);
    const etlheap_measure_set churn =
        ETLHEAP_MEASURE_BIT(TEMPORARY_COUNT) | ETLHEAP_MEASURE_BIT(TEMPORARY_SIZE) |
        ETLHEAP_MEASURE_BIT(TEMPORARY_10_COUNT) | ETLHEAP_MEASURE_BIT(TEMPORARY_1MS_COUNT);
    bool by_heap = false, by_more = false;
    for (u32 i = 0; i < query->group_by_count; i++) {
        const etlheap_key key = query->group_by[i];
        by_heap |= key == ETLHEAP_KEY_HEAP;
        by_more |= key != ETLHEAP_KEY_HEAP && key != ETLHEAP_KEY_KIND && key != ETLHEAP_KEY_PROCESS;
    }
    return always | (query->lifetime_ranks ? ranks : 0) | (query->growth ? growth : 0) |
           (query->rates || query->churn ? rates : 0) | (query->churn ? churn : 0) |
           (query->freed_by_other ? frees : 0) | (query->alloc_times ? times : 0) |
           (query_groups_by(query, ETLHEAP_KEY_FUNCTION) ? exclusive : 0) |
           (by_heap && !by_more ? sizes | (query->heap_pages ? pages : 0) : 0);
}

static etl_status refuse(const etlheap_query *query, etl_error *err)
{
    if (query->from_ns != INT64_MIN && query->to_ns != INT64_MAX && query->from_ns > query->to_ns)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the window ends before it begins");
    if (query->lifetime_min_ns > query->lifetime_max_ns)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the lifetime range is empty");
    for (u32 i = 0; i < query->fold_module_count; i++) {
        if (query->fold_modules[i].symbol != NULL || query->fold_modules[i].unnamed_only)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "only whole modules can be folded");
    }
    if (query->size_min_bytes > query->size_max_bytes)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the size range is empty");
    const etl_status ids = check_ids(query, err);
    if (ids != ETL_OK)
        return ids;
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == ETLHEAP_KEY_TAG && query->tags == NULL)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "grouping by tag needs stack tags");
    }
    const etl_status keys = keys_refuse(query, err);
    if (keys != ETL_OK)
        return keys;
    if (query->growth && (query->types != 0 || query->at_end || query->kind_to_ticks != NULL ||
                          query_needs(query, NEEDS_FREES) ||
                          query_reads(query, KEY_READS(TYPE) | KEY_READS(FREE_TYPE))))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "growth cannot be combined with selected types, with a moment or with "
                             "who freed");
    if (query_groups_by(query, ETLHEAP_KEY_FUNCTION) && (query->growth || query->lifetime_ranks))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s cannot be combined with grouping by function, whose rows share "
                             "blocks",
                             query->growth ? "growth" : "ranks of lifetimes");
    if ((query->rates || query->churn) && (query->at_end || query->kind_to_ticks != NULL))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "allocations per second cannot be combined with a moment");
    if ((measures_of(query) >> query->sort & 1) == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "rows with these keys do not have the measure %s to sort by",
                             etlheap_measure_word(query->sort));
    return ETL_OK;
}

static etl_status refuse_of_summary(const etlheap_query *query, etl_error *err)
{
    const char *const reason = needs_that_summaries_lack(query);
    return reason == NULL ? ETL_OK
                          : etl_fail_hint(err, ETL_ERR_ARGUMENT,
                                          needs_part(query) ? ETL_HINT_WHOLE_TRACE : ETL_HINT_NONE,
                                          "a summary %s; use the trace or its full store", reason);
}

/* What some results lack, in the order in which it is told. */
static etl_status refuse_of_result(const etlheap_query *query, const etlheap_result *result,
                                   etl_error *err)
{
    static const struct {
        u32 needs;
        result_need ask;
    } rows[] = { { NEEDS_THREADS, RESULT_NEED_THREADS },
                 { NEEDS_FREES, RESULT_NEED_FREES },
                 { NEEDS_FREE_THREADS, RESULT_NEED_FREE_THREADS } };
    const u32 needs = needs_of_query(query);
    etl_status status = ETL_OK;
    for (size_t i = 0; i < ETL_COUNT_OF(rows) && status == ETL_OK; i++)
        status = (needs & rows[i].needs) != 0 ? result_answers(result, rows[i].ask, err) : ETL_OK;
    return status == ETL_OK ? result_keeps(result, query_kinds(query), err) : status;
}

u32 query_types(const etlheap_query *query)
{
    const u32 all = (1u << ETLHEAP_TYPE_COUNT) - 1;
    return (query->types == 0 ? all : query->types) & (query->at_end ? TYPES_OUTSTANDING : all);
}

etlheap_measure_set etlheap_query_measures(const etlheap_query *query)
{
    etlheap_query own;
    return query_read(query, &own, NULL) == ETL_OK ? measures_of(&own) : 0;
}

/* If the query states only one end of the window, the other end moves so that the window is not
 * negative. */
static void set_window(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    const i64 first_ns = etl_time_ns(plan->result->base.base, plan->result->first_ticks);
    plan->from_ns = first_ns < 0 ? first_ns : 0;
    plan->to_ns = plan->result->info.end_ns;
    if (query->from_ns != INT64_MIN)
        plan->from_ns = query->from_ns;
    else if (query->to_ns < plan->from_ns)
        plan->from_ns = query->to_ns;
    if (query->to_ns != INT64_MAX)
        plan->to_ns = query->to_ns;
    else if (plan->to_ns < plan->from_ns)
        plan->to_ns = plan->from_ns;
}

/* An open end of the window includes everything, even events whose time in nanoseconds is beyond
 * the largest number. */
static void set_ticks(query_plan *plan)
{
    const etlheap_query *const query = plan->query;
    const etlheap_result *const result = plan->result;
    plan->from_ticks = etl_time_ticks(result->base.base, plan->from_ns);
    plan->to_ticks = etl_time_ticks(result->base.base, plan->to_ns);
    if (query->from_ns == INT64_MIN && result->first_ticks < plan->from_ticks)
        plan->from_ticks = result->first_ticks;
    if (query->to_ns == INT64_MAX && result->last_ticks >= plan->to_ticks)
        plan->to_ticks = etl_sat_add_i64(result->last_ticks, 1);
    const u64 hz = result->base.base->clock_hz;
    plan->ns_per_tick = hz != 0 && NS_PER_SECOND % hz == 0 ? (i64)(NS_PER_SECOND / hz) : 0;
    plan->near_ticks = plan->ns_per_tick == 0 ? 0 : INT64_MAX / 4 / plan->ns_per_tick;
}

/* The smaller one of the query's limit and the result's; 0: there is none. */
static u64 memory_limit(const etlheap_query *query, const etlheap_result *result)
{
    const u64 own = query->memory_bytes_max;
    const u64 of_result = result->archive == NULL ? 0 : result->archive->memory_bytes_max;
    return own == 0 || of_result == 0 ? own + of_result : etl_min_u64(own, of_result);
}

etl_status query_read_for(const etlheap_result *result, const etlheap_query *given,
                          etlheap_query *own, etl_error *err)
{
    const etl_status status = query_read(given, own, err);
    if (status == ETL_OK)
        result_part_default(result, own);
    return status;
}

etl_status query_open(query_plan *out, const etlheap_result *result, const etlheap_query *query,
                      etl_error *err)
{
    *out =
        (query_plan){ .query = query, .result = result, .memory = calloc(1, sizeof *out->memory) };
    if (out->memory == NULL)
        return etl_no_memory(err);
    out->memory->limit_bytes = memory_limit(query, result);
    etl_status status = result_answers(result, RESULT_NEED_ROWS, err);
    if (status == ETL_OK)
        status = result_part_refuse(result, query, err);
    if (status == ETL_OK)
        status = refuse(query, err);
    if (status == ETL_OK && result->summary != NULL)
        status = refuse_of_summary(query, err);
    if (status == ETL_OK)
        status = refuse_of_result(query, result, err);
    if (status != ETL_OK)
        return status;
    set_window(out);
    set_ticks(out);
    out->types = query_types(query);
    keys_set_types(query, out->row_types);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        out->kind_to_ticks[kind] =
            query->kind_to_ticks == NULL ? out->to_ticks : query->kind_to_ticks[kind];
    if (!query_select_processes(out) || !query_select_threads(out))
        return etl_no_memory(err);
    return ETL_OK;
}

void query_close(query_plan *plan)
{
    free(plan->process_selected);
    free(plan->threads);
    free(plan->memory);
    plan->memory = NULL;
    plan->process_selected = NULL;
    plan->threads = NULL;
}

static bool lists_u64(const u64 *list, u32 count, u64 value)
{
    for (u32 i = 0; i < count; i++) {
        if (list[i] == value)
            return true;
    }
    return count == 0;
}

/* Within so many ticks of the header's time? Numbers wrap, so that one comparison tells. */
static bool is_near(const query_plan *plan, i64 header_ticks, i64 ticks)
{
    const u64 reach = (u64)plan->near_ticks;
    return (u64)ticks - (u64)header_ticks + reach <= 2 * reach;
}

/* If a tick has a whole number of nanoseconds, as with the usual 10 MHz, no division is needed. */
bool query_lifetime_ns(const query_plan *plan, const query_row *row, i64 *ns)
{
    if (row->free_ticks == ETLHEAP_TICKS_NEVER || row->alloc_ticks == ETLHEAP_TICKS_BEFORE)
        return false;
    const etl_session *const session = plan->result->base.base;
    if (plan->ns_per_tick != 0 && is_near(plan, session->header_ticks, row->alloc_ticks) &&
        is_near(plan, session->header_ticks, row->free_ticks)) {
        *ns = (row->free_ticks - row->alloc_ticks) * plan->ns_per_tick;
        return true;
    }
    if (__builtin_sub_overflow(etl_time_ns(session, row->free_ticks),
                               etl_time_ns(session, row->alloc_ticks), ns))
        *ns = INT64_MAX;
    return true;
}

bool query_counts_lifetime(const query_plan *plan, const query_row *row, i64 *ns)
{
    const etlheap_query *const query = plan->query;
    const bool is_too_late = query->keep_lifetimes && type_is_outstanding(row->type);
    return query->lifetime_ranks && !is_too_late && query_lifetime_ns(plan, row, ns);
}

/* With a clock faster than 1 GHz, the tick before may be in the same nanosecond. */
i64 query_end_ns(const etl_session *session, i64 to_ticks)
{
    const i64 end_ns = etl_time_ns(session, to_ticks);
    const i64 least_ns = etl_sat_add_i64(etl_time_ns(session, etl_sat_add_i64(to_ticks, -1)), 1);
    return end_ns > least_ns ? end_ns : least_ns;
}

/* The lifetime of a block that is still allocated counts as infinite. */
static bool lifetime_fits(const query_plan *plan, const query_row *row)
{
    const etlheap_query *const query = plan->query;
    if (query->lifetime_min_ns <= 0 && query->lifetime_max_ns == INT64_MAX)
        return true;
    i64 lifetime_ns;
    if (!query_lifetime_ns(plan, row, &lifetime_ns))
        lifetime_ns = INT64_MAX;
    return lifetime_ns >= query->lifetime_min_ns && lifetime_ns <= query->lifetime_max_ns;
}

/* Does the block outlive its generation, or the part of it that is inside the window? */
static bool is_left_behind(const query_plan *plan, const query_row *row, i64 to_ticks)
{
    const etlheap_marks *const marks = &plan->result->marks.marks;
    u32 latest = 0;
    if (row->alloc_ticks < plan->from_ticks)
        return false;
    const u32 generation = mark_generation(marks, row->alloc_ticks, &latest);
    const i64 end_ticks = generation == marks->count ? to_ticks : marks->at[generation].ticks;
    return row->free_ticks >= (end_ticks < to_ticks ? end_ticks : to_ticks);
}

bool query_examine_block(const query_plan *plan, etlheap_kind kind, const query_block *block,
                         query_row *out)
{
    const etlheap_query *const query = plan->query;
    const i64 to_ticks = plan->kind_to_ticks[kind];
    out->alloc_ticks = block->alloc_ticks;
    out->free_ticks = query_end_ticks(query->at_exit_freed, block->free_type, block->free_ticks);
    if (!type_touches(out->alloc_ticks, out->free_ticks, plan->from_ticks, to_ticks))
        return false;
    out->type = type_in_window(out->alloc_ticks, out->free_ticks, plan->from_ticks, to_ticks);
    return block->size_bytes >= query->size_min_bytes &&
           block->size_bytes <= query->size_max_bytes &&
           query_selects_thread(plan, block->process, block->thread) &&
           (!query->left_behind || is_left_behind(plan, out, to_ticks)) && lifetime_fits(plan, out);
}

bool query_select_owner(const query_plan *plan, etlheap_kind kind, u32 process, u64 heap)
{
    const etlheap_query *const query = plan->query;
    return (query_kinds(query) >> kind & 1) != 0 && plan->process_selected[process] &&
           lists_u64(query->heaps, query->heap_count, heap);
}

bool query_select(const query_plan *plan, const etlheap_segment *segment, u32 at, query_row *out)
{
    const query_block block = { segment->alloc_ticks[at], segment->free_ticks[at],
                                segment->size_bytes[at],  segment->thread[at],
                                segment->process[at],     segment->free_type[at] };
    const etlheap_kind kind = segment->kind[at];
    return query_select_owner(plan, kind, segment->process[at], segment->heap_handle[at]) &&
           query_examine_block(plan, kind, &block, out) && (plan->types >> out->type & 1) != 0;
}
