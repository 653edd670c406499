/* replay_journal.c - a journal as what replay_walk.c walks. */
#include "replay_step.h"

#define AHEAD 16u /* words whose groups are fetched before they are used */

static u64 part_events(const void *user, u32 part);
static bool part_starts_tick(const void *user, u32 part);
static etl_status walk_part(const void *user, u32 part, replay_walker *walker);

replay_source replay_journal_source(const event_journal *journal)
{
    return (replay_source){ .part_count = (u32)journal->chunks.count,
                            .part_events = part_events,
                            .part_starts_tick = part_starts_tick,
                            .walk_part = walk_part,
                            .user = journal };
}

static u64 part_events(const void *user, u32 part)
{
    const event_journal *const journal = user;
    return journal->chunks.at[part].count;
}

static bool part_starts_tick(const void *user, u32 part)
{
    const event_journal *const journal = user;
    return journal->chunks.at[part].starts_tick;
}

/* Reads the entry at `at` and moves `rank` on; returns its words. */
static inline u32 read_entry(const journal_entry *at, u32 *rank, entry_view *out)
{
    static const u8 plain[] = {
        [JOURNAL_NONE] = JOURNAL_NONE,      [JOURNAL_ALLOC] = JOURNAL_ALLOC,
        [JOURNAL_FREE] = JOURNAL_FREE,      [JOURNAL_MARK] = JOURNAL_MARK,
        [JOURNAL_LATE_FREE] = JOURNAL_FREE, [JOURNAL_BIG_ALLOC] = JOURNAL_ALLOC,
        [JOURNAL_BIG_FREE] = JOURNAL_FREE,  [JOURNAL_BIG_MARK] = JOURNAL_MARK
    };
    const journal_kind kind = journal_kind_of(*at);
    *out = (entry_view){
        .entry = *at, .kind = (journal_kind)plain[kind], .size = journal_size_of(*at), .rank = *rank
    };
    *rank += kind < JOURNAL_LATE_FREE;
    if (kind < JOURNAL_BIG_ALLOC)
        return 1;
    out->size = at[1];
    out->rank = (u32)at[2];
    return JOURNAL_BIG_WORDS;
}

static void walk_chunk(replay_walker *w, const journal_chunk *chunk, const journal_entry *entries,
                       u64 from_index)
{
    u32 rank = chunk->first_rank;
    for (u32 i = 0; i < chunk->count;) {
        if (chunk->count - i > 4 * AHEAD)
            __builtin_prefetch(&entries[i + 4 * AHEAD]);
        /* A word of a size may be taken for an entry here, which does no harm. */
        if (chunk->count - i > AHEAD)
            replay_fetch(w, journal_slot_of(entries[i + AHEAD]));
        entry_view view;
        const u32 words = read_entry(&entries[i], &rank, &view);
        w->time += (view.entry & JOURNAL_NEW_TICK) != 0;
        view.in_window = chunk->first_index + i >= from_index;
        if (view.kind != JOURNAL_NONE)
            replay_step(w, &view);
        i += words;
    }
}

static etl_status walk_part(const void *user, u32 part, replay_walker *walker)
{
    const event_journal *const journal = user;
    const journal_entry *const entries = journal_map(journal, part);
    if (entries == NULL)
        return ETL_ERR_IO;
    walk_chunk(walker, &journal->chunks.at[part], entries, journal->from_index);
    journal_release(journal, part, entries);
    return ETL_OK;
}
