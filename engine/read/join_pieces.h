/* join_pieces.h - assigns the stack pieces of a slice to waiting events. */
#ifndef ETLHEAP_JOIN_PIECES_H
#define ETLHEAP_JOIN_PIECES_H

#include "join.h"

/* Joins join->pieces to join->waiting, and offers the rest to `frees` (NULL: none). False if memory
 * runs out. */
bool join_attach_pieces(stack_join *join, keyed_stacks *keyed, const free_stacks_slice *frees);

#endif
