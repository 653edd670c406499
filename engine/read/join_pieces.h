/*
 * join_pieces.h - gives the stack pieces of a slice to the events that wait for them.
 */
#ifndef ETLHEAP_JOIN_PIECES_H
#define ETLHEAP_JOIN_PIECES_H

#include "join.h"

/* Joins join->pieces to join->waiting. What is left over is offered to the frees, if there are
 * any: NULL. False without memory. */
bool join_attach_pieces(stack_join *join, deferred_stacks *deferred,
                        const free_stacks_slice *frees);

#endif
