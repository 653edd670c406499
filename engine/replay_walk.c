/*
 * replay_walk.c - see replay_walk.h, and replay.c for the idea.
 *
 * How a source is cut depends on its length and on the number of groups alone,
 * and segments are added up in order: threads change nothing.
 */
#include "replay_walk.h"

#include <stdlib.h>

#include "replay_step.h"
#include "workers.h"

#define SEGMENT_EVENTS_MIN ((u64)1 << 20)
#define EVENTS_PER_GROUP   32u
#define NOTHING_YET        INT64_MIN

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
static etl_status walk_segments(const replay_walk *walk, const segment_list *segments,
                                round_work *work, live_group *sum);
static void walk_segment(void *context, u32 task);
static void add_segment(live_group *sum, const replay_walker *part);
static bool open_walker(replay_walker *walker, const replay_walk *walk);
static void close_walker(replay_walker *walker);

etl_status replay_walk_run(const replay_walk *walk, const replay_source *source, live_group **out)
{
    segment_list segments = { 0 };
    const size_t bytes = (walk->group_count + (size_t)1) * sizeof(live_group);
    live_group *const sum = calloc(1, bytes);
    const u32 walker_count = walk->jobs == 0 ? 1 : walk->jobs;
    round_work work = { source, calloc(walker_count, sizeof *work.walkers), NULL };
    bool ok = sum != NULL && work.walkers != NULL && cut(walk, source, &segments);
    for (u32 i = 0; ok && i < walker_count && i < segments.count; i++) {
        ok = open_walker(&work.walkers[i], walk);
    }
    const etl_status status = ok ? walk_segments(walk, &segments, &work, sum) : ETL_ERR_MEMORY;
    for (u32 g = 0; status == ETL_OK && g < walk->group_count; g++)
        curve_settle(&sum[g].curve);
    for (u32 i = 0; work.walkers != NULL && i < walker_count; i++)
        close_walker(&work.walkers[i]);
    free(work.walkers);
    ETLHEAP_VECTOR_FREE(&segments);
    if (status == ETL_OK)
        *out = sum;
    else
        free(sum);
    return status;
}

static bool open_walker(replay_walker *walker, const replay_walk *walk)
{
    const size_t places = walk->group_count + (size_t)1;
    *walker = (replay_walker){ .walk = walk,
                               .hot = aligned_alloc(sizeof(hot_group), places * sizeof(hot_group)),
                               .cold = malloc(places * sizeof(cold_group)) };
    return walker->hot != NULL && walker->cold != NULL;
}

static void close_walker(replay_walker *walker)
{
    free(walker->hot);
    free(walker->cold);
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
                                round_work *work, live_group *sum)
{
    const u32 walker_count = walk->jobs == 0 ? 1 : walk->jobs;
    for (size_t at = 0; at < segments->count; at += walker_count) {
        const u32 count = (u32)etl_min_u64(walker_count, segments->count - at);
        work->segments = &segments->at[at];
        etlheap_workers_run(walk->jobs, count, walk_segment, work);
        for (u32 i = 0; i < count; i++) {
            if (work->walkers[i].status != ETL_OK)
                return work->walkers[i].status;
            add_segment(sum, &work->walkers[i]);
        }
    }
    return ETL_OK;
}

static void walk_segment(void *context, u32 task)
{
    const round_work *const work = context;
    replay_walker *const w = &work->walkers[task];
    const curve nothing = { .peak_size = NOTHING_YET, .peak_count = NOTHING_YET };
    for (u32 g = 0; g < w->walk->group_count; g++)
        w->hot[g] = (hot_group){ .curve = nothing };
    memset(w->cold, 0, w->walk->group_count * sizeof *w->cold);
    w->time = 1; /* a group's is 0 until its first step */
    w->status = ETL_OK;
    for (u32 p = work->segments[task].first; p < work->segments[task].end; p++) {
        if (w->status == ETL_OK)
            w->status = work->source->walk_part(work->source->user, p, w);
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
    curve_move(sum, part->size, part->count);
}

static void add_sums_of(type_sums *to, const type_sums *from)
{
    to->count += from->count;
    to->size = etl_sat_add_i64(to->size, from->size);
    to->realloc_count += from->realloc_count;
}

static void add_segment(live_group *sum, const replay_walker *part)
{
    for (u32 g = 0; g < part->walk->group_count; g++) {
        add_curve(&sum[g].curve, &part->hot[g].curve);
        add_sums_of(&sum[g].types[ETLHEAP_TYPE_AIFI], &part->hot[g].aifi);
        for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
            add_sums_of(&sum[g].types[t], &part->cold[g].types[t]);
    }
}
