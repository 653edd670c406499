/*
 * Goal: a histogram has every lifetime of a query in the bucket whose bounds
 * enclose its size or its length, by kind and by process.
 * Method: bounds by hand at powers of two, and in steps of 1, 2 and 5; random lifetimes against
 * buckets that are found by trying all bounds one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"
#include "tests/models/group_model.h"

#define TICK(n) (HAND_START_TICKS + (i64)(n))

static void add(etlheap_result *result, u32 process, u64 size, i64 a, i64 f)
{
    const lifetime row = { .alloc_ticks = a == INT64_MIN ? ETLHEAP_TICKS_BEFORE : TICK(a),
                           .free_ticks = f == INT64_MAX ? ETLHEAP_TICKS_NEVER : TICK(f),
                           .size = size,
                           .process = process,
                           .thread = ETL_NO_ID,
                           .kind = ETLHEAP_KIND_VIRTUALALLOC,
                           .free_type = f == INT64_MAX ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
    hand_lifetime(result, &row);
}

static const etlheap_histogram *spread(const etlheap_result *result, const etlheap_query *query,
                                       etlheap_histogram_by by)
{
    const etlheap_histogram *out = NULL;
    assert_int_equal(etlheap_histogram_make(result, query, by, &out, NULL), ETL_OK);
    assert_int_equal(out->by, by);
    return out;
}

static void assert_bucket(const etlheap_bucket *bucket, u64 from, u64 to, i64 count)
{
    assert_false(bucket->is_open);
    assert_int_equal(bucket->from, from);
    assert_int_equal(bucket->to, to);
    assert_int_equal(bucket->count, count);
}

static void bounds_are_powers_of_two_without_gaps(void **state)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    const u64 sizes[] = { 0, 1, 7, 8, 9, 15 };
    etlheap_query query = etlheap_query_default();
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++)
        add(result, process, sizes[i], 1, INT64_MAX);
    hand_ready(result, TICK(100));
    query.group_by_count = 0;
    const etlheap_histogram *const made = spread(result, &query, ETLHEAP_HISTOGRAM_SIZE);
    assert_int_equal(made->bucket_count, 5);
    assert_bucket(&made->buckets[0], 0, 1, 1);
    assert_bucket(&made->buckets[1], 1, 2, 1);
    assert_bucket(&made->buckets[2], 2, 4, 0);
    assert_bucket(&made->buckets[3], 4, 8, 1);
    assert_bucket(&made->buckets[4], 8, 16, 3);
    assert_int_equal(made->buckets[4].size_bytes, 32);
    assert_int_equal(made->buckets[4].outstanding_count, 3);
    assert_null(made->buckets[4].process);
    etlheap_histogram_free(made);
    etlheap_result_free(result);
}

static void largest_size_has_a_bucket(void **state)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    etlheap_query query = etlheap_query_default();
    (void)state;
    add(result, process, UINT64_MAX, 1, 5);
    add(result, process, UINT64_MAX, 1, INT64_MAX);
    hand_ready(result, TICK(100));
    const etlheap_histogram *const made = spread(result, &query, ETLHEAP_HISTOGRAM_SIZE);
    assert_int_equal(made->bucket_count, 1);
    assert_bucket(made->buckets, (u64)1 << 63, UINT64_MAX, 2);
    assert_int_equal(made->buckets[0].size_bytes, INT64_MAX);
    etlheap_histogram_free(made);
    etlheap_result_free(result);
}

/* Lifetimes at both sides of each bound; ticks are 100 ns, so 0 to 1 is the only one below them. */
static void lifetimes_go_in_steps_of_1_2_and_5(void **state)
{
    static const i64 ticks[] = { 0, 1, 2, 4, 5, 9, 10, 19, 20, 99999, 100000 };
    static const u64 bounds[][3] = {
        { 0, 1, 1 },       { 100, 200, 1 },   { 200, 500, 2 },          { 500, 1000, 2 },
        { 1000, 2000, 2 }, { 2000, 5000, 1 }, { 5000000, 10000000, 1 }, { 10000000, 20000000, 1 },
    };
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    etlheap_query query = etlheap_query_default();
    u32 found = 0;
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(ticks); i++)
        add(result, process, 1, 1, 1 + ticks[i]);
    hand_ready(result, TICK(200000));
    const etlheap_histogram *const made = spread(result, &query, ETLHEAP_HISTOGRAM_LIFETIME);
    for (u32 i = 0; i < made->bucket_count; i++) {
        const etlheap_bucket *const bucket = &made->buckets[i];
        if (i > 0)
            assert_int_equal(bucket->from, bucket[-1].to);
        if (bucket->count > 0) {
            assert_bucket(bucket, bounds[found][0], bounds[found][1], (i64)bounds[found][2]);
            found++;
        }
    }
    assert_int_equal(found, ETL_COUNT_OF(bounds));
    etlheap_histogram_free(made);
    etlheap_result_free(result);
}

/* Of what began before the trace or has not ended, nobody knows how long it lives. */
static void lifetimes_without_both_ends_are_apart(void **state)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    etlheap_query query = etlheap_query_default();
    (void)state;
    add(result, process, 10, INT64_MIN, 50);
    add(result, process, 20, 10, INT64_MAX);
    add(result, process, 30, 10, 20); /* 1000 ns */
    hand_ready(result, TICK(100));
    const etlheap_histogram *const made = spread(result, &query, ETLHEAP_HISTOGRAM_LIFETIME);
    assert_int_equal(made->bucket_count, 2);
    assert_bucket(&made->buckets[0], 1000, 2000, 1);
    assert_true(made->buckets[1].is_open);
    assert_int_equal(made->buckets[1].count, 2);
    assert_int_equal(made->buckets[1].size_bytes, 30);
    assert_int_equal(made->buckets[1].outstanding_size_bytes, 20);
    etlheap_histogram_free(made);
    etlheap_result_free(result);
}

static void nothing_selected_has_no_buckets(void **state)
{
    etlheap_result *const result = hand_result_new();
    etlheap_query query = etlheap_query_default();
    (void)state;
    hand_ready(result, TICK(100));
    const etlheap_histogram *const made = spread(result, &query, ETLHEAP_HISTOGRAM_SIZE);
    assert_int_equal(made->bucket_count, 0);
    etlheap_histogram_free(made);
    etlheap_histogram_free(NULL);
    etlheap_result_free(result);
}

/* --- random lifetimes -------------------------------------------------------------------- */

/* The sums of a bucket, over all rows again. */
static etlheap_bucket plain_bucket(const model_world *world, const etlheap_query *query,
                                   const etlheap_bucket *of, etlheap_histogram_by by)
{
    etlheap_bucket out = { .kind = of->kind };
    const i64 to_ticks = query->to_ns == INT64_MAX ? INT64_MAX : TICK(query->to_ns / HAND_TICK_NS);
    for (u32 i = 0; i < MODEL_ROWS; i++) {
        const lifetime *const row = &world->rows[i];
        const etlheap_process_info *const info = &world->result->processes.at[row->process - 1];
        const bool exits = row->free_type == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed;
        const i64 end = exits ? ETLHEAP_TICKS_NEVER : row->free_ticks;
        const bool is_ended =
            end != ETLHEAP_TICKS_NEVER && row->alloc_ticks != ETLHEAP_TICKS_BEFORE;
        const bool is_open = by == ETLHEAP_HISTOGRAM_LIFETIME && !is_ended;
        if (row->kind != of->kind || row->alloc_ticks >= to_ticks || is_open != of->is_open)
            continue;
        if (of->process != NULL && (info->pid != of->pid || strcmp(info->name, of->process) != 0))
            continue;
        const u64 value = by == ETLHEAP_HISTOGRAM_SIZE || is_open
                              ? row->size
                              : (u64)((end - row->alloc_ticks) * HAND_TICK_NS);
        if (!is_open && (value < of->from || value >= of->to))
            continue;
        out.count++;
        out.size_bytes += (i64)row->size;
        if (end >= to_ticks) {
            out.outstanding_count++;
            out.outstanding_size_bytes += (i64)row->size;
        }
    }
    return out;
}

static void compare(const model_world *world, const etlheap_query *query, etlheap_histogram_by by)
{
    const etlheap_histogram *const made = spread(world->result, query, by);
    i64 counted = 0, selected = 0;
    for (u32 i = 0; i < made->bucket_count; i++) {
        const etlheap_bucket *const got = &made->buckets[i];
        const etlheap_bucket wanted = plain_bucket(world, query, got, by);
        assert_int_equal(got->count, wanted.count);
        assert_int_equal(got->size_bytes, wanted.size_bytes);
        assert_int_equal(got->outstanding_count, wanted.outstanding_count);
        assert_int_equal(got->outstanding_size_bytes, wanted.outstanding_size_bytes);
        counted += got->count;
    }
    /* Reserved ranges are among what is asked for only if they are named. */
    for (u32 i = 0; i < MODEL_ROWS; i++)
        selected += (ETLHEAP_KINDS_DEFAULT >> world->rows[i].kind & 1) != 0 &&
                    (query->to_ns == INT64_MAX ||
                     world->rows[i].alloc_ticks < TICK(query->to_ns / HAND_TICK_NS));
    assert_int_equal(counted, selected);
    etlheap_histogram_free(made);
}

static void random_lifetimes_agree_with_trying_all_bounds(void **state)
{
    (void)state;
    for (u64 round = 1; round <= 4; round++) {
        model_world *const world = model_world_new(round);
        etlheap_query query = etlheap_query_default();
        query.at_exit_freed = round % 2 == 0;
        if (round > 2)
            query.to_ns = MODEL_TICKS / 2 * HAND_TICK_NS;
        for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++) {
            query.group_by_count = 2; /* kind, process */
            compare(world, &query, (etlheap_histogram_by)by);
            query.group_by_count = 1;
            compare(world, &query, (etlheap_histogram_by)by);
        }
        model_world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_powers_of_two_without_gaps),
        cmocka_unit_test(largest_size_has_a_bucket),
        cmocka_unit_test(lifetimes_go_in_steps_of_1_2_and_5),
        cmocka_unit_test(lifetimes_without_both_ends_are_apart),
        cmocka_unit_test(nothing_selected_has_no_buckets),
        cmocka_unit_test(random_lifetimes_agree_with_trying_all_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
