/*
 * Goal: where rows are added up, the others are as they were, no byte is lost, and an
 * outline of few rows says what it says of the whole table.
 * Method: random lifetimes and queries. The whole table is the model: its rows are
 * gone through in order and merged by hand. Outlines of both are compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "formats/parts/outline.h"
#include "tests/models/group_model.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

typedef struct expected_row {
    etlheap_row row; /* of the whole table, or their sum */
    bool is_merged;
} expected_row;

typedef struct expected_rows {
    expected_row at[MODEL_ROWS];
    u32 count;
} expected_rows;

static etlheap_table *aggregate(const model_world *world, const etlheap_query *query)
{
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(world->result, query, &table, NULL), ETL_OK);
    return table;
}

/* The keys of a merged row: those before the stack, or before the heap if no row of its heap
 * stays. */
static etlheap_row merged_keys(const etlheap_row *row, const etlheap_table *whole, bool keeps_heap)
{
    etlheap_row out = *row;
    bool is_dropped = false;
    out.stack = ETLHEAP_NO_INDEX;
    for (u32 i = 0; i < whole->group_by_count; i++) {
        is_dropped |= whole->group_by[i] == ETLHEAP_KEY_HEAP && !keeps_heap;
        if (!is_dropped)
            continue;
        switch (whole->group_by[i]) {
        case ETLHEAP_KEY_PROCESS:
            out.process = NULL;
            out.pid = 0;
            break;
        case ETLHEAP_KEY_HEAP:
            out.heap_handle = 0;
            out.has_heap = false;
            break;
        case ETLHEAP_KEY_TYPE:
            out.type = 0;
            break;
        case ETLHEAP_KEY_FREE_TYPE:
            out.free_type = 0;
            break;
        default:
            break;
        }
    }
    return out;
}

static bool same_keys_but_stack(const etlheap_row *a, const etlheap_row *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->process == b->process &&
           a->has_heap == b->has_heap && a->heap_handle == b->heap_handle && a->type == b->type &&
           a->free_type == b->free_type;
}

static void merge_by_hand(expected_rows *out, const etlheap_row *row, const etlheap_row *keys,
                          etlheap_measure sort)
{
    u32 at = 0;
    while (at < out->count &&
           !(out->at[at].is_merged && same_keys_but_stack(&out->at[at].row, keys)))
        at++;
    if (at == out->count) {
        out->at[out->count++] = (expected_row){ *keys, true };
        out->at[at].row.merged_rows = 0;
        out->at[at].row.merged_empty_rows = 0;
        out->at[at].row.stack = ETLHEAP_NO_INDEX;
        memset(out->at[at].row.measures, 0, sizeof row->measures);
    }
    out->at[at].row.merged_rows++;
    out->at[at].row.merged_empty_rows += row->measures[sort] == 0;
    for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++)
        out->at[at].row.measures[i] += row->measures[i];
}

/* Are the keys up to that of the heap the same, or has `a` no heap and the same keys before? Yes if
 * the table has no such key. */
static bool same_heap(const etlheap_row *a, const etlheap_row *b, const etlheap_table *whole)
{
    bool same = true;
    for (u32 i = 0; i < whole->group_by_count; i++) {
        const bool is_heap = whole->group_by[i] == ETLHEAP_KEY_HEAP;
        if (is_heap && !a->has_heap)
            return same;
        same = same && etlheap_row_compare_key(a, b, whole->group_by[i]) == 0;
        if (is_heap)
            return same;
    }
    return true;
}

/* Which rows stay as they are. */
static void choose_by_hand(const etlheap_table *whole, const etlheap_query *query, bool *stays)
{
    u32 all[ETLHEAP_KIND_COUNT] = { 0 }, some[ETLHEAP_KIND_COUNT] = { 0 };
    for (u32 i = 0; i < whole->row_count; i++) {
        const etlheap_row *const row = &whole->rows[i];
        const bool has_some = row->measures[query->sort] != 0;
        stays[i] = all[row->kind] < query->whole_rows_max ||
                   (has_some && some[row->kind] < query->whole_rows_max);
        all[row->kind]++;
        some[row->kind] += has_some;
    }
}

static void expect_by_hand(expected_rows *out, const etlheap_table *whole,
                           const etlheap_query *query)
{
    bool stays[MODEL_ROWS] = { false };
    out->count = 0;
    choose_by_hand(whole, query, stays);
    for (u32 i = 0; i < whole->row_count; i++) {
        const etlheap_row *const row = &whole->rows[i];
        bool keeps_heap = false;
        for (u32 k = 0; k < whole->row_count; k++)
            keeps_heap |= stays[k] && same_heap(&whole->rows[k], row, whole);
        const etlheap_row keys = merged_keys(row, whole, keeps_heap);
        if (stays[i])
            out->at[out->count++] = (expected_row){ *row, false };
        else
            merge_by_hand(out, row, &keys, query->sort);
    }
}

static void expect_same_stack(const etlheap_table *a, u32 x, const etlheap_table *b, u32 y)
{
    assert_int_equal(x == ETLHEAP_NO_INDEX, y == ETLHEAP_NO_INDEX);
    if (x == ETLHEAP_NO_INDEX)
        return;
    const u32 count = a->stack_starts[x + 1] - a->stack_starts[x];
    assert_int_equal(count, b->stack_starts[y + 1] - b->stack_starts[y]);
    for (u32 i = 0; i < count; i++) {
        const etlheap_frame *const p = &a->frames[a->frame_indices[a->stack_starts[x] + i]];
        const etlheap_frame *const q = &b->frames[b->frame_indices[b->stack_starts[y] + i]];
        assert_ptr_equal(p->module, q->module);
        assert_int_equal(p->offset, q->offset);
        assert_int_equal(p->address, q->address);
    }
}

static void expect_same_table(const etlheap_table *merged, const etlheap_table *whole,
                              const expected_rows *expected)
{
    assert_int_equal(merged->row_count, expected->count);
    for (u32 i = 0; i < expected->count; i++) {
        const etlheap_row *const row = &merged->rows[i], *const by_hand = &expected->at[i].row;
        assert_true(same_keys_but_stack(row, by_hand));
        assert_int_equal(row->merged_rows, by_hand->merged_rows);
        assert_int_equal(row->merged_empty_rows, by_hand->merged_empty_rows);
        assert_memory_equal(row->measures, by_hand->measures, sizeof row->measures);
        expect_same_stack(merged, row->stack, whole, by_hand->stack);
    }
    assert_memory_equal(merged->totals, whole->totals, sizeof whole->totals);
}

static void expect_same_outline(const etlheap_table *merged, const etlheap_table *whole,
                                const etlheap_layout *layout)
{
    etlheap_outline a, b;
    assert_int_equal(etlheap_outline_build(merged, layout, &a), ETL_OK);
    assert_int_equal(etlheap_outline_build(whole, layout, &b), ETL_OK);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        assert_int_equal(a.more.later[kind], b.more.later[kind]);
        assert_int_equal(a.more.empty[kind], b.more.empty[kind]);
        assert_int_equal(a.more.amounts[kind], b.more.amounts[kind]);
    }
    assert_int_equal(a.entry_count, b.entry_count);
    for (u32 i = 0; i < a.entry_count; i++) {
        const etlheap_outline_entry *const x = &a.entries[i], *const y = &b.entries[i];
        assert_int_equal(x->level, y->level);
        assert_memory_equal(x->measures, y->measures, sizeof x->measures);
        for (u32 k = 0; k < a.levels[x->level].key_first + a.levels[x->level].key_count; k++) {
            const etlheap_key key = whole->group_by[k];
            if (key == ETLHEAP_KEY_STACK)
                expect_same_stack(merged, merged->rows[x->row].stack, whole,
                                  whole->rows[y->row].stack);
            else
                assert_int_equal(
                    etlheap_row_compare_key(&merged->rows[x->row], &whole->rows[y->row], key), 0);
        }
    }
    etlheap_outline_free(&a);
    etlheap_outline_free(&b);
}

/* Some keys in some order before STACK; a window, so that measures have both signs. */
static etlheap_query random_query(u64 *random)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                        ETLHEAP_KEY_TYPE, ETLHEAP_KEY_FREE_TYPE };
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 0;
    const u32 first = hand_random(random) % (u32)ETL_COUNT_OF(keys);
    for (u32 i = 0; i < ETL_COUNT_OF(keys); i++) {
        if (hand_random(random) % 4 != 0)
            query.group_by[query.group_by_count++] = keys[(first + i) % ETL_COUNT_OF(keys)];
    }
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.from_ns = (i64)(hand_random(random) % MODEL_TICKS) * HAND_TICK_NS;
    query.to_ns = query.from_ns + (i64)(1 + hand_random(random) % 300) * HAND_TICK_NS;
    query.at_exit_freed = hand_random(random) % 2;
    query.sort = (etlheap_measure)(hand_random(random) % (ETLHEAP_MEASURE_PEAK_SIZE + 1));
    query.sort_ascending = hand_random(random) % 2;
    query.jobs = 1 + hand_random(random) % 3;
    return query;
}

static void rows_are_whole_or_added_up(void **state)
{
    (void)state;
    expected_rows *const expected = malloc(sizeof *expected);
    assert_non_null(expected);
    u64 random = 4711;
    u32 merged_tables = 0;
    for (u64 seed = 20; seed < 24; seed++) {
        model_world *const world = model_world_new(seed);
        for (u32 i = 0; i < 60; i++) {
            etlheap_query query = random_query(&random);
            etlheap_table *const whole = aggregate(world, &query);
            query.whole_rows_max = 1 + hand_random(&random) % 12;
            etlheap_table *const merged = aggregate(world, &query);
            expect_by_hand(expected, whole, &query);
            expect_same_table(merged, whole, expected);
            merged_tables += merged->row_count < whole->row_count;
            etlheap_table_free(whole);
            etlheap_table_free(merged);
        }
        model_world_free(world);
    }
    assert_true(merged_tables > 100);
    free(expected);
}

/* Whatever limit and rule a layout has, and at all levels. */
static void outlines_do_not_change(void **state)
{
    (void)state;
    u64 random = 815;
    for (u64 seed = 30; seed < 34; seed++) {
        model_world *const world = model_world_new(seed);
        for (u32 i = 0; i < 60; i++) {
            etlheap_query query = random_query(&random);
            etlheap_layout layout = etlheap_layout_default();
            layout.rows_max = hand_random(&random) % 9;
            layout.rows_of_each_kind = hand_random(&random) % 2;
            layout.sort = query.sort;
            layout.sort_ascending = query.sort_ascending;
            etlheap_table *const whole = aggregate(world, &query);
            query.whole_rows_max = etlheap_layout_whole_rows(&layout);
            etlheap_table *const merged = aggregate(world, &query);
            expect_same_outline(merged, whole, &layout);
            etlheap_table_free(whole);
            etlheap_table_free(merged);
        }
        model_world_free(world);
    }
}

/* Where a stack has rows of several processes, its sum needs them all. */
static void rows_stay_whole_unless_the_stack_comes_last(void **state)
{
    (void)state;
    static const etlheap_key orders[][3] = {
        { ETLHEAP_KEY_STACK, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_TYPE },
        { ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_THREAD, ETLHEAP_KEY_STACK },
        { ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FRAME, ETLHEAP_KEY_STACK },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_MODULE },
    };
    model_world *const world = model_world_new(40);
    for (size_t i = 0; i < ETL_COUNT_OF(orders); i++) {
        etlheap_query query = etlheap_query_default();
        memcpy(query.group_by, orders[i], sizeof orders[i]);
        query.group_by_count = 3;
        etlheap_table *const whole = aggregate(world, &query);
        query.whole_rows_max = 1;
        etlheap_table *const asked = aggregate(world, &query);
        assert_int_equal(asked->row_count, whole->row_count);
        for (u32 row = 0; row < asked->row_count; row++)
            assert_int_equal(asked->rows[row].merged_rows, 0);
        etlheap_table_free(whole);
        etlheap_table_free(asked);
    }
    model_world_free(world);
}

/* The limit is a caller's number: memory goes by what there is. */
static void a_limit_beyond_all_rows_is_none(void **state)
{
    (void)state;
    model_world *const world = model_world_new(41);
    etlheap_query query = etlheap_query_default();
    etlheap_table *const whole = aggregate(world, &query);
    query.whole_rows_max = UINT32_MAX;
    etlheap_table *const asked = aggregate(world, &query);
    assert_int_equal(asked->row_count, whole->row_count);
    etlheap_table_free(whole);
    etlheap_table_free(asked);
    model_world_free(world);
}

/* What is made of all rows does not know of sums of some. */
static void windows_have_every_row(void **state)
{
    (void)state;
    model_world *const world = model_world_new(42);
    etlheap_query query = etlheap_query_default();
    query.group_by[1] = ETLHEAP_KEY_STACK;
    query.group_by_count = 2; /* of kind and stack */
    const etlheap_windows_options options = { .size = sizeof options,
                                              .every_ns = 50 * HAND_TICK_NS };
    etlheap_windows *whole = NULL, *asked = NULL;
    assert_int_equal(etlheap_windows_make(world->result, &query, &options, &whole, NULL), ETL_OK);
    query.whole_rows_max = 1;
    assert_int_equal(etlheap_windows_make(world->result, &query, &options, &asked, NULL), ETL_OK);
    assert_int_equal(asked->table->row_count, whole->table->row_count);
    etlheap_windows_free(whole);
    etlheap_windows_free(asked);
    model_world_free(world);
}

/* A row for each heap would be 20,000. */
static void heaps_that_are_not_shown_have_one_row_together(void **state)
{
    (void)state;
    const u32 heaps = 20000;
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 4, "app.exe");
    for (u32 i = 0; i < heaps; i++)
        hand_lifetime(result, &(lifetime){ .alloc_ticks = HAND_START_TICKS + i,
                                           .free_ticks = ETLHEAP_TICKS_NEVER,
                                           .size = 1 + i % 100,
                                           .heap = 0x10000 * (u64)(i + 1),
                                           .process = process });
    hand_ready(result, HAND_START_TICKS + heaps);
    etlheap_query query = etlheap_query_default();
    query.whole_rows_max = 10;
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, 11);
    u32 rows = 0;
    for (u32 i = 0; i < table->row_count; i++) {
        assert_int_equal(table->rows[i].has_heap, table->rows[i].merged_rows == 0);
        rows += table->rows[i].merged_rows == 0 ? 1 : table->rows[i].merged_rows;
    }
    assert_int_equal(rows, heaps);
    etlheap_table_free(table);
    etlheap_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole_or_added_up),
        cmocka_unit_test(outlines_do_not_change),
        cmocka_unit_test(rows_stay_whole_unless_the_stack_comes_last),
        cmocka_unit_test(a_limit_beyond_all_rows_is_none),
        cmocka_unit_test(windows_have_every_row),
        cmocka_unit_test(heaps_that_are_not_shown_have_one_row_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
