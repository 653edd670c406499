/*
 * windows_plan.c - cuts time into intervals for the wanted windows. windows_plan.h draws a pass.
 *
 * In: a length, moments or ranges. Out: a pass with ascending bounds, and for each window its
 * intervals.
 *
 * Time is cut wherever a window begins or ends, so windows may overlap: those that others cut are
 * runs of intervals. The ends of these runs cut the pass into stretches, far fewer than intervals
 * if few windows overlap. An event list was kept for windows that do not overlap. Invariant: every
 * moment belongs to one interval only.
 */
#include "windows_plan.h"

#include <stdlib.h>

static etl_status add_windows(windows_plan *plan, const query_plan *query,
                              const etlheap_windows_options *options, etl_error *err);
static etl_status place_windows(windows_plan *plan, etl_error *err);
static etl_status set_measured(windows_plan *plan, const etlheap_windows_options *options,
                               etl_error *err);

static etl_status too_many(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_LIMIT, 0, "there would be more than %u windows",
                         ETLHEAP_WINDOWS_MAX);
}

etl_status windows_plan_hull(const etlheap_query *query, const etlheap_windows_options *options,
                             i64 *from_ns, i64 *to_ns, etl_error *err)
{
    const bool ways[] = { options->every_ns != 0, options->cut_count > 0,
                          options->range_count > 0 };
    if (ways[0] + ways[1] + ways[2] > 1)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "windows are given in more than one way");
    if (options->every_ns < 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the length of windows is negative");
    if (options->cut_count >= ETLHEAP_WINDOWS_MAX || options->range_count > ETLHEAP_WINDOWS_MAX)
        return too_many(err);
    *from_ns = options->range_count == 0 ? query->from_ns : INT64_MAX;
    *to_ns = options->range_count == 0 ? query->to_ns : INT64_MIN;
    for (u32 i = 0; i < options->range_count; i++) {
        const etlheap_time_range *const range = &options->ranges[i];
        const i64 from = range->from_ns == INT64_MIN ? query->from_ns : range->from_ns;
        const i64 to = range->to_ns == INT64_MAX ? query->to_ns : range->to_ns;
        if (from != INT64_MIN && to != INT64_MAX && from > to)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a window ends before it begins");
        *from_ns = from < *from_ns ? from : *from_ns;
        *to_ns = to > *to_ns ? to : *to_ns;
    }
    return ETL_OK;
}

etl_status windows_plan_open(windows_plan *out, const query_plan *query, etlheap_time_range asked,
                             const etlheap_windows_options *options, etl_error *err)
{
    *out = (windows_plan){ .every_ns = options->every_ns, .asked = asked };
    etl_status status = add_windows(out, query, options, err);
    if (status == ETL_OK)
        status = place_windows(out, err);
    return status == ETL_OK ? set_measured(out, options, err) : status;
}

void windows_plan_close(windows_plan *plan)
{
    ETLHEAP_VECTOR_FREE(&plan->pass.bounds);
    ETLHEAP_VECTOR_FREE(&plan->pass.edges);
    ETLHEAP_VECTOR_FREE(&plan->windows);
    ETLHEAP_VECTOR_FREE(&plan->spans);
    ETLHEAP_VECTOR_FREE(&plan->places);
}

u32 windows_interval(const window_pass *pass, i64 ticks)
{
    u32 low;
    ETL_BISECT(low, 0, (u32)pass->bounds.count, pass->bounds.at[low] <= ticks);
    return low;
}

u32 windows_stretch(const window_pass *pass, u32 interval)
{
    u32 low;
    ETL_BISECT(low, 0, (u32)pass->edges.count, pass->edges.at[low] <= interval);
    return low;
}

/* Adds a window. If it begins or ends with the query's window, it does so at that one's ticks,
 * which may be farther than nanoseconds can tell. */
static bool add_window(windows_plan *plan, const query_plan *query, etlheap_time_range range,
                       bool is_first, bool is_last)
{
    const etl_session *const session = query->result->base.base;
    const window_span span = { is_first ? query->from_ticks
                                        : etl_time_ticks(session, range.from_ns),
                               is_last ? query->to_ticks : etl_time_ticks(session, range.to_ns) };
    return ETLHEAP_PUSH(&plan->windows, range) && ETLHEAP_PUSH(&plan->spans, span);
}

/* The first moment after `at` that is a multiple of `every` away from the anchor;
 * INT64_MAX when there is none. */
static i64 next_multiple(i64 anchor, i64 every, i64 at)
{
    i64 distance, next;
    if (__builtin_sub_overflow(at, anchor, &distance))
        return INT64_MAX;
    const i64 past = distance % every;
    const i64 step = past >= 0 ? every - past : -past;
    return __builtin_add_overflow(at, step, &next) ? INT64_MAX : next;
}

/* Where a piece ends that would end at `next`. A rest of at most `join` is part of it. */
static i64 end_of_piece(i64 next, i64 to, i64 join)
{
    return next < to && (u64)to - (u64)next > (u64)join ? next : to;
}

/* Cuts [from, to) into pieces of equal length; an empty window is not cut. */
static etl_status add_pieces(windows_plan *plan, const query_plan *query,
                             const etlheap_windows_options *options, etl_error *err)
{
    const i64 every = options->every_ns, join = options->join_rest ? every / ETLHEAP_REST_PART : 0;
    const i64 anchor = query->query->from_ns == INT64_MIN ? 0 : query->from_ns;
    for (i64 at = query->from_ns; at == query->from_ns || at < query->to_ns;) {
        const i64 next = next_multiple(anchor, every, at);
        const i64 end = end_of_piece(next, query->to_ns, join);
        if (plan->windows.count >= ETLHEAP_WINDOWS_MAX)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "there would be more than %u windows; choose longer windows",
                                 ETLHEAP_WINDOWS_MAX);
        if (!add_window(plan, query, (etlheap_time_range){ at, end }, plan->windows.count == 0,
                        end == query->to_ns))
            return etl_no_memory(err);
        if (end <= at)
            break;
        at = end;
    }
    return ETL_OK;
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static etl_status add_cuts(windows_plan *plan, const query_plan *query,
                           const etlheap_windows_options *options, etl_error *err)
{
    i64 *const cuts = malloc(options->cut_count * sizeof *cuts);
    if (cuts == NULL)
        return etl_no_memory(err);
    memcpy(cuts, options->cuts, options->cut_count * sizeof *cuts);
    qsort(cuts, options->cut_count, sizeof *cuts, by_value);
    i64 at = query->from_ns;
    bool ok = true;
    for (u32 i = 0; ok && i < options->cut_count; i++) {
        if (cuts[i] <= at || cuts[i] >= query->to_ns)
            continue;
        ok = add_window(plan, query, (etlheap_time_range){ at, cuts[i] }, plan->windows.count == 0,
                        false);
        at = cuts[i];
    }
    ok = ok && add_window(plan, query, (etlheap_time_range){ at, query->to_ns },
                          plan->windows.count == 0, true);
    free(cuts);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* Adds a range. An open end is the query's, however far other ranges reach. If it lies beyond the
 * other end, it gives way, and the window is empty. */
static bool add_range(windows_plan *plan, const query_plan *query, etlheap_time_range range)
{
    if (range.from_ns == INT64_MIN)
        range.from_ns = plan->asked.from_ns;
    if (range.to_ns == INT64_MAX)
        range.to_ns = plan->asked.to_ns;
    bool is_first = range.from_ns == INT64_MIN;
    bool is_last = range.to_ns == INT64_MAX;
    if (is_first)
        range.from_ns = query->from_ns;
    if (is_last)
        range.to_ns = query->to_ns;
    if (range.to_ns < range.from_ns) {
        range.from_ns = is_first ? range.to_ns : range.from_ns;
        range.to_ns = range.from_ns;
        is_first = is_last = false;
    }
    return add_window(plan, query, range, is_first, is_last);
}

static etl_status add_ranges(windows_plan *plan, const query_plan *query,
                             const etlheap_windows_options *options, etl_error *err)
{
    for (u32 i = 0; i < options->range_count; i++) {
        if (!add_range(plan, query, options->ranges[i]))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

static bool add_whole(windows_plan *plan, const query_plan *query)
{
    return add_window(plan, query, (etlheap_time_range){ query->from_ns, query->to_ns }, true,
                      true);
}

static etl_status add_windows(windows_plan *plan, const query_plan *query,
                              const etlheap_windows_options *options, etl_error *err)
{
    etl_status status = ETL_OK;
    if (options->every_ns > 0)
        status = add_pieces(plan, query, options, err);
    else if (options->range_count > 0)
        status = add_ranges(plan, query, options, err);
    else if (options->cut_count > 0)
        status = add_cuts(plan, query, options, err);
    const bool adds_whole = options->with_whole || plan->windows.count == 0;
    return status == ETL_OK && adds_whole && !add_whole(plan, query) ? etl_no_memory(err) : status;
}

typedef struct ordered_window {
    window_span span;
    u32 number;
} ordered_window;

static int by_time(const void *a, const void *b)
{
    const ordered_window *const x = a, *const y = b;
    if (x->span.from_ticks != y->span.from_ticks)
        return x->span.from_ticks < y->span.from_ticks ? -1 : 1;
    if (x->span.to_ticks != y->span.to_ticks)
        return x->span.to_ticks < y->span.to_ticks ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool same_span(const window_span *a, const window_span *b)
{
    return a->from_ticks == b->from_ticks && a->to_ticks == b->to_ticks;
}

static bool is_empty(const window_span *span)
{
    return span->from_ticks == span->to_ticks;
}

/* Sorts numbers and drops those that occur again. */
static size_t sort_distinct(i64 *at, size_t count)
{
    size_t kept = count > 0;
    qsort(at, count, sizeof *at, by_value);
    for (size_t i = 1; i < count; i++) {
        if (at[i] != at[kept - 1])
            at[kept++] = at[i];
    }
    return kept;
}

/* Cuts where windows begin or end. An empty window needs a second bound where it is. */
static bool cut_pass(windows_plan *plan)
{
    window_pass *const pass = &plan->pass;
    bool ok = true;
    for (size_t i = 0; ok && i < plan->spans.count; i++)
        ok = ETLHEAP_PUSH(&pass->bounds, plan->spans.at[i].from_ticks) &&
             ETLHEAP_PUSH(&pass->bounds, plan->spans.at[i].to_ticks);
    if (ok)
        pass->bounds.count = sort_distinct(pass->bounds.at, pass->bounds.count);
    const size_t distinct = pass->bounds.count;
    for (size_t i = 0; ok && i < plan->spans.count; i++)
        ok = !is_empty(&plan->spans.at[i]) ||
             ETLHEAP_PUSH(&pass->bounds, plan->spans.at[i].from_ticks);
    if (ok && pass->bounds.count > distinct)
        qsort(pass->bounds.at, pass->bounds.count, sizeof *pass->bounds.at, by_value);
    return ok;
}

/* The number of bounds before a moment. */
static u32 bounds_before(const window_pass *pass, i64 ticks)
{
    return ticks == INT64_MIN ? 0 : windows_interval(pass, ticks - 1);
}

/* Places a window; `number` counts empty windows of one moment. */
static window_place place_of(const window_pass *pass, const window_span *span, u32 number)
{
    const u32 before = bounds_before(pass, span->to_ticks);
    if (is_empty(span))
        return (window_place){ before + 1 + number, before + 1 + number };
    return (window_place){ windows_interval(pass, span->from_ticks), before };
}

/* Cuts the pass into stretches where windows of several intervals begin and end. */
static bool find_edges(windows_plan *plan)
{
    window_edges *const edges = &plan->pass.edges;
    const u32 intervals = (u32)plan->pass.bounds.count + 1;
    u8 *const is_edge = calloc(intervals + (size_t)1, 1);
    bool ok = is_edge != NULL;
    for (size_t i = 0; ok && i < plan->places.count; i++) {
        const window_place *const place = &plan->places.at[i];
        if (window_place_is_run(place))
            is_edge[place->interval] = is_edge[place->last + 1] = 1;
    }
    for (u32 i = 0; ok && i <= intervals; i++)
        ok = !is_edge[i] || ETLHEAP_PUSH(edges, i);
    free(is_edge);
    return ok;
}

static etl_status place_windows(windows_plan *plan, etl_error *err)
{
    const size_t count = plan->windows.count;
    ordered_window *const order = malloc((count + 1) * sizeof *order);
    bool ok = order != NULL && ETLHEAP_RESERVE(&plan->places, count) && cut_pass(plan);
    for (u32 i = 0; ok && i < count; i++)
        order[i] = (ordered_window){ plan->spans.at[i], i };
    if (ok)
        qsort(order, count, sizeof *order, by_time);
    u32 empty = 0;
    for (size_t i = 0; ok && i < count; i++) {
        empty = i > 0 && same_span(&order[i].span, &order[i - 1].span) ? empty + 1 : 0;
        plan->places.at[order[i].number] = place_of(&plan->pass, &order[i].span, empty);
    }
    plan->places.count = ok ? count : 0;
    ok = ok && find_edges(plan);
    free(order);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* Sets the measured time, which is a run of intervals. */
static etl_status set_measured(windows_plan *plan, const etlheap_windows_options *options,
                               etl_error *err)
{
    const u32 all = (u32)plan->windows.count;
    const u32 first = options->measured_count == 0 ? 0 : options->measured_first;
    const u32 count = options->measured_count == 0 ? all : options->measured_count;
    if (first >= all || count > all - first)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the windows to measure are not all among those asked for");
    window_place *const measured = &plan->measured_place;
    plan->measured = plan->windows.at[first];
    *measured = plan->places.at[first];
    for (u32 i = first; i < first + count; i++) {
        const etlheap_time_range *const range = &plan->windows.at[i];
        const window_place place = plan->places.at[i];
        etlheap_time_range *const all_ns = &plan->measured;
        all_ns->from_ns = range->from_ns < all_ns->from_ns ? range->from_ns : all_ns->from_ns;
        all_ns->to_ns = range->to_ns > all_ns->to_ns ? range->to_ns : all_ns->to_ns;
        measured->interval =
            place.interval < measured->interval ? place.interval : measured->interval;
        measured->last = place.last > measured->last ? place.last : measured->last;
    }
    return ETL_OK;
}
