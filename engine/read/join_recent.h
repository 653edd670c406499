/*
 * join_recent.h - what was logged last before a task, for stacks that begin it.
 *
 * Scanning knows of a stack piece what its thread did last on the tick of its event, if
 * that is in the task. Where a task ends between an event and its stack depends on the
 * size of slices, and answers must not: so the latest events of each stream are kept, and
 * the first pieces of the stream's next task are told by them.
 */
#ifndef ETLHEAP_JOIN_RECENT_H
#define ETLHEAP_JOIN_RECENT_H

#include "scan_stacks.h"

/* The latest events of a stream, oldest first. */
typedef struct recent_list {
    u64 stream;
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
