/*
 * Goal: a store says of each column whether it was recorded. What a store lacks is no zero: a
 * question that needs it is refused with a sentence, every other one is answered as before;
 * a store that lacks what it must have is damaged; what a later version adds is passed over.
 * Method: the store of a random workload, written again without each of its columns in turn,
 * and with columns and kinds that nobody knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <xxhash.h>

#include "engine/etlheap_lifetimes.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"
#include "tests/build/workload.h"

typedef struct fixture {
    ehs_bytes file;
    char path[TEMPORARY_PATH_BYTES];
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    const int file = temporary_file(f->path, "test-archive-columns");
    if (file >= 0)
        close(file);
    check_traces traces = { 0 };
    const workload_options options = { .seed = 77 };
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 });
    workload_write(w, b, b);
    workload_free(w);
    check_open(&traces, b);
    f->file = store_check_write(&traces, NULL, NULL);
    check_close(&traces);
    *state = f;
    return file < 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    unlink(f->path);
    ETLHEAP_VECTOR_FREE(&f->file);
    free(f);
    return 0;
}

/* Puts the bytes to the fixture's path, and frees them. */
static void write_file(const fixture *f, ehs_bytes *bytes)
{
    FILE *const file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->at, 1, bytes->count, file), bytes->count);
    assert_int_equal(fclose(file), 0);
    ETLHEAP_VECTOR_FREE(bytes);
}

static void write_without(const fixture *f, ehs_column column)
{
    ehs_bytes bytes = store_check_rewrite(&f->file, &column, NULL);
    write_file(f, &bytes);
}

static etlheap_result *open_store(const fixture *f, const etlheap_query *query)
{
    const etlheap_options options = { .size = sizeof options, ASKED_EVENTS(query) };
    etlheap_result *result = NULL;
    etl_error err = { .message = "" };
    if (etlheap_open_store(f->path, &options, &result, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return result;
}

static etlheap_query by_thread(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_PROCESS;
    query.group_by[1] = ETLHEAP_KEY_THREAD;
    query.group_by_count = 2;
    return query;
}

static char *answer(const fixture *f, const etlheap_query *query)
{
    etlheap_result *const result = open_store(f, query);
    char *const text = check_aggregate_text(result, query);
    etlheap_result_free(result);
    return text;
}

static void expect_refused(etl_status status, const etl_error *err, const char *part)
{
    assert_int_equal(status, ETL_ERR_ARGUMENT);
    if (strstr(err->message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, err->message);
}

static void expect_no_report(const fixture *f, const etlheap_query *query, const char *part)
{
    etlheap_result *const result = open_store(f, query);
    etlheap_table *table = NULL;
    etl_error err = { .message = "" };
    expect_refused(etlheap_aggregate(result, query, &table, &err), &err, part);
    assert_null(table);
    etlheap_result_free(result);
}

static void expect_no_list(const fixture *f, const char *part)
{
    etlheap_query query = etlheap_query_default();
    etlheap_result *const result = open_store(f, &query);
    const etlheap_lifetimes_options options = { .size = sizeof options };
    etlheap_lifetimes *walk = NULL;
    etl_error err = { .message = "" };
    expect_refused(etlheap_lifetimes_open(result, &query, &options, &walk, &err), &err, part);
    assert_null(walk);
    etlheap_result_free(result);
}

/* Without a report all lifetimes become columns in memory, those of the file's too. */
static void expect_no_columns(const fixture *f, const char *part)
{
    etlheap_result *result = NULL;
    etl_error err = { .message = "" };
    expect_refused(etlheap_open_store(f->path, NULL, &result, &err), &err, part);
    assert_null(result);
}

static void expect_same_answer(const fixture *f, const etlheap_query *query, char *expected)
{
    char *const found = answer(f, query);
    assert_true(check_same_text(expected, found));
    free(found);
    free(expected);
}

static void a_store_without_threads_refuses_questions_about_threads(void **state)
{
    const fixture *const f = *state;
    static const char sentence[] = "does not contain the threads of allocations";
    etlheap_query totals = etlheap_query_default(), sizes = totals, one = totals;
    const u32 threads[] = { 7 };
    sizes.group_by[0] = ETLHEAP_KEY_SIZE_CLASS; /* blocks are looked at one by one */
    sizes.group_by_count = 1;
    one.threads = threads;
    one.thread_count = 1;
    ehs_bytes whole = store_check_rewrite(&f->file, NULL, NULL);
    write_file(f, &whole);
    char *const expected = answer(f, &totals), *const expected_sizes = answer(f, &sizes);
    write_without(f, EHS_HEAP_THREAD);
    const etlheap_query grouped = by_thread();
    expect_no_report(f, &grouped, sentence);
    expect_no_report(f, &one, sentence);
    expect_no_list(f, sentence);
    expect_no_columns(f, sentence);
    expect_same_answer(f, &totals, expected);
    expect_same_answer(f, &sizes, expected_sizes);
    /* Ranges have theirs. */
    etlheap_query ranges = by_thread();
    ranges.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    free(answer(f, &ranges));
}

static void a_store_without_addresses_refuses_lists(void **state)
{
    const fixture *const f = *state;
    static const char sentence[] = "does not contain the addresses of allocations";
    const etlheap_query query = by_thread();
    ehs_bytes whole = store_check_rewrite(&f->file, NULL, NULL);
    write_file(f, &whole);
    char *const expected = answer(f, &query);
    write_without(f, EHS_HEAP_ADDRESS);
    expect_no_list(f, sentence);
    expect_no_columns(f, sentence);
    expect_same_answer(f, &query, expected);
}

/* Frees that have no block are looked at when somebody asks for them. */
static void a_store_without_frees_refuses_questions_about_them(void **state)
{
    const fixture *const f = *state;
    static const ehs_column columns[] = { EHS_HEAP_FREER, EHS_HEAP_FREER_THREAD,
                                          EHS_LIFE_FREE_STACK };
    const etlheap_query query = by_thread();
    etlheap_query frees = query, unmatched = query;
    frees.group_by[1] = ETLHEAP_KEY_FREE_THREAD;
    unmatched.group_by[1] = ETLHEAP_KEY_FREE_STACK;
    unmatched.unmatched = true;
    unmatched.sort = ETLHEAP_MEASURE_COUNT;
    ehs_bytes whole = store_check_rewrite(&f->file, NULL, NULL);
    write_file(f, &whole);
    free(answer(f, &frees));
    free(answer(f, &unmatched));
    char *const expected = answer(f, &query);
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
        write_without(f, columns[i]);
        expect_no_report(f, &frees, "does not say who freed memory");
        expect_no_report(f, &unmatched, "does not say who freed memory");
        char *const found = answer(f, &query);
        assert_true(check_same_text(expected, found));
        free(found);
    }
    free(expected);
}

static bool is_unmatched(u32 column)
{
    return column >= EHS_UNMATCHED_TICKS && column <= EHS_UNMATCHED_HEAP;
}

static void frees_without_a_column_that_they_must_have_are_damaged(void **state)
{
    const fixture *const f = *state;
    etlheap_query query = by_thread();
    query.group_by[1] = ETLHEAP_KEY_FREE_STACK;
    query.unmatched = true;
    query.sort = ETLHEAP_MEASURE_COUNT;
    for (u32 column = EHS_UNMATCHED_TICKS; is_unmatched(column); column++) {
        etlheap_table *table = NULL;
        etl_error err = { .message = "" };
        write_without(f, (ehs_column)column);
        etlheap_result *const result = open_store(f, &query);
        assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_ERR_CORRUPT);
        if (strstr(err.message, ehs_column_find(column)->name) == NULL)
            fail_msg("without %s: %s", ehs_column_find(column)->name, err.message);
        etlheap_result_free(result);
    }
}

static bool is_optional(u32 column)
{
    return column == EHS_HEAP_THREAD || column == EHS_HEAP_ADDRESS || column == EHS_HEAP_FREER ||
           column == EHS_HEAP_FREER_THREAD || column == EHS_LIFE_FREE_STACK || is_unmatched(column);
}

/* Alone in its table, so that nothing tells whether there should be one. */
static bool is_alone(u32 column)
{
    return column == EHS_INSTANCE_PROCESS;
}

/* Numbers of strings lead to nothing when there is no text. */
static const char *name_for(u32 column)
{
    return column == EHS_STRING_TEXT ? "process.name" : ehs_column_find(column)->name;
}

static void a_store_without_a_column_that_it_must_have_is_damaged(void **state)
{
    const fixture *const f = *state;
    ehs_reader reader;
    u32 refused = 0;
    assert_int_equal(ehs_reader_open(&reader, (etl_bytes){ f->file.at, f->file.count }, NULL),
                     ETL_OK);
    for (size_t i = 0; i < reader.row_count; i++) {
        const u32 column = reader.rows[i].column;
        const etlheap_query query = etlheap_query_default();
        const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
        etlheap_result *result = NULL;
        etl_error err = { .message = "" };
        if (reader.rows[i].part > 0 || is_optional(column) || is_alone(column))
            continue;
        write_without(f, (ehs_column)column);
        assert_int_equal(etlheap_open_store(f->path, &options, &result, &err), ETL_ERR_CORRUPT);
        if (strstr(err.message, name_for(column)) == NULL)
            fail_msg("without %s: %s", ehs_column_find(column)->name, err.message);
        refused++;
    }
    assert_true(refused > 100);
    ehs_reader_close(&reader);
}

/* Its version is not among what a rewrite keeps. */
static void make_2_0(ehs_bytes *file)
{
    file->at[10] = 0;
    const u64 checksum = XXH3_64bits(file->at, 24);
    memcpy(file->at + 24, &checksum, sizeof checksum);
}

static void a_store_of_2_0_looks_addresses_up_at_the_time_of_each_event(void **state)
{
    const fixture *const f = *state;
    const etlheap_query query = etlheap_query_default();
    const ehs_column column = EHS_FOREIGN_TICKS;
    ehs_bytes older = store_check_rewrite(&f->file, &column, NULL);
    assert_true(older.count < f->file.count);
    ehs_bytes whole = store_check_rewrite(&f->file, NULL, NULL);
    write_file(f, &whole);
    char *const expected = answer(f, &query);
    make_2_0(&older);
    write_file(f, &older);
    expect_same_answer(f, &query, expected);
}

/* A block of a column that has no row in ehs_columns.h. */
static void add_unknown(ehs_blocks *blocks, u32 column, u32 count)
{
    ehs_codec codec = { 0 };
    u32 *const values = calloc(count, sizeof *values);
    const size_t before = blocks->rows.count;
    assert_non_null(values);
    assert_true(ehs_blocks_add(blocks, &codec, EHS_HEAP_ORIGIN, 0, values, count));
    blocks->rows.at[before].column = column;
    free(values);
    ehs_codec_free(&codec);
}

static void what_a_later_version_adds_is_passed_over(void **state)
{
    const fixture *const f = *state;
    const etlheap_query query = by_thread();
    ehs_blocks more = { 0 };
    ehs_bytes whole = store_check_rewrite(&f->file, NULL, NULL);
    write_file(f, &whole);
    char *const expected = answer(f, &query);
    add_unknown(&more, 0x01F0, 100); /* heap */
    add_unknown(&more, 0x11F0, 1);   /* process */
    add_unknown(&more, 0x7701, 9);   /* another table */
    add_unknown(&more, ehs_kind_column(EHS_KIND_CUSTOM, EHS_HEAP_ORIGIN), 3);
    add_unknown(&more, ehs_kind_column(EHS_KIND_CUSTOM, EHS_SEGMENT_EVENTS), 1);
    add_unknown(&more, ehs_kind_column((ehs_kind)200, EHS_HEAP_ORIGIN), 3); /* another kind */
    ehs_bytes extended = store_check_rewrite(&f->file, NULL, &more);
    write_file(f, &extended);
    expect_same_answer(f, &query, expected);
    ehs_blocks_free(&more);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(a_store_without_threads_refuses_questions_about_threads),
        RULE(a_store_without_addresses_refuses_lists),
        RULE(a_store_without_frees_refuses_questions_about_them),
        RULE(frees_without_a_column_that_they_must_have_are_damaged),
        RULE(a_store_without_a_column_that_it_must_have_is_damaged),
        RULE(a_store_of_2_0_looks_addresses_up_at_the_time_of_each_event),
        RULE(what_a_later_version_adds_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
