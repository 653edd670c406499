/* table.h - a table and the memory behind it; private to the engine. */
#ifndef ETLHEAP_OWNED_TABLE_H
#define ETLHEAP_OWNED_TABLE_H

#include "engine/names/frames.h"
#include "lifetime_lists.h"

/* Where a frame of a table comes from, which decides its name. */
typedef struct table_place {
    u64 offset; /* in the module */
    u32 module; /* index in the result's list; FRAME_NONE: cannot be named */
    u32 skip;   /* number of culled inlined calls at its inner end */
} table_place;

/* The lifetimes of rows. Start from {0}. */
typedef struct etlheap_row_lifetimes {
    lifetime_lists lists;
    ETLHEAP_VECTOR(u32) groups; /* by row: its group in the lists */
} etlheap_row_lifetimes;

/* A table and the memory behind its arrays. */
typedef struct owned_table {
    etlheap_table table;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    ETLHEAP_VECTOR(etlheap_row) rows;
    ETLHEAP_VECTOR(etlheap_frame) frames;
    ETLHEAP_VECTOR(table_place) places; /* of the frames; empty after they were named */
    ETLHEAP_VECTOR(u32) stack_starts;
    ETLHEAP_VECTOR(u32) frame_indices;
    ETLHEAP_VECTOR(etlheap_source_line) lines; /* of frames that are functions; never grows */
    etlheap_row_lifetimes lifetimes;
} owned_table;

/* All tables are made by the engine, as the first member of an owned_table. */
static inline owned_table *table_owned(etlheap_table *table)
{
    return (owned_table *)(void *)table;
}

/* The free stack and free frame of a row; ETLHEAP_NO_INDEX: none. Only rows grouped by them have
 * these members. */
u32 table_free_stack(const owned_table *table, const etlheap_row *row);
u32 table_free_frame(const owned_table *table, const etlheap_row *row);

/* Points the table's members to the arrays. */
void table_publish(owned_table *out);

typedef ETLHEAP_VECTOR(u32) table_ids;

/* Grows the array to at least `count` elements, new ones 0. False if memory runs out. */
bool table_ids_fit(table_ids *ids, size_t count);

/* Numbers that frames and stacks of a frame table have in a table. Start from {0}. */
typedef struct table_numbers {
    table_ids frames, stacks; /* number + 1; 0: not in the table yet */
} table_numbers;

void table_numbers_free(table_numbers *numbers);

/*
 * Finds the index in `out` of a frame or a finished stack, and adds it if it is new, so both are in
 * order of first use. ETLHEAP_NO_INDEX for FRAME_NONE and for stack 0. stack_starts begins with 0.
 * False if memory runs out.
 */
bool table_number_frame(owned_table *out, table_numbers *numbers, const frame_table *frames,
                        u32 frame, u32 *index);
bool table_number_stack(owned_table *out, table_numbers *numbers, const frame_table *frames,
                        u32 stack, u32 *index);

/* Sets the names of a frame: a function of `symbols`, an inlined call or the whole frame. */
void table_set_names(etlheap_frame *frame, const etlheap_symbols *symbols, u32 symbol, u32 file,
                     u32 line);

#endif
