/*
 * Goal: groups of two tables are the same when their keys are, wherever modules lie; an
 * offset counts in one build only.
 * Method: pairs of small tables made by hand, and results with modules of known builds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "diff_tables.h"
#include "tests/support/hand_result.h"

/* --- what is the same ---------------------------------------------------------------- */

static void processes_and_modules_match_in_any_case_and_by_no_number(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "App.exe", "KERNEL32.dll", 16, 100);
    diff_input_simple(&now, "x.exe", "x.exe", 1, 1);
    diff_input_simple(&now, "app.EXE", "kernel32.DLL", 16, 100);
    now.frames[1].address = 0x7ff612345678;
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 1);
    assert_string_equal(diff->table.rows[0].process, "x.exe");
    assert_int_equal(diff->table.rows[0].pid, ETL_NO_ID);
    etlheap_diff_free(diff);
}

static void rows_of_one_side_that_are_the_same_are_summed(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 1, 30);
    diff_input_simple(&now, "A.exe", "a.exe", 1, 40);
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 1);
    assert_int_equal(diff_size_change(diff, 0), -30);
    etlheap_diff_free(diff);
}

/* The base's spelling is shown, of what it does not have the new side's. */
static void names_are_spelled_as_in_the_base(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "Übung.exe", "KERNEL32.dll", 1, 100);
    diff_input_simple(&now, "übung.EXE", "kernel32.DLL", 1, 300);
    diff_input_simple(&now, "übung.EXE", "kernel32.DLL", 2, 200);
    diff_input_simple(&now, "ÜBUNG.exe", "übung.Exe", 3, 50); /* a module, no process */
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 3);
    for (u32 i = 0; i < 3; i++)
        assert_string_equal(diff->table.rows[i].process, "Übung.exe");
    assert_int_equal(diff_size_change(diff, 0) + diff_size_change(diff, 1), 400);
    assert_string_equal(diff->table.frames[0].module, "KERNEL32.dll");
    assert_string_equal(diff->table.frames[1].module, "KERNEL32.dll");
    assert_string_equal(diff->table.frames[2].module, "übung.Exe");
    etlheap_diff_free(diff);
}

/* The position of a lambda is part of its name, and a comment line above changes it. */
static void names_match_without_what_a_build_changes(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 2, 130);
    diff_input_simple(&now, "a.exe", "a.exe", 3, 50);
    base.frames[0].symbol = "App::call<`lambda at leak.cpp:3:51'>";
    now.frames[0].symbol = "App::call<`lambda at leak.cpp:4:51'>";
    now.frames[0].line = 4;
    now.frames[1].symbol = "f<`lambda at leak.cpp:9:1'>";
    etlheap_diff *diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    assert_string_equal(diff_state_word(diff, 0), "added");
    assert_string_equal(diff_state_word(diff, 1), "grown");
    assert_int_equal(diff_size_change(diff, 1), 30);
    const etlheap_frame *const frames = diff->table.frames;
    assert_string_equal(frames[0].symbol, now.frames[1].symbol);
    assert_string_equal(frames[1].symbol, base.frames[0].symbol);
    assert_int_equal(frames[1].line, 4);
    assert_int_equal(diff->merged_count, 0);
    etlheap_diff_free(diff);
}

static void rows_that_fall_together_are_added_and_counted(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&base, "a.exe", "a.exe", 2, 10);
    diff_input_simple(&now, "a.exe", "a.exe", 3, 20);
    diff_input_simple(&now, "a.exe", "a.exe", 4, 30);
    static const char *const symbols[] = { "f::<lambda_1>::operator()", "f::<lambda_2>::operator()",
                                           "f::<lambda_3>::operator()", "g" };
    for (u32 i = 0; i < 2; i++) {
        base.frames[i].symbol = symbols[i];
        now.frames[i].symbol = symbols[i + 2];
    }
    etlheap_diff *diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    assert_int_equal(diff_size_change(diff, 0), -90);
    assert_string_equal(diff->table.frames[0].symbol, symbols[0]);
    assert_int_equal(diff->merged_count, 1);
    etlheap_diff_free(diff);
    base.frames[1].symbol = symbols[0]; /* two places of one function */
    diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    assert_int_equal(diff->merged_count, 0);
    etlheap_diff_free(diff);
}

static void types_match_without_what_a_build_changes(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    base.keys[2] = now.keys[2] = ETLHEAP_KEY_TYPE_NAME;
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100)->type_name = "task<main::<lambda_1> >";
    diff_input_simple(&now, "a.exe", "a.exe", 1, 130)->type_name = "task<main::<lambda_2> >";
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 1);
    assert_int_equal(diff_size_change(diff, 0), 30);
    assert_string_equal(diff->table.rows[0].type_name, "task<main::<lambda_1> >");
    etlheap_diff_free(diff);
}

/* The newest run's row, with the names of the first. */
static void trends_join_what_a_build_renames(void **unused)
{
    (void)unused;
    static const char *const symbols[] = { "f::{closure#0}", "f::{closure#1}", "f::{closure#2}" };
    diff_input runs[3];
    const etlheap_table *tables[3];
    for (u32 i = 0; i < 3; i++) {
        diff_input_open(&runs[i]);
        diff_input_simple(&runs[i], "a.exe", "a.exe", i + 1, 100 * (i64)(i + 1));
        runs[i].frames[0].symbol = symbols[i];
        tables[i] = &runs[i].table;
    }
    etlheap_trend *trend = NULL;
    assert_int_equal(etlheap_trend_tables(tables, NULL, 3, NULL, &trend, NULL), ETL_OK);
    assert_int_equal(trend->table.row_count, 1);
    assert_int_equal(trend->values[0], 100);
    assert_int_equal(trend->values[2], 300);
    assert_string_equal(trend->table.frames[0].symbol, symbols[0]);
    assert_int_equal(trend->merged_count, 0);
    etlheap_trend_free(trend);
}

static void names_decide_when_there_are_any(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 2, 100); /* elsewhere in the function */
    base.frames[0].symbol = "grow";
    now.frames[0].symbol = "grow";
    etlheap_diff *diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 0);
    etlheap_diff_free(diff);
    now.frames[0].symbol = "Grow"; /* case counts in names */
    diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    etlheap_diff_free(diff);
}

static u32 line_stack(diff_input *t, const char *file, u32 line)
{
    diff_input_frame(
        t, (etlheap_frame){
               .module = "a.exe", .offset = line, .symbol = "grow", .file = file, .line = line });
    diff_input_frame(
        t, (etlheap_frame){
               .module = "a.exe", .offset = 1, .symbol = "main", .file = "m.cpp", .line = 7 });
    return diff_input_stack(t);
}

/* Stacks that differ only in lines are one row, which names them all: those of the shown side. */
static void a_row_names_all_its_lines(void **unused)
{
    static const etlheap_source_line wanted[] = { { "a.cpp", 41 }, { "a.cpp", 45 }, { "b.h", 3 } };
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_row(&base, "a.exe", line_stack(&base, "a.cpp", 39), 10, 1);
    diff_input_row(&now, "a.exe", line_stack(&now, "a.cpp", 45), 100, 1);
    diff_input_row(&now, "a.exe", line_stack(&now, "b.h", 3), 50, 1);
    diff_input_row(&now, "a.exe", line_stack(&now, "a.cpp", 41), 20, 1);
    diff_input_row(&now, "b.exe", 0, 20, 1); /* shares a stack, but no row */
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    const etlheap_table *const table = &diff->table;
    assert_int_equal(table->row_count, 2);
    assert_int_equal(diff_size_change(diff, 0), 160);
    const u32 *const indices = table->frame_indices + table->stack_starts[table->rows[0].stack];
    const etlheap_frame *const frame = &table->frames[indices[0]];
    assert_int_equal(frame->line, 45); /* of the first row */
    assert_int_equal(frame->line_count, 3);
    for (u32 i = 0; i < 3; i++) {
        assert_string_equal(frame->lines[i].file, wanted[i].file);
        assert_int_equal(frame->lines[i].line, wanted[i].line);
    }
    assert_null(table->frames[indices[1]].lines);
    const u32 other = table->frame_indices[table->stack_starts[table->rows[1].stack]];
    assert_null(table->frames[other].lines);
    assert_int_equal(table->frames[other].line, 45);
    etlheap_diff_keep_top(diff, 1);
    assert_int_equal(table->frames[indices[0]].line_count, 3);
    etlheap_diff_free(diff);
}

static void guesses_are_no_names_in_one_build(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100);
    diff_input_simple(&now, "a.exe", "a.exe", 2, 100);
    base.frames[0].symbol = now.frames[0].symbol = "Export";
    base.frames[0].is_nearest = now.frames[0].is_nearest = true;
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    etlheap_diff_free(diff);
}

static void frames_outside_of_modules_are_alike_but_count(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_frame(&base, (etlheap_frame){ .address = 0x1000 });
    diff_input_row(&base, "a.exe", diff_input_stack(&base), 5, 1);
    diff_input_frame(&now, (etlheap_frame){ .address = 0x2000 });
    diff_input_row(&now, "a.exe", diff_input_stack(&now), 5, 1);
    etlheap_diff *diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 0);
    etlheap_diff_free(diff);
    diff_input_frame(&now, (etlheap_frame){ .address = 0x2000 });
    diff_input_frame(&now, (etlheap_frame){ .address = 0x3000 });
    now.rows[0].stack = diff_input_stack(&now);
    diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    etlheap_diff_free(diff);
}

static void a_row_without_a_stack_is_not_one_with_an_empty_one(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_row(&base, "a.exe", ETLHEAP_NO_INDEX, 5, 1);
    diff_input_row(&now, "a.exe", diff_input_stack(&now), 5, 1);
    etlheap_diff *const diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    etlheap_diff_free(diff);
}

static void keys_that_are_not_asked_for_tell_nothing_apart(void **unused)
{
    (void)unused;
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    base.keys[1] = now.keys[1] = ETLHEAP_KEY_SIZE_CLASS;
    base.table.group_by_count = now.table.group_by_count = 2;
    diff_input_simple(&base, "a.exe", "a.exe", 1, 100)->size_class_bytes = 64;
    diff_input_simple(&now, "b.exe", "b.exe", 2, 100)->size_class_bytes = 64;
    etlheap_diff *diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 0);
    etlheap_diff_free(diff);
    now.rows[0].size_class_bytes = 128;
    diff = diff_input_make(&base, &now, NULL);
    assert_int_equal(diff->table.row_count, 2);
    etlheap_diff_free(diff);
}

/* --- builds --------------------------------------------------------------------------- */

static etlheap_result *result_of_build(u32 stamp, u8 mark)
{
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 42,
                                    .base = 0x10000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS,
                                    .path = "\\Device\\HarddiskVolume3\\App.exe",
                                    .time_date_stamp = stamp };
    etlheap_result *const result = hand_result_new();
    hand_process(result, 42, "App.exe");
    if (mark != 0)
        hand_rsds(&result->context, &image, mark, "app.pdb");
    hand_image(&result->context, &image);
    hand_ready(result, HAND_START_TICKS + 1000);
    return result;
}

/* Rows of a diff of two equal tables whose results have these builds. */
static u32 rows_between_builds(const u32 stamps[2], const u8 marks[2], const char *symbol,
                               u32 *rebuilt_count)
{
    diff_input base, now;
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "App.exe", "App.exe", 1, 100);
    diff_input_simple(&now, "App.exe", "app.exe", 1, 100);
    base.frames[0].symbol = now.frames[0].symbol = symbol;
    base.frames[0].is_nearest = now.frames[0].is_nearest = symbol != NULL;
    etlheap_result *const results[] = { result_of_build(stamps[0], marks[0]),
                                        result_of_build(stamps[1], marks[1]) };
    etlheap_diff_options options = etlheap_diff_options_default();
    options.base_result = results[0];
    options.new_result = results[1];
    etlheap_diff *const diff = diff_input_make(&base, &now, &options);
    const u32 rows = diff->table.row_count;
    *rebuilt_count = diff->rebuilt_count;
    if (diff->rebuilt_count > 0)
        assert_string_equal(diff->rebuilt[0], "App.exe");
    etlheap_diff_free(diff);
    etlheap_result_free(results[0]);
    etlheap_result_free(results[1]);
    return rows;
}

static void offsets_match_within_one_build_only(void **unused)
{
    (void)unused;
    u32 rebuilt;
    assert_int_equal(rows_between_builds((u32[]){ 5, 5 }, (u8[]){ 0, 0 }, NULL, &rebuilt), 0);
    assert_int_equal(rebuilt, 0);
    assert_int_equal(rows_between_builds((u32[]){ 5, 6 }, (u8[]){ 0, 0 }, NULL, &rebuilt), 2);
    assert_int_equal(rebuilt, 1);
    assert_int_equal(rows_between_builds((u32[]){ 5, 5 }, (u8[]){ 1, 2 }, NULL, &rebuilt), 2);
    assert_int_equal(rebuilt, 1);
    assert_int_equal(rows_between_builds((u32[]){ 5, 5 }, (u8[]){ 1, 1 }, NULL, &rebuilt), 0);
}

/* A recording that was not merged has no PDB's identity, and some have no stamp. */
static void builds_that_may_be_the_same_are_the_same(void **unused)
{
    (void)unused;
    u32 rebuilt;
    assert_int_equal(rows_between_builds((u32[]){ 5, 5 }, (u8[]){ 1, 0 }, NULL, &rebuilt), 0);
    assert_int_equal(rows_between_builds((u32[]){ 0, 6 }, (u8[]){ 0, 0 }, NULL, &rebuilt), 0);
    assert_int_equal(rebuilt, 0);
}

/* GUIDs that differ in all but what makes them hashes of names: 4 is random, 5 a hash. */
static u32 rows_between_spellings(u8 version, const char *base_pdb, const char *new_pdb)
{
    const char *const pdbs[2] = { base_pdb, new_pdb };
    diff_input base, now;
    etlheap_result *results[2];
    etlheap_diff_options options = etlheap_diff_options_default();
    diff_input_open(&base);
    diff_input_open(&now);
    diff_input_simple(&base, "App.exe", "App.exe", 1, 100);
    diff_input_simple(&now, "app.exe", "app.exe", 1, 100);
    for (u32 i = 0; i < 2; i++) {
        results[i] = result_of_build(0, (u8)(i + 1));
        etlheap_module_info *const module = &results[i]->modules.list.at[0];
        module->pdb_name = pdbs[i];
        module->guid.bytes[7] = (u8)(version << 4);
        module->guid.bytes[8] = 0x80;
    }
    options.base_result = results[0];
    options.new_result = results[1];
    etlheap_diff *const diff = diff_input_make(&base, &now, &options);
    const u32 rows = diff->table.row_count;
    etlheap_diff_free(diff);
    etlheap_result_free(results[0]);
    etlheap_result_free(results[1]);
    return rows;
}

static void guids_made_of_names_tell_no_spellings_apart(void **unused)
{
    (void)unused;
    assert_int_equal(rows_between_spellings(5, "App.pdb", "app.pdb"), 0);
    assert_int_equal(rows_between_spellings(3, "App.pdb", "app.pdb"), 0);
    assert_int_equal(rows_between_spellings(4, "App.pdb", "app.pdb"), 2);
    assert_int_equal(rows_between_spellings(5, "App.pdb", "App.pdb"), 2);
    assert_int_equal(rows_between_spellings(5, "App.pdb", "app2.pdb"), 2);
}

static void guesses_are_names_between_builds(void **unused)
{
    (void)unused;
    u32 rebuilt;
    assert_int_equal(rows_between_builds((u32[]){ 5, 6 }, (u8[]){ 0, 0 }, "Export", &rebuilt), 0);
    assert_int_equal(rebuilt, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_and_modules_match_in_any_case_and_by_no_number),
        cmocka_unit_test(rows_of_one_side_that_are_the_same_are_summed),
        cmocka_unit_test(names_are_spelled_as_in_the_base),
        cmocka_unit_test(names_match_without_what_a_build_changes),
        cmocka_unit_test(rows_that_fall_together_are_added_and_counted),
        cmocka_unit_test(types_match_without_what_a_build_changes),
        cmocka_unit_test(trends_join_what_a_build_renames),
        cmocka_unit_test(names_decide_when_there_are_any),
        cmocka_unit_test(a_row_names_all_its_lines),
        cmocka_unit_test(guesses_are_no_names_in_one_build),
        cmocka_unit_test(frames_outside_of_modules_are_alike_but_count),
        cmocka_unit_test(a_row_without_a_stack_is_not_one_with_an_empty_one),
        cmocka_unit_test(keys_that_are_not_asked_for_tell_nothing_apart),
        cmocka_unit_test(offsets_match_within_one_build_only),
        cmocka_unit_test(builds_that_may_be_the_same_are_the_same),
        cmocka_unit_test(guids_made_of_names_tell_no_spellings_apart),
        cmocka_unit_test(guesses_are_names_between_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
