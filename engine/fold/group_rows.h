/*
 * group_rows.h - what makes a table of groups, in parts.
 *
 *     group_rows.c    the table; every group a row
 *     group_order.c   the order of groups
 *     group_merge.c   a few groups rows, the others added up
 */
#ifndef ETLHEAP_GROUP_ROWS_H
#define ETLHEAP_GROUP_ROWS_H

#include "aggregate.h"

/* Appends the group as a row. False without memory. */
bool table_add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
                     const group_row *group);

/* --- order ---------------------------------------------------------------------- */

/* The order of groups by their keys from KIND to FREE_TYPE, as numbers from 0. */
typedef struct group_heads {
    u32 *at; /* by group */
    u32 count;
} group_heads;

/* False without memory; to be freed in any case. */
bool group_heads_open(group_heads *out, const aggregator *a);

/* The query's measure as a number that is smaller the earlier its row comes. */
u64 group_measure(const aggregator *a, const group_row *group);

/* By all keys. For digit_sort, with an aggregator as the owner. */
int group_compare(const void *owner, u32 x, u32 y);

/* All groups in the order of rows: freed by the caller, NULL without memory. */
u32 *group_order(const aggregator *a);

/* Texts of a key's members. */
const char *group_module_name(const aggregator *a, u32 module); /* NULL: none */
const char *group_type_name(const aggregator *a, u32 type);
const char *group_tag_name(const aggregator *a, u32 tag);     /* NULL: none */
const char *group_thread_name(const aggregator *a, u32 name); /* NULL: none */

/* --- merging -------------------------------------------------------------------- */

/* Whether etlheap_query.whole_rows_max holds for the groups. */
bool table_merges(const aggregator *a);

/* Adds the rows: see there. False without memory. */
bool table_merge(const aggregator *a, owned_table *out);

#endif
