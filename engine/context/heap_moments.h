/* heap_moments.h - the moments at which heaps of processes were created or destroyed, by heap. */
#ifndef ETLHEAP_HEAP_MOMENTS_H
#define ETLHEAP_HEAP_MOMENTS_H

#include "engine/core/arena.h"

typedef struct heap_moment {
    u32 process;
    u64 handle;
    i64 ticks;      /* if destroyed: blocks that were allocated until then ... */
    i64 from_ticks; /* ... end here, at least at trace_context.from_ticks */
} heap_moment;

/* By (process, handle, ticks), once sorted. */
typedef ETLHEAP_VECTOR(heap_moment) heap_moments;

/* Sorts the moments, if there are more than before. */
void heap_moments_sort(heap_moments *moments, size_t count_before);

/* The first moment of the heap at or after `ticks`; NULL if there is none. */
const heap_moment *heap_moments_from(const heap_moments *moments, u32 process, u64 handle,
                                     i64 ticks);

/* The last moment of the heap before `ticks`; NULL if there is none. */
const heap_moment *heap_moments_before(const heap_moments *moments, u32 process, u64 handle,
                                       i64 ticks);

#endif
