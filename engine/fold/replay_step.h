/*
 * replay_step.h - applies one event of a walk to its group.
 *
 * Inline, because every event of an event list or a store goes through it.
 */
#ifndef ETLHEAP_REPLAY_STEP_H
#define ETLHEAP_REPLAY_STEP_H

#include "replay_walk.h"

/* An event of a walk. */
typedef struct entry_view {
    event_entry entry; /* only origin and flags count */
    entry_kind kind;   /* NONE, ALLOC, FREE or REALLOC */
    u64 size;
    u32 rank;       /* of the event; in a store: of the block (replay_walk.survivors) */
    bool in_window; /* not before the start of the window */
} entry_view;

static inline bool replay_survives(const replay_walk *walk, u32 rank)
{
    return (walk->survivors[rank >> 3] >> (rank & 7) & 1) != 0;
}

static inline void curve_note_peak(curve *c)
{
    c->peak_size = c->size > c->peak_size ? c->size : c->peak_size;
    c->peak_count = c->count > c->peak_count ? c->count : c->peak_count;
}

static inline void curve_move(curve *c, i64 size, i64 count)
{
    c->size = etl_sat_add_i64(c->size, size);
    c->count += count;
}

static inline void add_sums(type_sums *sums, i64 size, bool is_realloc)
{
    sums->count++;
    sums->size = etl_sat_add_i64(sums->size, size);
    sums->realloc_count += is_realloc;
}

/* The curve's value before this moment counts if it lasted into the window. */
static inline void pass_time(replay_walker *w, hot_group *group, bool in_window)
{
    if (group->time == w->time)
        return;
    if (in_window && w->walk->finds_peak && group->curve.size > group->curve.peak_size) {
        w->peak_time = group->time;
        w->peak_count = group->curve.count;
    }
    if (in_window)
        curve_note_peak(&group->curve);
    group->time = w->time;
}

static inline void step_free(replay_walker *w, u32 number, const entry_view *view, i64 size)
{
    const bool is_inside = (view->entry & ENTRY_INSIDE) != 0;
    if (is_inside || !w->walk->by_type)
        curve_move(&w->hot[number].curve, -size, -1);
    if (!is_inside && view->in_window)
        add_sums(&w->cold[number].types[ETLHEAP_TYPE_AOFI], size,
                 (view->entry & ENTRY_IS_REALLOC) != 0);
}

static inline i64 size_of(const entry_view *view)
{
    return view->size > INT64_MAX ? INT64_MAX : (i64)view->size;
}

/* The sums that a block of this type adds to. */
static inline type_sums *sums_of(replay_walker *w, u32 number, etlheap_type type)
{
    return type == ETLHEAP_TYPE_AIFI ? &w->hot[number].aifi : &w->cold[number].types[type];
}

static inline etlheap_type type_of_block(const entry_view *view, bool survives)
{
    return type_by_ends((view->entry & ENTRY_INSIDE) != 0, !survives);
}

/* Is it an event of a block of type AIFI? */
static inline bool moves_aifi(const replay_walker *w, const entry_view *view)
{
    if (view->kind == ENTRY_FREE)
        return (view->entry & ENTRY_INSIDE) != 0;
    return type_of_block(view, replay_survives(w->walk, view->rank)) == ETLHEAP_TYPE_AIFI;
}

/* Applies an allocation. A block allocated before the window and freed in it is counted by its
 * free. */
static inline void step_alloc(replay_walker *w, u32 number, const entry_view *view, i64 size)
{
    const etlheap_type type = type_of_block(view, replay_survives(w->walk, view->rank));
    if (type == ETLHEAP_TYPE_AIFI || !w->walk->by_type)
        curve_move(&w->hot[number].curve, size, 1);
    if (type != ETLHEAP_TYPE_AOFI)
        add_sums(sums_of(w, number, type), size, (view->entry & ENTRY_IS_REALLOC) != 0);
}

static inline void step_realloc(replay_walker *w, u32 number, const entry_view *view)
{
    const etlheap_type type = type_of_block(view, replay_survives(w->walk, view->rank));
    sums_of(w, number, type)->realloc_count += type != ETLHEAP_TYPE_AOFI;
}

/* The group of an event; GROUP_NONE if the walk does not count it. */
static inline u32 replay_group_of(const replay_walk *walk, u32 origin, u64 size)
{
    const u32 number = walk->origin_groups[origin];
    return size < walk->size_min_bytes || size > walk->size_max_bytes ? GROUP_NONE : number;
}

/* Moves the curve of a group, which is all that an event does with curves_only. */
static inline void replay_move(replay_walker *w, hot_group *group, const entry_view *view)
{
    const i64 size = size_of(view);
    if (view->kind == ENTRY_REALLOC)
        return;
    pass_time(w, group, view->in_window);
    if (w->walk->by_type && !moves_aifi(w, view))
        return;
    curve_move(&group->curve, view->kind == ENTRY_FREE ? -size : size,
               view->kind == ENTRY_FREE ? -1 : 1);
}

static inline void replay_move_set(replay_walker *w, u32 set, const entry_view *view)
{
    const replay_sets *const sets = w->walk->sets;
    for (u32 i = sets->first[set]; i < sets->first[set + 1]; i++)
        replay_move(w, &w->hot[sets->members[i]], view);
}

/* `number`: the group of the event, not GROUP_NONE. */
static inline void replay_step(replay_walker *w, u32 number, const entry_view *view)
{
    const i64 size = size_of(view);
    if (w->walk->curves_only) {
        if (w->walk->sets != NULL)
            replay_move_set(w, number, view);
        else
            replay_move(w, &w->hot[number], view);
        return;
    }
    if (view->kind == ENTRY_REALLOC) {
        step_realloc(w, number, view);
        return;
    }
    pass_time(w, &w->hot[number], view->in_window);
    if (view->kind == ENTRY_FREE)
        step_free(w, number, view, size);
    else
        step_alloc(w, number, view, size);
}

/* Completes the group's current cell, and begins one for this interval. */
static inline void replay_turn(replay_walker *w, u32 number, u32 interval)
{
    if (!windows_turn(&w->window_hot[number], number, interval, &w->cells))
        w->status = ETL_ERR_MEMORY;
}

/* An event of a block that was allocated in an earlier stretch. */
static inline void replay_note_old(replay_walker *w, u32 number, const entry_view *view,
                                   u32 alloc_stretch)
{
    const window_old block = { size_of(view), 1, number, alloc_stretch, w->stretch };
    if (view->kind == ENTRY_FREE && !window_old_add(&w->old[number], &block, &w->olds))
        w->status = ETL_ERR_MEMORY;
}

/* Applies an event for windows, where INSIDE of a free means: allocated in the same window. Types
 * follow from sums, so survivors do not matter. */
static inline void replay_step_in_windows(replay_walker *w, u32 number, const entry_view *view)
{
    window_hot *const hot = &w->window_hot[number];
    if (view->kind == ENTRY_REALLOC)
        return;
    if (hot->interval != w->interval)
        replay_turn(w, number, w->interval);
    windows_step(hot, (u32)w->time, size_of(view), view->kind == ENTRY_FREE,
                 (view->entry & ENTRY_INSIDE) != 0);
}

/* Prefetches what a step for this group will write. Always inlined: to a compiler, a function that
 * only prefetches has no effect, and gcc removes calls of it. */
__attribute__((always_inline)) static inline void replay_fetch(const replay_walker *w, u32 number,
                                                               const bool in_windows)
{
    if (number != GROUP_NONE && in_windows)
        __builtin_prefetch(&w->window_hot[number], 1);
    else if (number != GROUP_NONE)
        __builtin_prefetch(&w->hot[number], 1);
}

#endif
