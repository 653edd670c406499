/*
 * Goal: cells hold the bytes and blocks of each unit, whoever added which; with too many of them
 * the unit grows to the smallest with few enough, which does not depend on the parts either.
 * Method: random blocks go to one table, and in parts to several that are joined; sums are
 * compared with those of a plain array by unit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/fold/space_cells.h"

#define UNIT_SHIFT 12u
#define UNITS      512u /* of the plain array */
#define PARTS      5u

static u64 random_below(u64 *seed, u64 limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % limit;
}

static void assert_same_cells(const space_cells *a, const space_cells *b)
{
    assert_int_equal(a->shift, b->shift);
    assert_int_equal(a->list.count, b->list.count);
    for (size_t i = 0; i < a->list.count; i++) {
        const space_cell *const x = &a->list.at[i], *const y = &b->list.at[i];
        assert_true(x->process == y->process && x->number == y->number && x->heap == y->heap);
        assert_true(x->live == y->live && x->blocks == y->blocks);
        assert_true(x->largest.address == y->largest.address && x->largest.size == y->largest.size);
    }
}

static void cells_have_the_bytes_of_their_unit(void **state)
{
    (void)state;
    u64 seed = 1, live[UNITS] = { 0 }, blocks[UNITS] = { 0 };
    space_cells cells = { .shift = UNIT_SHIFT };
    for (u32 i = 0; i < 3000; i++) {
        const u64 size = random_below(&seed, 3) == 0 ? random_below(&seed, 20000) : 40;
        const space_block block = { .address = random_below(&seed, (UNITS - 8) << UNIT_SHIFT),
                                    .size = size };
        assert_true(space_cells_add(&cells, 1, 0x1000, &block));
        blocks[block.address >> UNIT_SHIFT]++;
        for (u64 at = block.address; at < block.address + size; at++)
            live[at >> UNIT_SHIFT]++;
    }
    space_cells_sort(&cells);
    assert_int_equal(cells.shift, UNIT_SHIFT);
    for (size_t i = 0; i < cells.list.count; i++) {
        const space_cell *const cell = &cells.list.at[i];
        assert_int_equal(cell->live, live[cell->number]);
        assert_int_equal(cell->blocks, blocks[cell->number]);
        live[cell->number] = blocks[cell->number] = 0;
    }
    for (u32 i = 0; i < UNITS; i++)
        assert_true(live[i] == 0 && blocks[i] == 0);
    space_cells_free(&cells);
}

/* More units than there may be cells: all of them, and a third of them in one part alone. */
static void a_unit_that_grew_does_not_depend_on_the_parts(void **state)
{
    (void)state;
    u64 seed = 7;
    space_cells whole = { .shift = UNIT_SHIFT }, joined = { .shift = UNIT_SHIFT };
    space_cells parts[PARTS];
    for (u32 p = 0; p < PARTS; p++)
        parts[p] = (space_cells){ .shift = UNIT_SHIFT };
    for (u32 i = 0; i < 3 * SPACE_CELLS_MAX; i++) {
        const space_block block = { .address = (u64)i << UNIT_SHIFT | random_below(&seed, 4000),
                                    .size = 1 + random_below(&seed, 90) };
        const u32 part = random_below(&seed, 2) == 0 ? 0 : (u32)random_below(&seed, PARTS);
        const u32 process = 1 + (u32)random_below(&seed, 2);
        assert_true(space_cells_add(&whole, process, 0x1000, &block));
        assert_true(space_cells_add(&parts[part], process, 0x1000, &block));
    }
    for (u32 p = 0; p < PARTS; p++) {
        assert_true(space_cells_join(&joined, &parts[p]));
        space_cells_free(&parts[p]);
    }
    space_cells_sort(&whole);
    space_cells_sort(&joined);
    assert_true(whole.shift > UNIT_SHIFT && whole.list.count <= SPACE_CELLS_MAX);
    assert_true(whole.list.count > SPACE_CELLS_MAX / 2);
    assert_same_cells(&whole, &joined);
    space_cells_free(&whole);
    space_cells_free(&joined);
}

static void a_large_block_is_its_ends_and_the_units_between(void **state)
{
    (void)state;
    static const struct {
        u64 address, size, inner_start, inner_end, cells;
    } cases[] = {
        { 0x10100, 0x5000, 0x11000, 0x15000, 2 },
        { 0x10000, 0x5000, 0x10000, 0x15000, 1 },
        { 0x10000, 0x5001, 0x10000, 0x15000, 2 },
        { 0x10100, 0x0f00, 0, 0, 1 },
        { UINT64_MAX - 0x2000, 0x5000, 0xffffffffffffe000, 0xfffffffffffff000, 2 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        space_cells cells = { .shift = UNIT_SHIFT };
        const space_block block = { .address = cases[i].address, .size = cases[i].size };
        u64 start = 0, end = 0;
        assert_true(space_cells_add_ends(&cells, 1, 2, &block, &start, &end));
        if (cases[i].inner_end == 0) {
            assert_true(start >= end);
        } else {
            assert_int_equal(start, cases[i].inner_start);
            assert_int_equal(end, cases[i].inner_end);
        }
        assert_int_equal(cells.list.count, cases[i].cells);
        assert_int_equal(cells.list.at[0].blocks, 1);
        space_cells_free(&cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_have_the_bytes_of_their_unit),
        cmocka_unit_test(a_unit_that_grew_does_not_depend_on_the_parts),
        cmocka_unit_test(a_large_block_is_its_ends_and_the_units_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
