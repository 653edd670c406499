/*
 * journal_origins.c - changes the origins of words in open chunks, if a block's stack came late.
 *
 * In: the rank of an event and its final origin. Out: changed words, at the rank's place or among
 * the late entries. Invariant: chunks stay open as long as blocks wait for stacks; a closed chunk
 * must not be changed.
 */
#include "journal_origins.h"

#include <stdlib.h>

static journal_entry with_origin(journal_entry entry, u32 origin)
{
    return (entry & ~((journal_entry)ORIGIN_NUMBER_MAX << 6)) | (journal_entry)origin << 6;
}

/* The open chunk that has the rank; NULL: it is closed. */
static const journal_chunk *open_chunk_of(const event_journal *journal, u32 rank)
{
    size_t low = journal->closed, high = journal->chunks.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const journal_chunk *const chunk = &journal->chunks.at[middle];
        if (rank < chunk->first_rank)
            high = middle;
        else if (rank - chunk->first_rank >= chunk->count)
            low = middle + 1;
        else
            return chunk;
    }
    return NULL;
}

bool journal_set_origin(const event_journal *journal, journal_origin wanted)
{
    const journal_chunk *const chunk = open_chunk_of(journal, wanted.rank);
    assert(chunk != NULL);
    journal_entry *const entry = &chunk->entries[wanted.rank - chunk->first_rank];
    if (journal_kind_of(*entry) == JOURNAL_NONE)
        return false;
    *entry = with_origin(*entry, wanted.origin);
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const journal_origin *const x = a, *const y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void journal_set_late_origins(const event_journal *journal, journal_origin *wanted, size_t count)
{
    if (count == 0)
        return;
    qsort(wanted, count, sizeof *wanted, by_rank);
    for (size_t i = 0; i < journal->late.count; i++) {
        journal_late *const late = &journal->late.at[i];
        const journal_origin key = { .rank = late->rank };
        const journal_origin *const found = bsearch(&key, wanted, count, sizeof key, by_rank);
        if (found != NULL)
            late->entry = with_origin(late->entry, found->origin);
    }
}

void journal_set_thread(const event_journal *journal, u32 rank, u32 tid)
{
    const journal_chunk *const chunk = open_chunk_of(journal, rank);
    assert(chunk != NULL);
    if (chunk->wide.threads != NULL)
        chunk->wide.threads[rank - chunk->first_rank] = tid;
}

void journal_find_freer(const event_journal *journal, u32 rank, u32 *freer, u32 *thread)
{
    const journal_chunk *const chunk = open_chunk_of(journal, rank);
    if (chunk == NULL)
        return;
    *freer = chunk->wide.freers[rank - chunk->first_rank];
    *thread = chunk->wide.threads[rank - chunk->first_rank];
}

/* Few stacks come in a later slice than their free, and few frees are noted late. */
void journal_set_freer(const event_journal *journal, u32 rank, u32 freer)
{
    const journal_chunk *const chunk = open_chunk_of(journal, rank);
    if (chunk != NULL)
        chunk->wide.freers[rank - chunk->first_rank] = freer;
    for (size_t i = 0; i < journal->late.count; i++) {
        if (journal->late.at[i].freed_by == rank + 1)
            journal->late.at[i].freer = freer;
    }
}
