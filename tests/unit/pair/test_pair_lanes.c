/*
 * Goal: lanes pair every shard once, and what all of them counted adds up, whatever their
 * number.
 * Method: blocks left open in the shards are counted when the lanes finish; lanes of one
 * to many threads; memory summed by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/pair_lanes.h"
#include "tests/support/engine_check.h"

#define PID    42u
#define T0     (CHECK_START + 1000)
#define BLOCKS 5u

typedef struct fixture {
    engine_check check;
    pair_lanes lanes;
    slice_order order;
    shard_journal journals[HEAP_SHARDS];
    event_journal journal;
    u32 process;
    u32 opened;
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    f->lanes.input = (pair_input){ .rules = engine_check_rules(&f->check), .order = &f->order };
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    free(f->journal.sums);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

/* Each shard has some. */
static u32 open_in(u32 shard)
{
    return shard < HEAP_SHARDS ? 1 + shard % BLOCKS : 0;
}

static void open_blocks(fixture *f, bool counts_blocks)
{
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        f->journals[s] = (shard_journal){ .from_ticks = INT64_MIN, .to_ticks = INT64_MAX };
        f->lanes.shards[s].out.journal = counts_blocks ? &f->journals[s] : NULL;
        for (u32 i = 0; i < open_in(s); i++) {
            const memory_event event = { .ticks = T0,
                                         .op = OP_ALLOC,
                                         .address = 0x1000 * (u64)(s + 1) + 16 * i,
                                         .size = 10 + i,
                                         .heap = 0x1F0000,
                                         .pid = PID,
                                         .tid = 7,
                                         .stack = 1 + s };
            engine_check_apply(&f->check, &f->lanes.shards[s].blocks, &event, f->process);
            f->opened++;
        }
    }
}

static void lanes_are_as_many_as_threads_up_to_a_limit(void **state)
{
    (void)state;
    static const struct {
        u32 jobs, lanes, counting_lanes;
    } rows[] = { { 1, 1, 1 }, { 2, 2, 2 }, { 16, 16, 16 }, { 17, 17, 16 }, { 1000, SHARDS, 16 } };
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        pair_lanes *const lanes = calloc(2, sizeof *lanes);
        assert_non_null(lanes);
        assert_true(pair_lanes_open(&lanes[0], rows[i].jobs, false));
        assert_true(pair_lanes_open(&lanes[1], rows[i].jobs, true));
        assert_int_equal(lanes[0].count, rows[i].lanes);
        assert_null(lanes[0].tallies);
        assert_int_equal(lanes[1].count, rows[i].counting_lanes);
        assert_non_null(lanes[1].tallies);
        pair_lanes_close(&lanes[0]);
        pair_lanes_close(&lanes[1]);
        assert_null(lanes[1].tallies);
        free(lanes);
    }
}

static void what_lanes_counted_adds_up(void **state)
{
    fixture *const f = *state;
    static const u32 jobs[] = { 1, 2, 5 };
    for (u32 j = 0; j < ETL_COUNT_OF(jobs); j++) {
        etlheap_crew *const crew = etlheap_crew_open(jobs[j]);
        assert_true(pair_lanes_open(&f->lanes, jobs[j], true));
        open_blocks(f, true);
        pair_lanes_finish(&f->lanes, crew);
        const u32 origins = (u32)f->check.origins.origins.count;
        assert_true(pair_lanes_sum(&f->lanes, origins, &f->journal));
        i64 count = 0;
        for (u32 n = 1; n <= origins; n++) {
            const u32 s = f->check.origins.origins.at[n - 1].stack - 1;
            const i64 expected = open_in(s);
            const type_sums *const sums = &f->journal.sums[n * TALLY_BINS + ETLHEAP_TYPE_AIFO];
            assert_int_equal(sums->count, expected);
            assert_int_equal(sums->size, 10 * expected + expected * (expected - 1) / 2);
            count += sums->count;
        }
        assert_int_equal(count * (j + 1), f->opened);
        free(f->journal.sums);
        f->journal.sums = NULL;
        pair_lanes_close(&f->lanes);
        etlheap_crew_close(crew);
    }
}

/* A lane that takes a shard twice, or the place behind the last one, finds nothing there. */
static void without_tallies_blocks_are_rows_of_their_shard(void **state)
{
    fixture *const f = *state;
    etlheap_crew *const crew = etlheap_crew_open(3);
    assert_true(pair_lanes_open(&f->lanes, 3, false));
    open_blocks(f, false);
    pair_lanes_run(&f->lanes, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->lanes.shards[s].out.rows.count, 0);
    pair_lanes_finish(&f->lanes, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->lanes.shards[s].out.rows.count, open_in(s));
    assert_true(pair_lanes_sum(&f->lanes, 1, &f->journal));
    assert_int_equal(f->journal.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].count, 0);
    pair_lanes_close(&f->lanes);
    etlheap_crew_close(crew);
}

/* Whichever lane took a shard. */
static void every_lanes_tally_is_added(void **state)
{
    fixture *const f = *state;
    assert_true(pair_lanes_open(&f->lanes, 4, true));
    for (u32 i = 0; i < 4; i++) {
        const tally_block counted = { { 1 + i, 1, 0 }, 1, ETLHEAP_TYPE_AIFO };
        assert_true(tally_add(&f->lanes.tallies[i], &counted));
    }
    assert_true(pair_lanes_sum(&f->lanes, 1, &f->journal));
    assert_int_equal(f->journal.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].count, 4);
    assert_int_equal(f->journal.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].size, 1 + 2 + 3 + 4);
    pair_lanes_close(&f->lanes);
}

/* At the end of a slice, not of the run: blocks of a process that goes on stay open. */
static void slice_of_every_shard_is_paired(void **state)
{
    fixture *const f = *state;
    etlheap_crew *const crew = etlheap_crew_open(3);
    assert_true(pair_lanes_open(&f->lanes, 3, false));
    open_blocks(f, false);
    f->lanes.input.sweep = true;
    f->lanes.input.end_ticks = T0 + 60 * CHECK_SECOND;
    pair_lanes_run(&f->lanes, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->lanes.shards[s].out.rows.count, 0);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 1, "app.exe", 1);
    pair_lanes_run(&f->lanes, crew);
    for (u32 s = 0; s < HEAP_SHARDS; s++)
        assert_int_equal(f->lanes.shards[s].out.rows.count, open_in(s));
    pair_lanes_close(&f->lanes);
    etlheap_crew_close(crew);
}

static void memory_is_that_of_tallies_blocks_and_rows(void **state)
{
    fixture *const f = *state;
    assert_true(pair_lanes_open(&f->lanes, 3, true));
    const tally_block counted = { { 100, 1, 0 }, 1, 0 };
    for (u32 i = 0; i < 3; i++) {
        for (u32 k = 0; k <= i * TALLY_WAITING; k++)
            assert_true(tally_add(&f->lanes.tallies[i], &counted));
    }
    open_blocks(f, false);
    const lifetime row = { .size = 1 };
    assert_true(ETLHEAP_PUSH(&f->lanes.shards[0].out.rows, row));
    assert_true(ETLHEAP_PUSH(&f->lanes.shards[SHARDS - 1].out.rows, row));
    u64 expected = 0;
    for (u32 i = 0; i < 3; i++)
        expected += tally_bytes(&f->lanes.tallies[i]);
    assert_true(expected > 0);
    for (u32 s = 0; s < HEAP_SHARDS; s++)
        expected += block_pool_bytes(&f->lanes.shards[s].blocks.open);
    expected += f->lanes.shards[0].out.rows.capacity * sizeof row;
    expected += f->lanes.shards[SHARDS - 1].out.rows.capacity * sizeof row;
    assert_int_equal(pair_lanes_bytes(&f->lanes), expected);
    pair_lanes_close(&f->lanes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_as_many_as_threads_up_to_a_limit),
        TEST(what_lanes_counted_adds_up),
        TEST(without_tallies_blocks_are_rows_of_their_shard),
        TEST(every_lanes_tally_is_added),
        TEST(slice_of_every_shard_is_paired),
        TEST(memory_is_that_of_tallies_blocks_and_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
