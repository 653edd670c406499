/*
 * stack_numbering.h - numbers for the addresses of a table of stacks.
 *
 * What is found out about an address is kept by its number (address_numbers.h). A
 * store has the numbers of all frames in its file; for a trace they are given
 * here, in the order of stack ids. To look up millions of frames takes long, so a
 * run does it in short steps while it reads on, beside other tasks; only what the
 * last slices brought is left for its end.
 *
 * What a step does depends on the tables alone, and how stacks are cut into steps
 * does not show in what comes of them.
 *
 * Threads: one at a time may give a numbering work, while nobody adds to the table.
 */
#ifndef ETLHEAP_STACK_NUMBERING_H
#define ETLHEAP_STACK_NUMBERING_H

#include "engine/core/address_numbers.h"
#include "stacks.h"

/* Start from {0}. */
typedef struct stack_numbering {
    address_numbers addresses;
    ETLHEAP_VECTOR(u32) numbers; /* of all frames, stack by stack */
    u32 stack_count;             /* the first stacks of the table have numbers */
} stack_numbering;

/* Numbers stacks of the table that have no numbers yet: `frame_count` frames of them and
 * what the last stack has more, or all that are left. False without memory. */
bool stack_numbering_step(stack_numbering *numbering, const stack_table *table, u32 frame_count);

/* Numbers the rest of a table to which nothing will be added any more, and hands all over
 * to it: the numbering is empty then. False without memory. */
bool stack_numbering_finish(stack_numbering *numbering, stack_table *table);

/* What it has allocated. */
u64 stack_numbering_bytes(const stack_numbering *numbering);

void stack_numbering_free(stack_numbering *numbering);

#endif
