/*
 * join_recent.h - what was logged last before a task, for stacks that begin it.
 *
 * The scan looks for what a thread did last before its stack was logged, but only within
 * one task. A task may end between an event and its stack. Where tasks end depends on the
 * size of slices, and answers must not. So this file keeps the latest events of each
 * stream, and uses them to classify the first stack pieces of the stream's next task.
 */
#ifndef ETLHEAP_JOIN_RECENT_H
#define ETLHEAP_JOIN_RECENT_H

#include "half_walks.h"

/* The latest events of a stream, oldest first, and the walks that wait for a user part. */
typedef struct recent_list {
    u64 stream;
    half_walks walks;
    u32 count;
    memory_event at[STACK_RECENT_EVENTS];
} recent_list;

typedef struct recent_events {
    ETLHEAP_VECTOR(recent_list) lists; /* by stream */
} recent_events;

/* Tells the sorts of the task's pieces that scanning did not, and keeps its last events.
 * Tasks come in the order of their streams' records. False without memory. */
bool recent_pass(recent_events *recent, scan_output *task);
void recent_free(recent_events *recent);

#endif
