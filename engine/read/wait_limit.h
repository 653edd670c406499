/*
 * wait_limit.h - limits how long an allocation waits for its stack.
 *
 * The stack of an allocation follows within microseconds, unless the thread is preempted in
 * between. If no stacks come at all, each allocation would wait two seconds, and waiting
 * allocations take memory. So one that is followed by 2^20 memory events stops waiting.
 *
 * Results must not depend on how a trace is cut into slices. So events are counted in cells of
 * time, whose borders are the same for every cut. An event is over from the first border at which
 * there are more events than allowed between it and the start of its own cell:
 *
 *     cell            c        c + 1       c + 2
 *     events     |  ..e....  |  .......  |
 *                            ^           ^ count(c) + count(c + 1) > allowed: e is over here
 */
#ifndef ETLHEAP_WAIT_LIMIT_H
#define ETLHEAP_WAIT_LIMIT_H

#include "stages.h"

/* The latest user half observed came 0.40 s after its event. */
#define WAIT_PATIENCE_NS ((i64)2 * 1000 * 1000 * 1000)

/* Every allocation waits at least this long, however many events follow. */
#define WAIT_CELL_NS (WAIT_PATIENCE_NS / 64)

/* Events of one cell. */
typedef struct wait_cell {
    i64 index; /* time of the cell, divided by the length of a cell */
    u64 count;
    u64 before; /* events in earlier cells of the list */
} wait_cell;

typedef struct wait_limit {
    i64 cell_ticks;
    u64 events_max;
    ETLHEAP_VECTOR(wait_cell) cells; /* in order, without empty cells */
    u64 events;                      /* events in all cells */
} wait_limit;

void wait_limit_open(wait_limit *limit, const timebase *base);
void wait_limit_free(wait_limit *limit);

/* Counts the memory events of a slice. False if memory runs out. */
bool wait_limit_add(wait_limit *limit, const scan_output *tasks, u32 task_count);

/* Forgets events before `oldest_ticks`, which are no longer needed. */
void wait_limit_forget(wait_limit *limit, i64 oldest_ticks);

/* True if an event at from_ticks stops waiting by at_ticks. All events before that cell must have
 * been counted. */
bool wait_limit_is_over(const wait_limit *limit, i64 from_ticks, i64 at_ticks);

/* The earliest time from which no event is over at at_ticks. */
i64 wait_limit_horizon(const wait_limit *limit, i64 at_ticks);

#endif
