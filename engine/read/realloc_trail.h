/*
 * realloc_trail.h - finds the records that a moving realloc logs before its summary.
 *
 * A thread that moves a block logs Alloc(new), Free(old) and then ReAlloc, the summary
 * (docs/format/events.md, 2; observed 34 and 4 ticks apart). Pairing must know which of the three
 * exist. Another thread may have been given the old address before the summary, and only the time
 * of the realloc's own alloc tells that block from the old one.
 *
 * The last two events of the thread before the summary must be the free and the alloc, or the last
 * one the alloc if the free was lost. They are searched among the TRAIL_EVENTS_MAX events before
 * it: first on its own CPU, where they nearly always are, then on all, because the thread may have
 * moved to another CPU.
 *
 *     CPU 0   ... Alloc(new) T | Alloc U | Free(old) T | Free U | ReAlloc T
 *                     2. found  <-  skipped  <-  1. found  <-  skipped  <-  start
 *
 * A system that logs only the summary leaves no trail. Until the first trail in the trace that is
 * wholly on one CPU, reallocs without a trail are treated that way (OP_REALLOC_ALONE). If neither
 * of the thread's last two events is the free of the old address, and the last one is not the
 * alloc, the realloc had no alloc either, and its first row becomes OP_REALLOC_UNSEEN: an open
 * block at the new address is then an older one, even if the thread allocated it itself. (An alloc
 * just before belongs to the realloc, whose free is missing.)
 *
 * Tasks and slices can cut a CPU's events anywhere, and results must not depend on that. A search
 * that a task cannot finish is finished after the scan, with the other tasks of the slice and the
 * last events of earlier slices.
 */
#ifndef ETLHEAP_REALLOC_TRAIL_H
#define ETLHEAP_REALLOC_TRAIL_H

#include "stages.h"

#define TRAIL_EVENTS_MAX 1024u

/* The last events of one CPU, oldest first. */
typedef struct trail_tail {
    u64 stream;
    u32 first_task, end_task; /* its tasks in the current slice; 0, 0: none */
    u32 count;
    memory_event events[TRAIL_EVENTS_MAX];
} trail_tail;

/* Data kept between slices. Start from {0}. */
typedef struct trail_tails {
    ETLHEAP_VECTOR(trail_tail) at;
    first_trail first;
} trail_tails;

/*
 * Searches for the alloc and the free of a moving realloc in the task's events, which end with the
 * rows OP_REALLOC_NEW and OP_REALLOC_OLD. Sets the op of the second row, or adds it to out->trails
 * if the search must continue. False if memory runs out.
 */
bool realloc_trail_begin(scan_output *out);

/* Call it after the scan of a slice. Finishes the searches and keeps what the next slice needs.
 * Tasks of a stream must follow each other, in order. False if memory runs out. */
bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count);

void realloc_trail_free(trail_tails *tails);

#endif
