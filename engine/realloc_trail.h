/*
 * realloc_trail.h - which records of a moving realloc were logged before its summary.
 *
 * A thread that moves a block logs Alloc(new), Free(old) and then ReAlloc, the summary
 * (etl-events.md A.4; observed 34 and 4 ticks apart). Pairing must know which of the
 * three it has: another thread may have been given the old address before the summary,
 * and only the time of the realloc's own alloc tells that block from the old one.
 *
 * The search goes back through the events of the summary's CPU. What the thread did there
 * just before must be the free and the alloc, so the thread's first other event ends it,
 * and so do TRAIL_EVENTS_MAX events. A thread that was moved to another CPU in between
 * leaves no trail there; pairing then goes by sizes.
 *
 *     CPU 0   ... Alloc(new) T | Alloc U | Free(old) T | Free U | ReAlloc T
 *                     2. found  <-  skipped  <-  1. found  <-  skipped  <-  start
 *
 * Tasks and slices cut a CPU's events anywhere, and results must not depend on that: a
 * search that comes to the start of its task is completed after the scan, in the tasks
 * before it and in the latest events of the slices before.
 */
#ifndef ETLHEAP_REALLOC_TRAIL_H
#define ETLHEAP_REALLOC_TRAIL_H

#include "stages.h"

#define TRAIL_EVENTS_MAX 256u

/* The latest events of one CPU, oldest first. */
typedef struct trail_tail {
    u64 stream;
    u32 count;
    memory_event events[TRAIL_EVENTS_MAX];
} trail_tail;

/* What is kept from slice to slice. Start from {0}. */
typedef struct trail_tails {
    ETLHEAP_VECTOR(trail_tail) at;
} trail_tails;

/*
 * Searches for the alloc and the free of a moving realloc among the task's events, of
 * which the last two are the rows OP_REALLOC_NEW and OP_REALLOC_OLD. Settles their ops
 * and OLD's since_alloc, or notes in out->trails that the search must go on. False
 * without memory.
 */
bool realloc_trail_begin(scan_output *out);

/* After the scan of a slice: completes the searches, and keeps what the next slice asks
 * for. Tasks of one stream follow each other, in order. False without memory. */
bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count);

void realloc_trail_free(trail_tails *tails);

#endif
