/*
 * Goal: the peak of a kind is found to the tick, and what a report shows at that
 * moment adds up to it.
 * Method: cases by hand; then random lifetimes against the outstanding bytes summed
 * up anew for every tick, in windows and with filters; and tables made for the
 * moment that was found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"
#include "tests/models/group_model.h"

#define TICK(n) (HAND_START_TICKS + (i64)(n))

/* A lifetime of one process by hand: a and f in ticks from time zero. */
typedef struct span {
    i64 a, f;
    u64 size;
} span;

static etlheap_result *result_of(const span *spans, size_t count, u8 kind)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    for (size_t i = 0; i < count; i++) {
        const bool is_freed = spans[i].f >= 0;
        const lifetime row = { .alloc_ticks = TICK(spans[i].a),
                               .free_ticks = is_freed ? TICK(spans[i].f) : ETLHEAP_TICKS_NEVER,
                               .address = 0x1000 * (i + 1),
                               .size = spans[i].size,
                               .process = process,
                               .thread = ETL_NO_ID,
                               .kind = kind,
                               .free_type = is_freed ? ETLHEAP_FREE_FREE : ETLHEAP_FREE_NONE };
        hand_lifetime(result, &row);
    }
    hand_ready(result, TICK(1000));
    return result;
}

static etlheap_peak_moment peak_of(const span *spans, size_t count, i64 from_ns, i64 to_ns)
{
    etlheap_result *const result = result_of(spans, count, ETLHEAP_KIND_EXTENT);
    etlheap_query query = etlheap_query_default();
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    query.from_ns = from_ns;
    query.to_ns = to_ns;
    assert_int_equal(etlheap_find_peaks(result, &query, peaks, NULL), ETL_OK);
    assert_false(peaks[ETLHEAP_KIND_HEAP].found);
    etlheap_result_free(result);
    return peaks[ETLHEAP_KIND_EXTENT];
}

#define ASSERT_PEAK(peak, tick, bytes, blocks)                                                     \
    do {                                                                                           \
        assert_true((peak).found);                                                                 \
        assert_int_equal((peak).to_ticks, TICK((tick) + 1));                                       \
        assert_int_equal((peak).at_ns, ((tick) + 1) * HAND_TICK_NS);                               \
        assert_int_equal((peak).size_bytes, (bytes));                                              \
        assert_int_equal((peak).count, (blocks));                                                  \
    } while (0)

static void moment_is_just_after_the_event_that_makes_the_peak(void **state)
{
    const span spans[] = { { 5, 50, 100 }, { 20, 30, 60 }, { 40, -1, 30 } };
    (void)state;
    const etlheap_peak_moment peak = peak_of(spans, 3, INT64_MIN, INT64_MAX);
    ASSERT_PEAK(peak, 20, 160, 2);
}

static void first_of_equal_peaks_counts(void **state)
{
    const span spans[] = { { 5, 10, 100 }, { 20, 30, 100 } };
    (void)state;
    const etlheap_peak_moment peak = peak_of(spans, 2, INT64_MIN, INT64_MAX);
    ASSERT_PEAK(peak, 5, 100, 1);
}

/* A free and an allocation in one tick: at no moment were there both. */
static void what_happens_in_one_tick_happens_together(void **state)
{
    const span spans[] = { { 5, 20, 100 }, { 20, 40, 70 }, { 20, 20, 900 } };
    (void)state;
    const etlheap_peak_moment peak = peak_of(spans, 3, INT64_MIN, INT64_MAX);
    ASSERT_PEAK(peak, 5, 100, 1);
}

static void window_that_only_loses_peaks_at_its_start(void **state)
{
    const span spans[] = { { 5, 60, 100 }, { 6, 70, 50 }, { 65, 66, 10 } };
    (void)state;
    const etlheap_peak_moment peak = peak_of(spans, 3, 60 * HAND_TICK_NS, 80 * HAND_TICK_NS);
    ASSERT_PEAK(peak, 59, 150, 2);
}

static void nothing_outstanding_is_no_peak(void **state)
{
    const span spans[] = { { 5, 5, 100 }, { 6, 70, 0 } };
    (void)state;
    assert_false(peak_of(spans, 2, INT64_MIN, INT64_MAX).found);
    assert_false(peak_of(spans, 0, INT64_MIN, INT64_MAX).found);
}

/* --- random lifetimes --------------------------------------------------------------- */

static bool is_selected(const lifetime *row, const etlheap_query *query)
{
    return row->size >= query->size_min_bytes &&
           ((query->kinds == 0 ? ETLHEAP_KINDS_DEFAULT : query->kinds) >> row->kind & 1) != 0;
}

static i64 end_of(const lifetime *row, const etlheap_query *query)
{
    const bool exits = row->free_type == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed;
    return exits ? ETLHEAP_TICKS_NEVER : row->free_ticks;
}

static i64 outstanding_at(const model_world *world, const etlheap_query *query, u8 kind, i64 tick)
{
    i64 bytes = 0;
    for (u32 i = 0; i < MODEL_ROWS; i++) {
        const lifetime *const row = &world->rows[i];
        if (row->kind == kind && is_selected(row, query) && row->alloc_ticks <= tick &&
            tick < end_of(row, query))
            bytes += (i64)row->size;
    }
    return bytes;
}

static etlheap_query random_query(u64 *seed)
{
    etlheap_query query = etlheap_query_default();
    const u32 a = engine_check_random(seed, MODEL_TICKS), b = engine_check_random(seed, 500);
    if (engine_check_random(seed, 2) == 0)
        query.from_ns = (i64)a * HAND_TICK_NS;
    if (engine_check_random(seed, 2) == 0)
        query.to_ns = (i64)(a + b) * HAND_TICK_NS;
    query.at_exit_freed = engine_check_random(seed, 2) == 0;
    if (engine_check_random(seed, 3) == 0)
        query.size_min_bytes = 100;
    query.types = engine_check_random(seed, 2); /* must not count */
    query.group_by_count = 1;                   /* kind */
    return query;
}

/* The first tick at which most is outstanding, by trying each of them. */
static i64 plain_peak(const model_world *world, const etlheap_query *query, u8 kind, i64 *tick)
{
    const i64 from = query->from_ns == INT64_MIN ? 0 : query->from_ns / HAND_TICK_NS;
    const i64 end = world->result->info.end_ns / HAND_TICK_NS;
    const i64 to = query->to_ns == INT64_MAX ? end : query->to_ns / HAND_TICK_NS;
    i64 best = 0;
    for (i64 t = from - 1; t < (to > from ? to : from); t++) {
        const i64 bytes = outstanding_at(world, query, kind, TICK(t));
        if (bytes > best) {
            best = bytes;
            *tick = TICK(t);
        }
    }
    return best;
}

/* The table of what is outstanding at the moments has these bytes in all. */
static void assert_table(const model_world *world, const etlheap_query *query,
                         const etlheap_peak_moment *peaks)
{
    i64 kind_to_ticks[ETLHEAP_KIND_CAPACITY];
    etlheap_table *table = NULL;
    etlheap_query at = *query;
    at.types = 0;
    at.at_end = true;
    at.kind_to_ticks = kind_to_ticks;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kind_to_ticks[kind] = peaks[kind].to_ticks;
    assert_int_equal(etlheap_aggregate(world->result, &at, &table, NULL), ETL_OK);
    assert_true(table->at_end);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const etlheap_peak_moment *const peak = &peaks[row->kind];
        assert_int_equal(row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], peak->size_bytes);
        assert_int_equal(row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], peak->count);
        assert_int_equal(row->measures[ETLHEAP_MEASURE_COUNT], peak->count);
        assert_int_equal(row->measures[ETLHEAP_MEASURE_PEAK_SIZE], peak->size_bytes);
        assert_int_equal(table->totals[row->kind].to_ns, peak->at_ns);
    }
    etlheap_table_free(table);
}

static void random_lifetimes_agree_with_every_tick_summed_up(void **state)
{
    (void)state;
    for (u64 round = 1; round <= 6; round++) {
        u64 seed = round;
        model_world *const world = model_world_new(round);
        for (u32 turn = 0; turn < 4; turn++) {
            etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
            const etlheap_query query = random_query(&seed);
            assert_int_equal(etlheap_find_peaks(world->result, &query, peaks, NULL), ETL_OK);
            for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
                i64 tick = 0;
                const i64 bytes = plain_peak(world, &query, kind, &tick);
                assert_int_equal(peaks[kind].found, bytes > 0);
                assert_int_equal(peaks[kind].size_bytes, bytes);
                if (bytes > 0)
                    assert_int_equal(peaks[kind].to_ticks, tick + 1);
            }
            assert_table(world, &query, peaks);
        }
        model_world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moment_is_just_after_the_event_that_makes_the_peak),
        cmocka_unit_test(first_of_equal_peaks_counts),
        cmocka_unit_test(what_happens_in_one_tick_happens_together),
        cmocka_unit_test(window_that_only_loses_peaks_at_its_start),
        cmocka_unit_test(nothing_outstanding_is_no_peak),
        cmocka_unit_test(random_lifetimes_agree_with_every_tick_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
