/*
 * Goal: the trace of `etlheap selftest` is one that any reader would accept, and the self
 * test can fail.
 * Method: the trace is read record by record and must show no damage; with each of some
 * bytes changed the totals have to change, or the reader to notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/selftest_trace.h"
#include "engine/engine.h"

static void setup_trace(u8 **bytes, etl_trace **trace)
{
    *bytes = malloc(CLI_SELFTEST_BYTES);
    assert_non_null(*bytes);
    cli_selftest_write(*bytes);
    const etl_bytes file = { *bytes, CLI_SELFTEST_BYTES };
    assert_int_equal(etl_open_memory(file, NULL, trace, NULL), ETL_OK);
}

static void all_of_it_is_understood_and_undamaged(void **state)
{
    (void)state;
    u8 *bytes;
    etl_trace *trace;
    setup_trace(&bytes, &trace);
    etl_diag_counts diag = *etl_trace_diagnostics(trace);
    etl_scratch scratch = { 0 };
    u32 decoded = 0;
    for (u32 i = 1; i < etl_buffer_count(trace); i++) {
        etl_buffer buffer;
        etl_record record;
        assert_int_equal(etl_buffer_load(trace, i, &scratch, &diag, &buffer), ETL_OK);
        while (etl_record_next(&buffer, &record)) {
            etl_event event;
            assert_true(etl_decode(&record, &event, &diag));
            decoded++;
        }
    }
    /* Process, image, heap, allocations with stacks, frees, one commit. */
    assert_int_equal(decoded, 3 + 2 * CLI_SELFTEST_BLOCKS +
                                  (CLI_SELFTEST_BLOCKS - CLI_SELFTEST_KEPT) +
                                  CLI_SELFTEST_UNKNOWN_FREES + 1);
    for (u32 i = 0; i < ETL_DIAG_COUNT; i++)
        assert_int_equal(diag.of[i], 0);
    etl_scratch_free(&scratch);
    etl_close(trace);
    free(bytes);
}

/* Bytes outstanding; -1 when the trace is refused. */
static i64 outstanding(etl_bytes file)
{
    const char *const name = "selftest.etl";
    etl_trace *trace = NULL;
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    const etlheap_query query = etlheap_query_default();
    i64 bytes = -1;
    if (etl_open_memory(file, NULL, &trace, NULL) == ETL_OK &&
        etlheap_analyze(&trace, &name, 1, NULL, &result, NULL) == ETL_OK &&
        etlheap_aggregate(result, &query, &table, NULL) == ETL_OK)
        bytes = table->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    etlheap_table_free(table);
    etlheap_result_free(result);
    etl_close(trace);
    return bytes;
}

static void a_changed_trace_has_other_totals(void **state)
{
    (void)state;
    static const size_t buffer_starts[] = { CLI_SELFTEST_BUFFER_BYTES,
                                            (size_t)2 * CLI_SELFTEST_BUFFER_BYTES };
    const i64 right = (i64)CLI_SELFTEST_KEPT * CLI_SELFTEST_KEPT_SIZE;
    u8 *const bytes = malloc(CLI_SELFTEST_BYTES);
    assert_non_null(bytes);
    cli_selftest_write(bytes);
    const etl_bytes file = { bytes, CLI_SELFTEST_BYTES };
    assert_int_equal(outstanding(file), right);
    /* Without its buffer header a processor's events are gone. */
    for (size_t i = 0; i < ETL_COUNT_OF(buffer_starts); i++) {
        cli_selftest_write(bytes);
        memset(bytes + buffer_starts[i], 0, 72);
        assert_int_not_equal(outstanding(file), right);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_understood_and_undamaged),
        cmocka_unit_test(a_changed_trace_has_other_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
