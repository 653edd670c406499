/*
 * Goal: the outline and the call trees of a report show every byte once at each
 * level, largest first, and say what they leave out.
 * Method: the table of made_table.h, whose sums are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/parts/outline.h"
#include "formats/writers.h"
#include "made_table.h"

#define OUTSTANDING ETLHEAP_MEASURE_OUTSTANDING_SIZE

static void expect_entry(const etlheap_outline *outline, u32 index, u32 level, u32 row, i64 size)
{
    assert_true(index < outline->entry_count);
    assert_int_equal(outline->entries[index].level, level);
    assert_int_equal(outline->entries[index].row, row);
    assert_int_equal(outline->entries[index].measures[OUTSTANDING], size);
}

static u32 sum_of(const u32 *rows)
{
    u32 sum = 0;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        sum += rows[kind];
    return sum;
}

static void expect_more(const etlheap_outline *outline, u32 later, u32 empty)
{
    assert_int_equal(sum_of(outline->more.later), later);
    assert_int_equal(sum_of(outline->more.empty), empty);
}

static void groups_have_subtotals_largest_first(void **state)
{
    const etlheap_table table = made_table();
    etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    layout.rows_max = 0;
    layout.rows_of_each_kind = false;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.level_count, 4); /* heap and type share one */
    assert_int_equal(outline.entry_count, 14);
    expect_entry(&outline, 0, 0, 0, 4096); /* virtualalloc */
    expect_entry(&outline, 1, 1, 0, 4096); /*   quiet.exe */
    expect_entry(&outline, 2, 2, 0, 4096); /*     AIFO */
    expect_entry(&outline, 3, 3, 0, 4096); /*       stack 0 */
    expect_entry(&outline, 4, 0, 1, 600);  /* heap */
    expect_entry(&outline, 5, 1, 1, 500);  /*   leaky.exe */
    expect_entry(&outline, 6, 2, 1, 500);  /*     0x10 AIFO */
    expect_entry(&outline, 7, 3, 1, 300);  /*       stack 0 */
    expect_entry(&outline, 8, 3, 2, 200);  /*       stack 1 */
    expect_entry(&outline, 9, 2, 4, 0);    /*     0x20 AIFI */
    expect_entry(&outline, 10, 3, 4, 0);   /*       stack 2 */
    expect_entry(&outline, 11, 1, 3, 100); /*   quiet.exe */
    expect_entry(&outline, 12, 2, 3, 100); /*     0x20 AOFO */
    expect_entry(&outline, 13, 3, 3, 100); /*       none */
    expect_more(&outline, 0, 0);
    etlheap_outline_free(&outline);
}

/* heap has a row with nothing outstanding: it is summed up but not listed. */
static void rows_without_the_measure_are_left_out_by_default(void **state)
{
    const etlheap_table table = made_table();
    etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 12);
    expect_entry(&outline, 4, 0, 1, 600);
    expect_entry(&outline, 5, 1, 1, 500);
    expect_more(&outline, 0, 1);
    assert_int_equal(outline.more.empty[ETLHEAP_KIND_HEAP], 1);
    etlheap_outline_free(&outline);
}

/* Where every row of a kind has nothing, a few are listed all the same. */
static void a_kind_without_the_measure_shows_a_few_rows(void **state)
{
    etlheap_row rows[8];
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_THREAD };
    const etlheap_table table = {
        .group_by = keys, .group_by_count = 2, .rows = rows, .row_count = 8
    };
    const etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    for (u32 i = 0; i < 8; i++)
        rows[i] = (etlheap_row){ .kind = ETLHEAP_KIND_HEAP,
                                 .thread = i,
                                 .stack = ETLHEAP_NO_INDEX,
                                 .frame = ETLHEAP_NO_INDEX };
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 1 + 5);
    expect_more(&outline, 0, 3);
    etlheap_outline_free(&outline);
}

static void subtotals_include_rows_that_are_not_listed(void **state)
{
    const etlheap_table table = made_table();
    etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    layout.rows_max = 2;
    layout.rows_of_each_kind = false;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 8);
    expect_entry(&outline, 4, 0, 1, 600);
    expect_entry(&outline, 5, 1, 1, 500);
    expect_entry(&outline, 7, 3, 1, 300);
    expect_more(&outline, 3, 0);
    assert_int_equal(outline.more.measure, OUTSTANDING);
    assert_int_equal(outline.more.amounts[ETLHEAP_KIND_HEAP], 300);
    assert_int_equal(outline.more.amounts[ETLHEAP_KIND_VIRTUALALLOC], 0);
    etlheap_outline_free(&outline);
}

static void the_limit_may_hold_for_each_kind(void **state)
{
    const etlheap_table table = made_table();
    etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    layout.rows_max = 1;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 8); /* one row of each kind, with its groups */
    expect_entry(&outline, 3, 3, 0, 4096);
    expect_entry(&outline, 7, 3, 1, 300);
    expect_more(&outline, 2, 1);
    etlheap_outline_free(&outline);
}

static void a_reversed_sort_reverses_every_level(void **state)
{
    etlheap_table table = made_table();
    etlheap_row rows[MADE_ROWS];
    etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    for (u32 i = 0; i < MADE_ROWS; i++)
        rows[i] = table.rows[MADE_ROWS - 1 - i];
    table.rows = rows;
    layout.sort_ascending = true;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    expect_entry(&outline, 0, 0, 0, 600);
    expect_entry(&outline, 1, 1, 1, 100);
    expect_entry(&outline, 4, 1, 0, 500);
    expect_entry(&outline, 5, 2, 0, 0);
    etlheap_outline_free(&outline);
}

static void a_table_without_rows_or_keys_has_no_entries(void **state)
{
    etlheap_table table = made_table();
    const etlheap_layout layout = etlheap_layout_default();
    etlheap_outline outline;
    (void)state;
    table.row_count = 0;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 0);
    etlheap_outline_free(&outline);
    table.row_count = 1;
    table.group_by_count = 0;
    assert_int_equal(etlheap_outline_build(&table, &layout, &outline), ETL_OK);
    assert_int_equal(outline.entry_count, 0);
    etlheap_outline_free(&outline);
}

/* Grouped as a report groups for a tree when nobody says how. */
static etlheap_table tree_table(void)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };
    etlheap_table table = made_table();
    table.group_by = keys;
    table.group_by_count = (u32)ETL_COUNT_OF(keys);
    return table;
}

static void check_tree(etlheap_tree tree, const char *wanted)
{
    const etlheap_table table = tree_table();
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    layout.tree = tree;
    capture_open(&out);
    assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
    assert_string_equal(capture_text(&out), wanted);
    capture_close(&out);
}

static void the_tree_begins_with_the_outermost_frame(void **state)
{
    (void)state;
    check_tree(ETLHEAP_TREE_CALLEES,
               "\n"
               "Outstanding  Outstanding\n"
               "       Size        Count    Share  Call tree\n"
               "   4.00 KiB            1  100.0 %  virtualalloc  quiet.exe (20)\n"
               "   4.00 KiB            1  100.0 %    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20 "
               "\u2192 Leaky::grow (leaky.exe)\n"
               "      500 B            2  100.0 %  heap  leaky.exe (10)\n"
               "      500 B            2  100.0 %    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20\n"
               "      300 B            1   60.0 %    - Leaky::grow (leaky.exe)\n"
               "      200 B            1   40.0 %    - 0x7ff612340000\n"
               "      100 B            1  100.0 %  heap  quiet.exe (20)\n"
               "      100 B            1  100.0 %    [no stack recorded]\n");
}

static void the_inverted_tree_begins_with_the_innermost(void **state)
{
    (void)state;
    check_tree(ETLHEAP_TREE_CALLERS,
               "\n"
               "Outstanding  Outstanding\n"
               "       Size        Count    Share  Callers\n"
               "   4.00 KiB            1  100.0 %  virtualalloc  quiet.exe (20)\n"
               "   4.00 KiB            1  100.0 %    Leaky::grow (leaky.exe) \u2192 leaky.exe+0x20 "
               "\u2192 main,\"x\".dll+0x30\n"
               "      500 B            2  100.0 %  heap  leaky.exe (10)\n"
               "      300 B            1   60.0 %    - Leaky::grow (leaky.exe) \u2192 "
               "leaky.exe+0x20 \u2192 main,\"x\".dll+0x30\n"
               "      200 B            1   40.0 %    - 0x7ff612340000 \u2192 leaky.exe+0x20 \u2192 "
               "main,\"x\".dll+0x30\n"
               "      100 B            1  100.0 %  heap  quiet.exe (20)\n"
               "      100 B            1  100.0 %    [no stack recorded]\n");
}

/* A row of 2 bytes beside 300 of the same process: its two own frames of the
 * inverted tree are below the limit, the shared outer ones are not. */
static void small_frames_are_left_out_and_counted(void **state)
{
    etlheap_table table = tree_table();
    etlheap_row rows[2];
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    rows[0] = table.rows[1];
    rows[1] = table.rows[2];
    rows[1].measures[OUTSTANDING] = 2;
    table.rows = rows;
    table.row_count = 2;
    layout.tree = ETLHEAP_TREE_CALLEES;
    capture_open(&out);
    assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
    const char *const text = capture_text(&out);
    assert_non_null(strstr(
        text, "      302 B            2  100.0 %    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20\n"));
    assert_non_null(strstr(text, "      300 B            1   99.3 %    Leaky::grow (leaky.exe)\n"));
    assert_non_null(strstr(text, "\n1 frame is not shown: below 1 % of the process.\n"));
    assert_null(strstr(text, "0x7ff612340000"));
    capture_close(&out);
    layout.tree_min_ppm = 5000;
    capture_open(&out);
    assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
    const char *const more = capture_text(&out);
    assert_non_null(strstr(more, "        2 B            1    0.7 %    - 0x7ff6"));
    assert_null(strstr(more, "not shown"));
    capture_close(&out);
    layout.tree_min_ppm = 998000;
    capture_open(&out);
    assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
    const char *const less = capture_text(&out);
    if (strstr(less, "\n2 frames are not shown: below 99.8 % of") == NULL)
        fail_msg("%s", less);
    capture_close(&out);
}

static void negative_sums_are_drawn_by_magnitude(void **state)
{
    etlheap_table table = tree_table();
    etlheap_row row = table.rows[1];
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    row.measures[ETLHEAP_MEASURE_IMPACTING_SIZE] = -300;
    table.rows = &row;
    table.row_count = 1;
    layout.tree = ETLHEAP_TREE_CALLEES;
    layout.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    capture_open(&out);
    assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
    assert_non_null(strstr(capture_text(&out), " leaky.exe+0x20 \u2192 Leaky::grow (leaky.exe)\n"));
    capture_close(&out);
}

/* Of a chain of calls, a line has the first frame and as many of the last ones as fit. */
static void the_middle_of_a_chain_gives_way(void **state)
{
    static const struct {
        u32 width;
        bool whole, ascii;
        const char *wanted;
    } cases[] = {
        { 100, false, false,
          "%    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20 \u2192 Leaky::grow (" },
        { 96, false, false,
          "%    main,\"x\".dll+0x30 \u2192 \u2026 \u2192 Leaky::grow (leaky.exe) (3 frames)\n" },
        { 98, false, true, "%    main,\"x\".dll+0x30 -> ... (3 frames)\n" },
        { 80, false, false, "%    main,\"x\".dll+0x30 \u2192 \u2026 (3 frames)\n" },
        { 80, true, false, "%    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20 \u2192 Leaky::grow (" },
        { 0, false, false, "%    main,\"x\".dll+0x30 \u2192 leaky.exe+0x20 \u2192 Leaky::grow (" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        const etlheap_table table = tree_table();
        etlheap_layout layout = etlheap_layout_default();
        capture out;
        layout.tree = ETLHEAP_TREE_CALLEES;
        layout.width = cases[i].width;
        layout.whole = cases[i].whole;
        layout.ascii = cases[i].ascii;
        capture_open(&out);
        assert_int_equal(etlheap_write_tree_text(&table, &layout, out.sink), ETL_OK);
        const char *const text = capture_text(&out);
        if (strstr(text, cases[i].wanted) == NULL)
            fail_msg("width %u: %s", (unsigned)layout.width, text);
        capture_close(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_subtotals_largest_first),
        cmocka_unit_test(rows_without_the_measure_are_left_out_by_default),
        cmocka_unit_test(a_kind_without_the_measure_shows_a_few_rows),
        cmocka_unit_test(subtotals_include_rows_that_are_not_listed),
        cmocka_unit_test(the_limit_may_hold_for_each_kind),
        cmocka_unit_test(a_reversed_sort_reverses_every_level),
        cmocka_unit_test(a_table_without_rows_or_keys_has_no_entries),
        cmocka_unit_test(the_tree_begins_with_the_outermost_frame),
        cmocka_unit_test(the_inverted_tree_begins_with_the_innermost),
        cmocka_unit_test(small_frames_are_left_out_and_counted),
        cmocka_unit_test(negative_sums_are_drawn_by_magnitude),
        cmocka_unit_test(the_middle_of_a_chain_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
