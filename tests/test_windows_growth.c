/*
 * Goal: the steepest rise is where a curve goes to a new level and stays, and is
 * neither a spike, a dip nor the start and the end of a program.
 * Method: curves made of few lifetimes, a tick of time for each percent; what is
 * expected follows from how they were made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "hand_bytes.h"
#include "hand_result.h"
#include "windows_check.h"

#define NS(ticks) ((i64)(ticks)*HAND_TICK_NS)
#define TICKS     2000
#define WINDOWS   200
#define MB        ((u64)1000 * 1000)

/* Memory in use from one tick to another; to 0: for good. */
typedef struct use {
    i64 from, to;
    u64 size;
} use;

static void add_use(etlheap_result *result, u32 process, use u)
{
    hand_lifetime(
        result,
        &(lifetime){ .alloc_ticks = HAND_START_TICKS + u.from,
                     .free_ticks = u.to == 0 ? ETLHEAP_TICKS_NEVER : HAND_START_TICKS + u.to,
                     .size = u.size,
                     .process = process,
                     .free_type = u.to == 0 ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE });
}

static bool find(const etlheap_result *result, i64 every_ticks, u32 row, etlheap_growth *out)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.to_ns = NS(TICKS);
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(every_ticks) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    const bool found = etlheap_windows_find_growth(windows, row, out);
    etlheap_windows_free(windows);
    return found;
}

static bool find_in(const use *uses, u32 count, etlheap_growth *out)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    for (u32 i = 0; i < count; i++)
        add_use(result, process, uses[i]);
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    const bool found = find(result, TICKS / WINDOWS, 0, out);
    etlheap_result_free(result);
    return found;
}

/* Starts, goes to 20 MB at tick 1003, and gives all back in the end. */
static void a_step_is_found_where_it_is(void **state)
{
    (void)state;
    const use uses[] = { { 15, 1950, 10 * MB }, { 1003, 1960, 10 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, 2, &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
    assert_int_equal(growth.from_ns, NS(1000));
    assert_int_equal(growth.to_ns, NS(1010));
    assert_int_equal(growth.before_size, 10 * MB);
    assert_int_equal(growth.after_size, 20 * MB);
}

static void spikes_and_dips_do_not_hide_a_step(void **state)
{
    (void)state;
    const use uses[] = { { 1, 700, 10 * MB },   { 715, 0, 10 * MB }, /* a dip between them */
                         { 300, 340, 40 * MB }, { 600, 630, 40 * MB },   { 900, 920, 40 * MB },
                         { 1003, 0, 8 * MB },   { 1040, 1060, 40 * MB }, { 1500, 1540, 40 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
    assert_int_equal(growth.after_size - growth.before_size, 8 * MB);
}

/* All of them go from 10 MB to 20. */
static void a_spike_before_a_step_is_not_taken_for_it(void **state)
{
    (void)state;
    const use uses[] = {
        { 15, 0, 10 * MB }, { 940, 960, 10 * MB }, { 1003, 0, 10 * MB }, { 1100, 1120, 10 * MB }
    };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 100);
    assert_int_equal(growth.window_count, 1);
}

static void spikes_and_dips_alone_are_no_rise(void **state)
{
    (void)state;
    const use uses[] = { { -5, 700, 10 * MB },
                         { 730, 0, 10 * MB },
                         { 300, 340, 40 * MB },
                         { 1500, 1540, 40 * MB },
                         { 1700, 1740, 40 * MB } };
    etlheap_growth growth;
    assert_false(find_in(uses, ETL_COUNT_OF(uses), &growth));
}

static void what_falls_or_stands_still_is_no_rise(void **state)
{
    (void)state;
    const use uses[] = { { -5, 700, 10 * MB }, { -5, 1300, 10 * MB }, { -5, 0, 10 * MB } };
    etlheap_growth growth;
    assert_false(find_in(uses, ETL_COUNT_OF(uses), &growth));
}

/* All of it, but for the tenths at both ends. */
static void steady_growth_is_found_whole(void **state)
{
    (void)state;
    use uses[TICKS];
    for (u32 i = 0; i < TICKS; i++)
        uses[i] = (use){ i, 0, 1000 };
    etlheap_growth growth;
    assert_true(find_in(uses, TICKS, &growth));
    assert_int_equal(growth.first_window, WINDOWS / 10);
    assert_int_equal(growth.window_count, WINDOWS * 8 / 10);
    assert_int_equal(growth.after_size - growth.before_size, 1600 * 1000);
}

static void a_step_wins_over_steady_growth_around_it(void **state)
{
    (void)state;
    use uses[TICKS + 1];
    for (u32 i = 0; i < TICKS; i++)
        uses[i] = (use){ i, 0, 2500 };
    uses[TICKS] = (use){ 1403, 0, 10 * MB };
    etlheap_growth growth;
    assert_true(find_in(uses, TICKS + 1, &growth));
    assert_int_equal(growth.first_window, 140);
    assert_true(growth.window_count <= 2);
    assert_true(growth.after_size - growth.before_size >= (i64)(10 * MB));
}

/* A rise in the last tenth has no future to speak of, but there is no other. */
static void a_rise_at_an_end_is_found_for_want_of_another(void **state)
{
    (void)state;
    const use uses[] = { { -5, 0, 10 * MB }, { 1905, 0, 5 * MB } };
    etlheap_growth growth;
    assert_true(find_in(uses, ETL_COUNT_OF(uses), &growth));
    assert_int_equal(growth.first_window, 190);
    assert_int_equal(growth.after_size - growth.before_size, 5 * MB);
}

static void of_several_rows_the_steepest_is_found(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 processes[] = { hand_process(result, 10, "a.exe"), hand_process(result, 20, "b.exe"),
                              hand_process(result, 30, "c.exe") };
    /* The largest at the end has only its start, the next the smaller step. */
    add_use(result, processes[0], (use){ 20, 0, 90 * MB });
    add_use(result, processes[1], (use){ 20, 0, 40 * MB });
    add_use(result, processes[1], (use){ 803, 0, 3 * MB });
    add_use(result, processes[2], (use){ 20, 0, 5 * MB });
    add_use(result, processes[2], (use){ 1203, 0, 4 * MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    etlheap_growth growth;
    assert_true(find(result, TICKS / WINDOWS, ETLHEAP_NO_INDEX, &growth));
    assert_int_equal(growth.row, 2);
    assert_int_equal(growth.first_window, 120);
    assert_int_equal(growth.after_size - growth.before_size, 4 * MB);
    etlheap_result_free(result);
}

/* More windows than levels that are looked at: the rise lies between two of them. */
static void a_rise_among_very_many_windows_is_found(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    add_use(result, process, (use){ 1, 0, 10 * MB });
    add_use(result, process, (use){ 1003, 0, 10 * MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    etlheap_growth growth;
    assert_true(find(result, 1, 0, &growth));
    assert_true(growth.first_window <= 1003);
    assert_true(growth.first_window + growth.window_count > 1003);
    assert_true(growth.window_count <= 4);
    etlheap_result_free(result);
}

static void windows_with_gaps_have_no_curve(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    add_use(result, hand_process(result, 10, "a.exe"), (use){ 30, 0, MB });
    hand_ready(result, HAND_START_TICKS + TICKS - 1);
    const etlheap_query query = etlheap_query_default();
    const etlheap_time_range ranges[] = { { NS(0), NS(50) }, { NS(60), NS(90) } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = 2 };
    etlheap_query plain = query;
    plain.group_by_count = 2;
    etlheap_windows *const windows = windows_check_make(result, &plain, &options);
    etlheap_growth growth;
    assert_false(etlheap_windows_find_growth(windows, 0, &growth));
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_found_where_it_is),
        cmocka_unit_test(spikes_and_dips_do_not_hide_a_step),
        cmocka_unit_test(a_spike_before_a_step_is_not_taken_for_it),
        cmocka_unit_test(spikes_and_dips_alone_are_no_rise),
        cmocka_unit_test(what_falls_or_stands_still_is_no_rise),
        cmocka_unit_test(steady_growth_is_found_whole),
        cmocka_unit_test(a_step_wins_over_steady_growth_around_it),
        cmocka_unit_test(a_rise_at_an_end_is_found_for_want_of_another),
        cmocka_unit_test(of_several_rows_the_steepest_is_found),
        cmocka_unit_test(a_rise_among_very_many_windows_is_found),
        cmocka_unit_test(windows_with_gaps_have_no_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
