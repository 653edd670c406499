/*
 * join_recent.c - keeps the last events of each stream, to classify stacks at the start of the
 * stream's next task. Invariant: results do not depend on where tasks end.
 */
#include "join_recent.h"

#include <stdlib.h>

/* The list of a stream, new and empty if need be; NULL without memory. */
static recent_list *list_of(recent_events *recent, u64 stream)
{
    size_t low;
    ETL_BISECT(low, 0, recent->lists.count, recent->lists.at[low].stream < stream);
    if (low < recent->lists.count && recent->lists.at[low].stream == stream)
        return &recent->lists.at[low];
    const recent_list fresh = { .stream = stream };
    if (!ETLHEAP_PUSH(&recent->lists, fresh))
        return NULL;
    recent_list *const place = &recent->lists.at[low];
    memmove(place + 1, place, (recent->lists.count - 1 - low) * sizeof *place);
    *place = fresh;
    return place;
}

static void keep_last(recent_list *list, const scan_output *task)
{
    const size_t count = task->events.count;
    const u32 fresh = count < STACK_RECENT_EVENTS ? (u32)count : STACK_RECENT_EVENTS;
    const u32 room = STACK_RECENT_EVENTS - fresh;
    const u32 stay = list->count < room ? list->count : room;
    memmove(list->at, list->at + (list->count - stay), stay * sizeof *list->at);
    if (fresh > 0)
        memcpy(list->at + stay, task->events.at + (count - fresh), fresh * sizeof *list->at);
    list->count = stay + fresh;
}

/* Is it a sort that events of earlier tasks can change? */
static bool is_open_sort(event_sort sort)
{
    return sort == SORT_UNKNOWN || sort == SORT_UNSURE || sort == SORT_SPENT;
}

/* What earlier tasks say of a piece, of which its own says `known`. */
static event_sort sort_by(recent_list *list, const part_name *name, event_sort known)
{
    if (list->count == 0 || name->event_ticks > list->at[list->count - 1].ticks)
        return known;
    if (known == SORT_SPENT) {
        const bool is_open = stack_recent_open(list->at, list->count, name->event_ticks, name->tid,
                                               SORT_BLOCK) != NULL;
        return is_open ? SORT_BLOCK : SORT_SPENT;
    }
    if (known == SORT_UNKNOWN)
        stack_learn_thread(list->at, list->count, name);
    return stack_recent_sort(list->at, list->count, name, known);
}

bool recent_pass(recent_events *recent, scan_output *task)
{
    recent_list *const list = list_of(recent, task->stream);
    if (list == NULL)
        return false;
    for (size_t i = 0; i < task->pieces.count; i++) {
        stack_piece *const piece = &task->pieces.at[i];
        const part_name name = { piece->event_ticks, piece->tid, (stack_part)piece->part };
        const event_sort known = (event_sort)piece->sort;
        event_sort sort = is_open_sort(known) ? sort_by(list, &name, known) : known;
        sort = half_walks_sort(&list->walks, &name, sort);
        memory_event *const open =
            sort != SORT_BLOCK || sort == known
                ? NULL
                : stack_recent_open(list->at, list->count, name.event_ticks, name.tid, SORT_BLOCK);
        if (open != NULL)
            open->stack = STACK_TAG_LOCAL; /* taken: the next piece is another's */
        piece->sort = sort & 15u;
    }
    keep_last(list, task);
    return true;
}

void recent_free(recent_events *recent)
{
    ETLHEAP_VECTOR_FREE(&recent->lists);
}
