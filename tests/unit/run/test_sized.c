/*
 * Goal: every structure that callers fill is read by its size, in every public function
 * that takes one.
 * Method: a table of functions, each called with such a structure in a block of memory of
 * just the size that it states, so that AddressSanitizer sees who reads further. A size
 * that is none is refused; so is something set beyond the fields that the library knows,
 * while zeros there are a newer program that asks for nothing new; a structure without
 * its last fields has their defaults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/capture.h"
#include "formats/formats.h"
#include "parser/sized.h"
#include "tests/build/scenario.h"
#include "tests/support/summary_runs.h"

#define MORE_BYTES ((size_t)64) /* that a newer program has */

typedef struct world {
    check_traces traces;
    etlheap_result *result;
    etlheap_table *table;
    summary_fixture *files; /* [0] is a store of totals */
    capture out;
} world;

/* --- who takes what ----------------------------------------------------------------- */

static bool take(void *user, const void *bytes, size_t size)
{
    (void)user;
    return bytes != NULL || size == 0;
}

static etl_status ask_open(world *w, const void *given, etl_error *err)
{
    etl_trace *trace = NULL;
    const etl_bytes text = { (const u8 *)"no trace", 8 };
    const etl_status status = etl_open_memory(text, given, &trace, err);
    (void)w;
    etl_close(trace);
    return status == ETL_ERR_NOT_ETL ? ETL_OK : status;
}

static etl_status ask_analyze(world *w, const void *given, etl_error *err)
{
    etlheap_result *result = NULL;
    const etl_status status =
        etlheap_analyze(w->traces.at, w->traces.names, w->traces.count, given, &result, err);
    etlheap_result_free(result);
    return status;
}

static etl_status ask_add_traces(world *w, const void *given, etl_error *err)
{
    etlheap_summary *const summary = summary_begin(0);
    const etl_status status = etlheap_summary_add_traces(summary, w->traces.at, w->traces.names,
                                                         w->traces.count, given, err);
    etlheap_summary_free(summary);
    return status;
}

static etl_status ask_report(world *w, const void *given, etl_error *err)
{
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(given) };
    return ask_analyze(w, &options, err);
}

static etl_status ask_report_of_store(world *w, const void *given, etl_error *err)
{
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(given) };
    etlheap_result *result = NULL;
    const etl_status status = etlheap_open_store(w->files->paths[0], &options, &result, err);
    etlheap_result_free(result);
    return status;
}

static etl_status ask_report_windows(world *w, const void *given, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_WINDOWS(&query, given) };
    return ask_analyze(w, &options, err);
}

static etl_status ask_store(world *w, const void *given, etl_error *err)
{
    const etlheap_options options = { .size = sizeof options, .store = given };
    return ask_analyze(w, &options, err);
}

static etl_status ask_part(world *w, const void *given, etl_error *err)
{
    const etlheap_store_options store = { .size = sizeof store, .write = take, .part = given };
    return ask_store(w, &store, err);
}

static etl_status ask_summary_write(world *w, const void *given, etl_error *err)
{
    etlheap_summary *const summary = summary_begin(0);
    const etl_status status = etlheap_summary_write(summary, given, err);
    (void)w;
    etlheap_summary_free(summary);
    return status;
}

static etl_status ask_summary(world *w, const void *given, etl_error *err)
{
    etlheap_summary *summary = NULL;
    const etl_status status = etlheap_summary_open(given, &summary, err);
    (void)w;
    etlheap_summary_free(summary);
    return status;
}

static etl_status ask_open_store(world *w, const void *given, etl_error *err)
{
    etlheap_result *result = NULL;
    const etl_status status = etlheap_open_store(w->files->paths[0], given, &result, err);
    etlheap_result_free(result);
    return status;
}

static etl_status ask_symbols(world *w, const void *given, etl_error *err)
{
    etlheap_symbols *symbols = NULL;
    const etl_status status = etlheap_symbols_open(w->result, given, &symbols, err);
    etlheap_symbols_close(symbols);
    return status;
}

static etl_status ask_table(world *w, const void *given, etl_error *err)
{
    etlheap_table *table = NULL;
    const etl_status status = etlheap_aggregate(w->result, given, &table, err);
    etlheap_table_free(table);
    return status;
}

/* A query without symbols is refused once it was read. */
static etl_status ask_symbol_list(world *w, const void *given, etl_error *err)
{
    const etlheap_symbol_list *list = NULL;
    const etl_status status = etlheap_symbols_list(given, &list, err);
    (void)w;
    etlheap_symbol_list_free(list);
    return status == ETL_ERR_ARGUMENT && strstr(err->message, "names no symbols") ? ETL_OK : status;
}

static etl_status ask_peaks(world *w, const void *given, etl_error *err)
{
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    return etlheap_find_peaks(w->result, given, peaks, err);
}

static etl_status ask_histogram(world *w, const void *given, etl_error *err)
{
    const etlheap_histogram *histogram = NULL;
    const etl_status status =
        etlheap_histogram_make(w->result, given, ETLHEAP_HISTOGRAM_SIZE, &histogram, err);
    etlheap_histogram_free(histogram);
    return status;
}

/* The default query has TYPE among its keys, which windows have not. */
static etl_status ask_windows_of(world *w, const void *given, etl_error *err)
{
    etlheap_windows *windows = NULL;
    const etl_status status = etlheap_windows_make(w->result, given, NULL, &windows, err);
    etlheap_windows_free(windows);
    return status == ETL_ERR_ARGUMENT && strstr(err->message, "size") == NULL ? ETL_OK : status;
}

static etl_status ask_windows(world *w, const void *given, etl_error *err)
{
    etlheap_query query = etlheap_query_default();
    etlheap_windows *windows = NULL;
    query.group_by_count = 1;
    const etl_status status = etlheap_windows_make(w->result, &query, given, &windows, err);
    etlheap_windows_free(windows);
    return status;
}

static etl_status ask_walk_of(world *w, const void *given, etl_error *err)
{
    etlheap_lifetimes *walk = NULL;
    const etl_status status = etlheap_lifetimes_open(w->result, given, NULL, &walk, err);
    etlheap_lifetimes_close(walk);
    return status;
}

static etl_status ask_walk(world *w, const void *given, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    etlheap_lifetimes *walk = NULL;
    const etl_status status = etlheap_lifetimes_open(w->result, &query, given, &walk, err);
    etlheap_lifetimes_close(walk);
    return status;
}

static etl_status judge(world *w, const etlheap_query *query, const etlheap_gate_options *options,
                        etl_error *err)
{
    const etlheap_gate_side now = { w->result, query };
    const etlheap_gate *gate = NULL;
    const etl_status status = etlheap_gate_judge(&now, options, &gate, err);
    etlheap_gate_free(gate);
    return status;
}

static etl_status ask_gate(world *w, const void *given, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    return judge(w, &query, given, err);
}

static etl_status ask_gate_of(world *w, const void *given, etl_error *err)
{
    return judge(w, given, NULL, err);
}

static etl_status ask_gate_baseline(world *w, const void *given, etl_error *err)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_gate_side before = { w->result, given };
    const etlheap_gate_options options = { .size = sizeof options, .baseline = &before };
    return judge(w, &query, &options, err);
}

/* The table is grouped by heaps, which differ from run to run. */
static etl_status ask_diff(world *w, const void *given, etl_error *err)
{
    etlheap_diff *diff = NULL;
    const etl_status status = etlheap_diff_tables(w->table, w->table, given, &diff, err);
    etlheap_diff_free(diff);
    return status == ETL_ERR_ARGUMENT && strstr(err->message, "size") == NULL ? ETL_OK : status;
}

static etl_status ask_batch(world *w, const void *given, etl_error *err)
{
    (void)w;
    return etlheap_batch_run(given, err);
}

static etl_status ask_unpack(world *w, const void *given, etl_error *err)
{
    (void)w;
    etlheap_unpacked *unpacked = NULL; /* -1 is no file, which is found out later */
    const etl_status status = etlheap_spool(-1, given, &unpacked, err);
    etlheap_unpacked_close(unpacked);
    return status == ETL_ERR_ARGUMENT || status == ETL_ERR_UNSUPPORTED ? status : ETL_OK;
}

static etl_status ask_export(world *w, const void *given, etl_error *err)
{
    const etlheap_exporter *const exporter = etlheap_exporter_named("folded");
    capture_open(&w->out);
    const etl_status status = etlheap_export(exporter, given, w->out.sink, err);
    (void)capture_text(&w->out);
    capture_close(&w->out);
    return status;
}

static etl_status ask_export_of(world *w, const void *given, etl_error *err)
{
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = w->result,
                                             .query = given };
    return ask_export(w, &request, err);
}

/* All formats, of which none may say another thing than the first. */
static etl_status ask_layout(world *w, const void *given, etl_error *err)
{
    etl_status first = ETL_OK;
    for (u32 i = 0, asked = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        if (!format->write_report)
            continue;
        capture_open(&w->out);
        const etl_status status = format->write_report(w->result, w->table, given, w->out.sink);
        const etl_status info =
            format->write_info ? format->write_info(w->result, given, w->out.sink) : status;
        (void)capture_text(&w->out);
        capture_close(&w->out);
        first = asked++ == 0 ? status : first;
        assert_int_equal(status, first);
        assert_int_equal(info, first);
    }
    bool *const listed = calloc(w->table->row_count + (size_t)1, sizeof *listed);
    etlheap_layout_choose(given, w->table, listed);
    assert_true(first == ETL_OK || !listed[0]);
    assert_true(first == ETL_OK || etlheap_layout_whole_rows(given) == 0);
    free(listed);
    err->message[0] = 'x'; /* writers have no sentence */
    err->message[1] = '\0';
    return first;
}

/* --- what they take ------------------------------------------------------------------ */

static etlheap_batch_answer done(void *user, u32 index, u32 jobs, bool is_alone)
{
    (void)user, (void)index, (void)jobs, (void)is_alone;
    return ETLHEAP_BATCH_DONE;
}

static void finished(void *user, u32 index)
{
    (void)user, (void)index;
}

static bool goes_on(void *user)
{
    (void)user;
    return true;
}

typedef union any_structure {
    size_t size;
    etl_open_options open;
    etlheap_options analyze;
    etlheap_query query;
    etlheap_windows_options windows;
    etlheap_store_options store;
    etlheap_part part;
    etlheap_summary_options summary;
    etlheap_symbol_options symbols;
    etlheap_lifetimes_options walk;
    etlheap_gate_options gate;
    etlheap_diff_options diff;
    etlheap_batch_options batch;
    etlheap_unpack_options unpack;
    etlheap_export_request request;
    etlheap_layout layout;
} any_structure;

#define ROW(function, member, needed)                                                              \
    {                                                                                              \
#function, function, sizeof(((any_structure *)0)->member), needed                          \
    }

/* needed: bytes without which nothing can be asked, after which defaults begin. */
static const struct {
    const char *name;
    etl_status (*ask)(world *w, const void *given, etl_error *err);
    size_t size, needed;
} rows[] = {
    ROW(ask_open, open, 0),
    ROW(ask_analyze, analyze, 0),
    ROW(ask_add_traces, analyze, 0),
    ROW(ask_open_store, analyze, 0),
    ROW(ask_report, query, 0),
    ROW(ask_report_of_store, query, 0),
    ROW(ask_table, query, 0),
    ROW(ask_symbol_list, query, 0),
    ROW(ask_peaks, query, 0),
    ROW(ask_histogram, query, 0),
    ROW(ask_windows_of, query, 0),
    ROW(ask_walk_of, query, 0),
    ROW(ask_gate_of, query, 0),
    ROW(ask_gate_baseline, query, 0),
    ROW(ask_export_of, query, 0),
    ROW(ask_report_windows, windows, 0),
    ROW(ask_windows, windows, 0),
    ROW(ask_store, store, offsetof(etlheap_store_options, user)),
    ROW(ask_part, part, 0),
    ROW(ask_summary_write, store, offsetof(etlheap_store_options, user)),
    ROW(ask_summary, summary, 0),
    ROW(ask_symbols, symbols, 0),
    ROW(ask_walk, walk, 0),
    ROW(ask_gate, gate, 0),
    ROW(ask_diff, diff, 0),
    ROW(ask_batch, batch, offsetof(etlheap_batch_options, user)),
    ROW(ask_unpack, unpack, 0),
    ROW(ask_export, request, offsetof(etlheap_export_request, metric)),
    ROW(ask_layout, layout, 0),
};

/* One that is accepted, in memory of `room` bytes; the size it states is another matter. */
static u8 *structure_of(const world *w, size_t row, size_t room)
{
    static const etlheap_query query = { .size = sizeof query };
    any_structure whole;
    u8 *const bytes = calloc(1, room);
    memset(&whole, 0, sizeof whole);
    if (rows[row].size == sizeof whole.query && strstr(rows[row].name, "ask_windows") == NULL)
        whole.query = etlheap_query_default();
    if (rows[row].ask == ask_windows_of)
        whole.query = etlheap_query_default();
    if (rows[row].ask == ask_store || rows[row].ask == ask_summary_write)
        whole.store.write = take;
    if (rows[row].ask == ask_batch) {
        whole.batch.work = done;
        whole.batch.finished = finished;
        whole.batch.goes_on = goes_on;
    }
    if (rows[row].ask == ask_export) {
        whole.request.result = w->result;
        whole.request.query = &query;
    }
    if (rows[row].ask == ask_layout)
        whole.layout = etlheap_layout_default();
    assert_non_null(bytes);
    memcpy(bytes, &whole, room < rows[row].size ? room : rows[row].size);
    return bytes;
}

static etl_status ask(world *w, size_t row, u8 *given, size_t size)
{
    etl_error err = { .message = "" };
    memcpy(given, &size, sizeof size);
    const etl_status status = rows[row].ask(w, given, &err);
    if (status != ETL_OK && err.message[0] == '\0')
        fail_msg("%s: no sentence with status %d", rows[row].name, (int)status);
    return status;
}

static void expect(world *w, size_t row, size_t room, size_t size, etl_status wanted)
{
    u8 *const given = structure_of(w, row, room);
    const etl_status status = ask(w, row, given, size);
    if (status != wanted)
        fail_msg("%s with size %zu of %zu: status %d, not %d", rows[row].name, size, rows[row].size,
                 (int)status, (int)wanted);
    free(given);
}

/* --- tests -------------------------------------------------------------------------- */

static void their_own_size_is_accepted(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        expect(*state, i, rows[i].size, rows[i].size, ETL_OK);
}

static void sizes_that_are_none_are_refused(void **state)
{
    const size_t sizes[] = { 0, sizeof(void *), ETL_SIZED_MAX + 1, SIZE_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(sizes); k++)
            expect(*state, i, rows[i].size, sizes[k], ETL_ERR_ARGUMENT);
    }
}

static void newer_programs_that_ask_for_nothing_new_are_answered(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        expect(*state, i, rows[i].size + MORE_BYTES, rows[i].size + MORE_BYTES, ETL_OK);
}

static void what_the_library_does_not_know_is_refused(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const size_t places[] = { rows[i].size, rows[i].size + MORE_BYTES - 1 };
        for (size_t k = 0; k < ETL_COUNT_OF(places); k++) {
            u8 *const given = structure_of(*state, i, rows[i].size + MORE_BYTES);
            given[places[k]] = 1;
            print_message("  %s\n", rows[i].name);
            assert_int_equal(ask(*state, i, given, rows[i].size + MORE_BYTES), ETL_ERR_UNSUPPORTED);
            free(given);
        }
    }
}

static void older_programs_get_the_defaults(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const size_t size = rows[i].needed > 0 ? rows[i].needed : sizeof(size_t) + 8;
        expect(*state, i, size, size, ETL_OK);
    }
}

/* Byte by byte: a field that is cut in two, too. */
static void parts_are_copied_and_the_rest_stays(void **state)
{
    (void)state;
    for (size_t size = ETL_SIZED_MIN; size <= sizeof(etlheap_query) + MORE_BYTES; size++) {
        u8 *const given = calloc(1, size);
        etlheap_query own;
        assert_non_null(given);
        memset(&own, 0xaa, sizeof own);
        own.size = sizeof own;
        memcpy(given, &size, sizeof size);
        memset(given + sizeof size, 0x55, size <= sizeof own ? size - sizeof size : 0);
        assert_int_equal(etl_read_sized(given, "x", &own, sizeof own, NULL), ETL_OK);
        assert_int_equal(own.size, sizeof own);
        for (size_t at = sizeof size; at < sizeof own && size <= sizeof own; at++)
            assert_int_equal(((const u8 *)&own)[at], at < size ? 0x55 : 0xaa);
        free(given);
    }
}

static void without_a_structure_there_are_defaults(void **state)
{
    (void)state;
    etlheap_query own = etlheap_query_default();
    const etlheap_query before = own;
    assert_int_equal(etl_read_sized(NULL, "x", &own, sizeof own, NULL), ETL_OK);
    assert_memory_equal(&own, &before, sizeof own);
}

/* What a later library has in arrays is 0 in this one. */
static bool is_zero_from(const i64 *values, size_t first, size_t capacity)
{
    for (size_t i = first; i < capacity; i++) {
        if (values[i] != 0)
            return false;
    }
    return true;
}

static void arrays_are_zero_beyond_the_last_enumerator(void **state)
{
    const world *const w = *state;
    const etlheap_table *const table = w->table;
    const etlheap_query query = etlheap_query_default();
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    const etlheap_peak_moment none = { .found = false };
    assert_true(table->row_count > 1);
    for (u32 i = 0; i < table->row_count; i++)
        assert_true(is_zero_from(table->rows[i].measures, ETLHEAP_MEASURES_COUNT,
                                 ETLHEAP_MEASURES_CAPACITY));
    for (u32 kind = 0; kind < ETLHEAP_KIND_CAPACITY; kind++)
        assert_true(is_zero_from(table->totals[kind].measures,
                                 kind < ETLHEAP_KIND_COUNT ? ETLHEAP_MEASURES_COUNT : 0,
                                 ETLHEAP_MEASURES_CAPACITY));
    memset(peaks, 0xff, sizeof peaks);
    assert_int_equal(etlheap_find_peaks(w->result, &query, peaks, NULL), ETL_OK);
    assert_true(peaks[ETLHEAP_KIND_HEAP].found);
    for (u32 kind = ETLHEAP_KIND_COUNT; kind < ETLHEAP_KIND_CAPACITY; kind++)
        assert_memory_equal(&peaks[kind], &none, sizeof none);
    for (u32 i = ETL_DIAG_COUNT; i < ETL_DIAG_CAPACITY; i++)
        assert_int_equal(etlheap_result_diagnostics(w->result)->of[i], 0);
}

static void the_interface_is_frozen_as_version_1(void **state)
{
    (void)state;
    assert_int_equal(etlheap_abi_version(), 1);
    assert_int_equal(etlheap_abi_version(), ETLHEAP_ABI_VERSION);
}

/* --- the world ----------------------------------------------------------------------- */

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
    summary_of_runs(&summary_first_run, 1, 0, w->files->paths[0]);
    const etlheap_query query = etlheap_query_default();
    assert_int_equal(etlheap_aggregate(w->result, &query, &w->table, NULL), ETL_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *const w = *state;
    void *files = w->files;
    etlheap_table_free(w->table);
    etlheap_result_free(w->result);
    check_close(&w->traces);
    free(w);
    return summary_fixture_close(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(their_own_size_is_accepted),
        cmocka_unit_test(sizes_that_are_none_are_refused),
        cmocka_unit_test(newer_programs_that_ask_for_nothing_new_are_answered),
        cmocka_unit_test(what_the_library_does_not_know_is_refused),
        cmocka_unit_test(older_programs_get_the_defaults),
        cmocka_unit_test(parts_are_copied_and_the_rest_stays),
        cmocka_unit_test(without_a_structure_there_are_defaults),
        cmocka_unit_test(arrays_are_zero_beyond_the_last_enumerator),
        cmocka_unit_test(the_interface_is_frozen_as_version_1),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
