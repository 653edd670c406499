/*
 * Goal: frames have the numbers of their addresses, in the order in which these come
 * first by stack id, however the work was cut into steps.
 * Method: random stacks of few and of many addresses are added while steps of any size
 * go on; then all is compared with a search through all addresses so far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/context/stack_numbering.h"
#include "tests/support/hand_bytes.h"

#define STACKS    400u
#define DEPTH_MAX 40u

static void add_stack(stack_table *table, u64 *random, u32 variety)
{
    u64 frames[DEPTH_MAX];
    u32 id;
    const u32 count = 1 + hand_random(random) % DEPTH_MAX;
    for (u32 i = 0; i < count; i++)
        frames[i] = hand_random(random) % variety * 0x10001; /* 0 is one like others */
    assert_true(stack_add(table, stack_hash(frames, count), frames, count, &id));
}

/* Gives numbers anew, one frame after the other. */
static void expect_numbers(const stack_table *table)
{
    u64 *const known = calloc(STACKS * DEPTH_MAX, sizeof *known);
    u32 known_count = 0;
    size_t frames = 0;
    assert_non_null(known);
    for (u32 id = 1; id <= table->list.count; id++) {
        const etlheap_frames raw = stack_get(table, id), spelled = stack_spell(table, id);
        const u32 *const numbers = stack_numbers(table, id);
        assert_ptr_equal(numbers, table->numbers + frames);
        assert_ptr_equal(spelled.addresses, raw.addresses);
        for (u32 i = 0; i < raw.count; i++) {
            u32 at = 0;
            while (at < known_count && known[at] != raw.addresses[i])
                at++;
            assert_int_equal(numbers[i], at);
            if (at == known_count)
                known[known_count++] = raw.addresses[i];
        }
        frames += raw.count;
    }
    assert_int_equal(table->numbered_count, frames);
    assert_int_equal(table->number_count, known_count);
    assert_memory_equal(table->addresses, known, known_count * sizeof *known);
    free(known);
}

static void numbers_are_given_in_order_of_first_use(void **state)
{
    (void)state;
    u64 random = 5;
    for (u32 variety = 1; variety < 20000; variety *= 9) {
        stack_table table = { 0 };
        stack_numbering numbering = { .stack_count = 0 };
        while (table.list.count < STACKS && hand_random(&random) % 1000 != 0) {
            const u32 more = hand_random(&random) % 30;
            for (u32 i = 0; i < more && table.list.count < STACKS; i++)
                add_stack(&table, &random, variety);
            assert_true(stack_numbering_step(&numbering, &table, hand_random(&random) % 600));
        }
        assert_true(stack_numbering_finish(&numbering, &table));
        expect_numbers(&table);
        stack_table_free(&table);
    }
}

static void steps_of_any_size_give_the_same(void **state)
{
    (void)state;
    static const u32 sizes[] = { 0, 1, 13, 700, UINT32_MAX }; /* 0: all at the end */
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        u64 random = 91;
        stack_table table = { 0 };
        stack_numbering numbering = { .stack_count = 0 };
        for (u32 k = 0; k < STACKS; k++)
            add_stack(&table, &random, 3000);
        for (u32 k = 0; k < STACKS; k++)
            assert_true(stack_numbering_step(&numbering, &table, sizes[i]));
        assert_true(sizes[i] == 0 || numbering.stack_count == table.list.count);
        assert_true(stack_numbering_finish(&numbering, &table));
        expect_numbers(&table);
        stack_table_free(&table);
    }
}

static void a_step_ends_with_the_stack_that_reaches_its_size(void **state)
{
    (void)state;
    u64 random = 17;
    stack_table table = { 0 };
    stack_numbering numbering = { .stack_count = 0 };
    for (u32 i = 0; i < STACKS; i++)
        add_stack(&table, &random, 500);
    while (numbering.stack_count < table.list.count) {
        const size_t before = numbering.numbers.count;
        assert_true(stack_numbering_step(&numbering, &table, 100));
        const u32 last = numbering.stack_count;
        const size_t done = numbering.numbers.count - before;
        assert_true(done >= 100 || last == table.list.count);
        assert_true(done - stack_get(&table, last).count < 100);
    }
    const size_t all = numbering.numbers.count;
    assert_true(stack_numbering_step(&numbering, &table, 100));
    assert_int_equal(numbering.numbers.count, all);
    stack_numbering_free(&numbering);
    assert_null(table.numbers);
    stack_table_free(&table);
}

static void what_is_handed_over_is_the_tables(void **state)
{
    (void)state;
    u64 random = 3;
    stack_table table = { 0 };
    stack_numbering numbering = { .stack_count = 0 };
    assert_int_equal(stack_numbering_bytes(&numbering), 0);
    for (u32 i = 0; i < 50; i++)
        add_stack(&table, &random, 500);
    assert_true(stack_numbering_step(&numbering, &table, 100));
    assert_true(stack_numbering_bytes(&numbering) >=
                numbering.numbers.count * sizeof(u32) + numbering.addresses.count * sizeof(u64));
    assert_true(stack_numbering_finish(&numbering, &table));
    assert_int_equal(stack_numbering_bytes(&numbering), 0);
    assert_int_equal(numbering.stack_count, 0);
    stack_numbering_free(&numbering); /* nothing more to it */
    expect_numbers(&table);
    stack_table_free(&table);
    assert_null(table.numbers);
    assert_null(table.addresses);
}

static void no_stacks_have_no_numbers(void **state)
{
    (void)state;
    stack_table table = { 0 };
    stack_numbering numbering = { .stack_count = 0 };
    assert_true(stack_numbering_step(&numbering, &table, 100));
    assert_int_equal(stack_numbering_bytes(&numbering), 0);
    assert_true(stack_numbering_finish(&numbering, &table));
    assert_non_null(table.numbers);
    assert_int_equal(table.numbered_count, 0);
    assert_int_equal(table.number_count, 0);
    stack_table_free(&table);
}

/* A table is searched by hashes, and entries lead to them. */
static void entries_tell_their_hash(void **state)
{
    (void)state;
    stack_table table = { 0 };
    const u64 frames[] = { 0x10, 0x20, 0x30 };
    u32 id;
    assert_true(stack_add(&table, 0x1234, frames, 3, &id));
    assert_true(stack_add(&table, 0x5678, frames, 2, &id));
    assert_int_equal(stack_entry_hash(&table.list.at[0]), 0x1234);
    assert_int_equal(stack_entry_hash(&table.list.at[1]), 0x5678);
    stack_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_given_in_order_of_first_use),
        cmocka_unit_test(steps_of_any_size_give_the_same),
        cmocka_unit_test(a_step_ends_with_the_stack_that_reaches_its_size),
        cmocka_unit_test(what_is_handed_over_is_the_tables),
        cmocka_unit_test(no_stacks_have_no_numbers),
        cmocka_unit_test(entries_tell_their_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
