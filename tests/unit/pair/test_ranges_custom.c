/*
 * Goal: ranges.c keeps the blocks of custom allocators by the rules of ranges.h.
 * Method: single events applied to one table and the rows it puts out, one rule a test.
 * Addresses and sizes are pages. Random sequences: oracle_custom.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ranges_fixture.h"

static lifetime custom_of(u64 page, u64 count, i64 allocated, i64 freed)
{
    lifetime row = row_of(page, count, allocated, freed);
    row.kind = ETLHEAP_KIND_CUSTOM;
    row.heap = HEAP;
    return row;
}

static u64 over_live(const fixture *f)
{
    return f->check.out.diag.of[ETL_DIAG_alloc_over_live];
}

static void a_free_without_a_size_gives_back_the_block(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 4);
    apply(f, OP_CUSTOM_ALLOC, 1, 20, 4);
    apply(f, OP_CUSTOM_FREE, 9, 16, 0);
    assert_row(f, custom_of(16, 4, 0, 9));
    finish(f);
    assert_row(f, custom_of(20, 4, 1, NEVER));
    assert_int_equal(over_live(f), 0);
}

static void growth_in_place_is_a_free_and_an_allocation(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 1);
    apply(f, OP_CUSTOM_FREE, 5, 16, 0);
    apply(f, OP_CUSTOM_ALLOC, 5, 16, 2);
    finish(f);
    assert_rows(f, (const lifetime[]){ custom_of(16, 1, 0, 5), custom_of(16, 2, 5, NEVER) }, 2);
    assert_int_equal(over_live(f), 0);
}

static void parts_are_freed_one_by_one(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 8);
    apply(f, OP_CUSTOM_FREE, 1, 18, 2);
    apply(f, OP_CUSTOM_FREE, 2, 16, 8); /* the rest, said as if it were all */
    assert_rows(f,
                (const lifetime[]){ custom_of(16, 2, 0, 2), custom_of(18, 2, 0, 1),
                                    custom_of(20, 4, 0, 2) },
                3);
    finish(f);
    assert_rows(f, NULL, 0);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_CUSTOM), 0);
}

static void a_free_takes_bytes_of_one_allocation(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 2);
    apply(f, OP_CUSTOM_ALLOC, 1, 18, 2);
    apply(f, OP_CUSTOM_FREE, 2, 16, 4);
    assert_row(f, custom_of(16, 2, 0, 2));
    finish(f);
    assert_row(f, custom_of(18, 2, 1, NEVER));
}

static void unknown_addresses_are_counted(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 4);
    apply(f, OP_CUSTOM_FREE, 1, 17, 0); /* inside of a block, and without a size */
    apply(f, OP_CUSTOM_FREE, 2, 30, 0);
    apply(f, OP_CUSTOM_FREE, 3, 30, 2);
    apply(f, OP_CUSTOM_FREE, 4, 0, 0); /* NULL */
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_CUSTOM), 3);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
    finish(f);
    assert_row(f, custom_of(16, 4, 0, NEVER));
}

static void an_allocation_ends_what_was_there(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 4);
    apply(f, OP_CUSTOM_ALLOC, 1, 20, 4);
    apply(f, OP_CUSTOM_ALLOC, 2, 18, 4);
    assert_rows(f, (const lifetime[]){ custom_of(16, 4, 0, 2), custom_of(20, 4, 1, 2) }, 2);
    assert_int_equal(over_live(f), 1);
    finish(f);
    assert_row(f, custom_of(18, 4, 2, NEVER));
}

static void blocks_of_no_bytes_are_blocks(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 0);
    apply(f, OP_CUSTOM_ALLOC, 1, 17, 0);
    apply(f, OP_CUSTOM_FREE, 2, 16, 0);
    assert_row(f, custom_of(16, 0, 0, 2));
    apply(f, OP_CUSTOM_ALLOC, 3, 17, 1);
    assert_row(f, custom_of(17, 0, 1, 3));
    assert_int_equal(over_live(f), 1);
    apply(f, OP_CUSTOM_ALLOC, 4, 20, 0);
    finish(f);
    assert_rows(f, (const lifetime[]){ custom_of(17, 1, 3, NEVER), custom_of(20, 0, 4, NEVER) }, 2);
}

static void calls_that_failed_open_nothing(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 0, 4);
    finish(f);
    assert_rows(f, NULL, 0);
}

static void blocks_end_with_their_process(void **state)
{
    fixture *const f = *state;
    apply(f, OP_CUSTOM_ALLOC, 0, 16, 4);
    apply(f, OP_CUSTOM_ALLOC, 1, 30, 0);
    f->check.context.processes.at[f->process - 1].end_ticks = T0 + 50;
    ranges_sweep(&f->table, &f->check.context, INT64_MAX, &f->check.out);
    lifetime wanted[] = { custom_of(16, 4, 0, 50), custom_of(30, 0, 1, 50) };
    wanted[0].free_type = wanted[1].free_type = ETLHEAP_FREE_PROCESS_EXIT;
    assert_rows(f, wanted, 2);
    finish(f);
    assert_rows(f, NULL, 0);
}

/* A block's bytes are a commit's and an extent's, too. */
static void kinds_are_apart(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 16, 4);
    apply(f, OP_EXPAND, 1, 16, 4);
    apply(f, OP_CUSTOM_ALLOC, 2, 16, 4);
    apply(f, OP_CUSTOM_FREE, 3, 16, 0);
    assert_row(f, custom_of(16, 4, 2, 3));
    finish(f);
    assert_rows(f, (const lifetime[]){ row_of(16, 4, 0, NEVER), extent_of(16, 4, 1, NEVER) }, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_free_without_a_size_gives_back_the_block),
        TEST(growth_in_place_is_a_free_and_an_allocation),
        TEST(parts_are_freed_one_by_one),
        TEST(a_free_takes_bytes_of_one_allocation),
        TEST(unknown_addresses_are_counted),
        TEST(an_allocation_ends_what_was_there),
        TEST(blocks_of_no_bytes_are_blocks),
        TEST(calls_that_failed_open_nothing),
        TEST(blocks_end_with_their_process),
        TEST(kinds_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
