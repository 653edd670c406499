/*
 * formats.c - the table of output formats.
 *
 * Choices, help and the "unknown format" message of the program all come from
 * these rows.
 */
#include "writers.h"

static const etlheap_format formats[] = {
    {
        .name = "text",
        .summary = "tables for people",
        .is_choice = true,
        .for_people = true,
        .write_report = etlheap_write_report_text,
        .write_diff = etlheap_write_diff_text,
        .write_trend = etlheap_write_trend_text,
        .write_suspects = etlheap_write_suspects_text,
        .write_spikes = etlheap_write_spikes_text,
        .write_check = etlheap_write_check_text,
        .write_histogram = etlheap_write_histogram_text,
        .write_map = etlheap_write_map_text,
        .write_allocations = etlheap_write_allocations_text,
        .write_windows = etlheap_write_windows_text,
        .write_symbols = etlheap_write_symbols_text,
        .write_info = etlheap_write_info_text,
        .write_dump_head = etlheap_write_dump_head_text,
        .write_record = etlheap_write_record_text,
    },
    {
        .name = "json",
        .suffix = ".json",
        .summary = "one document",
        .write_report = etlheap_write_report_json,
        .write_diff = etlheap_write_diff_json,
        .write_trend = etlheap_write_trend_json,
        .write_suspects = etlheap_write_suspects_json,
        .write_spikes = etlheap_write_spikes_json,
        .write_check = etlheap_write_check_json,
        .write_histogram = etlheap_write_histogram_json,
        .write_map = etlheap_write_map_json,
        .write_allocations = etlheap_write_allocations_json,
        .write_windows = etlheap_write_windows_json,
        .write_symbols = etlheap_write_symbols_json,
        .write_info = etlheap_write_info_json,
    },
    {
        .name = "ndjson",
        .suffix = ".ndjson",
        .summary = "one JSON object per line",
        .write_allocations = etlheap_write_allocations_ndjson,
        .write_record = etlheap_write_record_json,
    },
    {
        .name = "csv",
        .suffix = ".csv",
        .summary = "rows",
        .has_titles = true,
        .write_report = etlheap_write_report_csv,
        .write_diff = etlheap_write_diff_csv,
        .write_trend = etlheap_write_trend_csv,
        .write_suspects = etlheap_write_suspects_csv,
        .write_spikes = etlheap_write_spikes_csv,
        .write_histogram = etlheap_write_histogram_csv,
        .write_map = etlheap_write_map_csv,
        .write_allocations = etlheap_write_allocations_csv,
        .write_windows = etlheap_write_windows_csv,
        .write_symbols = etlheap_write_symbols_csv,
    },
    {
        .name = "markdown",
        .suffix = ".md",
        .summary = "for pull requests",
        .is_choice = true,
        .for_people = true,
        .write_report = etlheap_write_report_markdown,
        .write_diff = etlheap_write_diff_markdown,
        .write_trend = etlheap_write_trend_markdown,
        .write_suspects = etlheap_write_suspects_markdown,
        .write_spikes = etlheap_write_spikes_markdown,
        .write_check = etlheap_write_check_markdown,
    },
    {
        .name = "junit",
        .suffix = ".xml",
        .summary = "for CI systems",
        .write_check = etlheap_write_check_junit,
    },
    {
        .name = "sarif",
        .suffix = ".sarif",
        .summary = "for code hosts",
        .write_check = etlheap_write_check_sarif,
    },
    {
        .name = "html",
        .suffix = ".html",
        .summary = "a page to look at",
        .shows_equal = true,
        .rows_max = 10000,
        .write_diff = etlheap_write_diff_html,
        .write_trend = etlheap_write_trend_html,
    },
    {
        .name = "folded",
        .suffix = ".folded",
        .summary = "for flame graphs",
        .shows_equal = true,
        .adds_up = true,
        .write_diff = etlheap_write_diff_folded,
    },
    {
        .name = "speedscope",
        .suffix = ".speedscope.json",
        .summary = "for www.speedscope.app",
        .shows_equal = true,
        .adds_up = true,
        .write_diff = etlheap_write_diff_speedscope,
    },
};

u32 etlheap_format_count(void)
{
    return (u32)ETL_COUNT_OF(formats);
}

const etlheap_format *etlheap_format_at(u32 index)
{
    return index < ETL_COUNT_OF(formats) ? &formats[index] : NULL;
}

const etlheap_format *etlheap_format_named(const char *name)
{
    for (size_t i = 0; i < ETL_COUNT_OF(formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

etl_status etlheap_write_table(const char *name, const etlheap_result *result,
                               const etlheap_table *table, etlheap_sink *sink, etl_error *err)
{
    const etlheap_layout layout = etlheap_layout_default();
    const etlheap_format *const format = etlheap_format_named(name);
    if (format == NULL || format->write_report == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "no reports in a format '%.40s'", name);
    const etl_status status = format->write_report(result, table, &layout, sink);
    return status == ETL_OK ? ETL_OK : etl_fail_with(err, status, 0, "%s", etl_status_name(status));
}
