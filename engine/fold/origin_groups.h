/*
 * origin_groups.h - the group of each origin: everything that does not depend on single blocks.
 *
 * Names, culling and filters by process, heap and frame are the same for all blocks of an origin.
 * So they are determined once per origin, and adding up a block needs one look-up. The same holds
 * for the origins of rows in memory (feed_rows.h), which are numbered after the origins.
 */
#ifndef ETLHEAP_ORIGIN_GROUPS_H
#define ETLHEAP_ORIGIN_GROUPS_H

#include "aggregate.h"
#include "feed_rows.h"

#define GROUP_NONE UINT32_MAX /* not selected */

/* Where blocks of an origin belong. */
typedef struct origin_place {
    u32 group;
    u32 resolved; /* see origin_groups.stack_of_origin; 0 if it is not kept */
} origin_place;

/* An origin with its final stack: a tagged reference is replaced by the stack it became. */
typedef struct final_origin {
    u32 stack, owner;
    origin_place place;
} final_origin;

typedef struct origin_groups {
    aggregator *a;
    const origin_table *origins;
    u32 origin_count;               /* 0: origins only */
    const feed_rows *rows;          /* NULL: origins only */
    ETLHEAP_VECTOR(group_key) keys; /* by group; the type is 0 */
    table_ids first_keys;           /* by stack: its first key + 1; 0: none yet */
    etlheap_index key_index;        /* the other keys */
    ETLHEAP_VECTOR(final_origin) finals;
    etlheap_index final_index;
    u32 *of_origin; /* by number of the origin, then of the origin; [0] is GROUP_NONE */
    /* By origin number: its stack as in a group_key. Kept if the query groups by IMPACTING_STACK,
     * which then divides blocks (block_groups.h) and not origins; else NULL. */
    u32 *stack_of_origin;
    u64 held_bytes;
} origin_groups;

/* Groups the origins of a log, if the result has one and they are wanted, and the origins of rows
 * unless `rows` is NULL. False if memory runs out; close it in any case. */
bool origin_groups_open(origin_groups *out, aggregator *a, const feed_rows *rows,
                        bool wants_origins);
void origin_groups_close(origin_groups *groups);

/* Counts them as memory of the question. ETL_ERR_LIMIT. */
etl_status origin_groups_count(origin_groups *groups, etl_error *err);

/* Whose the blocks of an origin or origin are. */
typedef struct origin_owner {
    u64 heap;
    u32 process;
} origin_owner;

static inline origin_owner origin_groups_owner(const origin_groups *groups, u32 number)
{
    if (number > groups->origin_count) {
        const origin_key *const key =
            &groups->rows->origins.list.at[number - groups->rows->origins.first].key;
        return (origin_owner){ key->heap, key->process };
    }
    const heap_row *const heap = origins_heap_of(groups->origins, number);
    return (origin_owner){ heap->handle, groups->a->result->process_ids[heap->process] };
}

#endif
