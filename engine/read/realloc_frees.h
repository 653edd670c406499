/*
 * realloc_frees.h - gives the free that a moving realloc logs the realloc's stack.
 *
 * Sessions nearly always record stacks of Alloc and ReAlloc, and not of Free. The call that moved
 * the block is then the code that freed the old one. A free keeps its own stack, if it has one;
 * realloc_trail.h says which free a realloc logged.
 *
 *     stack of the realloc     the free is in this slice     in an earlier one
 *     known                    set in its event              resolved by its rank (free_stacks.h)
 *     may still come           it sleeps and follows the realloc's number, until that is resolved
 */
#ifndef ETLHEAP_REALLOC_FREES_H
#define ETLHEAP_REALLOC_FREES_H

#include "free_stacks.h"

/* Call it when the slice's events have their stacks. `resolved` are blocks of earlier slices. False
 * if memory runs out. */
bool realloc_frees_follow(free_stacks *frees, const free_stacks_slice *slice,
                          const resolved_block *resolved, size_t resolved_count);

#endif
