/*
 * group_rows.h - turns groups into a table.
 *
 *     group_rows.c    the table; one row per group
 *     group_order.c   the order of groups
 *     group_merge.c   rows for a few groups, and sums of the others
 */
#ifndef ETLHEAP_GROUP_ROWS_H
#define ETLHEAP_GROUP_ROWS_H

#include "aggregate.h"

/* Appends the group as a row. False if memory runs out. */
bool table_add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
                     const group_row *group);

/* --- order ---------------------------------------------------------------------- */

/* The order of groups by their keys from KIND to FREE_TYPE, as numbers from 0. */
typedef struct group_heads {
    u32 *at; /* by group */
    u32 count;
} group_heads;

/* False if memory runs out; free it in any case. */
bool group_heads_open(group_heads *out, const aggregator *a);

/* The sort measure of a group as a number that is smaller for rows that come earlier. */
u64 group_measure(const aggregator *a, u32 group);

/* Compares groups by all keys. For digit_sort, with an aggregator as the owner. */
int group_compare(const void *owner, u32 x, u32 y);

/* All groups in the order of rows; the caller frees the array. NULL if memory runs out. */
u32 *group_order(const aggregator *a);

/* Texts of a key's members. */
const char *group_module_name(const aggregator *a, u32 module); /* NULL: none */
const char *group_type_name(const aggregator *a, u32 type);
const char *group_source_line(const aggregator *a, u32 line);
const char *group_tag_name(const aggregator *a, u32 tag);     /* NULL: none */
const char *group_thread_name(const aggregator *a, u32 name); /* NULL: none */

/* --- merging -------------------------------------------------------------------- */

/* True if etlheap_query.whole_rows_max applies to the groups. */
bool table_merges(const aggregator *a);

/* Adds the rows, merged as etlheap_query.whole_rows_max says. False if memory runs out. */
bool table_merge(const aggregator *a, owned_table *out);

#endif
