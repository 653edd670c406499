/*
 * journal.c - notes allocations, frees and reallocs of heap blocks in the journal, 8 bytes each.
 * Chunks are completed in journal_chunks.c and kept on disk in journal_file.c.
 *
 * In: calls of the shards as they pair events. Out: the entry of an event, which pair.c puts into
 * the event's own place in the chunk; late rows, survivors and marks of each shard; or, for reports
 * without peaks, only sums in a tally.
 *
 *     entry    | size 31 | origin 27 | flags 3 | kind 3 |
 *     chunk    event n of a slice has place n, so shards fill it in any order, without locks
 *
 * What is noticed only after it happened (a heap destroyed, a displaced block), or is too big for
 * 31 bits, goes to `late` and is merged in by time. Invariants: a shard writes only to its own
 * shard_journal. INSIDE means that the block was allocated in the window that the event itself lies
 * in, which for a late row need not be the current one.
 */
#include "journal.h"

#include <stdlib.h>

#include "parser/system/files.h"

/* Late rows lie at most two patiences of pairing (pair.c) in the past; this leaves a margin. */
#define PATIENCE_NS        ((i64)250 * 1000 * 1000)
#define RESIDENT_BYTES_MAX ((u64)128 << 20)

void journal_open(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                  bool exit_frees)
{
    *journal = (event_journal){ .is_kept = true,
                                .from_ticks = from_ticks,
                                .to_ticks = to_ticks,
                                .exit_frees = exit_frees,
                                .closed_ticks = INT64_MIN,
                                .patience_ticks = timebase_span(base, PATIENCE_NS),
                                .resident_bytes_max = RESIDENT_BYTES_MAX,
                                .file = -1 };
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        journal->shards[i] = (shard_journal){ .from_ticks = from_ticks,
                                              .to_ticks = to_ticks,
                                              .exit_frees = exit_frees,
                                              .keeps_events = true };
}

/* Cuts the journal into windows; none is the current one yet. */
void journal_cut(event_journal *journal, window_cuts *cuts)
{
    journal->cuts = *cuts;
    *cuts = (window_cuts){ .session = NULL };
    for (u32 i = 0; i < HEAP_SHARDS; i++) {
        journal->shards[i].cuts = &journal->cuts;
        journal->shards[i].from_ticks = journal->shards[i].to_ticks = INT64_MIN;
    }
}

void journal_reduce(event_journal *journal)
{
    journal->is_kept = false;
    journal->is_tallied = true;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        journal->shards[i].keeps_events = false;
}

static void free_shard(shard_journal *shard)
{
    ETLHEAP_VECTOR_FREE(&shard->late);
    ETLHEAP_VECTOR_FREE(&shard->marks);
    ETLHEAP_VECTOR_FREE(&shard->survivors);
    ETLHEAP_VECTOR_FREE(&shard->unsure);
}

u64 journal_bytes(const event_journal *journal)
{
    u64 bytes = journal->resident_bytes + journal->clock_bytes;
    bytes += journal->late.capacity * sizeof *journal->late.at;
    bytes += journal->crossings.capacity * sizeof *journal->crossings.at;
    for (u32 i = 0; journal->is_kept && i < HEAP_SHARDS; i++)
        bytes += journal->shards[i].survivors.capacity * sizeof *journal->shards[i].survivors.at;
    return bytes;
}

void journal_free(event_journal *journal)
{
    if (!journal->is_kept && !journal->is_tallied)
        return;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        free_shard(&journal->shards[i]);
    for (size_t i = 0; i < journal->chunks.count; i++)
        journal_chunk_free(&journal->chunks.at[i]);
    ETLHEAP_VECTOR_FREE(&journal->chunks);
    ETLHEAP_VECTOR_FREE(&journal->late);
    ETLHEAP_VECTOR_FREE(&journal->crossings);
    window_cuts_free(&journal->cuts);
    free(journal->survivor_bits);
    free(journal->spill_folder);
    free(journal->sums);
    journal->sums = NULL;
    journal->survivor_bits = NULL;
    journal->spill_folder = NULL;
    if (journal->file >= 0)
        (void)etl_file_close(journal->file);
    journal->is_kept = journal->is_tallied = false;
}

void journal_chunk_free(journal_chunk *chunk)
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
    chunk->wide = (journal_wide){ .addresses = NULL };
}

static bool open_chunk(const event_journal *journal, journal_chunk *chunk, size_t places)
{
    chunk->entries = malloc(places * sizeof *chunk->entries);
    chunk->ticks = malloc(places * sizeof *chunk->ticks);
    bool ok = chunk->entries != NULL && chunk->ticks != NULL;
    if (journal->take != NULL) {
        journal_wide *const wide = &chunk->wide;
        wide->sizes = malloc(places * sizeof *wide->sizes);
        wide->partners = malloc(places * sizeof *wide->partners);
        if (!journal->lacks_addresses)
            wide->addresses = malloc(places * sizeof *wide->addresses);
        if (!journal->lacks_threads)
            wide->threads = malloc(places * sizeof *wide->threads);
        ok = ok && wide->sizes != NULL && wide->partners != NULL &&
             (journal->lacks_addresses || wide->addresses != NULL) &&
             (journal->lacks_threads || wide->threads != NULL);
    }
    if (journal->has_freers) {
        chunk->wide.freers = malloc(places * sizeof *chunk->wide.freers);
        ok = ok && chunk->wide.freers != NULL;
    }
    return ok;
}

etl_status journal_begin_slice(event_journal *journal, u32 count)
{
    if (count >= JOURNAL_NO_RANK - journal->next_rank)
        return ETL_ERR_LIMIT;
    journal_chunk chunk = { .count = count, .first_rank = (u32)journal->next_rank };
    if (!open_chunk(journal, &chunk, count + (size_t)1) || !ETLHEAP_PUSH(&journal->chunks, chunk)) {
        journal_chunk_free(&chunk);
        return ETL_ERR_MEMORY;
    }
    for (u32 i = 0; i < HEAP_SHARDS; i++) {
        journal->shards[i].is_wide = journal->take != NULL;
        journal->shards[i].first_rank = chunk.first_rank;
    }
    journal->next_rank += count;
    journal->resident_bytes += (u64)count * sizeof *chunk.entries;
    return ETL_OK;
}

/* The kind of an entry whose size does not fit, from that of one whose size does. */
static journal_kind big_kind(journal_kind kind)
{
    switch (kind) {
    case JOURNAL_ALLOC:
        return JOURNAL_BIG_ALLOC;
    case JOURNAL_MARK:
        return JOURNAL_BIG_MARK;
    default:
        return JOURNAL_BIG_FREE;
    }
}

/* Is a time after the current window inside a later one? If so, events make that window the current
 * one, because they come in order of time; late rows do not. */
static bool is_in_later_window(shard_journal *journal, i64 ticks, bool is_late)
{
    if (journal->cuts == NULL || ticks >= journal->cuts->to_ticks)
        return false;
    if (!is_late) {
        const cuts_piece piece = window_cuts_piece(journal->cuts, ticks);
        journal->from_ticks = piece.from_ticks;
        journal->to_ticks = piece.to_ticks;
    }
    return true;
}

static bool note(shard_journal *journal, const journal_block *block, journal_kind kind,
                 journal_moment at)
{
    const bool is_big = block->size >= JOURNAL_SIZE_BIG && !journal->is_wide;
    const bool is_late = journal_moment_is_late(at);
    const u64 size = etl_min_u64(block->size, JOURNAL_SIZE_BIG);
    journal_entry entry = (journal_entry)block->origin << 6 | size << (64 - JOURNAL_SIZE_BITS);
    entry |= block->alloc_ticks >= journal->from_ticks ? JOURNAL_INSIDE : 0;
    entry |= block->is_realloc ? JOURNAL_REALLOC : 0;
    if (!is_big && !is_late) {
        journal->entry = entry | (journal_entry)kind;
        journal->partner = block->rank;
        return true;
    }
    if (is_late && journal->cuts != NULL) {
        const cuts_piece piece = window_cuts_piece(journal->cuts, at.ticks);
        entry &= ~JOURNAL_INSIDE;
        entry |= block->alloc_ticks >= piece.from_ticks ? JOURNAL_INSIDE : 0;
    }
    entry |= (journal_entry)(is_big ? big_kind(kind) : JOURNAL_LATE_FREE);
    assert(is_big || kind == JOURNAL_FREE);
    const u32 rank = is_late ? block->rank : journal->first_rank + at.rank;
    const journal_late row = { .ticks = at.ticks,
                               .entry = entry,
                               .size = block->size,
                               .rank = rank,
                               .how = at.how,
                               .freed_by =
                                   is_late && at.rank != JOURNAL_NO_RANK ? at.rank + 1 : 0 };
    return ETLHEAP_PUSH(&journal->late, row);
}

/* The bin of the tally for a block; false if it does not count. A report counts by type in its
 * window. A store does not know the windows of later questions, so it counts by how blocks end. */
static inline bool find_bin(const shard_journal *journal, const journal_block *block,
                            journal_moment at, u32 *bin)
{
    const i64 from_ticks = journal->from_ticks, to_ticks = journal->to_ticks;
    if (!journal->keeps_events) {
        *bin = type_in_window(block->alloc_ticks, at.ticks, from_ticks, to_ticks);
        return type_touches(block->alloc_ticks, at.ticks, from_ticks, to_ticks);
    }
    const bool exited = at.how == ETLHEAP_FREE_PROCESS_EXIT;
    *bin = exited ? TALLY_EXITED : at.ticks == ETLHEAP_TICKS_NEVER ? TALLY_IN_USE : TALLY_FREED;
    return true;
}

bool journal_counts(const shard_journal *journal, const journal_block *block, journal_moment at,
                    u32 *bin)
{
    return journal->tally != NULL && find_bin(journal, block, at, bin);
}

/* Inline, because every block comes here. */
__attribute__((always_inline)) static inline bool count_end(shard_journal *journal,
                                                            const journal_block *block,
                                                            journal_moment at)
{
    u32 bin;
    if (!find_bin(journal, block, at, &bin))
        return true;
    const tally_block counted = { { block->size, 1, block->is_realloc }, block->origin, bin };
    return tally_add(journal->tally, &counted);
}

bool journal_note_alloc(shard_journal *journal, const journal_block *block, u32 rank)
{
    if (!journal->keeps_events)
        return true;
    assert(block->rank == journal->first_rank + rank);
    if (block->alloc_ticks >= journal->to_ticks &&
        !is_in_later_window(journal, block->alloc_ticks, false))
        return true;
    return note(journal, block, JOURNAL_ALLOC,
                (journal_moment){ block->alloc_ticks, rank, ETLHEAP_FREE_NONE, false });
}

bool journal_note_uncounted_end(shard_journal *journal, const journal_block *block,
                                journal_moment at)
{
    const bool is_late = journal_moment_is_late(at);
    if (!journal->keeps_events)
        return true;
    if (block->alloc_ticks >= journal->to_ticks &&
        !is_in_later_window(journal, block->alloc_ticks, true))
        return true;
    if (at.ticks >= journal->to_ticks && !is_in_later_window(journal, at.ticks, is_late))
        return ETLHEAP_PUSH(&journal->survivors, block->rank);
    return note(journal, block, JOURNAL_FREE, at);
}

bool journal_note_end(shard_journal *journal, const journal_block *block, journal_moment at)
{
    if (!journal->keeps_events)
        return count_end(journal, block, at);
    if (journal->tally != NULL && !count_end(journal, block, at))
        return false;
    return journal_note_uncounted_end(journal, block, at);
}

bool journal_note_realloc(shard_journal *journal, const journal_block *block, journal_moment at)
{
    if (!journal->keeps_events)
        return true; /* its end will say so */
    if (block->alloc_ticks >= journal->to_ticks && !is_in_later_window(journal, at.ticks, false))
        return true;
    const journal_mark mark = { journal->first_rank + at.rank, block->rank };
    return ETLHEAP_PUSH(&journal->marks, mark) && note(journal, block, JOURNAL_MARK, at);
}
