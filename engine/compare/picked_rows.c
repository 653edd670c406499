/*
 * picked_rows.c - makes a table from rows of the tables of several runs. picked_rows.h draws it.
 *
 * In: rows with their runs. Out: a table with its own frames and stacks. Invariant: frames and
 * stacks are numbered in order of first use, so dropping rows at the end only shortens arrays.
 */
#include "picked_rows.h"

#include <stdlib.h>

bool picked_rows_open(picked_rows *picked, row_identities *identities,
                      const etlheap_table *const *tables, u32 table_count, size_t expected)
{
    picked->identities = identities;
    picked->tables = tables;
    picked->group_by_count = tables[0]->group_by_count;
    memcpy(picked->group_by, tables[0]->group_by,
           picked->group_by_count * sizeof *picked->group_by);
    picked->numbers = calloc(table_count, sizeof *picked->numbers);
    bool ok = picked->numbers != NULL && ETLHEAP_RESERVE(&picked->rows, expected) &&
              ETLHEAP_PUSH(&picked->stack_starts, 0);
    picked->table_count = picked->numbers != NULL ? table_count : 0;
    for (u32 i = 0; ok && i < table_count; i++) {
        picked_numbers *const numbers = &picked->numbers[i];
        for (u32 v = 0; v < 2; v++) {
            numbers->frames[v] = calloc((size_t)tables[i]->frame_count + 1, sizeof(u32));
            numbers->stacks[v] = calloc((size_t)tables[i]->stack_count + 1, sizeof(u32));
            ok = ok && numbers->frames[v] != NULL && numbers->stacks[v] != NULL;
        }
    }
    return ok;
}

void picked_rows_settle(picked_rows *picked)
{
    for (u32 i = 0; i < picked->table_count; i++) {
        for (u32 v = 0; v < 2; v++) {
            free(picked->numbers[i].frames[v]);
            free(picked->numbers[i].stacks[v]);
        }
    }
    free(picked->numbers);
    picked->numbers = NULL;
    picked->table_count = 0;
    picked->identities = NULL;
    picked->tables = NULL;
}

void picked_rows_free(picked_rows *picked)
{
    picked_rows_settle(picked);
    ETLHEAP_VECTOR_FREE(&picked->rows);
    ETLHEAP_VECTOR_FREE(&picked->frames);
    ETLHEAP_VECTOR_FREE(&picked->stack_starts);
    ETLHEAP_VECTOR_FREE(&picked->frame_indices);
}

/* Adds a frame, and sets its number in place of its index in the table. */
static bool put_frame(picked_rows *picked, u32 table, bool is_shared, u32 *frame)
{
    row_identities *const identities = picked->identities;
    if (*frame == ETLHEAP_NO_INDEX)
        return true;
    etlheap_frame spelled = picked->tables[table]->frames[*frame];
    const char *const own = spelled.symbol;
    if (is_shared && !row_identities_spell_name(identities, &spelled.symbol))
        return false;
    const bool is_other = own != NULL && strcmp(spelled.symbol, own) != 0;
    u32 *const number = &picked->numbers[table].frames[is_other][*frame];
    if (*number == 0) {
        if (!row_identities_spell(identities, &identities->modules, &spelled.module) ||
            !ETLHEAP_PUSH(&picked->frames, spelled))
            return false;
        *number = (u32)picked->frames.count;
    }
    *frame = *number - 1;
    return true;
}

/* Sets *is if a frame of the stack is spelled otherwise in rows of several runs. */
static bool is_respelled(picked_rows *picked, const etlheap_table *from, u32 stack, bool *is)
{
    *is = false;
    for (u32 i = from->stack_starts[stack]; !*is && i < from->stack_starts[stack + 1]; i++) {
        const char *const own = from->frames[from->frame_indices[i]].symbol;
        const char *spelled = own;
        if (!row_identities_spell_name(picked->identities, &spelled))
            return false;
        *is = spelled != own && strcmp(spelled, own) != 0;
    }
    return true;
}

/* The same as put_frame for a stack. */
static bool put_stack(picked_rows *picked, u32 table, bool is_shared, u32 *stack)
{
    const etlheap_table *const from = picked->tables[table];
    if (*stack == ETLHEAP_NO_INDEX)
        return true;
    if (is_shared && !is_respelled(picked, from, *stack, &is_shared))
        return false;
    u32 *const number = &picked->numbers[table].stacks[is_shared][*stack];
    if (*number == 0) {
        for (u32 i = from->stack_starts[*stack]; i < from->stack_starts[*stack + 1]; i++) {
            u32 frame = from->frame_indices[i];
            if (!put_frame(picked, table, is_shared, &frame) ||
                !ETLHEAP_PUSH(&picked->frame_indices, frame))
                return false;
        }
        if (picked->frame_indices.count >= UINT32_MAX ||
            !ETLHEAP_PUSH(&picked->stack_starts, (u32)picked->frame_indices.count))
            return false;
        *number = (u32)picked->stack_starts.count - 1;
    }
    *stack = *number - 1;
    return true;
}

etlheap_row *picked_rows_add(picked_rows *picked, u32 table, u32 row, bool is_shared)
{
    row_identities *const identities = picked->identities;
    etlheap_row added = picked->tables[table]->rows[row];
    added.pid = ETL_NO_ID;
    added.thread = ETL_NO_ID;
    added.has_heap = false;
    added.heap_handle = 0;
    added.grows_most = false;
    bool ok = row_identities_spell(identities, &identities->processes, &added.process) &&
              row_identities_spell(identities, &identities->modules, &added.module);
    if (is_shared)
        ok = ok && row_identities_spell_name(identities, &added.type_name) &&
             row_identities_spell_name(identities, &added.tag);
    ok = ok && put_stack(picked, table, is_shared, &added.stack) &&
         put_frame(picked, table, is_shared, &added.frame) && ETLHEAP_PUSH(&picked->rows, added);
    return ok ? &picked->rows.at[picked->rows.count - 1] : NULL;
}

void picked_rows_keep(picked_rows *picked, u32 rows)
{
    size_t stacks = 0, frames = 0;
    if (rows >= picked->rows.count)
        return;
    for (u32 i = 0; i < rows; i++) {
        const etlheap_row *const row = &picked->rows.at[i];
        if (row->stack != ETLHEAP_NO_INDEX && row->stack >= stacks)
            stacks = (size_t)row->stack + 1;
        if (row->frame != ETLHEAP_NO_INDEX && row->frame >= frames)
            frames = (size_t)row->frame + 1;
    }
    for (u32 i = 0; i < picked->stack_starts.at[stacks]; i++) {
        if (picked->frame_indices.at[i] >= frames)
            frames = (size_t)picked->frame_indices.at[i] + 1;
    }
    picked->rows.count = rows;
    picked->stack_starts.count = stacks + 1;
    picked->frames.count = frames;
}

void picked_rows_publish(const picked_rows *picked, etlheap_table *table)
{
    table->group_by = picked->group_by;
    table->group_by_count = picked->group_by_count;
    table->rows = picked->rows.at;
    table->row_count = (u32)picked->rows.count;
    table->frames = picked->frames.at;
    table->frame_count = (u32)picked->frames.count;
    table->stack_starts = picked->stack_starts.at;
    table->frame_indices = picked->frame_indices.at;
    table->stack_count = (u32)picked->stack_starts.count - 1;
}
