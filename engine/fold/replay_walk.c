/*
 * replay_walk.c - see replay_walk.h, and replay.c for the idea.
 *
 * How a source is cut depends on its length and on the number of groups alone,
 * and segments are added up in order: threads change nothing.
 */
#include "replay_walk.h"

#include <stdlib.h>

#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "replay_step.h"

#define SEGMENT_EVENTS_MIN ((u64)1 << 20)
#define EVENTS_PER_GROUP   32u
#define NOTHING_YET        INT64_MIN

/* What the segments come together in. */
typedef struct walk_sum {
    live_group *groups;
    window_cell_list *cells;
    struct moment_sum *moment;
} walk_sum;

/* The curve of the only group so far, and the moment of its peak. */
typedef struct moment_sum {
    i64 size, count;
    replay_moment latest, best; /* when the curve moved last, and its peak */
} moment_sum;

/* A run of whole parts. */
typedef struct segment {
    u32 first, end;
} segment;

typedef struct round_work {
    const replay_source *source;
    replay_walker *walkers;
    const segment *segments;
} round_work;

typedef ETLHEAP_VECTOR(segment) segment_list;

static bool cut(const replay_walk *walk, const replay_source *source, segment_list *out);
static etl_status walk_all(const replay_walk *walk, const replay_source *source,
                           const walk_sum *sum);
static etl_status walk_segments(const replay_walk *walk, const segment_list *segments,
                                round_work *work, const walk_sum *sum);
static void walk_segment(void *context, u32 task);
static void add_segment(live_group *sum, const replay_walker *part);
static bool add_cells(window_cell_list *sum, const window_cell_list *part);
static void add_moment(moment_sum *sum, const replay_walker *part, u32 first_part);
static bool open_walker(replay_walker *walker, const replay_walk *walk);
static void close_walker(replay_walker *walker);

etl_status replay_walk_run(const replay_walk *walk, const replay_source *source, live_group **out)
{
    const size_t bytes = (walk->group_count + (size_t)1) * sizeof(live_group);
    const walk_sum sum = { .groups = calloc(1, bytes) };
    const etl_status status = sum.groups == NULL ? ETL_ERR_MEMORY : walk_all(walk, source, &sum);
    for (u32 g = 0; status == ETL_OK && g < walk->group_count; g++)
        curve_settle(&sum.groups[g].curve);
    if (status == ETL_OK)
        *out = sum.groups;
    else
        free(sum.groups);
    return status;
}

etl_status replay_walk_windows(const replay_walk *walk, const replay_source *source,
                               window_cell_list *out)
{
    return walk_all(walk, source, &(walk_sum){ .cells = out });
}

etl_status replay_walk_moment(const replay_walk *walk, const replay_source *source,
                              replay_moment *out)
{
    moment_sum sum = { .size = 0 };
    assert(walk->finds_moment && walk->curves_only && walk->group_count <= 1);
    const etl_status status = walk_all(walk, source, &(walk_sum){ .moment = &sum });
    if (sum.size > sum.best.size) {
        sum.best = sum.latest;
        sum.best.size = sum.size;
        sum.best.count = sum.count;
    }
    *out = sum.best;
    return status;
}

static etl_status walk_all(const replay_walk *walk, const replay_source *source,
                           const walk_sum *sum)
{
    segment_list segments = { 0 };
    const u32 walker_count = walk->jobs == 0 ? 1 : walk->jobs;
    round_work work = { source, calloc(walker_count, sizeof *work.walkers), NULL };
    bool ok = work.walkers != NULL && cut(walk, source, &segments);
    for (u32 i = 0; ok && i < walker_count && i < segments.count; i++) {
        ok = open_walker(&work.walkers[i], walk);
    }
    const etl_status status = ok ? walk_segments(walk, &segments, &work, sum) : ETL_ERR_MEMORY;
    for (u32 i = 0; work.walkers != NULL && i < walker_count; i++)
        close_walker(&work.walkers[i]);
    free(work.walkers);
    ETLHEAP_VECTOR_FREE(&segments);
    return status;
}

static bool open_walker(replay_walker *walker, const replay_walk *walk)
{
    const size_t places = walk->group_count + (size_t)1;
    if (walk->windows != NULL) {
        *walker = (replay_walker){ .walk = walk,
                                   .window_hot = machine_alloc_aligned(
                                       sizeof(window_hot), places * sizeof(window_hot)) };
        return walker->window_hot != NULL;
    }
    *walker = (replay_walker){ .walk = walk,
                               .hot = machine_alloc_aligned(sizeof(hot_group),
                                                            places * sizeof(hot_group)),
                               .cold = malloc(places * sizeof(cold_group)) };
    return walker->hot != NULL && walker->cold != NULL;
}

static void close_walker(replay_walker *walker)
{
    machine_free_aligned(walker->hot);
    free(walker->cold);
    machine_free_aligned(walker->window_hot);
    ETLHEAP_VECTOR_FREE(&walker->cells);
}

/* A segment ends where enough events are in it and time moves on. */
static bool cut(const replay_walk *walk, const replay_source *source, segment_list *out)
{
    const u64 wanted = etl_max_u64(SEGMENT_EVENTS_MIN, (u64)walk->group_count * EVENTS_PER_GROUP);
    u64 events = 0;
    segment next = { 0, 0 };
    for (u32 p = 0; p < source->part_count; p++) {
        if (events >= wanted && source->part_starts_tick(source->user, p)) {
            if (!ETLHEAP_PUSH(out, next))
                return false;
            next.first = p;
            events = 0;
        }
        next.end = p + 1;
        events += source->part_events(source->user, p);
    }
    return next.end == next.first || ETLHEAP_PUSH(out, next);
}

static etl_status walk_segments(const replay_walk *walk, const segment_list *segments,
                                round_work *work, const walk_sum *sum)
{
    const u32 walker_count = walk->jobs == 0 ? 1 : walk->jobs;
    for (size_t at = 0; at < segments->count; at += walker_count) {
        const u32 count = (u32)etl_min_u64(walker_count, segments->count - at);
        work->segments = &segments->at[at];
        etlheap_workers_run(walk->jobs, count, walk_segment, work);
        for (u32 i = 0; i < count; i++) {
            if (work->walkers[i].status != ETL_OK)
                return work->walkers[i].status;
            if (sum->moment != NULL)
                add_moment(sum->moment, &work->walkers[i], work->segments[i].first);
            else if (sum->groups != NULL)
                add_segment(sum->groups, &work->walkers[i]);
            else if (!add_cells(sum->cells, &work->walkers[i].cells))
                return ETL_ERR_MEMORY;
        }
    }
    return ETL_OK;
}

static void begin_walk(replay_walker *w)
{
    const curve nothing = { .peak_size = NOTHING_YET, .peak_count = NOTHING_YET };
    w->time = 1; /* a group's is 0 until its first step */
    w->interval = 0;
    w->peak_time = 0;
    w->peak_count = 0;
    w->status = ETL_OK;
    w->cells.count = 0;
    for (u32 g = 0; g < w->walk->group_count; g++) {
        if (w->window_hot != NULL)
            w->window_hot[g] = (window_hot){ .interval = WINDOW_NO_INTERVAL };
        else
            w->hot[g] = (hot_group){ .curve = nothing };
    }
    if (w->cold != NULL)
        memset(w->cold, 0, w->walk->group_count * sizeof *w->cold);
}

static void walk_segment(void *context, u32 task)
{
    const round_work *const work = context;
    replay_walker *const w = &work->walkers[task];
    begin_walk(w);
    for (u32 p = work->segments[task].first; p < work->segments[task].end; p++) {
        const etl_status status =
            w->status == ETL_OK ? work->source->walk_part(work->source->user, p, w) : ETL_OK;
        w->status = status == ETL_OK ? w->status : status;
    }
    for (u32 g = 0; w->window_hot != NULL && g < w->walk->group_count; g++)
        replay_turn(w, g, WINDOW_NO_INTERVAL);
}

static void add_curve(curve *sum, const curve *part)
{
    if (part->peak_size != NOTHING_YET) {
        const i64 peak_size = etl_sat_add_i64(sum->size, part->peak_size);
        const i64 peak_count = sum->count + part->peak_count;
        sum->peak_size = peak_size > sum->peak_size ? peak_size : sum->peak_size;
        sum->peak_count = peak_count > sum->peak_count ? peak_count : sum->peak_count;
    }
    curve_move(sum, part->size, part->count);
}

static void add_segment(live_group *sum, const replay_walker *part)
{
    for (u32 g = 0; g < part->walk->group_count; g++) {
        add_curve(&sum[g].curve, &part->hot[g].curve);
        tally_add_sums(&sum[g].types[ETLHEAP_TYPE_AIFI], &part->hot[g].aifi);
        for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
            tally_add_sums(&sum[g].types[t], &part->cold[g].types[t]);
    }
}

/* The peak of a segment may be what it began with: then it was when the curve moved last. */
static void add_moment(moment_sum *sum, const replay_walker *part, u32 first_part)
{
    if (part->walk->group_count == 0)
        return;
    const hot_group *const group = &part->hot[0];
    const bool has_peak = group->curve.peak_size != NOTHING_YET;
    const i64 height = has_peak ? etl_sat_add_i64(sum->size, group->curve.peak_size) : 0;
    if (height > sum->best.size) {
        sum->best = part->peak_time == 0
                        ? sum->latest
                        : (replay_moment){ .first_part = first_part, .time = part->peak_time };
        sum->best.size = height;
        sum->best.count = sum->count + part->peak_count;
    }
    if (group->time != 0)
        sum->latest = (replay_moment){ .first_part = first_part, .time = group->time };
    sum->size = etl_sat_add_i64(sum->size, group->curve.size);
    sum->count += group->curve.count;
}

static bool add_cells(window_cell_list *sum, const window_cell_list *part)
{
    if (!ETLHEAP_RESERVE(sum, part->count))
        return false;
    if (part->count > 0)
        memcpy(sum->at + sum->count, part->at, part->count * sizeof *part->at);
    sum->count += part->count;
    return true;
}
