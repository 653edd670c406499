/*
 * windows.c - see etlheap_windows.h.
 *
 * Lifetimes get their groups as for a report over everything that the windows span.
 * Then each pass is gone through once: what is in memory group by group
 * (windows_rows.c), heap events of a journal or a store in the order of time
 * (windows_walk.c). Both leave cells, from which all measures follow.
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "summary_windows.h"
#include "engine/table/table.h"
#include "windows.h"
#include "windows_memory.h"
#include "windows_rows.h"
#include "windows_walk.h"
#include "parser/sized.h"

/* What the rows of the table have. */
#define MEASURES                                                                                   \
    (1u << ETLHEAP_MEASURE_COUNT | 1u << ETLHEAP_MEASURE_SIZE |                                    \
     1u << ETLHEAP_MEASURE_IMPACTING_SIZE | 1u << ETLHEAP_MEASURE_OUTSTANDING_COUNT |              \
     1u << ETLHEAP_MEASURE_OUTSTANDING_SIZE | 1u << ETLHEAP_MEASURE_PEAK_COUNT |                   \
     1u << ETLHEAP_MEASURE_PEAK_SIZE)

/* Windows and the memory behind them. */
typedef struct owned_windows {
    etlheap_windows windows;
    windows_plan plan;
    window_cells *cells; /* by pass */
    u32 *groups;         /* by row of the table: number of its group in the cells */
    windows_memory memory;
    summary_windows *kept; /* those of a summary, in place of the cells; NULL: it is none */
} owned_windows;

typedef struct maker {
    etlheap_query query;      /* as given, but for the window and the key KIND */
    etlheap_time_range asked; /* the window as given */
    aggregator a;
    log_groups log;
    u32 first_log_group; /* groups of events follow those of rows */
    peak_rows rows;
    size_t *starts; /* of the rows, by group */
    owned_windows *out;
} maker;

static etl_status check_query(const etlheap_query *query, etl_error *err);
static void add_kind(etlheap_query *query);
static etl_status make(maker *m, const etlheap_result *result,
                       const etlheap_windows_options *options, etl_error *err);
static etl_status make_kept(maker *m, const etlheap_windows_options *options, etl_error *err);
static etl_status find_groups(maker *m, etl_error *err);
static etl_status walk_pass(maker *m, u32 number, etl_error *err);
static etl_status publish(maker *m, etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

etl_status etlheap_windows_make(const etlheap_result *result, const etlheap_query *given,
                                const etlheap_windows_options *options, etlheap_windows **out,
                                etl_error *err)
{
    *out = NULL;
    etlheap_windows_options own = { .size = sizeof own };
    etlheap_query asked;
    const etlheap_query *const query = &asked;
    etl_status status = etl_read_sized(options, "etlheap_windows_options", &own, sizeof own, err);
    if (status == ETL_OK)
        status = query_read(given, &asked, err);
    if (status != ETL_OK)
        return status;
    maker m = { .query = *query,
                .asked = { query->from_ns, query->to_ns },
                .out = calloc(1, sizeof *m.out) };
    add_kind(&m.query);
    status = m.out == NULL ? no_memory(err) : check_query(query, err);
    if (status == ETL_OK)
        status = windows_plan_hull(query, &own, &m.query.from_ns, &m.query.to_ns, err);
    if (status == ETL_OK)
        status = make(&m, result, &own, err);
    if (status == ETL_OK) {
        *out = &m.out->windows;
        m.out = NULL;
    }
    aggregate_close(&m.a);
    log_groups_close(&m.log);
    ETLHEAP_VECTOR_FREE(&m.rows);
    free(m.starts);
    etlheap_windows_free(m.out == NULL ? NULL : &m.out->windows);
    return status;
}

void etlheap_windows_free(etlheap_windows *windows)
{
    if (windows == NULL)
        return;
    owned_windows *const owned = (owned_windows *)windows;
    etlheap_table_free(owned->windows.table);
    for (size_t i = 0; owned->cells != NULL && i < owned->plan.passes.count; i++)
        windows_cells_free(&owned->cells[i]);
    free(owned->cells);
    free(owned->groups);
    windows_memory_close(&owned->memory);
    summary_windows_free(owned->kept);
    windows_plan_close(&owned->plan);
    free(owned);
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
    return windows_cells_read(&owned->cells[place.pass], owned->groups[row], place.interval, out);
}

i64 etlheap_windows_start_size(const etlheap_windows *windows, u32 row, u32 window)
{
    const owned_windows *const owned = (const owned_windows *)windows;
    if (row >= windows->table->row_count || window >= windows->window_count)
        return 0;
    const window_place place = owned->plan.places.at[window];
    if (owned->kept != NULL)
        return summary_windows_start_size(owned->kept, owned->groups[row], window);
    return windows_cells_start(&owned->cells[place.pass], owned->groups[row], place.interval)
        .outstanding_size;
}

u32 windows_next_news(const etlheap_windows *windows, u32 row, u32 window)
{
    const owned_windows *const owned = (const owned_windows *)windows;
    const window_place place = owned->plan.places.at[window];
    const window_cells *const cells = &owned->cells[place.pass];
    const u32 next = windows_cells_next(cells, owned->groups[row], place.interval);
    const u32 left = windows->window_count - window;
    const u32 quiet = next == WINDOW_NO_INTERVAL ? left : next - place.interval;
    return window + (quiet < left ? quiet : left);
}

static etl_status check_query(const etlheap_query *query, etl_error *err)
{
    const char *const refusal =
        query->types != 0 ? "each window has types of its own: they cannot be selected"
        : query_groups_by(query, ETLHEAP_KEY_TYPE)
            ? "types are columns of windows, not keys to group by"
        : query_groups_by(query, ETLHEAP_KEY_FREE_TYPE)
            ? "windows cannot be grouped by how lifetimes end"
        : query->lifetime_ranks || query->growth || query->kind_to_ticks != NULL
            ? "windows have no such measures or moments"
        : (MEASURES >> query->sort & 1) == 0 ? "rows of windows do not have the measure to sort by"
                                             : NULL;
    return refusal == NULL ? ETL_OK : etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s", refusal);
}

/* Kinds are never added together. */
static void add_kind(etlheap_query *query)
{
    const bool one_kind = query->kinds != 0 && (query->kinds & (query->kinds - 1)) == 0;
    if (one_kind || query_groups_by(query, ETLHEAP_KEY_KIND) ||
        query->group_by_count >= ETLHEAP_GROUP_BY_MAX)
        return;
    memmove(query->group_by + 1, query->group_by,
            query->group_by_count * sizeof query->group_by[0]);
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by_count++;
}

static etl_status make(maker *m, const etlheap_result *result,
                       const etlheap_windows_options *options, etl_error *err)
{
    owned_windows *const out = m->out;
    etl_status status = result_answers(result, RESULT_ASK_ROWS, err);
    if (status == ETL_OK && result->summary != NULL)
        status = summary_windows_refuse(result, &m->query, options, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&m->a, result, &m->query, err);
    if (status == ETL_OK)
        status = windows_plan_open(&out->plan, &m->a.plan, m->asked, options, err);
    if (status == ETL_OK && result->summary != NULL)
        return make_kept(m, options, err);
    if (status == ETL_OK && etlheap_result_is_report(result) &&
        !windows_walk_answers(&m->a, &out->plan))
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "the analysis kept no lifetimes to answer this from");
    if (status == ETL_OK)
        status = aggregate_settle(&m->a, err);
    if (status == ETL_OK)
        status = find_groups(m, err);
    if (status == ETL_OK) {
        out->cells = calloc(out->plan.passes.count + 1, sizeof *out->cells);
        status = out->cells == NULL ? no_memory(err) : ETL_OK;
    }
    for (u32 i = 0; status == ETL_OK && i < out->plan.passes.count; i++)
        status = walk_pass(m, i, err);
    if (status == ETL_OK)
        status = windows_memory_open(&out->memory, &m->a.plan, &out->plan, err);
    return status == ETL_OK ? publish(m, err) : status;
}

/* A summary has its windows made. */
static etl_status make_kept(maker *m, const etlheap_windows_options *options, etl_error *err)
{
    owned_windows *const out = m->out;
    const u32 windows = (u32)out->plan.windows.count;
    const bool is_all = options->measured_count == 0;
    const u32 first = is_all ? 0 : options->measured_first;
    const u32 count = is_all ? windows : options->measured_count;
    etl_status status = aggregate_settle(&m->a, err);
    if (status == ETL_OK)
        status = summary_windows_open(&m->a, &out->plan, &out->kept, err);
    if (status != ETL_OK)
        return status;
    summary_windows_measure(out->kept, &m->a, first, count);
    return publish(m, err);
}

/* Groups of lifetimes in memory come first, those of events after them: they are of
 * different kinds. */
static etl_status find_groups(maker *m, etl_error *err)
{
    aggregator *const a = &m->a;
    bool ok = aggregate_rows(a, &m->rows);
    m->first_log_group = (u32)a->groups.count;
    if (ok && etlheap_result_is_report(a->result)) {
        const log_groups_wanted wanted = { .first_group = m->first_log_group,
                                           .walks_events = true };
        const etl_status status = log_groups_open(&m->log, a, &wanted, err);
        if (status != ETL_OK)
            return status;
        for (u32 i = 0; ok && i < m->log.count; i++)
            ok = ETLHEAP_PUSH(&a->groups, (group_row){ .key = log_groups_key(&m->log, i) });
    }
    m->starts = calloc(a->groups.count + 2, sizeof *m->starts);
    ok = ok && m->starts != NULL && a->groups.count < GROUP_UNWANTED &&
         peaks_sort(m->rows.at, m->rows.count, m->starts, m->first_log_group);
    return ok ? ETL_OK : no_memory(err);
}

static etl_status walk_pass(maker *m, u32 number, etl_error *err)
{
    const aggregator *const a = &m->a;
    const window_pass *const pass = &m->out->plan.passes.at[number];
    const window_rows rows = { m->rows.at, m->starts, m->first_log_group };
    const u32 jobs = a->query->jobs == 0 ? etlheap_workers_default_jobs() : a->query->jobs;
    window_cell_list walked = { 0 };
    etl_status status = windows_rows_walk(&rows, pass, jobs, &walked) ? ETL_OK : no_memory(err);
    const size_t from_rows = walked.count;
    if (status == ETL_OK && etlheap_result_is_report(a->result))
        status = windows_walk_run(a, &m->log, pass, &walked, err);
    windows_cells_shift(&walked, from_rows, m->first_log_group);
    if (status == ETL_OK &&
        !windows_cells_make(&m->out->cells[number], &walked, (u32)a->groups.count))
        status = no_memory(err);
    ETLHEAP_VECTOR_FREE(&walked);
    return status;
}

/* Does anything of the group concern a window, or the time that is measured? */
static bool is_seen(const owned_windows *out, u32 group)
{
    for (size_t p = 0; p < out->plan.passes.count; p++) {
        if (windows_cells_any(&out->cells[p], group))
            return true;
    }
    return false;
}

/* Measures and totals of the time that is measured; groups that no window sees are
 * left out. */
static void measure_groups(maker *m)
{
    aggregator *const a = &m->a;
    const windows_plan *const plan = &m->out->plan;
    const window_cells *const cells = &m->out->cells[plan->measured_first.pass];
    size_t kept = 0;
    memset(a->totals, 0, sizeof a->totals);
    for (u32 g = 0; g < a->groups.count; g++) {
        if (!is_seen(m->out, g))
            continue;
        group_row row = a->groups.at[g];
        row.number = g;
        windows_cells_measure(cells, g, plan->measured_first.interval, plan->measured_last.interval,
                              row.measures);
        windows_add_total(a, &row);
        a->groups.at[kept++] = row;
    }
    a->groups.count = kept;
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
        return no_memory(err);
    for (size_t i = 0; i < a->groups.count; i++)
        out->groups[i] = a->groups.at[a->order[i]].number;
    etlheap_table *const table = &table_owned(out->windows.table)->table;
    table->measures = MEASURES;
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
