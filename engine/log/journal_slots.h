/*
 * journal_slots.h - gives words that were noted another slot, while their chunk is open.
 *
 * The call stack of a block may come after its words were noted. Chunks stay open for as long
 * as blocks wait for stacks, so the words are still in memory: an event's own word at the
 * place of its rank, others in the list of what is late.
 */
#ifndef ETLHEAP_JOURNAL_SLOTS_H
#define ETLHEAP_JOURNAL_SLOTS_H

#include "journal.h"

/* What has the rank, of an event or of the block that a late word ends, gets the slot. */
typedef struct journal_slot {
    u32 rank, slot;
} journal_slot;

/* The event's own word gets the slot. False: it has none there. */
bool journal_set_slot(const event_journal *journal, journal_slot wanted);

/* All late words of the ranks get their slots; the list is put in order. */
void journal_set_late_slots(const event_journal *journal, journal_slot *wanted, size_t count);

/* The actor and thread of an event, in a journal that has them; left alone if the event's chunk
 * is closed. */
void journal_find_actor(const event_journal *journal, u32 rank, u32 *actor, u32 *thread);

/* The event's actor, also where it is late. */
void journal_set_actor(const event_journal *journal, u32 rank, u32 actor);

/* The thread of a block, in a wide journal; by the rank of its event. */
void journal_set_thread(const event_journal *journal, u32 rank, u32 tid);

#endif
