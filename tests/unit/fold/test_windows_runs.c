/*
 * Goal: windows that others overlap have the cells that their events say, and a long window takes
 * as little work as a short one. Method: random blocks of some groups and random windows, against
 * the events one by one; steps for many windows that slide over many intervals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/windows_runs.h"
#include "tests/support/engine_check.h"

enum { GROUPS = 3, INTERVALS_MAX = 2000, OPEN_MAX = 12, EVENTS_PER_INTERVAL = 6 };

/* An event: the beginning of a block, or its end. */
typedef struct event {
    u32 group, interval, alloc_interval;
    i64 size;
    bool is_free;
} event;

typedef struct world {
    windows_plan plan;
    u32 intervals;
    ETLHEAP_VECTOR(event) events;
    walked_parts walked;
    window_old_list old;
    window_cells cells;
    window_runs runs;
} world;

static void add_window(world *w, u32 first, u32 last)
{
    const window_place place = { first, last };
    const etlheap_time_range range = { first, last };
    assert_true(ETLHEAP_PUSH(&w->plan.places, place));
    assert_true(ETLHEAP_PUSH(&w->plan.windows, range));
}

static void add_edges(world *w)
{
    for (u32 i = 0; i <= w->intervals + 1; i++) {
        bool is_edge = false;
        for (size_t k = 0; k < w->plan.places.count; k++) {
            const window_place *const place = &w->plan.places.at[k];
            is_edge |= window_place_is_run(place) && (place->interval == i || place->last + 1 == i);
        }
        assert_true(!is_edge || ETLHEAP_PUSH(&w->plan.pass.edges, i));
    }
}

/* In each interval, blocks of some groups come and go. */
static void draw_events(world *w, u64 *random)
{
    event open[OPEN_MAX];
    u32 count = 0;
    for (u32 i = 0; i < w->intervals * EVENTS_PER_INTERVAL; i++) {
        const u32 interval = i / EVENTS_PER_INTERVAL;
        event next = { .group = engine_check_random(random, GROUPS), .interval = interval };
        if (engine_check_random(random, 3) == 0)
            continue;
        if (count == OPEN_MAX || (count > 0 && engine_check_random(random, 2) == 0)) {
            const u32 at = engine_check_random(random, count);
            next = open[at];
            next.interval = interval;
            next.is_free = true;
            open[at] = open[--count];
        } else {
            next.alloc_interval = interval;
            next.size = 1 + engine_check_random(random, 1000);
            open[count++] = next;
        }
        assert_true(ETLHEAP_PUSH(&w->events, next));
    }
}

/* Walks the events as a walker does. */
static void walk(world *w)
{
    window_hot hot[GROUPS];
    window_old old[GROUPS] = { { .count = 0 } };
    window_cell_list list = { NULL, 0, 0 };
    for (u32 g = 0; g < GROUPS; g++)
        hot[g] = (window_hot){ .interval = WINDOW_NO_INTERVAL };
    for (size_t i = 0; i < w->events.count; i++) {
        const event *const e = &w->events.at[i];
        const window_old older = { e->size, 1, e->group,
                                   windows_stretch(&w->plan.pass, e->alloc_interval),
                                   windows_stretch(&w->plan.pass, e->interval) };
        if (hot[e->group].interval != e->interval)
            assert_true(windows_turn(&hot[e->group], e->group, e->interval, &list));
        windows_step(&hot[e->group], (u32)i + 1, e->size, e->is_free,
                     e->alloc_interval == e->interval);
        if (e->is_free && older.alloc_stretch < older.free_stretch)
            assert_true(window_old_add(&old[e->group], &older, &w->old));
    }
    for (u32 g = 0; g < GROUPS; g++) {
        assert_true(windows_turn(&hot[g], g, WINDOW_NO_INTERVAL, &list));
        assert_true(old[g].count == 0 || ETLHEAP_PUSH(&w->old, old[g]));
    }
    assert_true(walked_parts_take(&w->walked, &list, 0));
}

static void close_world(world *w)
{
    ETLHEAP_VECTOR_FREE(&w->plan.places);
    ETLHEAP_VECTOR_FREE(&w->plan.windows);
    ETLHEAP_VECTOR_FREE(&w->plan.pass.edges);
    ETLHEAP_VECTOR_FREE(&w->events);
    windows_cells_free(&w->cells);
    windows_runs_free(&w->runs);
}

static void make(world *w, u64 *random, u32 jobs)
{
    add_edges(w);
    draw_events(w, random);
    walk(w);
    const cells_wanted wanted = { GROUPS, jobs, NULL };
    assert_true(windows_cells_make(&w->cells, &w->walked, &wanted));
    assert_true(windows_runs_make(&w->runs, &w->plan, &w->cells, &w->old, &wanted));
}

/* The cell of a window, event by event. */
static etlheap_cell cell_of_events(const world *w, u32 group, window_place place)
{
    etlheap_cell out = { .outstanding_count = 0 };
    i64 size = 0, count = 0, start_size = 0;
    bool is_in = false;
    for (size_t i = 0; i < w->events.count; i++) {
        const event *const e = &w->events.at[i];
        const bool is_before = e->interval < place.interval;
        if (e->group != group || e->interval > place.last)
            continue;
        if (!is_before && !is_in) {
            is_in = true;
            start_size = out.peak_size = size;
            out.peak_count = count;
        }
        size += e->is_free ? -e->size : e->size;
        count += e->is_free ? -1 : 1;
        if (is_before)
            continue;
        out.peak_size = size > out.peak_size ? size : out.peak_size;
        out.peak_count = count > out.peak_count ? count : out.peak_count;
        const bool is_old = e->alloc_interval < place.interval;
        const etlheap_type type = is_old ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AIFI;
        out.count[type] += e->is_free;
        out.size[type] += e->is_free ? e->size : 0;
        out.count[ETLHEAP_TYPE_AIFO] += e->is_free ? -(i64)!is_old : 1;
        out.size[ETLHEAP_TYPE_AIFO] += !e->is_free ? e->size : is_old ? 0 : -e->size;
    }
    out.outstanding_count = count;
    out.outstanding_size = size;
    out.impacting_size = is_in ? size - start_size : 0;
    out.peak_count = is_in ? out.peak_count : count;
    out.peak_size = is_in ? out.peak_size : size;
    out.count[ETLHEAP_TYPE_AOFO] = count - out.count[ETLHEAP_TYPE_AIFO];
    out.size[ETLHEAP_TYPE_AOFO] = size - out.size[ETLHEAP_TYPE_AIFO];
    return out;
}

static void windows_have_what_their_events_say(void **state)
{
    u64 random = 5;
    u32 runs = 0;
    (void)state;
    for (u32 round = 0; round < 60; round++) {
        world w = { .intervals = 3 + engine_check_random(&random, 40) };
        for (u32 i = 0; i < 25; i++) {
            const u32 first = 1 + engine_check_random(&random, w.intervals);
            add_window(&w, first, first + engine_check_random(&random, w.intervals + 1 - first));
        }
        make(&w, &random, 1 + round % 3);
        for (u32 i = 0; i < w.plan.places.count; i++) {
            const window_place place = w.plan.places.at[i];
            for (u32 g = 0; window_place_is_run(&place) && g < GROUPS; g++, runs++) {
                const etlheap_cell expected = cell_of_events(&w, g, place);
                etlheap_cell found;
                (void)windows_cells_read_run(&w.cells, &w.runs.cells, g, place.interval,
                                             w.runs.ranks[i], &found);
                assert_memory_equal(&expected, &found, sizeof found);
            }
        }
        close_world(&w);
    }
    assert_in_range(runs, 1000, 60 * 25 * GROUPS);
}

/* Adding up the intervals of each window takes 3 million steps. */
static void a_long_window_takes_as_few_steps_as_a_short_one(void **state)
{
    u64 random = 6;
    world w = { .intervals = INTERVALS_MAX };
    (void)state;
    for (u32 i = 0; i < INTERVALS_MAX / 2; i++)
        add_window(&w, 1 + i, i + INTERVALS_MAX / 2);
    make(&w, &random, 1);
    assert_in_range(w.runs.steps, 1, (u64)GROUPS * INTERVALS_MAX / 2 * 100);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_what_their_events_say),
        cmocka_unit_test(a_long_window_takes_as_few_steps_as_a_short_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
