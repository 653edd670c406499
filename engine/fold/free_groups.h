/*
 * free_groups.h - the group of the stack that freed, for each freer of a log and freer of rows.
 *
 * The counterpart of origin_groups.h: names and culling are the same for all blocks that a freer
 * freed, so they are determined once per freer. Group 0 has the blocks that were not freed in the
 * window, or without a known stack.
 */
#ifndef ETLHEAP_FREE_GROUPS_H
#define ETLHEAP_FREE_GROUPS_H

#include "aggregate.h"
#include "feed_rows.h"

typedef struct free_groups {
    u32 *of_freer; /* by freer number, [0] is 0 */
    /* By freer number: its stack as in a group_key. Kept if the query groups by IMPACTING_STACK;
     * else NULL. */
    u32 *stack_of_freer;
    ETLHEAP_VECTOR(free_key) keys;
    etlheap_index key_index;
} free_groups;

/* Groups the freers, and after them the freers of rows unless `rows` is NULL. If the query does not
 * group by stacks, all have group 0. While stacks are collected, only resolves them. False if
 * memory runs out; close it in any case. */
bool free_groups_open(free_groups *out, aggregator *a, const feed_rows *rows);
void free_groups_close(free_groups *groups);

#endif
