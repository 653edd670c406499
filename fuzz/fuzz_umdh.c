/* fuzz_umdh.c - any bytes as a log of UMDH: its rows add up, and it does not differ from
 * itself. */
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

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_umdh *log = NULL;
    etl_error err = { .status = ETL_OK };
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
    etlheap_umdh_close(log);
    return 0;
}
