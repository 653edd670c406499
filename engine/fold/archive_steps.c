/*
 * archive_steps.c - the second reading of a store's events: each job steps through them in order.
 * archive_walk.c has the first reading.
 *
 * In: batches of events of a log, and the words of their blocks. Out: steps of replay walkers, one
 * for each job.
 *
 *     batch ──resolve──▶ kinds[], entries[] side by side ──▶ job 1 in its window
 *                                                        ──▶ job 2 in its window ...
 *
 * A batch is resolved once, however many jobs there are, and groups are looked up once for jobs
 * that share them. Invariant: an event is "inside" if its block's ordinal is at or after the first
 * one of the job's window; so jobs must know that ordinal before they step.
 */
#include <stdlib.h>

#include "archive_walk.h"
#include "replay_step.h"

#define STEPS         128u /* events whose words or groups are fetched at once */
#define CACHED_GROUPS 64u  /* so few groups stay in the cache */
#define GROUPS_AHEAD  32u  /* events whose group is looked up soon */

static u64 part_events(const void *user, u32 part);
static bool part_starts_tick(const void *user, u32 part);
static etl_status walk_part(const void *user, u32 part, replay_walker *walkers);

replay_source archive_source(const archive_walk *walk)
{
    const bool has_part = walk->to.event > 0;
    return (replay_source){ .part_count =
                                walk->to.segment + (has_part ? 1 : 0) - walk->first_segment,
                            .part_events = part_events,
                            .part_starts_tick = part_starts_tick,
                            .walk_part = walk_part,
                            .user = walk };
}

static u64 part_events(const void *user, u32 part)
{
    const archive_walk *const walk = user;
    return walk->archive->segments.at[walk->first_segment + part].events;
}

static bool part_starts_tick(const void *user, u32 part)
{
    const archive_walk *const walk = user;
    const ehs_segment_info *const info = &walk->archive->segments.at[walk->first_segment + part];
    return part > 0 && info[-1].last_ticks != info->first_ticks;
}

/* A batch of events with the words of their blocks, and their groups for one job or more. */
typedef struct resolved_batch {
    const log_batch *batch;
    u32 count;                           /* events before the end of all windows */
    u8 kinds[LOG_BATCH_ROWS];            /* entry_kind */
    event_entry entries[LOG_BATCH_ROWS]; /* words of the blocks */
    u64 sizes[LOG_BATCH_ROWS];
    u32 groups[LOG_BATCH_ROWS]; /* GROUP_NONE: not counted */
} resolved_batch;

/* The position of a walker in a batch, and the first block that counts as inside. */
typedef struct batch_walk {
    const resolved_batch *resolved;
    u32 first, end;
    u32 early;       /* events before the window; none with windows */
    u64 inside_from; /* ordinal */
    u64 old_before;  /* ordinal: blocks before it are of earlier stretches; 0: none are */
    const archive_place *bounds; /* of the windows */
} batch_walk;

static void step(replay_walker *w, const entry_view *view)
{
    const u32 number = replay_group_of(w->walk, entry_origin_of(view->entry), view->size);
    if (number != GROUP_NONE && w->walk->windows != NULL)
        replay_step_in_windows(w, number, view);
    else if (number != GROUP_NONE)
        replay_step(w, number, view);
}

static void walk_open_blocks(const archive_walk *walk, replay_walker *w)
{
    for (size_t i = 0; i < walk->open.count; i++) {
        const u32 ordinal = walk->open.ordinal[i];
        const entry_view view = { walk->words->at[ordinal], ENTRY_ALLOC,
                                  block_words_size(walk->words, ordinal), ordinal, false };
        step(w, &view);
    }
}

/* Fills in what each event does, and the word and the size of its block. Words are prefetched some
 * events ahead. */
static void resolve(const archive_walk *walk, const log_batch *from, resolved_batch *out)
{
    const log_batch batch = *from; /* in registers, as bytes are written below */
    const event_entry *const words = walk->words->at;
    const u8 of_exit = walk->exit_frees ? ENTRY_FREE : ENTRY_NONE;
    const u32 count = archive_events_before(&walk->to, from);
    out->batch = from;
    out->count = count;
    for (u32 first = 0; first < count; first += STEPS) {
        const u32 end = count - first < STEPS ? count : first + STEPS;
        for (u32 i = first; i < end; i++) {
            __builtin_prefetch(&words[batch.ordinal[i]]);
            const u8 how = log_opens(&batch, i) ? 0 : batch.how[batch.row[i]];
            out->kinds[i] = (u8)(log_opens(&batch, i)               ? ENTRY_ALLOC
                                 : how == EHS_HOW_REALLOC           ? ENTRY_REALLOC
                                 : how == ETLHEAP_FREE_PROCESS_EXIT ? of_exit
                                                                    : ENTRY_FREE);
        }
        for (u32 i = first; i < end; i++) {
            const event_entry entry = words[batch.ordinal[i]];
            const u32 size = entry_size_of(entry);
            out->entries[i] = entry;
            out->sizes[i] =
                size == ENTRY_SIZE_BIG ? block_words_size(walk->words, batch.ordinal[i]) : size;
        }
    }
}

/* Looks up the groups of all events of the batch. */
static void number_groups(const replay_walk *walk, resolved_batch *resolved)
{
    for (u32 i = 0; i < resolved->count; i++) {
        const u32 origin = entry_origin_of(resolved->entries[i]);
        if (i + GROUPS_AHEAD < resolved->count)
            __builtin_prefetch(
                &walk->origin_groups[entry_origin_of(resolved->entries[i + GROUPS_AHEAD])]);
        const u32 number = replay_group_of(walk, origin, resolved->sizes[i]);
        resolved->groups[i] = resolved->kinds[i] == ENTRY_NONE ? GROUP_NONE : number;
    }
}

/* Do two jobs count the same events in the same groups? */
static bool shares_groups(const replay_walk *a, const replay_walk *b)
{
    return a->origin_groups == b->origin_groups && a->size_min_bytes == b->size_min_bytes &&
           a->size_max_bytes == b->size_max_bytes;
}

static inline entry_view view_of(const batch_walk *b, u32 at)
{
    const resolved_batch *const resolved = b->resolved;
    const u32 ordinal = resolved->batch->ordinal[at];
    return (entry_view){ resolved->entries[at] | (ordinal >= b->inside_from ? ENTRY_INSIDE : 0),
                         (entry_kind)resolved->kinds[at], resolved->sizes[at], ordinal,
                         at >= b->early };
}

/* The first block of a stretch, which is not the first stretch. */
static u64 first_of_stretch(const batch_walk *b, const replay_walker *w, u32 stretch)
{
    return b->bounds[w->walk->windows->edges.at[stretch - 1] - 1].allocs;
}

/* The stretch in which a block was allocated, which is before the current one. */
static u32 stretch_of(const batch_walk *b, const replay_walker *w, u32 ordinal)
{
    u32 low;
    ETL_BISECT(low, 0, w->stretch - 1, first_of_stretch(b, w, low + 1) <= ordinal);
    return low;
}

/* `in_windows` is a constant at each call, so it is not tested for each event. */
__attribute__((always_inline)) static inline void walk_steps(const batch_walk *b, replay_walker *w,
                                                             const bool in_windows)
{
    const resolved_batch *const resolved = b->resolved;
    const u8 *const kinds = resolved->batch->kind;
    const bool is_large = w->walk->group_count > CACHED_GROUPS;
    for (u32 first = b->first; first < b->end; first += STEPS) {
        const u32 end = b->end - first < STEPS ? b->end : first + STEPS;
        for (u32 i = first; is_large && i < end; i++)
            replay_fetch(w, resolved->groups[i], in_windows);
        for (u32 i = first; i < end; i++) {
            const u32 number = resolved->groups[i];
            w->time += (kinds[i] & EHS_EVENT_LATER) != 0;
            if (number == GROUP_NONE)
                continue;
            entry_view view = view_of(b, i);
            if (in_windows) {
                if (resolved->batch->ordinal[i] < b->old_before)
                    replay_note_old(w, number, &view,
                                    stretch_of(b, w, resolved->batch->ordinal[i]));
                replay_step_in_windows(w, number, &view);
                continue;
            }
            if (view.kind == ENTRY_FREE && (view.entry & ARCHIVE_WORD_REALLOC) != 0)
                view.entry |= ENTRY_IS_REALLOC;
            replay_step(w, number, &view);
        }
    }
}

/* Steps with a job of one group, which is copied to where the compiler can keep it in registers. */
static void walk_one_group(const batch_walk *b, replay_walker *w)
{
    const resolved_batch *const resolved = b->resolved;
    const u8 *const kinds = resolved->batch->kind;
    replay_walker own = *w;
    hot_group group = w->hot[0];
    for (u32 i = b->first; i < b->end; i++) {
        own.time += (kinds[i] & EHS_EVENT_LATER) != 0;
        if (resolved->groups[i] == GROUP_NONE)
            continue;
        const entry_view view = view_of(b, i);
        replay_move(&own, &group, &view);
    }
    w->time = own.time;
    w->peak_time = own.peak_time;
    w->peak_count = own.peak_count;
    w->hot[0] = group;
}

/* Steps through the batch up to the end of the job's window. */
static void walk_window(batch_walk b, const archive_span *span, replay_walker *w)
{
    const log_batch *const batch = b.resolved->batch;
    b.end = archive_events_before(&span->to, batch);
    b.early = archive_events_before(&span->from, batch);
    b.inside_from = span->from.allocs;
    if (w->walk->group_count == 1 && w->walk->curves_only)
        walk_one_group(&b, w);
    else
        walk_steps(&b, w, false);
}

/* Steps through the batch from one bound of the windows to the next. */
static void walk_windows(batch_walk b, const archive_span *span, replay_walker *w)
{
    const log_batch *const batch = b.resolved->batch;
    const archive_place *const bounds = span->bounds;
    const u32 count = archive_events_before(&span->to, batch);
    b.bounds = bounds;
    for (b.first = 0; b.first < count; b.first = b.end) {
        while (
            w->interval < span->bound_count &&
            archive_place_is_reached(&bounds[w->interval], batch->segment, batch->first + b.first))
            w->interval++;
        b.end = count;
        if (w->interval < span->bound_count && bounds[w->interval].segment == batch->segment)
            b.end = (u32)etl_min_u64(count, bounds[w->interval].event - batch->first);
        b.inside_from = w->interval == 0 ? 0 : bounds[w->interval - 1].allocs;
        w->stretch = windows_stretch(w->walk->windows, w->interval);
        b.old_before = w->stretch == 0 ? 0 : first_of_stretch(&b, w, w->stretch);
        walk_steps(&b, w, true);
    }
}

/* Jobs that share groups follow each other. */
static void walk_batch(const archive_walk *walk, resolved_batch *resolved, replay_walker *walkers)
{
    const batch_walk b = { .resolved = resolved };
    for (u32 i = 0; i < walk->span_count; i++) {
        if (i == 0 || !shares_groups(walkers[i - 1].walk, walkers[i].walk))
            number_groups(walkers[i].walk, resolved);
        if (walkers[i].walk->windows != NULL)
            walk_windows(b, &walk->spans[i], &walkers[i]);
        else
            walk_window(b, &walk->spans[i], &walkers[i]);
    }
}

static etl_status walk_part(const void *user, u32 part, replay_walker *walkers)
{
    const archive_walk *const walk = user;
    const u32 segment = walk->first_segment + part;
    resolved_batch *const resolved = malloc(sizeof *resolved);
    const log_batch *batch = NULL;
    log_reader reader;
    etl_status status = archive_read(walk->archive, EHS_WANT_LATER | EHS_WANT_BACK | EHS_WANT_HOW,
                                     walk->cancel, &reader, NULL);
    log_reader_seek(&reader, segment, segment + 1);
    if (resolved == NULL)
        status = ETL_ERR_MEMORY;
    if (status == ETL_OK)
        status = log_next(&reader, &batch, NULL);
    for (u32 i = 0; status == ETL_OK && part == 0 && i < walk->span_count; i++)
        walk_open_blocks(walk, &walkers[i]);
    while (status == ETL_OK && batch != NULL) {
        resolve(walk, batch, resolved);
        walk_batch(walk, resolved, walkers);
        status = log_next(&reader, &batch, NULL);
    }
    log_reader_close(&reader);
    free(resolved);
    return status;
}
