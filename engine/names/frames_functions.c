/*
 * frames_functions.c - the functions that frames belong to.
 *
 * In: frames with names. Out: for each function a frame that stands for all of its frames, and the
 * places in the source that these have; and the functions of stacks, one by one. Frames are of one
 * function if module name and symbol are the same. Invariant: a stack has each function once,
 * however often the function calls itself.
 */
#include <stdlib.h>

#include "frames.h"
#include "symbols.h"

static bool same_function(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_function *const a = &table->functions.at[id - 1], *const b = key;
    return a->namesake == b->namesake && a->symbol == b->symbol;
}

/* Notes where a function is in the source, if that is known and new. */
static bool note_line(frame_table *table, u32 number, u32 file, u32 line)
{
    frame_function *const function = &table->functions.at[number];
    const function_line place = { .function = number, .file = file, .line = line };
    if (file == 0 || line == 0 || (function->last_file == file && function->last_line == line))
        return true;
    function->last_file = file;
    function->last_line = line;
    return ETLHEAP_PUSH(&table->function_lines, place);
}

static int compare_places(const void *left, const void *right)
{
    const function_line *const a = left, *const b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

void frames_gather_lines(frame_table *table)
{
    function_line *const at = table->function_lines.at;
    size_t kept = 0;
    if (table->function_lines.count > 1)
        qsort(at, table->function_lines.count, sizeof *at, compare_places);
    for (size_t i = 0; i < table->function_lines.count; i++) {
        if (kept == 0 || compare_places(&at[kept - 1], &at[i]) != 0)
            at[kept++] = at[i];
    }
    table->function_lines.count = kept;
    for (size_t i = 0; i < kept; i++) {
        frame_function *const function = &table->functions.at[at[i].function];
        if (function->lines_count++ == 0)
            function->lines_first = (u32)i;
    }
}

/* Joins a frame to the others of its function. Facts on which they differ become unknown. */
static void join_function(frame_table *table, frame_function *function, const frame_function *more,
                          const frame_row *frame)
{
    frame_row *const row = &table->frames.at[function->frame];
    if (function->file != more->file)
        function->file = 0;
    if (function->file == 0 || function->line != more->line)
        function->line = 0;
    if (frame->offset < row->offset) {
        row->offset = frame->offset;
        function->displacement = more->displacement;
    }
    row->address = frame->address < row->address ? frame->address : row->address;
    function->is_nearest |= more->is_nearest;
}

bool frames_function_at(frame_table *table, etlheap_index *index, u32 frame, u32 at, u32 *out)
{
    const frame_row row = table->frames.at[frame];
    const frame_calls calls = frames_calls(table, frame);
    *out = frame;
    if (calls.levels == NULL || calls.levels[at].name == 0)
        return true;
    const symbol_level *const level = &calls.levels[at];
    frame_function function = { .namesake = table->namesakes[row.module],
                                .symbol = level->name,
                                .file = level->file,
                                .line = level->line,
                                .displacement =
                                    symbols_name(table->query->symbols, row.name)->displacement,
                                .is_nearest = calls.quality != SYMBOL_QUALITY_FUNCTION };
    const u64 hash = etlheap_hash_u64((u64)function.namesake << 32 | function.symbol);
    const u32 id = etlheap_index_find(index, hash, same_function, table, &function);
    if (id != 0) {
        join_function(table, &table->functions.at[id - 1], &function, &row);
        *out = table->functions.at[id - 1].frame;
        return note_line(table, id - 1, level->file, level->line);
    }
    function.frame = *out = (u32)table->frames.count;
    frame_row stands = row;
    stands.skip = 0;
    stands.function = (u32)table->functions.count + 1;
    return table->frames.count < UINT32_MAX - 1 && ETLHEAP_PUSH(&table->frames, stands) &&
           ETLHEAP_PUSH(&table->functions, function) &&
           etlheap_index_add(index, hash, stands.function) &&
           note_line(table, stands.function - 1, level->file, level->line);
}

const u32 *frames_functions(const frame_table *table, u32 id, u32 *count)
{
    const function_lists *const lists = &table->functions_of;
    *count = 0;
    if (id == 0)
        return NULL;
    const frame_stack *const stack = &table->stacks.at[id - 1];
    *count = lists->starts == NULL ? stack->count : lists->starts[id + 1] - lists->starts[id];
    return lists->starts == NULL ? table->pool.at + stack->start
                                 : lists->frames.at + lists->starts[id];
}

bool function_steps_open(function_steps *steps, const frame_table *table)
{
    *steps = (function_steps){ .table = table };
    steps->seen = calloc(table->frames.count + 1, sizeof *steps->seen);
    return steps->seen != NULL;
}

void function_steps_close(function_steps *steps)
{
    free(steps->seen);
    steps->seen = NULL;
}

void function_steps_begin(function_steps *steps, u32 stack)
{
    static const u32 none[] = { FRAME_NONE };
    steps->functions = frames_functions(steps->table, stack, &steps->count);
    if (steps->count == 0) {
        steps->functions = none;
        steps->count = 1;
    }
    steps->next = 0;
    steps->stack_number++;
}

bool function_steps_next(function_steps *steps, u32 *frame)
{
    while (steps->next < steps->count) {
        *frame = steps->functions[steps->next++];
        if (*frame == FRAME_NONE)
            return true;
        if (steps->seen[*frame] != steps->stack_number) {
            steps->seen[*frame] = steps->stack_number;
            return true;
        }
    }
    return false;
}
