/*
 * Goal: the store gives back every row in the order it came, in segments that
 * neither move nor change once full.
 * Method: rows numbered in every column, appended in batches of many sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/log/store.h"

static lifetime row_of(u64 n)
{
    return (lifetime){ .alloc_ticks = (i64)n,
                       .free_ticks = (i64)n + 1,
                       .address = n << 32 | 2,
                       .size = n + 3,
                       .heap = n + 4,
                       .process = (u32)n + 5,
                       .stack = (u32)n + 6,
                       .thread = (u32)n + 7,
                       .kind = (u8)(n % ETLHEAP_KIND_COUNT),
                       .free_type = (u8)(n % ETLHEAP_FREE_TYPE_COUNT),
                       .is_realloc = n % 2 != 0 };
}

static void assert_holds(const etlheap_segment *segment, u32 at, u64 n)
{
    const lifetime row = row_of(n);
    assert_int_equal(segment->alloc_ticks[at], row.alloc_ticks);
    assert_int_equal(segment->free_ticks[at], row.free_ticks);
    assert_int_equal(segment->address[at], row.address);
    assert_int_equal(segment->size_bytes[at], row.size);
    assert_int_equal(segment->heap_handle[at], row.heap);
    assert_int_equal(segment->process[at], row.process);
    assert_int_equal(segment->stack[at], row.stack);
    assert_int_equal(segment->thread[at], row.thread);
    assert_int_equal(segment->kind[at], row.kind);
    assert_int_equal(segment->free_type[at], row.free_type);
    assert_int_equal(segment->is_realloc[at], row.is_realloc);
}

/* Appends `count` rows from number `first` on. */
static void append(lifetime_table *store, u64 first, size_t count)
{
    lifetime *const rows = malloc((count + 1) * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(first + i);
    assert_true(store_append(store, rows, count));
    free(rows);
}

static void assert_holds_all(const lifetime_table *store, u64 count)
{
    u64 n = 0;
    assert_int_equal(store->rows, count);
    for (size_t i = 0; i < store->segments.count; i++) {
        const etlheap_segment segment = store_view(&store->segments.at[i]);
        assert_in_range(segment.rows, 1, ETLHEAP_SEGMENT_ROWS);
        for (u32 at = 0; at < segment.rows; at++)
            assert_holds(&segment, at, n++);
    }
    assert_int_equal(n, count);
}

static void empty_store_has_no_segment(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    assert_true(store_append(&store, NULL, 0));
    assert_int_equal(store.segments.count, 0);
    assert_int_equal(store.rows, 0);
    store_free(&store);
}

static void rows_come_back_in_order(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    static const size_t batches[] = { 1, 0, 1023, 1, 2, 5000, 65536, 1, 70000, 65535, 3 };
    u64 count = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(batches); i++) {
        append(&store, count, batches[i]);
        count += batches[i];
    }
    assert_holds_all(&store, count);
    store_free(&store);
    assert_int_equal(store.rows, 0);
    assert_int_equal(store.segments.count, 0);
}

static void single_rows_fill_few_segments(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    for (u64 n = 0; n < 200000; n++)
        append(&store, n, 1);
    assert_holds_all(&store, 200000);
    assert_in_range(store.segments.count, 1, 20);
    store_free(&store);
}

static void full_segment_has_its_maximum_of_rows(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    append(&store, 0, ETLHEAP_SEGMENT_ROWS);
    assert_int_equal(store.segments.count, 1);
    append(&store, ETLHEAP_SEGMENT_ROWS, 1);
    assert_int_equal(store.segments.count, 2);
    assert_holds_all(&store, ETLHEAP_SEGMENT_ROWS + 1);
    store_free(&store);
}

static void small_store_takes_little_memory(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    append(&store, 0, 10);
    assert_int_equal(store.segments.count, 1);
    assert_in_range(store.segments.at[0].capacity, 10, 1024);
    store_free(&store);
}

static void rows_do_not_move(void **state)
{
    (void)state;
    lifetime_table store = { 0 };
    append(&store, 0, 1);
    const i64 *const first = store_view(&store.segments.at[0]).alloc_ticks;
    append(&store, 1, 300000);
    assert_ptr_equal(store_view(&store.segments.at[0]).alloc_ticks, first);
    assert_holds_all(&store, 300001);
    store_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_store_has_no_segment),
        cmocka_unit_test(rows_come_back_in_order),
        cmocka_unit_test(single_rows_fill_few_segments),
        cmocka_unit_test(full_segment_has_its_maximum_of_rows),
        cmocka_unit_test(small_store_takes_little_memory),
        cmocka_unit_test(rows_do_not_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
