/*
 * event_list_origins.c - changes the origins of words in open chunks, if a block's stack came late.
 *
 * In: the rank of an event and its final origin. Out: changed words, at the rank's place or among
 * the late entries. Invariant: chunks stay open as long as blocks wait for stacks; a closed chunk
 * must not be changed.
 */
#include "event_list_origins.h"

#include <stdlib.h>

static event_entry with_origin(event_entry entry, u32 origin)
{
    return (entry & ~((event_entry)ORIGIN_NUMBER_MAX << 6)) | (event_entry)origin << 6;
}

/* The open chunk that has the rank; NULL: it is closed. */
static const event_chunk *open_chunk_of(const event_list *list, u32 rank)
{
    size_t low = list->closed, high = list->chunks.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const event_chunk *const chunk = &list->chunks.at[middle];
        if (rank < chunk->first_rank)
            high = middle;
        else if (rank - chunk->first_rank >= chunk->count)
            low = middle + 1;
        else
            return chunk;
    }
    return NULL;
}

bool event_list_set_origin(const event_list *list, ranked_origin wanted)
{
    const event_chunk *const chunk = open_chunk_of(list, wanted.rank);
    assert(chunk != NULL);
    event_entry *const entry = &chunk->entries[wanted.rank - chunk->first_rank];
    if (entry_kind_of(*entry) == ENTRY_NONE)
        return false;
    *entry = with_origin(*entry, wanted.origin);
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const ranked_origin *const x = a, *const y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void event_list_set_late_origins(const event_list *list, ranked_origin *wanted, size_t count)
{
    if (count == 0)
        return;
    qsort(wanted, count, sizeof *wanted, by_rank);
    for (size_t i = 0; i < list->late.count; i++) {
        late_entry *const late = &list->late.at[i];
        const ranked_origin key = { .rank = late->rank };
        const ranked_origin *const found = bsearch(&key, wanted, count, sizeof key, by_rank);
        if (found != NULL)
            late->entry = with_origin(late->entry, found->origin);
    }
}

void event_list_set_thread(const event_list *list, u32 rank, u32 tid)
{
    const event_chunk *const chunk = open_chunk_of(list, rank);
    assert(chunk != NULL);
    if (chunk->wide.threads != NULL)
        chunk->wide.threads[rank - chunk->first_rank] = tid;
}

void event_list_find_freer(const event_list *list, u32 rank, u32 *freer, u32 *thread)
{
    const event_chunk *const chunk = open_chunk_of(list, rank);
    if (chunk == NULL)
        return;
    *freer = chunk->wide.freers[rank - chunk->first_rank];
    *thread = chunk->wide.threads[rank - chunk->first_rank];
}

/* Few stacks come in a later slice than their free, and few frees are noted late. */
void event_list_set_freer(const event_list *list, u32 rank, u32 freer)
{
    const event_chunk *const chunk = open_chunk_of(list, rank);
    if (chunk != NULL)
        chunk->wide.freers[rank - chunk->first_rank] = freer;
    for (size_t i = 0; i < list->late.count; i++) {
        if (list->late.at[i].freed_by == rank + 1)
            list->late.at[i].freer = freer;
    }
}
