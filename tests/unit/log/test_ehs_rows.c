/*
 * Goal: lifetimes of other kinds than heap, and origins, come back as they were; numbers
 * of things that do not exist and lifetimes that cannot be are refused.
 * Method: more rows than a part has; files made with the one number that is to be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/log/ehs_rows.h"
#include "tests/support/table_file.h"

static const ehs_bounds bounds = { .process_count = 3, .stack_count = 10 };

static lifetime row_of(u32 n)
{
    return (lifetime){ .alloc_ticks = n % 9 == 0 ? ETLHEAP_TICKS_BEFORE : (i64)n * 3,
                       .free_ticks = n % 5 == 0 ? ETLHEAP_TICKS_NEVER : (i64)n * 4,
                       .address = (u64)n << 16,
                       .size = 4096 * (u64)n,
                       .heap = n % 2 == 0 ? 0 : 0x1A0000,
                       .process = 1 + n % 3,
                       .stack = n % 11,
                       .thread = n % 4 == 0 ? ETL_NO_ID : n,
                       .free_stack = n % 7,
                       .free_thread = n % 3 == 0 ? ETL_NO_ID : n / 2,
                       .kind = (u8)(n % ETLHEAP_KIND_COUNT),
                       .free_type = (u8)(n % ETLHEAP_FREE_TYPE_COUNT),
                       .is_realloc = n % 6 == 0 };
}

static void save_rows(table_file *file, const lifetime_table *store)
{
    for (size_t i = 0; i < store->segments.count; i++) {
        const etlheap_segment rows = store_view(&store->segments.at[i]);
        assert_true(ehs_rows_encode(&file->saver.blocks, &file->saver.codec, (u32)i, &rows));
    }
}

static void assert_same_rows(const lifetime_table *a, const lifetime_table *b)
{
    assert_int_equal(a->rows, b->rows);
    for (u64 n = 0; n < a->rows; n++) {
        const etlheap_segment x = store_view(&a->segments.at[n / ETLHEAP_SEGMENT_ROWS]);
        const etlheap_segment y = store_view(&b->segments.at[n / ETLHEAP_SEGMENT_ROWS]);
        const size_t i = n % ETLHEAP_SEGMENT_ROWS;
        assert_true(x.alloc_ticks[i] == y.alloc_ticks[i] && x.free_ticks[i] == y.free_ticks[i]);
        assert_true(x.address[i] == y.address[i] && x.size_bytes[i] == y.size_bytes[i]);
        assert_true(x.heap_handle[i] == y.heap_handle[i] && x.process[i] == y.process[i]);
        assert_true(x.stack[i] == y.stack[i] && x.thread[i] == y.thread[i]);
        assert_true(x.free_stack[i] == y.free_stack[i] && x.free_thread[i] == y.free_thread[i]);
        assert_true(x.kind[i] == y.kind[i] && x.free_type[i] == y.free_type[i]);
        assert_true(x.is_realloc[i] == y.is_realloc[i]);
    }
}

static etl_status load_rows(table_file *file, lifetime_table *got)
{
    lifetime_table unmatched = { 0 };
    u32 lacks = 0;
    const ehs_rows_out out = { got, &unmatched, &lacks, UINT32_MAX };
    const etl_status status = ehs_rows_load(&file->loader, &bounds, &out);
    assert_int_equal(unmatched.rows, 0);
    assert_int_equal(lacks, 0);
    store_free(&unmatched);
    return status;
}

static void lifetimes_come_back_in_order(void **state)
{
    (void)state;
    table_file file = { 0 };
    lifetime_table given = { 0 }, got = { 0 };
    lifetime *const rows = calloc(100000, sizeof *rows);
    for (u32 n = 0; n < 100000; n++)
        rows[n] = row_of(n);
    assert_true(store_append(&given, rows, 100000));
    save_rows(&file, &given);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(load_rows(&file, &got), ETL_OK);
    assert_same_rows(&given, &got);
    free(rows);
    store_free(&given);
    store_free(&got);
    table_file_close(&file);
}

static etl_status load_one_row(const lifetime *row, const ehs_remap *remap, lifetime_table *got,
                               table_file *file)
{
    lifetime_table given = { 0 };
    assert_true(store_append(&given, row, 1));
    save_rows(file, &given);
    store_free(&given);
    if (remap != NULL)
        assert_true(ehs_remap_save(&file->saver, remap));
    assert_int_equal(table_file_open(file, UINT64_MAX), ETL_OK);
    return load_rows(file, got);
}

static void numbers_of_the_run_become_final(void **state)
{
    (void)state;
    ehs_ref refs[] = { { 0x80000001, 7, 44 }, { 0xC0000005, 9, ETL_NO_ID } };
    u32 processes[] = { 3, 1, 2 };
    const ehs_remap remap = { { refs, 2, 2 }, { processes, 3, 3 } };
    const struct {
        u32 process, stack, thread, final_process, final_stack, final_thread;
    } cases[] = {
        { 1, 0x80000001, ETL_NO_ID, 3, 7, 44 },
        { 2, 0x80000001, 5, 1, 7, 5 },
        { 3, 0xC0000005, ETL_NO_ID, 2, 9, ETL_NO_ID },
        { 1, 4, 6, 3, 4, 6 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        table_file file = { 0 };
        lifetime_table got = { 0 };
        lifetime row = row_of(1);
        row.process = cases[i].process;
        row.stack = cases[i].stack;
        row.thread = cases[i].thread;
        assert_int_equal(load_one_row(&row, &remap, &got, &file), ETL_OK);
        const etlheap_segment rows = store_view(&got.segments.at[0]);
        assert_int_equal(rows.process[0], cases[i].final_process);
        assert_int_equal(rows.stack[0], cases[i].final_stack);
        assert_int_equal(rows.thread[0], cases[i].final_thread);
        store_free(&got);
        table_file_close(&file);
    }
}

/* A later version may keep more kinds of lifetimes. */
static void rows_of_an_unknown_kind_are_passed_over(void **state)
{
    (void)state;
    table_file file = { 0 };
    lifetime_table given = { 0 }, got = { 0 };
    lifetime rows[] = { row_of(1), row_of(2), row_of(3) };
    rows[1].kind = ETLHEAP_KIND_COUNT;
    rows[1].process = rows[1].stack = 1000000;
    assert_true(store_append(&given, rows, 3));
    save_rows(&file, &given);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(load_rows(&file, &got), ETL_OK);
    assert_int_equal(got.rows, 2);
    const etlheap_segment read = store_view(&got.segments.at[0]);
    assert_int_equal(read.address[0], rows[0].address);
    assert_int_equal(read.address[1], rows[2].address);
    store_free(&given);
    store_free(&got);
    table_file_close(&file);
}

static void rows_of_what_does_not_exist_are_refused(void **state)
{
    (void)state;
    for (u32 i = 0; i < 4; i++) {
        table_file file = { 0 };
        lifetime_table got = { 0 };
        lifetime row = row_of(1);
        row.process = i == 0 ? 0 : i == 1 ? 4 : row.process;
        row.stack = i == 2 ? 11 : row.stack;
        row.free_type = i == 3 ? ETLHEAP_FREE_TYPE_COUNT : row.free_type;
        assert_int_equal(load_one_row(&row, NULL, &got, &file), ETL_ERR_CORRUPT);
        table_file_says(&file, "of a process or stack that does not exist");
        store_free(&got);
        table_file_close(&file);
    }
}

static void lifetimes_that_end_before_they_begin_are_refused(void **state)
{
    (void)state;
    static const struct {
        i64 alloc_ticks, free_ticks;
        etl_status status;
    } rows[] = {
        { 7, 7, ETL_OK },
        { 7, 6, ETL_ERR_CORRUPT },
        { INT64_MAX - 1, ETLHEAP_TICKS_NEVER, ETL_OK },
        { ETLHEAP_TICKS_BEFORE, ETLHEAP_TICKS_BEFORE, ETL_OK },
        { ETLHEAP_TICKS_BEFORE + 1, ETLHEAP_TICKS_BEFORE, ETL_ERR_CORRUPT },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        table_file file = { 0 };
        lifetime_table got = { 0 };
        lifetime row = row_of(1);
        row.alloc_ticks = rows[i].alloc_ticks;
        row.free_ticks = rows[i].free_ticks;
        assert_int_equal(load_one_row(&row, NULL, &got, &file), rows[i].status);
        if (rows[i].status != ETL_OK)
            table_file_says(&file, "ends a lifetime before it begins");
        store_free(&got);
        table_file_close(&file);
    }
}

static etl_status load_origins(const ehs_origins *origins, ehs_origins *got, table_file *file)
{
    assert_true(ehs_origins_save(&file->saver, origins));
    assert_int_equal(table_file_open(file, UINT64_MAX), ETL_OK);
    return ehs_origins_load(&file->loader, &bounds, got);
}

static void origins_come_back_and_must_lead_to_a_process(void **state)
{
    (void)state;
    for (u32 wrong = 0; wrong < 12; wrong++) {
        table_file file = { 0 };
        ehs_origins got;
        ehs_origin origin[] = { { 10, 1, ETL_NO_ID }, { 0, 2, 77 } };
        ehs_owner owner[] = { { -5, 1, 0 }, { 9, 1, 3 } };
        ehs_heap handle[] = { { 0x1D0000, 3 } };
        ehs_freer freer[] = { { wrong == 10 ? 11 : 10, wrong == 11 ? 3 : 2 } };
        ehs_origin_sums sums[] = { { { { 5, 500, 1 }, { 0, 0, 0 }, { 2, 70, 0 } } },
                                   { { { 0, 0, 0 }, { 1, INT64_MAX, 0 }, { 0, 0, 0 } } } };
        const size_t sum_count = wrong == 8 ? 1 : 2;
        const ehs_origins given = { { origin, 2, 2 },
                                    { owner, 2, 2 },
                                    { handle, 1, 1 },
                                    { sums, sum_count, sum_count },
                                    { freer, 1, 1 } };
        origin[0].stack = wrong == 1 ? 11 : origin[0].stack;
        origin[1].owner = wrong == 2 ? 3 : wrong == 3 ? 0 : origin[1].owner;
        owner[1].heap = wrong == 4 ? 2 : wrong == 5 ? 0 : owner[1].heap;
        handle[0].process = wrong == 6 ? 4 : wrong == 7 ? 0 : handle[0].process;
        sums[1].of[TALLY_EXITED].size = wrong == 9 ? -1 : INT64_MAX;
        const etl_status status = load_origins(&given, &got, &file);
        assert_int_equal(status, wrong == 0 ? ETL_OK : ETL_ERR_CORRUPT);
        if (wrong == 0) {
            assert_memory_equal(got.origins.at, origin, sizeof origin);
            assert_memory_equal(got.sums.at, sums, sizeof sums);
            assert_memory_equal(got.owners.at, owner, sizeof owner);
            assert_int_equal(got.heaps.at[0].value, 0x1D0000);
            assert_int_equal(got.heaps.at[0].process, 3);
        }
        ehs_origins_free(&got);
        table_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifetimes_come_back_in_order),
        cmocka_unit_test(numbers_of_the_run_become_final),
        cmocka_unit_test(rows_of_an_unknown_kind_are_passed_over),
        cmocka_unit_test(rows_of_what_does_not_exist_are_refused),
        cmocka_unit_test(lifetimes_that_end_before_they_begin_are_refused),
        cmocka_unit_test(origins_come_back_and_must_lead_to_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
