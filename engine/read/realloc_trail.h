/*
 * realloc_trail.h - which records of a moving realloc were logged before its summary.
 *
 * A thread that moves a block logs Alloc(new), Free(old) and then ReAlloc, the summary
 * (docs/format/events.md, 2; observed 34 and 4 ticks apart). Pairing must know which of the
 * three it has: another thread may have been given the old address before the summary,
 * and only the time of the realloc's own alloc tells that block from the old one.
 *
 * The thread's last two events before the summary must be the free and the alloc, or the
 * last one the alloc, if the free was lost. They are searched among the TRAIL_EVENTS_MAX
 * events before it, first on its own CPU, where they nearly always are, then on all: a
 * thread may have been moved to another CPU in between.
 *
 *     CPU 0   ... Alloc(new) T | Alloc U | Free(old) T | Free U | ReAlloc T
 *                     2. found  <-  skipped  <-  1. found  <-  skipped  <-  start
 *
 * A system that logs the summary alone leaves no trail at all. Until the first trail of the
 * trace that one CPU has whole, reallocs without one are taken as such (OP_REALLOC_ALONE).
 * If neither of the thread's last two events is the free of the old address, and the last one
 * is not the alloc, such a realloc had no alloc of its own either, and its first row becomes
 * OP_REALLOC_UNSEEN. A block that is open at the new address is then an older one, even if the
 * thread allocated it itself. (An alloc just before is the realloc's, whose free is missing.)
 *
 * Tasks and slices cut a CPU's events anywhere, and results must not depend on that: what
 * a task does not find is completed after the scan, with the other tasks of the slice and
 * the latest events of the slices before.
 */
#ifndef ETLHEAP_REALLOC_TRAIL_H
#define ETLHEAP_REALLOC_TRAIL_H

#include "stages.h"

#define TRAIL_EVENTS_MAX 1024u

/* The latest events of one CPU, oldest first. */
typedef struct trail_tail {
    u64 stream;
    u32 first_task, end_task; /* its tasks in the slice in hand; 0, 0: none */
    u32 count;
    memory_event events[TRAIL_EVENTS_MAX];
} trail_tail;

/* What is kept from slice to slice. Start from {0}. */
typedef struct trail_tails {
    ETLHEAP_VECTOR(trail_tail) at;
    first_trail first;
} trail_tails;

/*
 * Searches for the alloc and the free of a moving realloc among the task's events, of
 * which the last two are the rows OP_REALLOC_NEW and OP_REALLOC_OLD. Settles the op of the
 * second, or notes in out->trails that the search must go on. False without memory.
 */
bool realloc_trail_begin(scan_output *out);

/* After the scan of a slice: completes the searches, and keeps what the next slice asks
 * for. Tasks of one stream follow each other, in order. False without memory. */
bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count);

void realloc_trail_free(trail_tails *tails);

#endif
