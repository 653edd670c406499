/*
 * window_sums.h - sums of the heap blocks of a store in a window, by place and type.
 *
 * A place is an origin, or a group of origins. A question that asks for no peaks needs nothing else
 * of the events, and sums need no order of time: see window_sums.c.
 */
#ifndef ETLHEAP_WINDOW_SUMS_H
#define ETLHEAP_WINDOW_SUMS_H

#include "aggregate.h"
#include "engine/result/kept_sums.h"

/* Can the sums of this query's window be made here? Else a walk makes them. */
bool window_sums_fit(const aggregator *a);

/*
 * Makes (*out)[place * ETLHEAP_TYPE_COUNT + type], which the caller frees. `of_origin` has the
 * place of each origin, below `places`, or GROUP_NONE. ETL_ERR_CORRUPT, ETL_ERR_MEMORY,
 * ETL_ERR_LIMIT, ETL_ERR_CANCELLED.
 */
etl_status window_sums_make(const aggregator *a, const u32 *of_origin, u32 places, type_sums **out,
                            etl_error *err);

/* Takes the sums of the question's window by origin, and makes them if nobody has. Give them back
 * in any case. Errors as for window_sums_make. */
etl_status window_sums_take(const aggregator *a, kept_sums *kept, kept_use *out, etl_error *err);

#endif
