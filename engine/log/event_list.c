/*
 * event_list.c - notes allocations, frees and reallocs of heap blocks in the event list, 8 bytes
 * each. Chunks are completed in event_list_chunks.c and kept on disk in event_list_file.c.
 *
 * In: calls of the shards as they pair events. Out: the entry of an event, which pair.c puts into
 * the event's own place in the chunk; late rows, survivors and reallocs of each shard; or, for
 * reports without peaks, only sums in a tally.
 *
 *     entry    | size 31 | origin 27 | flags 3 | kind 3 |
 *     chunk    event n of a slice has place n, so shards fill it in any order, without locks
 *
 * What is noticed only after it happened (a heap destroyed, a displaced block), or is too big for
 * 31 bits, goes to `late` and is merged in by time. Invariants: a shard writes only to its own
 * shard_events. INSIDE means that the block was allocated in the window that the event itself lies
 * in, which for a late row need not be the current one.
 */
#include "event_list.h"

#include <stdlib.h>

#include "parser/system/files.h"

/* Late rows lie at most two patiences of pairing (pair.c) in the past; this leaves a margin. */
#define PATIENCE_NS        ((i64)250 * 1000 * 1000)
#define RESIDENT_BYTES_MAX ((u64)128 << 20)

void event_list_open(event_list *list, const timebase *base, i64 from_ticks, i64 to_ticks,
                     bool exit_frees)
{
    *list = (event_list){ .is_kept = true,
                          .from_ticks = from_ticks,
                          .to_ticks = to_ticks,
                          .exit_frees = exit_frees,
                          .closed_ticks = INT64_MIN,
                          .patience_ticks = timebase_span(base, PATIENCE_NS),
                          .resident_bytes_max = RESIDENT_BYTES_MAX,
                          .file = -1 };
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        list->shards[i] = (shard_events){ .from_ticks = from_ticks,
                                          .to_ticks = to_ticks,
                                          .exit_frees = exit_frees,
                                          .keeps_events = true };
}

/* Cuts the event list into windows; none is the current one yet. */
void event_list_cut(event_list *list, window_cuts *cuts)
{
    list->cuts = *cuts;
    *cuts = (window_cuts){ .session = NULL };
    for (u32 i = 0; i < HEAP_SHARDS; i++) {
        list->shards[i].cuts = &list->cuts;
        list->shards[i].from_ticks = list->shards[i].to_ticks = INT64_MIN;
    }
}

void event_list_reduce(event_list *list)
{
    list->is_kept = false;
    list->is_tallied = true;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        list->shards[i].keeps_events = false;
}

static void free_shard(shard_events *shard)
{
    ETLHEAP_VECTOR_FREE(&shard->late);
    ETLHEAP_VECTOR_FREE(&shard->reallocs);
    ETLHEAP_VECTOR_FREE(&shard->survivors);
    ETLHEAP_VECTOR_FREE(&shard->unsure);
}

u64 event_list_bytes(const event_list *list)
{
    u64 bytes = list->resident_bytes + list->clock_bytes;
    bytes += list->late.capacity * sizeof *list->late.at;
    bytes += list->crossings.capacity * sizeof *list->crossings.at;
    for (u32 i = 0; list->is_kept && i < HEAP_SHARDS; i++)
        bytes += list->shards[i].survivors.capacity * sizeof *list->shards[i].survivors.at;
    return bytes;
}

void event_list_free(event_list *list)
{
    if (!list->is_kept && !list->is_tallied)
        return;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        free_shard(&list->shards[i]);
    for (size_t i = 0; i < list->chunks.count; i++)
        event_chunk_free(&list->chunks.at[i]);
    ETLHEAP_VECTOR_FREE(&list->chunks);
    ETLHEAP_VECTOR_FREE(&list->late);
    ETLHEAP_VECTOR_FREE(&list->crossings);
    window_cuts_free(&list->cuts);
    free(list->survivor_bits);
    free(list->spill_folder);
    free(list->sums);
    list->sums = NULL;
    list->survivor_bits = NULL;
    list->spill_folder = NULL;
    if (list->file >= 0)
        (void)etl_file_close(list->file);
    list->is_kept = list->is_tallied = false;
}

void event_chunk_free(event_chunk *chunk)
{
    free(chunk->entries);
    free(chunk->ticks);
    free(chunk->clock);
    free(chunk->wide.addresses);
    free(chunk->wide.sizes);
    free(chunk->wide.threads);
    free(chunk->wide.partners);
    free(chunk->wide.freers);
    chunk->entries = NULL;
    chunk->ticks = NULL;
    chunk->clock = NULL;
    chunk->wide = (chunk_columns){ .addresses = NULL };
}

static bool open_chunk(const event_list *list, event_chunk *chunk, size_t places)
{
    chunk->entries = malloc(places * sizeof *chunk->entries);
    chunk->ticks = malloc(places * sizeof *chunk->ticks);
    bool ok = chunk->entries != NULL && chunk->ticks != NULL;
    if (list->take != NULL) {
        chunk_columns *const wide = &chunk->wide;
        wide->sizes = malloc(places * sizeof *wide->sizes);
        wide->partners = malloc(places * sizeof *wide->partners);
        if (!list->lacks_addresses)
            wide->addresses = malloc(places * sizeof *wide->addresses);
        if (!list->lacks_threads)
            wide->threads = malloc(places * sizeof *wide->threads);
        ok = ok && wide->sizes != NULL && wide->partners != NULL &&
             (list->lacks_addresses || wide->addresses != NULL) &&
             (list->lacks_threads || wide->threads != NULL);
    }
    if (list->has_freers) {
        chunk->wide.freers = malloc(places * sizeof *chunk->wide.freers);
        ok = ok && chunk->wide.freers != NULL;
    }
    return ok;
}

etl_status event_list_begin_slice(event_list *list, u32 count)
{
    if (count >= ENTRY_NO_RANK - list->next_rank)
        return ETL_ERR_LIMIT;
    event_chunk chunk = { .count = count, .first_rank = (u32)list->next_rank };
    if (!open_chunk(list, &chunk, count + (size_t)1) || !ETLHEAP_PUSH(&list->chunks, chunk)) {
        event_chunk_free(&chunk);
        return ETL_ERR_MEMORY;
    }
    for (u32 i = 0; i < HEAP_SHARDS; i++) {
        list->shards[i].is_wide = list->take != NULL;
        list->shards[i].first_rank = chunk.first_rank;
    }
    list->next_rank += count;
    list->resident_bytes += (u64)count * sizeof *chunk.entries;
    return ETL_OK;
}

/* The kind of an entry whose size does not fit, from that of one whose size does. */
static entry_kind big_kind(entry_kind kind)
{
    switch (kind) {
    case ENTRY_ALLOC:
        return ENTRY_BIG_ALLOC;
    case ENTRY_REALLOC:
        return ENTRY_BIG_REALLOC;
    default:
        return ENTRY_BIG_FREE;
    }
}

/* Is a time after the current window inside a later one? If so, events make that window the current
 * one, because they come in order of time; late rows do not. */
static bool is_in_later_window(shard_events *events, i64 ticks, bool is_late)
{
    if (events->cuts == NULL || ticks >= events->cuts->to_ticks)
        return false;
    if (!is_late) {
        const cuts_piece piece = window_cuts_piece(events->cuts, ticks);
        events->from_ticks = piece.from_ticks;
        events->to_ticks = piece.to_ticks;
    }
    return true;
}

static bool note(shard_events *events, const entry_block *block, entry_kind kind, entry_place at)
{
    const bool is_big = block->size >= ENTRY_SIZE_BIG && !events->is_wide;
    const bool is_late = entry_place_is_late(at);
    const u64 size = etl_min_u64(block->size, ENTRY_SIZE_BIG);
    event_entry entry = (event_entry)block->origin << 6 | size << (64 - ENTRY_SIZE_BITS);
    entry |= block->alloc_ticks >= events->from_ticks ? ENTRY_INSIDE : 0;
    entry |= block->is_realloc ? ENTRY_IS_REALLOC : 0;
    if (!is_big && !is_late) {
        events->entry = entry | (event_entry)kind;
        events->partner = block->rank;
        return true;
    }
    if (is_late && events->cuts != NULL) {
        const cuts_piece piece = window_cuts_piece(events->cuts, at.ticks);
        entry &= ~ENTRY_INSIDE;
        entry |= block->alloc_ticks >= piece.from_ticks ? ENTRY_INSIDE : 0;
    }
    entry |= (event_entry)(is_big ? big_kind(kind) : ENTRY_LATE_FREE);
    assert(is_big || kind == ENTRY_FREE);
    const u32 rank = is_late ? block->rank : events->first_rank + at.rank;
    const late_entry row = { .ticks = at.ticks,
                             .entry = entry,
                             .size = block->size,
                             .rank = rank,
                             .how = at.how,
                             .freed_by = is_late && at.rank != ENTRY_NO_RANK ? at.rank + 1 : 0 };
    return ETLHEAP_PUSH(&events->late, row);
}

/* The bin of the tally for a block; false if it does not count. A report counts by type in its
 * window. A store does not know the windows of later questions, so it counts by how blocks end. */
static inline bool find_bin(const shard_events *events, const entry_block *block, entry_place at,
                            u32 *bin)
{
    const i64 from_ticks = events->from_ticks, to_ticks = events->to_ticks;
    if (!events->keeps_events) {
        *bin = type_in_window(block->alloc_ticks, at.ticks, from_ticks, to_ticks);
        return type_touches(block->alloc_ticks, at.ticks, from_ticks, to_ticks);
    }
    const bool exited = at.how == ETLHEAP_FREE_PROCESS_EXIT;
    *bin = exited ? TALLY_EXITED : at.ticks == ETLHEAP_TICKS_NEVER ? TALLY_IN_USE : TALLY_FREED;
    return true;
}

bool shard_events_counts(const shard_events *events, const entry_block *block, entry_place at,
                         u32 *bin)
{
    return events->tally != NULL && find_bin(events, block, at, bin);
}

/* Inline, because every block comes here. */
__attribute__((always_inline)) static inline bool count_end(shard_events *events,
                                                            const entry_block *block,
                                                            entry_place at)
{
    u32 bin;
    if (!find_bin(events, block, at, &bin))
        return true;
    const tally_block counted = { { block->size, 1, block->is_realloc }, block->origin, bin };
    return tally_add(events->tally, &counted);
}

bool shard_events_note_alloc(shard_events *events, const entry_block *block, u32 rank)
{
    if (!events->keeps_events)
        return true;
    assert(block->rank == events->first_rank + rank);
    if (block->alloc_ticks >= events->to_ticks &&
        !is_in_later_window(events, block->alloc_ticks, false))
        return true;
    return note(events, block, ENTRY_ALLOC,
                (entry_place){ block->alloc_ticks, rank, ETLHEAP_FREE_NONE, false });
}

bool shard_events_note_uncounted_end(shard_events *events, const entry_block *block, entry_place at)
{
    const bool is_late = entry_place_is_late(at);
    if (!events->keeps_events)
        return true;
    if (block->alloc_ticks >= events->to_ticks &&
        !is_in_later_window(events, block->alloc_ticks, true))
        return true;
    if (at.ticks >= events->to_ticks && !is_in_later_window(events, at.ticks, is_late))
        return ETLHEAP_PUSH(&events->survivors, block->rank);
    return note(events, block, ENTRY_FREE, at);
}

bool shard_events_note_end(shard_events *events, const entry_block *block, entry_place at)
{
    if (!events->keeps_events)
        return count_end(events, block, at);
    if (events->tally != NULL && !count_end(events, block, at))
        return false;
    return shard_events_note_uncounted_end(events, block, at);
}

bool shard_events_note_realloc(shard_events *events, const entry_block *block, entry_place at)
{
    if (!events->keeps_events)
        return true; /* its end will say so */
    if (block->alloc_ticks >= events->to_ticks && !is_in_later_window(events, at.ticks, false))
        return true;
    const realloc_entry shown = { events->first_rank + at.rank, block->rank };
    return ETLHEAP_PUSH(&events->reallocs, shown) && note(events, block, ENTRY_REALLOC, at);
}
