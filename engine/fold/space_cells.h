/*
 * space_cells.h - live bytes per unit of address space, in bounded memory.
 *
 * A cell is a unit of a process that contains blocks of a heap. If there are too many cells, the
 * unit doubles, and neighbours are merged:
 *
 *     unit 64 KiB   |a|b| |c|        unit 128 KiB   |a+b| c |
 *
 * The final unit is the smallest with few enough cells for all blocks. It does not depend on which
 * thread added which block: a unit that makes too many cells for some of the blocks makes too many
 * for all.
 */
#ifndef ETLHEAP_SPACE_CELLS_H
#define ETLHEAP_SPACE_CELLS_H

#include "engine/core/intern.h"

/* Takes 18 MiB of memory, and covers 16 GiB of address space in units of 64 KiB. */
#define SPACE_CELLS_MAX ((u32)1 << 18)

/* A block in a pin. */
typedef struct space_block {
    u64 address, size;
    i64 alloc_ticks;
    u32 stack; /* as in group_key; 0: none */
    u8 kind;   /* etlheap_kind */
} space_block;

typedef struct space_cell {
    u64 heap, number; /* address / unit */
    u32 process;
    u64 live, blocks;
    space_block largest; /* largest block that begins here; of equal ones: the lowest address */
} space_cell;

/* Start from {0} and the shift. */
typedef struct space_cells {
    u32 shift; /* the unit is 1 << shift */
    ETLHEAP_VECTOR(space_cell) list;
    etlheap_index index;
} space_cells;

/* Adds a block of a heap, cell by cell. False if memory runs out. */
bool space_cells_add(space_cells *cells, u32 process, u64 heap, const space_block *block);

/* Adds a large block, after all others: only its ends go into cells. Sets [*inner_start,
 * *inner_end) to the whole units between them. Does not change the unit. */
bool space_cells_add_ends(space_cells *cells, u32 process, u64 heap, const space_block *block,
                          u64 *inner_start, u64 *inner_end);

/* Adds all cells of `from`, with the larger unit of the two. */
bool space_cells_join(space_cells *cells, const space_cells *from);

/* Sorts the list by process, number and heap. After that nothing can be added. */
void space_cells_sort(space_cells *cells);

void space_cells_free(space_cells *cells);

#endif
