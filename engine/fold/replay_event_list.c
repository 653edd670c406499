/* replay_event_list.c - an event list as what replay_walk.c walks. */
#include "replay_step.h"

#define AHEAD 16u /* words whose groups are fetched before they are used */

static u64 part_events(const void *user, u32 part);
static bool part_starts_tick(const void *user, u32 part);
static etl_status walk_part(const void *user, u32 part, replay_walker *walkers);

replay_source replay_event_list_source(const event_list_source *source)
{
    return (replay_source){ .part_count = (u32)source->event_list->chunks.count,
                            .part_events = part_events,
                            .part_starts_tick = part_starts_tick,
                            .walk_part = walk_part,
                            .user = source };
}

static u64 part_events(const void *user, u32 part)
{
    const event_list_source *const source = user;
    return source->event_list->chunks.at[part].count;
}

static bool part_starts_tick(const void *user, u32 part)
{
    const event_list_source *const source = user;
    return source->event_list->chunks.at[part].starts_tick;
}

/* Reads the entry at `at` and moves `rank` on; returns its words. */
static inline u32 read_entry(const event_entry *at, u32 *rank, entry_view *out)
{
    static const u8 plain[] = {
        [ENTRY_NONE] = ENTRY_NONE,      [ENTRY_ALLOC] = ENTRY_ALLOC,
        [ENTRY_FREE] = ENTRY_FREE,      [ENTRY_REALLOC] = ENTRY_REALLOC,
        [ENTRY_LATE_FREE] = ENTRY_FREE, [ENTRY_BIG_ALLOC] = ENTRY_ALLOC,
        [ENTRY_BIG_FREE] = ENTRY_FREE,  [ENTRY_BIG_REALLOC] = ENTRY_REALLOC
    };
    const entry_kind kind = entry_kind_of(*at);
    *out = (entry_view){
        .entry = *at, .kind = (entry_kind)plain[kind], .size = entry_size_of(*at), .rank = *rank
    };
    *rank += kind < ENTRY_LATE_FREE;
    if (kind < ENTRY_BIG_ALLOC)
        return 1;
    out->size = at[1];
    out->rank = (u32)at[2];
    return ENTRY_BIG_WORDS;
}

/* A chunk on its way through a walker. */
typedef struct chunk_walk {
    const event_list *event_list;
    const event_chunk *chunk;
    const event_entry *entries;
    u32 rank; /* of the next event */
} chunk_walk;

/* Any number may be passed as an origin. */
__attribute__((always_inline)) static inline void fetch_origin(const replay_walker *w, u32 origin,
                                                               const bool in_windows)
{
    replay_fetch(w, origin <= w->walk->origin_count ? w->walk->origin_groups[origin] : GROUP_NONE,
                 in_windows);
}

/* Whether there are windows is known where this is called, not asked per entry. */
__attribute__((always_inline)) static inline void walk_words(replay_walker *w, chunk_walk *c,
                                                             u32 from, u32 end,
                                                             const bool in_windows)
{
    const event_chunk *const chunk = c->chunk;
    const event_entry *const entries = c->entries;
    const u64 from_index = c->event_list->from_index;
    u32 rank = c->rank;
    for (u32 i = from; i < end;) {
        if (chunk->count - i > 4 * AHEAD)
            __builtin_prefetch(&entries[i + 4 * AHEAD]);
        /* A word of a size may be taken for an entry here, which does no harm. */
        if (chunk->count - i > AHEAD)
            fetch_origin(w, entry_origin_of(entries[i + AHEAD]), in_windows);
        entry_view view;
        const u32 words = read_entry(&entries[i], &rank, &view);
        w->time += (view.entry & ENTRY_NEW_TICK) != 0;
        view.in_window = chunk->first_index + i >= from_index;
        const u32 number = view.kind == ENTRY_NONE
                               ? GROUP_NONE
                               : replay_group_of(w->walk, entry_origin_of(view.entry), view.size);
        if (number != GROUP_NONE && in_windows)
            replay_step_in_windows(w, number, &view);
        else if (number != GROUP_NONE)
            replay_step(w, number, &view);
        i += words;
    }
    c->rank = rank;
}

/* The last crossing at or before a word. */
static size_t find_crossing(const window_crossings *crossings, u64 index)
{
    size_t next;
    ETL_BISECT(next, 1, crossings->count, crossings->at[next].index <= index);
    return next - 1;
}

/* From crossing to crossing. Nothing is noted after the last window. */
static void walk_windows(replay_walker *w, chunk_walk *c, const window_crossings *crossings)
{
    const event_chunk *const chunk = c->chunk;
    size_t next = find_crossing(crossings, chunk->first_index);
    for (u32 at = 0; at < chunk->count;) {
        w->interval = windows_interval(w->walk->windows, crossings->at[next].ticks);
        next++;
        u32 end = chunk->count;
        if (next < crossings->count)
            end = (u32)etl_min_u64(end, crossings->at[next].index - chunk->first_index);
        walk_words(w, c, at, end, true);
        at = end;
    }
}

static etl_status walk_part(const void *user, u32 part, replay_walker *walkers)
{
    const event_list_source *const source = user;
    const event_list *const list = source->event_list;
    const event_entry *const entries = event_list_map(list, part);
    if (entries == NULL)
        return ETL_ERR_IO;
    const event_chunk *const chunk = &list->chunks.at[part];
    for (u32 i = 0; i < source->jobs; i++) {
        chunk_walk c = { list, chunk, entries, chunk->first_rank };
        if (walkers[i].walk->windows != NULL)
            walk_windows(&walkers[i], &c, &source->crossings[i]);
        else
            walk_words(&walkers[i], &c, 0, chunk->count, false);
    }
    event_list_release(list, part, entries);
    return ETL_OK;
}
