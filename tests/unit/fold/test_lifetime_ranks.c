/*
 * Goal: median and 99th percentile of each group are those of nearest rank.
 * Method: small groups by hand; then random groups against counting, for each
 * lifetime of a group, how many of the group it is not exceeded by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/lifetime_ranks.h"
#include "tests/support/engine_check.h"

#define NOTHING INT64_MIN

static lifetime_ranks ranks_of(const i64 *ns, u32 count)
{
    ranked_lifetimes lifetimes = { 0 };
    lifetime_ranks ranks = { NOTHING, NOTHING };
    for (u32 i = 0; i < count; i++)
        assert_true(ETLHEAP_PUSH(&lifetimes, (ranked_lifetime){ ns[i], 0 }));
    assert_true(lifetime_ranks_compute(&lifetimes, 1, 1, &ranks));
    ETLHEAP_VECTOR_FREE(&lifetimes);
    return ranks;
}

static void one_lifetime_is_both(void **state)
{
    (void)state;
    const lifetime_ranks ranks = ranks_of((const i64[]){ 7 }, 1);
    assert_int_equal(ranks.median_ns, 7);
    assert_int_equal(ranks.p99_ns, 7);
}

static void median_of_an_even_number_is_the_lower_of_the_two(void **state)
{
    (void)state;
    assert_int_equal(ranks_of((const i64[]){ 40, 10, 30, 20 }, 4).median_ns, 20);
    assert_int_equal(ranks_of((const i64[]){ 40, 10, 30 }, 3).median_ns, 30);
}

static void percentile_leaves_out_the_largest_from_a_hundred_on(void **state)
{
    i64 ns[200];
    (void)state;
    for (u32 i = 0; i < 200; i++)
        ns[i] = (i64)(200 - i);
    assert_int_equal(ranks_of(ns + 101, 99).p99_ns, 99);
    assert_int_equal(ranks_of(ns + 100, 100).p99_ns, 99);
    assert_int_equal(ranks_of(ns, 200).p99_ns, 198);
}

static void group_without_lifetimes_keeps_what_is_there(void **state)
{
    const ranked_lifetimes none = { 0 };
    lifetime_ranks ranks[2] = { { NOTHING, NOTHING }, { 1, 2 } };
    (void)state;
    assert_true(lifetime_ranks_compute(&none, 2, 1, ranks));
    assert_int_equal(ranks[0].median_ns, NOTHING);
    assert_int_equal(ranks[1].p99_ns, 2);
    assert_true(lifetime_ranks_compute(&none, 0, 1, ranks));
}

/* The smallest value of the group that at least `percent` of it do not exceed. */
static i64 plain_rank(const ranked_lifetimes *lifetimes, u32 group, u32 percent)
{
    i64 best = NOTHING;
    for (size_t i = 0; i < lifetimes->count; i++) {
        const i64 ns = lifetimes->at[i].ns;
        size_t below = 0, all = 0;
        if (lifetimes->at[i].group != group)
            continue;
        for (size_t k = 0; k < lifetimes->count; k++) {
            all += lifetimes->at[k].group == group;
            below += lifetimes->at[k].group == group && lifetimes->at[k].ns <= ns;
        }
        if (100 * below >= percent * all && (best == NOTHING || ns < best))
            best = ns;
    }
    return best;
}

static void random_groups_agree_with_counting(void **state)
{
    (void)state;
    for (u64 round = 1; round <= 12; round++) {
        u64 seed = round;
        const u32 groups = 1 + engine_check_random(&seed, 200);
        const u32 count = engine_check_random(&seed, 900);
        const u32 span = round % 2 == 0 ? 10 : 1000000;
        ranked_lifetimes lifetimes = { 0 };
        lifetime_ranks ranks[201];
        for (u32 i = 0; i < count; i++)
            assert_true(
                ETLHEAP_PUSH(&lifetimes, (ranked_lifetime){ engine_check_random(&seed, span),
                                                            engine_check_random(&seed, groups) }));
        for (u32 jobs = 1; jobs <= 7; jobs += 3) {
            for (u32 g = 0; g < groups; g++)
                ranks[g] = (lifetime_ranks){ NOTHING, NOTHING };
            assert_true(lifetime_ranks_compute(&lifetimes, groups, jobs, ranks));
            for (u32 g = 0; g < groups; g++) {
                assert_int_equal(ranks[g].median_ns, plain_rank(&lifetimes, g, 50));
                assert_int_equal(ranks[g].p99_ns, plain_rank(&lifetimes, g, 99));
            }
        }
        ETLHEAP_VECTOR_FREE(&lifetimes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lifetime_is_both),
        cmocka_unit_test(median_of_an_even_number_is_the_lower_of_the_two),
        cmocka_unit_test(percentile_leaves_out_the_largest_from_a_hundred_on),
        cmocka_unit_test(group_without_lifetimes_keeps_what_is_there),
        cmocka_unit_test(random_groups_agree_with_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
