/*
 * free_groups.h - what of the stack that freed a query groups by, for each actor of a log.
 *
 * The counterpart of slot_groups.h: names and culling are the same for all blocks that an
 * actor freed, so they are looked at once per actor. Group 0 is that of blocks which nothing
 * freed in the window, or nothing of whose stack is known.
 */
#ifndef ETLHEAP_FREE_GROUPS_H
#define ETLHEAP_FREE_GROUPS_H

#include "aggregate.h"

typedef struct free_groups {
    u32 *of_actor; /* by actor number, [0] is 0 */
    ETLHEAP_VECTOR(free_key) keys;
    etlheap_index key_index;
} free_groups;

/* Without stacks in the query's grouping all are of group 0. While stacks are collected, they
 * are only resolved. False without memory; to be closed in any case. */
bool free_groups_open(free_groups *out, aggregator *a);
void free_groups_close(free_groups *groups);

#endif
