/*
 * churn_parts.h - what the reports say of churn beyond its columns.
 */
#ifndef ETLHEAP_CHURN_PARTS_H
#define ETLHEAP_CHURN_PARTS_H

#include "formats/formats.h"
#include "formats/io/units.h"

/*
 * What a temporary heap block is taken to cost: an allocation and a free of the low
 * fragmentation heap that find their memory in the cache. An assumption: no event says how
 * long a call took.
 */
#define ETLHEAP_CHURN_COST_NS 100

/* Of so many blocks. */
i64 etlheap_churn_cost_ns(i64 temporary_count);

/* "17.3 %" of what was allocated; "" if nothing was. */
void etlheap_churn_share(const i64 measures[ETLHEAP_MEASURES_COUNT], char out[ETLHEAP_UNITS_SIZE]);

/* The sentences below a table of churn: what is temporary of each kind, and what that costs.
 * ETL_ERR_MEMORY. */
etl_status etlheap_write_churn_text(const etlheap_table *table, const etlheap_layout *layout,
                                    etlheap_sink *sink);

#endif
