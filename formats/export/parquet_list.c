/*
 * parquet_list.c - keeps each list of a column of lists once in a row group; rows have its number.
 */
#include "parquet_list.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256u

static bool grow(void **at, u32 *capacity, u32 needed, size_t item_bytes);

u32 parquet_lists_begin(parquet_lists *lists)
{
    void *at = lists->at;
    if (!grow(&at, &lists->capacity, lists->count + 1, sizeof *lists->at)) {
        lists->failed = true;
        return 0;
    }
    lists->at = at;
    lists->at[lists->count] = (parquet_list){ .start = lists->item_count };
    return lists->count++;
}

void parquet_lists_item(parquet_lists *lists, u32 entry, u64 text_bytes)
{
    void *at = lists->items;
    if (lists->failed ||
        !grow(&at, &lists->item_capacity, lists->item_count + 1, sizeof *lists->items)) {
        lists->failed = true;
        return;
    }
    lists->items = at;
    lists->items[lists->item_count++] = entry;
    lists->at[lists->count - 1].count++;
    lists->at[lists->count - 1].text_bytes += text_bytes;
}

void parquet_lists_clear(parquet_lists *lists)
{
    lists->count = 0;
    lists->item_count = 0;
}

void parquet_lists_free(parquet_lists *lists)
{
    free(lists->at);
    free(lists->items);
    *lists = (parquet_lists){ 0 };
}

static bool grow(void **at, u32 *capacity, u32 needed, size_t item_bytes)
{
    if (needed <= *capacity)
        return true;
    const u32 wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *const bytes = wanted > *capacity ? realloc(*at, wanted * item_bytes) : NULL;
    if (!bytes)
        return false;
    *at = bytes;
    *capacity = wanted;
    return true;
}
