/* heap_times.h - the times at which heaps of processes were created or destroyed, by heap. */
#ifndef ETLHEAP_HEAP_TIMES_H
#define ETLHEAP_HEAP_TIMES_H

#include "engine/core/arena.h"

typedef struct heap_time {
    u32 process;
    u64 handle;
    i64 ticks;      /* if destroyed: blocks that were allocated until then ... */
    i64 from_ticks; /* ... end here, at least at trace_context.from_ticks */
} heap_time;

/* By (process, handle, ticks), once sorted. */
typedef ETLHEAP_VECTOR(heap_time) heap_times;

/* Sorts the times, if there are more than before. */
void heap_times_sort(heap_times *times, size_t count_before);

/* The first time of the heap at or after `ticks`; NULL if there is none. */
const heap_time *heap_times_from(const heap_times *times, u32 process, u64 handle, i64 ticks);

/* The last time of the heap before `ticks`; NULL if there is none. */
const heap_time *heap_times_before(const heap_times *times, u32 process, u64 handle, i64 ticks);

#endif
