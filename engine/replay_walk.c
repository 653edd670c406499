/*
 * replay_walk.c - see replay_walk.h, and replay.c for the idea.
 *
 * How the journal is cut depends on its length and on the number of groups
 * alone, and segments are added up in order: threads change nothing.
 */
#include "replay_walk.h"

#include <stdlib.h>

#include "workers.h"

#define SEGMENT_WORDS_MIN ((u64)1 << 20)
#define WORDS_PER_GROUP   32u
#define AHEAD             16u /* words whose groups are fetched before they are used */
#define NOTHING_YET       INT64_MIN

/* A run of whole chunks. */
typedef struct segment {
    u32 first, end;
} segment;

/* A segment being walked, by one task. */
typedef struct walker {
    const replay_walk *walk;
    live_group *groups;
    u64 time; /* number of the tick at hand */
    bool unreadable;
} walker;

typedef struct round_work {
    walker *walkers;
    const segment *segments;
} round_work;

typedef ETLHEAP_VECTOR(segment) segment_list;

static bool cut(const replay_walk *walk, segment_list *out);
static bool walk_segments(const replay_walk *walk, const segment_list *segments, walker *walkers,
                          u32 walker_count, live_group *sum);
static void walk_segment(void *context, u32 task);
static void add_segment(const replay_walk *walk, live_group *sum, const live_group *part);
static void settle(curve *c);

etl_status replay_walk_run(const replay_walk *walk, live_group **out)
{
    segment_list segments = { 0 };
    const size_t bytes = (walk->group_count + (size_t)1) * sizeof(live_group);
    live_group *const sum = calloc(1, bytes);
    const u32 walker_count = walk->jobs == 0 ? 1 : walk->jobs;
    walker *const walkers = calloc(walker_count, sizeof *walkers);
    bool ok = sum != NULL && walkers != NULL && cut(walk, &segments);
    for (u32 i = 0; ok && i < walker_count && i < segments.count; i++) {
        walkers[i] =
            (walker){ .walk = walk, .groups = aligned_alloc(sizeof(live_group) / 3, bytes) };
        ok = walkers[i].groups != NULL;
    }
    etl_status status = ok ? ETL_OK : ETL_ERR_MEMORY;
    if (ok && !walk_segments(walk, &segments, walkers, walker_count, sum))
        status = ETL_ERR_IO;
    for (u32 g = 0; status == ETL_OK && g < walk->group_count; g++)
        settle(&sum[g].curve);
    for (u32 i = 0; walkers != NULL && i < walker_count; i++)
        free(walkers[i].groups);
    free(walkers);
    ETLHEAP_VECTOR_FREE(&segments);
    if (status == ETL_OK)
        *out = sum;
    else
        free(sum);
    return status;
}

/* A segment ends where enough words are in it and time moves on. */
static bool cut(const replay_walk *walk, segment_list *out)
{
    const event_journal *const journal = walk->journal;
    const u64 wanted = etl_max_u64(SEGMENT_WORDS_MIN, (u64)walk->group_count * WORDS_PER_GROUP);
    u64 words = 0;
    segment next = { 0, 0 };
    for (u32 c = 0; c < journal->chunks.count; c++) {
        const journal_chunk *const chunk = &journal->chunks.at[c];
        if (words >= wanted && chunk->starts_tick) {
            if (!ETLHEAP_PUSH(out, next))
                return false;
            next.first = c;
            words = 0;
        }
        next.end = c + 1;
        words += chunk->count;
    }
    return next.end == next.first || ETLHEAP_PUSH(out, next);
}

static bool walk_segments(const replay_walk *walk, const segment_list *segments, walker *walkers,
                          u32 walker_count, live_group *sum)
{
    for (size_t at = 0; at < segments->count; at += walker_count) {
        const u32 count = (u32)etl_min_u64(walker_count, segments->count - at);
        round_work work = { walkers, &segments->at[at] };
        etlheap_workers_run(walk->jobs, count, walk_segment, &work);
        for (u32 i = 0; i < count; i++) {
            if (walkers[i].unreadable)
                return false;
            add_segment(walk, sum, walkers[i].groups);
        }
    }
    return true;
}

static inline void settle(curve *c)
{
    c->peak_size = c->size > c->peak_size ? c->size : c->peak_size;
    c->peak_count = c->count > c->peak_count ? c->count : c->peak_count;
}

static inline void move(curve *c, i64 size, i64 count)
{
    c->size = etl_sat_add_i64(c->size, size);
    c->count += count;
}

static inline void add_sums(type_sums *sums, i64 size, bool is_realloc)
{
    sums->count++;
    sums->size = etl_sat_add_i64(sums->size, size);
    sums->realloc_count += is_realloc;
}

/* The curve's value before this moment counts if it lasted into the window. */
static inline void pass_time(live_group *group, u64 time, bool in_window)
{
    if (group->time == time)
        return;
    group->time = time;
    if (in_window)
        settle(&group->curve);
}

static inline void step_free(live_group *group, journal_entry entry, i64 size, bool in_window,
                             bool by_type)
{
    const bool is_inside = (entry & JOURNAL_INSIDE) != 0;
    if (is_inside || !by_type)
        move(&group->curve, -size, -1);
    if (!is_inside && in_window)
        add_sums(&group->types[live_type(ETLHEAP_TYPE_AOFI)], size, (entry & JOURNAL_REALLOC) != 0);
}

static inline void step_alloc(live_group *group, journal_entry entry, i64 size, bool survives,
                              bool by_type)
{
    const bool is_inside = (entry & JOURNAL_INSIDE) != 0;
    const etlheap_type type =
        is_inside ? (survives ? ETLHEAP_TYPE_AIFO : ETLHEAP_TYPE_AIFI) : ETLHEAP_TYPE_AOFO;
    if (type == ETLHEAP_TYPE_AIFI || !by_type)
        move(&group->curve, size, 1);
    if (is_inside || survives)
        add_sums(&group->types[live_type(type)], size, (entry & JOURNAL_REALLOC) != 0);
}

static void step_mark(live_group *group, journal_entry entry, bool survives)
{
    const bool is_inside = (entry & JOURNAL_INSIDE) != 0;
    const etlheap_type type =
        is_inside ? (survives ? ETLHEAP_TYPE_AIFO : ETLHEAP_TYPE_AIFI) : ETLHEAP_TYPE_AOFO;
    group->types[live_type(type)].realloc_count += is_inside || survives;
}

/* What an entry says, with the words that follow it. */
typedef struct entry_view {
    journal_entry entry;
    journal_kind kind; /* NONE, ALLOC, FREE or MARK */
    u64 size;
    u32 rank;
} entry_view;

static void apply(walker *w, const entry_view *view, bool in_window)
{
    const replay_walk *const walk = w->walk;
    const u32 number = walk->slot_groups[journal_slot_of(view->entry)];
    if (number == GROUP_NONE || view->size < walk->size_min_bytes ||
        view->size > walk->size_max_bytes)
        return;
    live_group *const group = &w->groups[number];
    const i64 size = view->size > INT64_MAX ? INT64_MAX : (i64)view->size;
    if (view->kind == JOURNAL_MARK) {
        step_mark(group, view->entry, journal_survives(walk->journal, view->rank));
        return;
    }
    pass_time(group, w->time, in_window);
    if (view->kind == JOURNAL_FREE)
        step_free(group, view->entry, size, in_window, walk->by_type);
    else
        step_alloc(group, view->entry, size, journal_survives(walk->journal, view->rank),
                   walk->by_type);
}

/* Any word may be passed: of a size's words too, which do no harm. */
static inline void fetch_group(const walker *w, journal_entry entry)
{
    const u32 slot = journal_slot_of(entry);
    const u32 number = slot <= w->walk->slot_count ? w->walk->slot_groups[slot] : GROUP_NONE;
    if (number == GROUP_NONE)
        return;
    __builtin_prefetch(&w->groups[number], 1);
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
    *out = (entry_view){ *at, (journal_kind)plain[kind], journal_size_of(*at), *rank };
    *rank += kind < JOURNAL_LATE_FREE;
    if (kind < JOURNAL_BIG_ALLOC)
        return 1;
    out->size = at[1];
    out->rank = (u32)at[2];
    return JOURNAL_BIG_WORDS;
}

static void walk_chunk(walker *w, const journal_chunk *chunk, const journal_entry *entries)
{
    const u64 from_index = w->walk->journal->from_index;
    u32 rank = chunk->first_rank;
    for (u32 i = 0; i < chunk->count;) {
        if (chunk->count - i > 4 * AHEAD)
            __builtin_prefetch(&entries[i + 4 * AHEAD]);
        if (chunk->count - i > AHEAD)
            fetch_group(w, entries[i + AHEAD]);
        entry_view view;
        const u32 words = read_entry(&entries[i], &rank, &view);
        w->time += (view.entry & JOURNAL_NEW_TICK) != 0;
        if (view.kind != JOURNAL_NONE)
            apply(w, &view, chunk->first_index + i >= from_index);
        i += words;
    }
}

static void walk_segment(void *context, u32 task)
{
    const round_work *const work = context;
    walker *const w = &work->walkers[task];
    const event_journal *const journal = w->walk->journal;
    const curve nothing = { .peak_size = NOTHING_YET, .peak_count = NOTHING_YET };
    for (u32 g = 0; g < w->walk->group_count; g++)
        w->groups[g] = (live_group){ .curve = nothing };
    w->time = 1; /* a group's is 0 until its first step */
    for (u32 c = work->segments[task].first; c < work->segments[task].end; c++) {
        const journal_entry *const entries = journal_map(journal, c);
        w->unreadable |= entries == NULL;
        if (entries == NULL)
            return;
        walk_chunk(w, &journal->chunks.at[c], entries);
        journal_release(journal, c, entries);
    }
}

static void add_curve(curve *sum, const curve *part)
{
    if (part->peak_size != NOTHING_YET) {
        const i64 peak_size = etl_sat_add_i64(sum->size, part->peak_size);
        const i64 peak_count = sum->count + part->peak_count;
        sum->peak_size = peak_size > sum->peak_size ? peak_size : sum->peak_size;
        sum->peak_count = peak_count > sum->peak_count ? peak_count : sum->peak_count;
    }
    move(sum, part->size, part->count);
}

static void add_segment(const replay_walk *walk, live_group *sum, const live_group *part)
{
    for (u32 g = 0; g < walk->group_count; g++) {
        add_curve(&sum[g].curve, &part[g].curve);
        for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++) {
            type_sums *const to = &sum[g].types[t];
            const type_sums *const from = &part[g].types[t];
            to->count += from->count;
            to->size = etl_sat_add_i64(to->size, from->size);
            to->realloc_count += from->realloc_count;
        }
    }
}
