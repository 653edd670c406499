/*
 * Goal: arenas hand out memory that is aligned, apart and kept until the arena
 * is freed; vectors keep their elements while they grow. What cannot be had is
 * refused and leaves both usable.
 * Method: blocks of many sizes filled with their own pattern and looked at after
 * all are made; a sanitizer sees what overruns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/core/arena.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define FIRST_BYTES ((size_t)16 << 10)
#define BLOCKS      400u

typedef ETLHEAP_VECTOR(u32) u32_vector;

static void assert_filled(const u8 *at, size_t size, u8 value)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(at[i], value);
}

static void blocks_are_aligned_and_apart(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    u8 *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    for (u32 i = 0; i < BLOCKS; i++) {
        sizes[i] = (size_t)i * 37 % 9001 + 1;
        blocks[i] = etlheap_arena_alloc(&arena, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)(i & 0xFF), sizes[i]);
    }
    for (u32 i = 0; i < BLOCKS; i++)
        assert_filled(blocks[i], sizes[i], (u8)i);
    etlheap_arena_free(&arena);
}

static void first_block_may_be_empty(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    assert_non_null(etlheap_arena_alloc(&arena, 0));
    assert_non_null(etlheap_arena_alloc(&arena, 1));
    etlheap_arena_free(&arena);
}

static void small_blocks_share_a_chunk(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    for (u32 i = 0; i < CHUNK_BYTES / 16; i++)
        assert_non_null(etlheap_arena_alloc(&arena, 9));
    assert_int_equal(arena.total_bytes, CHUNK_BYTES);
    assert_non_null(etlheap_arena_alloc(&arena, 1));
    assert_int_equal(arena.total_bytes, 2 * CHUNK_BYTES);
    etlheap_arena_free(&arena);
}

static void chunks_grow_with_the_arena_and_then_no_more(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    assert_non_null(etlheap_arena_alloc(&arena, 1));
    assert_int_equal(arena.total_bytes, FIRST_BYTES);
    while (arena.total_bytes < 4 * CHUNK_BYTES) {
        const size_t before = arena.total_bytes;
        assert_non_null(etlheap_arena_alloc(&arena, 4096));
        const size_t more = arena.total_bytes - before;
        assert_true(more == 0 || more == (before < CHUNK_BYTES ? before : CHUNK_BYTES));
    }
    etlheap_arena_free(&arena);
}

static void block_larger_than_a_chunk_fits(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    const size_t size = 3 * CHUNK_BYTES + 5;
    u8 *const small = etlheap_arena_alloc(&arena, 3);
    u8 *const large = etlheap_arena_alloc(&arena, size);
    u8 *const after = etlheap_arena_alloc(&arena, 3);
    assert_non_null(small);
    assert_non_null(large);
    assert_non_null(after);
    memset(small, 1, 3);
    memset(large, 2, size);
    memset(after, 3, 3);
    assert_filled(small, 3, 1);
    assert_filled(large, size, 2);
    assert_filled(after, 3, 3);
    etlheap_arena_free(&arena);
}

static void impossible_size_is_refused(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    assert_null(etlheap_arena_alloc(&arena, SIZE_MAX));
    assert_null(etlheap_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(etlheap_arena_alloc(&arena, SIZE_MAX / 2 + 1));
    assert_int_equal(arena.total_bytes, 0);
    assert_non_null(etlheap_arena_alloc(&arena, 100));
    etlheap_arena_free(&arena);
}

static void copy_outlives_its_source(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    u8 source[5] = { 9, 8, 7, 6, 5 };
    etl_bytes copy;
    assert_true(etlheap_arena_copy(&arena, (etl_bytes){ source, sizeof source }, &copy));
    memset(source, 0, sizeof source);
    assert_int_equal(copy.size, 5);
    assert_memory_equal(copy.at, ((const u8[]){ 9, 8, 7, 6, 5 }), 5);
    etlheap_arena_free(&arena);
}

static void copy_of_nothing_is_an_empty_view(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    etl_bytes copy = { (const u8 *)"x", 1 };
    assert_true(etlheap_arena_copy(&arena, (etl_bytes){ NULL, 0 }, &copy));
    assert_null(copy.at);
    assert_int_equal(copy.size, 0);
    assert_int_equal(arena.total_bytes, 0);
}

static void freed_arena_can_be_used_again(void **state)
{
    (void)state;
    etlheap_arena arena = { 0 };
    assert_non_null(etlheap_arena_alloc(&arena, 10));
    etlheap_arena_free(&arena);
    assert_int_equal(arena.total_bytes, 0);
    assert_null(arena.chunks);
    assert_non_null(etlheap_arena_alloc(&arena, 10));
    etlheap_arena_free(&arena);
    etlheap_arena_free(&arena);
}

static void vector_keeps_its_elements_while_it_grows(void **state)
{
    (void)state;
    u32_vector vector = { 0 };
    for (u32 i = 0; i < 10000; i++)
        assert_true(ETLHEAP_PUSH(&vector, i * 3));
    assert_int_equal(vector.count, 10000);
    for (u32 i = 0; i < 10000; i++)
        assert_int_equal(vector.at[i], i * 3);
    ETLHEAP_VECTOR_FREE(&vector);
}

static void reserved_elements_do_not_move_the_vector(void **state)
{
    (void)state;
    u32_vector vector = { 0 };
    assert_true(ETLHEAP_PUSH(&vector, 1));
    assert_true(ETLHEAP_RESERVE(&vector, 1000));
    const u32 *const at = vector.at;
    for (u32 i = 0; i < 1000; i++)
        assert_true(ETLHEAP_PUSH(&vector, i));
    assert_ptr_equal(vector.at, at);
    ETLHEAP_VECTOR_FREE(&vector);
}

/* The element is read after the array has moved. */
static void element_of_a_vector_can_be_pushed_to_it(void **state)
{
    (void)state;
    u32_vector vector = { 0 };
    assert_true(ETLHEAP_PUSH(&vector, 77));
    for (u32 i = 0; i < 1000; i++)
        assert_true(ETLHEAP_PUSH(&vector, vector.at[0]));
    assert_int_equal(vector.at[1000], 77);
    ETLHEAP_VECTOR_FREE(&vector);
}

static void impossible_count_leaves_the_vector_as_it_is(void **state)
{
    (void)state;
    u32_vector vector = { 0 };
    assert_true(ETLHEAP_PUSH(&vector, 5));
    const u32_vector before = vector;
    assert_false(ETLHEAP_RESERVE(&vector, SIZE_MAX));
    assert_false(ETLHEAP_RESERVE(&vector, SIZE_MAX / 2));
    assert_false(ETLHEAP_RESERVE(&vector, SIZE_MAX / 4));
    assert_memory_equal(&vector, &before, sizeof vector);
    assert_int_equal(vector.at[0], 5);
    ETLHEAP_VECTOR_FREE(&vector);
}

static void freed_vector_is_empty_and_usable(void **state)
{
    (void)state;
    u32_vector vector = { 0 };
    assert_true(ETLHEAP_PUSH(&vector, 5));
    ETLHEAP_VECTOR_FREE(&vector);
    assert_null(vector.at);
    assert_int_equal(vector.count, 0);
    assert_int_equal(vector.capacity, 0);
    assert_true(ETLHEAP_PUSH(&vector, 6));
    assert_int_equal(vector.at[0], 6);
    ETLHEAP_VECTOR_FREE(&vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(first_block_may_be_empty),
        cmocka_unit_test(small_blocks_share_a_chunk),
        cmocka_unit_test(chunks_grow_with_the_arena_and_then_no_more),
        cmocka_unit_test(block_larger_than_a_chunk_fits),
        cmocka_unit_test(impossible_size_is_refused),
        cmocka_unit_test(copy_outlives_its_source),
        cmocka_unit_test(copy_of_nothing_is_an_empty_view),
        cmocka_unit_test(freed_arena_can_be_used_again),
        cmocka_unit_test(vector_keeps_its_elements_while_it_grows),
        cmocka_unit_test(reserved_elements_do_not_move_the_vector),
        cmocka_unit_test(element_of_a_vector_can_be_pushed_to_it),
        cmocka_unit_test(impossible_count_leaves_the_vector_as_it_is),
        cmocka_unit_test(freed_vector_is_empty_and_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
