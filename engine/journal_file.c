/* journal_file.c - see journal_file.h. */
#include "journal_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nameless.h"

/* Chunks begin at multiples of it, so that they can be mapped. */
#define CHUNK_ALIGNMENT ((u64)1 << 16)

static bool write_all(int file, const void *bytes, size_t size, u64 offset)
{
    const u8 *at = bytes;
    while (size > 0) {
        const ssize_t written = pwrite(file, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
        offset += (u64)written;
    }
    return true;
}

etl_status journal_spill(event_journal *journal, journal_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->count * sizeof *chunk->entries;
    if (journal->resident_bytes <= journal->resident_bytes_max || journal->spill_folder == NULL ||
        chunk->count == 0)
        return ETL_OK;
    if (journal->file < 0)
        journal->file = nameless_file(journal->spill_folder);
    if (journal->file < 0 || !write_all(journal->file, chunk->entries, bytes, journal->file_bytes))
        return ETL_ERR_IO;
    chunk->file_offset = journal->file_bytes;
    journal->file_bytes += (bytes + CHUNK_ALIGNMENT - 1) & ~(CHUNK_ALIGNMENT - 1);
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
    void *const at = mmap(NULL, (size_t)chunk->count * sizeof(journal_entry), PROT_READ,
                          MAP_PRIVATE, journal->file, (off_t)chunk->file_offset);
    return at == MAP_FAILED ? NULL : at;
}

void journal_release(const event_journal *journal, size_t index, const journal_entry *entries)
{
    const journal_chunk *const chunk = &journal->chunks.at[index];
    if (chunk->entries == NULL && chunk->count > 0 && entries != NULL)
        munmap((void *)(uintptr_t)entries, (size_t)chunk->count * sizeof(journal_entry));
}
