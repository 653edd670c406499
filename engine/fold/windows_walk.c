/*
 * windows_walk.c - see windows_walk.h.
 *
 * The walk is that of a report (replay.c), but an event goes to its group's cell of
 * the window at hand, and what survives need not be known. For of each free there is
 * told whether its block was allocated in the same window: by the journal's flag, or
 * in a store by the block's ordinal, which is below the window's first or not. That
 * is AIFI, and the other types follow from what is outstanding at both ends:
 *
 *     AIFO = allocations - AIFI
 *     AOFO = outstanding at the end - AIFO
 *     AOFI = outstanding at the start - AOFO
 */
#include "windows_walk.h"

#include "engine/core/workers.h"
#include "archive_walk.h"
#include "replay.h"
#include "replay_walk.h"

static bool same_pieces(const aggregator *a, const window_pass *pass);
static etl_status tell(etl_status status, etl_error *err);

/* A journal answers for the windows it was kept for, a store for any. */
bool windows_walk_answers(const aggregator *a, const windows_plan *plan)
{
    const event_journal *const journal = &a->result->journal;
    if (a->result->mode == RESULT_STORE)
        return replay_can(a->query);
    const bool same_start = journal->from_ticks == INT64_MIN
                                ? a->query->from_ns == INT64_MIN
                                : journal->from_ticks == a->plan.from_ticks;
    const bool same_end = journal->to_ticks == INT64_MAX ? a->query->to_ns == INT64_MAX
                                                         : journal->to_ticks == a->plan.to_ticks;
    return replay_can(a->query) && same_start && same_end && plan->passes.count == 1 &&
           journal->exit_frees == a->query->at_exit_freed && journal->lattice.session != NULL &&
           same_pieces(a, &plan->passes.at[0]);
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
        const lattice_piece piece = windows_lattice_piece(&a->result->journal.lattice, from);
        const bool open_start = i == 0 && a->query->from_ns == INT64_MIN;
        const bool open_end = i + 1 == last && a->query->to_ns == INT64_MAX;
        if ((piece.from_ticks != from && !open_start) || piece.to_ticks < to ||
            (piece.to_ticks > to && !open_end))
            return false;
    }
    return true;
}

etl_status windows_walk_run(const aggregator *a, const slot_groups *slots, const window_pass *pass,
                            window_cell_list *out, etl_error *err)
{
    replay_walk walk = { .slot_groups = slots->of_slot,
                         .slot_count = (u32)slots->slots->slots.count,
                         .group_count = (u32)slots->keys.count,
                         .size_min_bytes = a->query->size_min_bytes,
                         .size_max_bytes = a->query->size_max_bytes,
                         .jobs =
                             a->query->jobs == 0 ? etlheap_workers_default_jobs() : a->query->jobs,
                         .windows = pass };
    if (a->result->mode != RESULT_STORE) {
        const replay_source source = replay_journal_source(&a->result->journal);
        return tell(replay_walk_windows(&walk, &source, out), err);
    }
    archive_walk window;
    etl_status status = archive_walk_open_windows(&window, a->result->archive, a->query, pass, err);
    if (status == ETL_OK) {
        const replay_source source = archive_source(&window);
        status = tell(replay_walk_windows(&walk, &source, out), err);
    }
    archive_walk_close(&window);
    return status;
}

static etl_status tell(etl_status status, etl_error *err)
{
    switch (status) {
    case ETL_OK:
        return status;
    case ETL_ERR_IO:
        return etl_fail_with(err, status, 0, "the temporary file cannot be read back");
    case ETL_ERR_CORRUPT:
        return etl_fail_with(err, status, 0, "the store is damaged");
    default:
        return etl_fail_with(err, status, 0, "out of memory");
    }
}
