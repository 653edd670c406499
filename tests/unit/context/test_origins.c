/*
 * Goal: a heap, an owner and an origin have one number each, from 1 on and in the
 * order in which they were added, and are found by what they are and by nothing
 * else; an event that still waits for its stack has an origin of its own. There are
 * never more origins than an entry of the event list has numbers for.
 * Method: rows by hand; random rows against arrays searched from front to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/context/origins.h"
#include "tests/support/engine_check.h"

#define WAITING(n) (STACK_TAG_WAITING | (n))
#define KEYED(n)   (STACK_TAG_KEYED | (n))

static int open_table(void **state)
{
    *state = calloc(1, sizeof(origin_table));
    return *state == NULL;
}

static int close_table(void **state)
{
    origins_free(*state);
    free(*state);
    return 0;
}

/* An owner of a heap of its own. */
static u32 add_owner(origin_table *table, u32 number)
{
    const u32 heap = origins_add_heap(table, 1, number);
    return origins_add_owner(table, &(owner_row){ number, heap, 0 });
}

/* --- heaps and owners --- */

static void heap_is_a_handle_of_a_process(void **state)
{
    origin_table *const table = *state;
    assert_int_equal(origins_find_heap(table, 1, 0x100), 0);
    assert_int_equal(origins_add_heap(table, 1, 0x100), 1);
    assert_int_equal(origins_add_heap(table, 2, 0x100), 2);
    assert_int_equal(origins_add_heap(table, 1, 0x200), 3);
    assert_int_equal(origins_add_heap(table, 1, 0), 4);
    assert_int_equal(origins_add_heap(table, 2, 0x100), 2);
    assert_int_equal(origins_find_heap(table, 1, 0x100), 1);
    assert_int_equal(origins_find_heap(table, 1, 0), 4);
    assert_int_equal(origins_find_heap(table, 2, 0x200), 0);
    assert_int_equal(table->heaps.count, 4);
    assert_int_equal(table->heaps.at[2].handle, 0x200);
    assert_int_equal(table->heaps.at[2].process, 1);
}

/* A 64-bit handle is not cut to what a hash mixes well. */
static void heaps_differ_by_any_bit_of_the_handle(void **state)
{
    origin_table *const table = *state;
    for (u32 bit = 0; bit < 64; bit++)
        assert_int_equal(origins_add_heap(table, 1, (u64)1 << bit), bit + 1);
    for (u32 bit = 0; bit < 64; bit++) {
        assert_int_equal(origins_find_heap(table, 1, (u64)1 << bit), bit + 1);
        assert_int_equal(origins_find_heap(table, 2, (u64)1 << bit), 0);
    }
}

/* The handle makes up for the process in the hash. */
static void heaps_of_equal_hashes_are_told_apart(void **state)
{
    origin_table *const table = *state;
    const u64 handle = 0x1F0000, other = handle ^ (u64)(1 ^ 2) << 40;
    assert_int_equal(origins_add_heap(table, 1, handle), 1);
    assert_int_equal(origins_find_heap(table, 2, other), 0);
    assert_int_equal(origins_add_heap(table, 2, other), 2);
    assert_int_equal(origins_find_heap(table, 1, handle), 1);
    assert_int_equal(origins_find_heap(table, 2, handle), 0);
}

static void owner_is_a_heap_in_an_epoch(void **state)
{
    origin_table *const table = *state;
    assert_int_equal(origins_find_owner(table, 1, 0), 0);
    assert_int_equal(origins_add_owner(table, &(owner_row){ 10, 1, 0 }), 1);
    assert_int_equal(origins_add_owner(table, &(owner_row){ 20, 1, 1 }), 2);
    assert_int_equal(origins_add_owner(table, &(owner_row){ 30, 2, 1 }), 3);
    assert_int_equal(origins_find_owner(table, 1, 1), 2);
    assert_int_equal(origins_find_owner(table, 2, 0), 0);
}

/* Its modules are looked up at its first event. */
static void owner_keeps_its_first_time(void **state)
{
    origin_table *const table = *state;
    assert_int_equal(origins_add_owner(table, &(owner_row){ 20, 1, 0 }), 1);
    assert_int_equal(origins_add_owner(table, &(owner_row){ 30, 1, 0 }), 1);
    assert_int_equal(table->owners.count, 1);
    assert_int_equal(table->owners.at[0].first_ticks, 20);
}

/* --- origins --- */

static void origin_is_a_stack_of_an_owner(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1);
    assert_int_equal(origins_find(table, 7, owner), 0);
    assert_int_equal(origins_add(table, 7, owner), 1);
    assert_int_equal(origins_add(table, 5, owner), 2);
    assert_int_equal(origins_add(table, 7, owner), 1);
    assert_int_equal(origins_find(table, 5, owner), 2);
    assert_int_equal(origins_find(table, 6, owner), 0);
    assert_int_equal(origins_find(table, 8, owner), 0);
}

static void owners_of_one_stack_have_an_origin_each(void **state)
{
    origin_table *const table = *state;
    for (u32 i = 1; i <= 5; i++)
        assert_int_equal(origins_add(table, 7, add_owner(table, i)), i);
    for (u32 i = 1; i <= 5; i++) {
        assert_int_equal(origins_find(table, 7, i), i);
        assert_int_equal(origins_add(table, 7, i), i);
        assert_int_equal(origins_find(table, 8, i), 0);
    }
    assert_int_equal(origins_find(table, 7, 6), 0);
}

static void no_stack_is_a_stack_like_others(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1), other = add_owner(table, 2);
    assert_int_equal(origins_find(table, STACK_NONE, owner), 0);
    assert_int_equal(origins_add(table, STACK_NONE, owner), 1);
    assert_int_equal(origins_add(table, STACK_NONE, other), 2);
    assert_int_equal(origins_find(table, STACK_NONE, owner), 1);
    assert_int_equal(origins_find(table, STACK_NONE, other), 2);
}

static void keyed_stack_is_found_again(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1), other = add_owner(table, 2);
    assert_int_equal(origins_add(table, KEYED(3), owner), 1);
    assert_int_equal(origins_add(table, KEYED(3), other), 2);
    assert_int_equal(origins_add(table, KEYED(3), owner), 1);
    assert_int_equal(origins_find(table, KEYED(3), other), 2);
    assert_int_equal(origins_find(table, KEYED(4), owner), 0);
}

static void event_that_waits_has_an_origin_of_its_own(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1);
    assert_int_equal(origins_add(table, WAITING(3), owner), 1);
    assert_int_equal(origins_find(table, WAITING(3), owner), 0);
    assert_int_equal(origins_add(table, WAITING(4), owner), 2);
    assert_int_equal(origins_add(table, WAITING(3), owner), 3);
    assert_int_equal(table->origin_index.count, 0); /* nobody will look for it */
    assert_int_equal(table->origins.at[0].stack, WAITING(3));
    assert_int_equal(table->origins.at[0].owner, owner);
}

static void equal_numbers_of_other_tags_are_other_stacks(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1);
    assert_int_equal(origins_add(table, KEYED(3), owner), 1);
    assert_int_equal(origins_find(table, 3, owner), 0);
    assert_int_equal(origins_add(table, WAITING(3), owner), 2);
    assert_int_equal(origins_add(table, 3, owner), 3);
    assert_int_equal(origins_find(table, KEYED(3), owner), 1);
    assert_int_equal(origins_find(table, 3, owner), 3);
}

static void origin_tells_its_heap(void **state)
{
    origin_table *const table = *state;
    const u32 first = origins_add_heap(table, 1, 0x100), second = origins_add_heap(table, 2, 0x200);
    const u32 early = origins_add_owner(table, &(owner_row){ 1, second, 0 });
    const u32 late = origins_add_owner(table, &(owner_row){ 2, second, 1 });
    const u32 other = origins_add_owner(table, &(owner_row){ 3, first, 0 });
    const u32 origins[3] = { origins_add(table, 7, early), origins_add(table, WAITING(1), late),
                             origins_add(table, 7, other) };
    assert_int_equal(origins_heap_of(table, origins[0])->handle, 0x200);
    assert_int_equal(origins_heap_of(table, origins[1])->process, 2);
    assert_int_equal(origins_heap_of(table, origins[2])->handle, 0x100);
}

/* The number of an equal row in the model, 0: none. */
static u32 find_row(const origin_row *rows, u32 count, origin_row wanted)
{
    for (u32 i = 0; i < count; i++) {
        if (rows[i].stack == wanted.stack && rows[i].owner == wanted.owner)
            return i + 1;
    }
    return 0;
}

static void many_origins_are_those_of_a_list(void **state)
{
    origin_table *const table = *state;
    enum { ROWS = 3000, OWNERS = 9 };
    static origin_row rows[ROWS];
    u32 count = 0;
    u64 seed = 11;
    for (u32 i = 1; i <= OWNERS; i++)
        assert_int_equal(add_owner(table, i), i);
    for (u32 i = 0; i < ROWS; i++) {
        const u32 tag = engine_check_random(&seed, 4) == 0 ? STACK_TAG_KEYED : 0;
        const origin_row row = { engine_check_random(&seed, 700) | tag,
                                 1 + engine_check_random(&seed, OWNERS) };
        const u32 known = find_row(rows, count, row);
        assert_int_equal(origins_find(table, row.stack, row.owner), known);
        if (known == 0)
            rows[count++] = row;
        assert_int_equal(origins_add(table, row.stack, row.owner), known == 0 ? count : known);
    }
    assert_int_equal(table->origins.count, count);
    for (u32 i = 0; i < count; i++) {
        assert_int_equal(origins_find(table, rows[i].stack, rows[i].owner), i + 1);
        assert_int_equal(table->origins.at[i].stack, rows[i].stack);
        assert_int_equal(table->origins.at[i].owner, rows[i].owner);
    }
}

/* So many that the hashes of some begin with the same 32 bits, which is all that
 * an index keeps of them: rows that differ in one member, then in the other. */
#define MANY 300000u

static void like_hashes_of_heaps_are_told_apart(void **state)
{
    origin_table *const table = *state;
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add_heap(table, i, 0x100), i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add_heap(table, 1, 0x100 + (u64)i), MANY + i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_find_heap(table, i, 0x100), i);
}

static void like_hashes_of_owners_are_told_apart(void **state)
{
    origin_table *const table = *state;
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add_owner(table, &(owner_row){ 0, i, 0 }), i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add_owner(table, &(owner_row){ 0, 1, i }), MANY + i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_find_owner(table, i, 0), i);
}

static void like_hashes_of_origins_are_told_apart(void **state)
{
    origin_table *const table = *state;
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add(table, i, 1), i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add(table, i, 2), MANY + i);
    for (u32 i = 1; i <= MANY; i++)
        assert_int_equal(origins_add(table, 7, i + 2), 2 * MANY + i);
    for (u32 i = 1; i <= MANY; i++) {
        assert_int_equal(origins_find(table, i, 1), i);
        assert_int_equal(origins_find(table, i, 2), MANY + i);
        assert_int_equal(origins_find(table, 7, i + 2), 2 * MANY + i);
    }
}

/* --- bounds --- */

/* As many rows as there are numbers, but for one; never touched, so they take no
 * memory. */
static void origins_end_where_numbers_do(void **state)
{
    origin_table *const table = *state;
    const u32 owner = add_owner(table, 1);
    assert_int_equal(origins_add(table, 7, owner), 1);
    origin_row *const rows = malloc((size_t)ORIGIN_NUMBER_MAX * sizeof *rows);
    if (rows == NULL)
        skip();
    rows[0] = table->origins.at[0];
    free(table->origins.at);
    table->origins.at = rows;
    table->origins.capacity = ORIGIN_NUMBER_MAX;
    table->origins.count = ORIGIN_NUMBER_MAX - 1;
    assert_int_equal(origins_add(table, 8, owner), ORIGIN_NUMBER_MAX);
    assert_int_equal(origins_add(table, 9, owner), 0);
    assert_int_equal(origins_add(table, WAITING(1), owner), 0);
    assert_int_equal(origins_add(table, KEYED(1), owner), 0);
    assert_int_equal(table->origins.count, ORIGIN_NUMBER_MAX);
    assert_int_equal(origins_find(table, 9, owner), 0);
    assert_int_equal(origins_add(table, 7, owner), 1);
    assert_int_equal(origins_add(table, 8, owner), ORIGIN_NUMBER_MAX);
}

static void memory_is_told_and_given_back(void **state)
{
    origin_table *const table = *state;
    const u64 before = origins_bytes(table);
    const u32 owner = add_owner(table, 1);
    for (u32 i = 0; i < 1000; i++)
        assert_int_equal(origins_add(table, WAITING(i), owner), i + 1);
    assert_true(origins_bytes(table) >= before + 1000 * sizeof(origin_row));
    origins_free(table);
    assert_int_equal(origins_bytes(table), before);
    assert_int_equal(origins_find(table, 7, 1), 0);
    assert_int_equal(add_owner(table, 1), 1);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)
    const struct CMUnitTest tests[] = {
        RULE(heap_is_a_handle_of_a_process),
        RULE(heaps_differ_by_any_bit_of_the_handle),
        RULE(heaps_of_equal_hashes_are_told_apart),
        RULE(owner_is_a_heap_in_an_epoch),
        RULE(owner_keeps_its_first_time),
        RULE(origin_is_a_stack_of_an_owner),
        RULE(owners_of_one_stack_have_an_origin_each),
        RULE(no_stack_is_a_stack_like_others),
        RULE(keyed_stack_is_found_again),
        RULE(event_that_waits_has_an_origin_of_its_own),
        RULE(equal_numbers_of_other_tags_are_other_stacks),
        RULE(origin_tells_its_heap),
        RULE(many_origins_are_those_of_a_list),
        RULE(like_hashes_of_heaps_are_told_apart),
        RULE(like_hashes_of_owners_are_told_apart),
        RULE(like_hashes_of_origins_are_told_apart),
        RULE(origins_end_where_numbers_do),
        RULE(memory_is_told_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
