/*
 * Goal: an event is over after as many memory events as are allowed, whatever slices and
 * tasks they came in.
 * Method: events put into tasks by hand; a limit that is small; the rule written out plainly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/read/wait_limit.h"
#include "tests/support/engine_check.h"
#include "tests/support/hand_result.h"

#define EVENTS  4000u
#define ALLOWED 300u

static void open_limit(wait_limit *limit)
{
    const timebase base = hand_timebase();
    wait_limit_open(limit, &base);
    limit->events_max = ALLOWED;
}

static i64 cell_of(const wait_limit *limit, i64 ticks)
{
    const i64 cell = ticks / limit->cell_ticks;
    return cell * limit->cell_ticks > ticks ? cell - 1 : cell;
}

/* By the definition, over all events. */
static bool is_over(const wait_limit *limit, const i64 *ticks, i64 from, i64 at)
{
    u64 between = 0;
    for (u32 i = 0; i < EVENTS; i++) {
        const i64 cell = cell_of(limit, ticks[i]);
        between += cell >= cell_of(limit, from) && cell < cell_of(limit, at);
    }
    return between > ALLOWED && at - from > limit->cell_ticks;
}

/* Times around zero, in order, some crowded. */
static void make_times(i64 *ticks, u64 seed, i64 cell_ticks)
{
    i64 now = -20 * cell_ticks;
    for (u32 i = 0; i < EVENTS; i++) {
        const u32 pace = engine_check_random(&seed, 4);
        now += engine_check_random(&seed, pace == 0 ? (u32)cell_ticks / 8 : (u32)cell_ticks / 90);
        ticks[i] = now;
    }
}

static void add_event(scan_output *task, i64 ticks)
{
    const size_t count = task->events.count;
    task->is_unsorted |= count > 0 && ticks < task->events.at[count - 1].ticks;
    assert_true(ETLHEAP_PUSH(&task->events, (memory_event){ .ticks = ticks }));
}

/* Slices of `length` events, of which two streams have parts; one goes back in time. */
static void add_slices(wait_limit *limit, const i64 *ticks, u32 length, u64 seed)
{
    for (u32 first = 0; first < EVENTS; first += length) {
        scan_output tasks[2] = { { .stream = 0 }, { .stream = 1 } };
        for (u32 i = first; i < first + length && i < EVENTS; i++)
            add_event(&tasks[engine_check_random(&seed, 2)], ticks[i]);
        if (tasks[1].events.count > 2) {
            const memory_event last = tasks[1].events.at[tasks[1].events.count - 1];
            tasks[1].events.at[tasks[1].events.count - 1] = tasks[1].events.at[0];
            tasks[1].events.at[0] = last;
            tasks[1].is_unsorted = true;
        }
        assert_true(wait_limit_add(limit, tasks, 2));
        scan_output_free(&tasks[0]);
        scan_output_free(&tasks[1]);
    }
}

static void the_limit_is_the_same_for_every_cut(void **state)
{
    static const u32 lengths[] = { EVENTS, 700, 33 };
    static i64 ticks[EVENTS];
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(lengths); i++) {
        wait_limit limit;
        open_limit(&limit);
        make_times(ticks, i / 2, limit.cell_ticks);
        add_slices(&limit, ticks, lengths[i], i);
        for (u32 k = 0; k < EVENTS; k += 37) {
            const i64 at = ticks[EVENTS - 1 - k / 2] + k % 3;
            assert_int_equal(wait_limit_is_over(&limit, ticks[k], at),
                             is_over(&limit, ticks, ticks[k], at));
        }
        wait_limit_free(&limit);
    }
}

/* What is before it is over, and nothing else. */
static void the_horizon_parts_what_is_over(void **state)
{
    static i64 ticks[EVENTS];
    u32 over = 0;
    (void)state;
    for (u64 seed = 0; seed < 6; seed++) {
        wait_limit limit;
        open_limit(&limit);
        make_times(ticks, seed, limit.cell_ticks);
        add_slices(&limit, ticks, EVENTS, seed);
        for (u32 k = 0; k < EVENTS; k += 111) {
            const i64 horizon = wait_limit_horizon(&limit, ticks[k]);
            for (u32 i = 0; i < k; i++) {
                assert_int_equal(wait_limit_is_over(&limit, ticks[i], ticks[k]),
                                 ticks[i] < horizon);
                over += ticks[i] < horizon;
            }
        }
        wait_limit_free(&limit);
    }
    assert_true(over > 1000);
}

static void what_is_forgotten_changes_nothing_later(void **state)
{
    static i64 ticks[EVENTS];
    (void)state;
    wait_limit limit;
    open_limit(&limit);
    make_times(ticks, 5, limit.cell_ticks);
    add_slices(&limit, ticks, 100, 5);
    const size_t cells = limit.cells.count;
    wait_limit_forget(&limit, ticks[2000]);
    assert_true(limit.cells.count < cells);
    for (u32 k = 2000; k < EVENTS; k += 7)
        assert_int_equal(wait_limit_is_over(&limit, ticks[k], ticks[EVENTS - 1]),
                         is_over(&limit, ticks, ticks[k], ticks[EVENTS - 1]));
    wait_limit_free(&limit);
}

/* Hostile times reach the ends of the number range. */
static void absurd_times_do_not_overflow(void **state)
{
    (void)state;
    wait_limit limit;
    open_limit(&limit);
    scan_output task = { .stream = 0 };
    for (u32 i = 0; i < 2 * ALLOWED; i++)
        add_event(&task, INT64_MIN);
    for (u32 i = 0; i < 2 * ALLOWED; i++)
        add_event(&task, INT64_MAX);
    assert_true(wait_limit_add(&limit, &task, 1));
    assert_true(wait_limit_is_over(&limit, INT64_MIN, INT64_MAX));
    assert_false(wait_limit_is_over(&limit, INT64_MAX, INT64_MAX));
    assert_true(wait_limit_horizon(&limit, INT64_MAX) > INT64_MIN);
    assert_int_equal(wait_limit_horizon(&limit, INT64_MIN), INT64_MIN);
    wait_limit_forget(&limit, INT64_MAX);
    assert_int_equal(limit.events, 2 * ALLOWED);
    task.is_unsorted = true;
    assert_true(wait_limit_add(&limit, &task, 1));
    assert_int_equal(limit.events, 6 * ALLOWED);
    wait_limit_free(&limit);
    scan_output_free(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_the_same_for_every_cut),
        cmocka_unit_test(the_horizon_parts_what_is_over),
        cmocka_unit_test(what_is_forgotten_changes_nothing_later),
        cmocka_unit_test(absurd_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
