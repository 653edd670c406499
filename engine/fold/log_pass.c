/*
 * log_pass.c - walks over the events of a log, an event list or rows once for all questions that
 * want the same of them. log_pass.h draws the two ways through a log.
 *
 * In: wants of events, from several questions. Out: sums, curves, cells and moments, handed back to
 * each want.
 *
 * Invariant: a want's answer does not depend on which other wants share its reading.
 */
#include "log_pass.h"

#include <stdlib.h>

#include "archive_walk.h"
#include "engine/core/cancel.h"
#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "engine/log/event_list_clock.h"
#include "rows_walk.h"

#define LARGE_BLOCKS ((u64)4 << 20)

/* A walk over a store or rows, for some of the wants. */
typedef struct shared_walk {
    event_want **wants;
    archive_demand *demands;
    replay_job **jobs;
    u32 count;
} shared_walk;

static void fill_walk(event_want *want);
static etl_status walk_rows(log_pass *pass, etl_error *err);
static etl_status walk_event_list(const log_pass *pass, etl_error *err);
static etl_status walk_store(log_pass *pass, etl_error *err);
static etl_status walk_shared(const shared_walk *shared, etl_error *err);

void log_pass_close(log_pass *pass)
{
    feed_close(&pass->feed);
    ETLHEAP_VECTOR_FREE(&pass->events);
}

/* --- events ------------------------------------------------------------------------- */

/* Drops wants without groups, which need no walk. */
static void keep_those_with_groups(log_pass *pass)
{
    size_t kept = 0;
    for (size_t i = 0; i < pass->events.count; i++) {
        if (pass->events.at[i]->groups->count > 0)
            pass->events.at[kept++] = pass->events.at[i];
    }
    pass->events.count = kept;
}

etl_status log_pass_events(log_pass *pass, etl_error *err)
{
    keep_those_with_groups(pass);
    for (size_t i = 0; i < pass->events.count; i++)
        fill_walk(pass->events.at[i]);
    etl_status status = walk_rows(pass, err);
    if (status == ETL_OK && pass->events.count > 0)
        status = pass->events.at[0]->a->result->mode == RESULT_STORE ? walk_store(pass, err)
                                                                     : walk_event_list(pass, err);
    pass->events.count = 0;
    return status;
}

static void fill_walk(event_want *want)
{
    const etlheap_query *const query = want->a->query;
    replay_walk *const walk = &want->job.walk;
    walk->origin_groups = want->of_word != NULL ? want->of_word : want->groups->of_word;
    walk->origin_count = want->groups->word_count;
    if (walk->sets == NULL) /* else whoever made the sets knows how many */
        walk->group_count = want->of_word != NULL ? 1 : want->groups->count;
    walk->size_min_bytes = query->size_min_bytes;
    walk->size_max_bytes = query->size_max_bytes;
    walk->cancel = query->cancel;
    walk->memory = want->a->plan.memory;
}

/* Why a walk failed. */
static etl_status tell(etl_status status, etl_error *err)
{
    switch (status) {
    case ETL_OK:
        return status;
    case ETL_ERR_IO:
        return etl_fail_with(err, status, 0, "the temporary file cannot be read back");
    case ETL_ERR_CORRUPT:
        return etl_fail_with(err, status, 0, "the store is damaged");
    case ETL_ERR_CANCELLED:
        return cancelled(err);
    case ETL_ERR_LIMIT:
        return status; /* said by memory_hold */
    default:
        return etl_no_memory(err);
    }
}

/* Takes the wants of rows from the list. */
static void take_wants_of_rows(log_pass *pass, shared_walk *shared)
{
    size_t left = 0;
    for (size_t i = 0; i < pass->events.count; i++) {
        event_want *const want = pass->events.at[i];
        if (want->groups->source == FEED_LOG) {
            pass->events.at[left++] = want;
            continue;
        }
        shared->wants[shared->count] = want;
        shared->jobs[shared->count++] = &want->job;
    }
    pass->events.count = left;
}

static etl_status walk_wants_of_rows(const log_pass *pass, const shared_walk *shared,
                                     etl_error *err)
{
    row_words *const words = calloc(shared->count, sizeof *words);
    const u32 *const cancel = shared->wants[0]->a->query->cancel;
    rows_walk walk = {
        .rows = &pass->feed.rows, .words = words, .jobs = shared->count, .cancel = cancel
    };
    for (u32 i = 0; words != NULL && i < shared->count; i++)
        words[i] = (row_words){ &shared->wants[i]->groups->blocks.words,
                                shared->wants[i]->a->plan.from_ticks };
    const bool ok = words != NULL && rows_walk_sort(&walk);
    etl_status status = ok ? ETL_OK : cancelled_or_no_memory(cancel, err);
    if (status == ETL_OK) {
        const replay_source source = rows_walk_source(&walk);
        const u32 threads = feed_tasks(shared->wants[0]->a->query);
        status = tell(replay_jobs_run(shared->jobs, shared->count, threads, &source, err), err);
    }
    for (u32 i = 0; status == ETL_OK && i < shared->count; i++) {
        if (shared->jobs[i]->walk.finds_peak)
            shared->wants[i]->peak_ticks = rows_walk_ticks(&walk, &shared->jobs[i]->peak);
    }
    rows_walk_close(&walk);
    free(words);
    return status;
}

static etl_status walk_rows(log_pass *pass, etl_error *err)
{
    const size_t most = pass->events.count + 1;
    shared_walk shared = { .wants = calloc(most, sizeof *shared.wants),
                           .jobs = calloc(most, sizeof *shared.jobs) };
    etl_status status = shared.wants != NULL && shared.jobs != NULL ? ETL_OK : etl_no_memory(err);
    if (status == ETL_OK)
        take_wants_of_rows(pass, &shared);
    if (status == ETL_OK && shared.count > 0)
        status = walk_wants_of_rows(pass, &shared, err);
    free(shared.wants);
    free(shared.jobs);
    return status;
}

/* Where the windows of a job begin in the event list. One that was cut into windows knows it; one
 * with a clock finds it. */
static bool find_crossings(const event_list *list, const replay_walk *walk, window_crossings *out)
{
    const window_pass *const windows = walk->windows;
    if (windows == NULL)
        return true;
    if (list->keeps_clock)
        return event_list_clock_find(list, windows->bounds.at, (u32)windows->bounds.count, out);
    const size_t count = list->crossings.count;
    if (!ETLHEAP_RESERVE(out, count))
        return false;
    if (count > 0)
        memcpy(out->at, list->crossings.at, count * sizeof *out->at);
    out->count = count;
    return true;
}

static etl_status walk_event_list(const log_pass *pass, etl_error *err)
{
    const event_want *const first = pass->events.at[0];
    const event_list *const list = &first->a->result->event_list;
    const u32 count = (u32)pass->events.count;
    replay_job **const jobs = calloc(count, sizeof *jobs);
    window_crossings *const crossings = calloc(count, sizeof *crossings);
    bool ok = jobs != NULL && crossings != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        jobs[i] = &pass->events.at[i]->job;
        jobs[i]->walk.survivors = list->survivor_bits;
        ok = find_crossings(list, &jobs[i]->walk, &crossings[i]);
    }
    const event_list_source own = { list, crossings, count };
    const replay_source source = replay_event_list_source(&own);
    const u32 threads = feed_tasks(first->a->query);
    const etl_status status =
        ok ? replay_jobs_run(jobs, count, threads, &source, err) : ETL_ERR_MEMORY;
    for (u32 i = 0; crossings != NULL && i < count; i++)
        ETLHEAP_VECTOR_FREE(&crossings[i]);
    free(crossings);
    free(jobs);
    return tell(status, err);
}

static archive_demand demand_of(const event_want *want)
{
    const replay_walk *const walk = &want->job.walk;
    return (archive_demand){
        .a = want->a,
        .windows = walk->windows,
        .words = want->groups->by_block ? &want->groups->blocks.words : NULL,
        .asks_survivors = walk->windows == NULL && (walk->by_type || !walk->curves_only),
    };
}

static bool shares_with_all(const shared_walk *shared, const archive_demand *demand)
{
    bool shares = true;
    for (u32 i = 0; shares && i < shared->count; i++)
        shares = archive_walk_shares(&shared->demands[i], demand);
    return shares;
}

/* Takes the wants that can share a walk with the first one from the list. */
static void gather_events(log_pass *pass, shared_walk *shared)
{
    size_t left = 0;
    shared->count = 0;
    for (size_t i = 0; i < pass->events.count; i++) {
        event_want *const want = pass->events.at[i];
        const archive_demand demand = demand_of(want);
        if (!shares_with_all(shared, &demand)) {
            pass->events.at[left++] = want;
            continue;
        }
        shared->wants[shared->count] = want;
        shared->demands[shared->count] = demand;
        shared->jobs[shared->count++] = &want->job;
    }
    pass->events.count = left;
}

/* Gives back what reading the blocks of a large store has left: the walk needs a word for each
 * block, and lists of cells that grow. */
static void give_back(const ehs_archive *archive)
{
    const ehs_segment_index *const segments = &archive->segments;
    if (segments->count > 0 && segments->at[segments->count - 1].first_ordinal > LARGE_BLOCKS)
        machine_give_back();
}

static etl_status walk_store(log_pass *pass, etl_error *err)
{
    const size_t count = pass->events.count;
    give_back(pass->events.at[0]->a->result->archive);
    shared_walk shared = { .wants = calloc(count, sizeof *shared.wants),
                           .demands = calloc(count, sizeof *shared.demands),
                           .jobs = calloc(count, sizeof *shared.jobs) };
    const bool ok = shared.wants != NULL && shared.demands != NULL && shared.jobs != NULL;
    etl_status status = ok ? ETL_OK : etl_no_memory(err);
    while (status == ETL_OK && pass->events.count > 0) {
        gather_events(pass, &shared);
        status = walk_shared(&shared, err);
    }
    free(shared.wants);
    free(shared.demands);
    free(shared.jobs);
    return status;
}

static etl_status walk_shared(const shared_walk *shared, etl_error *err)
{
    archive_walk walk;
    etl_status status = archive_walk_open(&walk, shared->demands, shared->count, err);
    if (status == ETL_OK) {
        const replay_source source = archive_source(&walk);
        for (u32 i = 0; i < shared->count; i++)
            shared->jobs[i]->walk.survivors = walk.survivors;
        status =
            tell(replay_jobs_run(shared->jobs, shared->count, walk.threads, &source, err), err);
    }
    for (u32 i = 0; status == ETL_OK && i < shared->count; i++) {
        event_want *const want = shared->wants[i];
        if (want->job.walk.finds_peak)
            status = archive_walk_ticks(&walk, want->job.peak.first_part, want->job.peak.time,
                                        &want->peak_ticks, err);
    }
    archive_walk_close(&walk);
    return status;
}
