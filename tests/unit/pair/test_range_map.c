/*
 * Goal: a range map holds disjoint ranges in address order, finds the first one
 * that ends after an address, and stays right while leaves split and vanish.
 * Method: edges by hand; then random insertions and removals against an array
 * with one element per unit of the address space.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/range_map.h"
#include "tests/support/engine_check.h"

static void insert(range_map *map, u64 start, u64 end)
{
    assert_true(range_map_insert(map, (range){ .start = start, .end = end, .tid = (u32)start }));
}

/* Start of the range found, UINT64_MAX without one. */
static u64 seek(const range_map *map, u64 address)
{
    range_place place;
    const range *const found = range_map_seek(map, address, &place);
    return found == NULL ? UINT64_MAX : found->start;
}

static void empty_map_has_no_range(void **state)
{
    (void)state;
    range_map map = { 0 };
    range_place place;
    assert_null(range_map_seek(&map, 0, &place));
    assert_null(range_map_next(&map, &place));
    range_map_free(&map);
}

static void seek_gives_the_first_range_that_ends_after_the_address(void **state)
{
    (void)state;
    range_map map = { 0 };
    insert(&map, 20, 30);
    insert(&map, 10, 15);
    insert(&map, 30, 40);
    assert_int_equal(seek(&map, 0), 10);
    assert_int_equal(seek(&map, 10), 10);
    assert_int_equal(seek(&map, 14), 10);
    assert_int_equal(seek(&map, 15), 20);
    assert_int_equal(seek(&map, 29), 20);
    assert_int_equal(seek(&map, 30), 30);
    assert_int_equal(seek(&map, 40), UINT64_MAX);
    range_map_free(&map);
}

static void bytes_are_those_between_the_two_addresses(void **state)
{
    (void)state;
    range_map map = { 0 };
    assert_int_equal(range_map_bytes(&map, 0, UINT64_MAX), 0);
    insert(&map, 10, 15);
    insert(&map, 20, 30);
    assert_int_equal(range_map_bytes(&map, 0, 100), 15);
    assert_int_equal(range_map_bytes(&map, 12, 22), 5);
    assert_int_equal(range_map_bytes(&map, 22, 24), 2);
    assert_int_equal(range_map_bytes(&map, 15, 20), 0);
    assert_int_equal(range_map_bytes(&map, 12, 12), 0);
    range_map_free(&map);
}

static void gap_begins_where_adjoining_ranges_end(void **state)
{
    (void)state;
    range_map map = { 0 };
    assert_int_equal(range_map_gap(&map, 7), 7);
    insert(&map, 10, 15);
    insert(&map, 15, 20);
    insert(&map, 30, UINT64_MAX);
    assert_int_equal(range_map_gap(&map, 9), 9);
    assert_int_equal(range_map_gap(&map, 10), 20);
    assert_int_equal(range_map_gap(&map, 17), 20);
    assert_int_equal(range_map_gap(&map, 20), 20);
    assert_int_equal(range_map_gap(&map, 31), UINT64_MAX);
    range_map_free(&map);
}

static void shrunk_range_ends_earlier(void **state)
{
    (void)state;
    range_map map = { 0 };
    range_place place;
    insert(&map, 10, 20);
    assert_non_null(range_map_seek(&map, 10, &place));
    range_map_shrink(&map, place, 13);
    assert_int_equal(range_map_gap(&map, 10), 13);
    assert_int_equal(range_map_bytes(&map, 0, 100), 3);
    assert_int_equal(seek(&map, 13), UINT64_MAX);
    range_map_free(&map);
}

static void whole_address_space_is_one_range(void **state)
{
    (void)state;
    range_map map = { 0 };
    insert(&map, 0, UINT64_MAX);
    assert_int_equal(seek(&map, 0), 0);
    assert_int_equal(seek(&map, UINT64_MAX - 1), 0);
    assert_int_equal(seek(&map, UINT64_MAX), UINT64_MAX);
    assert_int_equal(range_map_bytes(&map, 0, UINT64_MAX), UINT64_MAX);
    assert_int_equal(range_map_gap(&map, 0), UINT64_MAX);
    range_map_free(&map);
}

static void next_goes_through_all_in_address_order(void **state)
{
    (void)state;
    range_map map = { 0 };
    for (u64 i = 1000; i-- > 0;)
        insert(&map, 10 * i, 10 * i + 10);
    range_place place;
    const range *found = range_map_seek(&map, 0, &place);
    for (u64 i = 0; i < 1000; i++) {
        assert_non_null(found);
        assert_int_equal(found->start, 10 * i);
        found = range_map_next(&map, &place);
    }
    assert_null(found);
    assert_null(range_map_next(&map, &place));
    range_map_free(&map);
}

static void ranges_keep_what_they_carry_when_leaves_split(void **state)
{
    (void)state;
    range_map map = { 0 };
    for (u32 i = 0; i < 2000; i++) {
        const u64 start = (u64)i * 7919 % 2000;
        const range added = { .start = 2 * start,
                              .end = 2 * start + 1,
                              .alloc_ticks = -(i64)start,
                              .stack = (stack_ref)start + 5,
                              .tid = (u32)start };
        assert_true(range_map_insert(&map, added));
    }
    assert_in_range(map.leaves.count, 16, 40);
    for (u64 i = 0; i < 2000; i++) {
        range_place place;
        const range *const found = range_map_seek(&map, 2 * i, &place);
        assert_non_null(found);
        assert_int_equal(found->start, 2 * i);
        assert_int_equal(found->alloc_ticks, -(i64)i);
        assert_int_equal(found->stack, i + 5);
        assert_int_equal(found->tid, i);
    }
    range_map_free(&map);
}

static void map_of_which_all_is_removed_is_empty_and_usable(void **state)
{
    (void)state;
    range_map map = { 0 };
    for (u32 round = 0; round < 3; round++) {
        for (u64 i = 0; i < 300; i++)
            insert(&map, i * 2, i * 2 + 1);
        for (u64 i = 0; i < 300; i++) {
            range_place place;
            const u64 wanted = round == 1 ? 2 * (299 - i) : 2 * i;
            assert_non_null(range_map_seek(&map, wanted, &place));
            range_map_remove(&map, place);
        }
        assert_int_equal(map.leaves.count, 0);
        assert_int_equal(seek(&map, 0), UINT64_MAX);
    }
    range_map_free(&map);
}

/* There is no room behind the last leaf. */
static void leaves_go_from_the_end_of_a_full_list(void **state)
{
    (void)state;
    range_map map = { 0 };
    u64 count = 0;
    while (map.leaves.count == 0 || map.leaves.count < map.leaves.capacity) {
        insert(&map, count * 2, count * 2 + 1);
        count++;
    }
    assert_in_range(map.leaves.count, 16, 64);
    while (count-- > 0) {
        range_place place;
        assert_non_null(range_map_seek(&map, count * 2, &place));
        range_map_remove(&map, place);
        assert_int_equal(range_map_bytes(&map, 0, UINT64_MAX), count);
    }
    assert_int_equal(map.leaves.count, 0);
    range_map_free(&map);
}

#define UNITS 6000u

/* owner[i]: start of the range that covers unit i, plus 1; 0: none. */
typedef struct naive_map {
    u32 owner[UNITS];
    u32 ranges;
} naive_map;

static u64 naive_seek(const naive_map *map, u64 address)
{
    for (u64 i = address; i < UNITS; i++) {
        if (map->owner[i] != 0)
            return map->owner[i] - 1;
    }
    return UINT64_MAX;
}

static void insert_somewhere(range_map *map, naive_map *naive, u64 *seed)
{
    const u32 start = engine_check_random(seed, UNITS);
    const u32 length = 1 + engine_check_random(seed, 3);
    u32 end = start;
    while (end < UNITS && end < start + length && naive->owner[end] == 0)
        naive->owner[end++] = start + 1;
    if (end == start)
        return;
    insert(map, start, end);
    naive->ranges++;
}

static void remove_somewhere(range_map *map, naive_map *naive, u64 *seed)
{
    range_place place;
    const range *const found = range_map_seek(map, engine_check_random(seed, UNITS), &place);
    if (found == NULL)
        return;
    for (u64 i = found->start; i < found->end; i++)
        naive->owner[i] = 0;
    naive->ranges--;
    range_map_remove(map, place);
}

static void shrink_somewhere(range_map *map, naive_map *naive, u64 *seed)
{
    range_place place;
    const range *const found = range_map_seek(map, engine_check_random(seed, UNITS), &place);
    if (found == NULL || found->end - found->start == 1)
        return;
    naive->owner[found->end - 1] = 0;
    range_map_shrink(map, place, found->end - 1);
}

static u64 naive_gap(const naive_map *map, u64 address)
{
    while (address < UNITS && map->owner[address] != 0)
        address++;
    return address;
}

static u64 naive_bytes(const naive_map *map, u64 start, u64 end)
{
    u64 total = 0;
    for (u64 i = start; i < end && i < UNITS; i++)
        total += map->owner[i] != 0;
    return total;
}

static void assert_same_maps(const range_map *map, const naive_map *naive)
{
    range_place place;
    u32 count = 0;
    u64 previous_end = 0;
    for (const range *found = range_map_seek(map, 0, &place); found != NULL;
         found = range_map_next(map, &place)) {
        assert_true(found->start >= previous_end);
        previous_end = found->end;
        assert_int_equal(naive->owner[found->start], found->start + 1);
        assert_int_equal(naive->owner[found->end - 1], found->start + 1);
        count++;
    }
    assert_int_equal(count, naive->ranges);
    for (size_t i = 0; i < map->leaves.count; i++)
        assert_in_range(map->leaves.at[i]->count, 1, RANGE_LEAF_MAX);
}

static void random_changes_agree_with_an_array_of_units(void **state)
{
    (void)state;
    static naive_map naive;
    for (u64 seed_number = 1; seed_number <= 4; seed_number++) {
        range_map map = { 0 };
        u64 seed = seed_number;
        memset(&naive, 0, sizeof naive);
        for (u32 step = 0; step < 40000; step++) {
            /* Long phases of growing and of shrinking. */
            const bool grows = step / 10000 % 2 == 0;
            if (engine_check_random(&seed, 10) < (grows ? 8u : 2u))
                insert_somewhere(&map, &naive, &seed);
            else
                remove_somewhere(&map, &naive, &seed);
            if (step % 5 == 0)
                shrink_somewhere(&map, &naive, &seed);
            const u64 address = engine_check_random(&seed, UNITS);
            const u64 end = address + engine_check_random(&seed, UNITS);
            assert_int_equal(seek(&map, address), naive_seek(&naive, address));
            assert_int_equal(range_map_gap(&map, address), naive_gap(&naive, address));
            if (step % 50 == 0)
                assert_int_equal(range_map_bytes(&map, address, end),
                                 naive_bytes(&naive, address, end));
            if (step % 1000 == 0)
                assert_same_maps(&map, &naive);
        }
        range_map_free(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_has_no_range),
        cmocka_unit_test(seek_gives_the_first_range_that_ends_after_the_address),
        cmocka_unit_test(bytes_are_those_between_the_two_addresses),
        cmocka_unit_test(gap_begins_where_adjoining_ranges_end),
        cmocka_unit_test(shrunk_range_ends_earlier),
        cmocka_unit_test(whole_address_space_is_one_range),
        cmocka_unit_test(next_goes_through_all_in_address_order),
        cmocka_unit_test(ranges_keep_what_they_carry_when_leaves_split),
        cmocka_unit_test(map_of_which_all_is_removed_is_empty_and_usable),
        cmocka_unit_test(leaves_go_from_the_end_of_a_full_list),
        cmocka_unit_test(random_changes_agree_with_an_array_of_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
