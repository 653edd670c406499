/*
 * windows_event_list.c - checks that an event list was kept for exactly the windows that a question
 * asks for: INSIDE of its words is relative to them.
 */
#include "windows_event_list.h"

#include "engine/query/needs.h"

static bool same_pieces(const aggregator *a, const window_pass *pass);

bool windows_event_list_answers(const aggregator *a, const windows_plan *plan)
{
    const event_list *const list = &a->result->event_list;
    if (a->result->mode == RESULT_STORE)
        return true;
    const bool same_start = list->from_ticks == INT64_MIN ? a->query->from_ns == INT64_MIN
                                                          : list->from_ticks == a->plan.from_ticks;
    const bool same_end = list->to_ticks == INT64_MAX ? a->query->to_ns == INT64_MAX
                                                      : list->to_ticks == a->plan.to_ticks;
    return !query_needs(a->query, NEEDS_BLOCKS) && same_start && same_end &&
           plan->pass.edges.count == 0 && list->exit_frees == a->query->at_exit_freed &&
           list->cuts.session != NULL && same_pieces(a, &plan->pass);
}

/* Does the event list cut time as the pass does? Where the query is open at an end, the
 * event list's piece may go on, but not end before. */
static bool same_pieces(const aggregator *a, const window_pass *pass)
{
    const u32 last = (u32)pass->bounds.count - 1;
    for (u32 i = 0; i < last; i++) {
        const i64 from = pass->bounds.at[i], to = pass->bounds.at[i + 1];
        if (from == to)
            continue;
        const cuts_piece piece = window_cuts_piece(&a->result->event_list.cuts, from);
        const bool open_start = i == 0 && a->query->from_ns == INT64_MIN;
        const bool open_end = i + 1 == last && a->query->to_ns == INT64_MAX;
        if ((piece.from_ticks != from && !open_start) || piece.to_ticks < to ||
            (piece.to_ticks > to && !open_end))
            return false;
    }
    return true;
}
