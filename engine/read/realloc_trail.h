/*
 * realloc_trail.h - finds the records that a moving realloc logs before its summary.
 *
 * A thread that moves a block logs Alloc(new), Free(old) and then ReAlloc, the summary
 * (docs/format/events.md, 2; observed 34 and 4 ticks apart). Pairing must know which of the three
 * exist. Another thread may have been given the old address before the summary, and only the time
 * of the realloc's own alloc tells that block from the old one.
 *
 * What others measured proves the order, the thread and the sizes of the three, and not that they
 * are the thread's only events meanwhile. So the search goes back from the summary, past up to
 * TRAIL_SKIPPED_MAX events of the thread about other blocks, until it meets the free and then the
 * alloc. It ends without them at an event that cannot be between them: one of the thread at the new
 * address, or an older one at the old address. If the free was lost, the alloc must be the thread's
 * last event. The search covers the TRAIL_EVENTS_MAX events before the summary: first on its own
 * CPU, where the trail nearly always is, then on all, because the thread may have moved to another
 * CPU.
 *
 *     CPU 0   ... Alloc(new) T | Alloc U | Free(old) T | Alloc(other) T | ReAlloc T
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

/* More than a heap function does on behalf of one call. */
#define TRAIL_SKIPPED_MAX  8u
#define TRAIL_GATHERED_MAX (2 * TRAIL_SKIPPED_MAX)

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
    bool wants_frees; /* note which free each realloc logged; set it before the first slice */
} trail_tails;

/*
 * Searches for the alloc and the free of a moving realloc in the task's events, which end with the
 * rows OP_REALLOC_NEW and OP_REALLOC_OLD. Sets the op of the second row, or adds it to out->trails
 * if the search must continue. With wants_frees, notes the free in out->realloc_frees. False if
 * memory runs out.
 */
bool realloc_trail_begin(scan_output *out, bool wants_frees);

/* Call it after the scan of a slice. Finishes the searches and keeps what the next slice needs.
 * Tasks of a stream must follow each other, in order. False if memory runs out. */
bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count);

void realloc_trail_free(trail_tails *tails);

#endif
