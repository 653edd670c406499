/*
 * scan_stacks.h - stacks of a scan on their way to their events.
 *
 * Two short lists of what was just read:
 *
 * The ring has the latest events that want a stack. A stack record nearly always
 * follows its event on the same CPU within a few records, so most stacks find it
 * there; what the ring does not settle goes to join.c in pieces.
 *
 * The queue has stacks that wait to be looked up in the run's table, which nobody
 * changes during a scan; what is not there goes to a table of the task
 * (STACK_TAG_LOCAL). A look-up misses the cache twice, for the group of slots and
 * for the stack that is kept. So each stack takes three steps, which fetch what
 * the next one reads, and each push has two older stacks take their next one:
 *
 *     push     hashes the frames, fetches the group that the hash names
 *     fetch    STACKS_TO_FETCH pushes later: finds the stack to compare with in
 *              the group, and fetches it
 *     finish   STACKS_TO_FINISH pushes later: compares, writes the reference
 *
 * Stacks finish in the order in which they were pushed, so ids of new ones do not
 * depend on when the queue is flushed.
 */
#ifndef ETLHEAP_SCAN_STACKS_H
#define ETLHEAP_SCAN_STACKS_H

#include "stages.h"

#define STACK_RING_SIZE  16u
#define STACK_RING_SLOTS 32u /* a power of two, more than the size */
#define STACK_QUEUE_SIZE 16u /* a power of two */
#define STACKS_TO_FETCH  4u
#define STACKS_TO_FINISH 6u

static_assert(STACKS_TO_FETCH + STACKS_TO_FINISH < STACK_QUEUE_SIZE, "one more is being pushed");

/* An event that wants a stack, by index among the task's events. */
typedef struct stack_ring_entry {
    u32 event;
    bool has_kernel_part; /* then its user part must be joined to it later */
} stack_ring_entry;

typedef struct stack_ring {
    stack_ring_entry at[STACK_RING_SLOTS];
    u32 pushed; /* ever */
} stack_ring;

/* Where the reference of a stack goes: to a row of this list of the output. */
typedef enum stack_target { TARGET_EVENT, TARGET_PIECE, TARGET_DEFINITION } stack_target;

/* A stack that waits; its frames lie in the loaded buffer. */
typedef struct pending_stack {
    u64 hash;
    const void *frames;
    const stack_block *candidate; /* from the fetch on; NULL: none */
    u32 count;
    u32 index; /* of the row */
    stack_target target;
} pending_stack;

typedef struct stack_queue {
    const stack_table *stacks; /* of the run */
    scan_output *out;
    u32 pushed, fetched, finished; /* ever; they wrap */
    pending_stack at[STACK_QUEUE_SIZE];
} stack_queue;

/* Pushes the event if it is wanted, without a branch: else it is in a slot where
 * nobody looks, and which the next one takes. */
static inline void stack_ring_push_if(stack_ring *ring, u32 event, bool wanted)
{
    ring->at[ring->pushed % STACK_RING_SLOTS] = (stack_ring_entry){ event, false };
    ring->pushed += wanted;
}

/* The latest event in the ring with this time and thread; NULL when none. */
static inline stack_ring_entry *stack_ring_find(stack_ring *ring, const memory_event *events,
                                                i64 ticks, u32 tid)
{
    const u32 filled = ring->pushed < STACK_RING_SIZE ? ring->pushed : STACK_RING_SIZE;
    for (u32 i = 1; i <= filled; i++) {
        stack_ring_entry *const entry = &ring->at[(ring->pushed - i) % STACK_RING_SLOTS];
        const memory_event *const event = &events[entry->event];
        if (event->ticks == ticks && event->tid == tid)
            return entry;
    }
    return NULL;
}

/* An event that a user or whole part can settle at once: nothing came before. */
static inline bool stack_ring_is_unsettled(const stack_ring_entry *entry,
                                           const memory_event *events)
{
    return entry != NULL && !entry->has_kernel_part && events[entry->event].stack == STACK_NONE;
}

/* Is the memory the process's own, whose code ran? */
static inline bool stack_ring_is_of(const stack_ring_entry *entry, const memory_event *events,
                                    u32 pid)
{
    return events[entry->event].pid == pid;
}

/*
 * Has the reference of a stack written, soon, to row `index` of the target.
 * count > 0; the frames stay where they are until it is. False without memory.
 */
bool stack_queue_push(stack_queue *queue, const void *frames, u32 count, stack_target target,
                      size_t index);

/* Has all references written. False without memory. */
bool stack_queue_flush(stack_queue *queue);

#endif
