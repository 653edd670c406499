/*
 * outline.h - the rows of a table as an indented outline with subtotals.
 *
 *     heap
 *       app.exe (4321)
 *         0x1f0000  AIFO        a level may show several keys
 *           app.exe+0x1a2b      the last level is a row of the table
 *
 * Subtotals are over all rows of the table, also those not listed.
 */
#ifndef ETLHEAP_OUTLINE_H
#define ETLHEAP_OUTLINE_H

#include "formats/formats.h"
#include "more_rows.h"

/* One level: consecutive group_by keys, shown side by side. */
typedef struct etlheap_outline_level {
    u32 key_first, key_count;
} etlheap_outline_level;

typedef struct etlheap_outline_entry {
    u32 level;
    u32 row;   /* row with the keys that name the entry */
    u32 kinds; /* of its rows, as bits */
    i64 measures[ETLHEAP_MEASURES_COUNT];
} etlheap_outline_entry;

typedef struct etlheap_outline {
    etlheap_outline_level levels[ETLHEAP_GROUP_BY_MAX];
    u32 level_count;
    etlheap_outline_entry *entries; /* in the order in which they are shown */
    u32 entry_count;
    etlheap_more_rows more; /* the rows that are not listed */
} etlheap_outline;

/* Makes an outline of the first rows of the table (layout->rows_max) and their groups, at each
 * level in the order of layout->sort. The caller frees it. ETL_ERR_MEMORY. */
etl_status etlheap_outline_build(const etlheap_table *table, const etlheap_layout *layout,
                                 etlheap_outline *out);

void etlheap_outline_free(etlheap_outline *outline);

#endif
