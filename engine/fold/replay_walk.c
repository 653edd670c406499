/*
 * replay_walk.c - walks the heap events of an event list or a store for several jobs at once.
 *
 * In: parts of events from a source, and jobs with groups by origin or block. Out: sums, peaks,
 * cells or the moment of a peak for each job.
 *
 * The events are cut into sections between two ticks. Threads walk sections side by side, each with
 * curves that start at 0. A thread that is done with a section waits until those before it were
 * joined, joins its own, and goes on with the next one that nobody has:
 *
 *     section 1    net +3, peak 5         peak so far  5        sum  3
 *     section 2    net -1, peak 4         peak so far  3 + 4    sum  2
 *
 * Invariant: cuts depend only on the number of events and groups, never on threads, and no tick
 * lies in two sections. So the answer is the same for any number of threads.
 */
#include "replay_walk.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "replay_step.h"

#define SECTION_EVENTS   ((u64)1 << 20)
#define EVENTS_PER_GROUP 32u
#define NOTHING_YET      INT64_MIN

/* The curve of a job's only group so far, and the moment of its peak. */
typedef struct peak_sum {
    i64 size, count;
    replay_peak latest, best; /* when the curve moved last, and its peak */
} peak_sum;

/* A run of whole parts. */
typedef struct section {
    u32 first, end;
} section;

/* A job, and the moment of its peak so far. */
typedef struct walk_sum {
    replay_job *job;
    peak_sum peak;
} walk_sum;

typedef ETLHEAP_VECTOR(section) section_list;

/* Walkers of one task follow each other, one for each job. */
typedef struct walk_work {
    const replay_source *source;
    u32 threads, jobs;
    walk_sum *sums;
    replay_walker *walkers;
    section_list sections;
    u32 next;              /* section that nobody has */
    etlheap_gauge *joined; /* number of sections; the next one's thread writes sums and status */
    etl_status status;
    etl_error *err; /* written with the status */
} walk_work;

#define AWAIT_MS 100u

static etl_status count_walkers(const walk_work *work, bool are_open);
static bool open_sums(walk_work *work);
static bool open_walkers(const walk_work *work, size_t sections);
static bool cut(const walk_work *work, section_list *out);
static void walk_sections(void *context, u32 task);
static void walk_section(const walk_work *work, const section *range, replay_walker *walkers);
static bool add_part(walk_sum *sum, replay_walker *part, u32 first_part);
static void finish(walk_sum *sum);
static bool open_walker(replay_walker *walker, const replay_walk *walk);
static void close_walker(replay_walker *walker);

etl_status replay_jobs_run(replay_job *const *jobs, u32 count, u32 threads,
                           const replay_source *source, etl_error *err)
{
    walk_work work = {
        .source = source, .threads = threads == 0 ? 1 : threads, .jobs = count, .err = err
    };
    work.sums = calloc((size_t)count + 1, sizeof *work.sums);
    work.walkers = calloc((size_t)work.threads * count + 1, sizeof *work.walkers);
    work.joined = etlheap_gauge_open();
    bool ok = work.sums != NULL && work.walkers != NULL && work.joined != NULL;
    for (u32 i = 0; ok && i < count; i++)
        work.sums[i].job = jobs[i];
    ok = ok && cut(&work, &work.sections);
    const bool is_counted = ok;
    if (is_counted)
        work.status = count_walkers(&work, true);
    ok = ok &&
         (work.status != ETL_OK || (open_sums(&work) && open_walkers(&work, work.sections.count)));
    if (ok && work.status == ETL_OK)
        etlheap_workers_run(work.threads, (u32)etl_min_u64(work.threads, work.sections.count),
                            walk_sections, &work);
    const etl_status status = ok ? work.status : ETL_ERR_MEMORY;
    for (u32 i = 0; status == ETL_OK && i < count; i++)
        finish(&work.sums[i]);
    for (u32 i = 0; work.walkers != NULL && i < work.threads * count; i++)
        close_walker(&work.walkers[i]);
    if (is_counted)
        (void)count_walkers(&work, false);
    free(work.walkers);
    free(work.sums);
    etlheap_gauge_close(work.joined);
    ETLHEAP_VECTOR_FREE(&work.sections);
    return status;
}

void replay_job_free(replay_job *job)
{
    walked_parts_free(&job->cells);
    ETLHEAP_VECTOR_FREE(&job->old);
    free(job->groups);
    job->groups = NULL;
}

static bool has_old(const replay_walk *walk)
{
    return walk->windows != NULL && walk->windows->edges.count > 0;
}

/* Places for groups, and for sets, which replay_fetch takes for groups. */
static u64 places_of(const replay_walk *walk)
{
    const u32 sets = walk->sets == NULL ? 0 : walk->sets->count;
    return (sets > walk->group_count ? sets : walk->group_count) + (u64)1;
}

static u64 walker_bytes(const replay_walk *walk)
{
    const u64 of_windows = sizeof(window_hot) + (has_old(walk) ? sizeof(window_old) : 0);
    const u64 of_sums = sizeof(hot_group) + (walk->curves_only ? 0 : sizeof(cold_group));
    return places_of(walk) * (walk->windows != NULL ? of_windows : of_sums);
}

static bool has_groups(const replay_walk *walk)
{
    return walk->windows == NULL && !walk->finds_peak;
}

/* Counts groups and walkers before they are made, and takes walkers off when they are freed. */
static etl_status count_walkers(const walk_work *work, bool are_open)
{
    const u64 tasks = etl_min_u64(work->threads, work->sections.count);
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < work->jobs; i++) {
        replay_job *const job = work->sums[i].job;
        const u64 groups = has_groups(&job->walk) ? job->walk.group_count * sizeof *job->groups : 0;
        const u64 walkers = tasks * walker_bytes(&job->walk);
        const u64 bytes = are_open                    ? groups + walkers
                          : job->held_bytes > walkers ? job->held_bytes - walkers
                                                      : 0;
        status = memory_hold(job->walk.memory, &job->held_bytes, bytes, work->err);
    }
    return status;
}

static bool open_sums(walk_work *work)
{
    bool ok = true;
    for (u32 i = 0; i < work->jobs; i++) {
        replay_job *const job = work->sums[i].job;
        const replay_walk *const walk = &job->walk;
        assert(!walk->finds_peak || (walk->curves_only && walk->group_count <= 1));
        if (!has_groups(walk))
            continue;
        job->groups = etlheap_workers_calloc(work->threads, walk->group_count + (size_t)1,
                                             sizeof *job->groups);
        ok = ok && job->groups != NULL;
    }
    return ok;
}

/* Opens walkers for as many tasks as there are sections. */
static bool open_walkers(const walk_work *work, size_t sections)
{
    const size_t tasks = etl_min_u64(work->threads, sections);
    bool ok = true;
    for (size_t i = 0; ok && i < tasks * work->jobs; i++)
        ok = open_walker(&work->walkers[i], &work->sums[i % work->jobs].job->walk);
    return ok;
}

static bool open_walker(replay_walker *walker, const replay_walk *walk)
{
    const size_t places = places_of(walk);
    if (walk->windows != NULL) {
        *walker = (replay_walker){ .walk = walk,
                                   .window_hot = machine_alloc_aligned(
                                       sizeof(window_hot), places * sizeof(window_hot)) };
        if (has_old(walk))
            walker->old = malloc(places * sizeof *walker->old);
        return walker->window_hot != NULL && (!has_old(walk) || walker->old != NULL);
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
    free(walker->old);
    ETLHEAP_VECTOR_FREE(&walker->olds);
    ETLHEAP_VECTOR_FREE(&walker->cells);
}

/* The number of events of a section. More groups want longer sections, because each section clears
 * and adds all groups. All sections have about as many events, and there is an even number of
 * sections, so that of two threads none walks the last one alone. */
static u64 section_events(const walk_work *work)
{
    const replay_source *const source = work->source;
    u64 most = SECTION_EVENTS, all = 0;
    for (u32 i = 0; i < work->jobs; i++) {
        const u64 groups = work->sums[i].job->walk.group_count;
        most = etl_max_u64(most, groups * EVENTS_PER_GROUP);
    }
    for (u32 p = 0; p < source->part_count; p++)
        all += source->part_events(source->user, p);
    const u64 count = (all + most - 1) / most;
    return count < 2 ? all + 1 : all / (count + count % 2) + 1;
}

/* Cuts sections, where the events so far are nearest to a multiple of a section's, but only before
 * a part that begins a new tick. */
static bool cut(const walk_work *work, section_list *out)
{
    const replay_source *const source = work->source;
    const u64 wanted = section_events(work);
    u64 events = 0;
    section next = { 0, 0 };
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

/* Adds a walked section to the sums of all jobs. */
static etl_status join_section(const walk_work *work, replay_walker *walkers, u32 first_part)
{
    for (u32 i = 0; i < work->jobs; i++) {
        if (walkers[i].status != ETL_OK)
            return walkers[i].status;
        replay_job *const job = work->sums[i].job;
        const u64 cells = walkers[i].cells.count + walkers[i].olds.count * sizeof(window_old);
        const etl_status status =
            memory_hold(job->walk.memory, &job->held_bytes, job->held_bytes + cells, work->err);
        if (status != ETL_OK)
            return status;
        if (!add_part(&work->sums[i], &walkers[i], first_part))
            return ETL_ERR_MEMORY;
    }
    return ETL_OK;
}

/* Sections are taken in order, so the thread with the first one that is not joined never waits. */
static void walk_sections(void *context, u32 task)
{
    walk_work *const work = context;
    replay_walker *const walkers = &work->walkers[task * work->jobs];
    for (;;) {
        const u32 number = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (number >= work->sections.count)
            return;
        const section *const range = &work->sections.at[number];
        walk_section(work, range, walkers);
        while (etlheap_gauge_await(work->joined, number, AWAIT_MS) < number) {
        }
        if (work->status == ETL_OK)
            work->status = join_section(work, walkers, range->first);
        etlheap_gauge_raise(work->joined, number + (u64)1);
    }
}

static void begin_walk(replay_walker *w)
{
    const curve nothing = { .peak_size = NOTHING_YET, .peak_count = NOTHING_YET };
    w->time = 1; /* a group's is 0 until its first step */
    w->interval = w->stretch = 0;
    w->peak_time = 0;
    w->peak_count = 0;
    w->status = ETL_OK;
    w->cells.count = w->olds.count = 0;
    for (u32 g = 0; g < w->walk->group_count; g++) {
        if (w->window_hot != NULL)
            w->window_hot[g] = (window_hot){ .interval = WINDOW_NO_INTERVAL };
        else
            w->hot[g] = (hot_group){ .curve = nothing };
    }
    if (w->old != NULL)
        memset(w->old, 0, w->walk->group_count * sizeof *w->old);
    if (w->cold != NULL)
        memset(w->cold, 0, w->walk->group_count * sizeof *w->cold);
}

/* A question that is given up ends the walk for all, as they are answered together. */
static bool is_given_up(const walk_work *work)
{
    bool is = false;
    for (u32 i = 0; i < work->jobs && !is; i++)
        is = cancel_is_set(work->sums[i].job->walk.cancel);
    return is;
}

static void walk_section(const walk_work *work, const section *range, replay_walker *walkers)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < work->jobs; i++)
        begin_walk(&walkers[i]);
    for (u32 p = range->first; status == ETL_OK && p < range->end; p++)
        status = is_given_up(work) ? ETL_ERR_CANCELLED
                                   : work->source->walk_part(work->source->user, p, walkers);
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

static void add_section(live_group *sum, const replay_walker *part)
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

/* Adds a section's peak. If the section's peak is what it began with, the peak was when the curve
 * moved last. */
static void add_peak(peak_sum *sum, const replay_walker *part, u32 first_part)
{
    if (part->walk->group_count == 0)
        return;
    const hot_group *const group = &part->hot[0];
    const bool has_peak = group->curve.peak_size != NOTHING_YET;
    const i64 height = has_peak ? etl_sat_add_i64(sum->size, group->curve.peak_size) : 0;
    if (height > sum->best.size) {
        sum->best = part->peak_time == 0
                        ? sum->latest
                        : (replay_peak){ .first_part = first_part, .time = part->peak_time };
        sum->best.size = height;
        sum->best.count = sum->count + part->peak_count;
    }
    if (group->time != 0)
        sum->latest = (replay_peak){ .first_part = first_part, .time = group->time };
    sum->size = etl_sat_add_i64(sum->size, group->curve.size);
    sum->count += group->curve.count;
}

/* Takes the blocks of earlier stretches. */
static bool add_old(window_old_list *sum, const replay_walker *part)
{
    bool ok = ETLHEAP_RESERVE(sum, part->olds.count);
    if (ok && part->olds.count > 0)
        memcpy(sum->at + sum->count, part->olds.at, part->olds.count * sizeof *sum->at);
    sum->count += ok ? part->olds.count : 0;
    for (u32 g = 0; ok && part->old != NULL && g < part->walk->group_count; g++)
        ok = part->old[g].count == 0 || ETLHEAP_PUSH(sum, part->old[g]);
    return ok;
}

static bool add_part(walk_sum *sum, replay_walker *part, u32 first_part)
{
    replay_job *const job = sum->job;
    if (job->walk.windows != NULL)
        return add_old(&job->old, part) && walked_parts_take(&job->cells, &part->cells, 0);
    if (job->walk.finds_peak)
        add_peak(&sum->peak, part, first_part);
    else
        add_section(job->groups, part);
    return true;
}

/* Finishes the sums: what is outstanding at the end counts too. */
static void finish(walk_sum *sum)
{
    replay_job *const job = sum->job;
    peak_sum *const peak = &sum->peak;
    for (u32 g = 0; job->groups != NULL && g < job->walk.group_count; g++)
        curve_note_peak(&job->groups[g].curve);
    if (peak->size > peak->best.size) {
        peak->best = peak->latest;
        peak->best.size = peak->size;
        peak->best.count = peak->count;
    }
    job->peak = peak->best;
}
