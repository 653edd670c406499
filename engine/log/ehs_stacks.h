/*
 * ehs_stacks.h - the distinct stacks of a store.
 *
 * Most stacks share their outer frames with others, because all begin where threads start. So
 * stacks are sorted by their frames from the outermost inwards, and each is stored as a difference
 * from the one before it:
 *
 *     stack.id      its id
 *     stack.shared  outermost frames it has in common with the one before
 *     stack.own     frames that follow, inwards
 *     stack.frame   those of all stacks, one after the other: numbers in
 *     frame.address the distinct addresses, ascending
 *
 * The first stack of a part (EHS_PART_ROWS stacks) may share frames with the last of the previous
 * part, so all stacks are read together.
 */
#ifndef ETLHEAP_EHS_STACKS_H
#define ETLHEAP_EHS_STACKS_H

#include "engine/context/stacks.h"
#include "ehs_table.h"

/* The largest number of frames of a stack that a reader accepts: a kernel and a user part
 * together. */
#define EHS_STACK_FRAMES_MAX (2 * STACK_FRAMES_MAX)

/* Encodes all stacks of the table. False if memory runs out. */
bool ehs_stacks_save(ehs_saver *saver, const stack_table *stacks);

/* How the frames of stacks are accessed. */
typedef enum ehs_frames {
    EHS_FRAMES_ADDRESSES, /* with stack_get, and as numbers */
    EHS_FRAMES_NUMBERS    /* only as numbers, or with stack_spell */
} ehs_frames;

/*
 * Fills an empty table with the stacks and their ids, and with the numbers of their addresses. The
 * table can only be searched by id. The caller frees it in any case. ETL_ERR_CORRUPT,
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status ehs_stacks_load(ehs_loader *loader, ehs_frames kind, stack_table *out);

#endif
