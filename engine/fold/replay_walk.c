/*
 * replay_walk.c - walks the heap events of a journal or a store for several jobs at once.
 *
 * In: parts of events from a source, and jobs with groups by slot or block. Out: sums, peaks, cells
 * or the moment of a peak for each job.
 *
 * The events are cut into segments between two ticks. Threads walk segments side by side, each with
 * curves that start at 0. Then segments are joined in the order of time:
 *
 *     segment 1    net +3, peak 5         peak so far  5        sum  3
 *     segment 2    net -1, peak 4         peak so far  3 + 4    sum  2
 *
 * Invariant: cuts depend only on the number of events and groups, never on threads, and no tick
 * lies in two segments. So the answer is the same for any number of threads.
 */
#include "replay_walk.h"

#include <stdlib.h>

#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "replay_step.h"

#define SEGMENT_EVENTS   ((u64)1 << 20)
#define EVENTS_PER_GROUP 32u
#define NOTHING_YET      INT64_MIN

/* The curve of a job's only group so far, and the moment of its peak. */
typedef struct moment_sum {
    i64 size, count;
    replay_moment latest, best; /* when the curve moved last, and its peak */
} moment_sum;

/* A run of whole parts. */
typedef struct segment {
    u32 first, end;
} segment;

/* A job, and the moment of its peak so far. */
typedef struct walk_sum {
    replay_job *job;
    moment_sum moment;
} walk_sum;

/* Walkers of one task follow each other, one for each job. */
typedef struct round_work {
    const replay_source *source;
    u32 threads, jobs;
    walk_sum *sums;
    replay_walker *walkers;
    const segment *segments;
} round_work;

typedef ETLHEAP_VECTOR(segment) segment_list;

static bool open_sums(round_work *work, replay_job *const *jobs);
static bool open_walkers(const round_work *work, size_t segments);
static bool cut(const round_work *work, segment_list *out);
static etl_status walk_segments(round_work *work, const segment_list *segments);
static void walk_segment(void *context, u32 task);
static bool add_part(walk_sum *sum, const replay_walker *part, u32 first_part);
static void finish(walk_sum *sum);
static bool open_walker(replay_walker *walker, const replay_walk *walk);
static void close_walker(replay_walker *walker);

etl_status replay_jobs_run(replay_job *const *jobs, u32 count, u32 threads,
                           const replay_source *source)
{
    round_work work = { .source = source, .threads = threads == 0 ? 1 : threads, .jobs = count };
    segment_list segments = { 0 };
    work.sums = calloc((size_t)count + 1, sizeof *work.sums);
    work.walkers = calloc((size_t)work.threads * count + 1, sizeof *work.walkers);
    const bool ok = work.sums != NULL && work.walkers != NULL && open_sums(&work, jobs) &&
                    cut(&work, &segments) && open_walkers(&work, segments.count);
    const etl_status status = ok ? walk_segments(&work, &segments) : ETL_ERR_MEMORY;
    for (u32 i = 0; status == ETL_OK && i < count; i++)
        finish(&work.sums[i]);
    for (u32 i = 0; work.walkers != NULL && i < work.threads * count; i++)
        close_walker(&work.walkers[i]);
    free(work.walkers);
    free(work.sums);
    ETLHEAP_VECTOR_FREE(&segments);
    return status;
}

static bool open_sums(round_work *work, replay_job *const *jobs)
{
    bool ok = true;
    for (u32 i = 0; i < work->jobs; i++) {
        replay_job *const job = jobs[i];
        const replay_walk *const walk = &job->walk;
        work->sums[i].job = job;
        assert(!walk->finds_moment || (walk->curves_only && walk->group_count <= 1));
        if (walk->windows != NULL || walk->finds_moment)
            continue;
        job->groups = etlheap_workers_calloc(work->threads, walk->group_count + (size_t)1,
                                             sizeof *job->groups);
        ok = ok && job->groups != NULL;
    }
    return ok;
}

/* Opens walkers for as many tasks as there are segments. */
static bool open_walkers(const round_work *work, size_t segments)
{
    const size_t tasks = etl_min_u64(work->threads, segments);
    bool ok = true;
    for (size_t i = 0; ok && i < tasks * work->jobs; i++)
        ok = open_walker(&work->walkers[i], &work->sums[i % work->jobs].job->walk);
    return ok;
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
    *walker = (replay_walker){
        .walk = walk, .hot = machine_alloc_aligned(sizeof(hot_group), places * sizeof(hot_group))
    };
    if (!walk->curves_only)
        walker->cold = malloc(places * sizeof(cold_group));
    return walker->hot != NULL && (walk->curves_only || walker->cold != NULL);
}

static void close_walker(replay_walker *walker)
{
    machine_free_aligned(walker->hot);
    free(walker->cold);
    machine_free_aligned(walker->window_hot);
    ETLHEAP_VECTOR_FREE(&walker->cells);
}

/* The number of events of a segment. More groups want longer segments, because each segment clears
 * and adds all groups. All segments have about as many events, and there is an even number of
 * segments, so that of two threads none walks the last one alone. */
static u64 segment_events(const round_work *work)
{
    const replay_source *const source = work->source;
    u64 most = SEGMENT_EVENTS, all = 0;
    for (u32 i = 0; i < work->jobs; i++) {
        const u64 groups = work->sums[i].job->walk.group_count;
        most = etl_max_u64(most, groups * EVENTS_PER_GROUP);
    }
    for (u32 p = 0; p < source->part_count; p++)
        all += source->part_events(source->user, p);
    const u64 count = (all + most - 1) / most;
    return count < 2 ? all + 1 : all / (count + count % 2) + 1;
}

/* Cuts segments, where the events so far are nearest to a multiple of a segment's, but only before
 * a part that begins a new tick. */
static bool cut(const round_work *work, segment_list *out)
{
    const replay_source *const source = work->source;
    const u64 wanted = segment_events(work);
    u64 events = 0;
    segment next = { 0, 0 };
    for (u32 p = 0; p < source->part_count; p++) {
        const u64 more = source->part_events(source->user, p);
        const bool is_due = events + more / 2 >= wanted * (out->count + 1) && next.end > next.first;
        if (is_due && source->part_starts_tick(source->user, p)) {
            if (!ETLHEAP_PUSH(out, next))
                return false;
            next.first = p;
        }
        next.end = p + 1;
        events += more;
    }
    return next.end == next.first || ETLHEAP_PUSH(out, next);
}

/* Runs a round on all threads, then adds their segments in the order of time. */
static etl_status walk_round(round_work *work, u32 count)
{
    etlheap_workers_run(work->threads, count, walk_segment, work);
    for (u32 task = 0; task < count; task++) {
        for (u32 i = 0; i < work->jobs; i++) {
            const replay_walker *const part = &work->walkers[task * work->jobs + i];
            if (part->status != ETL_OK)
                return part->status;
            if (!add_part(&work->sums[i], part, work->segments[task].first))
                return ETL_ERR_MEMORY;
        }
    }
    return ETL_OK;
}

static etl_status walk_segments(round_work *work, const segment_list *segments)
{
    etl_status status = ETL_OK;
    for (size_t at = 0; status == ETL_OK && at < segments->count; at += work->threads) {
        work->segments = &segments->at[at];
        status = walk_round(work, (u32)etl_min_u64(work->threads, segments->count - at));
    }
    return status;
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
    replay_walker *const walkers = &work->walkers[task * work->jobs];
    etl_status status = ETL_OK;
    for (u32 i = 0; i < work->jobs; i++)
        begin_walk(&walkers[i]);
    for (u32 p = work->segments[task].first; status == ETL_OK && p < work->segments[task].end; p++)
        status = work->source->walk_part(work->source->user, p, walkers);
    for (u32 i = 0; i < work->jobs; i++) {
        replay_walker *const w = &walkers[i];
        for (u32 g = 0; w->window_hot != NULL && g < w->walk->group_count; g++)
            replay_turn(w, g, WINDOW_NO_INTERVAL);
        w->status = w->status == ETL_OK ? status : w->status;
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

static void add_segment(live_group *sum, const replay_walker *part)
{
    for (u32 g = 0; g < part->walk->group_count; g++) {
        add_curve(&sum[g].curve, &part->hot[g].curve);
        if (part->walk->curves_only)
            continue;
        tally_add_sums(&sum[g].types[ETLHEAP_TYPE_AIFI], &part->hot[g].aifi);
        for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
            tally_add_sums(&sum[g].types[t], &part->cold[g].types[t]);
    }
}

/* Adds a segment's moment. If the segment's peak is what it began with, the peak was when the curve
 * moved last. */
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

static bool add_part(walk_sum *sum, const replay_walker *part, u32 first_part)
{
    replay_job *const job = sum->job;
    if (job->walk.windows != NULL)
        return add_cells(&job->cells, &part->cells);
    if (job->walk.finds_moment)
        add_moment(&sum->moment, part, first_part);
    else
        add_segment(job->groups, part);
    return true;
}

/* Finishes the sums: what is outstanding at the end counts too. */
static void finish(walk_sum *sum)
{
    replay_job *const job = sum->job;
    moment_sum *const moment = &sum->moment;
    for (u32 g = 0; job->groups != NULL && g < job->walk.group_count; g++)
        curve_settle(&job->groups[g].curve);
    if (moment->size > moment->best.size) {
        moment->best = moment->latest;
        moment->best.size = moment->size;
        moment->best.count = moment->count;
    }
    job->moment = moment->best;
}
