/* churn_parts.h - what reports say about churn in addition to its columns. */
#ifndef ETLHEAP_CHURN_PARTS_H
#define ETLHEAP_CHURN_PARTS_H

#include "formats/formats.h"
#include "formats/io/units.h"

/* The assumed cost of a temporary heap block: an allocation and a free in the low-fragmentation
 * heap, with the memory in the cache. No event states the duration of a call. */
#define ETLHEAP_CHURN_COST_NS 100

/* The assumed cost of this many blocks. */
i64 etlheap_churn_cost_ns(i64 temporary_count);

/* Writes the temporary share of all allocations, "17.3 %"; "" if there were none. */
void etlheap_churn_share(const i64 measures[ETLHEAP_MEASURES_COUNT], char out[ETLHEAP_UNITS_SIZE]);

/* Writes the sentences below a table of churn: the temporary share of each kind, and its cost.
 * ETL_ERR_MEMORY. */
etl_status etlheap_write_churn_text(const etlheap_table *table, const etlheap_layout *layout,
                                    etlheap_sink *sink);

#endif
