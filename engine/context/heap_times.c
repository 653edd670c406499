/* heap_times.c - see heap_times.h. */
#include "heap_times.h"

#include <stdlib.h>

static int by_heap(const void *a, const void *b)
{
    const heap_time *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

void heap_times_sort(heap_times *times, size_t count_before)
{
    if (times->count != count_before)
        qsort(times->at, times->count, sizeof *times->at, by_heap);
}

/* The place of the first time that is not before the wanted one. */
static size_t find(const heap_times *times, const heap_time *wanted)
{
    size_t low;
    ETL_BISECT(low, 0, times->count, by_heap(&times->at[low], wanted) < 0);
    return low;
}

/* The time at a place, if it exists and is one of the wanted heap. */
static const heap_time *same_heap(const heap_times *times, size_t place, const heap_time *wanted)
{
    if (place >= times->count)
        return NULL;
    const heap_time *const found = &times->at[place];
    return found->process == wanted->process && found->handle == wanted->handle ? found : NULL;
}

const heap_time *heap_times_from(const heap_times *times, u32 process, u64 handle, i64 ticks)
{
    const heap_time wanted = { process, handle, ticks, 0 };
    return same_heap(times, find(times, &wanted), &wanted);
}

const heap_time *heap_times_before(const heap_times *times, u32 process, u64 handle, i64 ticks)
{
    const heap_time wanted = { process, handle, ticks, 0 };
    return same_heap(times, find(times, &wanted) - 1, &wanted);
}
