/*
 * join_recent.h - the last events of each stream, for stacks at the start of a task.
 *
 * To classify a stack piece, the scan needs the thread's last event before it, but it sees only one
 * task, and a task may end between an event and its stack. Where tasks end depends on the size of
 * slices, and results must not. So this file keeps the last events of each stream and classifies
 * the first pieces of the stream's next task.
 */
#ifndef ETLHEAP_JOIN_RECENT_H
#define ETLHEAP_JOIN_RECENT_H

#include "half_walks.h"

/* The last events of a stream, oldest first, and its walks that wait for a user part. */
typedef struct recent_list {
    u64 stream;
    half_walks walks;
    u32 count;
    memory_event at[STACK_RECENT_EVENTS];
} recent_list;

typedef struct recent_events {
    ETLHEAP_VECTOR(recent_list) lists; /* by stream */
} recent_events;

/* Sets the sorts that the scan could not determine, and keeps the task's last events. Call it for
 * tasks in the order of their streams' records. False if memory runs out. */
bool recent_pass(recent_events *recent, scan_output *task);
void recent_free(recent_events *recent);

#endif
