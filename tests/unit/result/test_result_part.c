/*
 * test_result_part.c - the part of a recording that a store has, as tables of a file.
 *
 * Method: tables made by hand, whole and damaged, are loaded; queries get defaults and are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/result/result_part.h"
#include "tests/support/table_file.h"

#define SECOND INT64_C(1000000000)

#define KIND(name) (1u << ETLHEAP_KIND_##name)

/* Seconds 2 to 5, heap, of the processes 1 and 3, which "app" and "b*" name. */
static void fill(result_part *part)
{
    *part = (result_part){ .is_part = true };
    part->as_public = etlheap_part_whole();
    part->as_public.from_ns = 2 * SECOND;
    part->as_public.to_ns = 5 * SECOND;
    part->as_public.kinds = KIND(HEAP);
    assert_true(ETLHEAP_PUSH(&part->words, "app") && ETLHEAP_PUSH(&part->words, "b*"));
    assert_true(ETLHEAP_PUSH(&part->processes, 1) && ETLHEAP_PUSH(&part->processes, 3));
    result_part_complete(part);
}

static void clear(result_part *part)
{
    ETLHEAP_VECTOR_FREE(&part->words);
    ETLHEAP_VECTOR_FREE(&part->processes);
}

/* Saves the part and loads it with this many processes. */
static etl_status reload(const result_part *part, u32 process_count, table_file *file,
                         result_part *out)
{
    *file = (table_file){ 0 };
    *out = (result_part){ 0 };
    assert_true(result_part_save(&file->saver, part) && ehs_strings_save(&file->saver));
    const etl_status status = table_file_open(file, UINT64_MAX);
    return status == ETL_OK ? result_part_load(&file->loader, process_count, out) : status;
}

static void assert_damaged(const result_part *part, u32 process_count, const char *sentence)
{
    table_file file;
    result_part out;
    assert_int_equal(reload(part, process_count, &file, &out), ETL_ERR_CORRUPT);
    table_file_says(&file, sentence);
    table_file_close(&file);
    clear(&out);
}

static void a_part_is_read_as_it_was_written(void **state)
{
    result_part part, out;
    table_file file;
    (void)state;
    fill(&part);
    assert_int_equal(reload(&part, 3, &file, &out), ETL_OK);
    assert_true(out.is_part && out.by_process);
    assert_true(out.as_public.from_ns == 2 * SECOND && out.as_public.to_ns == 5 * SECOND);
    assert_int_equal(out.as_public.kinds, KIND(HEAP));
    assert_int_equal(out.as_public.process_count, 2);
    assert_string_equal(out.as_public.processes[1], "b*");
    assert_true(result_part_has(&out, 1) && result_part_has(&out, 3));
    assert_true(!result_part_has(&out, 2) && !result_part_has(&out, 4));
    table_file_close(&file);
    clear(&out);
    clear(&part);
}

static void a_whole_recording_has_no_tables(void **state)
{
    const result_part whole = { 0 };
    table_file file;
    result_part out;
    (void)state;
    assert_int_equal(reload(&whole, 3, &file, &out), ETL_OK);
    assert_false(out.is_part);
    assert_true(result_part_has(&out, 2));
    assert_false(ehs_reader_has(&file.reader, EHS_PART_FROM));
    table_file_close(&file);
    clear(&out);
}

static void damage_is_named(void **state)
{
    result_part part;
    (void)state;
    fill(&part);
    assert_damaged(&part, 2, "names a process that does not exist");
    part.processes.at[1] = 1;
    assert_damaged(&part, 3, "or one twice");
    part.processes.at[1] = 3;
    part.as_public.to_ns = SECOND;
    assert_damaged(&part, 3, "ends before it begins");
    part.as_public.to_ns = 5 * SECOND;
    part.words.count = 0;
    assert_damaged(&part, 3, "no words that name them");
    clear(&part);
}

static void words_without_a_row_are_damage(void **state)
{
    static const u32 process = 1;
    table_file file = { 0 };
    result_part out = { 0 };
    (void)state;
    table_file_add(&file, EHS_PART_PROCESS, &process, 1);
    assert_true(ehs_strings_save(&file.saver));
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(result_part_load(&file.loader, 3, &out), ETL_ERR_CORRUPT);
    table_file_says(&file, "it has processes, but no row");
    table_file_close(&file);
    clear(&out);
}

static void a_query_gets_the_part_and_keeps_what_it_says(void **state)
{
    etlheap_result result = { .info = { .end_ns = 0 } };
    etlheap_query query = etlheap_query_default();
    (void)state;
    fill(&result.part);
    result_part_default(&result, &query);
    assert_true(query.from_ns == 2 * SECOND && query.to_ns == 5 * SECOND);
    assert_int_equal(query.kinds, KIND(HEAP));
    query.from_ns = 3 * SECOND;
    result_part_default(&result, &query);
    assert_true(query.from_ns == 3 * SECOND);
    assert_int_equal(result_part_refuse(&result, &query, NULL), ETL_OK);
    clear(&result.part);
}

static void what_is_outside_is_refused(void **state)
{
    etlheap_result result = { .info = { .end_ns = 0 } };
    const etlheap_query open = etlheap_query_default();
    (void)state;
    fill(&result.part);
    for (int i = 0; i < 5; i++) {
        etlheap_query query = open;
        result_part_default(&result, &query);
        query.from_ns = i == 0 ? 2 * SECOND - 1 : i == 1 ? 6 * SECOND : query.from_ns;
        query.to_ns = i == 2 ? 5 * SECOND + 1 : i == 3 ? SECOND : query.to_ns;
        query.kinds = i == 4 ? KIND(HEAP) | KIND(EXTENT) : query.kinds;
        assert_int_equal(result_part_refuse(&result, &query, NULL), ETL_ERR_UNSUPPORTED);
    }
    clear(&result.part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_read_as_it_was_written),
        cmocka_unit_test(a_whole_recording_has_no_tables),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(words_without_a_row_are_damage),
        cmocka_unit_test(a_query_gets_the_part_and_keeps_what_it_says),
        cmocka_unit_test(what_is_outside_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
