/*
 * summary_windows.c - the windows that a summary keeps, added up by groups of a query.
 *
 * In: the cells of a summary's entries (counts and sizes by type for each window). Out: cells,
 * measures and totals of groups.
 *
 * Windows of the entries in a group are added up as those of traces are when summaries are merged.
 * Outstanding memory follows from types: at the end of a window it is AIFO + AOFO, at its start
 * AOFI + AOFO. So a trace that ends takes its outstanding memory with it, and none of that counts
 * as freed. The peak of a window is unknown if several entries or traces both allocate and free in
 * it; otherwise it is what is there at its end or start. Invariant: once a peak is unknown,
 * everything combined with it is unknown too.
 */
#include "summary_windows.h"

#include <stdlib.h>

#include "windows.h"
#include "summary_answer.h"

static bool gather(aggregator *a, summary_windows *windows);
static const summary_cell *find_cell(const summary_windows *windows, u32 group, u32 window);
static void measure_group(const summary_windows *windows, u32 group, u32 first, u32 count,
                          i64 measures[ETLHEAP_MEASURES_COUNT]);

static etl_status refuse_length(i64 every_ns, etl_error *err)
{
    char text[SUMMARY_EVERY_TEXT];
    summary_every_text(every_ns, text);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "the summary has only windows of %s; use the trace or its full store",
                         text);
}

etl_status summary_windows_refuse(const etlheap_result *result, const etlheap_query *query,
                                  const etlheap_windows_options *options, etl_error *err)
{
    const i64 every_ns = result->summary->every_ns;
    if (every_ns == 0)
        return etl_fail_hint(err, ETL_ERR_ARGUMENT, ETL_HINT_KEEP_WINDOWS,
                             "the summary has no windows");
    if (options->every_ns != every_ns || options->cut_count > 0 || options->range_count > 0 ||
        options->with_whole)
        return refuse_length(every_ns, err);
    if (!query->at_exit_freed)
        return etl_fail_hint(err, ETL_ERR_ARGUMENT, ETL_HINT_EXITS_FREE,
                             "in the windows of a summary, the end of a process frees its memory; "
                             "use the trace or its full store");
    return ETL_OK;
}

etl_status summary_windows_open(aggregator *a, const windows_plan *plan, summary_windows **out,
                                etl_error *err)
{
    const i64 every_ns = a->result->summary->every_ns;
    const u32 entries = (u32)a->result->summary->entries.count;
    summary_windows *const windows = calloc(1, sizeof *windows);
    *out = windows;
    if (windows == NULL)
        return etl_no_memory(err);
    if (plan->windows.count > 0)
        windows->first = summary_window_number(plan->windows.at[0].from_ns, every_ns);
    windows->groups = calloc((size_t)entries + 1, sizeof *windows->groups);
    windows->group_count = entries;
    return windows->groups != NULL && gather(a, windows) ? ETL_OK : etl_no_memory(err);
}

void summary_windows_free(summary_windows *windows)
{
    if (windows == NULL)
        return;
    for (u32 i = 0; windows->groups != NULL && i < windows->group_count; i++)
        ETLHEAP_VECTOR_FREE(&windows->groups[i]);
    free(windows->groups);
    free(windows);
}

/* Gathers the cells of each group. There are no more groups than entries. */
static bool gather(aggregator *a, summary_windows *windows)
{
    const summary_data *const data = a->result->summary;
    summary_cells scratch = { 0 };
    bool ok = true;
    size_t first = 0;
    for (u32 i = 0; ok && i < data->entries.count; i++) {
        const summary_entry *const entry = &data->entries.at[i];
        u32 group = GROUP_UNWANTED;
        size_t end = first;
        while (end < data->cells.count && data->cells.at[end].entry == i)
            end++;
        if (summary_selects(a, entry))
            ok = summary_group(a, entry, ETLHEAP_TYPE_AIFO, &group);
        if (ok && group != GROUP_UNWANTED)
            ok = summary_add_cells(&windows->groups[group], data->cells.at + first, end - first,
                                   &scratch);
        first = end;
    }
    ETLHEAP_VECTOR_FREE(&scratch);
    return ok;
}

/* The run of windows that contains a window; NULL if none does. */
static const summary_cell *find_cell(const summary_windows *windows, u32 group, u32 window)
{
    const summary_cells *const cells = &windows->groups[group];
    const i64 number = windows->first + window;
    size_t low;
    ETL_BISECT(low, 0, cells->count, cells->at[low].window <= number);
    if (low == 0)
        return NULL;
    const summary_cell *const cell = &cells->at[low - 1];
    return number - cell->window < (i64)cell->window_count ? cell : NULL;
}

static i64 signed_of(u64 value)
{
    return value > INT64_MAX ? INT64_MAX : (i64)value;
}

/* Reads the peak; the other members are set already. */
static void read_peak(const summary_amounts *from, etlheap_cell *out)
{
    const bool frees = out->count[ETLHEAP_TYPE_AIFI] > 0 || out->count[ETLHEAP_TYPE_AOFI] > 0;
    const bool allocates = out->count[ETLHEAP_TYPE_AIFI] > 0 || out->count[ETLHEAP_TYPE_AIFO] > 0;
    if (summary_peak_is_known(&from->peak)) {
        out->peak_count = signed_of(from->peak.count);
        out->peak_size = signed_of(from->peak.size_bytes);
    } else if (!frees) {
        out->peak_count = out->outstanding_count;
        out->peak_size = out->outstanding_size;
    } else if (!allocates) {
        out->peak_count =
            etl_sat_add_i64(out->count[ETLHEAP_TYPE_AOFI], out->count[ETLHEAP_TYPE_AOFO]);
        out->peak_size =
            etl_sat_add_i64(out->size[ETLHEAP_TYPE_AOFI], out->size[ETLHEAP_TYPE_AOFO]);
    } else {
        out->peak_count = out->peak_size = ETLHEAP_NOT_KNOWN;
    }
}

static void read_amounts(const summary_amounts *from, etlheap_cell *out)
{
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        out->count[type] = signed_of(from->count[type]);
        out->size[type] = signed_of(from->size_bytes[type]);
    }
    out->outstanding_count =
        etl_sat_add_i64(out->count[ETLHEAP_TYPE_AIFO], out->count[ETLHEAP_TYPE_AOFO]);
    out->outstanding_size =
        etl_sat_add_i64(out->size[ETLHEAP_TYPE_AIFO], out->size[ETLHEAP_TYPE_AOFO]);
    out->impacting_size = out->size[ETLHEAP_TYPE_AIFO] - out->size[ETLHEAP_TYPE_AOFI];
    read_peak(from, out);
}

bool summary_windows_cell(const summary_windows *windows, u32 group, u32 window, etlheap_cell *out)
{
    const summary_cell *const cell = find_cell(windows, group, window);
    *out = (etlheap_cell){ .outstanding_count = 0 };
    if (cell != NULL)
        read_amounts(&cell->amounts, out);
    return cell != NULL;
}

i64 summary_windows_start_size(const summary_windows *windows, u32 group, u32 window)
{
    etlheap_cell cell;
    (void)summary_windows_cell(windows, group, window, &cell);
    return etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AOFI], cell.size[ETLHEAP_TYPE_AOFO]);
}

void summary_windows_measure(const summary_windows *windows, aggregator *a, u32 first, u32 count)
{
    size_t kept = 0;
    memset(a->totals, 0, sizeof a->totals);
    for (u32 g = 0; g < a->groups.count; g++) {
        if (windows->groups[g].count == 0)
            continue;
        group_row row = { .key = a->groups.at[g].key, .number = g };
        measure_group(windows, g, first, count, row.measures);
        windows_add_total(a, &row);
        aggregate_put(a, kept++, &row);
    }
    aggregate_cut(a, kept);
}

static void add(i64 *to, i64 value)
{
    *to = etl_sat_add_i64(*to, value);
}

/* Raises a maximum. It becomes unknown as soon as one value is unknown. */
static void raise_to(i64 *to, i64 value)
{
    if (*to == ETLHEAP_NOT_KNOWN || value == ETLHEAP_NOT_KNOWN)
        *to = ETLHEAP_NOT_KNOWN;
    else
        *to = value > *to ? value : *to;
}

/* The amount of one window times the number of windows. */
static i64 times(i64 value, i64 windows)
{
    i64 product;
    if (!__builtin_mul_overflow(value, windows, &product))
        return product;
    return value < 0 ? INT64_MIN : INT64_MAX;
}

static void add_run(const summary_cell *cell, i64 windows, i64 measures[ETLHEAP_MEASURES_COUNT])
{
    static const etlheap_type inside[] = { ETLHEAP_TYPE_AIFO, ETLHEAP_TYPE_AIFI };
    etlheap_cell window;
    read_amounts(&cell->amounts, &window);
    for (size_t i = 0; i < ETL_COUNT_OF(inside); i++) {
        add(&measures[ETLHEAP_MEASURE_COUNT], times(window.count[inside[i]], windows));
        add(&measures[ETLHEAP_MEASURE_SIZE], times(window.size[inside[i]], windows));
    }
    add(&measures[ETLHEAP_MEASURE_IMPACTING_SIZE], times(window.impacting_size, windows));
    raise_to(&measures[ETLHEAP_MEASURE_PEAK_COUNT], window.peak_count);
    raise_to(&measures[ETLHEAP_MEASURE_PEAK_SIZE], window.peak_size);
}

/* Measures a group: what was outstanding at the start or was allocated since, and what is
 * outstanding at the end. */
static void measure_group(const summary_windows *windows, u32 group, u32 first, u32 count,
                          i64 measures[ETLHEAP_MEASURES_COUNT])
{
    const summary_cells *const cells = &windows->groups[group];
    const i64 from = windows->first + first, to = from + count;
    etlheap_cell end;
    for (size_t i = 0; i < cells->count; i++) {
        const summary_cell *const cell = &cells->at[i];
        const i64 cell_end = cell->window + (i64)cell->window_count;
        const i64 start = cell->window > from ? cell->window : from;
        const i64 stop = cell_end < to ? cell_end : to;
        if (start < stop)
            add_run(cell, stop - start, measures);
    }
    (void)summary_windows_cell(windows, group, first, &end);
    add(&measures[ETLHEAP_MEASURE_COUNT],
        etl_sat_add_i64(end.count[ETLHEAP_TYPE_AOFI], end.count[ETLHEAP_TYPE_AOFO]));
    add(&measures[ETLHEAP_MEASURE_SIZE],
        etl_sat_add_i64(end.size[ETLHEAP_TYPE_AOFI], end.size[ETLHEAP_TYPE_AOFO]));
    (void)summary_windows_cell(windows, group, first + count - 1, &end);
    measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = end.outstanding_count;
    measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = end.outstanding_size;
}
