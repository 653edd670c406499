/*
 * event_list_origins.h - changes the origins of words in open chunks of the event list.
 *
 * The call stack of a block may come after its words were recorded. Chunks stay open as long as
 * blocks wait for stacks, so the words are still in memory: the word of an event at the place of
 * its rank, others in the list of late entries.
 */
#ifndef ETLHEAP_EVENT_LIST_ORIGINS_H
#define ETLHEAP_EVENT_LIST_ORIGINS_H

#include "event_list.h"

/* The origin for the words of a rank: of an event, or of the block that a late word ends. */
typedef struct ranked_origin {
    u32 rank, origin;
} ranked_origin;

/* Sets the origin of an event's own word. False if it has none at its place. */
bool event_list_set_origin(const event_list *list, ranked_origin wanted);

/* Sets the origins of all late words with these ranks. Sorts the list. */
void event_list_set_late_origins(const event_list *list, ranked_origin *wanted, size_t count);

/* Finds the freer and thread of an event, in an event list that has them. Leaves them unchanged if
 * the event's chunk is closed. */
void event_list_find_freer(const event_list *list, u32 rank, u32 *freer, u32 *thread);

/* Sets the freer of an event, also in late entries. */
void event_list_set_freer(const event_list *list, u32 rank, u32 freer);

/* Sets the thread of a block, in a wide event list, by the rank of its event. */
void event_list_set_thread(const event_list *list, u32 rank, u32 tid);

#endif
