/*
 * Goal: rows group lifetimes by what their keys show and nothing else, sum what
 * cli.md says, and stand in a total order.
 * Method: random lifetimes and random queries; each table is written out as the
 * model of group_model.h writes its rows, and compared with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/fold/aggregate.h"
#include "tests/models/group_model.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/run_check.h"

#define T0 HAND_START_TICKS

/* --- the table as the model would write it ------------------------------------------ */

static void put_table_frame(model_text *out, const etlheap_table *table, u32 frame)
{
    model_put_frame(out, table->frames[frame].module, table->frames[frame].offset);
}

static void put_generation(model_text *out, const etlheap_row *row)
{
    static const char *const marks[] = { "?", "a", "b", "c", "a", "d" };
    assert_string_equal(row->mark == NULL ? "?" : row->mark, marks[row->generation]);
    assert_int_equal(row->mark_number, row->generation == 4 ? 2 : row->generation > 0);
    model_put(out, " %u", row->generation);
}

static void put_table_key(model_text *out, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key)
{
    model_put(out, " %s", etlheap_key_word(key));
    const etlheap_key_value value = etlheap_row_value(row, key);
    const unsigned long long number = value.number;
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        model_put(out, " %s %llu", value.text, number);
        break;
    case ETLHEAP_FORM_HEAP:
        model_put(out, " %d %llx", value.is_known, number);
        break;
    case ETLHEAP_FORM_STACK:
        if (row->stack == ETLHEAP_NO_INDEX)
            break;
        for (u32 i = table->stack_starts[row->stack]; i < table->stack_starts[row->stack + 1]; i++)
            put_table_frame(out, table, table->frame_indices[i]);
        break;
    case ETLHEAP_FORM_FRAME:
        if (row->frame != ETLHEAP_NO_INDEX)
            put_table_frame(out, table, row->frame);
        break;
    case ETLHEAP_FORM_THREAD:
    case ETLHEAP_FORM_SIZE:
        model_put(out, " %llu", number);
        break;
    case ETLHEAP_FORM_GENERATION:
        put_generation(out, row);
        break;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_TYPE:
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        model_put(out, " %s", value.is_known ? value.text : "?");
        break;
    }
}

/* Who freed is known of logs and stores alone: test_free_side.c. */
static bool is_key_of_lifetimes(int key)
{
    return !etlheap_key_is_of_free((etlheap_key)key);
}

static void row_key(const etlheap_table *table, u32 row, char key[MODEL_KEY_TEXT])
{
    model_text out = { key, MODEL_KEY_TEXT };
    key[0] = '\0';
    for (u32 i = 0; i < table->group_by_count; i++)
        put_table_key(&out, table, &table->rows[row], table->group_by[i]);
}

static void expect_model(const model *m, const etlheap_table *table)
{
    assert_int_equal(table->row_count, m->count);
    for (u32 i = 0; i < table->row_count; i++) {
        char key[MODEL_KEY_TEXT];
        row_key(table, i, key);
        u32 found = 0;
        while (found < m->count && strcmp(m->rows[found].key, key) != 0)
            found++;
        assert_true(found < m->count);
        for (u32 k = 0; k <= ETLHEAP_MEASURE_PEAK_SIZE; k++) /* those that all tables have */
            assert_int_equal(table->rows[i].measures[k], m->rows[found].measures[k]);
        for (u32 k = ETLHEAP_MEASURE_EXCLUSIVE_COUNT; k <= ETLHEAP_MEASURE_EXCLUSIVE_SIZE; k++)
            assert_int_equal(table->rows[i].measures[k], m->rows[found].measures[k]);
        for (u32 k = 0; k < i; k++) {
            char other[MODEL_KEY_TEXT];
            row_key(table, k, other);
            assert_string_not_equal(key, other);
        }
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (u32 k = 0; k < ETLHEAP_MEASURE_PEAK_COUNT; k++)
            assert_int_equal(table->totals[kind].measures[k], m->totals[kind][k]);
    }
}

/* --- order ---------------------------------------------------------------------------- */

static int compare_numbers(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int compare_names(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

static int compare_frames(const etlheap_table *table, u32 a, u32 b)
{
    if (a == ETLHEAP_NO_INDEX || b == ETLHEAP_NO_INDEX)
        return (a != ETLHEAP_NO_INDEX) - (b != ETLHEAP_NO_INDEX);
    const int order = compare_names(table->frames[a].module, table->frames[b].module);
    return order != 0 ? order : compare_numbers(table->frames[a].offset, table->frames[b].offset);
}

static int compare_stacks(const etlheap_table *table, u32 a, u32 b)
{
    if (a == ETLHEAP_NO_INDEX || b == ETLHEAP_NO_INDEX)
        return (a != ETLHEAP_NO_INDEX) - (b != ETLHEAP_NO_INDEX);
    const u32 *const x = table->frame_indices + table->stack_starts[a];
    const u32 *const y = table->frame_indices + table->stack_starts[b];
    const u32 count_x = table->stack_starts[a + 1] - table->stack_starts[a];
    const u32 count_y = table->stack_starts[b + 1] - table->stack_starts[b];
    for (u32 i = 0; i < count_x && i < count_y; i++) {
        const int order = compare_frames(table, x[i], y[i]);
        if (order != 0)
            return order;
    }
    return compare_numbers(count_x, count_y);
}

/* The columns in the order of engine.h. */
static int compare_rows(const etlheap_table *table, const etlheap_row *a, const etlheap_row *b)
{
    const int orders[] = { compare_numbers(a->kind, b->kind),
                           compare_names(a->process, b->process),
                           compare_numbers(a->pid, b->pid),
                           compare_numbers(a->heap_handle, b->heap_handle),
                           compare_numbers(a->has_heap, b->has_heap),
                           compare_numbers(a->type, b->type),
                           compare_numbers(a->free_type, b->free_type),
                           compare_stacks(table, a->stack, b->stack),
                           compare_frames(table, a->frame, b->frame),
                           compare_names(a->module, b->module),
                           compare_numbers(a->thread, b->thread),
                           compare_numbers(a->size_class_bytes, b->size_class_bytes),
                           compare_names(a->tag, b->tag),
                           compare_numbers(a->generation, b->generation) };
    for (size_t i = 0; i < ETL_COUNT_OF(orders); i++) {
        if (orders[i] != 0)
            return orders[i];
    }
    return 0;
}

static void expect_order(const etlheap_table *table, const etlheap_query *query)
{
    for (u32 i = 0; i + 1 < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const i64 here = row->measures[query->sort], next = row[1].measures[query->sort];
        if (here == next)
            assert_true(compare_rows(table, row, row + 1) < 0);
        else
            assert_int_equal(here < next, query->sort_ascending);
    }
}

/* Numbered in order of first use, and every one of them is used. */
static void expect_numbering(const etlheap_table *table)
{
    u32 stacks = 0, frames = 0;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if (row->frame != ETLHEAP_NO_INDEX) {
            assert_true(row->frame <= frames);
            frames += row->frame == frames;
        }
        if (row->stack == ETLHEAP_NO_INDEX)
            continue;
        assert_true(row->stack <= stacks);
        if (row->stack < stacks)
            continue;
        stacks++;
        for (u32 k = table->stack_starts[row->stack]; k < table->stack_starts[row->stack + 1];
             k++) {
            assert_true(table->frame_indices[k] <= frames);
            frames += table->frame_indices[k] == frames;
        }
    }
    assert_int_equal(table->stack_count, stacks);
    assert_int_equal(table->frame_count, frames);
}

/* --- tests --------------------------------------------------------------------------------- */

static etlheap_table *aggregate(const model_world *world, const etlheap_query *query)
{
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(world->result, query, &table, NULL), ETL_OK);
    return table;
}

/* Kinds are never added together: the key comes first if it is missing. */
static etlheap_query with_kind(const etlheap_query *query)
{
    etlheap_query out = *query;
    const bool one_kind = query->kinds != 0 && (query->kinds & (query->kinds - 1)) == 0;
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (one_kind || query->group_by[i] == ETLHEAP_KEY_KIND)
            return out;
    }
    if (one_kind)
        return out;
    memmove(out.group_by + 1, query->group_by, query->group_by_count * sizeof out.group_by[0]);
    out.group_by[0] = ETLHEAP_KEY_KIND;
    out.group_by_count++;
    return out;
}

static void check_query(const model_world *world, const etlheap_query *query, model *m)
{
    const etlheap_query by_kind = with_kind(query);
    model_make(m, world, &by_kind);
    etlheap_table *const table = aggregate(world, query);
    assert_int_equal(table->from_ns, query->from_ns);
    assert_int_equal(table->to_ns, query->to_ns);
    expect_model(m, table);
    expect_order(table, query);
    expect_numbering(table);
    etlheap_table_free(table);
}

static etlheap_query whole_query(const model_world *world)
{
    etlheap_query query = etlheap_query_default();
    query.tags = world->tags;
    query.from_ns = 0;
    query.to_ns = (MODEL_TICKS + 61) * HAND_TICK_NS;
    return query;
}

static void each_key_alone_groups_by_what_it_shows(void **state)
{
    (void)state;
    model *const m = malloc(sizeof *m);
    assert_non_null(m);
    model_world *const world = model_world_new(1);
    etlheap_query query = whole_query(world);
    query.group_by_count = 1;
    for (int key = 0; key < ETLHEAP_KEY_COUNT; key++) {
        query.group_by[0] = (etlheap_key)key;
        if (is_key_of_lifetimes(key))
            check_query(world, &query, m);
    }
    model_world_free(world);
    free(m);
}

static void no_key_is_one_row_of_each_kind(void **state)
{
    (void)state;
    model *const m = malloc(sizeof *m);
    assert_non_null(m);
    model_world *const world = model_world_new(2);
    etlheap_query query = whole_query(world);
    query.group_by_count = 0;
    check_query(world, &query, m);
    assert_int_equal(m->count, __builtin_popcount(ETLHEAP_KINDS_DEFAULT));
    query.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    check_query(world, &query, m);
    assert_int_equal(m->count, 1);
    etlheap_table *const table = aggregate(world, &query);
    assert_int_equal(table->rows[0].kind, ETLHEAP_KIND_VIRTUALALLOC); /* set without the key */
    etlheap_table_free(table);
    model_world_free(world);
    free(m);
}

/* Some keys in some order, a window, an order, filters that need stacks. */
static etlheap_query random_query(const model_world *world, u64 *random)
{
    static const etlheap_pattern ntdll = { .module = "ntdll.dll" }, app = { .module = "app.exe" };
    static const etlheap_pattern lib = { .module = "lib.dll" };
    etlheap_query query = whole_query(world);
    query.group_by_count = 0;
    for (int key = 0; key < ETLHEAP_KEY_COUNT; key++) {
        bool fits = hand_random(random) % 3 == 0 && is_key_of_lifetimes(key);
        for (u32 i = 0; i < query.group_by_count; i++)
            fits &= !etlheap_keys_exclude(query.group_by[i], (etlheap_key)key);
        if (fits)
            query.group_by[query.group_by_count++] = (etlheap_key)key;
    }
    for (u32 i = query.group_by_count; i > 1; i--) {
        const u32 other = hand_random(random) % i;
        const etlheap_key swap = query.group_by[i - 1];
        query.group_by[i - 1] = query.group_by[other];
        query.group_by[other] = swap;
    }
    query.from_ns = (i64)(hand_random(random) % MODEL_TICKS) * HAND_TICK_NS;
    query.to_ns = query.from_ns + (i64)(1 + hand_random(random) % 200) * HAND_TICK_NS;
    query.at_exit_freed = hand_random(random) % 2;
    query.left_behind = hand_random(random) % 3 == 0;
    query.kinds = hand_random(random) % 8;
    query.sort = (etlheap_measure)(hand_random(random) % (ETLHEAP_MEASURE_PEAK_SIZE + 1));
    for (u32 i = 0; i < query.group_by_count; i++) {
        if (query.group_by[i] == ETLHEAP_KEY_FUNCTION && hand_random(random) % 3 == 0)
            query.sort = ETLHEAP_MEASURE_EXCLUSIVE_SIZE;
    }
    query.sort_ascending = hand_random(random) % 2;
    query.cull_frames = &ntdll;
    query.cull_frame_count = hand_random(random) % 2;
    query.require_frames = &app;
    query.require_frame_count = hand_random(random) % 4 == 0;
    query.exclude_frames = &lib;
    query.exclude_frame_count = hand_random(random) % 3 == 0;
    query.fold_modules = hand_random(random) % 2 ? &lib : &ntdll;
    query.fold_module_count = hand_random(random) % 3 == 0;
    query.only_excluded = query.exclude_frame_count > 0 && hand_random(random) % 3 == 0;
    query.jobs = 1 + hand_random(random) % 3;
    return query;
}

static void any_query_gives_what_the_model_gives(void **state)
{
    (void)state;
    model *const m = malloc(sizeof *m);
    assert_non_null(m);
    u64 random = 99;
    for (u64 seed = 3; seed < 8; seed++) {
        model_world *const world = model_world_new(seed);
        for (u32 i = 0; i < 24; i++) {
            const etlheap_query query = random_query(world, &random);
            check_query(world, &query, m);
        }
        model_world_free(world);
    }
    free(m);
}

static void keeping_the_top_keeps_what_it_refers_to(void **state)
{
    (void)state;
    model_world *const world = model_world_new(9);
    etlheap_query query = whole_query(world);
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_FRAME;
    etlheap_table *const full = aggregate(world, &query);
    const u32 counts[] = { 0, 1, 2, full->row_count / 2, full->row_count, full->row_count + 1 };
    for (size_t i = 0; i < ETL_COUNT_OF(counts); i++) {
        etlheap_table *top = aggregate(world, &query);
        assert_int_equal(etlheap_table_keep_top(top, counts[i], NULL), ETL_OK);
        const u32 kept = counts[i] < full->row_count ? counts[i] : full->row_count;
        assert_int_equal(top->row_count, kept);
        expect_numbering(top);
        for (u32 row = 0; row < kept; row++) {
            char of_top[MODEL_KEY_TEXT], of_full[MODEL_KEY_TEXT];
            row_key(top, row, of_top);
            row_key(full, row, of_full);
            assert_string_equal(of_top, of_full);
        }
        assert_memory_equal(top->totals, full->totals, sizeof top->totals);
        etlheap_table_free(top);
    }
    etlheap_table_free(full);
    model_world_free(world);
}

/* Rows that will not be shown are not made at all, except where a row depends on all. */
static void rows_beyond_the_most_are_not_made(void **state)
{
    (void)state;
    static const u32 counts[] = { 1, 2, 7, 100000 };
    const etlheap_measure_set of_heaps = ETLHEAP_MEASURE_BIT(COMMITTED_SIZE);
    model_world *const world = model_world_new(10);
    u64 random = 5;
    u32 cut = 0;
    for (u32 i = 0; i < 60; i++) {
        etlheap_query query = random_query(world, &random);
        etlheap_table *const kept = aggregate(world, &query);
        const u32 whole = kept->row_count, most = counts[i % ETL_COUNT_OF(counts)];
        assert_int_equal(etlheap_table_keep_top(kept, most, NULL), ETL_OK);
        query.rows_max = most;
        etlheap_table *const made = aggregate(world, &query);
        const bool makes_all = (etlheap_query_measures(&query) & of_heaps) != 0;
        assert_int_equal(made->row_count, makes_all || whole < most ? whole : most);
        cut += made->row_count < whole;
        assert_int_equal(etlheap_table_keep_top(made, most, NULL), ETL_OK);
        char *const expected = check_table_text(kept), *const found = check_table_text(made);
        assert_true(check_same_text(expected, found));
        assert_memory_equal(made->totals, kept->totals, sizeof made->totals);
        free(expected);
        free(found);
        etlheap_table_free(kept);
        etlheap_table_free(made);
    }
    assert_true(cut > 20);
    model_world_free(world);
}

/* --- totals ------------------------------------------------------------------------------- */

static void totals_count_frees_of_selected_processes(void **state)
{
    (void)state;
    model_world *const world = model_world_new(10);
    for (u32 i = 0; i < MODEL_PROCESSES; i++)
        world->result->processes.at[i].free_without_alloc[ETLHEAP_KIND_HEAP] = (u64)1 << i;
    etlheap_query query = whole_query(world);
    const char *const words[] = { "a.exe" };
    query.processes = words;
    query.process_count = 1;
    etlheap_table *const table = aggregate(world, &query);
    assert_int_equal(table->totals[ETLHEAP_KIND_HEAP].free_without_alloc, 1 + 4 + 16);
    assert_int_equal(table->totals[ETLHEAP_KIND_EXTENT].free_without_alloc, 0);
    etlheap_table_free(table);
    model_world_free(world);
}

static void a_kind_is_present_when_the_trace_has_it(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    hand_ready(result, T0 + 10);
    etlheap_query query = etlheap_query_default();
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, 0);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        assert_false(table->totals[kind].present);
    etlheap_table_free(table);
    result->abilities.kinds = 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_EXTENT;
    query.kinds = 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_VIRTUALALLOC;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    assert_true(table->totals[ETLHEAP_KIND_HEAP].present);
    assert_false(table->totals[ETLHEAP_KIND_VIRTUALALLOC].present);
    assert_false(table->totals[ETLHEAP_KIND_EXTENT].present);
    etlheap_table_free(table);
    etlheap_result_free(result);
}

/* Three sizes that no sum of 63 bits holds, and three that leave. */
static void sums_saturate(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    lifetime row = { .process = hand_process(result, 1, "a.exe"), .size = UINT64_MAX };
    for (u32 i = 0; i < 3; i++) {
        row.alloc_ticks = T0 + i;
        row.free_ticks = ETLHEAP_TICKS_NEVER;
        hand_lifetime(result, &row);
        row.alloc_ticks = ETLHEAP_TICKS_BEFORE;
        row.free_ticks = T0 + 5 + i;
        row.free_type = ETLHEAP_FREE_FREE;
        hand_lifetime(result, &row);
    }
    hand_ready(result, T0 + 10);
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_TYPE;
    query.group_by[1] = ETLHEAP_KEY_SIZE_CLASS;
    query.group_by_count = 2;
    query.sort_ascending = true;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, 2);
    const i64 *const left = table->rows[0].measures, *const came = table->rows[1].measures;
    assert_true(left[ETLHEAP_MEASURE_IMPACTING_SIZE] <= -INT64_MAX);
    assert_int_equal(came[ETLHEAP_MEASURE_IMPACTING_SIZE], INT64_MAX);
    assert_int_equal(came[ETLHEAP_MEASURE_SIZE], INT64_MAX);
    assert_int_equal(came[ETLHEAP_MEASURE_OUTSTANDING_SIZE], INT64_MAX);
    assert_int_equal(came[ETLHEAP_MEASURE_PEAK_SIZE], INT64_MAX);
    assert_int_equal(came[ETLHEAP_MEASURE_PEAK_COUNT], 3);
    assert_true(table->rows[0].size_class_bytes == (u64)1 << 63);
    etlheap_table_free(table);
    etlheap_result_free(result);
}

static void freeing_no_table_is_allowed(void **state)
{
    (void)state;
    etlheap_table_free(NULL);
    etlheap_result_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_alone_groups_by_what_it_shows),
        cmocka_unit_test(no_key_is_one_row_of_each_kind),
        cmocka_unit_test(any_query_gives_what_the_model_gives),
        cmocka_unit_test(keeping_the_top_keeps_what_it_refers_to),
        cmocka_unit_test(rows_beyond_the_most_are_not_made),
        cmocka_unit_test(totals_count_frees_of_selected_processes),
        cmocka_unit_test(a_kind_is_present_when_the_trace_has_it),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(freeing_no_table_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
