/* fuzz_umdh.c - any bytes as a log of UMDH: its rows add up, it does not differ from itself,
 * and its result has all of its blocks; and as a comparison of two. */
#include "engine/engine.h"
#include "formats/umdh_log.h"
#include "fuzz.h"

static i64 sum_of(const etlheap_table *table, etlheap_measure measure)
{
    i64 sum = 0;
    for (u32 i = 0; i < table->row_count; i++)
        sum = etl_sat_add_i64(sum, table->rows[i].measures[measure]);
    return sum;
}

/* Each side has rows whose stacks lie in its table. */
static void try_comparison(etl_bytes bytes)
{
    etlheap_umdh *sides[2] = { NULL, NULL };
    etl_error err = { .status = ETL_OK };
    if (etlheap_umdh_parse_comparison(bytes, &sides[0], &sides[1], &err) != ETL_OK) {
        if (sides[0] != NULL || sides[1] != NULL || err.message[0] == '\0')
            __builtin_trap();
        return;
    }
    for (u32 i = 0; i < 2; i++) {
        const etlheap_table *const table = etlheap_umdh_table(sides[i]);
        for (u32 k = 0; k < table->row_count; k++) {
            const u32 stack = table->rows[k].stack;
            if (stack >= table->stack_count ||
                table->stack_starts[stack] > table->stack_starts[stack + 1])
                __builtin_trap();
        }
        for (u32 k = 0; k < table->stack_starts[table->stack_count]; k++) {
            if (table->frame_indices[k] >= table->frame_count)
                __builtin_trap();
        }
    }
    etlheap_diff *diff = NULL;
    (void)etlheap_diff_tables(etlheap_umdh_table(sides[0]), etlheap_umdh_table(sides[1]), NULL,
                              &diff, NULL);
    etlheap_diff_free(diff);
    etlheap_umdh_close(sides[0]);
    etlheap_umdh_close(sides[1]);
}

static void try_result(const etlheap_umdh *log)
{
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    etlheap_query query = etlheap_query_default();
    if (etlheap_umdh_result(log, "log.txt", &result, NULL) != ETL_OK)
        __builtin_trap();
    query.group_by_count = 1;
    if (etlheap_aggregate(result, &query, &table, NULL) != ETL_OK ||
        table->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] !=
            (i64)etlheap_umdh_info_of(log)->block_count)
        __builtin_trap();
    etlheap_table_free(table);
    etlheap_result_free(result);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_umdh *log = NULL;
    etl_error err = { .status = ETL_OK };
    try_comparison((etl_bytes){ data, size });
    if (etlheap_umdh_parse((etl_bytes){ data, size }, &log, &err) != ETL_OK) {
        if (log != NULL || err.message[0] == '\0')
            __builtin_trap();
        return 0;
    }
    const etlheap_table *const table = etlheap_umdh_table(log);
    if (sum_of(table, ETLHEAP_MEASURE_OUTSTANDING_COUNT) !=
            (i64)etlheap_umdh_info_of(log)->block_count ||
        sum_of(table, ETLHEAP_MEASURE_OUTSTANDING_SIZE) !=
            table->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE])
        __builtin_trap();
    etlheap_diff *diff = NULL;
    if (etlheap_diff_tables(table, table, NULL, &diff, NULL) == ETL_OK &&
        diff->table.row_count != 0)
        __builtin_trap();
    etlheap_diff_free(diff);
    try_result(log);
    etlheap_umdh_close(log);
    return 0;
}
