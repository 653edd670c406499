/*
 * windows.c - answers questions about time windows: cells for each group and window, measures.
 *
 * In: a plan of windows (windows_plan.h), rows in memory and events of an event list or store, or
 * the windows of a summary. Out: an etlheap_windows.
 *
 * Blocks of each source (feed.h) get their groups as for a report over the whole time that the
 * windows span. Then their events are walked once, in the order of time. That leaves cells, from
 * which all measures follow. Windows that overlap get theirs from those of the intervals that they
 * are made of (windows_runs.c).
 *
 * The walk over events is that of a report (heap_rows.c), but an event goes to its group's cell of
 * the current window, and survivors need not be known. Each free tells whether its block was
 * allocated in the same window: by the event list's flag, or by comparing the block's ordinal with
 * the window's first one. That gives AIFI; the other types follow from what is outstanding at both
 * ends:
 *
 *     AIFO = allocations - AIFI
 *     AOFO = outstanding at the end - AIFO
 *     AOFI = outstanding at the start - AOFO
 *
 * Invariant: groups of one source follow those of the other, so the two never share a group. They
 * are of different kinds.
 */
#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "engine/query/keys.h"
#include "engine/query/needs.h"
#include "engine/table/table.h"
#include "churn_blocks.h"
#include "churn_rows.h"
#include "folds.h"
#include "parser/sized.h"
#include "summary_windows.h"
#include "windows.h"
#include "windows_event_list.h"
#include "windows_memory.h"
#include "windows_runs.h"

/* The measures of the table's rows. */
#define MEASURES                                                                                   \
    (ETLHEAP_MEASURE_BIT(COUNT) | ETLHEAP_MEASURE_BIT(SIZE) |                                      \
     ETLHEAP_MEASURE_BIT(IMPACTING_SIZE) | ETLHEAP_MEASURE_BIT(OUTSTANDING_COUNT) |                \
     ETLHEAP_MEASURE_BIT(OUTSTANDING_SIZE) | ETLHEAP_MEASURE_BIT(PEAK_COUNT) |                     \
     ETLHEAP_MEASURE_BIT(PEAK_SIZE))
#define CHURN_MEASURES                                                                             \
    (ETLHEAP_MEASURE_BIT(TEMPORARY_COUNT) | ETLHEAP_MEASURE_BIT(TEMPORARY_SIZE) |                  \
     ETLHEAP_MEASURE_BIT(TEMPORARY_10_COUNT) | ETLHEAP_MEASURE_BIT(TEMPORARY_1MS_COUNT))

#define GROUPS_PER_TASK 256u

/* Windows, and the memory that they point to. */
typedef struct owned_windows {
    etlheap_windows windows;
    windows_plan plan;
    window_cells cells;
    window_runs runs; /* if some windows are runs of intervals */
    u32 *groups;      /* by row of the table: number of its group in the cells */
    windows_memory memory;
    summary_windows *kept; /* those of a summary, in place of the cells; NULL: it is none */
} owned_windows;

typedef struct maker {
    etlheap_query query;      /* as given, but for the window */
    etlheap_time_range asked; /* the window as given */
    etlheap_windows_options options;
    aggregator a;
    log_groups groups[FEED_SOURCE_COUNT];
    event_want events[FEED_SOURCE_COUNT];
    bool has[FEED_SOURCE_COUNT];
    u32 first[FEED_SOURCE_COUNT]; /* of their groups, among all */
    bool churns;                  /* rows have what is temporary */
    bool churns_by_origin;        /* blocks of the log */
    origin_churn churn;           /* by origin */
    owned_windows *out;
} maker;

static etl_status check_query(const etlheap_query *query, etl_error *err);
static etl_status plan(maker *m, const etlheap_result *result, etl_error *err);
static etl_status make_kept(maker *m, etl_error *err);
static etl_status begin_groups(maker *m, log_pass *pass, etl_error *err);
static etl_status finish_groups(maker *m, etl_error *err);
static etl_status make_cells(maker *m, etl_error *err);
static etl_status publish(maker *m, etl_error *err);

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    maker *const m = state;
    etlheap_query asked;
    m->options = (etlheap_windows_options){ .size = sizeof m->options };
    m->out = calloc(1, sizeof *m->out);
    etl_status status = m->out == NULL ? etl_no_memory(err) : ETL_OK;
    if (status == ETL_OK)
        status = etl_read_sized(question->windows, "etlheap_windows_options", &m->options,
                                sizeof m->options, err);
    if (status == ETL_OK)
        status = query_read_for(result, question->query, &asked, err);
    if (status != ETL_OK)
        return status;
    m->query = asked;
    m->asked = (etlheap_time_range){ asked.from_ns, asked.to_ns };
    m->churns = m->query.churn;
    status = check_query(&asked, err);
    if (status == ETL_OK)
        status = windows_plan_hull(&asked, &m->options, &m->query.from_ns, &m->query.to_ns, err);
    if (status == ETL_OK)
        status = plan(m, result, err);
    if (status == ETL_OK && result->summary == NULL)
        status = feed_number(&pass->feed, &m->a, err);
    if (status == ETL_OK)
        status = aggregate_finish_stacks(&m->a, &pass->feed.rows, err);
    if (status == ETL_OK)
        status = result->summary != NULL ? make_kept(m, err) : begin_groups(m, pass, err);
    return status;
}

static etl_status walk(void *state, log_pass *pass, etl_error *err)
{
    maker *const m = state;
    if (m->out->kept != NULL)
        return ETL_OK;
    etl_status status = finish_groups(m, err);
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        m->events[i] = (event_want){ .a = &m->a,
                                     .groups = &m->groups[i],
                                     .job.walk = { .windows = &m->out->plan.pass } };
        status = ETLHEAP_PUSH(&pass->events, &m->events[i]) ? ETL_OK : etl_no_memory(err);
    }
    return status;
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    maker *const m = state;
    const bool is_kept = m->out->kept != NULL;
    etl_status status = is_kept ? ETL_OK : make_cells(m, err);
    if (status == ETL_OK && !is_kept)
        status = windows_memory_open(&m->out->memory, &m->a.plan, &m->out->plan, err);
    if (status == ETL_OK)
        status = publish(m, err);
    if (status == ETL_OK) {
        out->windows = &m->out->windows;
        m->out = NULL;
    }
    return status;
}

static void close_maker(void *state)
{
    maker *const m = state;
    origin_churn_close(&m->churn);
    aggregate_close(&m->a);
    for (u32 i = 0; i < FEED_SOURCE_COUNT; i++) {
        replay_job_free(&m->events[i].job);
        log_groups_close(&m->groups[i]);
    }
    etlheap_windows_free(m->out == NULL ? NULL : &m->out->windows);
}

const fold fold_windows = { sizeof(maker), begin, walk, answer, close_maker };

void etlheap_windows_free(etlheap_windows *windows)
{
    if (windows == NULL)
        return;
    owned_windows *const owned = (owned_windows *)windows;
    etlheap_table_free(owned->windows.table);
    windows_cells_free(&owned->cells);
    windows_runs_free(&owned->runs);
    free(owned->groups);
    windows_memory_close(&owned->memory);
    summary_windows_free(owned->kept);
    windows_plan_close(&owned->plan);
    free(owned);
}

etl_status etlheap_windows_skip(etlheap_windows *windows, u32 rows, etl_error *err)
{
    owned_windows *const owned = (owned_windows *)windows;
    const u32 count = windows->table->row_count;
    const u32 skipped = (u32)etl_min_u64(rows, count);
    const etl_status status = etlheap_table_skip(windows->table, skipped, err);
    if (status == ETL_OK)
        memmove(owned->groups, owned->groups + skipped, (count - skipped) * sizeof *owned->groups);
    return status;
}

bool etlheap_windows_cell(const etlheap_windows *windows, u32 row, u32 window, etlheap_cell *out)
{
    const owned_windows *const owned = (const owned_windows *)windows;
    memset(out, 0, sizeof *out);
    if (row >= windows->table->row_count || window >= windows->window_count)
        return false;
    const window_place place = owned->plan.places.at[window];
    if (owned->kept != NULL)
        return summary_windows_cell(owned->kept, owned->groups[row], window, out);
    if (window_place_is_run(&place))
        return windows_cells_read_run(&owned->cells, &owned->runs.cells, owned->groups[row],
                                      place.interval, owned->runs.ranks[window], out);
    return windows_cells_read(&owned->cells, owned->groups[row], place.interval, out);
}

i64 etlheap_windows_start_size(const etlheap_windows *windows, u32 row, u32 window)
{
    const owned_windows *const owned = (const owned_windows *)windows;
    if (row >= windows->table->row_count || window >= windows->window_count)
        return 0;
    const window_place place = owned->plan.places.at[window];
    if (owned->kept != NULL)
        return summary_windows_start_size(owned->kept, owned->groups[row], window);
    return windows_cells_start(&owned->cells, owned->groups[row], place.interval).outstanding_size;
}

u32 etlheap_windows_next_news(const etlheap_windows *windows, u32 row, u32 window)
{
    const owned_windows *const owned = (const owned_windows *)windows;
    if (row >= windows->table->row_count || window >= windows->window_count)
        return windows->window_count;
    const window_place place = owned->plan.places.at[window];
    const u32 next = windows_cells_next(&owned->cells, owned->groups[row], place.interval);
    const u32 left = windows->window_count - window;
    const u32 quiet = next == WINDOW_NO_INTERVAL ? left
                      : next > place.last        ? next - place.interval
                                                 : 0;
    return window + (quiet < left ? quiet : left);
}

bool etlheap_windows_sort_by(etlheap_measure measure)
{
    return (u32)measure < ETLHEAP_MEASURES_COUNT && (MEASURES >> measure & 1) != 0;
}

static etl_status check_query(const etlheap_query *query, etl_error *err)
{
    const char *refusal = NULL;
    for (u32 i = 0; refusal == NULL && i < query->group_by_count; i++)
        refusal = key_row_of(query->group_by[i])->not_in_windows;
    if (query->types != 0)
        refusal = "types cannot be selected here: every window has its own";
    else if (refusal == NULL && (query->rates || query_asks_lifetimes(query)))
        refusal = "windows have no such measures or moments";
    else if (refusal == NULL && !etlheap_windows_sort_by(query->sort))
        refusal = "windows do not have the measure to sort by";
    return refusal == NULL ? ETL_OK : etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s", refusal);
}

/* Events are walked by origin unless single blocks are asked for, and churn need not change
 * that. */
static void choose_churn(maker *m)
{
    m->query.churn = false;
    m->churns_by_origin = m->churns && m->has[FEED_LOG] && !query_needs(&m->query, NEEDS_BLOCKS);
    m->query.churn = m->churns && !m->churns_by_origin;
}

/* Plans the windows, if the result can answer for them. */
static etl_status plan(maker *m, const etlheap_result *result, etl_error *err)
{
    const etlheap_windows_options *const options = &m->options;
    windows_plan *const out = &m->out->plan;
    etl_status status = result_answers(result, RESULT_NEED_ROWS, err);
    if (status == ETL_OK && result->summary != NULL)
        status = summary_windows_refuse(result, &m->query, options, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&m->a, result, &m->query, err);
    if (status == ETL_OK)
        status = windows_plan_open(out, &m->a.plan, m->asked, options, err);
    for (u32 i = 0; status == ETL_OK && result->summary == NULL && i < FEED_SOURCE_COUNT; i++)
        m->has[i] = log_groups_exist(&m->a, (feed_source)i);
    if (status == ETL_OK && m->has[FEED_LOG] && !windows_event_list_answers(&m->a, out))
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "the analysis kept no lifetimes, which this question needs");
    if (status == ETL_OK)
        choose_churn(m);
    return status;
}

/* Takes the windows of a summary, which exist already. */
static etl_status make_kept(maker *m, etl_error *err)
{
    owned_windows *const out = m->out;
    const u32 windows = (u32)out->plan.windows.count;
    const bool is_all = m->options.measured_count == 0;
    const u32 first = is_all ? 0 : m->options.measured_first;
    const u32 count = is_all ? windows : m->options.measured_count;
    const etl_status status = summary_windows_open(&m->a, &out->plan, &out->kept, err);
    if (status == ETL_OK)
        summary_windows_measure(out->kept, &m->a, first, count);
    return status;
}

static etl_status begin_groups(maker *m, log_pass *pass, etl_error *err)
{
    aggregator *const a = &m->a;
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        const log_groups_wanted wanted = { .source = (feed_source)i,
                                           .walks_events = true,
                                           .churns = i == FEED_LOG ? m->query.churn : m->churns };
        if (m->has[i])
            status = log_groups_begin(&m->groups[i], a, &wanted, pass, err);
    }
    return status == ETL_OK && m->churns_by_origin
               ? origin_churn_begin(&m->churn, a, &m->groups[FEED_LOG].origins, pass, err)
               : status;
}

static bool push_groups(maker *m, feed_source source)
{
    aggregator *const a = &m->a;
    const log_groups *const groups = &m->groups[source];
    const bool by_origin = source == FEED_LOG && m->churns_by_origin;
    const churn_join *const churn = by_origin ? &m->churn.join : &groups->blocks.churn;
    bool ok = true;
    aggregate_expect(a, groups->count);
    for (u32 i = 0; ok && i < groups->count; i++) {
        group_row row = { .key = log_groups_key(groups, i) };
        if (m->churns)
            churn_add(row.measures, &churn->sums.at[i]);
        ok = aggregate_push(a, &row);
    }
    return ok;
}

static etl_status finish_groups(maker *m, etl_error *err)
{
    const aggregator *const a = &m->a;
    etl_status status = ETL_OK;
    if (m->churns_by_origin)
        status = origin_churn_finish(&m->churn, err);
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        m->first[i] = (u32)a->groups.count;
        if (m->has[i])
            status = log_groups_finish(&m->groups[i], m->first[i], err);
        if (status == ETL_OK && !push_groups(m, (feed_source)i))
            status = etl_no_memory(err);
    }
    if (status == ETL_OK)
        status = aggregate_count(&m->a, err);
    return status == ETL_OK && a->groups.count >= GROUP_UNWANTED ? etl_no_memory(err) : status;
}

/* Makes the cells of windows that are runs of intervals. */
static bool make_runs(maker *m, window_old_list *old, const cells_wanted *wanted)
{
    owned_windows *const out = m->out;
    if (out->plan.pass.edges.count == 0)
        return true;
    return windows_runs_make(&out->runs, &out->plan, &out->cells, old, wanted);
}

/* Moves what a walk left to what the one before left. */
static bool take_walked(replay_job *to, replay_job *from, u32 first_group)
{
    if (!ETLHEAP_RESERVE(&to->cells, from->cells.count) ||
        !ETLHEAP_RESERVE(&to->old, from->old.count))
        return false;
    for (size_t i = 0; i < from->cells.count; i++) {
        from->cells.at[i].first_group = first_group;
        to->cells.at[to->cells.count++] = from->cells.at[i];
    }
    from->cells.count = 0;
    for (size_t i = 0; i < from->old.count; i++) {
        from->old.at[i].group += first_group;
        to->old.at[to->old.count++] = from->old.at[i];
    }
    replay_job_free(from);
    return true;
}

/* Makes cells from walked events. */
static etl_status make_cells(maker *m, etl_error *err)
{
    const etlheap_query *const query = m->a.query;
    const cells_wanted wanted = { (u32)m->a.groups.count, feed_tasks(query), query->cancel };
    replay_job *const job = &m->events[0].job;
    bool ok = true;
    for (u32 i = 1; ok && i < FEED_SOURCE_COUNT; i++)
        ok = take_walked(job, &m->events[i].job, m->first[i]);
    ok = ok && windows_cells_make(&m->out->cells, &job->cells, &wanted) &&
         make_runs(m, &job->old, &wanted);
    replay_job_free(job);
    return ok ? ETL_OK : cancelled_or_no_memory(query->cancel, err);
}

/* Sets the measures of a group; those of churn are set already. */
static void measure_group(const maker *m, u32 group)
{
    const window_place place = m->out->plan.measured_place;
    const u32 kept = m->churns ? CHURN_MEASURES : 0;
    i64 *const to = aggregate_measures(&m->a, group);
    i64 measures[ETLHEAP_MEASURES_COUNT];
    windows_cells_measure(&m->out->cells, group, place.interval, place.last, measures);
    for (u32 i = 0; i < m->a.measure_count; i++)
        to[i] = (kept >> i & 1) != 0 ? to[i] : measures[i];
}

/* Groups that no window sees get no number. */
static void measure_some(void *context, u32 task)
{
    const maker *const m = context;
    const u32 first = task * GROUPS_PER_TASK, count = (u32)m->a.groups.count;
    for (u32 g = first; g < count && g - first < GROUPS_PER_TASK; g++) {
        const bool seen = windows_cells_any(&m->out->cells, g);
        m->a.groups.at[g].number = seen ? g : GROUP_NONE;
        if (seen)
            measure_group(m, g);
    }
}

/* Computes measures and totals of the measured time, without groups that no window sees. */
static void measure_groups(maker *m)
{
    aggregator *const a = &m->a;
    size_t kept = 0;
    memset(a->totals, 0, sizeof a->totals);
    etlheap_workers_run(feed_tasks(a->query), (u32)a->groups.count / GROUPS_PER_TASK + 1,
                        measure_some, m);
    for (u32 g = 0; g < a->groups.count; g++) {
        if (a->groups.at[g].number == GROUP_NONE)
            continue;
        group_row row;
        aggregate_row(a, g, &row);
        windows_add_total(a, &row);
        aggregate_put(a, kept++, &row);
    }
    aggregate_cut(a, kept);
}

void windows_add_total(aggregator *a, const group_row *row)
{
    i64 *const total = a->totals[row->key.kind];
    for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++) {
        const bool adds_up = i != ETLHEAP_MEASURE_PEAK_COUNT && i != ETLHEAP_MEASURE_PEAK_SIZE;
        total[i] = adds_up ? etl_sat_add_i64(total[i], row->measures[i]) : 0;
    }
}

static etl_status publish(maker *m, etl_error *err)
{
    owned_windows *const out = m->out;
    aggregator *const a = &m->a;
    if (out->kept == NULL)
        measure_groups(m);
    out->windows.table = aggregate_table(a);
    out->groups = calloc(a->groups.count + 1, sizeof *out->groups);
    if (out->windows.table == NULL || out->groups == NULL)
        return etl_no_memory(err);
    for (size_t i = 0; i < a->groups.count; i++)
        out->groups[i] = a->groups.at[a->order[i]].number;
    etlheap_table *const table = out->windows.table;
    table->measures = MEASURES | (m->churns ? CHURN_MEASURES : 0);
    table->from_ns = out->plan.measured.from_ns;
    table->to_ns = out->plan.measured.to_ns;
    out->windows.every_ns = out->plan.every_ns;
    out->windows.windows = out->plan.windows.at;
    out->windows.window_count = (u32)out->plan.windows.count;
    out->windows.memory = out->memory.system;
    out->windows.process_memory = out->memory.processes;
    out->windows.process_memory_count = out->memory.process_count;
    return ETL_OK;
}
