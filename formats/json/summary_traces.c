/*
 * summary_traces.c - lists the recordings of a summary, for JSON and text of `info`.
 */
#include "summary_traces.h"

#include "formats/io/units.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_files(etlheap_json *json, const etlheap_summary_trace *trace);

void etlheap_json_traces(etlheap_json *json, const etlheap_result *result)
{
    if (!etlheap_result_is_summary(result))
        return;
    if (etlheap_summary_every_ns(result) > 0)
        etlheap_json_i64(json, "every_ns", etlheap_summary_every_ns(result));
    else
        etlheap_json_null(json, "every_ns");
    etlheap_json_array(json, "traces");
    for (u32 i = 0; i < etlheap_summary_trace_count(result); i++) {
        const etlheap_summary_trace trace = etlheap_summary_trace_of(result, i);
        etlheap_json_object(json, NULL);
        write_files(json, &trace);
        etlheap_json_string(json, "session", trace.info.session);
        etlheap_json_string(json, "computer", trace.info.computer);
        etlheap_json_u64(json, "os_build", trace.info.os_build);
        etlheap_json_time(json, "start_time", trace.info.start_time_filetime);
        etlheap_json_i64(json, "duration_ns", trace.info.duration_ns);
        etlheap_json_u64(json, "events", trace.info.events);
        etlheap_json_u64(json, "events_lost", trace.info.events_lost);
        etlheap_json_u64(json, "buffers_lost", trace.info.buffers_lost);
        etlheap_json_diagnostics(json, trace.diagnostics);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* The id tells that two files hold the same trace. */
static void write_files(etlheap_json *json, const etlheap_summary_trace *trace)
{
    etlheap_json_array(json, "files");
    for (u32 i = 0; i < trace->file_count; i++) {
        const etlheap_summary_file *const file = &trace->files[i];
        char id[40];
        snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, file->id[1], file->id[0]);
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", file->name);
        etlheap_json_string(json, "id", id);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

void etlheap_text_summary(const etlheap_result *result, const etlheap_layout *layout,
                          etlheap_sink *sink)
{
    char text[96];
    char seconds[ETLHEAP_UNITS_SIZE];
    const i64 every_ns = etlheap_summary_every_ns(result);
    const u32 count = etlheap_summary_trace_count(result);
    if (!etlheap_result_is_summary(result))
        return;
    etlheap_units_seconds(every_ns, seconds);
    if (every_ns > 0)
        snprintf(text, sizeof text, "of %" PRIu32 " trace%s, in windows of %s s", count,
                 count == 1 ? "" : "s", seconds);
    else
        snprintf(text, sizeof text, "of %" PRIu32 " trace%s, without windows", count,
                 count == 1 ? "" : "s");
    etlheap_text_label(sink, layout, "Summary", text);
}

typedef struct trace_row {
    i64 start;
    u32 index;
} trace_row;

static int by_start(const void *left, const void *right)
{
    const trace_row *const a = left;
    const trace_row *const b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void add_trace(etlheap_grid *grid, const etlheap_summary_trace *trace)
{
    char text[ETLHEAP_UNITS_SIZE];
    const u64 lost = etl_sat_add_u64(trace->info.events_lost, trace->info.buffers_lost);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_units_filetime(trace->info.start_time_filetime, text);
    etlheap_grid_cell(grid, text);
    etlheap_units_seconds(trace->info.duration_ns, text);
    etlheap_grid_cell(grid, text);
    etlheap_grid_count(grid, (i64)etl_min_u64(trace->info.events, INT64_MAX));
    etlheap_grid_count(grid, (i64)etl_min_u64(lost, INT64_MAX));
    etlheap_grid_cell(grid, trace->file_count == 0 ? "" : trace->files[0].name);
}

etl_status etlheap_text_traces(const etlheap_result *result, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Recorded" },
        { .title = "Duration (s)", .right = true },
        { .title = "Events", .right = true },
        { .title = "Lost", .right = true },
        { .title = "File", .flexible = true },
    };
    const u32 count = etlheap_summary_trace_count(result);
    const u32 shown = layout->rows_max ? (u32)etl_min_u64(count, layout->rows_max) : count;
    char title[64];
    if (count == 0)
        return ETL_OK;
    trace_row *const rows = calloc(count, sizeof *rows);
    if (!rows)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < count; i++)
        rows[i] = (trace_row){ etlheap_summary_trace_of(result, i).info.start_time_filetime, i };
    qsort(rows, count, sizeof *rows, by_start);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown; i++) {
        const etlheap_summary_trace trace = etlheap_summary_trace_of(result, rows[i].index);
        add_trace(&grid, &trace);
    }
    free(rows);
    if (shown == count)
        snprintf(title, sizeof title, "Traces");
    else
        snprintf(title, sizeof title, "Traces (%" PRIu32 " of %" PRIu32 "%s)", shown, count,
                 etlheap_hint_words(layout->hint, ETL_HINT_MORE_ROWS));
    etlheap_text_heading(sink, layout, title);
    return etlheap_grid_write(&grid, layout, sink);
}
