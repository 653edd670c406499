/*
 * Goal: block_pool.c finds each open block by its key, and nothing else, whatever the
 * hashes are.
 * Method: the caller brings the hash along, so blocks are made to belong to one group,
 * to fill it and to leave it in any order; then random adds and removes with hashes of
 * few and of many groups against a list that is searched from end to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/block_pool.h"
#include "tests/support/hand_bytes.h"

#define KEYS     64u
#define TAG_BITS 7u

/* Hash of a block that belongs to group `home`. */
static u32 hash_of(u32 home, u32 tag)
{
    return home << TAG_BITS | tag;
}

static ordered_event event_of(u64 address, u32 hash)
{
    return (ordered_event){ .address = address, .heap = 1, .hash = hash };
}

static void add(block_pool *pool, u64 address, u32 hash)
{
    block *const added = block_pool_add(pool, hash);
    assert_non_null(added);
    assert_int_equal(added->hash, hash);
    *added = (block){ .address = address, .heap = 1, .hash = hash };
}

static void remove_key(block_pool *pool, u64 address, u32 hash)
{
    const ordered_event event = event_of(address, hash);
    block *const found = block_pool_find(pool, &event);
    assert_non_null(found);
    block_pool_remove(pool, found);
}

static bool has(const block_pool *pool, u64 address, u32 hash)
{
    const ordered_event event = event_of(address, hash);
    const block *const found = block_pool_find(pool, &event);
    if (found != NULL)
        assert_true(found->address == address && found->heap == 1 && found->hash == hash);
    return found != NULL;
}

static void an_empty_pool_has_no_block(void **state)
{
    (void)state;
    block_pool pool = { 0 };
    assert_false(has(&pool, 0x1000, 5));
    assert_null(block_pool_guess(&pool, 5));
    assert_int_equal(block_pool_bytes(&pool), 0);
}

static void blocks_of_one_hash_are_told_apart_by_their_keys(void **state)
{
    (void)state;
    block_pool pool = { 0 };
    for (u64 i = 0; i < KEYS; i++)
        add(&pool, i, 77);
    for (u64 i = 0; i < KEYS; i += 3)
        remove_key(&pool, i, 77);
    for (u64 i = 0; i < KEYS; i++)
        assert_int_equal(has(&pool, i, 77), i % 3 != 0);
    assert_false(has(&pool, KEYS, 77));
    block_pool_free(&pool);
}

static void a_block_behind_a_full_group_is_found_when_that_has_room_again(void **state)
{
    (void)state;
    block_pool pool = { 0 };
    for (u32 i = 0; i <= BLOCK_GROUP_PLACES; i++)
        add(&pool, i, hash_of(0, i));
    for (u32 i = 0; i < BLOCK_GROUP_PLACES; i++)
        remove_key(&pool, i, hash_of(0, i));
    assert_true(has(&pool, BLOCK_GROUP_PLACES, hash_of(0, BLOCK_GROUP_PLACES)));
    remove_key(&pool, BLOCK_GROUP_PLACES, hash_of(0, BLOCK_GROUP_PLACES));
    for (u32 g = 0; g <= pool.mask; g++)
        assert_int_equal(pool.groups[g].passed, 0);
    assert_int_equal(pool.count, 0);
    block_pool_free(&pool);
}

/* One block too many for each group in turn, and then only those that went on: every
 * group says that the probe goes on. */
static void a_probe_ends_where_every_group_was_passed(void **state)
{
    (void)state;
    block_pool pool = { 0 };
    add(&pool, 999, hash_of(0, 0));
    const u32 groups = pool.mask + 1;
    remove_key(&pool, 999, hash_of(0, 0));
    for (u32 g = 0; g < groups; g++) {
        const u32 there = g == 0 ? 0 : 1; /* the one that passed the group before */
        for (u32 i = 0; i < BLOCK_GROUP_PLACES - there + 1; i++)
            add(&pool, g * 100 + i, hash_of(g, i));
        for (u32 i = 0; i < BLOCK_GROUP_PLACES - there; i++)
            remove_key(&pool, g * 100 + i, hash_of(g, i));
    }
    assert_int_equal(pool.mask + 1, groups);
    for (u32 g = 0; g < groups; g++)
        assert_int_equal(pool.groups[g].passed, 1);
    assert_false(has(&pool, 5, hash_of(1, 99)));
    assert_true(has(&pool, BLOCK_GROUP_PLACES, hash_of(0, BLOCK_GROUP_PLACES)));
    block_pool_free(&pool);
}

/* Random keys of as many groups as the bits of the hash allow, all asked for at the end. */
static void compare_with_a_list(u32 hash_bits, u32 keys, u64 seed)
{
    block_pool pool = { 0 };
    u32 *const hashes = calloc(keys, sizeof *hashes);
    bool *const open = calloc(keys, sizeof *open);
    u32 count = 0;
    assert_true(hashes != NULL && open != NULL);
    for (u32 i = 0; i < keys; i++)
        hashes[i] = hand_random(&seed) & (u32)(((u64)1 << hash_bits) - 1);
    for (u32 step = 0; step < keys * 8; step++) {
        const u32 key = hand_random(&seed) % keys;
        if (open[key])
            remove_key(&pool, key, hashes[key]);
        else
            add(&pool, key, hashes[key]);
        open[key] = !open[key];
        count += open[key] ? 1 : UINT32_MAX;
        assert_int_equal(pool.count, count);
    }
    for (u32 key = 0; key < keys; key++) {
        assert_int_equal(has(&pool, key, hashes[key]), open[key]);
        assert_false(has(&pool, key + keys, hashes[key]));
    }
    free(open);
    free(hashes);
    block_pool_free(&pool);
}

static void random_blocks_are_those_of_a_list(void **state)
{
    (void)state;
    compare_with_a_list(7, 300, 1);
    compare_with_a_list(10, 900, 2);
    compare_with_a_list(32, 20000, 3);
}

/* The place left last is taken first, so the pool is no larger than what was open at
 * once. */
static void bytes_are_those_of_blocks_and_groups(void **state)
{
    (void)state;
    block_pool pool = { 0 };
    for (u32 round = 0; round < 3; round++) {
        for (u32 i = 0; i < 33; i++) {
            assert_true(round > 0 || pool.mask == (i == 0 ? 0 : 3));
            add(&pool, i, hash_of(i, i));
        }
        assert_int_equal(pool.used, 33);
        assert_int_equal(pool.mask + 1, 8); /* 4 hold 32 */
        assert_int_equal(block_pool_bytes(&pool),
                         pool.capacity * sizeof(block) + 8 * sizeof(block_group));
        assert_in_range(pool.capacity, 33, 64);
        for (u32 i = 0; i < 33; i++)
            remove_key(&pool, i, hash_of(i, i));
    }
    block_pool_free(&pool);
    assert_int_equal(block_pool_bytes(&pool), 0);
}

/* 2^25 groups with 8 blocks each: a hash names no more. */
static void a_pool_of_the_largest_size_takes_no_more(void **state)
{
    (void)state;
    block_group group = { .passed = 0 };
    block_pool pool = { .groups = &group, .mask = ((u32)1 << 25) - 1, .count = (u32)1 << 28 };
    assert_null(block_pool_add(&pool, 0));
    assert_int_equal(pool.count, (u32)1 << 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_pool_has_no_block),
        cmocka_unit_test(blocks_of_one_hash_are_told_apart_by_their_keys),
        cmocka_unit_test(a_block_behind_a_full_group_is_found_when_that_has_room_again),
        cmocka_unit_test(a_probe_ends_where_every_group_was_passed),
        cmocka_unit_test(random_blocks_are_those_of_a_list),
        cmocka_unit_test(bytes_are_those_of_blocks_and_groups),
        cmocka_unit_test(a_pool_of_the_largest_size_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
