/*
 * Goal: the score tells lost blocks from harmless ones by when they were born and how old they
 * became, and the sums that it is made of do not depend on the order of blocks or on how they
 * are dealt out to tasks.
 * Method: groups of blocks by hand, in a time of 32 s with a clock of 1 GHz; random blocks in two
 * orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/fold/suspect_score.h"

#define MS      INT64_C(1000000)
#define RUN_MS  INT64_C(32000)
#define PART_MS INT64_C(1000)

/* Parts of a second each. */
static suspect_time run_time(void)
{
    suspect_time time = { .from_ns = 0, .to_ns = RUN_MS * MS };
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        time.ticks[i] = i * PART_MS * MS;
    return time;
}

/* As suspect_add does, but without a result to ask for times. */
static void add(suspect_sums *sums, i64 born_ms, i64 freed_ms)
{
    sums->alloc_count++;
    sums->born[born_ms / PART_MS]++;
    sums->kept_count += freed_ms < 0;
    sums->kept[born_ms / PART_MS] += freed_ms < 0;
    if (freed_ms < 0)
        return;
    u32 step = 0;
    while (suspect_step_of(step).to_ns <= (freed_ms - born_ms) * MS)
        step++;
    sums->lifetimes[step]++;
}

static u32 score(const suspect_sums *sums)
{
    const suspect_time time = run_time();
    return suspect_score(sums, &time);
}

static void blocks_lost_all_over_the_run_have_the_highest_score(void **state)
{
    suspect_sums all = { 0 }, few = { 0 };
    (void)state;
    for (i64 ms = 0; ms < RUN_MS; ms += 10) {
        add(&all, ms, -1);
        add(&few, ms, ms % 1000 == 0 ? -1 : ms + 5);
    }
    assert_int_equal(score(&all), 100);
    assert_int_equal(score(&few), 100); /* one of a hundred */
}

static void what_is_made_in_one_place_of_the_run_has_none(void **state)
{
    (void)state;
    for (i64 begin = 0; begin < RUN_MS; begin += 7500) {
        suspect_sums sums = { 0 };
        for (i64 ms = 0; ms < 900; ms++)
            add(&sums, begin + ms, -1);
        assert_int_equal(score(&sums), 0);
    }
}

static void what_fills_up_has_a_low_score(void **state)
{
    suspect_sums cache = { 0 }, pool = { 0 };
    (void)state;
    for (i64 ms = 0; ms < RUN_MS; ms++) { /* halves each second */
        if ((ms * 7919 % 1024) << (ms / 1000) < 1024)
            add(&cache, ms, -1);
    }
    for (i64 ms = 100; ms < RUN_MS; ms *= 2)
        add(&pool, ms, -1);
    assert_true(score(&cache) < SUSPECT_SCORE_MIN);
    assert_true(score(&pool) < SUSPECT_SCORE_MIN);
}

static void long_lifetimes_are_no_leak(void **state)
{
    suspect_sums sessions = { 0 }, evicted = { 0 };
    (void)state;
    for (i64 ms = 0; ms < RUN_MS; ms += 10) {
        const i64 end = ms + 50 + ms * 7919 % 6000;
        add(&sessions, ms, end < RUN_MS ? end : -1);
        add(&evicted, ms, ms + 9000 < RUN_MS ? ms + 9000 : -1);
    }
    assert_int_equal(score(&sessions), 0);
    assert_int_equal(score(&evicted), 0);
}

static void blocks_that_are_freed_as_late_are_no_leak(void **state)
{
    suspect_sums sums = { 0 };
    (void)state;
    for (i64 ms = 8000; ms < 20000; ms += 10)
        add(&sums, ms, ms % 1000 == 0 ? -1 : ms % 500 == 0 ? ms + 10000 : ms + 5);
    assert_true(score(&sums) >= SUSPECT_SCORE_MIN); /* those that live 10 s are 1 % */
    for (i64 ms = 0; ms < 20000; ms += 100)
        add(&sums, ms, ms + 11900); /* and now 14 %: no other block is twice as old */
    assert_int_equal(score(&sums), 0);
}

static void a_few_blocks_prove_nothing(void **state)
{
    suspect_sums sums = { 0 };
    u32 before = 0;
    (void)state;
    for (i64 i = 0; i < 8; i++) {
        add(&sums, 2000 + i * 4000, -1);
        if (i < 2)
            assert_int_equal(score(&sums), 0);
        assert_true(score(&sums) >= before);
        before = i < 4 ? 0 : score(&sums);
    }
    assert_int_equal(score(&sums), 100);
}

static void a_run_too_short_for_its_lifetimes_has_no_suspects(void **state)
{
    suspect_sums sums = { 0 };
    (void)state;
    for (i64 ms = 0; ms < RUN_MS; ms += 10)
        add(&sums, ms, ms % 100 == 0 || ms + 15000 >= RUN_MS ? -1 : ms + 15000);
    assert_int_equal(score(&sums), 0);
}

/* Lifetimes are so long that only the first 8 s can have blocks that are old. */
static void a_stack_that_stopped_or_does_not_grow_is_not_certain(void **state)
{
    suspect_sums stopped = { 0 }, lasting = { 0 };
    (void)state;
    for (i64 ms = 0; ms < 8000; ms += 100)
        add(&stopped, ms, ms % 1000 == 0 ? -1 : ms + 10000);
    for (i64 ms = 0; ms < RUN_MS; ms += 10)
        add(&lasting, ms, -1);
    assert_true(score(&stopped) > SUSPECT_SCORE_DOUBT);
    assert_true(suspect_has_stopped(&stopped));
    assert_int_equal(suspect_cap(score(&stopped), &stopped, 1000), SUSPECT_SCORE_DOUBT);
    assert_int_equal(suspect_cap(60, &stopped, 1000), 60);
    assert_false(suspect_has_stopped(&lasting));
    assert_int_equal(suspect_cap(100, &lasting, 1), 100);
    assert_int_equal(suspect_cap(100, &lasting, 0), SUSPECT_SCORE_DOUBT);
    add(&stopped, RUN_MS / 2, -1);
    assert_false(suspect_has_stopped(&stopped));
}

static void steps_follow_each_other_without_gaps(void **state)
{
    (void)state;
    assert_int_equal(suspect_step_of(0).from_ns, 0);
    for (u32 step = 1; step < SUSPECT_LIFETIMES; step++) {
        const suspect_step of = suspect_step_of(step), before = suspect_step_of(step - 1);
        assert_int_equal(of.from_ns, before.to_ns);
        assert_true(of.from_ns < of.to_ns);
        assert_true(suspect_step_middle(step) >= of.from_ns &&
                    suspect_step_middle(step) < of.to_ns);
    }
    assert_int_equal(suspect_step_of(SUSPECT_LIFETIMES - 1).to_ns, INT64_MAX);
}

static void threads_are_the_lowest_whoever_comes_first(void **state)
{
    suspect_sums parts[2] = { { 0 } }, joined[2] = { { 0 } };
    (void)state;
    for (u32 i = 0; i < 12; i++) {
        suspect_sums one = { .kept_count = 1, .thread_count = 1, .threads = { 100 + i * 5 % 12 } };
        one.first_ticks = one.last_ticks = i * 7 % 12;
        one.steps[i] = UINT64_MAX - i; /* sums of changes may wrap */
        suspect_join(&parts[i % 2], &one);
    }
    for (u32 i = 0; i < 2; i++) {
        suspect_join(&joined[i], &parts[i]);
        suspect_join(&joined[i], &parts[1 - i]);
    }
    assert_memory_equal(&joined[0], &joined[1], sizeof joined[0]);
    assert_int_equal(joined[0].thread_count, ETLHEAP_SUSPECT_THREADS_MAX);
    assert_true(joined[0].has_more_threads);
    for (u32 i = 0; i < ETLHEAP_SUSPECT_THREADS_MAX; i++)
        assert_int_equal(joined[0].threads[i], 100 + i);
    assert_int_equal(joined[0].first_ticks, 0);
    assert_int_equal(joined[0].last_ticks, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_lost_all_over_the_run_have_the_highest_score),
        cmocka_unit_test(what_is_made_in_one_place_of_the_run_has_none),
        cmocka_unit_test(what_fills_up_has_a_low_score),
        cmocka_unit_test(long_lifetimes_are_no_leak),
        cmocka_unit_test(blocks_that_are_freed_as_late_are_no_leak),
        cmocka_unit_test(a_few_blocks_prove_nothing),
        cmocka_unit_test(a_run_too_short_for_its_lifetimes_has_no_suspects),
        cmocka_unit_test(a_stack_that_stopped_or_does_not_grow_is_not_certain),
        cmocka_unit_test(steps_follow_each_other_without_gaps),
        cmocka_unit_test(threads_are_the_lowest_whoever_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
