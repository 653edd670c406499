/* naming.c - see naming.h. */
#include "naming.h"

etl_status cli_name_all(const etlheap_result *result, etlheap_symbols *symbols, u32 jobs,
                        const u32 *cancel, etl_error *err)
{
    etlheap_table *table = NULL;
    etlheap_query query = etlheap_query_default();
    query.kinds = ETLHEAP_KINDS_ALL;
    query.group_by[0] = ETLHEAP_KEY_STACK;
    query.group_by_count = 1;
    query.sums_only = true;
    query.symbols = symbols;
    query.jobs = jobs;
    query.cancel = cancel;
    etl_status status = etlheap_aggregate(result, &query, &table, err);
    if (status == ETL_OK)
        status = etlheap_table_name(table, symbols, NULL, err);
    etlheap_table_free(table);
    return status;
}
