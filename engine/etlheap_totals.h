/*
 * etlheap_totals.h - fast sums over lifetimes in memory. Part of engine.h.
 *
 * Use it if you need only counts and sizes per stack; etlheap_aggregate does everything else.
 */
#ifndef ETLHEAP_TOTALS_H
#define ETLHEAP_TOTALS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the lifetimes of one stack and type, at most UINT64_MAX. */
typedef struct etlheap_stack_total {
    uint64_t count, size_bytes;
} etlheap_stack_total;

/*
 * Adds up lifetimes by stack and type: at[stack * ETLHEAP_TYPE_CAPACITY + type] for stack ids from
 * 0 (none) to etlheap_stack_count. Makes no names, peaks or order. The query's filters count, its
 * keys do not. The result must have lifetimes in memory (etlheap_result_is_for_questions is false).
 * On success the caller owns *out (etlheap_stack_totals_free). ETL_ERR_ARGUMENT, ETL_ERR_MEMORY.
 */
etl_status etlheap_stack_totals(const etlheap_result *result, const etlheap_query *query,
                                etlheap_stack_total **out, etl_error *err);
void etlheap_stack_totals_free(etlheap_stack_total *totals); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
