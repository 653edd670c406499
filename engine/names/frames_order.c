/*
 * frames_order.c - frames and stacks in the order of their content.
 *
 * Numbers of frames and stacks depend on what was met first. What is shown goes by
 * module name, offset and function, which is the same for every run: each frame
 * gets its place in that order once, and comparisons are of places.
 */
#include <stdlib.h>

#include "engine/core/digit_sort.h"
#include "frames.h"
#include "symbols.h"

static const char *function_name(const frame_table *table, const frame_row *row)
{
    if (row->function == 0)
        return "";
    return symbols_text(table->query->symbols, table->functions.at[row->function - 1].symbol);
}

/* Module name and offset decide nearly always. */
static int compare_rows(const void *owner, u32 a, u32 b)
{
    const frame_table *const table = owner;
    const char *const module_a = frames_module(table, a), *const module_b = frames_module(table, b);
    if (module_a == NULL || module_b == NULL) {
        if (module_a != module_b)
            return module_a == NULL ? -1 : 1;
    } else {
        const int order = strcmp(module_a, module_b);
        if (order != 0)
            return order;
    }
    const frame_row *const x = &table->frames.at[a], *const y = &table->frames.at[b];
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    const int order = x->module == y->module
                          ? 0
                          : strcmp(table->result->modules.list.at[x->module].path,
                                   table->result->modules.list.at[y->module].path);
    if (order != 0)
        return order;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->skip != y->skip)
        return x->skip < y->skip ? -1 : 1;
    return strcmp(function_name(table, x), function_name(table, y));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names[i]: place of module i's name among all names, from 1; equal ones alike. */
static bool rank_names(const frame_table *table, u32 *names)
{
    const size_t count = table->result->modules.list.count;
    const char **const sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = table->result->modules.list.at[i].name;
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0; i < count; i++) {
        const char *const name = table->result->modules.list.at[i].name;
        size_t low;
        ETL_BISECT(low, 0, count, strcmp(sorted[low], name) < 0);
        names[i] = (u32)low + 1;
    }
    free(sorted);
    return true;
}

bool frames_rank(frame_table *table)
{
    const size_t count = table->frames.count;
    digit_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    u32 *const names = calloc(table->result->modules.list.count + 1, sizeof *names);
    u32 *const ranks = malloc((count + 1) * sizeof *ranks);
    const bool ok = rows != NULL && names != NULL && ranks != NULL && rank_names(table, names);
    for (u32 i = 0; ok && i < count; i++) {
        const frame_row *const frame = &table->frames.at[i];
        const u32 name = frame->module == FRAME_NONE ? 0 : names[frame->module];
        rows[i] = (digit_row){ frame->offset, name, i };
    }
    const digit_row *const sorted =
        ok ? digit_sort(rows, rows + count, count, compare_rows, table) : NULL;
    for (u32 i = 0; ok && i < count; i++)
        ranks[sorted[i].id] = i;
    free(rows);
    free(names);
    free(table->ranks);
    table->ranks = ok ? ranks : NULL;
    if (!ok)
        free(ranks);
    return ok;
}

/* No frame comes before every frame. */
static u32 rank_of(const frame_table *table, u32 frame)
{
    return frame == FRAME_NONE ? 0 : table->ranks == NULL ? 1 : table->ranks[frame] + 1;
}

int frames_compare(const frame_table *table, u32 a, u32 b)
{
    if (table->ranks == NULL && a != b && a != FRAME_NONE && b != FRAME_NONE)
        return compare_rows(table, a, b);
    const u32 x = rank_of(table, a), y = rank_of(table, b);
    return (x > y) - (x < y);
}

u64 frames_prefix(const frame_table *table, u32 id)
{
    if (id == 0)
        return 0;
    const frame_stack *const stack = &table->stacks.at[id - 1];
    const u32 *const frames = table->pool.at + stack->start;
    const u32 second = stack->count < 2 ? 0 : rank_of(table, frames[1]);
    return (u64)rank_of(table, frames[0]) << 32 | second;
}

u64 frames_prefix_of_frame(const frame_table *table, u32 frame)
{
    return (u64)rank_of(table, frame) << 32;
}

int frames_compare_stacks(const frame_table *table, u32 a, u32 b)
{
    if (a == 0 || b == 0 || a == b)
        return (a != 0) - (b != 0);
    const frame_stack *const x = &table->stacks.at[a - 1], *const y = &table->stacks.at[b - 1];
    for (u32 i = 0; i < x->count && i < y->count; i++) {
        const int order =
            frames_compare(table, table->pool.at[x->start + i], table->pool.at[y->start + i]);
        if (order != 0)
            return order;
    }
    return (x->count > y->count) - (x->count < y->count);
}
