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

static inline stack_ring_entry *stack_ring_entry_of(stack_ring *ring, u32 age)
{
    return &ring->at[(ring->pushed - age) % STACK_RING_SLOTS];
}

/* An event of that age, if it is of the time and the thread; else NULL. */
static inline const memory_event *stack_ring_alike(stack_ring *ring, u32 age,
                                                   const memory_event *events, i64 ticks, u32 tid)
{
    const memory_event *const event = &events[stack_ring_entry_of(ring, age)->event];
    return event->ticks == ticks && event->tid == tid ? event : NULL;
}

/*
 * Of several events of one thread on one tick, of which the youngest has the age, the one
 * that a part belongs to. Stacks follow in the order of their events, so it is the oldest
 * without a stack; but only of its sort, because a session chooses which events have stacks,
 * and others may never get one. NULL: there are more such events than the ring has.
 */
static inline stack_ring_entry *stack_ring_choose(stack_ring *ring, const memory_event *events,
                                                  u32 age, stack_part part)
{
    const memory_event *const youngest = &events[stack_ring_entry_of(ring, age)->event];
    const memory_event *chosen = NULL, *event = youngest;
    u32 chosen_age = age;
    for (; event != NULL; age++) {
        if (age > STACK_RING_SIZE)
            return NULL;
        const bool suits = part_suits(part, event->op);
        const bool is_better = chosen == NULL || suits || event->op == chosen->op;
        if (event->stack == STACK_NONE && is_better) {
            chosen = event;
            chosen_age = age;
        }
        event = age == ring->pushed
                    ? NULL
                    : stack_ring_alike(ring, age + 1, events, youngest->ticks, youngest->tid);
    }
    return stack_ring_entry_of(ring, chosen_age);
}

/* The event that a part belongs to, by the time and the thread that the part names. NULL:
 * the ring does not have it, or cannot tell. */
static inline stack_ring_entry *stack_ring_find(stack_ring *ring, const memory_event *events,
                                                i64 ticks, u32 tid, stack_part part)
{
    const u32 filled = ring->pushed < STACK_RING_SIZE ? ring->pushed : STACK_RING_SIZE;
    for (u32 age = 1; age <= filled; age++) {
        if (stack_ring_alike(ring, age, events, ticks, tid) == NULL)
            continue;
        const bool is_alone =
            age == ring->pushed || stack_ring_alike(ring, age + 1, events, ticks, tid) == NULL;
        return is_alone ? stack_ring_entry_of(ring, age)
                        : stack_ring_choose(ring, events, age, part);
    }
    return NULL;
}

/* An event that a user or whole part can settle at once: nothing came before. */
static inline bool stack_ring_is_unsettled(const stack_ring_entry *entry,
                                           const memory_event *events)
{
    return entry != NULL && !entry->has_kernel_part && events[entry->event].stack == STACK_NONE;
}

/* Is the memory the process's own, whose code ran, and is the part what such a stack begins
 * with? */
static inline bool stack_ring_is_of(const stack_ring_entry *entry, const memory_event *events,
                                    stack_part part, u32 pid)
{
    return events[entry->event].pid == pid && part_suits(part, events[entry->event].op);
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
