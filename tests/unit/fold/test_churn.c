/*
 * Goal: blocks are found to be temporary wherever their runs are cut.
 * Method: random allocations of several threads with random ends. A naive model looks, for each
 * block, for the next and the tenth next allocation of its thread. The blocks are cut into chunks
 * and each chunk among several tracks, as tasks see them, with groups in another order in each
 * track; sums by group must be the model's. So must those of one track that sees everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/churn.h"
#include "tests/support/hand_bytes.h"

#define BLOCKS 3000u
#define GROUPS 7u
#define TRACKS 4u

typedef struct world {
    churn_block blocks[BLOCKS];
    churn_sums wanted[GROUPS];
    u64 random;
} world;

static u32 pick(world *w, u32 below)
{
    return (u32)(hand_random(&w->random) % below);
}

/* Most blocks live short, and some are not selected or never freed. */
static void make_blocks(world *w, u32 threads)
{
    for (u32 i = 0; i < BLOCKS; i++) {
        const u32 life = pick(w, 3) == 0 ? pick(w, 200) : pick(w, 2 * threads + 1);
        const bool is_freed = pick(w, 5) != 0;
        w->blocks[i] = (churn_block){ .thread = pick(w, threads) * (u64)0x100000001,
                                      .size = pick(w, 1000),
                                      .number = 70000 + i,
                                      .end = is_freed ? 70000 + i + 1 + life : CHURN_NO_END,
                                      .group = is_freed ? pick(w, GROUPS + 1) : 0,
                                      .is_fast = pick(w, 2) == 0 };
    }
}

/* The number of its thread's nth next allocation, or one behind all. */
static u64 next_of(const world *w, u32 block, u32 nth)
{
    for (u32 i = block + 1; i < BLOCKS; i++) {
        nth -= w->blocks[i].thread == w->blocks[block].thread;
        if (nth == 0)
            return w->blocks[i].number;
    }
    return UINT64_MAX;
}

static void make_wanted(world *w)
{
    for (u32 i = 0; i < BLOCKS; i++) {
        const churn_block *const block = &w->blocks[i];
        if (block->group == 0)
            continue;
        churn_sums *const sums = &w->wanted[block->group - 1];
        const bool is_temporary = block->end <= next_of(w, i, 1);
        sums->count += is_temporary;
        sums->size += is_temporary ? (i64)block->size : 0;
        sums->near_count += block->end <= next_of(w, i, 10);
        sums->fast_count += block->is_fast;
    }
}

static world *world_new(u64 seed, u32 threads)
{
    world *const w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->random = seed;
    make_blocks(w, threads);
    make_wanted(w);
    return w;
}

/* A track numbers its groups in its own order. */
static u32 group_in(u32 track, u32 group)
{
    return group == 0 ? 0 : (group - 1 + track) % GROUPS + 1;
}

static void take_all(churn_join *join, churn_track *tracks, u32 count)
{
    for (u32 t = 0; t < count; t++) {
        u32 numbers[GROUPS];
        for (u32 group = 1; group <= GROUPS; group++)
            numbers[group_in(t, group) - 1] = group - 1;
        assert_true(churn_join_take(join, &tracks[t], numbers, GROUPS));
        churn_track_free(&tracks[t]);
    }
}

static void check(const world *w, churn_join *join)
{
    assert_true(churn_join_finish(join, GROUPS));
    assert_int_equal(join->sums.count, GROUPS);
    for (u32 group = 0; group < GROUPS; group++) {
        assert_int_equal(join->sums.at[group].count, w->wanted[group].count);
        assert_int_equal(join->sums.at[group].size, w->wanted[group].size);
        assert_int_equal(join->sums.at[group].near_count, w->wanted[group].near_count);
        assert_int_equal(join->sums.at[group].fast_count, w->wanted[group].fast_count);
    }
    assert_true(w->wanted[0].count > 0 && w->wanted[0].near_count > w->wanted[0].count);
    churn_join_free(join);
}

/* Chunks of random lengths, each cut among the tracks. */
static void check_cut(u64 seed, u32 threads, u32 chunk_max)
{
    world *const w = world_new(seed, threads);
    churn_track tracks[TRACKS] = { { .next = 0 } };
    churn_join join = { .sums = { 0 } };
    for (u32 first = 0; first < BLOCKS;) {
        const u32 left = BLOCKS - first, some = 1 + pick(w, chunk_max);
        const u32 count = some < left ? some : left;
        for (u32 i = 0; i < count; i++) {
            churn_block block = w->blocks[first + i];
            const u32 track = i * TRACKS / count;
            block.group = group_in(track, block.group);
            assert_true(churn_note(&tracks[track], &block));
        }
        first += count;
    }
    take_all(&join, tracks, TRACKS);
    check(w, &join);
    free(w);
}

static void one_track_sees_all_blocks(void **state)
{
    (void)state;
    for (u32 threads = 1; threads <= 9; threads += 4) {
        world *const w = world_new(threads, threads);
        churn_track track = { .next = 0 };
        churn_join join = { .sums = { 0 } };
        for (u32 i = 0; i < BLOCKS; i++)
            assert_true(churn_note(&track, &w->blocks[i]));
        take_all(&join, &track, 1);
        check(w, &join);
        free(w);
    }
}

static void cuts_into_many_short_runs_change_nothing(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 20; seed++)
        check_cut(seed, 1 + (u32)seed % 6, 30);
}

static void cuts_into_few_long_runs_change_nothing(void **state)
{
    (void)state;
    for (u64 seed = 101; seed <= 120; seed++)
        check_cut(seed, 1 + (u32)seed % 9, 900);
}

static void without_blocks_nothing_is_temporary(void **state)
{
    churn_join join = { .sums = { 0 } };
    (void)state;
    assert_true(churn_join_finish(&join, 2));
    assert_int_equal(join.sums.count, 2);
    assert_int_equal(join.sums.at[1].near_count, 0);
    churn_join_free(&join);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_track_sees_all_blocks),
        cmocka_unit_test(cuts_into_many_short_runs_change_nothing),
        cmocka_unit_test(cuts_into_few_long_runs_change_nothing),
        cmocka_unit_test(without_blocks_nothing_is_temporary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
