/*
 * event_list_file.c - keeps chunks of the event list in a temporary file if they do not fit in
 * memory.
 *
 * In: closed chunks, in order. Out: their words again, read by any thread. Invariant: only closed
 * chunks are written, since open ones may still change.
 */
#include "event_list_file.h"

#include <stdlib.h>

#include "engine/core/unlinked.h"

etl_status event_list_spill(event_list *list, event_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->count * sizeof *chunk->entries;
    if (list->resident_bytes <= list->resident_bytes_max || list->spill_folder == NULL ||
        chunk->count == 0)
        return ETL_OK;
    if (list->file < 0)
        list->file = unlinked_file(list->spill_folder);
    if (list->file < 0 || !unlinked_write(list->file, chunk->entries, bytes, list->file_bytes))
        return ETL_ERR_IO;
    chunk->file_offset = list->file_bytes;
    list->file_bytes += (bytes + UNLINKED_ALIGNMENT - 1) & ~(UNLINKED_ALIGNMENT - 1);
    list->resident_bytes -= bytes;
    free(chunk->entries);
    chunk->entries = NULL;
    return ETL_OK;
}

const event_entry *event_list_map(const event_list *list, size_t index)
{
    static const event_entry nothing[1];
    const event_chunk *const chunk = &list->chunks.at[index];
    if (chunk->entries != NULL)
        return chunk->entries;
    if (chunk->count == 0)
        return nothing;
    return unlinked_map(list->file, chunk->file_offset, (size_t)chunk->count * sizeof(event_entry));
}

void event_list_release(const event_list *list, size_t index, const event_entry *entries)
{
    const event_chunk *const chunk = &list->chunks.at[index];
    if (chunk->entries == NULL && chunk->count > 0 && entries != NULL)
        unlinked_unmap(entries, (size_t)chunk->count * sizeof(event_entry));
}
