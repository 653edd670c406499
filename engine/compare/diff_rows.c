/*
 * diff_rows.c - the rows of a diff, with the frames and stacks they refer to, numbered
 * in order of first use.
 */
#include <stdlib.h>

#include "diff_inside.h"

static bool put_rows(diff_maker *maker);
static bool put_row(diff_maker *maker, const diff_place *place);
static bool put_stack(diff_maker *maker, const etlheap_table *table, diff_numbers *numbers,
                      u32 *stack);
static bool put_frame(diff_maker *maker, const etlheap_table *table, diff_numbers *numbers,
                      u32 *frame);
static void put_totals(diff_maker *maker);
static bool put_rebuilt(diff_maker *maker);
static void publish(owned_diff *out);

bool diff_put(diff_maker *maker)
{
    if (!put_rows(maker) || !put_rebuilt(maker))
        return false;
    put_totals(maker);
    publish(maker->out);
    return true;
}

/* The diff is the first member of what was allocated. */
void etlheap_diff_free(etlheap_diff *diff)
{
    static_assert(offsetof(owned_diff, diff) == 0, "a diff is where its owner is");
    owned_diff *const owned = (owned_diff *)diff;
    if (owned == NULL)
        return;
    ETLHEAP_VECTOR_FREE(&owned->rows);
    ETLHEAP_VECTOR_FREE(&owned->changes);
    ETLHEAP_VECTOR_FREE(&owned->frames);
    ETLHEAP_VECTOR_FREE(&owned->stack_starts);
    ETLHEAP_VECTOR_FREE(&owned->frame_indices);
    ETLHEAP_VECTOR_FREE(&owned->rebuilt);
    free(owned);
}

/* Rows refer to frames and stacks in order of first use, so what the first rows
 * need are the first frames and stacks. */
void etlheap_diff_keep_top(etlheap_diff *diff, u32 rows)
{
    owned_diff *const owned = (owned_diff *)diff;
    size_t stacks = 0, frames = 0;
    if (rows >= owned->rows.count)
        return;
    for (u32 i = 0; i < rows; i++) {
        const etlheap_row *const row = &owned->rows.at[i];
        if (row->stack != ETLHEAP_NO_INDEX && row->stack >= stacks)
            stacks = (size_t)row->stack + 1;
        if (row->frame != ETLHEAP_NO_INDEX && row->frame >= frames)
            frames = (size_t)row->frame + 1;
    }
    for (u32 i = 0; i < owned->stack_starts.at[stacks]; i++) {
        if (owned->frame_indices.at[i] >= frames)
            frames = (size_t)owned->frame_indices.at[i] + 1;
    }
    owned->rows.count = rows;
    owned->stack_starts.count = stacks + 1;
    owned->frames.count = frames;
    publish(owned);
}

static bool open_numbers(diff_numbers *numbers, const etlheap_table *table)
{
    numbers->frames = calloc((size_t)table->frame_count + 1, sizeof *numbers->frames);
    numbers->stacks = calloc((size_t)table->stack_count + 1, sizeof *numbers->stacks);
    return numbers->frames != NULL && numbers->stacks != NULL;
}

static bool put_rows(diff_maker *maker)
{
    owned_diff *const out = maker->out;
    bool ok = open_numbers(&maker->base_numbers, maker->base) &&
              open_numbers(&maker->new_numbers, maker->now) &&
              ETLHEAP_RESERVE(&out->rows, maker->place_count) &&
              ETLHEAP_RESERVE(&out->changes, maker->place_count) &&
              ETLHEAP_PUSH(&out->stack_starts, 0);
    for (u32 i = 0; ok && i < maker->place_count; i++)
        ok = put_row(maker, &maker->places[i]);
    return ok;
}

static bool put_row(diff_maker *maker, const diff_place *place)
{
    const diff_group *const group = &maker->groups[place->group];
    row_identities *const identities = &maker->identities;
    const bool is_new = group->new_row != ETLHEAP_NO_INDEX;
    const etlheap_table *const table = is_new ? maker->now : maker->base;
    diff_numbers *const numbers = is_new ? &maker->new_numbers : &maker->base_numbers;
    etlheap_row row = table->rows[is_new ? group->new_row : group->base_row];
    etlheap_change change = { .state = place->state };
    memcpy(change.base, group->base, sizeof change.base);
    memcpy(change.now, group->now, sizeof change.now);
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++)
        row.measures[m] = etlheap_diff_subtract(change.base[m], change.now[m]);
    row.pid = ETL_NO_ID;
    row.thread = ETL_NO_ID;
    row.has_heap = false;
    row.heap_handle = 0;
    row.grows_most = false;
    return row_identities_spell(identities, &identities->processes, &row.process) &&
           row_identities_spell(identities, &identities->modules, &row.module) &&
           put_stack(maker, table, numbers, &row.stack) &&
           put_frame(maker, table, numbers, &row.frame) && ETLHEAP_PUSH(&maker->out->rows, row) &&
           ETLHEAP_PUSH(&maker->out->changes, change);
}

static bool put_stack(diff_maker *maker, const etlheap_table *table, diff_numbers *numbers,
                      u32 *stack)
{
    owned_diff *const out = maker->out;
    if (*stack == ETLHEAP_NO_INDEX)
        return true;
    u32 *const number = &numbers->stacks[*stack];
    if (*number == 0) {
        for (u32 i = table->stack_starts[*stack]; i < table->stack_starts[*stack + 1]; i++) {
            u32 frame = table->frame_indices[i];
            if (!put_frame(maker, table, numbers, &frame) ||
                !ETLHEAP_PUSH(&out->frame_indices, frame))
                return false;
        }
        if (out->frame_indices.count >= UINT32_MAX ||
            !ETLHEAP_PUSH(&out->stack_starts, (u32)out->frame_indices.count))
            return false;
        *number = (u32)out->stack_starts.count - 1;
    }
    *stack = *number - 1;
    return true;
}

static bool put_frame(diff_maker *maker, const etlheap_table *table, diff_numbers *numbers,
                      u32 *frame)
{
    owned_diff *const out = maker->out;
    row_identities *const identities = &maker->identities;
    if (*frame == ETLHEAP_NO_INDEX)
        return true;
    u32 *const number = &numbers->frames[*frame];
    if (*number == 0) {
        etlheap_frame spelled = table->frames[*frame];
        if (!row_identities_spell(identities, &identities->modules, &spelled.module) ||
            !ETLHEAP_PUSH(&out->frames, spelled))
            return false;
        *number = (u32)out->frames.count;
    }
    *frame = *number - 1;
    return true;
}

static void put_totals(diff_maker *maker)
{
    etlheap_table *const table = &maker->out->diff.table;
    table->from_ns = maker->now->from_ns;
    table->to_ns = maker->now->to_ns;
    table->group_by_count = maker->now->group_by_count;
    memcpy(maker->out->group_by, maker->now->group_by,
           table->group_by_count * sizeof *table->group_by);
    table->diagnostics = maker->now->diagnostics;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const base = &maker->base->totals[kind];
        const etlheap_total *const now = &maker->now->totals[kind];
        etlheap_total *const total = &table->totals[kind];
        etlheap_change *const change = &maker->out->diff.totals[kind];
        total->present = base->present || now->present;
        total->to_ns = now->to_ns;
        for (u32 i = 0; i < DIFF_PAIRS; i++) {
            const etlheap_measure m = diff_comparable[i].measure;
            if ((maker->measures >> m & 1) == 0)
                continue;
            change->base[m] = base->measures[m];
            change->now[m] = now->measures[m];
            total->measures[m] = etlheap_diff_subtract(change->base[m], change->now[m]);
        }
        change->state = (u8)diff_state_of(maker, change->base, change->now);
    }
    table->measures = maker->measures;
}

static int compare_names(const void *a, const void *b)
{
    const char *const *const x = a, *const *const y = b;
    return strcmp(*x, *y);
}

static bool put_rebuilt(diff_maker *maker)
{
    owned_diff *const out = maker->out;
    const row_identities *const identities = &maker->identities;
    for (size_t i = 0; i < identities->rebuilt.count; i++) {
        if (!ETLHEAP_PUSH(&out->rebuilt, identities->modules.at[identities->rebuilt.at[i]]))
            return false;
    }
    if (out->rebuilt.count > 0)
        qsort(out->rebuilt.at, out->rebuilt.count, sizeof *out->rebuilt.at, compare_names);
    return true;
}

static void publish(owned_diff *out)
{
    etlheap_table *const table = &out->diff.table;
    table->group_by = out->group_by;
    table->rows = out->rows.at;
    table->row_count = (u32)out->rows.count;
    table->frames = out->frames.at;
    table->frame_count = (u32)out->frames.count;
    table->stack_starts = out->stack_starts.at;
    table->frame_indices = out->frame_indices.at;
    table->stack_count = (u32)out->stack_starts.count - 1;
    out->diff.changes = out->changes.at;
    out->diff.rebuilt = out->rebuilt.at;
    out->diff.rebuilt_count = (u32)out->rebuilt.count;
}
