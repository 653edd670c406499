/*
 * scan_stacks.h - assigns stacks to events during the scan.
 *
 * Uses two short lists of recent items.
 *
 * The ring has the last events that need a stack. A stack record nearly always follows its event on
 * the same CPU within a few records, so most stacks find their event there. The others go to join.c
 * in pieces.
 *
 * The queue has stacks that are being looked up in the run's table, which does not change during a
 * scan; new stacks go to a table of the task (STACK_TAG_LOCAL). A look-up misses the cache twice,
 * for the group of slots and for the stored stack. So each look-up has three steps, each of which
 * prefetches what the next one reads, and each push advances two older stacks by a step:
 *
 *     push     hashes the frames, prefetches the group that the hash names
 *     fetch    STACKS_TO_FETCH pushes later: finds the stack to compare with in
 *              the group, and prefetches it
 *     finish   STACKS_TO_FINISH pushes later: compares, writes the reference
 *
 * Stacks finish in the order in which they were pushed, so ids of new stacks do not depend on when
 * the queue is flushed.
 */
#ifndef ETLHEAP_SCAN_STACKS_H
#define ETLHEAP_SCAN_STACKS_H

#include "stages.h"

#define STACK_RING_SIZE  16u
#define STACK_RING_SLOTS 32u /* a power of two, larger than STACK_RING_SIZE */
#define STACK_QUEUE_SIZE 16u /* a power of two */

/* The number of events that are searched for one that is not in the ring. */
#define STACK_RECENT_EVENTS 16u
#define STACKS_TO_FETCH     4u
#define STACKS_TO_FINISH    6u

static_assert(STACKS_TO_FETCH + STACKS_TO_FINISH < STACK_QUEUE_SIZE, "one more is being pushed");

/* An event that needs a stack, as an index into the task's events. */
typedef struct stack_ring_entry {
    u32 event;
    bool has_kernel_part; /* its user part must then be joined later */
} stack_ring_entry;

typedef struct stack_ring {
    stack_ring_entry at[STACK_RING_SLOTS];
    u32 pushed; /* number of pushes */
} stack_ring;

/* Names the event that a part of a stack belongs to, and says which part it is. */
typedef struct part_name {
    i64 event_ticks;
    u32 tid;
    stack_part part;
} part_name;

/* The list of the output that a stack's reference is written to. */
typedef enum stack_target { TARGET_EVENT, TARGET_PIECE, TARGET_DEFINITION } stack_target;

/* A stack in the queue. Its frames are in the loaded buffer. */
typedef struct pending_stack {
    u64 hash;
    const void *frames;
    const stack_block *candidate; /* set by the fetch step; NULL: none */
    u32 count;
    u32 index; /* index of the row */
    stack_target target;
} pending_stack;

typedef struct stack_queue {
    const stack_table *stacks; /* stacks of the run */
    scan_output *out;
    u32 pushed, fetched, finished; /* counters, which wrap */
    pending_stack at[STACK_QUEUE_SIZE];
} stack_queue;

/* Pushes the event if `wanted`, without a branch: otherwise it is written to an unused slot, which
 * the next push overwrites. */
static inline void stack_ring_push_if(stack_ring *ring, u32 event, bool wanted)
{
    ring->at[ring->pushed % STACK_RING_SLOTS] = (stack_ring_entry){ event, false };
    ring->pushed += wanted;
}

static inline stack_ring_entry *stack_ring_entry_of(stack_ring *ring, u32 age)
{
    return &ring->at[(ring->pushed - age) % STACK_RING_SLOTS];
}

/* The event of age `age` if it has this time and thread; else NULL. */
static inline const memory_event *stack_ring_alike(stack_ring *ring, u32 age,
                                                   const memory_event *events, i64 ticks, u32 tid)
{
    const memory_event *const event = &events[stack_ring_entry_of(ring, age)->event];
    return event->ticks == ticks && event->tid == tid ? event : NULL;
}

/*
 * The sort of the thread's last event on the tick of `event`. Parts that follow are of that sort,
 * because a thread walks the stack of one event before it raises another, if the program raises one
 * of the two. An event without a thread may belong to this thread, too. Only the kernel raises such
 * events, so a kernel part decides: see stack_recent_sort().
 */
static inline u32 stack_ring_last(const memory_event *events, u32 count, u32 event)
{
    const memory_event *const first = &events[event];
    u32 last = event;
    for (u32 i = event + 1; i < count && events[i].ticks == first->ticks; i++) {
        if (events[i].tid == first->tid && !op_has_no_walk(events[i].op))
            last = i;
    }
    return last;
}

/* True for events that a program raises and whose stack is not needed. The two events of a moving
 * realloc are one record. */
static inline bool op_is_spent(u8 op)
{
    return !op_wants_stack((memory_op)op) && event_sort_of(op) != SORT_UNWANTED &&
           op != OP_REALLOC_OLD;
}

/*
 * Of several events of a thread on one tick, the youngest of which has age `age`, chooses the one
 * that a part belongs to. Stacks follow in the order of their events, so it is the oldest of the
 * sort without a stack. NULL if there is none, or more than the ring has.
 */
static inline stack_ring_entry *stack_ring_choose(stack_ring *ring, const memory_event *events,
                                                  u32 age, event_sort sort)
{
    const memory_event *const youngest = &events[stack_ring_entry_of(ring, age)->event];
    const memory_event *event = youngest;
    stack_ring_entry *chosen = NULL;
    for (; event != NULL; age++) {
        if (age > STACK_RING_SIZE)
            return NULL;
        if (event_sort_of(event->op) == sort && (event->stack == STACK_NONE || chosen == NULL))
            chosen = stack_ring_entry_of(ring, age);
        event = age == ring->pushed
                    ? NULL
                    : stack_ring_alike(ring, age + 1, events, youngest->ticks, youngest->tid);
    }
    return chosen;
}

/*
 * Finds the event that a part belongs to, by the part's time and thread. NULL if the ring does not
 * have it or cannot tell. Sets the sort of the event, or SORT_UNKNOWN if the ring has no event with
 * this time and thread. `count` is the number of events so far.
 */
static inline stack_ring_entry *stack_ring_find(stack_ring *ring, const memory_event *events,
                                                u32 count, i64 ticks, u32 tid, event_sort *sort)
{
    const u32 filled = ring->pushed < STACK_RING_SIZE ? ring->pushed : STACK_RING_SIZE;
    for (u32 age = 1; age <= filled; age++) {
        if (stack_ring_alike(ring, age, events, ticks, tid) == NULL)
            continue;
        stack_ring_entry *const entry = stack_ring_entry_of(ring, age);
        const u32 last = stack_ring_last(events, count, entry->event);
        const u8 last_op = events[last].op;
        *sort = event_sort_of(last_op);
        const bool is_alone =
            age == ring->pushed || stack_ring_alike(ring, age + 1, events, ticks, tid) == NULL;
        const bool is_it =
            is_alone && (last == entry->event || event_sort_of(events[entry->event].op) == *sort);
        stack_ring_entry *const chosen =
            is_it ? entry : stack_ring_choose(ring, events, age, *sort);
        const bool is_open = chosen != NULL && events[chosen->event].stack == STACK_NONE;
        if (is_open || !op_is_spent(last_op))
            return chosen;
        *sort = SORT_SPENT;
        return NULL;
    }
    *sort = SORT_UNKNOWN;
    return NULL;
}

/*
 * Learns the thread of an event from a kernel part. The kernel walks its part soon after the event,
 * on the same processor. So the most recent event of that tick that the kernel raised and that has
 * no thread has the part's thread, unless the thread raised one itself. If the trace does not say
 * which processor logged, the part may be from another one, and nothing is learned.
 */
static inline void stack_learn_thread(memory_event *events, size_t count, const part_name *name)
{
    const i64 ticks = name->event_ticks;
    const u32 tid = name->tid;
    for (size_t i = 1; name->part != PART_USER && i <= STACK_RECENT_EVENTS && i <= count; i++) {
        memory_event *const event = &events[count - i];
        const bool is_of_kernel = event->op >= OP_COMMIT && event->op < OP_EXPAND;
        const bool may_be = event->cpu != CPU_UNKNOWN && is_of_kernel;
        if (event->ticks < ticks)
            return;
        if (event->ticks > ticks || !may_be || op_has_no_walk(event->op))
            continue;
        if (event->tid == ETL_NO_ID)
            event->tid = tid;
        if (event->tid == tid)
            return;
    }
}

/* The oldest recent event of a thread, tick and sort that lacks a stack; NULL: none. */
static inline memory_event *stack_recent_open(memory_event *events, size_t count, i64 ticks,
                                              u32 tid, event_sort sort)
{
    memory_event *oldest = NULL;
    for (size_t i = 1; i <= STACK_RECENT_EVENTS && i <= count; i++) {
        memory_event *const event = &events[count - i];
        if (event->ticks < ticks)
            break;
        if (event->ticks == ticks && event->tid == tid && op_wants_stack(event->op) &&
            event_sort_of(event->op) == sort && event->stack == STACK_NONE)
            oldest = event;
    }
    return oldest;
}

/*
 * The sort of a recent event that is not in the ring, because it needs no stack or belongs to
 * another task. Events are in time order. `known` is what later events suggest: SORT_UNKNOWN, or
 * SORT_UNSURE if one without a thread follows. A part that begins in the kernel may belong to such
 * an event, unless the thread's last event is a kernel event that needs a stack. A user part
 * belongs to the thread's last event: otherwise a kernel part would have come before it
 * (half_walks.h).
 */
static inline event_sort stack_recent_sort(memory_event *events, size_t count,
                                           const part_name *name, event_sort known)
{
    for (size_t i = 1; i <= STACK_RECENT_EVENTS && i <= count; i++) {
        const memory_event *const event = &events[count - i];
        if (event->ticks < name->event_ticks)
            break;
        if (event->ticks > name->event_ticks || op_has_no_walk(event->op))
            continue;
        if (event->tid == name->tid) {
            const event_sort sort = event_sort_of(event->op);
            const bool is_sure =
                known == SORT_UNKNOWN || name->part == PART_USER || sort == SORT_COMMIT;
            const bool is_spent =
                op_is_spent(event->op) &&
                stack_recent_open(events, count - i, name->event_ticks, name->tid, sort) == NULL;
            return !is_sure ? SORT_UNSURE : is_spent ? SORT_SPENT : sort;
        }
        known = event->tid == ETL_NO_ID ? SORT_UNSURE : known;
    }
    return known;
}

/* True if a user or whole part completes the stack of the event, because no part came before. */
static inline bool stack_ring_is_unresolved(const stack_ring_entry *entry,
                                            const memory_event *events)
{
    return entry != NULL && !entry->has_kernel_part && events[entry->event].stack == STACK_NONE;
}

/* True if the memory belongs to the process that made the call, and the part can be the first of
 * its stack. */
static inline bool stack_ring_is_of(const stack_ring_entry *entry, const memory_event *events,
                                    stack_part part, u32 pid)
{
    return events[entry->event].pid == pid && part_suits(part, events[entry->event].op);
}

/* Looks a stack up and writes its reference, soon, to row `index` of the target. count > 0. The
 * frames must stay in place until then. False if memory runs out. */
bool stack_queue_push(stack_queue *queue, const void *frames, u32 count, stack_target target,
                      size_t index);

/* Finishes all look-ups. False if memory runs out. */
bool stack_queue_flush(stack_queue *queue);

#endif
