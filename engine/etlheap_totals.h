/*
 * etlheap_totals.h - sums over columns of lifetimes in memory.
 *
 * Part of engine.h.
 */
#ifndef ETLHEAP_TOTALS_H
#define ETLHEAP_TOTALS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lifetimes of one stack and type. Sums that do not fit stop at UINT64_MAX. */
typedef struct etlheap_stack_total {
    u64 count, size_bytes;
} etlheap_stack_total;

/*
 * Totals by stack and type, as arrays: at[stack * ETLHEAP_TYPE_CAPACITY + type] for
 * stack ids 0 (none) to etlheap_stack_count. This is the fast way to sums over
 * many lifetimes in memory: no names, peaks or order. Of the query, what selects
 * counts and what groups does not. The result must hold lifetimes (it is no
 * etlheap_result_is_for_questions). On success the caller owns *out (free it with
 * etlheap_stack_totals_free). ETL_ERR_ARGUMENT, ETL_ERR_MEMORY.
 */
etl_status etlheap_stack_totals(const etlheap_result *result, const etlheap_query *query,
                                etlheap_stack_total **out, etl_error *err);
void etlheap_stack_totals_free(etlheap_stack_total *totals); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
