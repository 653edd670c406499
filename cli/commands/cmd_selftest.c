/*
 * cmd_selftest.c - `etlheap selftest`: checks whether this program works on this machine.
 *
 * In: nothing; a small trace is made in memory (selftest_trace.c). Out: one line for each check,
 * and an exit status.
 *
 * The trace goes the way of any trace: it is read, analyzed, added up, printed and stored. Each
 * check uses what the one before made, so the order of `checks` matters. This does not replace the
 * tests of the source: it finds a wrong library, a miscompiled program, and a folder for temporary
 * files that cannot be written. Invariant: expected numbers are constants, never computed by the
 * code under test.
 */
#include "cli/demo/demo.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/selftest_trace.h"
#include "cli/system/terminal.h"
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define FILE_NAME_SIZE 512
#define REPORT_MAX     65536u

static const char trace_name[] = "selftest.etl";

/* State that one check leaves for the next. */
typedef struct selftest {
    u8 *bytes; /* of the trace */
    etl_trace *trace;
    etlheap_result *result;
    etlheap_table *table;
    char *report; /* with one thread, as JSON */
    char file[FILE_NAME_SIZE];
} selftest;

typedef struct selftest_check {
    const char *what;
    etl_status (*run)(selftest *test, etl_error *err);
} selftest_check;

static etl_status check_reading(selftest *test, etl_error *err);
static etl_status check_totals(selftest *test, etl_error *err);
static etl_status check_stack(selftest *test, etl_error *err);
static etl_status check_report(selftest *test, etl_error *err);
static etl_status check_threads(selftest *test, etl_error *err);
static etl_status check_store(selftest *test, etl_error *err);
static etl_status expect(const char *what, u64 is, u64 should_be, etl_error *err);
static etl_status analyze(const selftest *test, u32 jobs, const etlheap_store_options *store,
                          etlheap_result **out, etl_error *err);
static etl_status compare_report(const selftest *test, const etlheap_result *result,
                                 etl_error *err);
static etl_status write_report(const etlheap_result *result, char **out, etl_error *err);
static etl_status write_store(const selftest *test, etlheap_sink *sink, etl_error *err);
static etl_status open_temporary(char name[FILE_NAME_SIZE], int *descriptor, etl_error *err);
static etl_status read_back(int descriptor, char **out, etl_error *err);

/* In this order: each needs what the one before made. */
static const selftest_check checks[] = {
    { "read a trace", check_reading },
    { "compute the right totals", check_totals },
    { "find the stack that keeps memory", check_stack },
    { "write the report", check_report },
    { "get the same report with two threads", check_threads },
    { "get the same report from a store", check_store },
};

int cli_run_selftest(const cli_options *options)
{
    if (options->write_demo)
        return cli_demo_write(options->write_demo);
    selftest test = { .trace = NULL };
    etl_error err = { .status = ETL_OK };
    etl_status status = ETL_OK;
    for (size_t i = 0; i < ETL_COUNT_OF(checks) && status == ETL_OK; i++) {
        status = checks[i].run(&test, &err);
        printf("%s  %s\n", status == ETL_OK ? "ok    " : "FAILED", checks[i].what);
    }
    if (status != ETL_OK)
        cli_complain("selftest", err.message);
    if (fflush(stdout) != 0 && status == ETL_OK) {
        cli_complain("standard output", "cannot be written");
        status = ETL_ERR_IO;
    }
    free(test.report);
    etlheap_table_free(test.table);
    etlheap_result_free(test.result);
    etl_close(test.trace);
    free(test.bytes);
    return status == ETL_OK ? CLI_EXIT_DONE : CLI_EXIT_INPUT;
}

static etl_status check_reading(selftest *test, etl_error *err)
{
    test->bytes = malloc(CLI_SELFTEST_BYTES);
    if (!test->bytes)
        return etl_no_memory(err);
    cli_selftest_write(test->bytes);
    const etl_bytes file = { test->bytes, CLI_SELFTEST_BYTES };
    const etl_status status = etl_open_memory(file, NULL, &test->trace, err);
    return status == ETL_OK
               ? expect("buffers", etl_buffer_count(test->trace), CLI_SELFTEST_BUFFERS, err)
               : status;
}

static etl_status check_totals(selftest *test, etl_error *err)
{
    const u64 freed = CLI_SELFTEST_BLOCKS - CLI_SELFTEST_KEPT;
    const u64 kept_size = (u64)CLI_SELFTEST_KEPT * CLI_SELFTEST_KEPT_SIZE;
    const etlheap_query query = etlheap_query_default();
    etl_status status = analyze(test, 1, NULL, &test->result, err);
    if (status == ETL_OK)
        status = etlheap_aggregate(test->result, &query, &test->table, err);
    if (status != ETL_OK)
        return status;
    const etlheap_total *const heap = &test->table->totals[ETLHEAP_KIND_HEAP];
    const etlheap_total *const pages = &test->table->totals[ETLHEAP_KIND_VIRTUALALLOC];
    const struct {
        const char *what;
        u64 is, should_be;
    } rows[] = {
        { "blocks", (u64)heap->measures[ETLHEAP_MEASURE_COUNT], CLI_SELFTEST_BLOCKS },
        { "bytes of blocks", (u64)heap->measures[ETLHEAP_MEASURE_SIZE],
          kept_size + freed * CLI_SELFTEST_FREED_SIZE },
        { "blocks outstanding", (u64)heap->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT],
          CLI_SELFTEST_KEPT },
        { "bytes outstanding", (u64)heap->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], kept_size },
        { "unknown frees", heap->free_without_alloc, CLI_SELFTEST_UNKNOWN_FREES },
        { "bytes committed", (u64)pages->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
          CLI_SELFTEST_COMMITTED },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows) && status == ETL_OK; i++)
        status = expect(rows[i].what, rows[i].is, rows[i].should_be, err);
    return status;
}

/* Looks at the row of the heap with the most memory outstanding. */
static etl_status check_stack(selftest *test, etl_error *err)
{
    etlheap_table *const table = test->table;
    const etlheap_row *row = NULL;
    for (u32 i = 0; i < table->row_count && !row; i++)
        row = table->rows[i].kind == ETLHEAP_KIND_HEAP ? &table->rows[i] : NULL;
    if (!row || row->stack == ETLHEAP_NO_INDEX)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the outstanding blocks have no stack");
    if (row->pid != CLI_SELFTEST_PID || strcmp(row->process, CLI_SELFTEST_PROGRAM) != 0)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "they belong to %.60s (%u)", row->process,
                             row->pid);
    const u32 from = table->stack_starts[row->stack];
    const etlheap_frame *const frame = &table->frames[table->frame_indices[from]];
    if (!frame->module || strcmp(frame->module, CLI_SELFTEST_PROGRAM) != 0)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "their stack is in no module");
    const etl_status status =
        expect("frames", table->stack_starts[row->stack + 1] - from, CLI_SELFTEST_KEPT_DEPTH, err);
    return status == ETL_OK
               ? expect("offset of the call", frame->offset, CLI_SELFTEST_KEPT_OFFSET, err)
               : status;
}

static etl_status check_report(selftest *test, etl_error *err)
{
    return write_report(test->result, &test->report, err);
}

static etl_status check_threads(selftest *test, etl_error *err)
{
    etlheap_result *result = NULL;
    etl_status status = analyze(test, 2, NULL, &result, err);
    if (status == ETL_OK)
        status = compare_report(test, result, err);
    etlheap_result_free(result);
    return status;
}

/* The file is removed once it is open, whatever comes of it. */
static etl_status check_store(selftest *test, etl_error *err)
{
    etlheap_result *result = NULL;
    etlheap_sink *sink = NULL;
    int descriptor = -1;
    etl_status status = open_temporary(test->file, &descriptor, err);
    if (status != ETL_OK)
        return status;
    status = etlheap_sink_open_descriptor(descriptor, test->file, &sink, err);
    if (status == ETL_OK)
        status = write_store(test, sink, err);
    if (status == ETL_OK)
        status = etlheap_open_store(test->file, NULL, &result, err);
    etl_temporary_remove(descriptor, test->file);
    if (status == ETL_OK)
        status = compare_report(test, result, err);
    etlheap_result_free(result);
    return status;
}

static etl_status expect(const char *what, u64 is, u64 should_be, etl_error *err)
{
    if (is == should_be)
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "%s: got %llu, expected %llu", what,
                         (unsigned long long)is, (unsigned long long)should_be);
}

static etl_status analyze(const selftest *test, u32 jobs, const etlheap_store_options *store,
                          etlheap_result **out, etl_error *err)
{
    const char *const name = trace_name;
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = jobs,
                                      .slice_bytes = CLI_SELFTEST_BUFFER_BYTES,
                                      .temporary_folder = cli_temporary_folder(),
                                      .store = store };
    return etlheap_analyze(&test->trace, &name, 1, &options, out, err);
}

/* A report begins with the names of the files, which differ. */
static etl_status compare_report(const selftest *test, const etlheap_result *result, etl_error *err)
{
    static const char behind_names[] = "\"session\"";
    char *report = NULL;
    etl_status status = write_report(result, &report, err);
    if (status == ETL_OK) {
        const char *const is = strstr(report, behind_names);
        const char *const should_be = strstr(test->report, behind_names);
        if (!is || !should_be || strcmp(is, should_be) != 0)
            status = etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the report differs");
    }
    free(report);
    return status;
}

/* By way of a file: that is where a sink writes. */
static etl_status write_report(const etlheap_result *result, char **out, etl_error *err)
{
    char name[FILE_NAME_SIZE];
    int descriptor = -1;
    etlheap_sink *sink = NULL;
    etlheap_table *table = NULL;
    const etlheap_query query = etlheap_query_default();
    const etlheap_layout layout = etlheap_layout_default();
    etl_status status = open_temporary(name, &descriptor, err);
    if (status != ETL_OK)
        return status;
    status = etlheap_aggregate(result, &query, &table, err);
    if (status == ETL_OK)
        status = etlheap_sink_open_descriptor(descriptor, name, &sink, err);
    if (status == ETL_OK) {
        const etl_status written =
            etlheap_format_named("json")->write_report(result, table, &layout, sink);
        status = etlheap_sink_close(sink, err);
        status = written == ETL_OK ? status : etl_fail_with(err, written, 0, "out of memory");
    }
    if (status == ETL_OK)
        status = read_back(descriptor, out, err);
    etlheap_table_free(table);
    etl_temporary_remove(descriptor, name);
    return status;
}

/* Closes the sink in any case. */
static etl_status write_store(const selftest *test, etlheap_sink *sink, etl_error *err)
{
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = cli_sink_put,
                                          .user = sink };
    etlheap_result *facts = NULL;
    const etl_status status = analyze(test, 1, &store, &facts, err);
    const etl_status closed = etlheap_sink_close(sink, status == ETL_OK ? err : NULL);
    etlheap_result_free(facts);
    return status == ETL_OK ? closed : status;
}

static etl_status open_temporary(char name[FILE_NAME_SIZE], int *descriptor, etl_error *err)
{
    const char *const folder = cli_temporary_folder();
    const int size = snprintf(name, FILE_NAME_SIZE, "%s/etlheap-selftest-XXXXXX", folder);
    *descriptor = size > 0 && size < FILE_NAME_SIZE ? etl_temporary_open(name) : -1;
    if (*descriptor < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0,
                             "cannot create a file in %.120s; set TMPDIR to a writable folder",
                             folder);
    return ETL_OK;
}

/* As a string that is to be freed. */
static etl_status read_back(int descriptor, char **out, etl_error *err)
{
    char *const text = calloc(1, REPORT_MAX + 1);
    if (!text)
        return etl_no_memory(err);
    const i64 size =
        etl_file_seek(descriptor, 0) ? etl_file_read(descriptor, text, REPORT_MAX) : -1;
    *out = text;
    return size > 0 && size < (i64)REPORT_MAX
               ? ETL_OK
               : etl_fail_with(err, ETL_ERR_IO, 0, "the written file cannot be read back");
}
