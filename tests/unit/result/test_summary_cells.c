/*
 * Goal: windows of several traces add up window by window, sums by sums and peaks by
 * the largest, in any order and grouping, and as few runs as can be are left.
 * Method: random runs against arrays with one element for each window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/result/summary.h"

#define WINDOWS 40
#define FIRST   (-5)
#define LISTS   6u

typedef struct naive {
    summary_amounts at[WINDOWS];
} naive;

static u64 state_word = 88172645463325252u;

static u64 draw(u64 below)
{
    state_word ^= state_word << 13;
    state_word ^= state_word >> 7;
    state_word ^= state_word << 17;
    return state_word % below;
}

static u64 lifetimes_of(const summary_amounts *amounts)
{
    u64 sum = 0;
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        sum += amounts->count[type];
    return sum;
}

/* The peak of one is its own; that of several nobody knows. */
static void naive_add(naive *to, const naive *from)
{
    for (u32 w = 0; w < WINDOWS; w++) {
        summary_amounts *const a = &to->at[w];
        const summary_amounts *const b = &from->at[w];
        const u64 before = lifetimes_of(a), more = lifetimes_of(b);
        for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
            a->count[type] += b->count[type];
            a->size_bytes[type] += b->size_bytes[type];
        }
        if (more > 0)
            a->peak = before == 0 ? b->peak : summary_peak_unknown;
    }
}

/* Runs of equal windows, some of them neighbours that are alike, and gaps. */
static void random_runs(naive *out, summary_cells *cells)
{
    *out = (naive){ 0 };
    cells->count = 0;
    for (u32 w = 0; w < WINDOWS;) {
        const u32 run = 1 + (u32)draw(7);
        const u32 end = w + run < WINDOWS ? w + run : WINDOWS;
        summary_cell cell = { .window = FIRST + (i64)w, .window_count = end - w };
        if (draw(3) > 0) {
            cell.amounts.count[draw(ETLHEAP_TYPE_COUNT)] = 1 + draw(2);
            cell.amounts.size_bytes[draw(ETLHEAP_TYPE_COUNT)] = draw(2) * 16;
            cell.amounts.peak = summary_peak_unknown;
            if (draw(4) > 0)
                cell.amounts.peak = (summary_peak){ draw(3), draw(3) };
            assert_true(ETLHEAP_PUSH(cells, cell));
        }
        for (; w < end; w++)
            out->at[w] = cell.amounts;
    }
}

static void expect_equal(const summary_cells *cells, const naive *expected)
{
    naive found = { 0 };
    i64 end = INT64_MIN;
    const summary_amounts *before = NULL;
    for (size_t i = 0; i < cells->count; i++) {
        const summary_cell *const cell = &cells->at[i];
        assert_true(cell->window >= end && cell->window_count > 0);
        const bool is_alike = before != NULL && memcmp(before, &cell->amounts, sizeof *before) == 0;
        assert_false(is_alike && cell->window == end);
        end = cell->window + (i64)cell->window_count;
        before = &cell->amounts;
        assert_true(cell->window >= FIRST && end <= FIRST + WINDOWS);
        for (i64 w = cell->window; w < end; w++)
            found.at[w - FIRST] = cell->amounts;
    }
    assert_memory_equal(&found, expected, sizeof found);
}

static void runs_add_up_window_by_window(void **state)
{
    (void)state;
    summary_cells cells = { 0 }, sum = { 0 }, scratch = { 0 };
    for (u32 round = 0; round < 300; round++) {
        naive expected = { 0 };
        sum.count = 0;
        for (u32 i = 0; i < LISTS; i++) {
            naive one;
            random_runs(&one, &cells);
            naive_add(&expected, &one);
            assert_true(summary_add_cells(&sum, cells.at, cells.count, &scratch));
            expect_equal(&sum, &expected);
        }
    }
    ETLHEAP_VECTOR_FREE(&cells);
    ETLHEAP_VECTOR_FREE(&sum);
    ETLHEAP_VECTOR_FREE(&scratch);
}

/* ((a + b) + c) + ..., and ... + (c + (b + a)). */
static void order_and_grouping_do_not_show(void **state)
{
    (void)state;
    summary_cells lists[LISTS] = { 0 }, scratch = { 0 };
    for (u32 round = 0; round < 300; round++) {
        summary_cells forward = { 0 }, backward = { 0 };
        naive unused;
        for (u32 i = 0; i < LISTS; i++)
            random_runs(&unused, &lists[i]);
        for (u32 i = 0; i < LISTS; i++) {
            assert_true(summary_add_cells(&forward, lists[i].at, lists[i].count, &scratch));
            summary_cells next = { 0 };
            assert_true(summary_add_cells(&next, lists[i].at, lists[i].count, &scratch));
            assert_true(summary_add_cells(&next, backward.at, backward.count, &scratch));
            ETLHEAP_VECTOR_FREE(&backward);
            backward = next;
        }
        assert_int_equal(forward.count, backward.count);
        if (forward.count > 0)
            assert_memory_equal(forward.at, backward.at, forward.count * sizeof *forward.at);
        ETLHEAP_VECTOR_FREE(&forward);
        ETLHEAP_VECTOR_FREE(&backward);
    }
    for (u32 i = 0; i < LISTS; i++)
        ETLHEAP_VECTOR_FREE(&lists[i]);
    ETLHEAP_VECTOR_FREE(&scratch);
}

static void sums_that_do_not_fit_stop_at_the_end(void **state)
{
    (void)state;
    const summary_sum large = { UINT64_MAX - 1, UINT64_MAX, 7, { 3, 4 } };
    const summary_sum small = { 5, 5, 5, { 9, 2 } };
    summary_sum sum = large;
    summary_add_sum(&sum, &small);
    assert_true(sum.count == UINT64_MAX && sum.size_bytes == UINT64_MAX);
    assert_int_equal(sum.realloc_count, 12);
}

static void the_peak_of_several_is_not_known(void **state)
{
    (void)state;
    const summary_sum one = { 3, 30, 0, { 2, 20 } }, none = { 0, 0, 0, { 0, 0 } };
    summary_sum sum = none;
    summary_add_sum(&sum, &one);
    summary_add_sum(&sum, &none);
    assert_true(summary_peak_is_known(&sum.peak));
    assert_int_equal(sum.peak.count, 2);
    assert_int_equal(sum.peak.size_bytes, 20);
    summary_add_sum(&sum, &one);
    assert_false(summary_peak_is_known(&sum.peak));
    summary_add_sum(&sum, &one);
    assert_false(summary_peak_is_known(&sum.peak));
    assert_int_equal(sum.count, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_add_up_window_by_window),
        cmocka_unit_test(order_and_grouping_do_not_show),
        cmocka_unit_test(sums_that_do_not_fit_stop_at_the_end),
        cmocka_unit_test(the_peak_of_several_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
