/*
 * parquet_list.h - the lists in a column of lists, each kept once per row group.
 *
 * Rows share stacks, so a row has the number of its list, as a row of texts has the number of a
 * dictionary entry. Lists are written out only in the pages.
 */
#ifndef PARQUET_LIST_H
#define PARQUET_LIST_H

#include "formats/formats.h"

#include "parser/base.h"

typedef struct parquet_list {
    u32 start, count; /* range of the items */
    u64 text_bytes;   /* size of the texts when written plainly */
} parquet_list;

/* Start from {0}. */
typedef struct parquet_lists {
    parquet_list *at;
    u32 *items; /* entries of the chunk's dictionary */
    u32 count, capacity, item_count, item_capacity;
    bool failed; /* no memory */
} parquet_lists;

/* Begins a list and returns its number. Add its items next. */
u32 parquet_lists_begin(parquet_lists *lists);
void parquet_lists_item(parquet_lists *lists, u32 entry, u64 text_bytes);

void parquet_lists_clear(parquet_lists *lists);
void parquet_lists_free(parquet_lists *lists);

#endif
