/*
 * half_walks.h - stack walks of which only the kernel part was read so far.
 *
 * An event without a thread can be told apart from other events on its tick only when the join has
 * all of them. The kernel part of its stack shows which thread it was. The next user part of that
 * thread for that tick belongs to the same walk, not to a block that the thread allocated one tick
 * earlier and whose stack was not recorded.
 *
 *     tick 10   thread 7 allocates       no stack
 *               somebody calls VirtualAlloc
 *          11   kernel part, thread 7, of tick 10      SORT_UNSURE, noted here
 *          12   user part, thread 7, of tick 10        SORT_UNSURE, not SORT_BLOCK
 *
 * The scan keeps the walks of a task, and join_recent.h keeps those of a stream. Both see the parts
 * in the same order, so the result does not depend on where tasks end.
 */
#ifndef ETLHEAP_HALF_WALKS_H
#define ETLHEAP_HALF_WALKS_H

#include "scan_stacks.h"

#define HALF_WALKS_MAX 16u /* if there are more, the oldest are forgotten */

typedef struct half_walk {
    i64 event_ticks;
    u32 tid;
} half_walk;

typedef struct half_walks {
    half_walk at[HALF_WALKS_MAX]; /* oldest first */
    u32 count;
} half_walks;

/* The index + 1 of the walk that a part belongs to; 0: none. */
static inline u32 half_walks_find(const half_walks *walks, const part_name *name)
{
    for (u32 i = 0; i < walks->count; i++) {
        if (walks->at[i].event_ticks == name->event_ticks && walks->at[i].tid == name->tid)
            return i + 1;
    }
    return 0;
}

static inline void half_walks_remove(half_walks *walks, u32 place)
{
    walks->count--;
    memmove(&walks->at[place], &walks->at[place + 1], (walks->count - place) * sizeof *walks->at);
}

/* The sort of a part, given the sort that earlier events suggest. Updates the list of walks. */
static inline event_sort half_walks_sort(half_walks *walks, const part_name *name, event_sort sort)
{
    const bool begins = name->part == PART_KERNEL && sort == SORT_UNSURE;
    if (!begins && (walks->count == 0 || name->part != PART_USER))
        return sort;
    const u32 found = half_walks_find(walks, name);
    if (!begins && found != 0)
        half_walks_remove(walks, found - 1);
    if (begins && found == 0) {
        if (walks->count == HALF_WALKS_MAX)
            half_walks_remove(walks, 0);
        walks->at[walks->count++] = (half_walk){ name->event_ticks, name->tid };
    }
    return found != 0 ? SORT_UNSURE : sort;
}

#endif
