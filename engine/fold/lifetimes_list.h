/*
 * lifetimes_list.h - rows of a walk, in order; private to the engine.
 */
#ifndef ETLHEAP_LIFETIMES_LIST_H
#define ETLHEAP_LIFETIMES_LIST_H

#include "engine/query/query.h"

/* A lifetime as the query sees it: its free_ticks are the query's. */
typedef struct walk_row {
    lifetime life; /* with final numbers */
    u8 type;
} walk_row;

/* A row in a list: what it is sorted by, and where it is. */
typedef struct walk_item {
    u64 key;
    u64 place; /* segment and row of the result's store, or row of the list */
} walk_item;

/*
 * Rows in order. Those of the result's store are referred to, others copied. With
 * `top` set the first rows are kept as they come, in a heap whose root is the last
 * of them, so that a row costs a comparison and rarely more.
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
    size_t next; /* item to hand out */
} walk_list;

/* Row `at` of a segment, which query_select gave `row` for. */
walk_row walk_row_of(const etlheap_segment *segment, u32 at, const query_row *row);

/* Total, by content: 0 only for rows that nothing tells apart. */
int walk_compare(const etlheap_result *result, const walk_row *a, const walk_row *b);

/* MEMORY. The place counts unless the list copies. */
etl_status walk_list_add(walk_list *list, const walk_row *row, u64 place, etl_error *err);

/* With the largest rows first and all places taken: the size of the smallest that is kept, and
 * of those that follow only larger or equal ones count. Else 0. */
u64 walk_list_floor(const walk_list *list);

/* The place of a row of the result's store. */
static inline u64 walk_place(u32 segment, u32 at)
{
    return (u64)segment << 32 | at;
}

/* Puts what is not handed out yet in order. MEMORY. */
etl_status walk_list_sort(walk_list *list, etl_error *err);

/* The next row; false: there is none. */
bool walk_list_peek(const walk_list *list, walk_row *out);

/* Forgets rows that were handed out; for lists that copy. */
etl_status walk_list_drop(walk_list *list, etl_error *err);

void walk_list_free(walk_list *list);

#endif
