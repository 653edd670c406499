/*
 * windows_journal.c - checks that a journal was kept for exactly the windows that a question asks
 * for: INSIDE of its words is relative to them.
 */
#include "windows_journal.h"

#include "engine/query/needs.h"

static bool same_pieces(const aggregator *a, const window_pass *pass);

bool windows_journal_answers(const aggregator *a, const windows_plan *plan)
{
    const event_journal *const journal = &a->result->journal;
    if (a->result->mode == RESULT_STORE)
        return true;
    const bool same_start = journal->from_ticks == INT64_MIN
                                ? a->query->from_ns == INT64_MIN
                                : journal->from_ticks == a->plan.from_ticks;
    const bool same_end = journal->to_ticks == INT64_MAX ? a->query->to_ns == INT64_MAX
                                                         : journal->to_ticks == a->plan.to_ticks;
    return !query_needs(a->query, NEEDS_BLOCKS) && same_start && same_end &&
           plan->pass.edges.count == 0 && journal->exit_frees == a->query->at_exit_freed &&
           journal->cuts.session != NULL && same_pieces(a, &plan->pass);
}

/* Does the journal cut time as the pass does? Where the query is open at an end, the
 * journal's piece may go on, but not end before. */
static bool same_pieces(const aggregator *a, const window_pass *pass)
{
    const u32 last = (u32)pass->bounds.count - 1;
    for (u32 i = 0; i < last; i++) {
        const i64 from = pass->bounds.at[i], to = pass->bounds.at[i + 1];
        if (from == to)
            continue;
        const cuts_piece piece = window_cuts_piece(&a->result->journal.cuts, from);
        const bool open_start = i == 0 && a->query->from_ns == INT64_MIN;
        const bool open_end = i + 1 == last && a->query->to_ns == INT64_MAX;
        if ((piece.from_ticks != from && !open_start) || piece.to_ticks < to ||
            (piece.to_ticks > to && !open_end))
            return false;
    }
    return true;
}
