/* lifetimes_list.h - sorted rows of a walk; private to the engine. */
#ifndef ETLHEAP_LIFETIMES_LIST_H
#define ETLHEAP_LIFETIMES_LIST_H

#include "engine/query/query.h"

/* A lifetime, with the query's free_ticks. */
typedef struct walk_row {
    lifetime life; /* with final numbers */
    u8 type;
} walk_row;

/* A row in a list: its sort value and place. */
typedef struct walk_item {
    u64 key;
    u64 place; /* segment and row in the result's store, or row of the list */
} walk_item;

/*
 * A sorted list of rows. Rows of the result's store are referenced, others copied. With `top`, the
 * first rows are kept in a heap whose root is the last of them, so a row usually costs one
 * comparison.
 */
typedef struct walk_list {
    const query_plan *plan;
    const u32 *process_ranks; /* by id; for column PROCESS */
    etlheap_lifetime_column sort;
    bool descending;
    bool is_copied;
    u64 top; /* 0: all */
    ETLHEAP_VECTOR(walk_row) rows;
    ETLHEAP_VECTOR(walk_item) items;
    size_t next; /* next item to return */
} walk_list;

/* Makes a row from row `at` of a segment and the result of query_select. */
walk_row walk_row_of(const etlheap_segment *segment, u32 at, const query_row *row);

/* Compares two rows by content: a total order, 0 only for identical rows. */
int walk_compare(const etlheap_result *result, const walk_row *a, const walk_row *b);

/* Adds a row. `place` is used unless the list copies. ETL_ERR_MEMORY. */
etl_status walk_list_add(walk_list *list, const walk_row *row, u64 place, etl_error *err);

/* If the list keeps the largest rows and is full: the size of the smallest one, below which further
 * rows are not kept. Else 0. */
u64 walk_list_floor(const walk_list *list);

/* The place of a row of the result's store. */
static inline u64 walk_place(u32 segment, u32 at)
{
    return (u64)segment << 32 | at;
}

/* Sorts the rows that were not returned yet. ETL_ERR_MEMORY. */
etl_status walk_list_sort(walk_list *list, etl_error *err);

/* Reads the next row without removing it; false: there is none. */
bool walk_list_peek(const walk_list *list, walk_row *out);

/* Forgets rows that were returned; for lists that copy. */
etl_status walk_list_drop(walk_list *list, etl_error *err);

void walk_list_free(walk_list *list);

#endif
