/*
 * table_skip.c - drops the first rows of a table, and what only they refer to.
 *
 * Frames and stacks are numbered in order of first use, so those of the rows that stay get new
 * numbers, as in a table that never had the others. There are never more of them than before, so
 * they take the places of the old ones.
 */
#include "table.h"

#include <stdlib.h>

/* The frames and stacks that stay. */
typedef struct table_rest {
    owned_table *table;
    u32 *frame_numbers, *stack_numbers; /* new number + 1; 0: it has none yet */
    etlheap_frame *frames;
    table_place *places;
    u32 *starts, *indices;
    u32 frame_count, stack_count, index_count;
} table_rest;

static bool open_rest(table_rest *rest, owned_table *table)
{
    const size_t frames = table->frames.count + 1, stacks = table->stack_starts.count + 1;
    *rest = (table_rest){ .table = table,
                          .frame_numbers = calloc(frames, sizeof(u32)),
                          .stack_numbers = calloc(stacks, sizeof(u32)),
                          .frames = malloc(frames * sizeof(etlheap_frame)),
                          .places = malloc(frames * sizeof(table_place)),
                          .starts = calloc(stacks, sizeof(u32)),
                          .indices = malloc((table->frame_indices.count + 1) * sizeof(u32)) };
    return rest->frame_numbers != NULL && rest->stack_numbers != NULL && rest->frames != NULL &&
           rest->places != NULL && rest->starts != NULL && rest->indices != NULL;
}

static void close_rest(table_rest *rest)
{
    free(rest->frame_numbers);
    free(rest->stack_numbers);
    free(rest->frames);
    free(rest->places);
    free(rest->starts);
    free(rest->indices);
}

static u32 keep_frame(table_rest *rest, u32 frame)
{
    const owned_table *const table = rest->table;
    if (frame == ETLHEAP_NO_INDEX)
        return frame;
    u32 *const number = &rest->frame_numbers[frame];
    if (*number == 0) {
        rest->frames[rest->frame_count] = table->frames.at[frame];
        if (frame < table->places.count)
            rest->places[rest->frame_count] = table->places.at[frame];
        *number = ++rest->frame_count;
    }
    return *number - 1;
}

static u32 keep_stack(table_rest *rest, u32 stack)
{
    const owned_table *const table = rest->table;
    if (stack == ETLHEAP_NO_INDEX)
        return stack;
    u32 *const number = &rest->stack_numbers[stack];
    if (*number == 0) {
        for (u32 i = table->stack_starts.at[stack]; i < table->stack_starts.at[stack + 1]; i++)
            rest->indices[rest->index_count++] = keep_frame(rest, table->frame_indices.at[i]);
        *number = ++rest->stack_count;
        rest->starts[rest->stack_count] = rest->index_count;
    }
    return *number - 1;
}

/* Moves the rows that stay to the front, with their new numbers. */
static void keep_rows(table_rest *rest, u32 skipped)
{
    owned_table *const table = rest->table;
    for (size_t i = skipped; i < table->rows.count; i++) {
        etlheap_row row = table->rows.at[i];
        const u32 free_stack = table_free_stack(table, &row);
        const u32 free_frame = table_free_frame(table, &row);
        row.frame = keep_frame(rest, row.frame);
        if (free_frame != ETLHEAP_NO_INDEX)
            row.free_frame = keep_frame(rest, free_frame);
        row.stack = keep_stack(rest, row.stack);
        if (free_stack != ETLHEAP_NO_INDEX)
            row.free_stack = keep_stack(rest, free_stack);
        table->rows.at[i - skipped] = row;
    }
    table->rows.count -= skipped;
}

/* An array without elements may have no memory. */
static void put(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
}

static void put_rest(const table_rest *rest)
{
    owned_table *const table = rest->table;
    const bool has_places = table->places.count > 0;
    put(table->frames.at, rest->frames, rest->frame_count * sizeof *rest->frames);
    put(table->stack_starts.at, rest->starts, (rest->stack_count + 1) * sizeof *rest->starts);
    put(table->frame_indices.at, rest->indices, rest->index_count * sizeof *rest->indices);
    if (has_places)
        put(table->places.at, rest->places, rest->frame_count * sizeof *rest->places);
    table->frames.count = rest->frame_count;
    table->places.count = has_places ? rest->frame_count : 0;
    table->stack_starts.count = (size_t)rest->stack_count + 1;
    table->frame_indices.count = rest->index_count;
}

etl_status etlheap_table_skip(etlheap_table *table, u32 rows, etl_error *err)
{
    owned_table *const owned = table_owned(table);
    table_rest rest;
    const bool ok = open_rest(&rest, owned);
    if (ok) {
        keep_rows(&rest, (u32)etl_min_u64(rows, owned->rows.count));
        put_rest(&rest);
        table_publish(owned);
    }
    close_rest(&rest);
    return ok ? ETL_OK : etl_no_memory(err);
}
