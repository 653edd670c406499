/*
 * Goal: rows by impacting stack say what each stack changed in the window: what it allocated and
 * kept, minus what it freed of earlier memory. A reallocation nets out in one row.
 * Method: a program made by hand, with the expected rows beside it, as log and as store. Rows of
 * VirtualAlloc are lifetimes in memory in both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/store_check.h"
#include "tests/support/temporary.h"

#define START  ((i64)1000000)
#define MS     ((i64)10000) /* in ticks */
#define PID    42u
#define HEAP   0x1F0000u
#define PAGES  0x10000000u
#define KIB    ((i64)1024)
#define NOBODY 0u

/* Stacks are known by the address of their one frame. */
enum { MAKER = 0x401000, CACHE = 0x402000, GROWER = 0x403000, CLEANER = 0x404000 };

static etl_build_at at_ms(u32 ms)
{
    return (etl_build_at){ .ticks = START + ms * MS, .pid = PID, .tid = 7 };
}

static void stack(etl_build *b, u32 ms, u64 frame)
{
    if (frame != NOBODY)
        etl_build_stack_walk(b, at_ms(ms), &(etl_build_stack){ .user = &frame, .user_count = 1 });
}

static void alloc(etl_build *b, u32 ms, u64 frame, u64 address, u64 size)
{
    etl_build_heap_alloc(b, at_ms(ms), HEAP, address, size);
    stack(b, ms, frame);
}

static void release(etl_build *b, u32 ms, u64 frame, u64 address)
{
    etl_build_heap_free(b, at_ms(ms), HEAP, address);
    stack(b, ms, frame);
}

/* Before the window of 100 to 200 ms, in it, and after it. */
static etl_build *program(void)
{
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 });
    etl_build_process(b, at_ms(1), ETL_BUILD_START,
                      &(etl_build_process_spec){ .pid = PID, .name = "app.exe" });
    alloc(b, 10, MAKER, 0x2000, 10 * 1024);  /* persistent */
    alloc(b, 11, MAKER, 0x8000, 20 * 1024);  /* freed by CLEANER */
    alloc(b, 12, CACHE, 0x10000, 40 * 1024); /* grown by GROWER */
    alloc(b, 13, CACHE, 0x20000, 5 * 1024);  /* freed by nobody known */
    alloc(b, 14, CACHE, 0x22000, 6 * 1024);  /* freed by CACHE itself */
    etl_build_virtual_alloc(b, at_ms(15), PAGES, 0x10000, ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
    stack(b, 15, MAKER);

    release(b, 110, CLEANER, 0x8000);
    alloc(b, 120, MAKER, 0x30000, 3 * 1024); /* transient: of MAKER, not of CLEANER */
    release(b, 125, CLEANER, 0x30000);
    alloc(b, 130, GROWER, 0x40000, 41 * 1024);
    release(b, 131, GROWER, 0x10000);
    etl_build_heap_realloc(b, at_ms(132), HEAP,
                           &(etl_build_realloc){ 0x40000, 0x10000, 41 * 1024, 40 * 1024 });
    stack(b, 132, GROWER);
    release(b, 140, NOBODY, 0x20000);
    release(b, 150, CACHE, 0x22000);
    alloc(b, 151, CACHE, 0x50000, 6 * 1024); /* freed after the window */
    etl_build_virtual_free(b, at_ms(160), PAGES, 0x4000, ETL_BUILD_DECOMMIT);
    stack(b, 160, CLEANER);
    etl_build_virtual_alloc(b, at_ms(170), PAGES, 0x1000, ETL_BUILD_COMMIT);
    stack(b, 170, CLEANER);

    release(b, 210, CLEANER, 0x50000);
    release(b, 220, CLEANER, 0x2000);
    return b;
}

typedef struct wanted_row {
    etlheap_kind kind;
    u64 stack;
    i64 count, impacting, outstanding, peak_count, peak_size;
} wanted_row;

static const wanted_row wanted[] = {
    { ETLHEAP_KIND_HEAP, MAKER, 2, 0, 10 * KIB, 2, 13 * KIB },
    { ETLHEAP_KIND_HEAP, CLEANER, 1, -20 * KIB, 0, 1, 20 * KIB },
    { ETLHEAP_KIND_HEAP, GROWER, 2, 1 * KIB, 41 * KIB, 2, 81 * KIB },
    { ETLHEAP_KIND_HEAP, NOBODY, 1, -5 * KIB, 0, 1, 5 * KIB },
    { ETLHEAP_KIND_HEAP, CACHE, 2, 0, 6 * KIB, 1, 6 * KIB },
    { ETLHEAP_KIND_VIRTUALALLOC, MAKER, 1, 0, 48 * KIB, 1, 48 * KIB },
    { ETLHEAP_KIND_VIRTUALALLOC, CLEANER, 2, -12 * KIB, 4 * KIB, 1, 16 * KIB },
};

static etlheap_query question(void)
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = 100000000;
    query.to_ns = 200000000;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_IMPACTING_STACK;
    query.group_by_count = 2;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    return query;
}

static u64 frame_of(const etlheap_table *table, const etlheap_row *row)
{
    return row->stack == ETLHEAP_NO_INDEX
               ? NOBODY
               : table->frames[table->frame_indices[table->stack_starts[row->stack]]].address;
}

static const etlheap_row *find_row(const etlheap_table *table, const wanted_row *one)
{
    const etlheap_row *found = NULL;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if (row->kind != one->kind || frame_of(table, row) != one->stack)
            continue;
        assert_null(found);
        found = row;
    }
    assert_non_null(found);
    return found;
}

static void expect_rows(const etlheap_result *result)
{
    const etlheap_query query = question();
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, ETL_COUNT_OF(wanted));
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++) {
        const i64 *const has = find_row(table, &wanted[i])->measures;
        assert_int_equal(has[ETLHEAP_MEASURE_COUNT], wanted[i].count);
        assert_int_equal(has[ETLHEAP_MEASURE_IMPACTING_SIZE], wanted[i].impacting);
        assert_int_equal(has[ETLHEAP_MEASURE_OUTSTANDING_SIZE], wanted[i].outstanding);
        assert_int_equal(has[ETLHEAP_MEASURE_PEAK_COUNT], wanted[i].peak_count);
        assert_int_equal(has[ETLHEAP_MEASURE_PEAK_SIZE], wanted[i].peak_size);
    }
    etlheap_table_free(table);
}

static void a_log_has_a_row_for_each_stack_that_changed_something(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    const etlheap_query query = question();
    check_open(&traces, program());
    for (u32 jobs = 1; jobs <= 4; jobs += 3) {
        const etlheap_options options = { .size = sizeof options,
                                          .jobs = jobs,
                                          ASKED_TABLE(&query) };
        etlheap_result *const result = check_analyze(&traces, &options);
        expect_rows(result);
        etlheap_result_free(result);
    }
    check_close(&traces);
}

static void a_store_has_the_same_rows(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    const etlheap_query query = question();
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    char path[TEMPORARY_PATH_BYTES];
    etlheap_result *result = NULL;
    check_open(&traces, program());
    ehs_bytes file = store_check_write(&traces, NULL, NULL);
    const int handle = temporary_file(path, "test-impacting-stack");
    assert_true(handle >= 0);
    assert_int_equal(write(handle, file.at, file.count), file.count);
    assert_int_equal(close(handle), 0);
    assert_int_equal(etlheap_open_store(path, &options, &result, NULL), ETL_OK);
    expect_rows(result);
    etlheap_result_free(result);
    ETLHEAP_VECTOR_FREE(&file);
    unlink(path);
    check_close(&traces);
}

/* Keys of the allocating stack keep their meaning beside it. */
static void other_keys_speak_of_the_allocation(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    etlheap_query query = question();
    etlheap_table *table = NULL;
    query.kinds = 1u << ETLHEAP_KIND_HEAP;
    query.types = 1u << ETLHEAP_TYPE_AOFI;
    query.group_by[0] = ETLHEAP_KEY_SITE;
    check_open(&traces, program());
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    etlheap_result *const result = check_analyze(&traces, &options);
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        assert_int_equal(table->frames[row->frame].address,
                         frame_of(table, row) == CLEANER ? MAKER : CACHE);
    }
    assert_int_equal(table->row_count, 4);
    etlheap_table_free(table);
    etlheap_result_free(result);
    check_close(&traces);
}

static void impossible_questions_are_refused(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    etlheap_query query = question();
    const etlheap_options options = { .size = sizeof options, ASKED_EVENTS(&query) };
    const etlheap_windows_options every = { .size = sizeof every, .every_ns = 50000000 };
    etlheap_table *table = NULL;
    etlheap_windows *windows = NULL;
    etl_error err;
    check_open(&traces, program());
    etlheap_result *const result = check_analyze(&traces, &options);
    assert_int_equal(etlheap_windows_make(result, &query, &every, &windows, &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "a block has another one in each window"));
    query.group_by[2] = ETLHEAP_KEY_STACK;
    query.group_by_count = 3;
    assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "by stack or by impacting_stack"));
    query.group_by_count = 2;
    query.growth = true;
    assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_ERR_ARGUMENT);
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_has_a_row_for_each_stack_that_changed_something),
        cmocka_unit_test(a_store_has_the_same_rows),
        cmocka_unit_test(other_keys_speak_of_the_allocation),
        cmocka_unit_test(impossible_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
