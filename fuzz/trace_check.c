/*
 * trace_check.c - analyzes any bytes as a trace in several ways, and checks that the answers agree.
 * trace_check.h says why.
 *
 * In: the bytes of a file. Out: nothing, or abort.
 *
 *     one thread, events     ──▶ table ─┐
 *     two threads, events    ──▶ table ─┤
 *     lifetimes              ──▶ table ─┼─▶ equal; rows add up to totals; peaks are no less than
 *     store, read back       ──▶ table ─┘   what is outstanding
 *     marks alone            ──▶ the marks of the analysis
 *
 * Invariant: under a fuzzer, only some ways are taken, chosen by the input's bytes alone (is_due),
 * so that a finding is found again.
 */
#include "trace_check.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "store_bytes.h"
#include "tests/support/asked.h"

#define MEMORY_BYTES_MAX ((u64)512 << 20)

/* The ways to an answer besides the first: one thread, from an event list. */
typedef enum other_way { WAY_TWO_THREADS, WAY_LIFETIMES, WAY_STORE, WAY_COUNT } other_way;

static bool is_due(other_way way, const u8 *data, size_t size);
static etlheap_table *answer(etl_trace *trace, other_way way, u64 slice_bytes);
static void read_records(etl_trace *trace);
static etlheap_table *report(etl_trace *trace, u32 jobs, bool from_lifetimes, u64 slice_bytes);
static etlheap_table *report_from_store(etl_trace *trace, u64 slice_bytes);
static void check_same(const etlheap_table *a, const etlheap_table *b, bool with_peaks);
static void check_sums(const etlheap_table *table);

/* Two answers to one question differ. */
static void disagree(void)
{
    __builtin_trap();
}

void trace_check(const u8 *data, size_t size, u64 slice_bytes)
{
    etl_trace *trace = NULL;
    etl_error err;
    if (etl_open_memory((etl_bytes){ data, size }, NULL, &trace, &err) != ETL_OK)
        return;
    read_records(trace);
    etlheap_table *const first = report(trace, 1, false, slice_bytes);
    if (first != NULL)
        check_sums(first);
    for (u32 way = 0; way < WAY_COUNT; way++) {
        if (!is_due((other_way)way, data, size))
            continue;
        etlheap_table *const other = answer(trace, (other_way)way, slice_bytes);
        /* A store knows late ends only to the segment. */
        if (first != NULL && other != NULL)
            check_same(first, other, way != WAY_STORE);
        etlheap_table_free(other);
    }
    etlheap_table_free(first);
    etl_close(trace);
}

/* Is the way due for this input? Every way takes at least as long as the first. Under a fuzzer,
 * each is for a share of the inputs, chosen by their bytes alone, so that findings are found again.
 * FNV-1a, folded. */
static bool is_due(other_way way, const u8 *data, size_t size)
{
    static const u32 one_in[WAY_COUNT] = {
        [WAY_TWO_THREADS] = 16, [WAY_LIFETIMES] = 2, [WAY_STORE] = 16
    };
    u64 hash = 14695981039346656037u + way;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return !FUZZ_SAMPLE || (hash >> 32) % one_in[way] == 0;
}

static etlheap_table *answer(etl_trace *trace, other_way way, u64 slice_bytes)
{
    switch (way) {
    case WAY_TWO_THREADS:
        return report(trace, 2, false, slice_bytes);
    case WAY_LIFETIMES:
        return report(trace, 1, true, slice_bytes);
    default:
        return report_from_store(trace, slice_bytes);
    }
}

/* Reads all records as `dump` does, and decodes each. */
static void read_records(etl_trace *trace)
{
    etlheap_stream *stream = NULL;
    etlheap_stream_record row;
    etl_diag_counts diag = { 0 };
    etl_error err;
    if (etlheap_stream_open(&trace, 1, &stream, &err) != ETL_OK)
        return;
    while (etlheap_stream_next(stream, &row)) {
        etl_event event;
        (void)etl_decode(&row.record, &event, &diag);
        (void)etl_record_name(&row.record);
    }
    etlheap_stream_close(stream);
}

/* Asks for a table. Tables borrow from their result; what outlives it here does not. */
static etlheap_table *ask(etlheap_result *result, const etlheap_query *query)
{
    etlheap_table *table = NULL;
    etl_error err;
    if (etlheap_aggregate(result, query, &table, &err) != ETL_OK)
        table = NULL;
    etlheap_result_free(result);
    return table;
}

static etlheap_table *report(etl_trace *trace, u32 jobs, bool from_lifetimes, u64 slice_bytes)
{
    static const char *const name = "fuzz.etl";
    etlheap_query query = etlheap_query_default();
    query.jobs = jobs;
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = jobs,
                                      .memory_bytes_max = MEMORY_BYTES_MAX,
                                      .slice_bytes = slice_bytes,
                                      ASKED_IF(!from_lifetimes, ETLHEAP_ASK_TABLE, &query, NULL) };
    etlheap_result *result = NULL;
    etl_error err;
    if (etlheap_analyze(&trace, &name, 1, &options, &result, &err) != ETL_OK)
        return NULL;
    return ask(result, &query);
}

/* Checks that a pass over marks alone finds the same marks as the analysis, also if any event may
 * be one. */
static void check_marks(etl_trace *trace, const etlheap_result *facts)
{
    static const etlheap_mark_event any = { .provider = "*", .event = "*" };
    const etlheap_marks *const wanted = etlheap_result_marks(facts);
    const etlheap_marks_options options = {
        .size = sizeof options, .events = &any, .event_count = 1, .jobs = 1
    };
    etlheap_marks *marks = NULL;
    etl_error err;
    if (etlheap_marks_read(&trace, 1, &options, &marks, &err) == ETL_OK)
        etlheap_marks_free(marks);
    if (etlheap_marks_read(&trace, 1, NULL, &marks, &err) != ETL_OK)
        return;
    if (marks->count != wanted->count)
        disagree();
    for (u32 i = 0; i < marks->count; i++) {
        if (marks->at[i].ticks != wanted->at[i].ticks ||
            marks->at[i].number != wanted->at[i].number ||
            strcmp(marks->at[i].name, wanted->at[i].name) != 0)
            disagree();
    }
    etlheap_marks_free(marks);
}

static etlheap_table *report_from_store(etl_trace *trace, u64 slice_bytes)
{
    static const char *const name = "fuzz.etl";
    store_bytes bytes = { .at = NULL };
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = store_bytes_keep,
                                          .user = &bytes };
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 1,
                                      .memory_bytes_max = MEMORY_BYTES_MAX,
                                      .slice_bytes = slice_bytes,
                                      .store = &store };
    etlheap_query query = etlheap_query_default();
    query.jobs = 1;
    const etlheap_options reading = { .size = sizeof reading, ASKED_TABLE(&query) };
    etlheap_result *facts = NULL, *result = NULL;
    etlheap_table *table = NULL;
    etl_error err;
    if (etlheap_analyze(&trace, &name, 1, &options, &facts, &err) == ETL_OK) {
        /* A store that was written must be readable. */
        if (etlheap_open_store(fuzz_file(bytes.at, bytes.size), &reading, &result, &err) != ETL_OK)
            disagree();
        check_marks(trace, facts);
        table = ask(result, &query);
    }
    etlheap_result_free(facts);
    free(bytes.at);
    return table;
}

static bool is_peak(u32 measure)
{
    return measure == ETLHEAP_MEASURE_PEAK_SIZE || measure == ETLHEAP_MEASURE_PEAK_COUNT;
}

/* Is a sum beyond counting? One that stopped at the largest number and then became smaller is lower
 * by what did not fit, which depends on the order of events in one moment. That takes blocks of
 * more bytes than there are addresses. */
static bool is_beyond_counting(const etlheap_row *row)
{
    return row->measures[ETLHEAP_MEASURE_SIZE] > INT64_MAX / 2;
}

static void check_row(const etlheap_row *a, const etlheap_row *b, bool with_peaks)
{
    if (a->kind != b->kind || a->type != b->type || a->pid != b->pid ||
        a->heap_handle != b->heap_handle || a->stack != b->stack)
        disagree();
    for (u32 m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        const bool is_loose =
            is_peak(m) &&
            (!with_peaks || (m == ETLHEAP_MEASURE_PEAK_SIZE && is_beyond_counting(a)));
        if (a->measures[m] != b->measures[m] && !is_loose)
            disagree();
    }
}

static void check_same(const etlheap_table *a, const etlheap_table *b, bool with_peaks)
{
    if (a->row_count != b->row_count || a->stack_count != b->stack_count ||
        a->frame_count != b->frame_count || a->from_ns != b->from_ns || a->to_ns != b->to_ns)
        disagree();
    for (u32 i = 0; i < a->row_count; i++)
        check_row(&a->rows[i], &b->rows[i], with_peaks);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (memcmp(a->totals[kind].measures, b->totals[kind].measures,
                   sizeof a->totals[kind].measures) != 0 ||
            a->totals[kind].free_without_alloc != b->totals[kind].free_without_alloc)
            disagree();
    }
}

/* Checks that rows add up to their totals, unless one stopped at the largest number, and that no
 * row has more outstanding than its peak. */
static void check_sums(const etlheap_table *table)
{
    static const etlheap_measure sums[] = { ETLHEAP_MEASURE_COUNT,
                                            ETLHEAP_MEASURE_OUTSTANDING_COUNT,
                                            ETLHEAP_MEASURE_REALLOC_COUNT };
    i64 of_rows[ETLHEAP_KIND_COUNT][ETL_COUNT_OF(sums)] = { { 0 } };
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        for (size_t s = 0; s < ETL_COUNT_OF(sums); s++)
            of_rows[row->kind][s] += row->measures[sums[s]];
        if (row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] >
                row->measures[ETLHEAP_MEASURE_PEAK_COUNT] ||
            row->measures[ETLHEAP_MEASURE_PEAK_COUNT] > row->measures[ETLHEAP_MEASURE_COUNT])
            disagree();
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (size_t s = 0; s < ETL_COUNT_OF(sums); s++) {
            if (of_rows[kind][s] != table->totals[kind].measures[sums[s]])
                disagree();
        }
    }
}
