/*
 * Goal: one id per distinct address array, whatever its hash; the frames come
 * back as they went in; kernel addresses are told from user addresses.
 * Method: arrays that differ in order, length or one frame, hashes forced to
 * collide, tables that grow, and the edges of both address spaces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/context/stacks.h"

static u32 add(stack_table *table, const u64 *frames, u32 count)
{
    u32 id = 0;
    assert_true(stack_add(table, stack_hash(frames, count), frames, count, &id));
    return id;
}

static void equal_arrays_have_one_id(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 a[] = { 0x7FF711110000, 0x7FF711110010 };
    const u64 b[] = { 0x7FF711110000, 0x7FF711110010 };
    assert_int_equal(add(&table, a, 2), 1);
    assert_int_equal(add(&table, b, 2), 1);
    assert_int_equal(table.list.count, 1);
    stack_table_free(&table);
}

/* Words that XXH3, without a seed, multiplies by zero, in a lane of equal sum: all
 * have one hash, so whoever writes a trace must not meet that one here. */
static void stacks_made_to_collide_do_not(void **state)
{
    (void)state;
    u64 frames[40] = { 0 };
    u64 plain = 0, seeded = 0;
    u32 equal = 0;
    for (u32 i = 0; i < 100; i++) {
        frames[0] = (u64)i << 32 | 0x396cfeb8;
        frames[8] = (u64)(0x7fffffff - i) << 32 | 0x2c81017c;
        const u64 hash = stack_hash(frames, ETL_COUNT_OF(frames));
        assert_true(i == 0 || etlheap_mix_bytes(frames, sizeof frames) == plain);
        plain = etlheap_mix_bytes(frames, sizeof frames);
        equal += i > 0 && hash == seeded;
        seeded = hash;
    }
    assert_int_equal(equal, 0);
}

static void order_length_and_every_frame_matter(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 stack[] = { 1, 2, 3 };
    const u64 turned[] = { 3, 2, 1 };
    const u64 outer_differs[] = { 1, 2, 4 };
    assert_int_equal(add(&table, stack, 3), 1);
    assert_int_equal(add(&table, turned, 3), 2);
    assert_int_equal(add(&table, outer_differs, 3), 3);
    assert_int_equal(add(&table, stack, 2), 4);
    assert_int_equal(add(&table, stack, 1), 5);
    assert_int_equal(add(&table, stack, 3), 1);
    stack_table_free(&table);
}

static void equal_hashes_are_told_apart_by_frames(void **state)
{
    (void)state;
    stack_table table = { 0 };
    for (u64 frame = 1; frame <= 100; frame++) {
        u32 id = 0;
        assert_int_equal(stack_find(&table, 42, &frame, 1), 0);
        assert_true(stack_add(&table, 42, &frame, 1, &id));
        assert_int_equal(id, frame);
    }
    for (u64 frame = 1; frame <= 100; frame++)
        assert_int_equal(stack_find(&table, 42, &frame, 1), frame);
    stack_table_free(&table);
}

/* Twice over: through slots as they fill, and after each growth of the table. */
static void growth_loses_no_stack(void **state)
{
    (void)state;
    stack_table table = { 0 };
    for (u64 n = 1; n <= 20000; n++) {
        const u64 frames[] = { n, n * n };
        assert_int_equal(add(&table, frames, 2), n);
    }
    for (u64 n = 1; n <= 20000; n++) {
        const u64 frames[] = { n, n * n };
        assert_int_equal(stack_find(&table, stack_hash(frames, 2), frames, 2), n);
    }
    stack_table_free(&table);
}

static void a_look_up_in_steps_finds_what_find_finds(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 unknown = 1;
    assert_null(stack_candidate(&table, stack_hash(&unknown, 1)));
    u32 at_once = 0;
    for (u64 n = 1; n <= 5000; n++)
        add(&table, &n, 1);
    for (u64 n = 1; n <= 5000; n++) {
        const u64 hash = stack_hash(&n, 1);
        stack_prefetch_group(&table, hash);
        const stack_block *const candidate = stack_candidate(&table, hash);
        if (candidate == NULL)
            continue; /* not in the group where its probe starts */
        stack_prefetch_block(candidate, 1);
        if (!stack_block_is(candidate, hash, &n, 1))
            continue; /* another one has its tag */
        assert_int_equal(candidate->id, n);
        at_once++;
    }
    assert_true(at_once > 4500);
    stack_table_free(&table);
}

static void a_candidate_is_compared_in_hash_length_and_frames(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 frames[] = { 1, 2, 3 };
    const u64 other[] = { 1, 2, 4 };
    add(&table, frames, 3);
    const u64 hash = stack_hash(frames, 3);
    const stack_block *const candidate = stack_candidate(&table, hash);
    assert_non_null(candidate);
    assert_true(stack_block_is(candidate, hash, frames, 3));
    assert_false(stack_block_is(candidate, hash + 0x100, frames, 3));
    assert_false(stack_block_is(candidate, hash, frames, 2));
    assert_false(stack_block_is(candidate, hash, other, 3));
    stack_table_free(&table);
}

static void find_does_not_add(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 frames[] = { 7, 8 };
    assert_int_equal(stack_find(&table, stack_hash(frames, 2), frames, 2), 0);
    assert_int_equal(table.list.count, 0);
    const u32 id = add(&table, frames, 2);
    assert_int_equal(stack_find(&table, stack_hash(frames, 2), frames, 2), id);
    assert_int_equal(stack_find(&table, stack_hash(frames, 1), frames, 1), 0);
    stack_table_free(&table);
}

static void frames_are_a_copy_that_does_not_move(void **state)
{
    (void)state;
    stack_table table = { 0 };
    u64 frames[STACK_FRAMES_MAX];
    for (u32 i = 0; i < STACK_FRAMES_MAX; i++)
        frames[i] = (u64)i * i;
    const u32 id = add(&table, frames, STACK_FRAMES_MAX);
    const u64 *const at = stack_get(&table, id).addresses;
    for (u64 frame = 0; frame < 50000; frame++)
        add(&table, &frame, 1);
    memset(frames, 0, sizeof frames);
    const etlheap_frames kept = stack_get(&table, id);
    assert_ptr_equal(kept.addresses, at);
    assert_int_equal(kept.count, STACK_FRAMES_MAX);
    for (u32 i = 0; i < STACK_FRAMES_MAX; i++)
        assert_int_equal(kept.addresses[i], (u64)i * i);
    stack_table_free(&table);
}

static void freed_table_is_empty_and_usable(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 frame = 1;
    assert_int_equal(add(&table, &frame, 1), 1);
    stack_table_free(&table);
    assert_int_equal(stack_find(&table, stack_hash(&frame, 1), &frame, 1), 0);
    assert_int_equal(add(&table, &frame, 1), 1);
    stack_table_free(&table);
}

static void kernel_addresses_have_the_sign_bit(void **state)
{
    (void)state;
    assert_false(stack_is_kernel_address(0x00007FFFFFFFFFFF, 8));
    assert_false(stack_is_kernel_address(0x80000000, 8));
    assert_true(stack_is_kernel_address(0xFFFF800000000000, 8));
    assert_true(stack_is_kernel_address(0x8000000000000000, 8));
}

static void kernel_addresses_of_32_bit_systems_begin_at_2_gib(void **state)
{
    (void)state;
    assert_false(stack_is_kernel_address(0x7FFFFFFF, 4));
    assert_true(stack_is_kernel_address(0x80000000, 4));
    assert_true(stack_is_kernel_address(0xFFFFFFFF, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_arrays_have_one_id),
        cmocka_unit_test(order_length_and_every_frame_matter),
        cmocka_unit_test(equal_hashes_are_told_apart_by_frames),
        cmocka_unit_test(growth_loses_no_stack),
        cmocka_unit_test(stacks_made_to_collide_do_not),
        cmocka_unit_test(a_look_up_in_steps_finds_what_find_finds),
        cmocka_unit_test(a_candidate_is_compared_in_hash_length_and_frames),
        cmocka_unit_test(find_does_not_add),
        cmocka_unit_test(frames_are_a_copy_that_does_not_move),
        cmocka_unit_test(freed_table_is_empty_and_usable),
        cmocka_unit_test(kernel_addresses_have_the_sign_bit),
        cmocka_unit_test(kernel_addresses_of_32_bit_systems_begin_at_2_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
