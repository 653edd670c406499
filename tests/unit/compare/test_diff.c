/*
 * Goal: what changed between two tables is told with a state and exact amounts, in a
 * total order.
 * Method: small tables made by hand, and random ones against a model that compares
 * every row with every other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "diff_tables.h"
#include "tests/support/engine_check.h"

#define ROUNDS 300

/* --- states and amounts ----------------------------------------------------------- */

static void states_are_told(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&base, "a.exe", "a.exe", 2, 100);
    diff_input_simple(&base, "a.exe", "a.exe", 3, 100);
    diff_input_simple(&base, "a.exe", "a.exe", 4, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 2, 150);
    diff_input_simple(&now, "a.exe", "a.exe", 3, 60);
    diff_input_simple(&now, "a.exe", "a.exe", 4, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 5, 30);
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    const char *const states[] = { "removed", "grown", "shrunk", "added" };
    const i64 deltas[] = { -100, 50, -40, 30 };
    assert_int_equal(diff->table.row_count, 4);
    for (u32 i = 0; i < 4; i++) {
        assert_string_equal(diff_state_word(diff, i), states[i]);
        assert_int_equal(diff_size_change(diff, i), deltas[i]);
    }
    assert_int_equal(diff->changes[1].base[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 100);
    assert_int_equal(diff->changes[1].now[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 150);
    assert_int_equal(diff->table.rows[1].measures[ETLHEAP_MEASURE_SIZE], 100);
    assert_int_equal(diff->unchanged_count, 1);
    assert_int_equal(diff->matched_count, 3);
    etlheap_diff_free(diff);
}

static void unchanged_groups_are_kept_when_asked(void **unused)
{
    (void)unused;
    diff_input table;
    diff_input_open(&table);
    diff_input_simple(&table, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&table, "a.exe", "a.exe", 2, 0);
    etlheap_diff_options options = etlheap_diff_options_default();
    etlheap_diff *diff = diff_input_make(&table, &table, &options);
    assert_int_equal(diff->table.row_count, 0);
    etlheap_diff_free(diff);
    options.keep_unchanged = true;
    diff = diff_input_make(&table, &table, &options);
    assert_int_equal(diff->table.row_count, 2);
    assert_string_equal(diff_state_word(diff, 0), "unchanged");
    assert_int_equal(diff->unchanged_count, 2);
    etlheap_diff_free(diff);
}

/* Two blocks of 50 in place of one of 100. */
static void equal_sizes_are_unchanged_whatever_their_counts(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_row(&base, "a.exe", ETLHEAP_NO_INDEX, 100, 1);
    diff_input_row(&now, "a.exe", ETLHEAP_NO_INDEX, 100, 2);
    etlheap_diff_options options = etlheap_diff_options_default();
    etlheap_diff *diff = diff_input_make(&base, &now, &options);
    assert_int_equal(diff->table.row_count, 0);
    assert_int_equal(diff->unchanged_count, 1);
    etlheap_diff_free(diff);
    options.measure = ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    diff = diff_input_make(&base, &now, &options);
    assert_string_equal(diff_state_word(diff, 0), "grown");
    etlheap_diff_free(diff);
}

static void another_measure_gives_states_and_order(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_row(&base, "a.exe", ETLHEAP_NO_INDEX, 1000, 1);
    diff_input_row(&base, "b.exe", ETLHEAP_NO_INDEX, 10, 9);
    diff_input_row(&now, "a.exe", ETLHEAP_NO_INDEX, 10, 2);
    diff_input_row(&now, "b.exe", ETLHEAP_NO_INDEX, 11, 1);
    etlheap_diff_options options = etlheap_diff_options_default();
    options.measure = ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    etlheap_diff *diff = diff_input_make(&base, &now, &options);
    assert_string_equal(diff->table.rows[0].process, "b.exe");
    assert_string_equal(diff_state_word(diff, 0), "shrunk");
    assert_string_equal(diff_state_word(diff, 1), "grown");
    etlheap_diff_free(diff);
    options.ascending = true;
    diff = diff_input_make(&base, &now, &options);
    assert_string_equal(diff->table.rows[0].process, "a.exe");
    etlheap_diff_free(diff);
}

static void by_direction_puts_decreases_last(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    const i64 before[] = { 100, 0, 50, 7 }, after[] = { 0, 20, 51, 5 };
    for (u64 i = 0; i < 4; i++) {
        diff_input_simple(&base, "a.exe", "a.exe", i, before[i]);
        diff_input_simple(&now, "a.exe", "a.exe", i, after[i]);
    }
    etlheap_diff_options options = etlheap_diff_options_default();
    options.by_direction = true;
    etlheap_diff *const diff = diff_input_make(&base, &now, &options);
    const i64 deltas[] = { 20, 1, -2, -100 };
    for (u32 i = 0; i < 4; i++)
        assert_int_equal(diff_size_change(diff, i), deltas[i]);
    etlheap_diff_free(diff);
}

static void sums_and_differences_stop_at_the_ends(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_row(&base, "a.exe", ETLHEAP_NO_INDEX, INT64_MIN, 1);
    diff_input_row(&now, "a.exe", ETLHEAP_NO_INDEX, INT64_MAX, 1);
    diff_input_row(&now, "A.EXE", ETLHEAP_NO_INDEX, INT64_MAX, 1);
    now.table.totals[0].present = true;
    now.table.totals[0].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = INT64_MAX;
    base.table.totals[0].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = -1;
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->changes[0].now[ETLHEAP_MEASURE_OUTSTANDING_SIZE], INT64_MAX);
    assert_int_equal(diff_size_change(diff, 0), INT64_MAX);
    assert_int_equal(diff->table.totals[0].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], INT64_MAX);
    assert_true(diff->table.totals[0].present);
    assert_false(diff->table.totals[1].present);
    etlheap_diff_free(diff);
}

/* A damaged time may be the last of all, and one before time zero is negative. */
static void windows_of_any_length_have_one(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    base.table.from_ns = -100000100;
    base.table.to_ns = INT64_MAX;
    now.table.from_ns = INT64_MAX;
    now.table.to_ns = INT64_MIN;
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_true(diff->base_ns == INT64_MAX);
    assert_true(diff->new_ns == 1);
    etlheap_diff_free(diff);
}

static void rates_are_exact_and_round_to_the_nearest(void **unused)
{
    (void)unused;
    assert_int_equal(etlheap_diff_rate(100, 1000000000), 100000);
    assert_int_equal(etlheap_diff_rate(1, 3000000000), 333);
    assert_int_equal(etlheap_diff_rate(2, 3000000000), 667);
    assert_int_equal(etlheap_diff_rate(1, 2000000000000), 1); /* 0.5 thousandths */
    assert_int_equal(etlheap_diff_rate(-1, 2000000000000), -1);
    assert_int_equal(etlheap_diff_rate(0, 1), 0);
    assert_int_equal(etlheap_diff_rate(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(etlheap_diff_rate(INT64_MIN, 1), INT64_MIN);
    assert_int_equal(etlheap_diff_rate(INT64_MAX, 1000000000000), INT64_MAX);
    assert_int_equal(etlheap_diff_rate(INT64_MIN + 1, 2000000000000), -(INT64_MAX / 2) - 1);
}

/* 60 bytes in 60 s and 120 in 120 s are as many a second. */
static void per_second_compares_rates(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    base.table.to_ns = 60000000000;
    now.table.to_ns = 120000000000;
    diff_input_simple(&base, "a.exe", "a.exe", 1, 60)->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] =
        6;
    diff_input_simple(&now, "a.exe", "a.exe", 1, 120)->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] =
        12;
    diff_input_simple(&base, "a.exe", "a.exe", 2, 60);
    diff_input_simple(&now, "a.exe", "a.exe", 2, 90);
    etlheap_diff_options options = etlheap_diff_options_default();
    options.per_second = true;
    etlheap_diff *const diff = diff_input_make(&base, &now, &options);
    assert_int_equal(diff->base_ns, 60000000000);
    assert_int_equal(diff->new_ns, 120000000000);
    assert_int_equal(diff->unchanged_count, 1);
    assert_int_equal(diff->table.row_count, 1);
    assert_string_equal(diff_state_word(diff, 0), "shrunk");
    assert_int_equal(diff_size_change(diff, 0), 30); /* amounts stay amounts */
    etlheap_diff_free(diff);
}

/* A window ends at its last event, not at a full second. */
static void a_thousandth_of_a_rate_is_no_change(void **unused)
{
    (void)unused;
    etlheap_diff_options options = etlheap_diff_options_default();
    options.per_second = true;
    const i64 sizes[] = { 998999, 999000, 1001001, 1001002 };
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        const i64 size = sizes[i];
        diff_input base, now;
        diff_input_open(&base);
        diff_input_open(&now);
        diff_input_simple(&base, "a.exe", "a.exe", 1, 1000000);
        diff_input_simple(&now, "a.exe", "a.exe", 1, size);
        etlheap_diff *const diff = diff_input_make(&base, &now, &options);
        assert_int_equal(diff->unchanged_count, i == 1 || i == 2);
        etlheap_diff_free(diff);
    }
}

/* --- errors, --top ---------------------------------------------------------------------- */

static void unfit_tables_are_refused(void **unused)
{
    (void)unused;
    diff_input base, now;
    etlheap_diff *diff = NULL;
    etl_error err = { .status = ETL_OK };
    diff_input_open(&base);
    diff_input_open(&now);
    now.keys[2] = ETLHEAP_KEY_MODULE;
    assert_int_equal(etlheap_diff_tables(&base.table, &now.table, NULL, &diff, &err),
                     ETL_ERR_ARGUMENT);
    assert_null(diff);
    base.keys[2] = now.keys[2] = ETLHEAP_KEY_HEAP;
    assert_int_equal(etlheap_diff_tables(&base.table, &now.table, NULL, &diff, &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "heap"));
    base.keys[2] = now.keys[2] = ETLHEAP_KEY_STACK;
    etlheap_diff_options options = etlheap_diff_options_default();
    options.measure = ETLHEAP_MEASURE_PEAK_SIZE;
    assert_int_equal(etlheap_diff_tables(&base.table, &now.table, &options, &diff, &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "peak_size"));
    options.measure = ETLHEAP_MEASURE_OVERHEAD_SIZE;
    assert_int_equal(etlheap_diff_tables(&base.table, &now.table, &options, &diff, &err),
                     ETL_ERR_ARGUMENT);
    assert_null(diff);
}

static void keeping_the_top_keeps_what_it_refers_to(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 10);
    diff_input_simple(&now, "a.exe", "b.dll", 2, 30);
    diff_input_simple(&now, "a.exe", "c.dll", 3, 20);
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 3);
    etlheap_diff_keep_top(diff, 9);
    assert_int_equal(diff->table.row_count, 3);
    etlheap_diff_keep_top(diff, 1);
    assert_int_equal(diff->table.row_count, 1);
    assert_int_equal(diff->table.stack_count, 1);
    assert_int_equal(diff->table.frame_count, 1);
    assert_string_equal(diff->table.frames[0].module, "b.dll");
    etlheap_diff_free(diff);
}

/* --- random tables ------------------------------------------------------------------------ */

static void fill_random(diff_input *t, u64 *seed)
{
    static const char *const processes[] = { "a.exe", "A.EXE", "b.exe", "Unknown" };
    static const char *const modules[] = { "m.dll", "M.dll", "n.dll", NULL };
    static const char *const symbols[] = { "f", "g", NULL, NULL };
    diff_input_open(t);
    for (u32 i = 0; i < 10; i++) {
        for (u32 k = engine_check_random(seed, 4); k > 0; k--) {
            const char *const module = modules[engine_check_random(seed, 4)];
            diff_input_frame(
                t, (etlheap_frame){ .module = module,
                                    .symbol = module ? symbols[engine_check_random(seed, 4)] : NULL,
                                    .offset = engine_check_random(seed, 2),
                                    .address = engine_check_random(seed, 1000) });
        }
        diff_input_stack(t);
    }
    for (u32 i = 0; i < 40; i++) {
        const u32 stack = engine_check_random(seed, 12);
        etlheap_row *const row = diff_input_row(
            t, processes[engine_check_random(seed, 4)], stack < 10 ? stack : ETLHEAP_NO_INDEX,
            engine_check_random(seed, 4), engine_check_random(seed, 3));
        row->kind = (u8)engine_check_random(seed, 2);
    }
}

static bool same_text(const char *a, const char *b, bool any_case)
{
    if (!a || !b)
        return a == b;
    for (; *a && *b; a++, b++) {
        const bool is_letter = any_case && ((*a | 0x20) >= 'a' && (*a | 0x20) <= 'z');
        if (*a != *b && !(is_letter && (*a | 0x20) == (*b | 0x20)))
            return false;
    }
    return *a == *b;
}

static bool same_row(const etlheap_table *s, const etlheap_row *a, const etlheap_table *t,
                     const etlheap_row *b)
{
    if (a->kind != b->kind || !same_text(a->process, b->process, true))
        return false;
    if (a->stack == ETLHEAP_NO_INDEX || b->stack == ETLHEAP_NO_INDEX)
        return a->stack == b->stack;
    const u32 count = s->stack_starts[a->stack + 1] - s->stack_starts[a->stack];
    if (t->stack_starts[b->stack + 1] - t->stack_starts[b->stack] != count)
        return false;
    for (u32 i = 0; i < count; i++) {
        const etlheap_frame *const f = &s->frames[s->frame_indices[s->stack_starts[a->stack] + i]];
        const etlheap_frame *const g = &t->frames[t->frame_indices[t->stack_starts[b->stack] + i]];
        const bool by_name = f->symbol || g->symbol;
        if (!same_text(f->module, g->module, true) || !same_text(f->symbol, g->symbol, false) ||
            (f->module && !by_name && f->offset != g->offset))
            return false;
    }
    return true;
}

/* The sum over the rows of a table that are the same as a row. */
static i64 sum_of(const etlheap_table *t, const etlheap_table *s, const etlheap_row *row)
{
    i64 sum = 0;
    for (u32 i = 0; i < t->row_count; i++) {
        if (same_row(s, row, t, &t->rows[i]))
            sum += t->rows[i].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    }
    return sum;
}

/* Every row of a table is in exactly one group, which has both sums. */
static void check_rows(const etlheap_table *t, const diff_input *base, const diff_input *now,
                       const etlheap_diff *diff)
{
    for (u32 i = 0; i < t->row_count; i++) {
        u32 found = 0;
        for (u32 k = 0; k < diff->table.row_count; k++) {
            if (!same_row(t, &t->rows[i], &diff->table, &diff->table.rows[k]))
                continue;
            const etlheap_change *const change = &diff->changes[k];
            found++;
            assert_int_equal(change->base[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
                             sum_of(&base->table, t, &t->rows[i]));
            assert_int_equal(change->now[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
                             sum_of(&now->table, t, &t->rows[i]));
        }
        assert_int_equal(found, 1);
    }
}

static void random_tables_agree_with_the_model(void **unused)
{
    (void)unused;
    u64 seed = 11;
    for (u32 round = 0; round < ROUNDS; round++) {
        diff_input base, now;
        fill_random(&base, &seed);
        fill_random(&now, &seed);
        etlheap_diff_options options = etlheap_diff_options_default();
        options.keep_unchanged = true;
        etlheap_diff *const diff = diff_input_make(&base, &now, &options);
        etlheap_diff *const back = diff_input_make(&now, &base, &options);
        check_rows(&base.table, &base, &now, diff);
        check_rows(&now.table, &base, &now, diff);
        assert_int_equal(back->table.row_count, diff->table.row_count);
        for (u32 i = 0; i < diff->table.row_count; i++) {
            /* One order for both: it goes by magnitude and by what rows are. */
            assert_int_equal(diff_size_change(diff, i), -diff_size_change(back, i));
            assert_true(
                same_row(&diff->table, &diff->table.rows[i], &back->table, &back->table.rows[i]));
            assert_true(i == 0 ||
                        llabs(diff_size_change(diff, i)) <= llabs(diff_size_change(diff, i - 1)));
        }
        etlheap_diff_free(diff);
        etlheap_diff_free(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_told),
        cmocka_unit_test(unchanged_groups_are_kept_when_asked),
        cmocka_unit_test(equal_sizes_are_unchanged_whatever_their_counts),
        cmocka_unit_test(another_measure_gives_states_and_order),
        cmocka_unit_test(by_direction_puts_decreases_last),
        cmocka_unit_test(sums_and_differences_stop_at_the_ends),
        cmocka_unit_test(windows_of_any_length_have_one),
        cmocka_unit_test(rates_are_exact_and_round_to_the_nearest),
        cmocka_unit_test(per_second_compares_rates),
        cmocka_unit_test(a_thousandth_of_a_rate_is_no_change),
        cmocka_unit_test(unfit_tables_are_refused),
        cmocka_unit_test(keeping_the_top_keeps_what_it_refers_to),
        cmocka_unit_test(random_tables_agree_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
