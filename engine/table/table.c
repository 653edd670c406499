/* table.c - a table and the memory behind it; see table.h. */
#include "table.h"

#include <stdlib.h>

void table_publish(owned_table *out)
{
    out->table.group_by = out->group_by;
    out->table.frames = out->frames.at;
    out->table.frame_count = (u32)out->frames.count;
    out->table.stack_starts = out->stack_starts.at;
    out->table.frame_indices = out->frame_indices.at;
    out->table.stack_count = (u32)out->stack_starts.count - 1;
    out->table.rows = out->rows.at;
    out->table.row_count = (u32)out->rows.count;
    out->table.row_stride = sizeof(etlheap_row);
    out->table.frame_stride = sizeof(etlheap_frame);
}

void etlheap_table_free(etlheap_table *table)
{
    if (table == NULL)
        return;
    owned_table *const owned = table_owned(table);
    ETLHEAP_VECTOR_FREE(&owned->rows);
    ETLHEAP_VECTOR_FREE(&owned->frames);
    ETLHEAP_VECTOR_FREE(&owned->places);
    ETLHEAP_VECTOR_FREE(&owned->stack_starts);
    ETLHEAP_VECTOR_FREE(&owned->frame_indices);
    ETLHEAP_VECTOR_FREE(&owned->lines);
    ETLHEAP_VECTOR_FREE(&owned->lifetimes.groups);
    lifetime_lists_free(&owned->lifetimes.lists);
    free(owned);
}

static bool groups_by(const owned_table *table, etlheap_key key)
{
    for (u32 i = 0; i < table->table.group_by_count; i++) {
        if (table->group_by[i] == key)
            return true;
    }
    return false;
}

u32 table_free_stack(const owned_table *table, const etlheap_row *row)
{
    return groups_by(table, ETLHEAP_KEY_FREE_STACK) ? row->free_stack : ETLHEAP_NO_INDEX;
}

u32 table_free_frame(const owned_table *table, const etlheap_row *row)
{
    return groups_by(table, ETLHEAP_KEY_FREE_SITE) ? row->free_frame : ETLHEAP_NO_INDEX;
}

/* The number behind an index that is used, or behind those so far. */
static u32 reach(u32 so_far, u32 index)
{
    return index != ETLHEAP_NO_INDEX && index >= so_far ? index + 1 : so_far;
}

/* Rows refer to frames and stacks in order of first use, so what the first rows
 * need are the first frames and stacks. */
etl_status etlheap_table_keep_top(etlheap_table *table, u32 rows, etl_error *err)
{
    (void)err;
    owned_table *const owned = table_owned(table);
    if (rows >= owned->rows.count)
        return ETL_OK;
    u32 stacks = 0, frames = 0;
    for (u32 i = 0; i < rows; i++) {
        const etlheap_row *const row = &owned->rows.at[i];
        stacks = reach(reach(stacks, row->stack), table_free_stack(owned, row));
        frames = reach(reach(frames, row->frame), table_free_frame(owned, row));
    }
    for (u32 i = 0; i < owned->stack_starts.at[stacks]; i++) {
        if (owned->frame_indices.at[i] >= frames)
            frames = owned->frame_indices.at[i] + 1;
    }
    owned->rows.count = rows;
    owned->stack_starts.count = (size_t)stacks + 1;
    owned->frames.count = frames;
    if (owned->places.count > frames)
        owned->places.count = frames;
    table_publish(owned);
    return ETL_OK;
}
