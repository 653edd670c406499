/*
 * Goal: a number that a caller hands in is never looked up when it is out of range.
 * Method: one table of all public functions that take an id, an index or an enumerator. Each is
 * called with the first number that is none, with ones around 2^31 and with the largest, and must
 * refuse it or give the answer that the headers tell: "" for a word, NULL for what is pointed to,
 * all 0 for a structure. Queries, options and requests with such numbers are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "tests/support/capture.h"
#include "formats/formats.h"
#include "tests/build/scenario.h"
#include "tests/support/summary_runs.h"

typedef struct world {
    check_traces traces;
    etlheap_result *result, *totals; /* of the trace, of a store of totals */
    etlheap_table *table;
    etlheap_windows *windows, *kept; /* of either result */
    etlheap_runs *runs;
    summary_fixture *files;
    capture out;
} world;

/* --- neutral answers ----------------------------------------------------------------- */
#define IS_TYPED_WORD(function, type, word)                                                        \
    static bool function##_is_none(const world *w, u32 id)                                         \
    {                                                                                              \
        (void)w;                                                                                   \
        return strcmp(function((type)id), word) == 0;                                              \
    }

#define IS_NUMBER(function, type, number)                                                          \
    static bool function##_is_none(const world *w, u32 id)                                         \
    {                                                                                              \
        (void)w;                                                                                   \
        return (u32)function((type)id) == (u32)(number);                                           \
    }

IS_TYPED_WORD(etl_header_kind_name, etl_header_kind, "other")
IS_TYPED_WORD(etl_severity_name, etl_severity, "unknown")
IS_TYPED_WORD(etl_status_name, etl_status, "unknown status")
IS_TYPED_WORD(etl_hint_text, etl_hint, "")
IS_TYPED_WORD(etlheap_kind_name, etlheap_kind, "")
IS_TYPED_WORD(etlheap_free_type_name, etlheap_free_type, "")
IS_TYPED_WORD(etlheap_type_name, etlheap_type, "")
IS_TYPED_WORD(etlheap_impacting_type_name, etlheap_type, "")
IS_TYPED_WORD(etlheap_symbol_state_word, etlheap_symbol_state, "")
IS_TYPED_WORD(etlheap_field_key, etlheap_field, "")
IS_TYPED_WORD(etlheap_field_title, etlheap_field, "")
IS_TYPED_WORD(etlheap_key_word, etlheap_key, "")
IS_TYPED_WORD(etlheap_key_title, etlheap_key, "")
IS_TYPED_WORD(etlheap_measure_word, etlheap_measure, "")
IS_TYPED_WORD(etlheap_measure_title, etlheap_measure, "")
IS_TYPED_WORD(etlheap_lifetime_column_word, etlheap_lifetime_column, "")
IS_TYPED_WORD(etlheap_histogram_word, etlheap_histogram_by, "")
IS_TYPED_WORD(etlheap_diff_state_word, etlheap_diff_state, "")
IS_TYPED_WORD(etlheap_scope_word, etlheap_scope, "")
IS_TYPED_WORD(etlheap_outcome_word, etlheap_outcome, "")
IS_TYPED_WORD(etlheap_doubt_word, etlheap_doubt, "")
IS_TYPED_WORD(etlheap_doubt_sentence, etlheap_doubt, "")
IS_TYPED_WORD(etlheap_metric_word, etlheap_metric, "")
IS_TYPED_WORD(etlheap_metric_summary, etlheap_metric, "")
IS_TYPED_WORD(etlheap_verdict_word, etlheap_verdict, "")
IS_NUMBER(etlheap_key_field, etlheap_key, ETLHEAP_FIELDS_COUNT)
IS_NUMBER(etlheap_measure_field, etlheap_measure, ETLHEAP_FIELDS_COUNT)
IS_NUMBER(etlheap_lifetime_column_field, etlheap_lifetime_column, ETLHEAP_FIELDS_COUNT)
IS_NUMBER(etlheap_diff_compares, etlheap_measure, false)
IS_NUMBER(etlheap_diff_compares_key, etlheap_key, false)
IS_NUMBER(etlheap_diff_partner, etlheap_measure, id)
IS_NUMBER(etlheap_metric_asks_events, etlheap_metric, false)
IS_NUMBER(etl_diag_hint, etl_diag, ETL_HINT_NONE)

static bool diagnostic_is_none(const world *w, u32 id)
{
    etl_diag_counts counts = { { 0 } };
    const etl_diag_counts none = counts;
    (void)w;
    etl_diag_add(&counts, (etl_diag)id, 1);
    return etl_diag_describe((etl_diag)id) == NULL && memcmp(&counts, &none, sizeof none) == 0;
}

static bool event_is_none(const world *w, u32 id)
{
    (void)w;
    return etl_event_describe((etl_event_kind)id)->field_count == 0;
}

static bool session_is_none(const world *w, u32 id)
{
    return etl_session_of(w->traces.at[0], id) == NULL;
}

static bool buffer_is_none(const world *w, u32 id)
{
    const etl_trace *const trace = w->traces.at[0];
    etl_scratch scratch = { 0 };
    etl_diag_counts diag = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    i64 ticks;
    const bool is_none = etl_buffer_info_of(trace, id) == NULL &&
                         !etl_buffer_first_ticks(trace, id, &ticks) &&
                         etl_buffer_load(trace, id, &scratch, &diag, &buffer) == ETL_ERR_ARGUMENT;
    const bool has_record = !is_none || etl_record_next(&buffer, &record);
    etl_scratch_free(&scratch);
    return !has_record;
}

static bool working_set_is_none(const world *w, u32 id)
{
    const u8 bytes[64] = { 0 };
    const etl_meminfo_ws event = { .count = 1, .entry_bytes = 64, .entries = { bytes, 64 } };
    etl_meminfo_ws_row row;
    (void)w;
    return !etl_meminfo_ws_entry(&event, 8, id, &row);
}

static bool process_is_none(const world *w, u32 id)
{
    return etlheap_process_of(w->result, (etlheap_process){ id }) == NULL;
}

static bool module_is_none(const world *w, u32 id)
{
    return etlheap_module_of(w->result, id) == NULL;
}

static bool segment_is_none(const world *w, u32 id)
{
    return etlheap_segment_of(w->result, id).rows == 0;
}

static bool stack_is_none(const world *w, u32 id)
{
    return etlheap_stack_frames(w->result, (etlheap_stack){ id }).count == 0;
}

static bool summarised_trace_is_none(const world *w, u32 id)
{
    return etlheap_summary_trace_of(w->totals, id).file_count == 0 &&
           etlheap_summary_trace_of(w->result, id).file_count == 0;
}

static bool is_still(const etlheap_windows *windows, u32 row, u32 window)
{
    static const etlheap_cell none;
    etlheap_cell cell;
    memset(&cell, 1, sizeof cell);
    return !etlheap_windows_cell(windows, row, window, &cell) &&
           memcmp(&cell, &none, sizeof none) == 0 &&
           etlheap_windows_start_size(windows, row, window) == 0;
}

static bool window_is_none(const world *w, u32 id)
{
    return is_still(w->windows, 0, id) && is_still(w->kept, 0, id);
}

static bool row_is_none(const world *w, u32 id)
{
    etlheap_growth growth;
    return is_still(w->windows, id, 0) && is_still(w->kept, id, 0) &&
           (id == ETLHEAP_NO_INDEX || !etlheap_windows_find_growth(w->windows, id, &growth));
}

static bool library_is_none(const world *w, u32 id)
{
    etlheap_library library;
    (void)w;
    return !etlheap_engine_library(id, &library) && !etlheap_formats_library(id, &library);
}

static bool format_is_none(const world *w, u32 id)
{
    (void)w;
    return etlheap_format_at(id) == NULL;
}

static bool exporter_is_none(const world *w, u32 id)
{
    (void)w;
    return etlheap_exporter_at(id) == NULL;
}

static bool run_is_none(const world *w, u32 id)
{
    return etlheap_runs_at(w->runs, id) == NULL;
}

/* --- refused with a sentence -------------------------------------------------------------- */

static bool is_refused(etl_status status, const etl_error *err)
{
    return status == ETL_ERR_ARGUMENT && err->status == status && err->message[0] != '\0';
}

static bool query_is_refused(const world *w, const etlheap_query *query)
{
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(query) };
    etlheap_table *table = NULL;
    etlheap_result *result = NULL;
    etl_error err = { .message = "" }, other = { .message = "" };
    const bool is_table = is_refused(etlheap_aggregate(w->result, query, &table, &err), &err);
    const etl_status report =
        etlheap_analyze(w->traces.at, w->traces.names, w->traces.count, &options, &result, &other);
    return is_table && is_refused(report, &other) && etlheap_query_measures(query) == 0 &&
           table == NULL && result == NULL;
}

static bool key_is_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    query.group_by[4] = (etlheap_key)id;
    return query_is_refused(w, &query);
}

static bool key_count_is_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = id;
    return query_is_refused(w, &query);
}

static bool sort_is_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    query.sort = (etlheap_measure)id;
    return query_is_refused(w, &query);
}

/* A bit mask: its first bit that is none, and all of them. */
static bool kinds_are_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    query.kinds = id < 31 ? 1u << id : UINT32_MAX;
    return query_is_refused(w, &query);
}

static bool types_are_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    query.types = id < 31 ? 1u << id : UINT32_MAX;
    return query_is_refused(w, &query);
}

static bool histogram_is_refused(const world *w, u32 id)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_histogram *histogram = NULL;
    etl_error err = { .message = "" };
    return is_refused(
        etlheap_histogram_make(w->result, &query, (etlheap_histogram_by)id, &histogram, &err),
        &err);
}

static bool column_is_refused(const world *w, u32 id)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_lifetimes_options options = { .size = sizeof options,
                                                .sort = (etlheap_lifetime_column)id };
    etlheap_lifetimes *walk = NULL;
    etl_error err = { .message = "" };
    return is_refused(etlheap_lifetimes_open(w->result, &query, &options, &walk, &err), &err);
}

static bool diff_measure_is_refused(const world *w, u32 id)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *table = NULL;
    etlheap_diff_options options = etlheap_diff_options_default();
    etlheap_diff *diff = NULL;
    etl_error err = { .message = "" };
    query.group_by_count = 2;
    options.measure = (etlheap_measure)id;
    assert_int_equal(etlheap_aggregate(w->result, &query, &table, NULL), ETL_OK);
    const bool refused = is_refused(etlheap_diff_tables(table, table, &options, &diff, &err), &err);
    etlheap_table_free(table);
    return refused;
}

static bool budget_is_refused(const world *w, const etlheap_budget *budget)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_gate_side now = { w->result, &query };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = budget,
                                           .budget_count = 1 };
    const etlheap_gate *gate = NULL;
    etl_error err = { .message = "" };
    return is_refused(etlheap_gate_judge(&now, &options, &gate, &err), &err);
}

static bool scope_is_refused(const world *w, u32 id)
{
    const etlheap_budget budget = { .scope = (etlheap_scope)id };
    return budget_is_refused(w, &budget);
}

static bool budget_kinds_are_refused(const world *w, u32 id)
{
    const etlheap_budget budget = { .kinds = id < 31 ? 1u << id : UINT32_MAX };
    return budget_is_refused(w, &budget);
}

static bool tag_is_refused(const world *w, u32 id)
{
    const etlheap_pattern entry = { .module = "a.dll" };
    etlheap_tags *tags = NULL;
    etl_error err = { .message = "" };
    (void)w;
    assert_int_equal(etlheap_tags_open(&tags, NULL), ETL_OK);
    const bool refused = is_refused(etlheap_tags_add_entry(tags, id, &entry, &err), &err);
    etlheap_tags_close(tags);
    return refused;
}

static bool tag_hint_is_refused(const world *w, u32 id)
{
    const etlheap_tag tag = { .path = "a", .hint = (u8)etl_min_u64(id, UINT8_MAX) };
    etlheap_tags *tags = NULL;
    etl_error err = { .message = "" };
    u32 number;
    (void)w;
    assert_int_equal(etlheap_tags_open(&tags, NULL), ETL_OK);
    const bool refused = is_refused(etlheap_tags_add(tags, &tag, &number, &err), &err);
    etlheap_tags_close(tags);
    return refused;
}

static bool metric_is_refused(const world *w, u32 id)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_export_request request = {
        .size = sizeof request, .result = w->result, .query = &query, .metric = (etlheap_metric)id
    };
    etl_error err = { .message = "" };
    for (u32 i = 0; i < etlheap_exporter_count(); i++) {
        if (!is_refused(etlheap_export(etlheap_exporter_at(i), &request, NULL, &err), &err))
            return false;
    }
    return true;
}

static bool layout_is_refused(const world *w, const etlheap_layout *layout)
{
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        if (format->write_report &&
            format->write_report(w->result, w->table, layout, NULL) != ETL_ERR_ARGUMENT)
            return false;
    }
    return true;
}

static bool layout_sort_is_refused(const world *w, u32 id)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.sort = (etlheap_measure)id;
    return layout_is_refused(w, &layout);
}

static bool tree_is_refused(const world *w, u32 id)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.tree = (etlheap_tree)id;
    return layout_is_refused(w, &layout);
}

/* --- the table ---------------------------------------------------------------------------- */

/* How many there are. */
#define COUNT(name, expression)                                                                    \
    static u32 name(const world *w)                                                                \
    {                                                                                              \
        (void)w;                                                                                   \
        return (u32)(expression);                                                                  \
    }

COUNT(sessions, etl_session_count(w->traces.at[0]))
COUNT(buffers, etl_buffer_count(w->traces.at[0]))
COUNT(processes, etlheap_process_count(w->result) + 1)
COUNT(modules, etlheap_module_count(w->result))
COUNT(segments, etlheap_segment_count(w->result))
COUNT(stacks, etlheap_stack_count(w->result) + 1)
COUNT(summarised_traces, etlheap_summary_trace_count(w->totals))
COUNT(windows, etl_max_u64(w->windows->window_count, w->kept->window_count))
COUNT(window_rows, etl_max_u64(w->windows->table->row_count, w->kept->table->row_count))
COUNT(formats, etlheap_format_count())
COUNT(exporters, etlheap_exporter_count())
COUNT(runs, etlheap_runs_count(w->runs))

#define WORDS(function, first)                                                                     \
    {                                                                                              \
#function, function##_is_none, NULL, first                                                 \
    }
#define COUNTED(function, count)                                                                   \
    {                                                                                              \
#function, function, count, 0                                                              \
    }
#define FIXED(function, first)                                                                     \
    {                                                                                              \
#function, function, NULL, first                                                           \
    }

static const struct {
    const char *name;
    bool (*is_none)(const world *w, u32 id);
    u32 (*count)(const world *w); /* the first id that is none; NULL: `first` */
    u32 first;
} rows[] = {
    WORDS(etl_header_kind_name, ETL_HEADER_KIND_COUNT),
    WORDS(etl_severity_name, ETL_SEVERITY_LIMIT + 1),
    WORDS(etl_status_name, ETL_ERR_CORRUPT + 1),
    WORDS(etl_hint_text, ETL_HINT_COUNT),
    WORDS(etl_diag_hint, ETL_DIAG_COUNT),
    WORDS(etlheap_kind_name, ETLHEAP_KIND_COUNT),
    WORDS(etlheap_free_type_name, ETLHEAP_FREE_TYPE_COUNT),
    WORDS(etlheap_type_name, ETLHEAP_TYPE_COUNT),
    WORDS(etlheap_impacting_type_name, ETLHEAP_TYPE_COUNT),
    WORDS(etlheap_symbol_state_word, ETLHEAP_SYMBOL_STATE_COUNT),
    WORDS(etlheap_field_key, ETLHEAP_FIELDS_COUNT),
    WORDS(etlheap_field_title, ETLHEAP_FIELDS_COUNT),
    WORDS(etlheap_key_field, ETLHEAP_KEY_COUNT),
    WORDS(etlheap_key_word, ETLHEAP_KEY_COUNT),
    WORDS(etlheap_key_title, ETLHEAP_KEY_COUNT),
    WORDS(etlheap_measure_field, ETLHEAP_MEASURES_COUNT),
    WORDS(etlheap_measure_word, ETLHEAP_MEASURES_COUNT),
    WORDS(etlheap_measure_title, ETLHEAP_MEASURES_COUNT),
    WORDS(etlheap_lifetime_column_field, ETLHEAP_LIFETIME_COLUMN_COUNT),
    WORDS(etlheap_lifetime_column_word, ETLHEAP_LIFETIME_COLUMN_COUNT),
    WORDS(etlheap_histogram_word, ETLHEAP_HISTOGRAM_BY_COUNT),
    WORDS(etlheap_diff_state_word, ETLHEAP_DIFF_STATE_COUNT),
    WORDS(etlheap_diff_compares, ETLHEAP_MEASURES_COUNT),
    WORDS(etlheap_diff_compares_key, ETLHEAP_KEY_COUNT),
    WORDS(etlheap_diff_partner, ETLHEAP_MEASURES_COUNT),
    WORDS(etlheap_scope_word, ETLHEAP_SCOPE_COUNT),
    WORDS(etlheap_outcome_word, ETLHEAP_OUTCOME_COUNT),
    WORDS(etlheap_doubt_word, ETLHEAP_DOUBT_COUNT),
    WORDS(etlheap_doubt_sentence, ETLHEAP_DOUBT_COUNT),
    WORDS(etlheap_metric_word, ETLHEAP_METRIC_COUNT),
    WORDS(etlheap_metric_summary, ETLHEAP_METRIC_COUNT),
    WORDS(etlheap_metric_asks_events, ETLHEAP_METRIC_COUNT),
    WORDS(etlheap_verdict_word, ETLHEAP_VERDICT_COUNT),
    FIXED(diagnostic_is_none, ETL_DIAG_COUNT),
    FIXED(event_is_none, ETL_EVENT_KIND_COUNT),
    FIXED(working_set_is_none, 1),
    FIXED(library_is_none, 64),
    COUNTED(session_is_none, sessions),
    COUNTED(buffer_is_none, buffers),
    COUNTED(process_is_none, processes),
    COUNTED(module_is_none, modules),
    COUNTED(segment_is_none, segments),
    COUNTED(stack_is_none, stacks),
    COUNTED(summarised_trace_is_none, summarised_traces),
    COUNTED(window_is_none, windows),
    COUNTED(row_is_none, window_rows),
    COUNTED(format_is_none, formats),
    COUNTED(exporter_is_none, exporters),
    COUNTED(run_is_none, runs),
    FIXED(key_is_refused, ETLHEAP_KEY_COUNT),
    FIXED(key_count_is_refused, ETLHEAP_GROUP_BY_MAX + 1),
    FIXED(sort_is_refused, ETLHEAP_MEASURES_COUNT),
    FIXED(kinds_are_refused, ETLHEAP_KIND_COUNT),
    FIXED(types_are_refused, ETLHEAP_TYPE_COUNT),
    FIXED(histogram_is_refused, ETLHEAP_HISTOGRAM_BY_COUNT),
    FIXED(column_is_refused, ETLHEAP_LIFETIME_COLUMN_COUNT),
    FIXED(diff_measure_is_refused, ETLHEAP_MEASURES_COUNT),
    FIXED(scope_is_refused, ETLHEAP_SCOPE_COUNT),
    FIXED(budget_kinds_are_refused, ETLHEAP_KIND_COUNT),
    FIXED(tag_is_refused, 0),
    FIXED(tag_hint_is_refused, ETLHEAP_TAG_CALLER + 1),
    FIXED(metric_is_refused, ETLHEAP_METRIC_COUNT),
    FIXED(layout_sort_is_refused, ETLHEAP_MEASURES_COUNT),
    FIXED(tree_is_refused, ETLHEAP_TREE_CALLERS + 1),
};

static void ids_out_of_range_are_refused_or_neutral(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const u32 first = rows[i].count ? rows[i].count(w) : rows[i].first;
        const u32 ids[] = { first, first + 1, (u32)INT32_MAX, (u32)INT32_MAX + 1, UINT32_MAX };
        for (size_t k = 0; k < ETL_COUNT_OF(ids); k++) {
            if (!rows[i].is_none(w, ids[k]))
                fail_msg("%s: %u", rows[i].name, ids[k]);
        }
    }
}

/* The other side: what is in range has an answer, or the test above would prove nothing. */
static void ids_in_range_are_answered(void **state)
{
    const world *const w = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const u32 first = rows[i].count ? rows[i].count(w) : rows[i].first;
        const bool is_query = strstr(rows[i].name, "refused") != NULL;
        const bool has_none = rows[i].is_none == stack_is_none || rows[i].is_none == tag_is_refused;
        if (is_query || has_none || first == 0 || rows[i].is_none == library_is_none)
            continue;
        u32 answered = 0;
        for (u32 id = 0; id < first; id++)
            answered += rows[i].is_none(w, id) ? 0 : 1;
        if (answered == 0 && strstr(rows[i].name, "etl_diag_hint") == NULL)
            fail_msg("%s answers nothing", rows[i].name);
    }
}

static void zero_is_no_process(void **state)
{
    const world *const w = *state;
    assert_null(etlheap_process_of(w->result, (etlheap_process){ 0 }));
    assert_non_null(etlheap_process_of(w->result, (etlheap_process){ 1 }));
}

static void bytes_beyond_a_file_are_not_given_back(void **state)
{
    const world *const w = *state;
    const etl_trace *const trace = w->traces.at[0];
    const u64 size = etl_file_size(trace);
    etl_trace_release(trace, size, 1);
    etl_trace_release(trace, size - 1, UINT64_MAX);
    etl_trace_release(trace, UINT64_MAX, UINT64_MAX);
    assert_non_null(etl_session_of(trace, 0));
}

/* --- the world ------------------------------------------------------------------------------ */

static etlheap_windows *windows_of(const etlheap_result *result, i64 every_ns)
{
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = every_ns };
    etlheap_query query = etlheap_query_default();
    etlheap_windows *made = NULL;
    query.group_by_count = 2;
    query.at_exit_freed = true;
    assert_int_equal(etlheap_windows_make(result, &query, &options, &made, NULL), ETL_OK);
    return made;
}

static int set_up(void **state)
{
    world *const w = calloc(1, sizeof *w);
    void *files = NULL;
    scenario_run run = { .seed = 3, .operations = 300, .cpus = 2 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 2 });
    assert_non_null(w);
    assert_int_equal(summary_fixture_open(&files), 0);
    w->files = files;
    assert_true(scenario_write(scenario_find("workload"), &run, b));
    scenario_run_free(&run);
    check_open(&w->traces, b);
    w->result = check_analyze(&w->traces, NULL);
    summary_of_runs(&summary_first_run, 1, INT64_C(500000000), w->files->paths[0]);
    w->totals = summary_read(w->files->paths[0]);
    w->windows = windows_of(w->result, INT64_C(1000000000));
    w->kept = windows_of(w->totals, INT64_C(500000000));
    FILE *const index = fopen(w->files->paths[1], "wb");
    assert_non_null(index);
    fputs("{\"schema\": \"etlheap-run-1\", \"file\": \"a.etl\", \"output\": \"a.ehs\", "
          "\"verdict\": \"stored\"}\n",
          index);
    assert_int_equal(fclose(index), 0);
    assert_int_equal(etlheap_runs_open(w->files->paths[1], &w->runs, NULL), ETL_OK);
    const etlheap_query query = etlheap_query_default();
    assert_int_equal(etlheap_aggregate(w->result, &query, &w->table, NULL), ETL_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *const w = *state;
    void *files = w->files;
    etlheap_runs_close(w->runs);
    etlheap_windows_free(w->windows);
    etlheap_windows_free(w->kept);
    etlheap_table_free(w->table);
    etlheap_result_free(w->totals);
    etlheap_result_free(w->result);
    check_close(&w->traces);
    free(w);
    return summary_fixture_close(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_out_of_range_are_refused_or_neutral),
        cmocka_unit_test(ids_in_range_are_answered),
        cmocka_unit_test(zero_is_no_process),
        cmocka_unit_test(bytes_beyond_a_file_are_not_given_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
