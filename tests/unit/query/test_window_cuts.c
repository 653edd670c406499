/*
 * Goal: the pieces into which a run cuts time are those between two neighbouring ends of
 * the windows that are asked for, wherever these lie and however they are given.
 * Method: cuts listed one by one for each way of giving windows, and every tick looked up
 * among them; then ends of time, and windows for which there are no pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/query/cuts_plan.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

#define TICK(n)  (HAND_START_TICKS + (n))
#define NS(n)    ((i64)(n)*HAND_TICK_NS)
#define LAST     200 /* ticks that are looked up, from -20 on */
#define CUTS_MAX 800

typedef struct cut_list {
    i64 at[CUTS_MAX];
    u32 count;
} cut_list;

static void add_cut(cut_list *wanted, i64 ticks)
{
    assert_true(wanted->count < CUTS_MAX);
    wanted->at[wanted->count++] = ticks;
}

/* The first tick that is not before a time: one has 100 ns. */
static i64 tick_of(i64 ns)
{
    const i64 whole = ns / HAND_TICK_NS;
    return TICK(whole + (ns > whole * HAND_TICK_NS));
}

static window_cuts open_cuts(const etlheap_query *query, const etlheap_windows_options *options)
{
    window_cuts made;
    assert_true(window_cuts_open(&made, hand_session(), query, options));
    assert_ptr_equal(made.session, hand_session());
    return made;
}

/* Each tick lies between the last cut that is not behind it and the next one. */
static void expect_cuts(const window_cuts *cuts, const cut_list *wanted)
{
    for (i64 tick = TICK(-20); tick < TICK(LAST); tick++) {
        i64 from = INT64_MIN, to = INT64_MAX;
        for (u32 i = 0; i < wanted->count; i++) {
            from = wanted->at[i] <= tick && wanted->at[i] > from ? wanted->at[i] : from;
            to = wanted->at[i] > tick && wanted->at[i] < to ? wanted->at[i] : to;
        }
        const cuts_piece piece = window_cuts_piece(cuts, tick);
        if (piece.from_ticks != from || piece.to_ticks != to)
            fail_msg("tick %d lies in [%d, %d)", (int)(tick - TICK(0)),
                     (int)(piece.from_ticks - TICK(0)), (int)(piece.to_ticks - TICK(0)));
    }
}

static void one_window_is_cut_at_its_ends(void **state)
{
    static const i64 ends[][2] = { { NS(10), NS(90) },
                                   { INT64_MIN, NS(90) },
                                   { NS(10), INT64_MAX } };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(ends); i++) {
        etlheap_query query = etlheap_query_default();
        cut_list wanted = { .count = 0 };
        query.from_ns = ends[i][0];
        query.to_ns = ends[i][1];
        if (query.from_ns != INT64_MIN)
            add_cut(&wanted, tick_of(query.from_ns));
        if (query.to_ns != INT64_MAX)
            add_cut(&wanted, tick_of(query.to_ns));
        window_cuts cuts = open_cuts(&query, NULL);
        expect_cuts(&cuts, &wanted);
        window_cuts_free(&cuts);
        assert_null(cuts.session);
    }
}

/* From the start of the window, or from time zero in both directions. */
static void multiples_begin_with_the_window_or_at_time_zero(void **state)
{
    static const i64 lengths[] = { NS(1), NS(7), NS(7) + 30, NS(64), NS(1000), 40 };
    (void)state;
    for (u32 i = 0; i < 4 * ETL_COUNT_OF(lengths); i++) {
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .every_ns = lengths[i / 4] };
        etlheap_query query = etlheap_query_default();
        query.from_ns = i % 2 != 0 ? NS(13) + 50 : INT64_MIN;
        query.to_ns = i / 2 % 2 != 0 ? NS(151) : INT64_MAX;
        const i64 anchor = i % 2 != 0 ? query.from_ns : 0;
        cut_list wanted = { .count = 0 };
        for (i64 ns =
                 anchor -
                 (i % 2 != 0 ? 0 : NS(25) / options.every_ns * options.every_ns + options.every_ns);
             ns <= NS(LAST) + options.every_ns; ns += options.every_ns) {
            if (ns >= query.to_ns)
                break;
            if (wanted.count == 0 || wanted.at[wanted.count - 1] != tick_of(ns))
                add_cut(&wanted, tick_of(ns));
        }
        if (query.to_ns != INT64_MAX)
            add_cut(&wanted, tick_of(query.to_ns));
        window_cuts cuts = open_cuts(&query, &options);
        expect_cuts(&cuts, &wanted);
        window_cuts_free(&cuts);
    }
}

static void moments_cut_in_any_order_and_inside_the_window_alone(void **state)
{
    u64 random = 5;
    (void)state;
    for (u32 round = 0; round < 40; round++) {
        i64 moments[12];
        const u32 count = 1 + round % (u32)ETL_COUNT_OF(moments);
        etlheap_query query = etlheap_query_default();
        cut_list wanted = { .count = 0 };
        if (round % 3 != 0)
            query.from_ns = NS(20);
        if (round % 4 != 0)
            query.to_ns = NS(150);
        for (u32 i = 0; i < count; i++) {
            moments[i] = NS((i64)(hand_random(&random) % 220) - 20) + (i % 3) * 40;
            if (tick_of(moments[i]) >
                    tick_of(query.from_ns == INT64_MIN ? NS(-30) : query.from_ns) &&
                (query.to_ns == INT64_MAX || moments[i] < query.to_ns))
                add_cut(&wanted, tick_of(moments[i]));
        }
        if (query.from_ns != INT64_MIN)
            add_cut(&wanted, TICK(20));
        if (query.to_ns != INT64_MAX)
            add_cut(&wanted, TICK(150));
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .cuts = moments,
                                                  .cut_count = count };
        window_cuts cuts = open_cuts(&query, &options);
        expect_cuts(&cuts, &wanted);
        window_cuts_free(&cuts);
    }
}

static void ranges_cut_at_both_ends(void **state)
{
    static const etlheap_time_range ranges[] = {
        { NS(90), NS(120) }, { NS(30), NS(30) }, { NS(30), NS(50) },     { NS(50), NS(70) },
        { NS(70), NS(70) },  { NS(5), NS(9) },   { NS(150), INT64_MAX },
    };
    static const i64 ends[] = { 90, 120, 30, 50, 70, 5, 9, 150 };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = (u32)ETL_COUNT_OF(ranges) };
    etlheap_query query = etlheap_query_default();
    (void)state;
    for (u32 way = 0; way < 2; way++) {
        cut_list wanted = { .count = 0 };
        for (u32 i = 0; i < ETL_COUNT_OF(ends); i++)
            add_cut(&wanted, TICK(ends[i]));
        query.to_ns = way == 0 ? INT64_MAX : NS(180); /* the open end is the query's */
        if (way == 1)
            add_cut(&wanted, TICK(180));
        window_cuts cuts = open_cuts(&query, &options);
        expect_cuts(&cuts, &wanted);
        window_cuts_free(&cuts);
    }
}

/* A start that is open is the query's too. */
static void a_range_that_is_open_begins_with_the_query(void **state)
{
    static const etlheap_time_range ranges[] = { { NS(60), NS(80) }, { INT64_MIN, NS(40) } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = 2 };
    etlheap_query query = etlheap_query_default();
    (void)state;
    query.from_ns = NS(25);
    cut_list wanted = { { TICK(25), TICK(40), TICK(60), TICK(80) }, 4 };
    window_cuts cuts = open_cuts(&query, &options);
    expect_cuts(&cuts, &wanted);
    window_cuts_free(&cuts);
}

static void windows_that_overlap_or_make_no_sense_have_no_pieces(void **state)
{
    static const etlheap_time_range overlapping[][2] = {
        { { NS(10), NS(30) }, { NS(29), NS(50) } }, { { NS(29), NS(50) }, { NS(10), NS(30) } },
        { { NS(10), NS(50) }, { NS(10), NS(50) } }, { { NS(10), INT64_MAX }, { NS(90), NS(95) } },
        { { NS(20), NS(10) }, { NS(30), NS(40) } }, /* ends before it begins */
    };
    const etlheap_query query = etlheap_query_default();
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(overlapping); i++) {
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .ranges = overlapping[i],
                                                  .range_count = 2 };
        window_cuts cuts;
        assert_true(window_cuts_open(&cuts, hand_session(), &query, &options));
        assert_null(cuts.session);
        assert_null(cuts.cuts);
        window_cuts_free(&cuts);
    }
}

/* Times that no nanoseconds can tell are in the pieces at both ends. */
static void the_ends_of_time_have_pieces(void **state)
{
    etlheap_query query = etlheap_query_default();
    etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(50) };
    (void)state;
    window_cuts cuts = open_cuts(&query, &options);
    const i64 last = INT64_MAX / HAND_TICK_NS; /* the last tick whose time can be told */
    cuts_piece piece = window_cuts_piece(&cuts, INT64_MAX - 1);
    assert_true(piece.from_ticks <= TICK(last) && piece.from_ticks > TICK(last - 51));
    assert_true(piece.to_ticks == INT64_MAX);
    piece = window_cuts_piece(&cuts, INT64_MIN + 1);
    assert_true(piece.from_ticks == INT64_MIN);
    assert_true(piece.to_ticks >= TICK(-last - 1) && piece.to_ticks < TICK(-last + 51));
    window_cuts_free(&cuts);

    /* What ends with the last time has the ticks behind it, too. */
    options.every_ns = INT64_MAX;
    cuts = open_cuts(&query, &options);
    piece = window_cuts_piece(&cuts, TICK(0));
    assert_int_equal(piece.from_ticks, TICK(0));
    assert_true(piece.to_ticks == INT64_MAX);
    piece = window_cuts_piece(&cuts, INT64_MAX - 1);
    assert_int_equal(piece.from_ticks, TICK(0));
    assert_true(piece.to_ticks == INT64_MAX);
    window_cuts_free(&cuts);

    query.from_ns = NS(-30);
    cuts = open_cuts(&query, &options);
    piece = window_cuts_piece(&cuts, TICK(5));
    assert_int_equal(piece.from_ticks, TICK(-30));
    assert_int_equal(piece.to_ticks, tick_of(INT64_MAX - 3000));
    piece = window_cuts_piece(&cuts, TICK(-31));
    assert_true(piece.from_ticks == INT64_MIN);
    assert_int_equal(piece.to_ticks, TICK(-30));
    window_cuts_free(&cuts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_window_is_cut_at_its_ends),
        cmocka_unit_test(multiples_begin_with_the_window_or_at_time_zero),
        cmocka_unit_test(moments_cut_in_any_order_and_inside_the_window_alone),
        cmocka_unit_test(ranges_cut_at_both_ends),
        cmocka_unit_test(a_range_that_is_open_begins_with_the_query),
        cmocka_unit_test(windows_that_overlap_or_make_no_sense_have_no_pieces),
        cmocka_unit_test(the_ends_of_time_have_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
