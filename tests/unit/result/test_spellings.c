/*
 * test_spellings.c - names of processes and modules that differ in case.
 *
 * Goal: one name is one row, one text and one module of a summary, whichever spelling
 * was recorded first. Method: results made by hand, whose names are spelled in several
 * ways, in both orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/fold/aggregate.h"
#include "engine/result/spellings.h"
#include "engine/summary/summary_build.h"
#include "tests/support/hand_result.h"
#include "tests/support/summary_runs.h"

#define T0 HAND_START_TICKS

/* Two owners of one pid, and a module of each, with a block allocated in it. */
static etlheap_result *result_of(const char *const processes[2], const char *const paths[2])
{
    etlheap_result *const result = hand_result_new();
    for (u32 i = 0; i < 2; i++) {
        const u64 base = 0x10000 * (i + 1);
        const u64 frame = base + 0x100;
        const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_DCSTART,
                                        .pid = 42,
                                        .base = base,
                                        .size_bytes = 0x1000 * (i + 1),
                                        .ticks = T0,
                                        .path = paths[i] };
        hand_image(&result->context, &image);
        const lifetime row = { .process = hand_process(result, 42, processes[i]),
                               .stack = hand_stack(result, &frame, 1),
                               .alloc_ticks = T0 + 1,
                               .free_ticks = ETLHEAP_TICKS_NEVER,
                               .size = 100 };
        hand_lifetime(result, &row);
    }
    hand_ready(result, T0 + 10);
    return result;
}

static etlheap_table *table_by(const etlheap_result *result, etlheap_key key)
{
    etlheap_table *table;
    etl_error err;
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = key;
    query.group_by_count = 1;
    assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_OK);
    return table;
}

/* Of both orders: one row, which is named like this. */
static void is_one(etlheap_key key, const char *a, const char *b, const char *shown)
{
    const char *const names[][2] = { { a, b }, { b, a } };
    const char *const other[2] = { "x", "x" };
    for (u32 i = 0; i < 2; i++) {
        const bool by_process = key == ETLHEAP_KEY_PROCESS;
        etlheap_result *const result =
            result_of(by_process ? names[i] : other, by_process ? other : names[i]);
        etlheap_table *const table = table_by(result, key);
        assert_int_equal(table->row_count, 1);
        assert_string_equal(by_process ? table->rows[0].process : table->rows[0].module, shown);
        assert_int_equal(table->rows[0].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], 2);
        etlheap_table_free(table);
        etlheap_result_free(result);
    }
}

static void names_that_differ_in_case_are_one_row(void **unused)
{
    (void)unused;
    is_one(ETLHEAP_KEY_PROCESS, "app.exe", "App.EXE", "App.EXE");
    is_one(ETLHEAP_KEY_PROCESS, "übung.exe", "Übung.exe", "Übung.exe");
    is_one(ETLHEAP_KEY_MODULE, "\\D\\kernel32.dll", "\\D\\KERNEL32.DLL", "KERNEL32.DLL");
    /* hand_image makes a UTF-16 unit of each byte. */
    is_one(ETLHEAP_KEY_MODULE, "\\D\\\xdcz.dll", "\\E\\\xfcZ.DLL", "Üz.dll");
}

static void paths_stay_as_recorded_and_other_names_as_they_are(void **unused)
{
    (void)unused;
    const char *const processes[2] = { "app.exe", "apq.exe" };
    const char *const paths[2] = { "\\D\\a.dll", "\\D\\A.DLL" };
    etlheap_result *const result = result_of(processes, paths);
    etlheap_table *const table = table_by(result, ETLHEAP_KEY_PROCESS);
    assert_int_equal(table->row_count, 2);
    assert_string_equal(etlheap_module_of(result, 0)->name, "A.DLL");
    assert_string_equal(etlheap_module_of(result, 0)->path, "\\D\\a.dll");
    assert_string_equal(etlheap_module_of(result, 1)->path, "\\D\\A.DLL");
    assert_true(spellings_set(result));
    assert_string_equal(etlheap_module_of(result, 1)->name, "A.DLL");
    etlheap_table_free(table);
    etlheap_result_free(result);
}

/* A module of build `build`, its name and its PDB's spelled like this. */
static u32 add_module(etlheap_summary *s, const char *name, const char *pdb, u8 build)
{
    const etlheap_module_info module = { .name = name,
                                         .path = name,
                                         .pdb_name = pdb,
                                         .size_bytes = 0x1000,
                                         .has_rsds = true,
                                         .guid.bytes = { build },
                                         .age = 1 };
    u32 number;
    assert_true(summary_intern_module(s, &module, &number));
    return number;
}

/* Whatever comes first: numbers, names and order of what comes out. */
static void a_summary_spells_as_no_order_of_merging_changes(void **unused)
{
    (void)unused;
    static const u32 orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 2, 0, 1 } };
    static const char *const names[] = { "Lib.dll", "lib.dll", "LIB.DLL" };
    static const char *const pdbs[] = { "lib.pdb", "LIB.pdb", "Lib.pdb" };
    for (size_t i = 0; i < ETL_COUNT_OF(orders); i++) {
        etl_error err;
        etlheap_result *result;
        etlheap_summary *const s = summary_begin(0);
        u32 process, first_process = 0;
        for (u32 k = 0; k < 3; k++) {
            const u32 which = orders[i][k];
            assert_int_equal(add_module(s, names[which], pdbs[which], 1), 1);
            assert_true(summary_intern_process(s, names[which], &process));
            first_process = k == 0 ? process : first_process;
            assert_int_equal(process, first_process);
        }
        assert_int_equal(add_module(s, "lib.dll", "lib.pdb", 2), 2);
        assert_int_equal(summary_finish(s, &result, &err), ETL_OK);
        assert_int_equal(etlheap_module_count(result), 2);
        assert_int_equal(etlheap_module_of(result, 0)->guid.bytes[0], 1);
        assert_string_equal(etlheap_module_of(result, 0)->pdb_name, "LIB.pdb");
        /* Builds stay apart, and have one name. */
        assert_string_equal(etlheap_module_of(result, 0)->name, "LIB.DLL");
        assert_string_equal(etlheap_module_of(result, 1)->name, "LIB.DLL");
        assert_int_equal(etlheap_process_count(result), 1);
        assert_string_equal(etlheap_process_of(result, (etlheap_process){ 1 })->name, "LIB.DLL");
        etlheap_result_free(result);
        etlheap_summary_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_differ_in_case_are_one_row),
        cmocka_unit_test(paths_stay_as_recorded_and_other_names_as_they_are),
        cmocka_unit_test(a_summary_spells_as_no_order_of_merging_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
