/*
 * Goal: workers pair every shard once, and what all of them counted adds up, whatever their
 * number.
 * Method: blocks left open in the shards are counted when the workers finish; workers of one
 * to many threads; memory summed by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/pair_workers.h"
#include "tests/support/engine_check.h"

#define PID    42u
#define T0     (CHECK_START + 1000)
#define BLOCKS 5u

typedef struct fixture {
    engine_check check;
    pair_workers workers;
    slice_order order;
    shard_events events[HEAP_SHARDS];
    event_list event_list;
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
    f->workers.input = (pair_input){ .rules = engine_check_rules(&f->check), .order = &f->order };
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    free(f->event_list.sums);
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
        f->events[s] = (shard_events){ .from_ticks = INT64_MIN, .to_ticks = INT64_MAX };
        f->workers.shards[s].out.events = counts_blocks ? &f->events[s] : NULL;
        for (u32 i = 0; i < open_in(s); i++) {
            const memory_event event = { .ticks = T0,
                                         .op = OP_ALLOC,
                                         .address = 0x1000 * (u64)(s + 1) + 16 * i,
                                         .size = 10 + i,
                                         .heap = 0x1F0000,
                                         .pid = PID,
                                         .tid = 7,
                                         .stack = 1 + s };
            engine_check_apply(&f->check, &f->workers.shards[s].blocks, &event, f->process);
            f->opened++;
        }
    }
}

static void workers_are_as_many_as_threads_up_to_a_limit(void **state)
{
    (void)state;
    static const struct {
        u32 jobs, workers, counting_workers;
    } rows[] = { { 1, 1, 1 }, { 2, 2, 2 }, { 16, 16, 16 }, { 17, 17, 16 }, { 1000, SHARDS, 16 } };
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        pair_workers *const workers = calloc(2, sizeof *workers);
        assert_non_null(workers);
        assert_true(pair_workers_open(&workers[0], rows[i].jobs, false));
        assert_true(pair_workers_open(&workers[1], rows[i].jobs, true));
        assert_int_equal(workers[0].count, rows[i].workers);
        assert_null(workers[0].tallies);
        assert_int_equal(workers[1].count, rows[i].counting_workers);
        assert_non_null(workers[1].tallies);
        pair_workers_close(&workers[0]);
        pair_workers_close(&workers[1]);
        assert_null(workers[1].tallies);
        free(workers);
    }
}

static void what_workers_counted_adds_up(void **state)
{
    fixture *const f = *state;
    static const u32 jobs[] = { 1, 2, 5 };
    for (u32 j = 0; j < ETL_COUNT_OF(jobs); j++) {
        etlheap_crew *const crew = etlheap_crew_open(jobs[j]);
        assert_true(pair_workers_open(&f->workers, jobs[j], true));
        open_blocks(f, true);
        pair_workers_finish(&f->workers, crew);
        const u32 origins = (u32)f->check.origins.origins.count;
        assert_true(pair_workers_sum(&f->workers, origins, &f->event_list));
        i64 count = 0;
        for (u32 n = 1; n <= origins; n++) {
            const u32 s = f->check.origins.origins.at[n - 1].stack - 1;
            const i64 expected = open_in(s);
            const type_sums *const sums = &f->event_list.sums[n * TALLY_BINS + ETLHEAP_TYPE_AIFO];
            assert_int_equal(sums->count, expected);
            assert_int_equal(sums->size, 10 * expected + expected * (expected - 1) / 2);
            count += sums->count;
        }
        assert_int_equal(count * (j + 1), f->opened);
        free(f->event_list.sums);
        f->event_list.sums = NULL;
        pair_workers_close(&f->workers);
        etlheap_crew_close(crew);
    }
}

/* A worker that takes a shard twice, or the place behind the last one, finds nothing there. */
static void without_tallies_blocks_are_rows_of_their_shard(void **state)
{
    fixture *const f = *state;
    etlheap_crew *const crew = etlheap_crew_open(3);
    assert_true(pair_workers_open(&f->workers, 3, false));
    open_blocks(f, false);
    pair_workers_run(&f->workers, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->workers.shards[s].out.rows.count, 0);
    pair_workers_finish(&f->workers, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->workers.shards[s].out.rows.count, open_in(s));
    assert_true(pair_workers_sum(&f->workers, 1, &f->event_list));
    assert_int_equal(f->event_list.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].count, 0);
    pair_workers_close(&f->workers);
    etlheap_crew_close(crew);
}

/* Whichever worker took a shard. */
static void every_workers_tally_is_added(void **state)
{
    fixture *const f = *state;
    assert_true(pair_workers_open(&f->workers, 4, true));
    for (u32 i = 0; i < 4; i++) {
        const tally_block counted = { { 1 + i, 1, 0 }, 1, ETLHEAP_TYPE_AIFO };
        assert_true(tally_add(&f->workers.tallies[i], &counted));
    }
    assert_true(pair_workers_sum(&f->workers, 1, &f->event_list));
    assert_int_equal(f->event_list.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].count, 4);
    assert_int_equal(f->event_list.sums[TALLY_BINS + ETLHEAP_TYPE_AIFO].size, 1 + 2 + 3 + 4);
    pair_workers_close(&f->workers);
}

/* At the end of a slice, not of the run: blocks of a process that goes on stay open. */
static void slice_of_every_shard_is_paired(void **state)
{
    fixture *const f = *state;
    etlheap_crew *const crew = etlheap_crew_open(3);
    assert_true(pair_workers_open(&f->workers, 3, false));
    open_blocks(f, false);
    f->workers.input.sweep = true;
    f->workers.input.end_ticks = T0 + 60 * CHECK_SECOND;
    pair_workers_run(&f->workers, crew);
    for (u32 s = 0; s < SHARDS; s++)
        assert_int_equal(f->workers.shards[s].out.rows.count, 0);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 1, "app.exe", 1);
    pair_workers_run(&f->workers, crew);
    for (u32 s = 0; s < HEAP_SHARDS; s++)
        assert_int_equal(f->workers.shards[s].out.rows.count, open_in(s));
    pair_workers_close(&f->workers);
    etlheap_crew_close(crew);
}

static void memory_is_that_of_tallies_blocks_and_rows(void **state)
{
    fixture *const f = *state;
    assert_true(pair_workers_open(&f->workers, 3, true));
    const tally_block counted = { { 100, 1, 0 }, 1, 0 };
    for (u32 i = 0; i < 3; i++) {
        for (u32 k = 0; k <= i * TALLY_WAITING; k++)
            assert_true(tally_add(&f->workers.tallies[i], &counted));
    }
    open_blocks(f, false);
    const lifetime row = { .size = 1 };
    assert_true(ETLHEAP_PUSH(&f->workers.shards[0].out.rows, row));
    assert_true(ETLHEAP_PUSH(&f->workers.shards[SHARDS - 1].out.rows, row));
    u64 expected = 0;
    for (u32 i = 0; i < 3; i++)
        expected += tally_bytes(&f->workers.tallies[i]);
    assert_true(expected > 0);
    for (u32 s = 0; s < HEAP_SHARDS; s++)
        expected += block_pool_bytes(&f->workers.shards[s].blocks.open);
    expected += f->workers.shards[0].out.rows.capacity * sizeof row;
    expected += f->workers.shards[SHARDS - 1].out.rows.capacity * sizeof row;
    assert_int_equal(pair_workers_bytes(&f->workers), expected);
    pair_workers_close(&f->workers);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_as_many_as_threads_up_to_a_limit),
        TEST(what_workers_counted_adds_up),
        TEST(without_tallies_blocks_are_rows_of_their_shard),
        TEST(every_workers_tally_is_added),
        TEST(slice_of_every_shard_is_paired),
        TEST(memory_is_that_of_tallies_blocks_and_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
