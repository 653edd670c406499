/*
 * export_wpa_profile.c - writes a profile that opens the original trace in WPA at our result: the
 * table of the kind, filtered to the process whose memory grew most.
 *
 * In: a result and a query. Out: a .wpaProfile, and the command line for wpa.exe in a comment and
 * in the advice.
 *
 * A profile configures a view and holds no data. Its dialect is that of Windows 10 and later,
 * WpaProfileContainer Version 2, as profiles of microsoft/MSO-Scripts, google/UIforETW and
 * Siemens-Healthineers/ETWAnalyzer show it. None of them has a range of time, so that goes on the
 * command line.
 *
 * The four counts of a preset are the places of four bars among its columns. They count bars and
 * columns alike, from 0, also columns that are not shown:
 *
 *     Process  Type  Stack ║ ▏ Count ▕ Impacting Size │ Size  AllocTime  FreeTime
 *        0       1     2   3 4   5   6       7        8
 *
 *     3 KeyColumnCount         the gold bar: rows are grouped by what is left of it
 *     4 LeftFrozenColumnCount  what is left of it does not scroll
 *     6 RightFrozenColumnCount what is right of it does not either
 *     8 GraphColumnCount       the blue bar: what is right of it is drawn
 *
 * This follows from all presets of these profiles: only so are the columns that each preset draws
 * at the end of its list. Invariant: a column added to `preset` moves the bars behind it.
 */
#include "formats/io/units.h"
#include "formats/io/xml.h"
#include "formats/parts/shell_words.h"
#include "export_samples.h"
#include "export_writers.h"
#include "wpa_columns.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_IN_COMMENT "finding.wpaProfile"
#define UNKNOWN_TRACE   "TRACE.etl"

/* The contents of a Column element. */
typedef enum column_options {
    OPTIONS_NONE,
    OPTIONS_PROCESS,   /* heap alone has it */
    OPTIONS_STACK,     /* as it is */
    OPTIONS_STACK_TAG, /* by stack tag */
    OPTIONS_DURATION,
    OPTIONS_TIME
} column_options;

typedef enum bar { BAR_GOLD, BAR_LEFT, BAR_RIGHT, BAR_BLUE, BAR_COUNT } bar;

/* Attributes that are NULL are absent. */
typedef struct preset_column {
    bool is_bar;
    u8 what; /* wpa_field or bar */
    u8 options;
    bool is_visible;
    const char *width, *aggregation, *sort_order, *sort_priority, *alignment, *format;
} preset_column;

#define BAR(name)                                                                                  \
    {                                                                                              \
        .is_bar = true, .what = BAR_##name                                                         \
    }

/* Columns without a sort priority get the remaining ones, in order. */
static const preset_column preset[] = {
    { .what = WPA_PROCESS_NAME, .width = "150" },
    { .what = WPA_PROCESS, .width = "150", .options = OPTIONS_PROCESS, .is_visible = true },
    { .what = WPA_TYPE, .width = "60", .is_visible = true },
    { .what = WPA_IMPACTING_TYPE, .width = "100", .is_visible = true },
    { .what = WPA_HANDLE, .width = "150", .format = "x" },
    { .what = WPA_STACK, .width = "200", .options = OPTIONS_STACK_TAG },
    { .what = WPA_STACK, .width = "460", .options = OPTIONS_STACK, .is_visible = true },
    BAR(GOLD),
    BAR(LEFT),
    { .what = WPA_THREAD, .width = "80", .alignment = "Right" },
    { .what = WPA_ADDRESS, .width = "120", .format = "x" },
    { .what = WPA_LIFETIME, .width = "100", .alignment = "Right", .options = OPTIONS_DURATION },
    BAR(RIGHT),
    { .what = WPA_COUNT,
      .width = "80",
      .aggregation = "Sum",
      .alignment = "Right",
      .is_visible = true },
    { .what = WPA_IMPACTING_SIZE,
      .width = "120",
      .aggregation = "Sum",
      .sort_order = "Descending",
      .sort_priority = "0",
      .alignment = "Right",
      .format = "B",
      .is_visible = true },
    BAR(BLUE),
    { .what = WPA_SIZE,
      .width = "120",
      .aggregation = "Sum",
      .alignment = "Right",
      .format = "B",
      .is_visible = true },
    { .what = WPA_ALLOC_TIME,
      .width = "100",
      .sort_order = "Ascending",
      .sort_priority = "1",
      .alignment = "Right",
      .options = OPTIONS_TIME },
    { .what = WPA_FREE_TIME, .width = "100", .alignment = "Right", .options = OPTIONS_TIME },
};

#define SORT_PRIORITY_FIRST 2u /* that is not given */

/* The view that the profile opens. */
typedef struct finding {
    const wpa_table *table;
    const char *process; /* borrowed from the result */
    u32 pid;
    i64 impacting_size;
    i64 from_ns, to_ns;
} finding;

static etl_status find(const etlheap_export_request *request, finding *out, etl_error *err);
static etl_status write_profile(const etlheap_export_request *request, const finding *found,
                                etlheap_sink *sink);
static void add_command(etlheap_text *text, const etlheap_export_request *request,
                        const finding *found, const char *profile);
static void add_quoted(etlheap_text *text, const char *word);
static void add_profile_name(etlheap_text *text, const char *output);
static void write_comment(etlheap_xml *xml, const etlheap_export_request *request,
                          const finding *found, etlheap_text *text);
static void write_graph(etlheap_xml *xml, const etlheap_export_request *request,
                        const finding *found, etlheap_text *text);
static void write_preset_head(etlheap_xml *xml, const etlheap_export_request *request,
                              const finding *found, etlheap_text *text);
static void add_filter(etlheap_text *text, const etlheap_query *query, const finding *found);
static void write_metadata(etlheap_xml *xml, const wpa_table *table);
static void write_columns(etlheap_xml *xml, const wpa_table *table);
static void write_column(etlheap_xml *xml, const wpa_table *table, const preset_column *column,
                         u32 priority);
static void write_options(etlheap_xml *xml, const wpa_table *table, column_options options);

etl_status etlheap_export_wpa_profile(const etlheap_export_request *request, etlheap_sink *sink,
                                      etl_error *err)
{
    finding found = { .table = NULL };
    etl_status status = find(request, &found, err);
    if (status != ETL_OK)
        return status;
    status = write_profile(request, &found, sink);
    if (status == ETL_OK && request->advice) {
        etlheap_text name = { 0 };
        add_profile_name(&name, request->output_name);
        etlheap_text_add_string(request->advice, "open it in WPA at the same window with: ");
        add_command(request->advice, request, &found, etlheap_text_of(&name));
        request->advice->failed |= name.failed;
        etlheap_text_free(&name);
        if (request->advice->failed)
            status = ETL_ERR_MEMORY;
    }
    return status == ETL_OK ? ETL_OK : etl_fail_with(err, status, 0, "out of memory");
}

/* --- what was found ------------------------------------------------------------------ */

/* Finds the process and kind with the largest impacting size in the selection. */
static etl_status find(const etlheap_export_request *request, finding *out, etl_error *err)
{
    etlheap_table *table;
    etlheap_query query = *request->query;
    if (etlheap_result_is_summary(request->result))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "a summary does not belong to one trace that a profile could open");
    if (etlheap_result_is_snapshot(request->result))
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "a list of blocks does not belong to a trace that a profile could open");
    etl_status status = wpa_kinds_of(request->query, &query.kinds, err);
    if (status != ETL_OK)
        return status;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_PROCESS;
    query.group_by_count = 2;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    query.sort_ascending = false;
    status = etlheap_aggregate(request->result, &query, &table, err);
    if (status != ETL_OK)
        return status;
    if (table->row_count > 0) {
        const etlheap_row *const row = &table->rows[0];
        *out = (finding){ .table = wpa_table_of((etlheap_kind)row->kind),
                          .process = row->process,
                          .pid = row->pid,
                          .impacting_size = row->measures[ETLHEAP_MEASURE_IMPACTING_SIZE],
                          .from_ns = table->from_ns,
                          .to_ns = table->to_ns };
    } else {
        status = etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "the selection has no heap block and no committed range, so there is no process to "
            "open in WPA; select more, or list the processes with etlheap info");
    }
    etlheap_table_free(table);
    return status;
}

/* The files that WPA can open: of a store, those that it was made from. NULL for an index beyond
 * the last. */
static const char *trace_file(const etlheap_result *result, u32 index)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    if (trace->store_bytes > 0)
        return etlheap_result_source(result, index);
    return index < trace->file_count ? trace->files[index] : NULL;
}

/* WPA opens one file. Times are nanoseconds and cannot be before the
 * trace. */
static void add_command(etlheap_text *text, const etlheap_export_request *request,
                        const finding *found, const char *profile)
{
    const char *const first = trace_file(request->result, 0);
    const bool is_known = first && strcmp(first, "-") != 0; /* which is standard input */
    const bool is_one = !is_known || !trace_file(request->result, 1);
    if (!is_one) {
        etlheap_text_add_string(text, "xperf -merge");
        for (u32 i = 0; trace_file(request->result, i); i++)
            add_quoted(text, trace_file(request->result, i));
        etlheap_text_add_string(text, " merged.etl && ");
    }
    etlheap_text_add_string(text, "wpa.exe -i");
    add_quoted(text, !is_known ? UNKNOWN_TRACE : is_one ? first : "merged.etl");
    etlheap_text_add_string(text, " -profile");
    add_quoted(text, profile);
    etlheap_text_add_format(text, " -range %" PRId64 " %" PRId64,
                            found->from_ns < 0 ? 0 : found->from_ns,
                            found->to_ns < 0 ? 0 : found->to_ns);
    if (!is_known)
        etlheap_text_add_string(text, " (" UNKNOWN_TRACE " is the trace that was recorded)");
}

/* WPA runs on Windows, wherever the profile was written. */
static void add_quoted(etlheap_text *text, const char *word)
{
    etlheap_text_add_string(text, " ");
    etlheap_shell_add(text, ETLHEAP_SHELL_WINDOWS, word);
}

/* Adds the profile's name as it will be where it is used: without our folder, and without the
 * compression, which WPA does not read. */
static void add_profile_name(etlheap_text *text, const char *output)
{
    if (!output)
        output = NAME_IN_COMMENT;
    const char *const slash = strrchr(output, '/');
    const char *const name = slash ? slash + 1 : output;
    const size_t size = strlen(name);
    const bool is_packed = size > 4 && strcmp(name + size - 4, ".zst") == 0;
    etlheap_text_add(text, name, is_packed ? size - 4 : size);
}

/* --- the document -------------------------------------------------------------------- */

static etl_status write_profile(const etlheap_export_request *request, const finding *found,
                                etlheap_sink *sink)
{
    etlheap_text text = { 0 };
    etlheap_xml xml = etlheap_xml_begin(sink);
    write_comment(&xml, request, found, &text);
    etlheap_xml_element(&xml, "WpaProfileContainer");
    etlheap_xml_attribute(&xml, "xmlns:xsd", "http://www.w3.org/2001/XMLSchema");
    etlheap_xml_attribute(&xml, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
    etlheap_xml_attribute(&xml, "Version", "2");
    etlheap_xml_attribute(&xml, "xmlns", "http://tempuri.org/SerializableElement.xsd");
    etlheap_xml_element(&xml, "Content");
    etlheap_xml_attribute(&xml, "xsi:type", "WpaProfile2");
    etlheap_xml_element(&xml, "Sessions");
    etlheap_xml_element(&xml, "Session");
    etlheap_xml_attribute(&xml, "Index", "0");
    etlheap_xml_element(&xml, "FileReferences");
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_element(&xml, "Views");
    etlheap_xml_element(&xml, "View");
    etlheap_xml_attribute(&xml, "Guid", found->table->view_guid);
    etlheap_xml_attribute(&xml, "IsVisible", "true");
    etlheap_xml_attribute(&xml, "Title", found->table->view_title);
    write_graph(&xml, request, found, &text);
    etlheap_xml_element(&xml, "SessionIndices");
    etlheap_xml_element(&xml, "SessionIndex");
    etlheap_xml_text(&xml, "0");
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_element(&xml, "ModifiedGraphs");
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    etlheap_xml_close(&xml);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return etlheap_xml_end(&xml) == ETL_OK && !failed ? ETL_OK : ETL_ERR_MEMORY;
}

/* Writes the comment. It uses a fixed name, so that the bytes do not depend on the file's name. */
static void write_comment(etlheap_xml *xml, const etlheap_export_request *request,
                          const finding *found, etlheap_text *text)
{
    char size[ETLHEAP_UNITS_SIZE], from[ETLHEAP_UNITS_SIZE], to[ETLHEAP_UNITS_SIZE];
    etlheap_units_size(found->impacting_size, size);
    etlheap_units_seconds(found->from_ns, from);
    etlheap_units_seconds(found->to_ns, to);
    etlheap_text_clear(text);
    etlheap_text_add_string(text, "\n  ");
    etlheap_text_add_string(text, found->process);
    etlheap_text_add_format(text, " (%" PRIu32 "): %s, impacting size %s from %s s to %s s.\n",
                            found->pid, found->table->title, size, from, to);
    etlheap_text_add_string(text, "  A profile has no range of time. To open the same window:\n  ");
    add_command(text, request, found, NAME_IN_COMMENT);
    etlheap_text_add_string(text, "\n");
    etlheap_xml_comment(xml, etlheap_text_of(text));
}

static void write_graph(etlheap_xml *xml, const etlheap_export_request *request,
                        const finding *found, etlheap_text *text)
{
    const wpa_table *const table = found->table;
    etlheap_xml_element(xml, "Graphs");
    etlheap_xml_element(xml, "Graph");
    etlheap_xml_attribute(xml, "Guid", table->guid);
    etlheap_xml_attribute(xml, "LayoutStyle", "All");
    etlheap_xml_attribute(xml, "Color", table->colour);
    etlheap_xml_attribute(xml, "GraphHeight", table->height);
    etlheap_xml_attribute(xml, "IsMinimized", "false");
    etlheap_xml_attribute(xml, "IsShown", "true");
    etlheap_xml_attribute(xml, "IsExpanded", "false");
    etlheap_xml_element(xml, "Preset");
    write_preset_head(xml, request, found, text);
    write_metadata(xml, table);
    etlheap_xml_element(xml, "HighlightEntries");
    etlheap_xml_close(xml);
    write_columns(xml, table);
    etlheap_xml_close(xml);
    etlheap_xml_close(xml);
    etlheap_xml_close(xml);
}

static void write_preset_head(etlheap_xml *xml, const etlheap_export_request *request,
                              const finding *found, etlheap_text *text)
{
    u64 places[BAR_COUNT] = { 0 };
    u64 place = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(preset); i++) {
        if (preset[i].is_bar)
            places[preset[i].what] = place;
        place += preset[i].is_bar || found->table->columns[preset[i].what].guid;
    }
    etlheap_text_clear(text);
    etlheap_text_add_string(text, "etlheap: ");
    etlheap_text_add_string(text, found->process);
    etlheap_text_add_format(text, " (%" PRIu32 ")", found->pid);
    etlheap_xml_attribute(xml, "Name", etlheap_text_of(text));
    etlheap_xml_attribute(xml, "GraphChartType", "StackedLine");
    etlheap_xml_attribute(xml, "BarGraphIntervalCount", "50");
    etlheap_xml_attribute(xml, "AggregationOverTime", "OutstandingPeak");
    etlheap_xml_attribute(xml, "IsThreadActivityTable", "false");
    etlheap_xml_attribute_u64(xml, "GraphColumnCount", places[BAR_BLUE]);
    etlheap_xml_attribute_u64(xml, "KeyColumnCount", places[BAR_GOLD]);
    etlheap_xml_attribute_u64(xml, "LeftFrozenColumnCount", places[BAR_LEFT]);
    etlheap_xml_attribute_u64(xml, "RightFrozenColumnCount", places[BAR_RIGHT]);
    etlheap_text_clear(text);
    add_filter(text, request->query, found);
    etlheap_xml_attribute(xml, "InitialFilterQuery", etlheap_text_of(text));
    etlheap_xml_attribute(xml, "InitialFilterShouldKeep", "true");
    etlheap_xml_attribute(xml, "GraphFilterColumnGuid",
                          found->table->columns[WPA_IMPACTING_SIZE].guid);
    etlheap_xml_attribute(xml, "GraphFilterTopValue", "0");
    etlheap_xml_attribute(xml, "GraphFilterThresholdValue", "0");
}

/*
 * Adds the filter: process, and impacting or the chosen types. How WPA quotes a quotation mark in a
 * filter is unknown; a process with one, which Windows does not allow, is not filtered by.
 */
static void add_filter(etlheap_text *text, const etlheap_query *query, const finding *found)
{
    const wpa_column *const columns = found->table->columns;
    if (strchr(found->process, '"') == NULL) {
        etlheap_text_add_format(text, "[%s]:=\"", columns[WPA_PROCESS].title);
        etlheap_text_add_string(text, found->process);
        etlheap_text_add_format(text, " (%" PRIu32 ")\" AND ", found->pid);
    }
    if (query->types == 0) {
        etlheap_text_add_format(text, "[%s]:=\"%s\"", columns[WPA_IMPACTING_TYPE].title,
                                etlheap_impacting_type_name(ETLHEAP_TYPE_AIFO));
        return;
    }
    const char *before = "(";
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        if ((query->types >> type & 1) == 0)
            continue;
        etlheap_text_add_format(text, "%s[%s]:=\"%s\"", before, columns[WPA_TYPE].title,
                                etlheap_type_name((etlheap_type)type));
        before = " OR ";
    }
    etlheap_text_add_string(text, ")");
}

static void write_metadata(etlheap_xml *xml, const wpa_table *table)
{
    static const struct {
        wpa_field field;
        const char *meaning;
    } entries[] = { { WPA_ALLOC_TIME, "StartTime" }, { WPA_FREE_TIME, "EndTime" } };
    etlheap_xml_element(xml, "MetadataEntries");
    for (size_t i = 0; i < ETL_COUNT_OF(entries); i++) {
        const wpa_column *const column = &table->columns[entries[i].field];
        etlheap_xml_element(xml, "MetadataEntry");
        etlheap_xml_attribute(xml, "Guid", column->guid);
        etlheap_xml_attribute(xml, "Name", column->title);
        etlheap_xml_attribute(xml, "ColumnMetadata", entries[i].meaning);
        etlheap_xml_close(xml);
    }
    etlheap_xml_close(xml);
}

static void write_columns(etlheap_xml *xml, const wpa_table *table)
{
    u32 priority = SORT_PRIORITY_FIRST;
    etlheap_xml_element(xml, "Columns");
    for (size_t i = 0; i < ETL_COUNT_OF(preset); i++) {
        if (preset[i].is_bar || !table->columns[preset[i].what].guid)
            continue;
        write_column(xml, table, &preset[i], priority);
        priority += preset[i].sort_priority == NULL;
    }
    etlheap_xml_close(xml);
}

static void write_column(etlheap_xml *xml, const wpa_table *table, const preset_column *column,
                         u32 priority)
{
    etlheap_xml_element(xml, "Column");
    etlheap_xml_attribute(xml, "Guid", table->columns[column->what].guid);
    etlheap_xml_attribute(xml, "Name", table->columns[column->what].title);
    if (column->aggregation)
        etlheap_xml_attribute(xml, "AggregationMode", column->aggregation);
    if (column->sort_order)
        etlheap_xml_attribute(xml, "SortOrder", column->sort_order);
    if (column->sort_priority)
        etlheap_xml_attribute(xml, "SortPriority", column->sort_priority);
    else
        etlheap_xml_attribute_u64(xml, "SortPriority", priority);
    if (column->alignment)
        etlheap_xml_attribute(xml, "TextAlignment", column->alignment);
    etlheap_xml_attribute(xml, "Width", column->width);
    if (column->format)
        etlheap_xml_attribute(xml, "CellFormat", column->format);
    etlheap_xml_attribute(xml, "IsVisible", column->is_visible ? "true" : "false");
    write_options(xml, table, (column_options)column->options);
    etlheap_xml_close(xml);
}

static void write_options(etlheap_xml *xml, const wpa_table *table, column_options options)
{
    static const char *const elements[] = {
        [OPTIONS_PROCESS] = "ProcessOptionsParameter",
        [OPTIONS_STACK] = "StackOptionsParameter",
        [OPTIONS_STACK_TAG] = "StackOptionsParameter",
        [OPTIONS_DURATION] = "DurationInViewOptionsParameter",
        [OPTIONS_TIME] = "DateTimeTimestampOptionsParameter",
    };
    if (options == OPTIONS_NONE || (options == OPTIONS_PROCESS && table->kind != ETLHEAP_KIND_HEAP))
        return;
    etlheap_xml_element(xml, elements[options]);
    if (options == OPTIONS_STACK_TAG)
        etlheap_xml_attribute(xml, "Mode", "StackTag");
    if (options == OPTIONS_TIME)
        etlheap_xml_attribute(xml, "DateTimeEnabled", "false");
    if (options == OPTIONS_DURATION) {
        etlheap_xml_attribute(xml, "TimeStampColumnGuid", table->columns[WPA_ALLOC_TIME].guid);
        etlheap_xml_attribute(xml, "TimeStampType", "Start");
        etlheap_xml_attribute(xml, "InViewEnabled", "false");
    }
    etlheap_xml_close(xml);
}
