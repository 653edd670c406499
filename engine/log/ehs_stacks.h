/*
 * ehs_stacks.h - the distinct stacks of a store.
 *
 * Most stacks share their outer frames with others: all begin where threads do.
 * So stacks are sorted by their frames from the outermost inwards, and each is
 * told from the one before it:
 *
 *     stack.id      its id
 *     stack.shared  outermost frames it has in common with the one before
 *     stack.own     frames that follow, inwards
 *     stack.frame   those of all stacks, one after the other: numbers in
 *     frame.address the distinct addresses, ascending
 *
 * The first of a part of EHS_PART_ROWS stacks may share with the last of the part
 * before: stacks are read whole.
 */
#ifndef ETLHEAP_EHS_STACKS_H
#define ETLHEAP_EHS_STACKS_H

#include "engine/context/stacks.h"
#include "ehs_table.h"

/* Frames of one stack that a reader takes; a kernel and a user part together. */
#define EHS_STACK_FRAMES_MAX (2 * STACK_FRAMES_MAX)

/* Encodes all stacks of the table. False without memory. */
bool ehs_stacks_save(ehs_saver *saver, const stack_table *stacks);

/* How the frames of stacks are to be had. */
typedef enum ehs_frames {
    EHS_FRAMES_ADDRESSES, /* by stack_get, and as numbers */
    EHS_FRAMES_NUMBERS    /* as numbers alone, or by stack_spell */
} ehs_frames;

/*
 * Fills an empty table with the stacks, under their ids, and the numbers of their
 * addresses. The table is for looking up by id only. CORRUPT, MEMORY, LIMIT; the
 * table is the caller's to free in any case.
 */
etl_status ehs_stacks_load(ehs_loader *loader, ehs_frames kind, stack_table *out);

#endif
