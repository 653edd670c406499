/*
 * Goal: ticks of several log-file headers become ticks of one clock: unchanged
 * when the headers are of one boot, else through wall time.
 * Method: sessions made by hand for each relation two headers can have, random
 * clocks for what must hold of any conversion, built traces for the table of
 * maps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/core/timebase.h"
#include "tests/support/run_check.h"
#include "tests/support/hand_bytes.h"

#define WALL      INT64_C(132404116200000000) /* FILETIME of the base header */
#define SECOND_FT INT64_C(10000000)           /* in FILETIME units */

static etl_session session_of(u64 hz, i64 header_ticks, i64 filetime)
{
    return (etl_session){ .clock = ETL_CLOCK_QPC,
                          .clock_hz = hz,
                          .header_ticks = header_ticks,
                          .start_time_filetime = filetime };
}

static void a_session_maps_to_itself_unchanged(void **state)
{
    (void)state;
    const etl_session session = session_of(10000000, 5000, WALL);
    const tick_map map = tick_map_make(&session, &session);
    assert_true(map.identity);
    assert_int_equal(tick_map_apply(&map, INT64_MIN), INT64_MIN);
    assert_int_equal(tick_map_apply(&map, INT64_MAX - 1), INT64_MAX - 1);
}

/* It stands for "never": a window that ends behind it cannot be said. */
static void the_last_moment_of_all_is_taken_for_the_one_before(void **state)
{
    (void)state;
    const etl_session session = session_of(10000000, 5000, WALL);
    const tick_map map = tick_map_make(&session, &session);
    assert_int_equal(tick_map_apply(&map, INT64_MAX), INT64_MAX - 1);
}

static void sessions_of_one_boot_share_their_ticks(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, 5000, WALL);
    /* Three seconds later by ticks and by the wall clock. */
    const etl_session later = session_of(10000000, 5000 + 30000000, WALL + 3 * SECOND_FT);
    const tick_map map = tick_map_make(&later, &base);
    assert_true(map.identity);
    assert_int_equal(tick_map_apply(&map, 12345), 12345);
}

static void wall_clocks_may_differ_by_two_seconds(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, 5000, WALL);
    static const struct {
        i64 error_ft;
        bool identity;
    } rows[] = {
        { 2 * SECOND_FT, true },
        { -2 * SECOND_FT, true },
        { 2 * SECOND_FT + 1, false },
        { -2 * SECOND_FT - 1, false },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etl_session other =
            session_of(10000000, 5000 + 70000000, WALL + 7 * SECOND_FT + rows[i].error_ft);
        assert_int_equal(tick_map_make(&other, &base).identity, rows[i].identity);
    }
}

static void another_frequency_is_another_clock(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, 5000, WALL);
    const etl_session other = session_of(10000001, 5000, WALL);
    assert_false(tick_map_make(&other, &base).identity);
}

static void another_kind_of_clock_is_another_clock(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, 5000, WALL);
    etl_session other = base;
    other.clock = ETL_CLOCK_SYSTEM_TIME;
    assert_false(tick_map_make(&other, &base).identity);
}

/* One second after the other's header, which is 4 s after the base's. */
static void other_clocks_go_through_wall_time(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, 5000, WALL);
    const etl_session other = session_of(3000000, 77, WALL + 4 * SECOND_FT);
    const tick_map map = tick_map_make(&other, &base);
    assert_int_equal(tick_map_apply(&map, 77), 5000 + 40000000);
    assert_int_equal(tick_map_apply(&map, 77 + 3000000), 5000 + 50000000);
    assert_int_equal(tick_map_apply(&map, 77 - 3000000), 5000 + 30000000);
}

/* Whatever the two clocks are, order is kept and the error is below one tick of
 * each clock and one nanosecond. */
static void conversion_keeps_order_and_time(void **state)
{
    (void)state;
    u64 random = 1;
    for (u32 round = 0; round < 300; round++) {
        const etl_session base = session_of(1 + hand_random(&random) % 20000000,
                                            hand_random(&random), WALL + hand_random(&random));
        const etl_session other = session_of(1 + hand_random(&random) % 4000000000u,
                                             hand_random(&random), WALL + hand_random(&random));
        const tick_map map = { &other, &base, false };
        const i64 wall_ns = (other.start_time_filetime - base.start_time_filetime) * 100;
        const i64 slack_ns = 2 + (i64)(1000000000 / base.clock_hz);
        i64 ticks = other.header_ticks - (i64)hand_random(&random);
        i64 previous = INT64_MIN;
        for (u32 i = 0; i < 40; i++, ticks += hand_random(&random) % 1000000) {
            const i64 converted = tick_map_apply(&map, ticks);
            assert_true(converted >= previous);
            previous = converted;
            const i64 error_ns =
                etl_time_ns(&base, converted) - (etl_time_ns(&other, ticks) + wall_ns);
            assert_true(error_ns >= 0 && error_ns <= slack_ns);
        }
    }
}

/* Under UBSan: nothing overflows, and far times end up far away. */
static void absurd_headers_saturate(void **state)
{
    (void)state;
    static const i64 extremes[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX };
    static const u64 frequencies[] = { 1, 10000000, 9000000000u };
    for (size_t i = 0; i < ETL_COUNT_OF(extremes); i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(extremes); k++) {
            for (size_t f = 0; f < ETL_COUNT_OF(frequencies); f++) {
                const etl_session base = session_of(10000000, extremes[i], extremes[k]);
                const etl_session other = session_of(frequencies[f], extremes[k], extremes[i]);
                const tick_map map = tick_map_make(&other, &base);
                const i64 low = tick_map_apply(&map, INT64_MIN);
                const i64 high = tick_map_apply(&map, INT64_MAX);
                assert_true(low <= high);
                const timebase made = { .base = &base };
                assert_true(timebase_span(&made, 2000000000) >= 1);
            }
        }
    }
}

static void a_span_is_a_duration_in_ticks(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, -123456789, WALL);
    const timebase made = { .base = &base };
    assert_int_equal(timebase_span(&made, 2000000000), 20000000);
    assert_int_equal(timebase_span(&made, 1000), 10);
}

static void a_span_is_at_least_one_tick(void **state)
{
    (void)state;
    const etl_session base = session_of(1, 0, WALL);
    const timebase made = { .base = &base };
    assert_int_equal(timebase_span(&made, 0), 1);
    assert_int_equal(timebase_span(&made, 1), 1);
}

/* Two files, the second with a session appended: three maps. */
static void every_session_of_every_trace_has_its_map(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const first = etl_build_new(NULL);
    etl_build_mark(first, (etl_build_at){ .ticks = 1000100 }, "a");
    check_open(&traces, first);
    etl_build *const second = etl_build_new(NULL);
    etl_build_mark(second, (etl_build_at){ .ticks = 1000200 }, "b");
    const etl_build_options other = { .clock_hz = 3000000, .start_ticks = 500 };
    etl_build_append_session(second, &other);
    etl_build_mark(second, (etl_build_at){ .ticks = 600 }, "c");
    check_open(&traces, second);
    timebase base;
    assert_true(timebase_open(&base, traces.at, traces.count));
    assert_int_equal(base.map_count, 3);
    assert_ptr_equal(base.base, etl_session_of(traces.at[0], 0));
    assert_true(timebase_map(&base, 0, 0)->identity);
    assert_ptr_equal(timebase_map(&base, 1, 0)->from, etl_session_of(traces.at[1], 0));
    assert_true(timebase_map(&base, 1, 0)->identity);
    assert_ptr_equal(timebase_map(&base, 1, 1)->from, etl_session_of(traces.at[1], 1));
    assert_false(timebase_map(&base, 1, 1)->identity);
    assert_true(base.mismatch);
    timebase_close(&base);
    check_close(&traces);
}

static void files_of_one_clock_do_not_mismatch(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    for (u32 i = 0; i < 2; i++) {
        etl_build *const b = etl_build_new(NULL);
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 }, "a");
        check_open(&traces, b);
    }
    timebase base;
    assert_true(timebase_open(&base, traces.at, traces.count));
    assert_false(base.mismatch);
    timebase_close(&base);
    check_close(&traces);
}

/* Whichever session began first, in the clock of the first trace. */
static void the_earliest_time_is_a_minute_before_the_first_header(void **state)
{
    (void)state;
    const i64 second = 10000000;
    const etl_session base = session_of(10000000, 500 * second, WALL);
    const etl_session later = session_of(10000000, 700 * second, WALL + 200 * SECOND_FT);
    const etl_session other_clock = session_of(1000, 77, WALL - 300 * SECOND_FT);
    tick_map maps[] = { tick_map_make(&base, &base), tick_map_make(&later, &base),
                        tick_map_make(&other_clock, &base) };
    timebase table = { .base = &base, .maps = maps, .map_count = 2 };
    assert_int_equal(timebase_earliest(&table), 440 * second);
    table.map_count = 3;
    assert_int_equal(timebase_earliest(&table), 140 * second);
}

static void the_earliest_time_does_not_wrap(void **state)
{
    (void)state;
    const etl_session base = session_of(10000000, INT64_MIN + 5, WALL);
    tick_map maps[] = { tick_map_make(&base, &base) };
    const timebase table = { .base = &base, .maps = maps, .map_count = 1 };
    assert_int_equal(timebase_earliest(&table), INT64_MIN);
}

/* Or limits that are multiples of each other would no longer be. */
static void a_span_is_the_same_at_the_ends_of_time(void **state)
{
    (void)state;
    const i64 headers[] = { INT64_MIN, INT64_MAX - 5, INT64_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(headers); i++) {
        const etl_session session = session_of(10000000, headers[i], WALL);
        const timebase made = { .base = &session };
        assert_int_equal(timebase_span(&made, 2000000000), 20000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_maps_to_itself_unchanged),
        cmocka_unit_test(the_last_moment_of_all_is_taken_for_the_one_before),
        cmocka_unit_test(sessions_of_one_boot_share_their_ticks),
        cmocka_unit_test(wall_clocks_may_differ_by_two_seconds),
        cmocka_unit_test(another_frequency_is_another_clock),
        cmocka_unit_test(another_kind_of_clock_is_another_clock),
        cmocka_unit_test(other_clocks_go_through_wall_time),
        cmocka_unit_test(conversion_keeps_order_and_time),
        cmocka_unit_test(absurd_headers_saturate),
        cmocka_unit_test(a_span_is_a_duration_in_ticks),
        cmocka_unit_test(a_span_is_at_least_one_tick),
        cmocka_unit_test(a_span_is_the_same_at_the_ends_of_time),
        cmocka_unit_test(every_session_of_every_trace_has_its_map),
        cmocka_unit_test(files_of_one_clock_do_not_mismatch),
        cmocka_unit_test(the_earliest_time_is_a_minute_before_the_first_header),
        cmocka_unit_test(the_earliest_time_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
