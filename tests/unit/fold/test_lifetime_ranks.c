/*
 * Goal: median and percentiles of each group are those of nearest rank, the mean is the sum over
 * the count, and lists of lifetimes give back what was put into them.
 * Method: small groups by hand; random groups, in lists of several threads, against counting,
 * for each lifetime of a group, how many of the group it is not exceeded by; large groups,
 * and sets of groups, against sorting; lifetimes of all lengths read back.
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

__extension__ typedef __int128 i128;

/* Ranks each group by itself. */
static void rank_groups(const lifetime_lists *lifetimes, u32 count, u32 jobs, lifetime_ranks *ranks)
{
    lifetime_ranks_compute(lifetimes, &(lifetime_sets){ .count = count }, jobs, ranks);
}

static lifetime_ranks ranks_of(const i64 *ns, u32 count)
{
    lifetime_lists lifetimes = { 0 };
    lifetime_ranks ranks = LIFETIME_RANKS_UNKNOWN;
    for (u32 i = 0; i < count; i++)
        assert_true(lifetime_lists_add(&lifetimes, 0, ns[i]));
    rank_groups(&lifetimes, 1, 1, &ranks);
    lifetime_lists_free(&lifetimes);
    return ranks;
}

/* Is it as near to sum / count as a whole number can be? */
static bool is_mean(i64 mean, i128 sum, u64 count)
{
    const i128 off = (i128)mean * count - sum;
    return (off < 0 ? -off : off) * 2 <= count;
}

static void one_lifetime_is_all(void **state)
{
    (void)state;
    const lifetime_ranks ranks = ranks_of((const i64[]){ 7 }, 1);
    assert_int_equal(ranks.median_ns, 7);
    assert_int_equal(ranks.p90_ns, 7);
    assert_int_equal(ranks.p99_ns, 7);
    assert_int_equal(ranks.mean_ns, 7);
}

static void mean_is_rounded_to_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(ranks_of((const i64[]){ 1, 2, 2 }, 3).mean_ns, 2);
    assert_int_equal(ranks_of((const i64[]){ 1, 1, 2 }, 3).mean_ns, 1);
    assert_int_equal(ranks_of((const i64[]){ 1, 2 }, 2).mean_ns, 2);
    assert_int_equal(ranks_of((const i64[]){ INT64_MAX, INT64_MAX, INT64_MAX - 3 }, 3).mean_ns,
                     INT64_MAX - 1);
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
    const lifetime_lists none = { 0 };
    lifetime_ranks ranks[2] = { LIFETIME_RANKS_UNKNOWN, { 1, 2, 3, 4 } };
    (void)state;
    rank_groups(&none, 2, 1, ranks);
    assert_int_equal(ranks[0].median_ns, NOTHING);
    assert_int_equal(ranks[0].mean_ns, NOTHING);
    assert_int_equal(ranks[1].p99_ns, 4);
    rank_groups(&none, 0, 1, ranks);
}

static u64 random_u64(u64 *seed)
{
    u64 value = 0;
    for (u32 i = 0; i < 4; i++)
        value = value << 16 | engine_check_random(seed, 1 << 16);
    return value;
}

/* Of any number of bits; about half of them hundreds. */
static i64 random_ns(u64 *seed)
{
    const i64 ns = (i64)(random_u64(seed) >> engine_check_random(seed, 64));
    return engine_check_random(seed, 2) == 0 ? ns : ns / 100 * 100;
}

static void lists_give_back_what_was_put_into_them(void **state)
{
    enum { ROUNDS = 20000, GROUPS = 7 };
    (void)state;
    lifetime_lists lists = { 0 };
    lifetime_list others[3] = { { .least = 0 } };
    u64 wanted[GROUPS] = { 0 }, counts[GROUPS] = { 0 };
    u64 seed = 3;
    for (u32 i = 0; i < ROUNDS; i++) {
        const u32 group = engine_check_random(&seed, GROUPS - 1), which = i % 3;
        const i64 ns = i < 64 ? (i64)(((u64)1 << i) - 1) : random_ns(&seed);
        wanted[group] += etlheap_hash_u64((u64)ns);
        counts[group]++;
        const u32 first = which == 2 && group >= 2 ? 2 : 0; /* of another source */
        assert_true(which == 0
                        ? lifetime_lists_add(&lists, group, ns)
                        : lifetime_list_add(&others[which - 1 + (first != 0)], group - first, ns));
    }
    for (u32 i = 0; i < 3; i++)
        assert_true(lifetime_lists_take(&lists, &others[i], i == 2 ? 2 : 0));
    for (u32 group = 0; group < GROUPS; group++) {
        lifetime_reader reader = lifetime_reader_open(&lists, group);
        assert_int_equal(lifetime_lists_count(&lists, group), counts[group]);
        for (i64 ns; lifetime_reader_next(&reader, &ns); counts[group]--)
            wanted[group] -= etlheap_hash_u64((u64)ns);
        assert_int_equal(counts[group], 0);
        assert_int_equal(wanted[group], 0);
    }
    lifetime_lists_free(&lists);
}

/* A lifetime of a group of the naive list. */
typedef struct ranked_lifetime {
    i64 ns;
    u32 group;
} ranked_lifetime;

/* The smallest value of the group that at least `percent` of it do not exceed. */
static i64 plain_rank(const ranked_lifetime *lifetimes, u32 count, u32 group, u32 percent)
{
    i64 best = NOTHING;
    for (u32 i = 0; i < count; i++) {
        const i64 ns = lifetimes[i].ns;
        size_t below = 0, all = 0;
        if (lifetimes[i].group != group)
            continue;
        for (u32 k = 0; k < count; k++) {
            all += lifetimes[k].group == group;
            below += lifetimes[k].group == group && lifetimes[k].ns <= ns;
        }
        if (100 * below >= percent * all && (best == NOTHING || ns < best))
            best = ns;
    }
    return best;
}

static bool plain_mean(const ranked_lifetime *lifetimes, u32 count, u32 group, i64 mean)
{
    i128 sum = 0;
    u64 all = 0;
    for (u32 i = 0; i < count; i++) {
        sum += lifetimes[i].group == group ? lifetimes[i].ns : 0;
        all += lifetimes[i].group == group;
    }
    return all == 0 ? mean == NOTHING : is_mean(mean, sum, all);
}

static void random_groups_agree_with_counting(void **state)
{
    (void)state;
    for (u64 round = 1; round <= 12; round++) {
        u64 seed = round;
        const u32 groups = 1 + engine_check_random(&seed, 200);
        const u32 count = engine_check_random(&seed, 900);
        const u32 span = round % 2 == 0 ? 10 : 1000000;
        lifetime_lists lists = { 0 };
        lifetime_list other = { .least = 0 };
        ranked_lifetime lifetimes[900];
        lifetime_ranks ranks[201];
        for (u32 i = 0; i < count; i++) {
            lifetimes[i] = (ranked_lifetime){ engine_check_random(&seed, span),
                                              engine_check_random(&seed, groups) };
            assert_true(i % 2 == 0
                            ? lifetime_lists_add(&lists, lifetimes[i].group, lifetimes[i].ns)
                            : lifetime_list_add(&other, lifetimes[i].group, lifetimes[i].ns));
        }
        assert_true(lifetime_lists_take(&lists, &other, 0));
        for (u32 jobs = 1; jobs <= 7; jobs += 3) {
            for (u32 g = 0; g < groups; g++)
                ranks[g] = LIFETIME_RANKS_UNKNOWN;
            rank_groups(&lists, groups, jobs, ranks);
            for (u32 g = 0; g < groups; g++) {
                assert_int_equal(ranks[g].median_ns, plain_rank(lifetimes, count, g, 50));
                assert_int_equal(ranks[g].p90_ns, plain_rank(lifetimes, count, g, 90));
                assert_int_equal(ranks[g].p99_ns, plain_rank(lifetimes, count, g, 99));
                assert_true(plain_mean(lifetimes, count, g, ranks[g].mean_ns));
            }
        }
        lifetime_lists_free(&lists);
    }
}

static int by_length(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* How the lifetimes of a large group are spread. */
static i64 spread_ns(u32 how, u64 *seed)
{
    switch (how) {
    case 0:
        return 4711; /* all alike */
    case 1:
        return (i64)(random_u64(seed) % 3);
    case 2:
        return (i64)(random_u64(seed) % 100000) * 100;
    case 3:
        return random_ns(seed);
    case 4:
        return INT64_MAX - (i64)(random_u64(seed) % 2000);
    default:
        return random_u64(seed) % 50 == 0 ? (i64)random_u64(seed) : -7; /* of a damaged clock */
    }
}

/* Checks ranks against lifetimes, which it sorts. */
static void check_sorted(const lifetime_ranks *ranks, i64 *ns, u32 count)
{
    i128 sum = 0;
    for (u32 i = 0; i < count; i++)
        sum += ns[i];
    qsort(ns, count, sizeof *ns, by_length);
    assert_int_equal(ranks->median_ns, ns[(count + 1) / 2 - 1]);
    assert_int_equal(ranks->p90_ns, ns[((u64)count * 90 + 99) / 100 - 1]);
    assert_int_equal(ranks->p99_ns, ns[((u64)count * 99 + 99) / 100 - 1]);
    assert_true(is_mean(ranks->mean_ns, sum, count));
}

static void large_groups_agree_with_sorting(void **state)
{
    enum { MOST = 30000 };
    (void)state;
    i64 *const ns = malloc(MOST * sizeof *ns);
    assert_non_null(ns);
    for (u32 how = 0; how <= 5; how++) {
        u64 seed = how;
        for (u32 count = 4095; count <= MOST; count = count < 4097 ? count + 1 : count * 2 + 7) {
            for (u32 i = 0; i < count; i++)
                ns[i] = spread_ns(how, &seed);
            const lifetime_ranks ranks = ranks_of(ns, count);
            check_sorted(&ranks, ns, count);
        }
    }
    free(ns);
}

/* Lifetimes of groups 0, 2 and 4 make a set, and those of 1 and 3 another, in two lists. One set
 * has no group, and one a group without lifetimes. */
static void check_sets(i64 *ns[2], u32 how, u32 count, u32 jobs)
{
    const u32 starts[] = { 0, 3, 3, 5, 6 }, groups[] = { 4, 0, 2, 1, 3, 77 };
    const lifetime_sets sets = { starts, groups, 4 };
    lifetime_lists lists = { 0 };
    lifetime_list other = { .least = 0 };
    lifetime_ranks ranks[4];
    u32 counts[2] = { 0 };
    u64 seed = how;
    for (u32 i = 0; i < count; i++) {
        const i64 value = spread_ns(how, &seed);
        const u32 group = engine_check_random(&seed, 5);
        assert_true(engine_check_random(&seed, 3) == 0 ? lifetime_lists_add(&lists, group, value)
                                                       : lifetime_list_add(&other, group, value));
        ns[group % 2][counts[group % 2]++] = value;
    }
    assert_true(lifetime_lists_take(&lists, &other, 0));
    for (u32 i = 0; i < 4; i++)
        ranks[i] = LIFETIME_RANKS_UNKNOWN;
    lifetime_ranks_compute(&lists, &sets, jobs, ranks);
    check_sorted(&ranks[0], ns[0], counts[0]);
    check_sorted(&ranks[2], ns[1], counts[1]);
    assert_int_equal(ranks[1].median_ns, NOTHING);
    assert_int_equal(ranks[3].mean_ns, NOTHING);
    lifetime_lists_free(&lists);
}

static void sets_of_groups_are_ranked_together(void **state)
{
    enum { MOST = 300000 }; /* more than one thread reads alone */
    static const u32 counts[] = { 60, 9000, MOST };
    (void)state;
    i64 *ns[2] = { malloc(MOST * sizeof *ns[0]), malloc(MOST * sizeof *ns[1]) };
    assert_non_null(ns[0]);
    assert_non_null(ns[1]);
    for (u32 how = 0; how <= 5; how++) {
        for (u32 i = 0; i < ETL_COUNT_OF(counts); i++) {
            check_sets(ns, how, counts[i], 1);
            check_sets(ns, how, counts[i], 3);
        }
    }
    free(ns[0]);
    free(ns[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lifetime_is_all),
        cmocka_unit_test(mean_is_rounded_to_the_nearest),
        cmocka_unit_test(median_of_an_even_number_is_the_lower_of_the_two),
        cmocka_unit_test(percentile_leaves_out_the_largest_from_a_hundred_on),
        cmocka_unit_test(group_without_lifetimes_keeps_what_is_there),
        cmocka_unit_test(lists_give_back_what_was_put_into_them),
        cmocka_unit_test(random_groups_agree_with_counting),
        cmocka_unit_test(large_groups_agree_with_sorting),
        cmocka_unit_test(sets_of_groups_are_ranked_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
