/*
 * journal_chunks.c - completes the chunks of the journal, in order.
 *
 * In: chunks that the shards have filled, and their late entries. Out: chunks with late entries
 * merged in, left in memory, spilled to a file (journal_file.c), or handed to `take`.
 *
 *     chunks     | closed | closed | open: something late may still come | open |
 *                                  ▲ end_ticks: nothing earlier can be noted any more
 *
 * Nearly always there is nothing to merge, and a chunk stays as the shards wrote it. When chunks
 * are closed, the journal notes which words are the first of a window, and at the end it collects
 * survivors. Invariant: chunks are closed in order of time, and a late entry goes to the first
 * chunk that ends after its time, behind all events of its tick. So words of a closed journal
 * ascend in time, and no block ends before it begins, even if several slices have the same tick. No
 * late entry is older than what is closed. So the last slice closes no more than any other: shards
 * note ends after it, and journal_close completes the rest.
 */
#include <stdlib.h>

#include "engine/core/timebase.h"
#include "journal.h"
#include "journal_clock.h"
#include "journal_file.h"
#include "journal_origins.h"

static bool gather_late(event_journal *journal);
static etl_status close_chunks(event_journal *journal, i64 end_ticks);
static bool merge_late(event_journal *journal, journal_chunk *chunk, const journal_late *late,
                       size_t late_count);
static bool close_chunk(event_journal *journal, journal_chunk *chunk);
static bool settle_survivors(event_journal *journal);

etl_status journal_end_slice(event_journal *journal, i64 end_ticks)
{
    if (!gather_late(journal))
        return ETL_ERR_MEMORY;
    return close_chunks(journal, etl_sat_add_i64(end_ticks, -journal->patience_ticks));
}

etl_status journal_close(event_journal *journal)
{
    etl_status status = journal_begin_slice(journal, 0);
    if (status == ETL_OK)
        status = gather_late(journal) ? close_chunks(journal, INT64_MAX) : ETL_ERR_MEMORY;
    if (status == ETL_OK && !settle_survivors(journal))
        status = ETL_ERR_MEMORY;
    return status;
}

/* Sorts late entries by time. Entries of one tick count together, but stores list them, so their
 * order must not depend on the tables of blocks. */
static int by_ticks(const void *a, const void *b)
{
    const journal_late *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Fills in who freed the block. The event is from the latest slices, so its chunk is open. */
static void name_freer(const event_journal *journal, journal_late *late)
{
    late->freer = 0;
    late->freer_thread = UINT32_MAX;
    if (journal->has_freers && late->freed_by != 0)
        journal_find_freer(journal, late->freed_by - 1, &late->freer, &late->freer_thread);
}

static bool gather_late(event_journal *journal)
{
    const size_t before = journal->late.count;
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        shard_journal *const shard = &journal->shards[s];
        for (size_t i = 0; i < shard->late.count; i++) {
            name_freer(journal, &shard->late.at[i]);
            if (!ETLHEAP_PUSH(&journal->late, shard->late.at[i]))
                return false;
        }
        shard->late.count = 0;
    }
    if (journal->late.count > before)
        qsort(journal->late.at, journal->late.count, sizeof *journal->late.at, by_ticks);
    return true;
}

/* The time of the last word, once the chunk is closed. */
static i64 last_of(const event_journal *journal, const journal_chunk *chunk,
                   const journal_late *late, size_t late_count)
{
    const i64 last = chunk->count == 0 ? journal->closed_ticks : chunk->ticks[chunk->count - 1];
    return late_count > 0 && late[late_count - 1].ticks > last ? late[late_count - 1].ticks : last;
}

static etl_status complete(event_journal *journal, journal_chunk *chunk, const journal_late *late,
                           size_t late_count)
{
    const i64 last_ticks = last_of(journal, chunk, late, late_count);
    etl_status status = ETL_OK;
    assert(late_count == 0 || late[0].ticks >= journal->closed_ticks);
    if (journal->take != NULL) {
        status = journal->take(journal->take_user, chunk, late, late_count);
        journal->resident_bytes -= (u64)chunk->count * sizeof *chunk->entries;
        journal_chunk_free(chunk);
        chunk->count = 0;
    } else if (late_count > 0 && !merge_late(journal, chunk, late, late_count)) {
        return ETL_ERR_MEMORY;
    }
    if (!close_chunk(journal, chunk))
        return ETL_ERR_MEMORY;
    journal->closed_ticks = last_ticks;
    return status == ETL_OK ? journal_spill(journal, chunk) : status;
}

/* Closes the chunks that end before `end_ticks`; INT64_MAX closes all. A chunk takes late entries
 * from before its end, because the next chunk may have more events of its last tick. The last chunk
 * takes them all. */
static etl_status close_chunks(event_journal *journal, i64 end_ticks)
{
    const bool is_end = end_ticks == INT64_MAX;
    size_t first = 0; /* late entry that no chunk has taken */
    etl_status status = ETL_OK;
    while (journal->closed < journal->chunks.count && status == ETL_OK) {
        journal_chunk *const chunk = &journal->chunks.at[journal->closed];
        const i64 last = chunk->count == 0 ? INT64_MIN : chunk->ticks[chunk->count - 1];
        const bool is_last = is_end && journal->closed + 1 == journal->chunks.count;
        if (!is_end && last >= end_ticks)
            break;
        size_t end = first;
        while (end < journal->late.count && (is_last || journal->late.at[end].ticks < last))
            end++;
        const journal_late *const late = end == first ? NULL : &journal->late.at[first];
        status = complete(journal, chunk, late, end - first);
        first = end;
        journal->closed++;
    }
    if (first > 0)
        memmove(journal->late.at, journal->late.at + first,
                (journal->late.count - first) * sizeof *journal->late.at);
    journal->late.count -= first;
    return status;
}

static u32 words_of(journal_entry entry)
{
    return journal_kind_of(entry) >= JOURNAL_BIG_ALLOC ? JOURNAL_BIG_WORDS : 1;
}

/* Appends one entry. Each of its words gets the entry's time, so that all count in one window. */
static void put(journal_chunk *chunk, i64 ticks, journal_entry entry, const journal_late *late)
{
    const bool moves_on = chunk->count == 0 || chunk->ticks[chunk->count - 1] != ticks;
    entry = (entry & ~JOURNAL_NEW_TICK) | (moves_on ? JOURNAL_NEW_TICK : 0);
    const journal_entry words[JOURNAL_BIG_WORDS] = { entry, late == NULL ? 0 : late->size,
                                                     late == NULL ? 0 : late->rank };
    for (u32 i = 0; i < words_of(entry); i++) {
        chunk->entries[chunk->count] = words[i];
        chunk->ticks[chunk->count++] = ticks;
    }
}

static bool merge_late(event_journal *journal, journal_chunk *chunk, const journal_late *late,
                       size_t late_count)
{
    const size_t capacity = chunk->count + late_count * JOURNAL_BIG_WORDS;
    journal_chunk merged = *chunk;
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
    journal->resident_bytes += (merged.count - (u64)chunk->count) * sizeof *merged.entries;
    free(chunk->entries);
    free(chunk->ticks);
    *chunk = merged;
    return true;
}

/* The first word of the chunk at or after a moment, from `low` on. */
static u32 find_word(const journal_chunk *chunk, u32 low, i64 ticks)
{
    return ticks_at_or_after(chunk->ticks, low, chunk->count, ticks);
}

/* Notes the words of the chunk that are the first of their window. */
static bool note_crossings(event_journal *journal, const journal_chunk *chunk)
{
    u32 at = 0;
    while (journal->cuts.session != NULL && at < chunk->count) {
        const cuts_piece piece = window_cuts_piece(&journal->cuts, chunk->ticks[at]);
        const journal_crossing row = { chunk->first_index + at, chunk->ticks[at] };
        if (!ETLHEAP_PUSH(&journal->crossings, row))
            return false;
        at = find_word(chunk, at + 1, piece.to_ticks);
    }
    return true;
}

static bool close_chunk(event_journal *journal, journal_chunk *chunk)
{
    journal->from_index += find_word(chunk, 0, journal->from_ticks);
    chunk->first_index = journal->next_index;
    const bool ok = note_crossings(journal, chunk) &&
                    (!journal->keeps_clock || journal_clock_wind(journal, chunk));
    journal->next_index += chunk->count;
    /* If the time of a stream goes back, a slice may begin at the last tick of the one before. */
    chunk->starts_tick = chunk->count > 0 && journal->closed_ticks != chunk->ticks[0];
    if (chunk->count > 0 && !chunk->starts_tick)
        chunk->entries[0] &= ~JOURNAL_NEW_TICK;
    free(chunk->ticks);
    chunk->ticks = NULL;
    return ok;
}

static bool settle_survivors(event_journal *journal)
{
    journal->survivor_bits = calloc(journal->next_rank / 8 + 1, 1);
    if (journal->survivor_bits == NULL)
        return false;
    u8 *const bits = journal->survivor_bits;
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        shard_journal *const shard = &journal->shards[s];
        for (size_t i = 0; i < shard->survivors.count; i++) {
            const u32 rank = shard->survivors.at[i];
            bits[rank >> 3] |= (u8)(1u << (rank & 7));
        }
        for (size_t i = 0; i < shard->marks.count; i++) {
            const journal_mark *const mark = &shard->marks.at[i];
            if (journal_survives(journal, mark->block))
                bits[mark->mark >> 3] |= (u8)(1u << (mark->mark & 7));
        }
        ETLHEAP_VECTOR_FREE(&shard->survivors);
        ETLHEAP_VECTOR_FREE(&shard->marks);
    }
    return true;
}
