/*
 * cuts_plan.c - the cuts of a query: into which windows a run cuts time.
 *
 * Takes the windows of the query and its options, before the run; gives the moments at
 * which the event list cuts (window_cuts.h). Windows that overlap have no cuts.
 */
#include "cuts_plan.h"

#include <stdlib.h>

#include "windows_plan.h"

/* An open start stays open. The largest number is no open start, but a late one. */
static i64 start_ticks(const etl_session *session, i64 ns)
{
    return ns == INT64_MIN ? ns : etl_time_ticks(session, ns);
}

static i64 end_ticks(const etl_session *session, i64 ns)
{
    return ns == INT64_MAX ? ns : etl_time_ticks(session, ns);
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static int by_start(const void *a, const void *b)
{
    const cuts_piece *const x = a, *const y = b;
    if (x->from_ticks != y->from_ticks)
        return x->from_ticks < y->from_ticks ? -1 : 1;
    return (x->to_ticks > y->to_ticks) - (x->to_ticks < y->to_ticks);
}

/* Ends that are open cut nothing. */
static bool list_ranges(window_cuts *out, const etlheap_query *query,
                        const etlheap_windows_options *options, bool *overlap)
{
    const u32 count = options->range_count;
    cuts_piece *const pieces = malloc(count * sizeof *pieces);
    if (pieces == NULL)
        return false;
    for (u32 i = 0; i < count; i++) {
        const etlheap_time_range *const range = &options->ranges[i];
        const i64 from_ns = range->from_ns == INT64_MIN ? query->from_ns : range->from_ns;
        const i64 to_ns = range->to_ns == INT64_MAX ? query->to_ns : range->to_ns;
        pieces[i] =
            (cuts_piece){ start_ticks(out->session, from_ns), end_ticks(out->session, to_ns) };
    }
    qsort(pieces, count, sizeof *pieces, by_start);
    for (u32 i = 0; i < count; i++) {
        *overlap |= i > 0 && pieces[i].from_ticks < pieces[i - 1].to_ticks;
        out->cuts[out->cut_count++] = pieces[i].from_ticks;
        out->cuts[out->cut_count++] = pieces[i].to_ticks;
    }
    free(pieces);
    return true;
}

static bool list_cuts(window_cuts *out, const etlheap_query *query,
                      const etlheap_windows_options *options, bool *overlap)
{
    const size_t most = options->cut_count + (size_t)options->range_count * 2;
    if (most == 0)
        return true;
    out->cuts = malloc(most * sizeof *out->cuts);
    if (out->cuts == NULL)
        return false;
    for (u32 i = 0; i < options->cut_count; i++)
        out->cuts[out->cut_count++] = etl_time_ticks(out->session, options->cuts[i]);
    if (options->range_count > 0 && !list_ranges(out, query, options, overlap)) {
        window_cuts_free(out);
        return false;
    }
    qsort(out->cuts, out->cut_count, sizeof *out->cuts, by_value);
    return true;
}

bool window_cuts_open(window_cuts *out, const etl_session *session, const etlheap_query *query,
                      const etlheap_windows_options *options)
{
    static const etlheap_windows_options one_window = { .size = sizeof one_window };
    i64 from_ns, to_ns;
    *out = (window_cuts){ .session = NULL };
    options = options == NULL ? &one_window : options;
    if (windows_plan_hull(query, options, &from_ns, &to_ns, NULL) != ETL_OK)
        return true;
    window_cuts made = { .session = session,
                         .from_ticks = start_ticks(session, from_ns),
                         .to_ticks = end_ticks(session, to_ns),
                         .anchor_ns = from_ns == INT64_MIN ? 0 : from_ns,
                         .every_ns = options->every_ns };
    bool overlap = options->with_whole;
    if (!list_cuts(&made, query, options, &overlap))
        return false;
    if (overlap)
        window_cuts_free(&made);
    else
        *out = made;
    return true;
}
