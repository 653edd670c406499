/*
 * space_cells.h - live bytes by unit of address space, in bounded memory.
 *
 * A cell is a unit of a process that blocks of a heap lie in. When there are too many cells,
 * the unit doubles and neighbours become one:
 *
 *     unit 64 KiB   |a|b| |c|        unit 128 KiB   |a+b| c |
 *
 * The unit is the smallest with few enough cells for all blocks, so it does not depend on who
 * added which: what is too much for a part of the blocks is too much for all of them.
 */
#ifndef ETLHEAP_SPACE_CELLS_H
#define ETLHEAP_SPACE_CELLS_H

#include "engine/core/intern.h"

/* 18 MiB, and as much address space as 16 GiB in units of 64 KiB. */
#define SPACE_CELLS_MAX ((u32)1 << 18)

/* A block, as a pin shows it. */
typedef struct space_block {
    u64 address, size;
    i64 alloc_ticks;
    u32 stack; /* as of group_key; 0: none */
    u8 kind;   /* etlheap_kind */
} space_block;

typedef struct space_cell {
    u64 heap, number; /* address / unit */
    u32 process;
    u64 live, blocks;
    space_block largest; /* of those that begin here; of equal ones that at the lowest address */
} space_cell;

/* Start from {0} and the shift. */
typedef struct space_cells {
    u32 shift; /* the unit is 1 << shift */
    ETLHEAP_VECTOR(space_cell) list;
    etlheap_index index;
} space_cells;

/* Adds a block of a heap, cell by cell. False without memory. */
bool space_cells_add(space_cells *cells, u32 process, u64 heap, const space_block *block);

/*
 * The same for a large block, once the others are added: only its ends are put into cells, and
 * the whole units between them are told. The unit stays as it is.
 */
bool space_cells_add_ends(space_cells *cells, u32 process, u64 heap, const space_block *block,
                          u64 *inner_start, u64 *inner_end);

/* Adds all cells of `from`, with the larger unit of the two. */
bool space_cells_join(space_cells *cells, const space_cells *from);

/* Sorts the list by process, number and heap; nothing can be added afterwards. */
void space_cells_sort(space_cells *cells);

void space_cells_free(space_cells *cells);

#endif
