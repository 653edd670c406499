/*
 * lifetimes_names.c - numbers and names the stacks of a walk.
 *
 * In: the rows of a walk. Out: an index into the walk's table for each stack, in order of first
 * use.
 *
 *     without symbols    stack ──▶ frames ──▶ table
 *     with symbols       all stacks ──finish, name──▶ base (hidden) ──copy at first use──▶ table
 *
 * Invariant: the order of stacks in `base` does not matter, because stacks are numbered when they
 * are copied. So the table is the same whether names were found or not.
 */
#include <stdlib.h>

#include "engine/names/symbols.h"
#include "lifetimes.h"

static etl_status find_stacks(etlheap_lifetimes *walk, bool **used, etl_error *err);
static etl_status resolve_rows(etlheap_lifetimes *walk, bool *used, etl_error *err);
static bool fill_base(etlheap_lifetimes *walk, const bool *used);
static bool copy_stack(etlheap_lifetimes *walk, u32 stack, u32 *index);
static bool copy_frames(etlheap_lifetimes *walk, u32 stack);

etl_status walk_finish_stacks(etlheap_lifetimes *walk, etl_error *err)
{
    walk->is_finished = true;
    return frames_finish(&walk->frames, err);
}

etl_status walk_name(etlheap_lifetimes *walk, etl_error *err)
{
    bool *used = NULL;
    etl_status status = find_stacks(walk, &used, err);
    if (status == ETL_OK && !fill_base(walk, used))
        status = etl_no_memory(err);
    free(used);
    if (status != ETL_OK)
        return status;
    return etlheap_table_name(&walk->base->table, walk->plan.query->symbols, NULL, err);
}

/*
 * Marks the finished stacks that rows have. If finishing came first, because frames are required,
 * more stacks were resolved than rows are left. For rows that stream, all wanted stacks are taken,
 * because another pass would cost more.
 */
static etl_status find_stacks(etlheap_lifetimes *walk, bool **used, etl_error *err)
{
    /* Frames of stacks that freed select nothing. */
    const bool has_all = !walk->has_frees || !query_selects_frames(walk->plan.query);
    const bool takes_all = has_all && (!walk->is_finished || walk->is_streaming);
    etl_status status = ETL_OK;
    if (!walk->is_finished) {
        status = resolve_rows(walk, NULL, err);
        if (status == ETL_OK)
            status = walk_finish_stacks(walk, err);
    }
    if (status != ETL_OK)
        return status;
    *used = calloc(walk->frames.stacks.count + 1, sizeof **used);
    if (*used == NULL)
        return etl_no_memory(err);
    if (!takes_all)
        return resolve_rows(walk, *used, err);
    for (u32 id = 1; id <= walk->frames.resolved_count; id++) {
        const u32 stack = frames_finished(&walk->frames, id);
        (*used)[stack] = walk->frames.stacks.at[stack - 1].wanted;
    }
    return ETL_OK;
}

/* Resolves and marks the stack that freed a row. */
static bool resolve_free(etlheap_lifetimes *walk, const lifetime *life, bool *used)
{
    u32 id = 0;
    if (!walk->has_frees)
        return true;
    if (!frames_resolve(&walk->frames, life->process, life->free_stack, life->free_ticks, &id))
        return false;
    if (used != NULL)
        used[frames_finished(&walk->frames, id)] = true;
    return true;
}

/* Passes over all rows and marks their finished stacks. */
static etl_status resolve_rows(etlheap_lifetimes *walk, bool *used, etl_error *err)
{
    etl_status status = ETL_OK;
    bool found = true;
    walk_rewind(walk);
    while (status == ETL_OK && found) {
        walk_row row;
        u32 id = 0;
        status = walk_next(walk, &row, &found, err);
        if (status == ETL_OK && found &&
            !frames_resolve(&walk->frames, row.life.process, row.life.stack, row.life.alloc_ticks,
                            &id))
            status = etl_no_memory(err);
        if (status == ETL_OK && used != NULL)
            used[frames_finished(&walk->frames, id)] = true;
        if (status == ETL_OK && found && !resolve_free(walk, &row.life, used))
            status = etl_no_memory(err);
    }
    return status;
}

/* Fills `base` with a row for each stack, because names are given to frames of rows. */
static bool fill_base(etlheap_lifetimes *walk, const bool *used)
{
    owned_table *const base = calloc(1, sizeof *base);
    walk->base = base;
    bool ok = base != NULL && ETLHEAP_PUSH(&base->stack_starts, 0);
    for (u32 stack = 1; ok && stack <= walk->frames.stacks.count; stack++) {
        etlheap_row row = { .frame = ETLHEAP_NO_INDEX };
        if (used[stack])
            ok = table_number_stack(base, &walk->base_numbers, &walk->frames, stack, &row.stack) &&
                 ETLHEAP_PUSH(&base->rows, row);
    }
    if (ok)
        table_publish(base);
    return ok;
}

void walk_note_guesses(etlheap_lifetimes *walk)
{
    const etl_diag_counts *const before = etlheap_result_diagnostics(walk->result);
    walk->table->table.diagnostics.of[ETL_DIAG_module_guessed] =
        etl_sat_add_u64(before->of[ETL_DIAG_module_guessed], walk->frames.guessed_count);
}

/* The index of a stack, by process and time. */
static bool number_stack(etlheap_lifetimes *walk, u32 process, u32 raw_stack, i64 ticks, u32 *index)
{
    const size_t count = walk->table->stack_starts.count;
    u32 id;
    if (!frames_resolve(&walk->frames, process, raw_stack, ticks, &id))
        return false;
    walk_note_guesses(walk);
    const u32 stack = frames_finished(&walk->frames, id);
    const bool ok = walk->base != NULL ? copy_stack(walk, stack, index)
                                       : table_number_stack(walk->table, &walk->numbers,
                                                            &walk->frames, stack, index);
    /* Also after a failure: the arrays that the table points to may have moved. */
    if (!ok || walk->table->stack_starts.count != count)
        table_publish(walk->table);
    return ok;
}

bool walk_number_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index)
{
    return number_stack(walk, life->process, life->stack, life->alloc_ticks, index);
}

bool walk_number_free_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index)
{
    return number_stack(walk, life->process, life->free_stack, life->free_ticks, index);
}

static bool copy_stack(etlheap_lifetimes *walk, u32 stack, u32 *index)
{
    *index = ETLHEAP_NO_INDEX;
    if (stack == 0)
        return true;
    assert(stack < walk->base_numbers.stacks.count && walk->base_numbers.stacks.at[stack] != 0);
    const u32 from = walk->base_numbers.stacks.at[stack] - 1;
    table_ids *const copied = &walk->copied_stacks;
    if (!table_ids_fit(copied, walk->base->stack_starts.count))
        return false;
    if (copied->at[from] == 0) {
        if (!copy_frames(walk, from))
            return false;
        copied->at[from] = (u32)walk->table->stack_starts.count - 1;
    }
    *index = copied->at[from] - 1;
    return true;
}

/* Appends a stack of `base` to the table, with the frames that the table lacks. */
static bool copy_frames(etlheap_lifetimes *walk, u32 stack)
{
    const owned_table *const base = walk->base;
    owned_table *const table = walk->table;
    table_ids *const copied = &walk->copied_frames;
    if (!table_ids_fit(copied, base->frames.count))
        return false;
    for (u32 i = base->stack_starts.at[stack]; i < base->stack_starts.at[stack + 1]; i++) {
        const u32 from = base->frame_indices.at[i];
        if (copied->at[from] == 0) {
            if (!ETLHEAP_PUSH(&table->frames, base->frames.at[from]))
                return false;
            copied->at[from] = (u32)table->frames.count;
        }
        if (!ETLHEAP_PUSH(&table->frame_indices, copied->at[from] - 1))
            return false;
    }
    return ETLHEAP_PUSH(&table->stack_starts, (u32)table->frame_indices.count);
}

void walk_finish_frames(etlheap_lifetimes *walk)
{
    const table_ids *const numbers = &walk->numbers.frames;
    for (size_t i = 0; i < numbers->count; i++) {
        if (numbers->at[i] != 0)
            walk->table->frames.at[numbers->at[i] - 1].address = walk->frames.frames.at[i].address;
    }
}
