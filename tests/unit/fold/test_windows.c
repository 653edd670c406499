/*
 * Goal: the cells of windows are what the definitions of types, outstanding and peak
 * say for each window, however windows lie; what cannot be asked is refused.
 * Method: random lifetimes in memory, where most events share their tick with others
 * and with the ends of windows; every cell against the lifetimes one by one and
 * against a report for its window. Traces and stores: test_windows_sources.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/windows.h"
#include "tests/models/group_model.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/windows_check.h"

#define NS(ticks) ((i64)(ticks)*HAND_TICK_NS)

static etlheap_query by_process(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.at_exit_freed = true;
    query.jobs = 1;
    return query;
}

static void check_all(const etlheap_result *result, const etlheap_query *query,
                      const etlheap_windows_options *options)
{
    etlheap_windows *const windows = windows_check_make(result, query, options);
    assert_true(windows->table->row_count > 0);
    windows_check_lifetimes(result, query, windows);
    windows_check_reports(result, query, windows);
    if (options->range_count == 0)
        windows_check_sums(windows);
    etlheap_windows_free(windows);
}

static void pieces_tile_the_whole_and_each_cell_is_right(void **state)
{
    (void)state;
    static const i64 lengths[] = { NS(1), NS(7), NS(40), NS(40) + 30, NS(113), NS(10000) };
    for (u32 i = 0; i < ETL_COUNT_OF(lengths); i++) {
        model_world *const world = model_world_new(500 + i);
        etlheap_query query = by_process();
        query.at_exit_freed = i % 2 == 0;
        if (i % 3 == 1)
            query.group_by[query.group_by_count++] = ETLHEAP_KEY_HEAP;
        if (i % 3 == 2)
            query.group_by[query.group_by_count++] = ETLHEAP_KEY_THREAD;
        if (i >= 2) { /* the first piece is late, the last one short */
            query.from_ns = NS(33);
            query.to_ns = NS(391) + 50;
        }
        const etlheap_windows_options options = { .size = sizeof options, .every_ns = lengths[i] };
        check_all(world->result, &query, &options);
        model_world_free(world);
    }
}

static void windows_may_lie_anyhow(void **state)
{
    (void)state;
    u64 random = 77;
    for (u32 i = 0; i < 12; i++) {
        model_world *const world = model_world_new(700 + i);
        etlheap_query query = by_process();
        query.at_exit_freed = i % 2 == 0;
        etlheap_time_range ranges[9];
        const u32 count = 1 + hand_random(&random) % ETL_COUNT_OF(ranges);
        for (u32 k = 0; k < count; k++) {
            ranges[k].from_ns = NS((i64)(hand_random(&random) % 500) - 20);
            ranges[k].to_ns = ranges[k].from_ns + NS(hand_random(&random) % 90) * (k % 4 != 0);
        }
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .ranges = ranges,
                                                  .range_count = count };
        check_all(world->result, &query, &options);
        model_world_free(world);
    }
}

/* A window that spans all others is answered from their cells, and again if it is not what is
 * measured, or if other windows overlap. */
static void one_window_may_be_all_of_the_others(void **state)
{
    (void)state;
    for (u32 i = 0; i < 12; i++) {
        model_world *const world = model_world_new(1700 + i);
        etlheap_query query = by_process();
        query.at_exit_freed = i % 2 == 0;
        query.jobs = 1 + i % 3;
        const i64 from = NS(60 + 7 * i), to = NS(300 + 5 * i);
        const etlheap_time_range ranges[] = {
            { from, to },
            { from, from + NS(40) },
            { from + NS(40), from + NS(90) },
            { to - NS(30), to },
            { from + NS(95), to - NS(30) },
            { from + NS(20), to - NS(1) }, /* overlaps others */
        };
        etlheap_windows_options options = { .size = sizeof options,
                                            .ranges = ranges,
                                            .range_count = 5 + i / 6 };
        check_all(world->result, &query, &options);
        options.measured_first = 1;
        options.measured_count = 2;
        check_all(world->result, &query, &options);
        model_world_free(world);
    }
}

static void cuts_count_once_and_inside_the_window_only(void **state)
{
    (void)state;
    model_world *const world = model_world_new(41);
    etlheap_query query = by_process();
    query.from_ns = NS(10);
    query.to_ns = NS(300);
    const i64 cuts[] = { NS(200), NS(50), NS(50), NS(10), NS(300), NS(5), NS(900), NS(199) };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .cuts = cuts,
                                              .cut_count = ETL_COUNT_OF(cuts) };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    static const i64 ends[] = { 10, 50, 199, 200, 300 };
    assert_int_equal(windows->window_count, 4);
    for (u32 w = 0; w < 4; w++) {
        assert_int_equal(windows->windows[w].from_ns, NS(ends[w]));
        assert_int_equal(windows->windows[w].to_ns, NS(ends[w + 1]));
    }
    etlheap_windows_free(windows);
    check_all(world->result, &query, &options);
    model_world_free(world);
}

static void groups_may_be_stacks_modules_sites_or_classes(void **state)
{
    (void)state;
    static const etlheap_key keys[] = { ETLHEAP_KEY_STACK, ETLHEAP_KEY_MODULE, ETLHEAP_KEY_SITE,
                                        ETLHEAP_KEY_SIZE_CLASS };
    model_world *const world = model_world_new(42);
    for (u32 i = 0; i < ETL_COUNT_OF(keys); i++) {
        etlheap_query query = by_process();
        query.group_by[2] = keys[i];
        query.group_by_count = 3;
        query.jobs = 1 + i;
        query.size_min_bytes = i % 2;
        const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(60) };
        etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
        windows_check_reports(world->result, &query, windows);
        windows_check_sums(windows);
        etlheap_windows_free(windows);
    }
    model_world_free(world);
}

static void lifetimes_may_be_filtered_by_their_length(void **state)
{
    (void)state;
    model_world *const world = model_world_new(43);
    etlheap_query query = by_process();
    query.lifetime_min_ns = NS(5);
    query.lifetime_max_ns = NS(40);
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(50) };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    windows_check_reports(world->result, &query, windows);
    etlheap_windows_free(windows);
    model_world_free(world);
}

/* cli.md: AIFO in the first, AOFO in the second, AOFI in the third. */
static void a_block_is_another_type_in_each_window(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    hand_lifetime(result, &(lifetime){ .alloc_ticks = HAND_START_TICKS + 15,
                                       .free_ticks = HAND_START_TICKS + 25,
                                       .size = 100,
                                       .process = process,
                                       .free_type = ETLHEAP_FREE_FREE });
    hand_ready(result, HAND_START_TICKS + 49);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(5) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    assert_int_equal(windows->window_count, 10);
    static const int types[] = {
        -1, -1, -1, ETLHEAP_TYPE_AIFO, ETLHEAP_TYPE_AOFO, ETLHEAP_TYPE_AOFI, -1, -1, -1, -1
    };
    for (u32 w = 0; w < 10; w++) {
        etlheap_cell cell;
        assert_int_equal(etlheap_windows_cell(windows, 0, w, &cell), types[w] >= 0);
        for (int t = 0; t < ETLHEAP_TYPE_COUNT; t++)
            assert_int_equal(cell.size[t], t == types[w] ? 100 : 0);
    }
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

/* A moment is asked for with a window that is empty, and one after the end of all. */
static void empty_windows_show_what_is_outstanding(void **state)
{
    (void)state;
    model_world *const world = model_world_new(44);
    const etlheap_query query = by_process();
    const etlheap_time_range ranges[] = {
        { NS(100), NS(100) }, { NS(100), NS(100) }, { NS(100), NS(200) },   { NS(200), NS(200) },
        { NS(-50), NS(-50) }, { NS(900), NS(900) }, { NS(900), INT64_MAX }, { INT64_MIN, NS(100) },
    };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = ETL_COUNT_OF(ranges) };
    check_all(world->result, &query, &options);
    model_world_free(world);
}

static bool is_of_windows(const etlheap_windows *windows, u32 measure)
{
    return (windows->table->measures >> measure & 1) != 0;
}

/* The measures of rows are those of a report over the windows that are measured. */
static void rows_are_measured_over_some_windows(void **state)
{
    (void)state;
    model_world *const world = model_world_new(45);
    etlheap_query query = by_process();
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    const etlheap_windows_options options = {
        .size = sizeof options, .every_ns = NS(40), .measured_first = 3, .measured_count = 4
    };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    query.from_ns = NS(120);
    query.to_ns = NS(280);
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(world->result, &query, &table, NULL), ETL_OK);
    assert_int_equal(windows->table->from_ns, query.from_ns);
    assert_int_equal(windows->table->to_ns, query.to_ns);
    assert_int_equal(table->row_count, windows->table->row_count);
    for (u32 r = 0; r < table->row_count; r++) {
        for (u32 m = 0; m < ETLHEAP_MEASURES_COUNT; m++)
            assert_int_equal(windows->table->rows[r].measures[m],
                             is_of_windows(windows, m) ? table->rows[r].measures[m] : 0);
    }
    etlheap_table_free(table);
    etlheap_windows_free(windows);
    model_world_free(world);
}

/* From the first to the last of them in time, in whatever order they are given. */
static void windows_in_any_order_are_measured_as_one(void **state)
{
    (void)state;
    model_world *const world = model_world_new(52);
    etlheap_query query = by_process();
    const etlheap_time_range ranges[] = {
        { NS(150), NS(160) }, { NS(300), NS(320) }, { NS(90), NS(120) }, { NS(200), NS(250) }
    };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = 4 };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    query.from_ns = NS(90);
    query.to_ns = NS(320);
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(world->result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, windows->table->row_count);
    for (u32 r = 0; r < table->row_count; r++) {
        for (u32 m = 0; m < ETLHEAP_MEASURES_COUNT; m++)
            assert_int_equal(windows->table->rows[r].measures[m],
                             is_of_windows(windows, m) ? table->rows[r].measures[m] : 0);
    }
    etlheap_table_free(table);
    etlheap_windows_free(windows);
    model_world_free(world);
}

static void overlapping_windows_are_measured_as_one(void **state)
{
    (void)state;
    model_world *const world = model_world_new(46);
    etlheap_query query = by_process();
    const etlheap_time_range ranges[] = { { NS(50), NS(150) }, { NS(100), NS(300) } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = 2 };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    query.from_ns = NS(50);
    query.to_ns = NS(300);
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(world->result, &query, &table, NULL), ETL_OK);
    assert_int_equal(table->row_count, windows->table->row_count);
    for (u32 r = 0; r < table->row_count; r++)
        assert_int_equal(windows->table->rows[r].measures[ETLHEAP_MEASURE_PEAK_SIZE],
                         table->rows[r].measures[ETLHEAP_MEASURE_PEAK_SIZE]);
    etlheap_table_free(table);
    etlheap_windows_free(windows);
    model_world_free(world);
}

static void rows_keep_their_cells_when_the_table_is_cut(void **state)
{
    (void)state;
    model_world *const world = model_world_new(47);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(40) };
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    etlheap_cell before, after;
    assert_true(etlheap_windows_cell(windows, 2, 4, &before));
    assert_int_equal(etlheap_table_keep_top(windows->table, 3, NULL), ETL_OK);
    assert_int_equal(windows->table->row_count, 3);
    assert_true(etlheap_windows_cell(windows, 2, 4, &after));
    assert_memory_equal(&before, &after, sizeof before);
    etlheap_windows_free(windows);
    model_world_free(world);
}

static void kinds_are_apart_even_when_nobody_asks(void **state)
{
    (void)state;
    model_world *const world = model_world_new(48);
    etlheap_query query = by_process();
    query.group_by[0] = ETLHEAP_KEY_PROCESS;
    query.group_by_count = 1;
    etlheap_windows *windows = windows_check_make(world->result, &query, NULL);
    assert_int_equal(windows->table->group_by_count, 2);
    assert_int_equal(windows->table->group_by[0], ETLHEAP_KEY_KIND);
    assert_int_equal(windows->table->group_by[1], ETLHEAP_KEY_PROCESS);
    assert_int_equal(windows->window_count, 1);
    windows_check_reports(world->result, &query, windows);
    etlheap_windows_free(windows);
    query.kinds = 1u << ETLHEAP_KIND_HEAP;
    windows = windows_check_make(world->result, &query, NULL);
    assert_int_equal(windows->table->group_by_count, 1);
    windows_check_reports(world->result, &query, windows);
    etlheap_windows_free(windows);
    model_world_free(world);
}

/* Sizes near 2^63 stop at the largest number, and none goes below 0. */
static void sizes_that_do_not_fit_stop_at_the_largest(void **state)
{
    (void)state;
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    for (u32 i = 0; i < 6; i++)
        hand_lifetime(result, &(lifetime){ .alloc_ticks = HAND_START_TICKS + 5 + i,
                                           .free_ticks = HAND_START_TICKS + 20 + 3 * (i64)i,
                                           .size = UINT64_MAX - i,
                                           .process = process,
                                           .free_type = ETLHEAP_FREE_FREE });
    hand_ready(result, HAND_START_TICKS + 49);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(4) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    for (u32 w = 0; w < windows->window_count; w++) {
        etlheap_cell cell;
        (void)etlheap_windows_cell(windows, 0, w, &cell);
        for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
            assert_true(cell.count[t] >= 0 && cell.count[t] <= 6 && cell.size[t] >= 0);
        assert_true(cell.peak_size >= 0);
    }
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

/* A process for each place of one block among two windows, from tick 10 to 30. */
static void groups_of_one_block_are_rows_if_a_window_sees_it(void **state)
{
    static const struct {
        const char *name;
        i64 from, to; /* to 0: for good */
        bool is_seen;
    } blocks[] = {
        { "before.exe", 3, 7, false },   { "until.exe", 5, 10, true },
        { "through.exe", 5, 35, true },  { "forever.exe", 5, 0, true },
        { "first.exe", 12, 15, true },   { "tick.exe", 14, 14, true },
        { "second.exe", 22, 25, true },  { "both.exe", 12, 22, true },
        { "onwards.exe", 29, 40, true }, { "after.exe", 30, 35, false },
    };
    etlheap_result *const result = hand_result_new();
    etlheap_query query = by_process();
    u32 found = 0;
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(blocks); i++) {
        const bool stays = blocks[i].to == 0;
        hand_lifetime(result,
                      &(lifetime){ .alloc_ticks = HAND_START_TICKS + blocks[i].from,
                                   .free_ticks = stays ? ETLHEAP_TICKS_NEVER
                                                       : HAND_START_TICKS + blocks[i].to,
                                   .size = 100,
                                   .process = hand_process(result, 10 + i, blocks[i].name),
                                   .free_type = stays ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE });
    }
    hand_ready(result, HAND_START_TICKS + 49);
    query.from_ns = NS(10);
    query.to_ns = NS(30);
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(10) };
    etlheap_windows *const windows = windows_check_make(result, &query, &options);
    for (u32 i = 0; i < ETL_COUNT_OF(blocks); i++) {
        bool has_row = false;
        for (u32 r = 0; r < windows->table->row_count; r++)
            has_row |= strcmp(windows->table->rows[r].process, blocks[i].name) == 0;
        assert_int_equal(has_row, blocks[i].is_seen);
        found += has_row;
    }
    assert_int_equal(windows->table->row_count, found);
    windows_check_lifetimes(result, &query, windows);
    windows_check_sums(windows);
    etlheap_windows_free(windows);
    etlheap_result_free(result);
}

/* Until something is allocated or freed, a row stands still. */
static void news_of_a_row_are_where_something_happens(void **state)
{
    (void)state;
    for (u32 seed = 60; seed < 64; seed++) {
        model_world *const world = model_world_new(seed);
        etlheap_query query = by_process();
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
        query.to_ns = NS(300); /* the trace goes on behind the last window */
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .every_ns = NS(seed % 2 == 0 ? 3 : 50) };
        etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
        for (u32 r = 0; r < windows->table->row_count; r++) {
            u32 next = windows->window_count;
            for (u32 w = windows->window_count; w-- > 0;) {
                etlheap_cell cell;
                (void)etlheap_windows_cell(windows, r, w, &cell);
                const i64 news = cell.count[ETLHEAP_TYPE_AIFI] + cell.count[ETLHEAP_TYPE_AIFO] +
                                 cell.count[ETLHEAP_TYPE_AOFI];
                next = news > 0 ? w : next;
                assert_int_equal(etlheap_windows_next_news(windows, r, w), next);
            }
        }
        etlheap_windows_free(windows);
        model_world_free(world);
    }
}

/* An end that is left open is the query's, or the trace's if the query's is open too. */
static void open_ends_of_windows_are_told_as_times(void **state)
{
    (void)state;
    model_world *const world = model_world_new(50);
    const etlheap_time_range ranges[] = { { INT64_MIN, NS(100) },
                                          { NS(100), INT64_MAX },
                                          { INT64_MIN, INT64_MAX },
                                          { NS(5000), INT64_MAX },
                                          { INT64_MIN, NS(-5000) } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = (u32)ETL_COUNT_OF(ranges) };
    for (u32 way = 0; way < 2; way++) {
        etlheap_query query = by_process();
        query.from_ns = way == 0 ? INT64_MIN : NS(40);
        query.to_ns = way == 0 ? INT64_MAX : NS(333);
        /* Model worlds have nothing before time zero that is not older than the trace. */
        const i64 from = way == 0 ? 0 : NS(40);
        const i64 to = way == 0 ? world->result->info.end_ns : NS(333);
        const etlheap_time_range expected[] = { { from, NS(100) },
                                                { NS(100), to },
                                                { from, to },
                                                { NS(5000), NS(5000) },
                                                { NS(-5000), NS(-5000) } };
        /* With both ends given, what ends before it begins is refused. */
        etlheap_windows_options some = options;
        some.range_count = way == 0 ? 5 : 3;
        etlheap_windows *const windows = windows_check_make(world->result, &query, &some);
        assert_int_equal(windows->window_count, some.range_count);
        for (u32 w = 0; w < some.range_count; w++) {
            assert_int_equal(windows->windows[w].from_ns, expected[w].from_ns);
            assert_int_equal(windows->windows[w].to_ns, expected[w].to_ns);
        }
        windows_check_lifetimes(world->result, &query, windows);
        etlheap_windows_free(windows);
    }
    model_world_free(world);
}

/* However far the other windows reach. */
static void open_ends_are_the_querys_beside_wider_windows(void **state)
{
    (void)state;
    model_world *const world = model_world_new(51);
    const etlheap_time_range ranges[] = {
        { NS(10), NS(20) }, { INT64_MIN, NS(100) }, { NS(100), INT64_MAX }, { NS(340), NS(350) }
    };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = (u32)ETL_COUNT_OF(ranges) };
    etlheap_query query = by_process();
    query.from_ns = NS(40);
    query.to_ns = NS(333);
    etlheap_windows *const windows = windows_check_make(world->result, &query, &options);
    assert_int_equal(windows->windows[1].from_ns, NS(40));
    assert_int_equal(windows->windows[1].to_ns, NS(100));
    assert_int_equal(windows->windows[2].from_ns, NS(100));
    assert_int_equal(windows->windows[2].to_ns, NS(333));
    windows_check_lifetimes(world->result, &query, windows);
    etlheap_windows_free(windows);
    model_world_free(world);
}

static void refuses(const etlheap_result *result, const etlheap_query *query,
                    const etlheap_windows_options *options, etl_status status)
{
    etlheap_windows *windows = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_windows_make(result, query, options, &windows, &err), status);
    assert_null(windows);
    assert_int_equal(err.offset, 0); /* it speaks of no file */
    assert_true(err.message[0] != '\0');
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    model_world *const world = model_world_new(49);
    const etlheap_query good = by_process();
    const i64 cut = NS(5);
    const etlheap_time_range backwards = { NS(9), NS(8) };
    etlheap_query query = good;
    query.types = 1;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    query = good;
    query.group_by[1] = ETLHEAP_KEY_TYPE;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    query.group_by[1] = ETLHEAP_KEY_FREE_TYPE;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    query = good;
    query.sort = ETLHEAP_MEASURE_REALLOC_COUNT;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    query = good;
    query.growth = true;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    query = good;
    query.lifetime_ranks = true;
    refuses(world->result, &query, NULL, ETL_ERR_ARGUMENT);
    etlheap_windows_options options = { .size = sizeof options, .every_ns = -1 };
    refuses(world->result, &good, &options, ETL_ERR_ARGUMENT);
    options = (etlheap_windows_options){
        .size = sizeof options, .every_ns = 1000, .cuts = &cut, .cut_count = 1
    };
    refuses(world->result, &good, &options, ETL_ERR_ARGUMENT);
    options = (etlheap_windows_options){ .size = sizeof options,
                                         .cuts = &cut,
                                         .cut_count = ETLHEAP_WINDOWS_MAX };
    refuses(world->result, &good, &options, ETL_ERR_LIMIT);
    options = (etlheap_windows_options){ .size = sizeof options,
                                         .ranges = &backwards,
                                         .range_count = ETLHEAP_WINDOWS_MAX + 1 };
    refuses(world->result, &good, &options, ETL_ERR_LIMIT);
    options =
        (etlheap_windows_options){ .size = sizeof options, .ranges = &backwards, .range_count = 1 };
    refuses(world->result, &good, &options, ETL_ERR_ARGUMENT);
    options = (etlheap_windows_options){
        .size = sizeof options, .every_ns = NS(100), .measured_first = 4, .measured_count = 9
    };
    refuses(world->result, &good, &options, ETL_ERR_ARGUMENT);
    query = good;
    query.to_ns = INT64_C(1) << 40;
    options = (etlheap_windows_options){ .size = sizeof options, .every_ns = 1 };
    refuses(world->result, &query, &options, ETL_ERR_LIMIT);
    model_world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_tile_the_whole_and_each_cell_is_right),
        cmocka_unit_test(windows_may_lie_anyhow),
        cmocka_unit_test(one_window_may_be_all_of_the_others),
        cmocka_unit_test(cuts_count_once_and_inside_the_window_only),
        cmocka_unit_test(groups_may_be_stacks_modules_sites_or_classes),
        cmocka_unit_test(lifetimes_may_be_filtered_by_their_length),
        cmocka_unit_test(a_block_is_another_type_in_each_window),
        cmocka_unit_test(empty_windows_show_what_is_outstanding),
        cmocka_unit_test(rows_are_measured_over_some_windows),
        cmocka_unit_test(windows_in_any_order_are_measured_as_one),
        cmocka_unit_test(overlapping_windows_are_measured_as_one),
        cmocka_unit_test(rows_keep_their_cells_when_the_table_is_cut),
        cmocka_unit_test(kinds_are_apart_even_when_nobody_asks),
        cmocka_unit_test(sizes_that_do_not_fit_stop_at_the_largest),
        cmocka_unit_test(groups_of_one_block_are_rows_if_a_window_sees_it),
        cmocka_unit_test(news_of_a_row_are_where_something_happens),
        cmocka_unit_test(open_ends_of_windows_are_told_as_times),
        cmocka_unit_test(open_ends_are_the_querys_beside_wider_windows),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
