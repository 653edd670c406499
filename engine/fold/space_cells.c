/*
 * space_cells.c - adds up live heap bytes for each unit of address space.
 *
 * In: blocks with process, heap, address and size. Out: cells (process, heap, unit number) with
 * live bytes, number of blocks and the largest block, sorted by address at the end.
 *
 *     unit       |   5   |   6   |   7   |        a block is cut where units end; its bytes go to
 *     block          [───────────)                each cell, its count to the cell where it begins
 *
 * If there are more than SPACE_CELLS_MAX cells, the unit doubles and neighbours are joined.
 * Invariant: cells do not depend on the order of blocks or on which task added them. So whatever a
 * cell keeps must be a sum, or a maximum in a total order (is_larger).
 */
#include "space_cells.h"

#include <stdlib.h>

#define SHIFT_MAX 62u

static bool same_cell(const void *owner, u32 id, const void *key)
{
    const space_cells *const cells = owner;
    const space_cell *const a = &cells->list.at[id - 1], *const b = key;
    return a->number == b->number && a->process == b->process && a->heap == b->heap;
}

static bool is_larger(const space_block *a, const space_block *b)
{
    if (a->size != b->size)
        return a->size > b->size;
    if (a->address != b->address)
        return a->address < b->address;
    return a->alloc_ticks != b->alloc_ticks ? a->alloc_ticks < b->alloc_ticks : a->stack < b->stack;
}

static void add_up(space_cell *to, const space_cell *from)
{
    to->live = etl_sat_add_u64(to->live, from->live);
    if (from->blocks > 0 && (to->blocks == 0 || is_larger(&from->largest, &to->largest)))
        to->largest = from->largest;
    to->blocks += from->blocks;
}

static bool add_cell(space_cells *cells, const space_cell *cell)
{
    const u64 hash =
        etlheap_hash_u64(cell->number ^ (u64)cell->process << 44 ^ etlheap_hash_u64(cell->heap));
    const u32 id = etlheap_index_find(&cells->index, hash, same_cell, cells, cell);
    if (id != 0) {
        add_up(&cells->list.at[id - 1], cell);
        return true;
    }
    return ETLHEAP_PUSH(&cells->list, *cell) &&
           etlheap_index_add(&cells->index, hash, (u32)cells->list.count);
}

/* Replaces the cells by those of the larger unit 1 << shift. */
static bool coarsen(space_cells *cells, u32 shift)
{
    space_cells coarse = { .shift = shift };
    bool ok = true;
    for (size_t i = 0; ok && i < cells->list.count; i++) {
        space_cell cell = cells->list.at[i];
        cell.number >>= shift - cells->shift;
        ok = add_cell(&coarse, &cell);
    }
    space_cells_free(cells);
    *cells = coarse;
    return ok;
}

static bool keep_few(space_cells *cells)
{
    while (cells->list.count > SPACE_CELLS_MAX && cells->shift < SHIFT_MAX) {
        if (!coarsen(cells, cells->shift + 1))
            return false;
    }
    return true;
}

/* Adds bytes of [start, end) to the cells there, without counting a block. */
static bool add_bytes(space_cells *cells, u32 process, u64 heap, u64 start, u64 end)
{
    bool ok = true;
    while (ok && start < end) {
        const u64 number = start >> cells->shift;
        const u64 last = (number << cells->shift) + (((u64)1 << cells->shift) - 1);
        const u64 stop = end - 1 <= last ? end : last + 1;
        const space_cell cell = {
            .heap = heap, .number = number, .process = process, .live = stop - start
        };
        ok = add_cell(cells, &cell);
        start = stop;
    }
    return ok;
}

static bool add_beginning(space_cells *cells, u32 process, u64 heap, const space_block *block)
{
    const space_cell first = { .heap = heap,
                               .number = block->address >> cells->shift,
                               .process = process,
                               .blocks = 1,
                               .largest = *block };
    return add_cell(cells, &first);
}

bool space_cells_add(space_cells *cells, u32 process, u64 heap, const space_block *block)
{
    const u64 end = etl_sat_add_u64(block->address, block->size);
    return add_beginning(cells, process, heap, block) &&
           add_bytes(cells, process, heap, block->address, end) && keep_few(cells);
}

bool space_cells_add_ends(space_cells *cells, u32 process, u64 heap, const space_block *block,
                          u64 *inner_start, u64 *inner_end)
{
    const u64 within = ((u64)1 << cells->shift) - 1;
    const u64 end = etl_sat_add_u64(block->address, block->size);
    const u64 low = etl_sat_add_u64(block->address, within) & ~within, high = end & ~within;
    const bool has_inner = low < high;
    *inner_start = has_inner ? low : end;
    *inner_end = has_inner ? high : end;
    return add_beginning(cells, process, heap, block) &&
           add_bytes(cells, process, heap, block->address, *inner_start) &&
           add_bytes(cells, process, heap, *inner_end, end);
}

bool space_cells_join(space_cells *cells, const space_cells *from)
{
    bool ok = from->shift <= cells->shift || coarsen(cells, from->shift);
    for (size_t i = 0; ok && i < from->list.count; i++) {
        space_cell cell = from->list.at[i];
        assert(cells->shift >= from->shift);
        cell.number >>= cells->shift - from->shift;
        ok = add_cell(cells, &cell) && keep_few(cells);
    }
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const space_cell *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

void space_cells_sort(space_cells *cells)
{
    if (cells->list.count > 0)
        qsort(cells->list.at, cells->list.count, sizeof *cells->list.at, by_place);
    etlheap_index_free(&cells->index);
}

void space_cells_free(space_cells *cells)
{
    ETLHEAP_VECTOR_FREE(&cells->list);
    etlheap_index_free(&cells->index);
}
