/*
 * rows_walk.c - sorts both ends of rows in memory by time, and walks them as events.
 *
 * In: rows, and for each job the words of the rows that it counts. Out: steps of replay walkers.
 * Invariant: all events of a tick count together, so their order among each other does not matter.
 */
#include "rows_walk.h"

#include "engine/core/cancel.h"
#include "replay_step.h"

#define PART_EVENTS 65536u

static bool is_wanted(const rows_walk *walk, size_t row)
{
    bool wanted = false;
    for (u32 i = 0; i < walk->jobs && !wanted; i++)
        wanted = walk->words[i].words->at[row] != 0;
    return wanted;
}

bool rows_walk_sort(rows_walk *walk)
{
    const lifetime_table *const store = &walk->rows->result->store;
    size_t row = 0;
    for (size_t s = 0; s < store->segments.count; s++) {
        const store_segment *const segment = &store->segments.at[s];
        if (cancel_is_set(walk->cancel))
            return false;
        for (u32 at = 0; at < segment->rows; at++, row++) {
            const i64 free_ticks = segment->free_ticks[at];
            if (is_wanted(walk, row) &&
                (!steps_add(&walk->steps, segment->alloc_ticks[at], row, false) ||
                 (free_ticks != ETLHEAP_TICKS_NEVER &&
                  !steps_add(&walk->steps, free_ticks, row, true))))
                return false;
        }
    }
    walk->count = walk->steps.rows.count;
    walk->events = steps_sort(&walk->steps);
    return walk->events != NULL || walk->count == 0;
}

void rows_walk_close(rows_walk *walk)
{
    steps_free(&walk->steps);
}

static u64 part_events(const void *user, u32 part)
{
    const rows_walk *const walk = user;
    return etl_min_u64(walk->count - (u64)part * PART_EVENTS, PART_EVENTS);
}

static bool starts_tick(const rows_walk *walk, size_t event)
{
    return event > 0 && walk->events[event - 1].low != walk->events[event].low;
}

static bool part_starts_tick(const void *user, u32 part)
{
    return starts_tick(user, (size_t)part * PART_EVENTS);
}

/* A row's end in a later stretch of windows that are runs of intervals. */
static void note_old(replay_walker *w, u32 group, const entry_view *view, i64 alloc_ticks)
{
    const window_pass *const windows = w->walk->windows;
    const u32 of_alloc = windows_stretch(windows, windows_interval(windows, alloc_ticks));
    w->stretch = windows_stretch(windows, w->interval);
    if (of_alloc != w->stretch)
        replay_note_old(w, group, view, of_alloc);
}

static void step_in_windows(const rows_walk *walk, replay_walker *w, u32 group, entry_view *view,
                            i64 ticks)
{
    const window_pass *const windows = w->walk->windows;
    const i64 *const bounds = windows->bounds.at;
    while (w->interval < windows->bounds.count && bounds[w->interval] <= ticks)
        w->interval++;
    if (w->interval == windows->bounds.count)
        return; /* after the last one */
    if (view->kind == ENTRY_FREE && w->interval > 0) {
        const i64 alloc_ticks = feed_rows_alloc_ticks(walk->rows, view->rank);
        const bool is_inside = alloc_ticks >= bounds[w->interval - 1];
        view->entry |= is_inside ? ENTRY_INSIDE : 0;
        if (w->old != NULL && !is_inside)
            note_old(w, group, view, alloc_ticks);
    }
    replay_step_in_windows(w, group, view);
}

static void walk_job(const rows_walk *walk, u32 part, const row_words *own, replay_walker *w)
{
    const size_t first = (size_t)part * PART_EVENTS, end = first + part_events(walk, part);
    for (size_t i = first; i < end; i++) {
        const digit_row *const event = &walk->events[i];
        const u32 row = step_row(event);
        const event_entry entry = own->words->at[row];
        const i64 ticks = step_ticks(event);
        w->time += starts_tick(walk, i);
        const u32 group = w->walk->origin_groups[entry_origin_of(entry)];
        if (group == GROUP_NONE || (step_is_end(event) && (entry & BLOCK_WORD_STAYS) != 0))
            continue;
        entry_view view = { entry, step_is_end(event) ? ENTRY_FREE : ENTRY_ALLOC,
                            block_words_size(own->words, row), row, ticks >= own->from_ticks };
        if (w->walk->windows != NULL)
            step_in_windows(walk, w, group, &view, ticks);
        else
            replay_step(w, group, &view);
    }
}

static etl_status walk_part(const void *user, u32 part, replay_walker *walkers)
{
    const rows_walk *const walk = user;
    for (u32 i = 0; i < walk->jobs; i++)
        walk_job(walk, part, &walk->words[i], &walkers[i]);
    return ETL_OK;
}

i64 rows_walk_ticks(const rows_walk *walk, const replay_peak *moment)
{
    size_t at = (size_t)moment->first_part * PART_EVENTS;
    u64 time = 1;
    if (at >= walk->count)
        return 0;
    for (time += starts_tick(walk, at); time < moment->time && at + 1 < walk->count; at++)
        time += starts_tick(walk, at + 1);
    return step_ticks(&walk->events[at]);
}

replay_source rows_walk_source(const rows_walk *walk)
{
    return (replay_source){ .part_count = (u32)((walk->count + PART_EVENTS - 1) / PART_EVENTS),
                            .part_events = part_events,
                            .part_starts_tick = part_starts_tick,
                            .walk_part = walk_part,
                            .user = walk };
}
