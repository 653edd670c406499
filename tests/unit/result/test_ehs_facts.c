/*
 * Goal: what a result says besides events is the same after it was kept in a
 * store, word by word.
 * Method: traces with every kind of event, analyzed, kept and read back, compared
 * as text; facts that cannot be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <xxhash.h>

#include "engine/result/ehs_facts.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/ehs_stacks.h"
#include "tests/support/run_check.h"
#include "tests/build/scenario.h"

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

/* Facts, stacks and all lifetimes as a file. */
static ehs_bytes keep_result(const etlheap_result *result)
{
    ehs_bytes file = { 0 };
    ehs_saver saver = { 0 };
    ehs_writer writer;
    assert_true(ehs_facts_save(&saver, result));
    assert_true(ehs_stacks_save(&saver, &result->stacks));
    for (u32 i = 0; i < etlheap_segment_count(result); i++) {
        const etlheap_segment rows = etlheap_segment_of(result, i);
        assert_true(ehs_rows_encode(&saver.blocks, &saver.codec, i, &rows));
    }
    assert_true(ehs_strings_save(&saver));
    assert_int_equal(ehs_writer_open(&writer, keep, &file, EHS_CONTENT_STORE), ETL_OK);
    assert_int_equal(ehs_writer_put(&writer, &saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    ehs_saver_free(&saver);
    return file;
}

static etl_status read_result(const ehs_bytes *file, etlheap_result **out, etl_error *err)
{
    etlheap_result *const result = calloc(1, sizeof *result);
    assert_non_null(result);
    result->mode = RESULT_LIFETIMES;
    const etl_bytes bytes = { file->at, file->count };
    ehs_reader reader;
    assert_int_equal(ehs_reader_open(&reader, bytes, err), ETL_OK);
    ehs_loader loader = { .reader = &reader,
                          .arena = &result->context.strings.arena,
                          .bytes_left = UINT64_MAX,
                          .err = err };
    etl_status status = ehs_loader_open(&loader);
    if (status == ETL_OK)
        status = ehs_facts_load(&loader, result);
    if (status == ETL_OK)
        status = ehs_stacks_load(&loader, EHS_FRAMES_ADDRESSES, &result->stacks);
    u32 lacks = 0;
    const ehs_rows_out rows = { &result->store, &result->unmatched, &lacks, UINT32_MAX };
    const ehs_bounds bounds = { (u32)result->processes.count, (u32)result->stacks.list.count,
                                &result->foreign };
    if (status == ETL_OK)
        status = ehs_rows_load(&loader, &bounds, &rows);
    ehs_loader_free(&loader);
    ehs_reader_close(&reader);
    *out = result;
    return status;
}

static etlheap_result *analyze_scenario(const char *name, check_traces *traces)
{
    scenario_run run = { .seed = 5, .operations = 3000, .cpus = 4 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 4, .session_name = "kept" });
    assert_true(scenario_write(scenario_find(name), &run, b));
    scenario_run_free(&run);
    check_open(traces, b);
    return check_analyze(traces, NULL);
}

static void a_result_says_the_same_after_it_was_kept(void **state)
{
    (void)state;
    for (const scenario *s = scenarios; s->name != NULL; s++) {
        check_traces traces = { 0 };
        etlheap_result *const given = analyze_scenario(s->name, &traces), *got;
        ehs_bytes file = keep_result(given);
        etl_error err = { .message = "" };
        assert_int_equal(read_result(&file, &got, &err), ETL_OK);
        char *const before = check_result_text(given), *const after = check_result_text(got);
        if (!check_same_text(before, after))
            fail_msg("%s differs", s->name);
        assert_memory_equal(&got->abilities, &given->abilities, sizeof got->abilities);
        assert_int_equal(got->first_ticks, given->first_ticks);
        assert_int_equal(got->last_ticks, given->last_ticks);
        assert_int_equal(got->context.volumes.count, given->context.volumes.count);
        assert_int_equal(got->heap_sizes.count, given->heap_sizes.count);
        for (size_t i = 0; i < got->heap_sizes.count; i++) {
            const heap_size *const kept = &got->heap_sizes.at[i], *const had =
                                                                      &given->heap_sizes.at[i];
            assert_int_equal(kept->process, had->process);
            assert_int_equal(kept->handle, had->handle);
            assert_int_equal(kept->ticks, had->ticks);
            assert_int_equal(kept->committed, had->committed);
            assert_int_equal(kept->reserved, had->reserved);
            assert_int_equal(kept->decommitted, had->decommitted);
        }
        free(before);
        free(after);
        etlheap_result_free(given);
        etlheap_result_free(got);
        check_close(&traces);
        ETLHEAP_VECTOR_FREE(&file);
    }
}

/* Format 2.3 had no heap_size.decommitted. */
static void older_stores_do_not_know_what_heaps_decommitted(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *const given = analyze_scenario("heap-pages", &traces), *got;
    ehs_bytes file = keep_result(given);
    file.at[10] = 3;
    const u64 sum = XXH3_64bits(file.at, 24);
    memcpy(file.at + 24, &sum, sizeof sum);
    assert_int_equal(read_result(&file, &got, NULL), ETL_OK);
    assert_in_range(got->heap_sizes.count, 100, 1000);
    for (size_t i = 0; i < got->heap_sizes.count; i++) {
        assert_int_equal(got->heap_sizes.at[i].committed, given->heap_sizes.at[i].committed);
        assert_true(got->heap_sizes.at[i].decommitted == HEAP_SIZE_UNKNOWN);
    }
    etlheap_result_free(given);
    etlheap_result_free(got);
    check_close(&traces);
    ETLHEAP_VECTOR_FREE(&file);
}

static void a_kept_result_groups_and_names_frames_alike(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *const given = analyze_scenario("kitchen-sink", &traces), *got;
    ehs_bytes file = keep_result(given);
    assert_int_equal(read_result(&file, &got, NULL), ETL_OK);
    const etlheap_query query = etlheap_query_default();
    char *const before = check_aggregate_text(given, &query);
    char *const after = check_aggregate_text(got, &query);
    assert_true(check_same_text(before, after));
    free(before);
    free(after);
    etlheap_result_free(given);
    etlheap_result_free(got);
    check_close(&traces);
    ETLHEAP_VECTOR_FREE(&file);
}

/* Turns one thing of a sound result into what cannot be. */
typedef void spoil_fn(etlheap_result *result);

static void stop_the_clock(etlheap_result *result)
{
    result->info.clock_hz = 0;
}

static void race_the_clock(etlheap_result *result)
{
    result->info.clock_hz = UINT64_MAX;
}

static void swap_modules(etlheap_result *result)
{
    etlheap_module_info *const list = result->modules.list.at;
    const etlheap_module_info first = list[0];
    list[0] = list[1];
    list[1] = first;
}

static void swap_heap_sizes(etlheap_result *result)
{
    heap_size *const list = result->heap_sizes.at;
    const heap_size first = list[0];
    assert_true(result->heap_sizes.count > 1);
    list[0] = list[1];
    list[1] = first;
}

static void give_a_heap_to_nobody(etlheap_result *result)
{
    result->heap_sizes.at[result->heap_sizes.count - 1].process = (u32)result->processes.count + 1;
}

static void add_names(etlheap_result *result, u64 first, u64 second)
{
    logged_names *const names = &result->context.logged_names;
    assert_true(ETLHEAP_PUSH(&names->list, ((logged_name){ first, "Event" })));
    assert_true(ETLHEAP_PUSH(&names->list, ((logged_name){ second, "File" })));
}

static void name_out_of_order(etlheap_result *result)
{
    add_names(result, logged_heap(5, 17), logged_heap(5, 17));
}

static void name_an_address(etlheap_result *result)
{
    add_names(result, 0x1f2a0000000, logged_heap(5, 17));
}

static void logged_names_are_kept(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *const given = analyze_scenario("demo", &traces), *got;
    add_names(given, logged_heap(5, 17), logged_heap(7, 0xffffa70000100040));
    ehs_bytes file = keep_result(given);
    assert_int_equal(read_result(&file, &got, NULL), ETL_OK);
    const logged_names *const names = &got->context.logged_names;
    assert_int_equal(names->list.count, 2);
    assert_string_equal(logged_names_find(names, logged_heap(5, 17)), "Event");
    assert_string_equal(logged_names_find(names, logged_heap(7, 0xffffa70000100040)), "File");
    etlheap_result_free(got);
    etlheap_result_free(given);
    check_close(&traces);
    ETLHEAP_VECTOR_FREE(&file);
}

static void facts_that_cannot_be_are_refused(void **state)
{
    (void)state;
    spoil_fn *const spoils[] = { stop_the_clock,  race_the_clock,        swap_modules,
                                 swap_heap_sizes, give_a_heap_to_nobody, name_out_of_order,
                                 name_an_address };
    for (size_t i = 0; i < ETL_COUNT_OF(spoils); i++) {
        check_traces traces = { 0 };
        etlheap_result *const given = analyze_scenario("kitchen-sink", &traces), *got;
        spoils[i](given);
        ehs_bytes file = keep_result(given);
        etl_error err = { .message = "" };
        assert_int_equal(read_result(&file, &got, &err), ETL_ERR_CORRUPT);
        assert_true(err.message[0] != '\0');
        etlheap_result_free(given);
        etlheap_result_free(got);
        check_close(&traces);
        ETLHEAP_VECTOR_FREE(&file);
    }
}

static void a_store_without_facts_is_refused(void **state)
{
    (void)state;
    ehs_bytes file = { 0 };
    ehs_writer writer;
    etlheap_result *got;
    etl_error err;
    assert_int_equal(ehs_writer_open(&writer, keep, &file, EHS_CONTENT_STORE), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    assert_int_equal(read_result(&file, &got, &err), ETL_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "the table of the trace is damaged"));
    etlheap_result_free(got);
    ETLHEAP_VECTOR_FREE(&file);
}

static void diagnostics_are_kept_by_name(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *const given = analyze_scenario("demo", &traces), *got;
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        given->diag.of[i] = (u64)i % 3 * 1000 + (u64)i % 3;
    ehs_bytes file = keep_result(given);
    assert_int_equal(read_result(&file, &got, NULL), ETL_OK);
    assert_memory_equal(&got->diag, &given->diag, sizeof got->diag);
    etlheap_result_free(got);
    etlheap_result_free(given);
    check_close(&traces);
    ETLHEAP_VECTOR_FREE(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_says_the_same_after_it_was_kept),
        cmocka_unit_test(older_stores_do_not_know_what_heaps_decommitted),
        cmocka_unit_test(a_kept_result_groups_and_names_frames_alike),
        cmocka_unit_test(logged_names_are_kept),
        cmocka_unit_test(facts_that_cannot_be_are_refused),
        cmocka_unit_test(a_store_without_facts_is_refused),
        cmocka_unit_test(diagnostics_are_kept_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
