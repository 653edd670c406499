/*
 * event_list_chunks.c - completes the chunks of the event list, in order.
 *
 * In: chunks that the shards have filled, and their late entries. Out: chunks with late entries
 * merged in, left in memory, spilled to a file (event_list_file.c), or handed to `take`.
 *
 *     chunks     | closed | closed | open: something late may still come | open |
 *                                  ▲ end_ticks: nothing earlier can be noted any more
 *
 * Nearly always there is nothing to merge, and a chunk stays as the shards wrote it. When chunks
 * are closed, the event list notes which words are the first of a window, and at the end it
 * collects survivors. Invariant: chunks are closed in order of time, and a late entry goes to the
 * first chunk that ends after its time, behind all events of its tick. So words of a closed event
 * list ascend in time, and no block ends before it begins, even if several slices have the same
 * tick. No late entry is older than what is closed. So the last slice closes no more than any
 * other: shards note ends after it, and event_list_close completes the rest.
 */
#include <stdlib.h>

#include "engine/core/timebase.h"
#include "event_list.h"
#include "event_list_clock.h"
#include "event_list_file.h"
#include "event_list_origins.h"

static bool gather_late(event_list *list);
static etl_status close_chunks(event_list *list, i64 end_ticks);
static bool merge_late(event_list *list, event_chunk *chunk, const late_entry *late,
                       size_t late_count);
static bool close_chunk(event_list *list, event_chunk *chunk);
static bool fill_survivors(event_list *list);

etl_status event_list_end_slice(event_list *list, i64 end_ticks)
{
    if (!gather_late(list))
        return ETL_ERR_MEMORY;
    return close_chunks(list, etl_sat_add_i64(end_ticks, -list->patience_ticks));
}

etl_status event_list_close(event_list *list)
{
    etl_status status = event_list_begin_slice(list, 0);
    if (status == ETL_OK)
        status = gather_late(list) ? close_chunks(list, INT64_MAX) : ETL_ERR_MEMORY;
    if (status == ETL_OK && !fill_survivors(list))
        status = ETL_ERR_MEMORY;
    return status;
}

/* Sorts late entries by time. Entries of one tick count together, but stores list them, so their
 * order must not depend on the tables of blocks. */
static int by_ticks(const void *a, const void *b)
{
    const late_entry *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Fills in who freed the block. The event is from the latest slices, so its chunk is open. */
static void name_freer(const event_list *list, late_entry *late)
{
    late->freer = 0;
    late->freer_thread = UINT32_MAX;
    if (list->has_freers && late->freed_by != 0)
        event_list_find_freer(list, late->freed_by - 1, &late->freer, &late->freer_thread);
}

static bool gather_late(event_list *list)
{
    const size_t before = list->late.count;
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        shard_events *const shard = &list->shards[s];
        for (size_t i = 0; i < shard->late.count; i++) {
            name_freer(list, &shard->late.at[i]);
            if (!ETLHEAP_PUSH(&list->late, shard->late.at[i]))
                return false;
        }
        shard->late.count = 0;
    }
    if (list->late.count > before)
        qsort(list->late.at, list->late.count, sizeof *list->late.at, by_ticks);
    return true;
}

/* The time of the last word, once the chunk is closed. */
static i64 last_of(const event_list *list, const event_chunk *chunk, const late_entry *late,
                   size_t late_count)
{
    const i64 last = chunk->count == 0 ? list->closed_ticks : chunk->ticks[chunk->count - 1];
    return late_count > 0 && late[late_count - 1].ticks > last ? late[late_count - 1].ticks : last;
}

static etl_status complete(event_list *list, event_chunk *chunk, const late_entry *late,
                           size_t late_count)
{
    const i64 last_ticks = last_of(list, chunk, late, late_count);
    etl_status status = ETL_OK;
    assert(late_count == 0 || late[0].ticks >= list->closed_ticks);
    if (list->take != NULL) {
        status = list->take(list->take_user, chunk, late, late_count);
        list->resident_bytes -= (u64)chunk->count * sizeof *chunk->entries;
        event_chunk_free(chunk);
        chunk->count = 0;
    } else if (late_count > 0 && !merge_late(list, chunk, late, late_count)) {
        return ETL_ERR_MEMORY;
    }
    if (!close_chunk(list, chunk))
        return ETL_ERR_MEMORY;
    list->closed_ticks = last_ticks;
    return status == ETL_OK ? event_list_spill(list, chunk) : status;
}

/* Closes the chunks that end before `end_ticks`; INT64_MAX closes all. A chunk takes late entries
 * from before its end, because the next chunk may have more events of its last tick. The last chunk
 * takes them all. */
static etl_status close_chunks(event_list *list, i64 end_ticks)
{
    const bool is_end = end_ticks == INT64_MAX;
    size_t first = 0; /* late entry that no chunk has taken */
    etl_status status = ETL_OK;
    while (list->closed < list->chunks.count && status == ETL_OK) {
        event_chunk *const chunk = &list->chunks.at[list->closed];
        const i64 last = chunk->count == 0 ? INT64_MIN : chunk->ticks[chunk->count - 1];
        const bool is_last = is_end && list->closed + 1 == list->chunks.count;
        if (!is_end && last >= end_ticks)
            break;
        size_t end = first;
        while (end < list->late.count && (is_last || list->late.at[end].ticks < last))
            end++;
        const late_entry *const late = end == first ? NULL : &list->late.at[first];
        status = complete(list, chunk, late, end - first);
        first = end;
        list->closed++;
    }
    if (first > 0)
        memmove(list->late.at, list->late.at + first,
                (list->late.count - first) * sizeof *list->late.at);
    list->late.count -= first;
    return status;
}

static u32 words_of(event_entry entry)
{
    return entry_kind_of(entry) >= ENTRY_BIG_ALLOC ? ENTRY_BIG_WORDS : 1;
}

/* Appends one entry. Each of its words gets the entry's time, so that all count in one window. */
static void put(event_chunk *chunk, i64 ticks, event_entry entry, const late_entry *late)
{
    const bool moves_on = chunk->count == 0 || chunk->ticks[chunk->count - 1] != ticks;
    entry = (entry & ~ENTRY_NEW_TICK) | (moves_on ? ENTRY_NEW_TICK : 0);
    const event_entry words[ENTRY_BIG_WORDS] = { entry, late == NULL ? 0 : late->size,
                                                 late == NULL ? 0 : late->rank };
    for (u32 i = 0; i < words_of(entry); i++) {
        chunk->entries[chunk->count] = words[i];
        chunk->ticks[chunk->count++] = ticks;
    }
}

static bool merge_late(event_list *list, event_chunk *chunk, const late_entry *late,
                       size_t late_count)
{
    const size_t capacity = chunk->count + late_count * ENTRY_BIG_WORDS;
    event_chunk merged = *chunk;
    merged.entries = capacity < UINT32_MAX ? malloc(capacity * sizeof *merged.entries) : NULL;
    merged.ticks = merged.entries == NULL ? NULL : malloc(capacity * sizeof *merged.ticks);
    merged.count = 0;
    if (merged.ticks == NULL) {
        free(merged.entries);
        return false;
    }
    size_t next = 0;
    for (u32 i = 0; i < chunk->count; i++) {
        for (; next < late_count && late[next].ticks < chunk->ticks[i]; next++)
            put(&merged, late[next].ticks, late[next].entry, &late[next]);
        put(&merged, chunk->ticks[i], chunk->entries[i], NULL);
    }
    for (; next < late_count; next++)
        put(&merged, late[next].ticks, late[next].entry, &late[next]);
    list->resident_bytes += (merged.count - (u64)chunk->count) * sizeof *merged.entries;
    free(chunk->entries);
    free(chunk->ticks);
    *chunk = merged;
    return true;
}

/* The first word of the chunk at or after a moment, from `low` on. */
static u32 find_word(const event_chunk *chunk, u32 low, i64 ticks)
{
    return ticks_at_or_after(chunk->ticks, low, chunk->count, ticks);
}

/* Notes the words of the chunk that are the first of their window. */
static bool note_crossings(event_list *list, const event_chunk *chunk)
{
    u32 at = 0;
    while (list->cuts.session != NULL && at < chunk->count) {
        const cuts_piece piece = window_cuts_piece(&list->cuts, chunk->ticks[at]);
        const window_crossing row = { chunk->first_index + at, chunk->ticks[at] };
        if (!ETLHEAP_PUSH(&list->crossings, row))
            return false;
        at = find_word(chunk, at + 1, piece.to_ticks);
    }
    return true;
}

static bool close_chunk(event_list *list, event_chunk *chunk)
{
    list->from_index += find_word(chunk, 0, list->from_ticks);
    chunk->first_index = list->next_index;
    const bool ok =
        note_crossings(list, chunk) && (!list->keeps_clock || event_list_clock_wind(list, chunk));
    list->next_index += chunk->count;
    /* If the time of a stream goes back, a slice may begin at the last tick of the one before. */
    chunk->starts_tick = chunk->count > 0 && list->closed_ticks != chunk->ticks[0];
    if (chunk->count > 0 && !chunk->starts_tick)
        chunk->entries[0] &= ~ENTRY_NEW_TICK;
    free(chunk->ticks);
    chunk->ticks = NULL;
    return ok;
}

static bool fill_survivors(event_list *list)
{
    list->survivor_bits = calloc(list->next_rank / 8 + 1, 1);
    if (list->survivor_bits == NULL)
        return false;
    u8 *const bits = list->survivor_bits;
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        shard_events *const shard = &list->shards[s];
        for (size_t i = 0; i < shard->survivors.count; i++) {
            const u32 rank = shard->survivors.at[i];
            bits[rank >> 3] |= (u8)(1u << (rank & 7));
        }
        for (size_t i = 0; i < shard->reallocs.count; i++) {
            const realloc_entry *const shown = &shard->reallocs.at[i];
            if (event_list_survives(list, shown->block))
                bits[shown->rank >> 3] |= (u8)(1u << (shown->rank & 7));
        }
        ETLHEAP_VECTOR_FREE(&shard->survivors);
        ETLHEAP_VECTOR_FREE(&shard->reallocs);
    }
    return true;
}
