/*
 * Goal: a diff of tables that keep lifetimes ranks the lifetimes of all rows of a group together,
 * says which changes are not known, and counts how long blocks lived.
 * Method: small tables made by hand, of two sides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "diff_tables.h"
#include "engine/fold/lifetime_ranks.h"
#include "engine/table/table.h"

/* A table, and the lifetimes of its rows: a group of the lists for each. */
typedef struct lived_input {
    diff_input input;
    etlheap_row_lifetimes kept;
} lived_input;

static void open_input(lived_input *side)
{
    diff_input_open(&side->input);
    side->kept = (etlheap_row_lifetimes){ .lists = { .lists = { 0 } } };
    side->input.table.row_lifetimes = &side->kept;
    side->input.table.totals[ETLHEAP_KIND_HEAP].present = true;
}

static void close_input(lived_input *side)
{
    lifetime_lists_free(&side->kept.lists);
    ETLHEAP_VECTOR_FREE(&side->kept.groups);
}

/* A row of a stack of its own, of so many blocks, with these lifetimes; 0 ends them. Groups are
 * numbered from behind, as rows and groups are not in one order. */
static void add_row(lived_input *side, u64 offset, i64 count, const i64 *lifetimes)
{
    etlheap_row *const row = diff_input_simple(&side->input, "a.exe", "a.exe", offset, 100 * count);
    const u32 group = 40 - side->input.table.row_count;
    row->measures[ETLHEAP_MEASURE_COUNT] = count;
    assert_true(ETLHEAP_PUSH(&side->kept.groups, group));
    for (u32 i = 0; lifetimes[i] != 0; i++)
        assert_true(lifetime_lists_add(&side->kept.lists, group, lifetimes[i]));
    const lifetime_sets alone = { (const u32[]){ 0, 1 }, &group, 1 };
    lifetime_ranks ranks = LIFETIME_RANKS_UNKNOWN;
    lifetime_ranks_compute(&side->kept.lists, &alone, 1, &ranks);
    lifetime_ranks_put(&ranks, row->measures);
}

static etlheap_diff_options by_median(void)
{
    etlheap_diff_options options = etlheap_diff_options_default();
    options.measure = ETLHEAP_MEASURE_LIFETIME_MEDIAN;
    options.jobs = 1;
    return options;
}

static i64 change_of(const etlheap_diff *diff, u32 row)
{
    return diff->table.rows[row].measures[ETLHEAP_MEASURE_LIFETIME_MEDIAN];
}

/* One address each, and one function: the median of medians would be 20 or 25. */
static void rows_of_a_group_are_ranked_together(void **unused)
{
    (void)unused;
    lived_input base, now;
    open_input(&base);
    open_input(&now);
    add_row(&base, 1, 5, (const i64[]){ 10, 20, 30, 0 });
    add_row(&base, 1, 2, (const i64[]){ 1, 2, 0 });
    add_row(&now, 1, 3, (const i64[]){ 40, 41, 48, 0 });
    const etlheap_diff_options options = by_median();
    etlheap_diff *const diff = diff_input_make(&base.input, &now.input, &options);
    assert_int_equal(diff->table.row_count, 1);
    const etlheap_change *const change = &diff->changes[0];
    assert_int_equal(change->base[ETLHEAP_MEASURE_LIFETIME_MEDIAN], 10);
    assert_int_equal(change->base[ETLHEAP_MEASURE_LIFETIME_MEAN], 13); /* 63 / 5 */
    assert_int_equal(change->base[ETLHEAP_MEASURE_LIFETIME_P90], 30);
    assert_int_equal(change->now[ETLHEAP_MEASURE_LIFETIME_MEAN], 43);
    assert_int_equal(change_of(diff, 0), 31);
    assert_string_equal(diff_state_word(diff, 0), "grown");
    assert_int_equal(diff->totals[ETLHEAP_KIND_HEAP].base[ETLHEAP_MEASURE_LIFETIME_MEDIAN], 10);
    assert_int_equal(diff->table.totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_LIFETIME_P99],
                     18);
    assert_true(diff->table.measures >> ETLHEAP_MEASURE_LIFETIME_P90 & 1);
    etlheap_diff_free(diff);
    close_input(&base);
    close_input(&now);
}

static void changes_that_are_not_known_come_last(void **unused)
{
    (void)unused;
    lived_input base, now;
    open_input(&base);
    open_input(&now);
    add_row(&base, 1, 3, (const i64[]){ 900, 0 }); /* no longer freed */
    add_row(&now, 1, 3, (const i64[]){ 0 });
    add_row(&base, 2, 1, (const i64[]){ 10, 0 });
    add_row(&now, 2, 1, (const i64[]){ 7, 0 });
    add_row(&base, 3, 1, (const i64[]){ 800, 0 }); /* gone */
    add_row(&now, 4, 1, (const i64[]){ 700, 0 });  /* new */
    add_row(&base, 5, 1, (const i64[]){ 0 });      /* never freed */
    add_row(&now, 5, 1, (const i64[]){ 0 });
    const etlheap_diff_options options = by_median();
    etlheap_diff *const diff = diff_input_make(&base.input, &now.input, &options);
    const char *const states[] = { "shrunk", "unknown", "removed", "added" };
    assert_int_equal(diff->table.row_count, 4);
    for (u32 i = 0; i < 4; i++)
        assert_string_equal(diff_state_word(diff, i), states[i]);
    assert_int_equal(change_of(diff, 0), -3);
    assert_true(change_of(diff, 1) == ETLHEAP_NOT_KNOWN);
    assert_int_equal(diff->changes[1].base[ETLHEAP_MEASURE_LIFETIME_MEDIAN], 900);
    assert_true(diff->changes[1].now[ETLHEAP_MEASURE_LIFETIME_MEDIAN] == ETLHEAP_NOT_KNOWN);
    assert_int_equal(diff->unchanged_count, 1);
    etlheap_diff_free(diff);
    close_input(&base);
    close_input(&now);
}

static void lifetimes_are_counted_in_steps_of_1_2_and_5(void **unused)
{
    (void)unused;
    lived_input base, now;
    open_input(&base);
    open_input(&now);
    add_row(&base, 1, 3, (const i64[]){ 4, 5, 8, 0 });
    add_row(&now, 2, 2, (const i64[]){ 7, 31, 0 });
    const etlheap_diff_options options = by_median();
    etlheap_diff *const diff = diff_input_make(&base.input, &now.input, &options);
    const etlheap_lifetime_class wanted[] = {
        { 0, 2, 5, 1, 0 }, { 0, 5, 10, 2, 1 }, { 0, 10, 20, 0, 0 }, { 0, 20, 50, 0, 1 }
    };
    assert_true(diff->has_lifetimes);
    assert_int_equal(diff->lifetime_count, ETL_COUNT_OF(wanted));
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++) {
        assert_int_equal(diff->lifetimes[i].from_ns, wanted[i].from_ns);
        assert_int_equal(diff->lifetimes[i].to_ns, wanted[i].to_ns);
        assert_int_equal(diff->lifetimes[i].base_count, wanted[i].base_count);
        assert_int_equal(diff->lifetimes[i].new_count, wanted[i].new_count);
    }
    etlheap_diff_free(diff);
    close_input(&base);
    close_input(&now);
}

static void refuse(const lived_input *base, const lived_input *now,
                   const etlheap_diff_options *options, const char *wanted)
{
    etlheap_diff *diff = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(
        etlheap_diff_tables(&base->input.table, &now->input.table, options, &diff, &err),
        ETL_ERR_ARGUMENT);
    assert_null(diff);
    assert_non_null(strstr(err.message, wanted));
}

static void lifetimes_that_are_not_kept_or_per_second_are_refused(void **unused)
{
    (void)unused;
    lived_input base, now;
    open_input(&base);
    open_input(&now);
    etlheap_diff_options options = by_median();
    options.per_second = true;
    refuse(&base, &now, &options, "per second");
    options.per_second = false;
    now.input.table.row_lifetimes = NULL;
    refuse(&base, &now, &options, "do not keep lifetimes");
    close_input(&base);
    close_input(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_group_are_ranked_together),
        cmocka_unit_test(changes_that_are_not_known_come_last),
        cmocka_unit_test(lifetimes_are_counted_in_steps_of_1_2_and_5),
        cmocka_unit_test(lifetimes_that_are_not_kept_or_per_second_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
