/*
 * release.c - releases the pages of buffers that were read, run by run, as tasks of a slice.
 * Invariant: only buffers that no later slice reads again are released.
 */
#include "release.h"

#include <stdlib.h>

#define PIECE_BYTES ((u64)4 << 20)

static int by_place(const void *a, const void *b);
static void join_neighbours(release_list *list);

bool release_plan(release_list *list, etl_trace *const *traces, const plan_slice *slice)
{
    list->pieces.count = 0;
    for (size_t i = 0; i < slice->buffers.count; i++) {
        const plan_buffer *const buffer = &slice->buffers.at[i];
        if (buffer->resume != PLAN_DONE)
            continue;
        const u32 trace = plan_trace(buffer->stream);
        const etl_buffer_info *const info = etl_buffer_info_of(traces[trace], buffer->buffer);
        const release_piece piece = { info->offset, info->stored_size, trace };
        if (!ETLHEAP_PUSH(&list->pieces, piece))
            return false;
    }
    join_neighbours(list);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const release_piece *const x = a, *const y = b;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void join_neighbours(release_list *list)
{
    release_piece *const pieces = list->pieces.at;
    const size_t count = list->pieces.count;
    if (count == 0)
        return;
    qsort(pieces, count, sizeof *pieces, by_place);
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        release_piece *const before = &pieces[last];
        const bool follows = pieces[i].trace == before->trace &&
                             pieces[i].offset == before->offset + before->size_bytes &&
                             before->size_bytes < PIECE_BYTES;
        if (follows)
            before->size_bytes += pieces[i].size_bytes;
        else
            pieces[++last] = pieces[i];
    }
    list->pieces.count = last + 1;
}

void release_run(const release_list *list, etl_trace *const *traces, u32 index)
{
    const release_piece *const piece = &list->pieces.at[index];
    etl_trace_release(traces[piece->trace], piece->offset, piece->size_bytes);
}

void release_free(release_list *list)
{
    ETLHEAP_VECTOR_FREE(&list->pieces);
}
