/*
 * stack_numbering.h - numbers the addresses of a stack table.
 *
 * Facts about an address are kept by its number (address_numbers.h). A store has the numbers of all
 * frames in its file; for a trace they are assigned here, in the order of stack ids.
 *
 * Numbering millions of frames takes long. So a run does it in short steps while it reads, in
 * parallel with other tasks, and only the stacks of the last slices are left for the end. A step
 * depends only on the tables, and the result does not depend on how stacks are divided into steps.
 *
 * Threads: only one at a time may number, while none adds to the table.
 */
#ifndef ETLHEAP_STACK_NUMBERING_H
#define ETLHEAP_STACK_NUMBERING_H

#include "engine/core/address_numbers.h"
#include "stacks.h"

/* Start from {0}. */
typedef struct stack_numbering {
    address_numbers addresses;
    ETLHEAP_VECTOR(u32) numbers; /* of all frames, stack by stack */
    u32 stack_count;             /* number of stacks, from the first, that have numbers */
} stack_numbering;

/* Numbers the next stacks of the table: about `frame_count` frames, ending with a whole stack, or
 * all that are left. False if memory runs out. */
bool stack_numbering_step(stack_numbering *numbering, const stack_table *table, u32 frame_count);

/* Numbers the rest of a complete table and hands all numbers over to it; the numbering is then
 * empty. False if memory runs out. */
bool stack_numbering_finish(stack_numbering *numbering, stack_table *table);

/* The number of bytes allocated. */
u64 stack_numbering_bytes(const stack_numbering *numbering);

void stack_numbering_free(stack_numbering *numbering);

#endif
