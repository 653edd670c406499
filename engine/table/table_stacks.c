/* table_stacks.c - frames and stacks on their way into a table; see table.h. */
#include <stdlib.h>

#include "engine/names/symbols.h"
#include "table.h"

static bool describe_function(owned_table *table, const frame_table *frames, const frame_row *row,
                              etlheap_frame *out);

void table_numbers_free(table_numbers *numbers)
{
    ETLHEAP_VECTOR_FREE(&numbers->frames);
    ETLHEAP_VECTOR_FREE(&numbers->stacks);
}

bool table_number_frame(owned_table *out, table_numbers *numbers, const frame_table *frames,
                        u32 frame, u32 *index)
{
    *index = ETLHEAP_NO_INDEX;
    if (frame == FRAME_NONE)
        return true;
    if (!table_ids_fit(&numbers->frames, frames->frames.count))
        return false;
    if (numbers->frames.at[frame] == 0) {
        const frame_row *const row = &frames->frames.at[frame];
        const bool is_placed = frames->result->summary != NULL; /* by us, not where it ran */
        etlheap_frame fresh = { .module = frames_module(frames, frame),
                                .address = is_placed ? ETLHEAP_NO_ADDRESS : row->address,
                                .offset = row->offset };
        const bool stands_for_module =
            row->module != FRAME_NONE && row->offset == ETLHEAP_NO_ADDRESS;
        table_place place = { .offset = row->offset, .module = row->module, .skip = row->skip };
        if (stands_for_module)
            place.module = FRAME_NONE;
        else if (row->module != FRAME_NONE)
            fresh.symbol = modules_function(&frames->result->modules.list.at[row->module]);
        if (row->function != 0) {
            if (!describe_function(out, frames, row, &fresh))
                return false;
            place.module = FRAME_NONE;
        }
        if (!ETLHEAP_PUSH(&out->frames, fresh) || !ETLHEAP_PUSH(&out->places, place))
            return false;
        numbers->frames.at[frame] = (u32)out->frames.count;
    }
    *index = numbers->frames.at[frame] - 1;
    return true;
}

bool table_number_stack(owned_table *out, table_numbers *numbers, const frame_table *frames,
                        u32 stack, u32 *index)
{
    *index = ETLHEAP_NO_INDEX;
    if (stack == 0)
        return true;
    if (!table_ids_fit(&numbers->stacks, frames->stacks.count + 1))
        return false;
    if (numbers->stacks.at[stack] == 0) {
        const frame_stack *const row = &frames->stacks.at[stack - 1];
        const u32 *const members = frames->pool.at + row->start;
        if (!ETLHEAP_RESERVE(&out->frame_indices, row->count))
            return false;
        for (u32 i = 0; i < row->count && numbers->frames.count > 0; i++) {
            __builtin_prefetch(&numbers->frames.at[members[i]]);
            __builtin_prefetch(&frames->frames.at[members[i]]);
        }
        for (u32 i = 0; i < row->count; i++) {
            u32 *const place = &out->frame_indices.at[out->frame_indices.count];
            if (!table_number_frame(out, numbers, frames, members[i], place))
                return false;
            out->frame_indices.count++;
        }
        if (!ETLHEAP_PUSH(&out->stack_starts, (u32)out->frame_indices.count))
            return false;
        numbers->stacks.at[stack] = (u32)out->stack_starts.count - 1;
    }
    *index = numbers->stacks.at[stack] - 1;
    return true;
}

/* A walk meets new frames and stacks as it goes, so there is no count to begin with. */
bool table_ids_fit(table_ids *ids, size_t count)
{
    if (ids->count >= count)
        return true;
    const size_t more = count - ids->count;
    if (!ETLHEAP_RESERVE(ids, more))
        return false;
    memset(ids->at + ids->count, 0, more * sizeof *ids->at);
    ids->count = count;
    return true;
}

static int compare_lines(const void *left, const void *right)
{
    const etlheap_source_line *const a = left, *const b = right;
    const int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* Gives a frame all lines of its function. Frames point into the list, which therefore has room for
 * all functions from the start. */
static bool add_lines(owned_table *table, const frame_table *frames, const frame_function *function,
                      etlheap_frame *out)
{
    if (table->lines.capacity == 0 && !ETLHEAP_RESERVE(&table->lines, frames->function_lines.count))
        return false;
    etlheap_source_line *const lines = table->lines.at + table->lines.count;
    assert(table->lines.count + function->lines_count <= table->lines.capacity);
    for (u32 i = 0; i < function->lines_count; i++) {
        const function_line *const line = &frames->function_lines.at[function->lines_first + i];
        lines[i] =
            (etlheap_source_line){ symbols_text(frames->query->symbols, line->file), line->line };
    }
    qsort(lines, function->lines_count, sizeof *lines, compare_lines);
    table->lines.count += function->lines_count;
    out->lines = lines;
    out->line_count = function->lines_count;
    return true;
}

static bool describe_function(owned_table *table, const frame_table *frames, const frame_row *row,
                              etlheap_frame *out)
{
    const frame_function *const function = &frames->functions.at[row->function - 1];
    table_set_names(out, frames->query->symbols, function->symbol, function->file, function->line);
    out->is_nearest = function->is_nearest;
    out->displacement = function->is_nearest ? function->displacement : 0;
    return function->lines_count < 2 || add_lines(table, frames, function, out);
}
