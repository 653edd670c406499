/*
 * table_names.c - names the frames of a table.
 *
 * In: a table with frames (module, offset), symbols, and the rows to be named. Out: the same table
 * with names; a frame becomes as many frames as calls were inlined there.
 *
 *     old frames   0: app+10      1: ntdll+8
 *     new frames   0: inner (inlined), 1: outer      2: RtlAllocateHeap
 *
 * Invariant: frames and stacks are numbered in order of first use, rows first, as table.c does. So
 * the whole table is numbered anew (rebuild); a frame must never be named in place.
 */
#include <stdlib.h>

#include "engine/names/symbols.h"
#include "table.h"

/* The new frames of an old frame. */
typedef struct frame_run {
    u32 first, count; /* count 0: not used yet */
} frame_run;

typedef struct renaming {
    owned_table *table;
    const etlheap_symbols *symbols;
    u32 *names; /* of symbols_name by old frame; 0: stays as it is */
    frame_run *runs;
    bool *is_stack_done;
    u32 *row_frames; /* the new frame of each row, and the one that freed */
    ETLHEAP_VECTOR(etlheap_frame) frames;
    ETLHEAP_VECTOR(u32) stack_starts;
    ETLHEAP_VECTOR(u32) frame_indices;
} renaming;

static etl_status find_names(renaming *r, etlheap_symbols *symbols, const bool *rows,
                             etl_error *err);
static bool rebuild(renaming *r);
static void replace(renaming *r);

etl_status etlheap_table_name(etlheap_table *table, etlheap_symbols *symbols, const bool *rows,
                              etl_error *err)
{
    owned_table *const owned = table_owned(table);
    const etl_diag_counts before = symbols->diag;
    renaming r = { .table = owned, .symbols = symbols };
    r.names = calloc(owned->frames.count + 1, sizeof *r.names);
    r.runs = calloc(owned->frames.count + 1, sizeof *r.runs);
    r.is_stack_done = calloc(owned->stack_starts.count + 1, sizeof *r.is_stack_done);
    r.row_frames = malloc((2 * owned->rows.count + 1) * sizeof *r.row_frames);
    etl_status status = ETL_OK;
    if (r.names == NULL || r.runs == NULL || r.is_stack_done == NULL || r.row_frames == NULL)
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = find_names(&r, symbols, rows, err);
    if (status == ETL_OK) {
        if (rebuild(&r))
            replace(&r);
        else
            status = etl_no_memory(err);
        for (int i = 0; i < ETL_DIAG_COUNT; i++)
            owned->table.diagnostics.of[i] += symbols->diag.of[i] - before.of[i];
    }
    ETLHEAP_VECTOR_FREE(&r.frames);
    ETLHEAP_VECTOR_FREE(&r.stack_starts);
    ETLHEAP_VECTOR_FREE(&r.frame_indices);
    free(r.names);
    free(r.runs);
    free(r.is_stack_done);
    free(r.row_frames);
    return status;
}

void table_set_names(etlheap_frame *frame, const etlheap_symbols *symbols, u32 symbol, u32 file,
                     u32 line)
{
    frame->symbol = symbol == 0 ? NULL : symbols_text(symbols, symbol);
    frame->file = file == 0 ? NULL : symbols_text(symbols, file);
    frame->line = file == 0 ? 0 : line;
}

static void mark_stack(const owned_table *table, u32 stack, bool *is_wanted)
{
    if (stack == ETLHEAP_NO_INDEX)
        return;
    for (u32 k = table->stack_starts.at[stack]; k < table->stack_starts.at[stack + 1]; k++)
        is_wanted[table->frame_indices.at[k]] = true;
}

/* Marks the frames of the chosen rows' stacks. */
static void mark_frames(const renaming *r, const bool *rows, bool *is_wanted)
{
    const owned_table *const table = r->table;
    for (size_t i = 0; i < table->rows.count; i++) {
        if (rows != NULL && !rows[i])
            continue;
        mark_stack(table, table->rows.at[i].stack, is_wanted);
        mark_stack(table, table_free_stack(table, &table->rows.at[i]), is_wanted);
    }
}

static etl_status find_names(renaming *r, etlheap_symbols *symbols, const bool *rows,
                             etl_error *err)
{
    const size_t count = r->table->places.count;
    bool *const is_wanted = calloc(count + 1, sizeof *is_wanted);
    symbol_place *const places = malloc((count + 1) * sizeof *places);
    etl_status status = ETL_OK;
    size_t asked = 0;
    if (is_wanted == NULL || places == NULL)
        status = etl_no_memory(err);
    else if (count > 0)
        mark_frames(r, rows, is_wanted);
    for (size_t i = 0; status == ETL_OK && i < count; i++) {
        const table_place *const place = &r->table->places.at[i];
        if (is_wanted[i] && place->module != FRAME_NONE)
            places[asked++] = (symbol_place){ .offset = place->offset, .module = place->module };
    }
    if (status == ETL_OK)
        status = symbols_resolve(symbols, places, asked, err);
    asked = 0;
    for (size_t i = 0; status == ETL_OK && i < count; i++) {
        if (is_wanted[i] && r->table->places.at[i].module != FRAME_NONE)
            r->names[i] = places[asked++].name;
    }
    free(is_wanted);
    free(places);
    return status;
}

/* --- numbering anew ----------------------------------------------------------- */

/* Adds the calls of a named frame, innermost first, without those that were culled. */
static bool add_calls(renaming *r, const etlheap_frame *frame, const symbol_name *name, u32 skip)
{
    const symbol_level *const levels = symbols_levels(r->symbols, name);
    for (u32 i = skip; i < name->level_count; i++) {
        etlheap_frame call = *frame;
        table_set_names(&call, r->symbols, levels[i].name, levels[i].file, levels[i].line);
        call.is_inlined = i + 1 < name->level_count;
        call.is_nearest = name->quality != SYMBOL_QUALITY_FUNCTION && call.symbol != NULL;
        call.displacement = call.is_nearest ? name->displacement : 0;
        if (!ETLHEAP_PUSH(&r->frames, call))
            return false;
    }
    return true;
}

/* The new frames of an old one. */
static bool use_frame(renaming *r, u32 old, frame_run *run)
{
    if (r->runs[old].count == 0) {
        const symbol_name *const name =
            r->names[old] == 0 ? NULL : symbols_name(r->symbols, r->names[old]);
        const u32 skip = r->names[old] == 0 ? 0 : r->table->places.at[old].skip;
        const u32 first = (u32)r->frames.count;
        const bool ok = name != NULL && name->level_count > skip
                            ? add_calls(r, &r->table->frames.at[old], name, skip)
                            : ETLHEAP_PUSH(&r->frames, r->table->frames.at[old]);
        if (!ok || r->frames.count >= ETLHEAP_NO_INDEX)
            return false;
        r->runs[old] = (frame_run){ first, (u32)r->frames.count - first };
    }
    *run = r->runs[old];
    return true;
}

static bool use_stack(renaming *r, u32 stack)
{
    const owned_table *const table = r->table;
    for (u32 i = table->stack_starts.at[stack]; i < table->stack_starts.at[stack + 1]; i++) {
        frame_run run;
        if (!use_frame(r, table->frame_indices.at[i], &run) ||
            !ETLHEAP_RESERVE(&r->frame_indices, run.count))
            return false;
        for (u32 k = 0; k < run.count; k++)
            r->frame_indices.at[r->frame_indices.count++] = run.first + k;
    }
    return r->frame_indices.count < UINT32_MAX &&
           ETLHEAP_PUSH(&r->stack_starts, (u32)r->frame_indices.count);
}

/* The new number of a row's frame. */
static bool renumber_frame(renaming *r, u32 frame, u32 *number)
{
    frame_run run = { ETLHEAP_NO_INDEX, 0 };
    const bool ok = frame == ETLHEAP_NO_INDEX || use_frame(r, frame, &run);
    *number = run.first;
    return ok;
}

static bool use_stack_once(renaming *r, u32 stack)
{
    if (stack == ETLHEAP_NO_INDEX || r->is_stack_done[stack])
        return true;
    r->is_stack_done[stack] = true;
    return use_stack(r, stack);
}

/* Stacks are numbered in order of first use, and so stay in their order. */
static bool rebuild(renaming *r)
{
    bool ok = ETLHEAP_PUSH(&r->stack_starts, 0);
    for (size_t i = 0; ok && i < r->table->rows.count; i++) {
        const etlheap_row *const row = &r->table->rows.at[i];
        ok = renumber_frame(r, row->frame, &r->row_frames[2 * i]) &&
             renumber_frame(r, table_free_frame(r->table, row), &r->row_frames[2 * i + 1]) &&
             use_stack_once(r, row->stack) && use_stack_once(r, table_free_stack(r->table, row));
    }
    return ok;
}

static void replace(renaming *r)
{
    owned_table *const table = r->table;
    for (size_t i = 0; i < table->rows.count; i++) {
        table->rows.at[i].frame = r->row_frames[2 * i];
        table->rows.at[i].free_frame = r->row_frames[2 * i + 1];
    }
    ETLHEAP_VECTOR_FREE(&table->frames);
    ETLHEAP_VECTOR_FREE(&table->places);
    ETLHEAP_VECTOR_FREE(&table->stack_starts);
    ETLHEAP_VECTOR_FREE(&table->frame_indices);
    memcpy(&table->frames, &r->frames, sizeof table->frames);
    memcpy(&table->stack_starts, &r->stack_starts, sizeof table->stack_starts);
    memcpy(&table->frame_indices, &r->frame_indices, sizeof table->frame_indices);
    memset(&r->frames, 0, sizeof r->frames);
    memset(&r->stack_starts, 0, sizeof r->stack_starts);
    memset(&r->frame_indices, 0, sizeof r->frame_indices);
    table_publish(table);
}
