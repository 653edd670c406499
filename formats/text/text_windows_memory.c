/*
 * text_windows_memory.c - writes commit and working set over the windows, for people.
 *
 * In: the samples of MemInfo records in an etlheap_windows. Out: curves of the system, and a table
 * of the largest processes. A window has the last sample in it. Invariant: a value may be unknown,
 * which tables must not show as 0; only curves draw it as 0.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/sparkline.h"
#include "text_windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CURVE_COLUMNS 20

typedef enum sample_value { SAMPLE_COMMIT, SAMPLE_AVAILABLE, SAMPLE_WORKING_SET } sample_value;

/* A process with its sort key. */
typedef struct ranked_process {
    u32 index;
    i64 largest;
} ranked_process;

static etl_status write_system(const etlheap_windows_view *view, i64 *values, etlheap_sink *sink);
static etl_status write_system_curve(const etlheap_windows_view *view, const char *label,
                                     sample_value value, i64 *values, etlheap_sink *sink);
static etl_status write_processes(const etlheap_windows_view *view, i64 *values,
                                  etlheap_sink *sink);
static int compare_largest(const void *left, const void *right);
static void add_process(const etlheap_windows_view *view, u32 index, i64 *values,
                        etlheap_grid *grid);
static bool last_of(const etlheap_windows *windows, const etlheap_memory_sample *samples,
                    sample_value value, i64 *last);
static i64 fill(const etlheap_windows *windows, const etlheap_memory_sample *samples,
                sample_value value, i64 *values);
static bool value_of(const etlheap_memory_sample *sample, sample_value which, i64 *value);

etl_status etlheap_windows_write_memory(const etlheap_windows_view *view, etlheap_sink *sink)
{
    const etlheap_windows *const windows = view->answer->windows;
    if (!windows->memory && windows->process_memory_count == 0)
        return ETL_OK;
    i64 *const values = calloc((size_t)windows->window_count + 1, sizeof *values);
    if (!values)
        return ETL_ERR_MEMORY;
    etl_status status = ETL_OK;
    etlheap_text_heading(sink, view->layout, "Memory as the system sampled it");
    if (windows->memory)
        status = write_system(view, values, sink);
    if (status == ETL_OK && windows->process_memory_count > 0)
        status = write_processes(view, values, sink);
    free(values);
    return status;
}

static etl_status write_system(const etlheap_windows_view *view, i64 *values, etlheap_sink *sink)
{
    const etl_status status = write_system_curve(view, "Commit", SAMPLE_COMMIT, values, sink);
    return status == ETL_OK ? write_system_curve(view, "Available", SAMPLE_AVAILABLE, values, sink)
                            : status;
}

static etl_status write_system_curve(const etlheap_windows_view *view, const char *label,
                                     sample_value value, i64 *values, etlheap_sink *sink)
{
    const etlheap_windows *const windows = view->answer->windows;
    etlheap_windows_curve curve = { .label = label, .values = values };
    char text[ETLHEAP_UNITS_SIZE];
    i64 last;
    if (!last_of(windows, windows->memory, value, &last))
        return ETL_OK;
    (void)fill(windows, windows->memory, value, values);
    etlheap_units_size(last, text);
    snprintf(curve.note, sizeof curve.note, "%s at last", text);
    return etlheap_windows_write_curve(view, &curve, sink);
}

/* Writes processes with the largest commit or working set first, as many as the layout has rows.
 * Some have no known value at the end of any window. */
static etl_status write_processes(const etlheap_windows_view *view, i64 *values, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Process", .flexible = true }, { .title = "Working Set", .right = true },
        { .title = "Largest", .right = true },    { .title = "Commit", .right = true },
        { .title = "Largest", .right = true },    { .title = "Working Set" },
    };
    const etlheap_windows *const windows = view->answer->windows;
    const u32 count = windows->process_memory_count;
    const u32 rows_max = view->layout->rows_max;
    ranked_process *const ranks = calloc(count, sizeof *ranks);
    if (!ranks)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < count; i++) {
        const etlheap_memory_sample *const samples = windows->process_memory[i].at;
        const i64 commit = fill(windows, samples, SAMPLE_COMMIT, values);
        const i64 working_set = fill(windows, samples, SAMPLE_WORKING_SET, values);
        ranks[i] = (ranked_process){ i, working_set > commit ? working_set : commit };
    }
    qsort(ranks, count, sizeof *ranks, compare_largest);
    u32 some = 0; /* processes with any memory, which are the first */
    while (some < count && ranks[some].largest > 0)
        some++;
    const u32 listed = rows_max == 0 ? some : (u32)etl_min_u64(some, rows_max);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < listed; i++)
        add_process(view, ranks[i].index, values, &grid);
    free(ranks);
    etlheap_sink_text(sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, view->layout, sink);
    etlheap_text_more(sink, view->layout, some - listed, listed, "row");
    return status;
}

static int compare_largest(const void *left, const void *right)
{
    const ranked_process *const a = left;
    const ranked_process *const b = right;
    if (a->largest != b->largest)
        return a->largest > b->largest ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void add_process(const etlheap_windows_view *view, u32 index, i64 *values,
                        etlheap_grid *grid)
{
    static const sample_value shown[] = { SAMPLE_WORKING_SET, SAMPLE_COMMIT };
    const etlheap_windows *const windows = view->answer->windows;
    const etlheap_process_memory *const process = &windows->process_memory[index];
    const etlheap_sparkline how = { .columns = CURVE_COLUMNS, .ascii = view->layout->ascii };
    etlheap_text text = { 0 };
    etlheap_text_add_format(&text, "%s (%" PRIu32 ")", process->name, process->pid);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(grid, etlheap_text_of(&text));
    for (size_t i = 0; i < ETL_COUNT_OF(shown); i++) {
        i64 last;
        const bool known = last_of(windows, process->at, shown[i], &last);
        const i64 largest = fill(windows, process->at, shown[i], values);
        if (known) {
            etlheap_grid_size(grid, last);
            etlheap_grid_size(grid, largest);
        } else {
            etlheap_grid_cell(grid, "");
            etlheap_grid_cell(grid, "");
        }
    }
    (void)fill(windows, process->at, SAMPLE_WORKING_SET, values);
    etlheap_text_clear(&text);
    etlheap_sparkline_add(&text, values, windows->window_count, &how);
    etlheap_grid_cell(grid, etlheap_text_of(&text));
    grid->text.failed |= text.failed;
    etlheap_text_free(&text);
}

/* The last known value: a process may have ended before. */
static bool last_of(const etlheap_windows *windows, const etlheap_memory_sample *samples,
                    sample_value value, i64 *last)
{
    for (u32 w = windows->window_count; w > 0; w--) {
        if (value_of(&samples[w - 1], value, last))
            return true;
    }
    return false;
}

/* Fills the curve of a value, 0 where unknown, and returns the largest. */
static i64 fill(const etlheap_windows *windows, const etlheap_memory_sample *samples,
                sample_value value, i64 *values)
{
    for (u32 w = 0; w < windows->window_count; w++) {
        if (!value_of(&samples[w], value, &values[w]))
            values[w] = 0;
    }
    return etlheap_sparkline_largest(values, windows->window_count);
}

/* False: it is not known. */
static bool value_of(const etlheap_memory_sample *sample, sample_value which, i64 *value)
{
    const u64 values[] = { [SAMPLE_COMMIT] = sample->commit_bytes,
                           [SAMPLE_AVAILABLE] = sample->available_bytes,
                           [SAMPLE_WORKING_SET] = sample->working_set_bytes };
    *value = (i64)etl_min_u64(values[which], INT64_MAX);
    return sample->is_known && (which != SAMPLE_COMMIT || sample->has_commit);
}
