/*
 * picked_rows.c - makes a table from rows of the tables of several runs. picked_rows.h draws it.
 *
 * In: rows with their runs. Out: a table with its own frames and stacks. Invariant: frames and
 * stacks are numbered in order of first use, so dropping rows at the end only shortens arrays.
 *
 * Stacks of one group have the same functions, but may have called from different lines. Such a
 * group gets frames and a stack of its own, which name all lines. Other groups share them.
 */
#include "picked_rows.h"

#include <stdlib.h>

#define OWN_FRAME UINT32_MAX

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

void picked_rows_close(picked_rows *picked)
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
    picked_rows_close(picked);
    ETLHEAP_VECTOR_FREE(&picked->rows);
    ETLHEAP_VECTOR_FREE(&picked->frames);
    ETLHEAP_VECTOR_FREE(&picked->stack_starts);
    ETLHEAP_VECTOR_FREE(&picked->frame_indices);
    ETLHEAP_VECTOR_FREE(&picked->lines);
    for (size_t i = 0; i < picked->line_lists.count; i++)
        free(picked->line_lists.at[i]);
    ETLHEAP_VECTOR_FREE(&picked->line_lists);
}

/* Copies a frame with the names that the comparison shows. Its lines stay the table's own. */
static bool spell_frame(const picked_rows *picked, const picked_group *group, u32 frame,
                        etlheap_frame *out)
{
    row_identities *const identities = picked->identities;
    *out = picked->tables[group->table]->frames[frame];
    out->lines = NULL;
    out->line_count = 0;
    return (!group->is_shared || row_identities_spell_name(identities, &out->symbol)) &&
           row_identities_spell(identities, &identities->modules, &out->module);
}

/* Adds a frame, and sets its number in place of its index in the table. */
static bool put_frame(picked_rows *picked, const picked_group *group, u32 *frame)
{
    etlheap_frame spelled;
    const char *const own = picked->tables[group->table]->frames[*frame].symbol;
    if (!spell_frame(picked, group, *frame, &spelled))
        return false;
    const bool is_other = own != NULL && strcmp(spelled.symbol, own) != 0;
    u32 *const number = &picked->numbers[group->table].frames[is_other][*frame];
    if (*number == 0) {
        if (!ETLHEAP_PUSH(&picked->frames, spelled))
            return false;
        *number = (u32)picked->frames.count;
    }
    *frame = *number - 1;
    return true;
}

/* The frame of a row at a place of its stack, or the one that the row is about. */
static u32 frame_at(const etlheap_table *from, u32 row, u32 place)
{
    const etlheap_row *const of = &from->rows[row];
    return place == OWN_FRAME ? of->frame
                              : from->frame_indices[from->stack_starts[of->stack] + place];
}

static int compare_lines(const void *a, const void *b)
{
    const etlheap_source_line *const x = a, *const y = b;
    const int order = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* Collects the lines of the group's frames at a place, each once, in picked->lines. */
static bool collect_lines(picked_rows *picked, const picked_group *group, u32 place)
{
    const etlheap_table *const from = picked->tables[group->table];
    size_t kept = 0;
    picked->lines.count = 0;
    for (u32 row = group->row; row != ETLHEAP_NO_INDEX; row = group->next[row]) {
        const etlheap_frame *const frame = &from->frames[frame_at(from, row, place)];
        const etlheap_source_line one = { frame->file, frame->line };
        const etlheap_source_line *const lines = frame->lines != NULL ? frame->lines : &one;
        const u32 count = frame->lines != NULL ? frame->line_count : frame->line != 0;
        for (u32 i = 0; i < count; i++) {
            if (!ETLHEAP_PUSH(&picked->lines, lines[i]))
                return false;
        }
    }
    etlheap_source_line *const at = picked->lines.at;
    if (picked->lines.count > 1)
        qsort(at, picked->lines.count, sizeof *at, compare_lines);
    for (size_t i = 0; i < picked->lines.count; i++) {
        if (kept == 0 || compare_lines(&at[kept - 1], &at[i]) != 0)
            at[kept++] = at[i];
    }
    picked->lines.count = kept;
    return true;
}

/* Adds a frame with the collected lines, which are more than one. */
static bool put_lines(picked_rows *picked, const picked_group *group, u32 *frame)
{
    etlheap_frame spelled;
    const size_t count = picked->lines.count;
    etlheap_source_line *const lines = calloc(count, sizeof *lines);
    if (lines == NULL || !ETLHEAP_PUSH(&picked->line_lists, lines)) {
        free(lines);
        return false;
    }
    memcpy(lines, picked->lines.at, count * sizeof *lines);
    if (!spell_frame(picked, group, *frame, &spelled))
        return false;
    spelled.lines = lines;
    spelled.line_count = (u32)count;
    if (!ETLHEAP_PUSH(&picked->frames, spelled))
        return false;
    *frame = (u32)picked->frames.count - 1;
    return true;
}

static bool is_alone(const picked_group *group)
{
    return group->next[group->row] == ETLHEAP_NO_INDEX;
}

static bool put_frame_of_group(picked_rows *picked, const picked_group *group, u32 place,
                               u32 *frame)
{
    if (*frame == ETLHEAP_NO_INDEX)
        return true;
    if (is_alone(group) && picked->tables[group->table]->frames[*frame].lines == NULL)
        return put_frame(picked, group, frame);
    return collect_lines(picked, group, place) &&
           (picked->lines.count > 1 ? put_lines(picked, group, frame)
                                    : put_frame(picked, group, frame));
}

/* Sets *has if stacks of the group differ in lines: then its stack is its own. */
static bool has_lines(picked_rows *picked, const picked_group *group, u32 count, bool *has)
{
    *has = false;
    for (u32 i = 0; i < count && !is_alone(group) && !*has; i++) {
        if (!collect_lines(picked, group, i))
            return false;
        *has = picked->lines.count > 1;
    }
    return true;
}

/* Sets *is if a frame of the stack is spelled otherwise in rows of several runs. */
static bool is_respelled(const picked_rows *picked, const etlheap_table *from, u32 stack, bool *is)
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

/* Adds the frames of the group's stack, and sets its number. */
static bool add_stack(picked_rows *picked, const picked_group *group, u32 count, u32 *number)
{
    const etlheap_table *const from = picked->tables[group->table];
    for (u32 i = 0; i < count; i++) {
        u32 frame = frame_at(from, group->row, i);
        if (!put_frame_of_group(picked, group, i, &frame) ||
            !ETLHEAP_PUSH(&picked->frame_indices, frame))
            return false;
    }
    if (picked->frame_indices.count >= UINT32_MAX ||
        !ETLHEAP_PUSH(&picked->stack_starts, (u32)picked->frame_indices.count))
        return false;
    *number = (u32)picked->stack_starts.count - 1;
    return true;
}

/* Adds a stack, and sets its number in place of its index in the table. Groups that show the same
 * of a stack share it. */
static bool put_stack(picked_rows *picked, const picked_group *group, u32 *stack)
{
    const etlheap_table *const from = picked->tables[group->table];
    bool has_own, is_other = group->is_shared;
    u32 own = 0;
    if (*stack == ETLHEAP_NO_INDEX)
        return true;
    const u32 count = from->stack_starts[*stack + 1] - from->stack_starts[*stack];
    if (!has_lines(picked, group, count, &has_own) ||
        (is_other && !is_respelled(picked, from, *stack, &is_other)))
        return false;
    u32 *const number = has_own ? &own : &picked->numbers[group->table].stacks[is_other][*stack];
    if (*number == 0 && !add_stack(picked, group, count, number))
        return false;
    *stack = *number - 1;
    return true;
}

etlheap_row *picked_rows_add(picked_rows *picked, const picked_group *group)
{
    row_identities *const identities = picked->identities;
    etlheap_row added = picked->tables[group->table]->rows[group->row];
    if (!row_identities_by_pid(identities, &added, group->table))
        added.pid = ETL_NO_ID;
    added.thread = ETL_NO_ID;
    added.has_heap = false;
    added.heap_handle = 0;
    added.grows_most = false;
    bool ok = row_identities_spell(identities, &identities->processes, &added.process) &&
              row_identities_spell(identities, &identities->modules, &added.module);
    if (group->is_shared)
        ok = ok && row_identities_spell_name(identities, &added.type_name) &&
             row_identities_spell_name(identities, &added.tag);
    ok = ok && put_stack(picked, group, &added.stack) &&
         put_frame_of_group(picked, group, OWN_FRAME, &added.frame) &&
         ETLHEAP_PUSH(&picked->rows, added);
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
    table->row_stride = sizeof(etlheap_row);
    table->frame_stride = sizeof(etlheap_frame);
    table->frames = picked->frames.at;
    table->frame_count = (u32)picked->frames.count;
    table->stack_starts = picked->stack_starts.at;
    table->frame_indices = picked->frame_indices.at;
    table->stack_count = (u32)picked->stack_starts.count - 1;
}
