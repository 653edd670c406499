/*
 * Goal: the peak of a group is the maximum of its outstanding curve over the
 * window, for size and count each by itself.
 * Method: the three ways of computing by hand; then random lifetimes against the
 * curve computed tick by tick.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/engine.h"
#include "tests/support/engine_check.h"
#include "tests/support/hand_result.h"

/* Ticks since the start. */
#define FROM 100
#define TO   200

/* A lifetime of a group. */
typedef struct peak_row {
    i64 alloc_ticks, free_ticks;
    u64 size;
    u32 group;
} peak_row;

typedef struct peak {
    i64 size, count;
} peak;

static i64 tick(i64 since_start)
{
    const bool is_time = since_start != ETLHEAP_TICKS_BEFORE && since_start != ETLHEAP_TICKS_NEVER;
    return is_time ? HAND_START_TICKS + since_start : since_start;
}

/* Ranges in memory. Threads are the groups. */
static etlheap_result *result_of(const peak_row *rows, size_t count)
{
    etlheap_result *const result = hand_result_new();
    hand_process(result, 10, "app.exe");
    for (size_t i = 0; i < count; i++) {
        const lifetime row = { .alloc_ticks = tick(rows[i].alloc_ticks),
                               .free_ticks = tick(rows[i].free_ticks),
                               .address = 0x10000 * (i + 1),
                               .size = rows[i].size,
                               .process = 1,
                               .thread = rows[i].group,
                               .free_thread = ETL_NO_ID,
                               .kind = ETLHEAP_KIND_VIRTUALALLOC,
                               .free_type = ETLHEAP_FREE_FREE };
        hand_lifetime(result, &row);
    }
    hand_ready(result, tick(10 * TO));
    return result;
}

/* The peaks of groups over [FROM, TO); those without a lifetime in it have none. */
static void find_peaks(const etlheap_result *result, u32 jobs, peak *peaks)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *table = NULL;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_THREAD;
    query.group_by_count = 2;
    query.from_ns = FROM * HAND_TICK_NS;
    query.to_ns = TO * HAND_TICK_NS;
    query.jobs = jobs;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    for (u32 i = 0; i < table->row_count; i++) {
        const i64 *const measures = table->rows[i].measures;
        peaks[table->rows[i].thread] =
            (peak){ measures[ETLHEAP_MEASURE_PEAK_SIZE], measures[ETLHEAP_MEASURE_PEAK_COUNT] };
    }
    etlheap_table_free(table);
}

/* One group's peak over [FROM, TO). */
static peak peak_of(const peak_row *rows, size_t count)
{
    etlheap_result *const result = result_of(rows, count);
    peak found = { 0, 0 };
    find_peaks(result, 1, &found);
    etlheap_result_free(result);
    return found;
}

#define ASSERT_PEAK(expected_size, expected_count, ...)                                            \
    do {                                                                                           \
        const peak_row rows[] = { __VA_ARGS__ };                                                   \
        const peak found = peak_of(rows, ETL_COUNT_OF(rows));                                      \
        assert_int_equal(found.size, expected_size);                                               \
        assert_int_equal(found.count, expected_count);                                             \
    } while (0)

static void what_is_never_freed_peaks_at_the_end(void **state)
{
    (void)state;
    ASSERT_PEAK(60, 3, { 50, ETLHEAP_TICKS_NEVER, 10, 0 }, { 150, 300, 20, 0 }, { 199, TO, 30, 0 });
}

static void what_was_there_before_peaks_at_the_start(void **state)
{
    (void)state;
    ASSERT_PEAK(60, 3, { ETLHEAP_TICKS_BEFORE, 101, 10, 0 }, { 50, 150, 20, 0 },
                { 99, 300, 30, 0 });
}

static void one_after_the_other_peaks_at_the_larger(void **state)
{
    (void)state;
    ASSERT_PEAK(30, 1, { 110, 120, 10, 0 }, { 130, 140, 30, 0 }, { 150, 160, 20, 0 });
}

static void overlap_counts_together(void **state)
{
    (void)state;
    ASSERT_PEAK(50, 2, { 110, 150, 20, 0 }, { 140, 160, 30, 0 });
}

static void peaks_of_size_and_count_may_lie_apart(void **state)
{
    (void)state;
    ASSERT_PEAK(1000, 3, { 110, 120, 1000, 0 }, { 130, 150, 1, 0 }, { 131, 150, 1, 0 },
                { 132, 150, 1, 0 });
}

/* Freed and allocated in one tick: never outstanding together. */
static void what_happens_in_one_tick_happens_together(void **state)
{
    (void)state;
    ASSERT_PEAK(10, 1, { 110, 150, 10, 0 }, { 150, 160, 10, 0 });
    ASSERT_PEAK(10, 1, { 150, 160, 10, 0 }, { 110, 150, 10, 0 });
    ASSERT_PEAK(0, 0, { 150, 150, 10, 0 });
}

/* It is outstanding as the window opens, and gone with the first tick. */
static void what_ends_with_the_first_tick_counts_as_the_window_opens(void **state)
{
    (void)state;
    ASSERT_PEAK(30, 1, { 50, FROM, 30, 0 }, { 150, 160, 20, 0 });
    ASSERT_PEAK(30, 1, { 50, FROM, 30, 0 }, { FROM, 160, 20, 0 });
    ASSERT_PEAK(50, 2, { 50, FROM + 1, 30, 0 }, { FROM, 160, 20, 0 });
}

static void sums_beyond_the_range_of_integers_saturate(void **state)
{
    (void)state;
    ASSERT_PEAK(INT64_MAX, 2, { 110, 300, UINT64_MAX, 0 }, { 120, 300, UINT64_MAX, 0 });
    ASSERT_PEAK(INT64_MAX, 2, { 110, 150, UINT64_MAX, 0 }, { 120, 300, UINT64_MAX, 0 });
    ASSERT_PEAK(INT64_MAX, 2, { 50, 150, INT64_MAX, 0 }, { 50, 150, INT64_MAX, 0 });
}

/* --- random --- */

#define GROUPS 300u /* more than one task has */
#define ROWS   2000u

static i64 any_time(u64 *seed, bool is_free)
{
    switch (engine_check_random(seed, 8)) {
    case 0:
        return is_free ? ETLHEAP_TICKS_NEVER : ETLHEAP_TICKS_BEFORE;
    case 1:
        return is_free ? TO + engine_check_random(seed, 3) : FROM - engine_check_random(seed, 3);
    case 2:
        return FROM + engine_check_random(seed, 2);
    default:
        return FROM + engine_check_random(seed, TO - FROM);
    }
}

/* Lifetimes that touch the window, as a query selects them. */
static void invent(peak_row *rows, u64 *seed)
{
    for (u32 i = 0; i < ROWS; i++) {
        const i64 alloc = any_time(seed, false);
        i64 freed = any_time(seed, true);
        freed = freed < alloc ? alloc : freed;
        /* Groups of all sizes: the first few get half of the rows. */
        const u32 group = engine_check_random(seed, 2) == 0 ? engine_check_random(seed, 5)
                                                            : engine_check_random(seed, GROUPS);
        rows[i] = (peak_row){ alloc, freed, engine_check_random(seed, 100), group };
    }
}

/* Tick FROM - 1 stands for the moment at which the window opens. */
static bool is_outstanding(const peak_row *row, i64 ticks)
{
    return ticks < FROM ? row->alloc_ticks < FROM && row->free_ticks >= FROM
                        : row->alloc_ticks <= ticks && row->free_ticks > ticks;
}

static peak naive_peak(const peak_row *rows, u32 group)
{
    peak best = { 0, 0 };
    for (i64 ticks = FROM - 1; ticks < TO; ticks++) {
        peak now = { 0, 0 };
        for (u32 i = 0; i < ROWS; i++) {
            const bool counts = rows[i].group == group && is_outstanding(&rows[i], ticks);
            now.size += counts ? (i64)rows[i].size : 0;
            now.count += counts;
        }
        best.size = now.size > best.size ? now.size : best.size;
        best.count = now.count > best.count ? now.count : best.count;
    }
    return best;
}

static void random_lifetimes_agree_with_the_curve_tick_by_tick(void **state)
{
    (void)state;
    static const u32 jobs[] = { 1, 2, 7, 16 };
    static peak_row rows[ROWS];
    static peak peaks[GROUPS];
    u64 seed = 1;
    invent(rows, &seed);
    etlheap_result *const result = result_of(rows, ROWS);
    for (u32 i = 0; i < ETL_COUNT_OF(jobs); i++) {
        memset(peaks, 0, sizeof peaks);
        find_peaks(result, jobs[i], peaks);
        for (u32 group = 0; group < GROUPS; group++) {
            const peak expected = naive_peak(rows, group);
            assert_int_equal(peaks[group].size, expected.size);
            assert_int_equal(peaks[group].count, expected.count);
        }
    }
    etlheap_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_never_freed_peaks_at_the_end),
        cmocka_unit_test(what_was_there_before_peaks_at_the_start),
        cmocka_unit_test(one_after_the_other_peaks_at_the_larger),
        cmocka_unit_test(overlap_counts_together),
        cmocka_unit_test(peaks_of_size_and_count_may_lie_apart),
        cmocka_unit_test(what_happens_in_one_tick_happens_together),
        cmocka_unit_test(what_ends_with_the_first_tick_counts_as_the_window_opens),
        cmocka_unit_test(sums_beyond_the_range_of_integers_saturate),
        cmocka_unit_test(random_lifetimes_agree_with_the_curve_tick_by_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
