/*
 * Goal: walks go by any column either way, `top` keeps the beginning of that, and
 * ties go by content wherever rows come from.
 * Method: against a plain sort of all rows, which is stable; and a trace that has
 * more rows in one moment than a segment of a store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "walk_world.h"

static int compare(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int compare_signed(i64 a, i64 b)
{
    return (a > b) - (a < b);
}

static int compare_by(const etlheap_result *result, etlheap_lifetime_column column,
                      const etlheap_lifetime *a, const etlheap_lifetime *b)
{
    const etlheap_process_info *const p = etlheap_process_of(result, a->process);
    const etlheap_process_info *const q = etlheap_process_of(result, b->process);
    int order;
    switch (column) {
    case ETLHEAP_LIFETIME_ALLOC_TIME:
        return compare_signed(a->alloc_ticks, b->alloc_ticks);
    case ETLHEAP_LIFETIME_FREE_TIME:
        return compare_signed(a->free_ticks, b->free_ticks);
    case ETLHEAP_LIFETIME_LIFETIME:
        return compare_signed(a->lifetime_ns, b->lifetime_ns);
    case ETLHEAP_LIFETIME_KIND:
        return compare(a->kind, b->kind);
    case ETLHEAP_LIFETIME_PROCESS:
        order = strcmp(p->name, q->name);
        order = order != 0 ? order : compare(p->pid, q->pid);
        return order != 0 ? order : compare(a->process.v, b->process.v);
    case ETLHEAP_LIFETIME_HEAP:
        return compare(a->heap_handle, b->heap_handle);
    case ETLHEAP_LIFETIME_TYPE:
        return compare(a->type, b->type);
    case ETLHEAP_LIFETIME_FREE_TYPE:
        return compare(a->free_type, b->free_type);
    case ETLHEAP_LIFETIME_IS_REALLOC:
        return compare(a->is_realloc, b->is_realloc);
    case ETLHEAP_LIFETIME_ADDRESS:
        return compare(a->address, b->address);
    case ETLHEAP_LIFETIME_SIZE:
        return compare(a->size_bytes, b->size_bytes);
    case ETLHEAP_LIFETIME_THREAD:
        return compare(a->thread, b->thread);
    case ETLHEAP_LIFETIME_COLUMN_COUNT:
        break;
    }
    return 0;
}

/* Insertion is stable: rows that tie stay in order of time. */
static void sort_plainly(const etlheap_result *result, walk_rows *list,
                         const etlheap_lifetimes_options *options)
{
    for (size_t i = 1; i < list->count; i++) {
        const etlheap_lifetime row = list->at[i];
        size_t at = i;
        for (; at > 0; at--) {
            const int order = compare_by(result, options->sort, &list->at[at - 1], &row);
            if (options->sort_descending ? order >= 0 : order <= 0)
                break;
            list->at[at] = list->at[at - 1];
        }
        list->at[at] = row;
    }
}

static bool is_same_row(const etlheap_lifetime *a, const etlheap_lifetime *b)
{
    return a->kind == b->kind && a->process.v == b->process.v && a->address == b->address &&
           a->alloc_ticks == b->alloc_ticks && a->free_ticks == b->free_ticks &&
           a->size_bytes == b->size_bytes && a->raw_stack.v == b->raw_stack.v &&
           a->heap_handle == b->heap_handle && a->thread == b->thread;
}

static void columns_sort_either_way_and_tops_are_their_beginning(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 73);
    etlheap_query query = etlheap_query_default();
    query.to_ns = 30 * MS;
    walk_rows by_time = walk_check_rows(f->rows, &query, NULL);
    assert_true(by_time.count > 500);
    for (size_t i = 1; i < by_time.count; i++)
        assert_true(by_time.at[i - 1].alloc_ticks <= by_time.at[i].alloc_ticks);
    static const u64 tops[] = { 0, 1, 17, 100000 };
    for (u32 i = 0; i < ETLHEAP_LIFETIME_COLUMN_COUNT * 2 * ETL_COUNT_OF(tops); i++) {
        const etlheap_lifetimes_options options = { .size = sizeof options,
                                                    .sort = (etlheap_lifetime_column)(i / 8),
                                                    .sort_descending = i % 2 != 0,
                                                    .top = tops[i / 2 % 4] };
        walk_rows expected = { 0 };
        assert_true(ETLHEAP_RESERVE(&expected, by_time.count));
        memcpy(expected.at, by_time.at, by_time.count * sizeof *by_time.at);
        expected.count = by_time.count;
        sort_plainly(f->rows, &expected, &options);
        walk_rows found = walk_check_rows(i % 3 == 0 ? f->store : f->rows, &query, &options);
        const size_t count =
            options.top == 0 || options.top > expected.count ? expected.count : options.top;
        assert_int_equal(found.count, count);
        for (size_t k = 0; k < count; k++)
            assert_true(is_same_row(&found.at[k], &expected.at[k]));
        ETLHEAP_VECTOR_FREE(&expected);
        ETLHEAP_VECTOR_FREE(&found);
    }
    ETLHEAP_VECTOR_FREE(&by_time);
}

/* All in one tick, and more than a segment of a store has: the order is by content
 * wherever rows come from. */
static void rows_of_one_moment_are_ordered_by_content(void **state)
{
    walk_world *const f = *state;
    enum { BLOCKS = 90000 };
    static const u64 frames[][1] = { { 0x3000 }, { 0x2000 }, { 0x1000 } };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 65536 });
    for (u32 i = 0; i < BLOCKS; i++) {
        const etl_build_at at = { .ticks = 1001000 + (i >= BLOCKS / 2), .pid = 42, .tid = 7 + i };
        const u64 address = 0x10000 + (u64)(i * 7919 % BLOCKS) * 0x100;
        etl_build_heap_alloc(b, at, 0x1F0000 + (i % 3) * 0x1000, address, 16 + i % 5);
        if (i % 1024 == 0)
            etl_build_stack_walk(b, at,
                                 &(etl_build_stack){ .user = frames[i % 3], .user_count = 1 });
    }
    check_open(&f->traces, b);
    walk_world_analyze(f);
    const etlheap_query query = etlheap_query_default();
    walk_rows found = walk_check_rows(f->store, &query, NULL);
    assert_int_equal(found.count, BLOCKS);
    for (size_t i = 1; i < found.count; i++) {
        const etlheap_lifetime *const x = &found.at[i - 1], *const y = &found.at[i];
        assert_true(x->alloc_ticks < y->alloc_ticks || x->heap_handle < y->heap_handle ||
                    (x->heap_handle == y->heap_handle && x->address < y->address));
    }
    ETLHEAP_VECTOR_FREE(&found);
    const walk_request request = { .query = &query };
    walk_check_same(walk_check_document(f->rows, &request),
                    walk_check_document(f->store, &request));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, walk_world_open, walk_world_close)
    const struct CMUnitTest tests[] = {
        RULE(columns_sort_either_way_and_tops_are_their_beginning),
        RULE(rows_of_one_moment_are_ordered_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
