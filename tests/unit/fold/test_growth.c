/*
 * Goal: a constant leak has its rate and steadiness 100, what was allocated once has
 * neither, and waves cancel out; measures of rows are those of their curves.
 * Method: curves by hand; random curves against sorted lists of all slopes; random
 * lifetimes, whose samples are counted one by one, against rows of a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/growth.h"
#include "tests/models/group_model.h"
#include "tests/support/hand_bytes.h"

#define T0     HAND_START_TICKS
#define LAST   (GROWTH_SAMPLES - 1)
#define SECOND INT64_C(1000000000)
#define PAIRS  (GROWTH_SAMPLES * LAST / 2)

/* --- curves -------------------------------------------------------------------------- */

typedef struct curve {
    i64 times_ns[GROWTH_SAMPLES], sizes[GROWTH_SAMPLES];
} curve;

/* Nothing yet, a sample each second. */
static curve flat(void)
{
    curve made = { .sizes = { 0 } };
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        made.times_ns[i] = i * SECOND;
    return made;
}

static growth_rating rate(const curve *c)
{
    sample_times times;
    memcpy(times.times_ns, c->times_ns, sizeof times.times_ns);
    sample_times_prepare(&times);
    return growth_rate(&times, c->sizes);
}

static void expect(const curve *c, i64 wanted, i64 steadiness)
{
    const growth_rating got = rate(c);
    assert_int_equal(got.rate, wanted);
    assert_int_equal(got.steadiness, steadiness);
}

static void what_stands_still_does_not_grow(void **state)
{
    (void)state;
    curve c = flat();
    expect(&c, 0, 0);
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = 1 << 20;
    expect(&c, 0, 0);
}

static void a_constant_leak_has_its_rate_and_is_steady(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = 1000 + 4096 * (i64)i;
    expect(&c, 4096, 100);
}

static void what_shrinks_steadily_has_a_negative_rate_and_steadiness_minus_100(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = 1000000 - 4096 * (i64)i;
    expect(&c, -4096, -100);
}

static void a_step_is_no_growth_wherever_it_is(void **state)
{
    (void)state;
    for (u32 at = 1; at < GROWTH_SAMPLES; at++) {
        curve c = flat();
        for (u32 i = at; i < GROWTH_SAMPLES; i++)
            c.sizes[i] = 10 << 20;
        expect(&c, 0, at * (GROWTH_SAMPLES - at) * 100 / PAIRS);
    }
}

/* One block in four seconds: most samples are those before. */
static void a_slow_leak_is_steady_too(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = 4000 * (i64)(i / 4);
    const growth_rating got = rate(&c);
    assert_in_range(got.rate, 900, 1100);
    assert_in_range(got.steadiness, 85, 95);
}

static void waves_cancel_out(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 period = 2; period <= 7; period++) {
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            c.sizes[i] = 10000 * (i64)(i % period);
        const growth_rating got = rate(&c);
        assert_true(got.rate >= -100 && got.rate <= 100);
        assert_true(got.steadiness >= -12 && got.steadiness <= 12);
    }
}

static void a_leak_stands_out_of_waves(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = 5000 * (i64)i + 10000 * (i64)(i % 3);
    const growth_rating got = rate(&c);
    assert_in_range(got.rate, 4700, 5300);
    assert_in_range(got.steadiness, 90, 100);
}

/* A window of fewer ticks than samples. */
static void samples_of_one_time_make_no_pairs(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        c.times_ns[i] = i / 11 * SECOND;
        c.sizes[i] = i / 11 * 7;
    }
    expect(&c, 7, 100);
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.times_ns[i] = 0;
    expect(&c, 0, 0);
}

static void the_largest_sizes_do_not_overflow(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        c.times_ns[i] = i;
        c.sizes[i] = i < 3 ? 0 : INT64_MAX;
    }
    expect(&c, 0, 17);
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        c.sizes[i] = INT64_MAX / LAST * i;
    expect(&c, INT64_MAX, 100);
}

/* Rises that do not fit when they are counted in a billionth of a byte. */
/* A window from before time zero to a damaged last time is longer than 63 bits. Each of its
 * samples comes later than the one before, so growth is positive. */
static void the_longest_window_does_not_overflow(void **state)
{
    (void)state;
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        c.times_ns[i] = sample_time_ns(INT64_MIN, INT64_MAX, i);
        c.sizes[i] = INT64_MAX / LAST * i;
    }
    sample_times times;
    memcpy(times.times_ns, c.times_ns, sizeof times.times_ns);
    sample_times_prepare(&times);
    assert_true(times.per_second[0].at[LAST] > 0);
    assert_true(times.per_second[LAST].at[0] < 0);
    const growth_rating got = rate(&c);
    assert_int_equal(got.steadiness, 100);
    assert_in_range(got.rate, SECOND / 2 - 1, SECOND / 2 + 1);
}

static void a_leak_of_terabytes_has_its_rate(void **state)
{
    (void)state;
    for (i64 sign = -1; sign <= 1; sign += 2) {
        curve c = flat();
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            c.sizes[i] = ((i64)1 << 50) + sign * (i64)i * ((i64)1 << 40);
        expect(&c, sign * ((i64)1 << 40), sign * 100);
    }
}

/* --- random curves ---------------------------------------------------------------------- */

__extension__ typedef __int128 i128;

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Of an even number that of the two in the middle that is nearer to zero. */
static i64 naive_median(i64 *values, u32 count)
{
    qsort(values, count, sizeof values[0], by_value);
    const i64 low = values[(count - 1) / 2], high = values[count / 2];
    return low > 0 ? low : high < 0 ? high : 0;
}

static growth_rating naive_rating(const curve *c)
{
    i64 medians[GROWTH_SAMPLES], slopes[GROWTH_SAMPLES];
    i64 pairs = 0, rises = 0, falls = 0;
    u32 count = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        u32 others = 0;
        for (u32 k = 0; k < GROWTH_SAMPLES; k++) {
            const i64 more = c->sizes[k] - c->sizes[i], time = c->times_ns[k] - c->times_ns[i];
            if (time == 0)
                continue;
            slopes[others++] = (i64)((i128)more * SECOND / time);
            pairs += k > i;
            rises += k > i && more > 0;
            falls += k > i && more < 0;
        }
        if (others > 0)
            medians[count++] = naive_median(slopes, others);
    }
    if (pairs == 0)
        return (growth_rating){ 0, 0 };
    return (growth_rating){ naive_median(medians, count),
                            pairs > 0 ? (rises - falls) * 100 / pairs : 0 };
}

static void random_curves_are_rated_as_the_model_rates_them(void **state)
{
    (void)state;
    u64 random = 7;
    for (u32 round = 0; round < 3000; round++) {
        const u32 spread = 1 + hand_random(&random) % 50;
        const i64 trend = (i64)(hand_random(&random) % 21) - 10;
        curve c = flat();
        for (u32 i = 1; i < GROWTH_SAMPLES; i++) {
            c.times_ns[i] = c.times_ns[i - 1] + hand_random(&random) % 3 * (SECOND / 3);
            c.sizes[i] = trend * i + hand_random(&random) % spread;
        }
        const growth_rating wanted = naive_rating(&c);
        expect(&c, wanted.rate, wanted.steadiness);
    }
}

/* Sizes of any magnitude, up to where rates that are estimated and rates that are whole numbers or
 * beside one are told apart by division alone. */
static void large_curves_are_rated_as_the_model_rates_them(void **state)
{
    (void)state;
    u64 random = 11;
    for (u32 round = 0; round < 20000; round++) {
        const u32 bits = hand_random(&random) % 60;
        const i64 step = ((i64)1 << bits) / 40 + 1;
        const i64 trend = (i64)(hand_random(&random) % 3) - 1;
        const bool is_even = hand_random(&random) % 2 == 0;
        curve c = flat();
        for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
            const u64 noise = (u64)hand_random(&random) << 31 ^ hand_random(&random);
            c.times_ns[i] = (i64)i * (is_even ? 2 * SECOND : 1600000007) + (i64)(noise % 3 == 0);
            c.sizes[i] = 33 * step + trend * step * i + (i64)(noise % (u64)(4 * step));
        }
        const growth_rating wanted = naive_rating(&c);
        expect(&c, wanted.rate, wanted.steadiness);
    }
}

/* --- rows ------------------------------------------------------------------------------- */

static i64 end_of(const lifetime *row, const etlheap_query *query)
{
    const bool stays = row->free_type == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed;
    return stays ? ETLHEAP_TICKS_NEVER : row->free_ticks;
}

/* Samples of a group by looking at all of its lifetimes each time. */
static curve curve_of(const model_world *world, const etlheap_query *query, const model_row *group)
{
    curve c = flat();
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        c.times_ns[i] = query->from_ns + (query->to_ns - query->from_ns) * i / LAST;
        const i64 at = T0 + (c.times_ns[i] + HAND_TICK_NS - 1) / HAND_TICK_NS;
        for (u32 k = 0; k < group->member_count; k++) {
            const lifetime *const row = &world->rows[group->members[k]];
            if (row->alloc_ticks < at && end_of(row, query) >= at)
                c.sizes[i] += (i64)row->size;
        }
    }
    return c;
}

/* The group that a row shows: sums and growth are the same. */
static bool is_shown(const etlheap_table *table, const model_row *group, growth_rating rating)
{
    for (u32 i = 0; i < table->row_count; i++) {
        const i64 *const measures = table->rows[i].measures;
        bool same = measures[ETLHEAP_MEASURE_GROWTH_RATE] == rating.rate &&
                    measures[ETLHEAP_MEASURE_STEADINESS] == rating.steadiness;
        for (u32 m = 0; m <= ETLHEAP_MEASURE_PEAK_SIZE; m++)
            same = same && measures[m] == group->measures[m];
        if (same)
            return true;
    }
    return false;
}

static etlheap_query random_query(const model_world *world, u64 *random)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND,  ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                        ETLHEAP_KEY_STACK, ETLHEAP_KEY_MODULE,  ETLHEAP_KEY_TAG };
    etlheap_query query = etlheap_query_default();
    query.tags = world->tags;
    query.growth = true;
    query.group_by_count = 0;
    for (u32 i = 0; i < ETL_COUNT_OF(keys); i++) {
        if (hand_random(random) % 2 == 0)
            query.group_by[query.group_by_count++] = keys[i];
    }
    query.from_ns = (i64)(hand_random(random) % MODEL_TICKS) * HAND_TICK_NS;
    query.to_ns = query.from_ns + (i64)(hand_random(random) % 300) * HAND_TICK_NS;
    query.at_exit_freed = hand_random(random) % 2;
    query.sort = ETLHEAP_MEASURE_GROWTH_RATE;
    return query;
}

/* Kinds are never added together: the model gets the key if it is missing. */
static etlheap_query with_kind(const etlheap_query *query)
{
    etlheap_query out = *query;
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == ETLHEAP_KEY_KIND)
            return out;
    }
    out.group_by[out.group_by_count++] = ETLHEAP_KEY_KIND;
    return out;
}

static void check_query(const model_world *world, etlheap_query *query, model *m)
{
    const etlheap_query by_kind = with_kind(query);
    model_make(m, world, &by_kind);
    for (u32 jobs = 1; jobs <= 7; jobs += 3) {
        etlheap_table *table;
        query->jobs = jobs;
        assert_int_equal(etlheap_aggregate(world->result, query, &table, NULL), ETL_OK);
        assert_int_equal(table->row_count, m->count);
        for (u32 i = 0; i < m->count; i++) {
            const curve c = curve_of(world, query, &m->rows[i]);
            assert_true(is_shown(table, &m->rows[i], naive_rating(&c)));
        }
        for (u32 i = 1; i < table->row_count; i++)
            assert_true(table->rows[i - 1].measures[ETLHEAP_MEASURE_GROWTH_RATE] >=
                        table->rows[i].measures[ETLHEAP_MEASURE_GROWTH_RATE]);
        etlheap_table_free(table);
    }
}

static void rows_grow_as_their_lifetimes_do(void **state)
{
    (void)state;
    model *const m = malloc(sizeof *m);
    assert_non_null(m);
    u64 random = 11;
    for (u64 seed = 1; seed <= 5; seed++) {
        model_world *const world = model_world_new(seed);
        for (u32 round = 0; round < 8; round++) {
            etlheap_query query = random_query(world, &random);
            check_query(world, &query, m);
        }
        model_world_free(world);
    }
    free(m);
}

static void without_growth_rows_do_not_have_it(void **state)
{
    (void)state;
    model_world *const world = model_world_new(3);
    etlheap_query query = etlheap_query_default();
    etlheap_table *table;
    query.group_by_count = 0;
    assert_int_equal(etlheap_aggregate(world->result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->measures >> ETLHEAP_MEASURE_GROWTH_RATE & 3, 0);
    etlheap_table_free(table);
    query.growth = true;
    assert_int_equal(etlheap_aggregate(world->result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->measures >> ETLHEAP_MEASURE_GROWTH_RATE & 3, 3);
    etlheap_table_free(table);
    model_world_free(world);
}

static void growth_of_single_types_is_refused(void **state)
{
    (void)state;
    model_world *const world = model_world_new(4);
    etlheap_table *table;
    for (u32 i = 0; i < 4; i++) {
        etlheap_query query = etlheap_query_default();
        etl_error err;
        query.group_by_count = 1;
        query.growth = true;
        query.group_by[0] = i == 0   ? ETLHEAP_KEY_TYPE
                            : i == 1 ? ETLHEAP_KEY_FREE_TYPE
                                     : ETLHEAP_KEY_KIND;
        query.types = i == 2 ? 1u << ETLHEAP_TYPE_AIFO : 0;
        query.at_end = i == 3;
        assert_int_equal(etlheap_aggregate(world->result, &query, &table, &err), ETL_ERR_ARGUMENT);
    }
    model_world_free(world);
}

/* --- what leaks, and what does not -------------------------------------------------------- */

typedef struct plot {
    etlheap_result *result;
    u32 process;
    u64 address;
} plot;

/* A block of the stack that is one frame. Times are ticks since time zero. */
static void block(plot *p, u64 frame, i64 from, i64 to, u64 size)
{
    const lifetime row = { .alloc_ticks = T0 + from,
                           .free_ticks = to < 0 ? ETLHEAP_TICKS_NEVER : T0 + to,
                           .free_type = to < 0 ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE,
                           .address = p->address += 0x1000,
                           .size = size,
                           .heap = 1,
                           .process = p->process,
                           .stack = hand_stack(p->result, &frame, 1) };
    hand_lifetime(p->result, &row);
}

static u64 frame_of(const etlheap_table *table, u32 row)
{
    const u32 start = table->stack_starts[table->rows[row].stack];
    return table->frames[table->frame_indices[start]].address;
}

/* A leak of 10 KB in all, a cache of 1 MB, a buffer of 100 KB that comes and goes, and
 * one that is filled in the first tenth and stays. */
static void a_leak_is_told_from_larger_caches(void **state)
{
    enum { LEAK = 0x10, CACHE = 0x20, WAVE = 0x30, WARM = 0x40, LENGTH = 100000 };
    (void)state;
    plot p = { .result = hand_result_new() };
    etlheap_query query = etlheap_query_default();
    etlheap_table *table;
    p.process = hand_process(p.result, 10, "a.exe");
    for (i64 i = 0; i < 100; i++) {
        block(&p, LEAK, i * 1000, -1, 100);
        block(&p, WARM, i * 100, -1, 1000);
        if (i % 4 == 0)
            block(&p, WAVE, i * 1000, i * 1000 + 2000, 100000);
    }
    block(&p, CACHE, 31000, -1, 1000000);
    hand_ready(p.result, T0 + LENGTH);
    query.growth = true;
    query.group_by[0] = ETLHEAP_KEY_STACK;
    query.group_by_count = 1;
    query.sort = ETLHEAP_MEASURE_GROWTH_RATE;
    assert_int_equal(etlheap_aggregate(p.result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, 4);
    const i64 *const measures = table->rows[0].measures;
    assert_int_equal(frame_of(table, 0), LEAK);
    assert_in_range(measures[ETLHEAP_MEASURE_GROWTH_RATE], 990000, 1010000); /* 10 KB in 10 ms */
    assert_in_range(measures[ETLHEAP_MEASURE_STEADINESS], 99, 100);
    for (u32 i = 1; i < 4; i++) {
        assert_in_range(table->rows[i].measures[ETLHEAP_MEASURE_STEADINESS], 0, 50);
        assert_int_equal(table->rows[i].measures[ETLHEAP_MEASURE_GROWTH_RATE], 0);
    }
    etlheap_table_free(table);
    query.sort = ETLHEAP_MEASURE_STEADINESS;
    assert_int_equal(etlheap_aggregate(p.result, &query, &table, NULL), ETL_OK);
    assert_int_equal(frame_of(table, 0), LEAK);
    assert_int_equal(frame_of(table, 1), CACHE);
    etlheap_table_free(table);
    etlheap_result_free(p.result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_still_does_not_grow),
        cmocka_unit_test(a_constant_leak_has_its_rate_and_is_steady),
        cmocka_unit_test(what_shrinks_steadily_has_a_negative_rate_and_steadiness_minus_100),
        cmocka_unit_test(a_step_is_no_growth_wherever_it_is),
        cmocka_unit_test(a_slow_leak_is_steady_too),
        cmocka_unit_test(waves_cancel_out),
        cmocka_unit_test(a_leak_stands_out_of_waves),
        cmocka_unit_test(samples_of_one_time_make_no_pairs),
        cmocka_unit_test(the_largest_sizes_do_not_overflow),
        cmocka_unit_test(the_longest_window_does_not_overflow),
        cmocka_unit_test(a_leak_of_terabytes_has_its_rate),
        cmocka_unit_test(random_curves_are_rated_as_the_model_rates_them),
        cmocka_unit_test(large_curves_are_rated_as_the_model_rates_them),
        cmocka_unit_test(rows_grow_as_their_lifetimes_do),
        cmocka_unit_test(without_growth_rows_do_not_have_it),
        cmocka_unit_test(growth_of_single_types_is_refused),
        cmocka_unit_test(a_leak_is_told_from_larger_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
