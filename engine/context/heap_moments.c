/* heap_moments.c - see heap_moments.h. */
#include "heap_moments.h"

#include <stdlib.h>

static int by_heap(const void *a, const void *b)
{
    const heap_moment *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

void heap_moments_sort(heap_moments *moments, size_t count_before)
{
    if (moments->count != count_before)
        qsort(moments->at, moments->count, sizeof *moments->at, by_heap);
}

/* The place of the first moment that is not before the wanted one. */
static size_t find(const heap_moments *moments, const heap_moment *wanted)
{
    size_t low;
    ETL_BISECT(low, 0, moments->count, by_heap(&moments->at[low], wanted) < 0);
    return low;
}

/* The moment at a place, if it exists and is one of the wanted heap. */
static const heap_moment *same_heap(const heap_moments *moments, size_t place,
                                    const heap_moment *wanted)
{
    if (place >= moments->count)
        return NULL;
    const heap_moment *const found = &moments->at[place];
    return found->process == wanted->process && found->handle == wanted->handle ? found : NULL;
}

const heap_moment *heap_moments_from(const heap_moments *moments, u32 process, u64 handle,
                                     i64 ticks)
{
    const heap_moment wanted = { process, handle, ticks, 0 };
    return same_heap(moments, find(moments, &wanted), &wanted);
}

const heap_moment *heap_moments_before(const heap_moments *moments, u32 process, u64 handle,
                                       i64 ticks)
{
    const heap_moment wanted = { process, handle, ticks, 0 };
    return same_heap(moments, find(moments, &wanted) - 1, &wanted);
}
