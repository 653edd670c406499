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

/* One level: a run of group_by keys shown side by side. */
typedef struct etlheap_outline_level {
    u32 key_first, key_count;
} etlheap_outline_level;

typedef struct etlheap_outline_entry {
    u32 level;
    u32 row; /* whose keys name the entry */
    i64 measures[ETLHEAP_MEASURES_COUNT];
} etlheap_outline_entry;

typedef struct etlheap_outline {
    etlheap_outline_level levels[ETLHEAP_GROUP_BY_MAX];
    u32 level_count;
    etlheap_outline_entry *entries; /* in the order they are shown */
    u32 entry_count;
    i64 omitted[ETLHEAP_MEASURES_COUNT]; /* sum over the rows not listed */
    u32 omitted_rows;
} etlheap_outline;

/* Lists the first rows of the table (layout->rows_max) and their groups, at each
 * level in the order of layout->sort. Freed by the caller. Errors: MEMORY. */
etl_status etlheap_outline_build(const etlheap_table *table, const etlheap_layout *layout,
                                 etlheap_outline *out);

void etlheap_outline_free(etlheap_outline *outline);

/* 0: both rows have the same value of a key. Of one table, or of two unless the key
 * has frames: those are counted by table. Else any total order. */
int etlheap_row_compare_key(const etlheap_row *a, const etlheap_row *b, etlheap_key key);

#endif
