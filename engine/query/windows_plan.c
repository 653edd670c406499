/*
 * windows_plan.c - cuts the wanted windows into passes of intervals. windows_plan.h draws a pass.
 *
 * In: a length, moments or ranges. Out: passes with ascending bounds, and for each window its
 * pass and interval.
 *
 * Windows that overlap go to different passes, greedily in order of their start, so that the
 * number of passes is the largest number of windows that overlap at one time. A window that spans
 * all others comes last: if a pass spans as much, the window is a run of that pass's intervals. A
 * journal was kept for windows that do not overlap, so there it is not. Invariant: within a pass
 * every moment belongs to one interval only.
 */
#include "windows_plan.h"

#include <stdlib.h>

static etl_status add_windows(windows_plan *plan, const query_plan *query,
                              const etlheap_windows_options *options, etl_error *err);
static etl_status place_windows(windows_plan *plan, bool may_nest, etl_error *err);
static etl_status set_measured(windows_plan *plan, const etlheap_windows_options *options,
                               etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

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
        status = place_windows(out, query->result->mode != RESULT_JOURNAL, err);
    return status == ETL_OK ? set_measured(out, options, err) : status;
}

void windows_plan_close(windows_plan *plan)
{
    for (size_t i = 0; i < plan->passes.count; i++)
        ETLHEAP_VECTOR_FREE(&plan->passes.at[i].bounds);
    ETLHEAP_VECTOR_FREE(&plan->passes);
    ETLHEAP_VECTOR_FREE(&plan->windows);
    ETLHEAP_VECTOR_FREE(&plan->spans);
    ETLHEAP_VECTOR_FREE(&plan->places);
}

u32 windows_interval(const window_pass *pass, i64 ticks)
{
    u32 low = 0, high = (u32)pass->bounds.count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (pass->bounds.at[middle] <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
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

/* Cuts [from, to) into pieces of equal length; an empty window is not cut. */
static etl_status add_pieces(windows_plan *plan, const query_plan *query, i64 every, etl_error *err)
{
    const i64 anchor = query->query->from_ns == INT64_MIN ? 0 : query->from_ns;
    for (i64 at = query->from_ns; at == query->from_ns || at < query->to_ns;) {
        const i64 next = next_multiple(anchor, every, at);
        const i64 end = next < query->to_ns ? next : query->to_ns;
        if (plan->windows.count >= ETLHEAP_WINDOWS_MAX)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "there would be more than %u windows; choose longer windows",
                                 ETLHEAP_WINDOWS_MAX);
        if (!add_window(plan, query, (etlheap_time_range){ at, end }, plan->windows.count == 0,
                        end == query->to_ns))
            return no_memory(err);
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
        return no_memory(err);
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
    return ok ? ETL_OK : no_memory(err);
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
            return no_memory(err);
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
        status = add_pieces(plan, query, options->every_ns, err);
    else if (options->range_count > 0)
        status = add_ranges(plan, query, options, err);
    else if (options->cut_count > 0)
        status = add_cuts(plan, query, options, err);
    const bool adds_whole = options->with_whole || plan->windows.count == 0;
    return status == ETL_OK && adds_whole && !add_whole(plan, query) ? no_memory(err) : status;
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

/* Adds the window to the first pass that is over when it begins. */
static bool place_window(windows_plan *plan, const window_span *window, window_place *place)
{
    u32 number = 0;
    for (; number < plan->passes.count; number++) {
        const window_pass *const pass = &plan->passes.at[number];
        if (pass->bounds.at[pass->bounds.count - 1] <= window->from_ticks)
            break;
    }
    if (number == plan->passes.count &&
        !ETLHEAP_PUSH(&plan->passes, (window_pass){ .has_whole = false }))
        return false;
    window_pass *const pass = &plan->passes.at[number];
    const bool touches =
        pass->bounds.count > 0 && pass->bounds.at[pass->bounds.count - 1] == window->from_ticks;
    if (!touches && !ETLHEAP_PUSH(&pass->bounds, window->from_ticks))
        return false;
    const u32 interval = (u32)pass->bounds.count;
    *place = (window_place){ number, interval, interval };
    return ETLHEAP_PUSH(&pass->bounds, window->to_ticks);
}

/* The time that all windows span. */
static window_span hull_of(const windows_plan *plan)
{
    window_span hull = { INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < plan->spans.count; i++) {
        const window_span *const span = &plan->spans.at[i];
        hull.from_ticks = span->from_ticks < hull.from_ticks ? span->from_ticks : hull.from_ticks;
        hull.to_ticks = span->to_ticks > hull.to_ticks ? span->to_ticks : hull.to_ticks;
    }
    return hull;
}

static bool same_span(const window_span *a, const window_span *b)
{
    return a->from_ticks == b->from_ticks && a->to_ticks == b->to_ticks;
}

/* Places a window that spans all others: as a run of intervals, if a pass spans as much. */
static bool place_hull(windows_plan *plan, const window_span *hull, bool may_nest,
                       window_place *place)
{
    for (u32 number = 0; may_nest && number < plan->passes.count; number++) {
        window_pass *const pass = &plan->passes.at[number];
        const u32 last = (u32)pass->bounds.count - 1;
        const window_span span = { pass->bounds.at[0], pass->bounds.at[last] };
        if (!same_span(&span, hull))
            continue;
        *place = (window_place){ number, 1, last };
        pass->has_whole |= last > 1;
        return true;
    }
    return place_window(plan, hull, place);
}

static etl_status place_windows(windows_plan *plan, bool may_nest, etl_error *err)
{
    const size_t count = plan->windows.count;
    const window_span hull = hull_of(plan);
    ordered_window *const order = malloc((count + 1) * sizeof *order);
    bool ok = order != NULL && ETLHEAP_RESERVE(&plan->places, count);
    for (u32 i = 0; ok && i < count; i++)
        order[i] = (ordered_window){ plan->spans.at[i], i };
    if (ok)
        qsort(order, count, sizeof *order, by_time);
    for (size_t i = 0; ok && i < count; i++) {
        if (!same_span(&order[i].span, &hull))
            ok = place_window(plan, &order[i].span, &plan->places.at[order[i].number]);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (same_span(&order[i].span, &hull))
            ok = place_hull(plan, &hull, may_nest, &plan->places.at[order[i].number]);
    }
    plan->places.count = ok ? count : 0;
    free(order);
    return ok ? ETL_OK : no_memory(err);
}

/* Finds the window that is exactly this time. */
static bool find_span(const windows_plan *plan, const window_span *span, window_place *place)
{
    for (size_t i = 0; i < plan->spans.count; i++) {
        if (same_span(&plan->spans.at[i], span)) {
            *place = plan->places.at[i];
            return true;
        }
    }
    return false;
}

/* Sets the measured time. With one pass, it is a run of its intervals. With several, it is in one
 * piece only if it is one of the windows; otherwise it becomes a pass of its own. */
static etl_status set_measured(windows_plan *plan, const etlheap_windows_options *options,
                               etl_error *err)
{
    const u32 all = (u32)plan->windows.count;
    const u32 first = options->measured_count == 0 ? 0 : options->measured_first;
    const u32 count = options->measured_count == 0 ? all : options->measured_count;
    if (first >= all || count > all - first)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the windows to measure are not all among those asked for");
    plan->measured = plan->windows.at[first];
    window_span whole = plan->spans.at[first];
    window_place *const measured = &plan->measured_place;
    *measured = plan->places.at[first];
    for (u32 i = first; i < first + count; i++) {
        const etlheap_time_range *const range = &plan->windows.at[i];
        const window_place place = plan->places.at[i];
        const window_span *const span = &plan->spans.at[i];
        etlheap_time_range *const all_ns = &plan->measured;
        all_ns->from_ns = range->from_ns < all_ns->from_ns ? range->from_ns : all_ns->from_ns;
        all_ns->to_ns = range->to_ns > all_ns->to_ns ? range->to_ns : all_ns->to_ns;
        whole.from_ticks =
            span->from_ticks < whole.from_ticks ? span->from_ticks : whole.from_ticks;
        whole.to_ticks = span->to_ticks > whole.to_ticks ? span->to_ticks : whole.to_ticks;
        measured->interval =
            place.interval < measured->interval ? place.interval : measured->interval;
        measured->last = place.last > measured->last ? place.last : measured->last;
    }
    if (plan->passes.count == 1 || find_span(plan, &whole, measured))
        return ETL_OK;
    window_pass pass = { .has_whole = false };
    if (!ETLHEAP_PUSH(&pass.bounds, whole.from_ticks) ||
        !ETLHEAP_PUSH(&pass.bounds, whole.to_ticks) || !ETLHEAP_PUSH(&plan->passes, pass)) {
        ETLHEAP_VECTOR_FREE(&pass.bounds);
        return no_memory(err);
    }
    *measured = (window_place){ (u32)plan->passes.count - 1, 1, 1 };
    return ETL_OK;
}
