/*
 * journal_file.c - keeps chunks of the journal in a temporary file if they do not fit in memory.
 *
 * In: closed chunks, in order. Out: their words again, read by any thread. Invariant: only closed
 * chunks are written, since open ones may still change.
 */
#include "journal_file.h"

#include <stdlib.h>

#include "engine/core/unlinked.h"

etl_status journal_spill(event_journal *journal, journal_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->count * sizeof *chunk->entries;
    if (journal->resident_bytes <= journal->resident_bytes_max || journal->spill_folder == NULL ||
        chunk->count == 0)
        return ETL_OK;
    if (journal->file < 0)
        journal->file = unlinked_file(journal->spill_folder);
    if (journal->file < 0 ||
        !unlinked_write(journal->file, chunk->entries, bytes, journal->file_bytes))
        return ETL_ERR_IO;
    chunk->file_offset = journal->file_bytes;
    journal->file_bytes += (bytes + UNLINKED_ALIGNMENT - 1) & ~(UNLINKED_ALIGNMENT - 1);
    journal->resident_bytes -= bytes;
    free(chunk->entries);
    chunk->entries = NULL;
    return ETL_OK;
}

const journal_entry *journal_map(const event_journal *journal, size_t index)
{
    static const journal_entry nothing[1];
    const journal_chunk *const chunk = &journal->chunks.at[index];
    if (chunk->entries != NULL)
        return chunk->entries;
    if (chunk->count == 0)
        return nothing;
    return unlinked_map(journal->file, chunk->file_offset,
                        (size_t)chunk->count * sizeof(journal_entry));
}

void journal_release(const event_journal *journal, size_t index, const journal_entry *entries)
{
    const journal_chunk *const chunk = &journal->chunks.at[index];
    if (chunk->entries == NULL && chunk->count > 0 && entries != NULL)
        unlinked_unmap(entries, (size_t)chunk->count * sizeof(journal_entry));
}
