/*
 * index_begins.c - reads the beginnings of many buffers in parallel, at the places that equal sizes
 * predict. index_begins.h has the idea. Invariant: a guess is used only if indexing arrives at
 * exactly its offset.
 */
#include "index_begins.h"

#include <stdlib.h>

#define RUN_LEAST     64u /* equal buffers before anything is guessed */
#define TIMES_THE_RUN 4u
#define COUNT_MAX     4096u /* 4 MiB */
#define COUNT_OF_TASK 128u
#define COUNT_WORTHY  (2 * COUNT_OF_TASK) /* fewer are read sooner than a thread starts */

static u32 guessable(const etl_index_begins *begins, u64 next);
static bool is_in_memory(const etl_index_begins *begins, u64 first, u32 count);
static void read_some(void *context, u32 task);

void etl_index_begins_at(etl_index_begins *begins, u64 offset, u32 stored_size)
{
    if (begins->run_tasks == NULL || begins->descriptor < 0 || !begins->map->is_mapped)
        return;
    begins->run = stored_size == begins->stride ? begins->run + 1 : 1;
    begins->stride = stored_size;
    const u64 next = offset + stored_size;
    const u32 count = guessable(begins, next);
    if (count < COUNT_WORTHY || etl_index_begins_find(begins, next) != NULL)
        return;
    if (!is_in_memory(begins, next, count)) {
        begins->run = 0; /* looks again after another run */
        return;
    }
    if (begins->at == NULL)
        begins->at = malloc(COUNT_MAX * sizeof *begins->at);
    if (begins->at == NULL)
        return;
    begins->first = next;
    begins->at_stride = stored_size;
    begins->count = count;
    begins->run_tasks(begins->run_user, (count + COUNT_OF_TASK - 1) / COUNT_OF_TASK, read_some,
                      begins);
}

/* Buffers that may be expected from `next` on, as large as those of the run, all of them
 * within the file. */
static u32 guessable(const etl_index_begins *begins, u64 next)
{
    const u64 size = begins->map->bytes.size;
    if (begins->run < RUN_LEAST || next >= size)
        return 0;
    const u64 expected = etl_min_u64((u64)begins->run * TIMES_THE_RUN, COUNT_MAX);
    return (u32)etl_min_u64(expected, (size - next) / begins->stride);
}

/* By its first and its last one: what is read of a file is mostly read in order. */
static bool is_in_memory(const etl_index_begins *begins, u64 first, u32 count)
{
    const u64 last = first + (u64)(count - 1) * begins->stride;
    const u64 size = etl_min_u64(ETL_PEEK_BYTES, begins->stride);
    return !etl_map_fetch(begins->map, first, size) && !etl_map_fetch(begins->map, last, size);
}

static void read_some(void *context, u32 task)
{
    const etl_index_begins *const begins = context;
    const u32 from = task * COUNT_OF_TASK;
    const u32 to = (u32)etl_min_u64(from + COUNT_OF_TASK, begins->count);
    for (u32 i = from; i < to; i++)
        etl_peek_read(begins->descriptor, begins->map->bytes.size,
                      begins->first + (u64)i * begins->at_stride, &begins->at[i]);
}

const etl_peeked *etl_index_begins_find(const etl_index_begins *begins, u64 offset)
{
    if (begins->count == 0 || offset < begins->first)
        return NULL;
    const u64 index = (offset - begins->first) / begins->at_stride;
    if (index >= begins->count)
        return NULL;
    const etl_peeked *const found = &begins->at[index];
    return found->offset == offset && found->size > 0 ? found : NULL;
}

void etl_index_begins_free(etl_index_begins *begins)
{
    free(begins->at);
    begins->at = NULL;
    begins->count = 0;
}
