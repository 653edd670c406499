/*
 * table.c - groups to an etlheap_table: sorted rows, and the stacks and frames
 * they refer to, numbered in order of first use.
 */
#include <stdlib.h>

#include "engine/fold/row_details.h"
#include "engine/names/symbols.h"
#include "table_inside.h"

static bool add_groups(aggregator *a, owned_table *out);
static void fill_totals(const aggregator *a, etlheap_table *table);

const etlheap_table *aggregate_table(aggregator *a)
{
    owned_table *const out = calloc(1, sizeof *out);
    const bool ok = out != NULL && ETLHEAP_PUSH(&out->stack_starts, 0) &&
                    (table_merges(a) ? table_merge(a, out) : add_groups(a, out));
    if (!ok) {
        if (out != NULL)
            etlheap_table_free(&out->table);
        return NULL;
    }
    memcpy(out->group_by, a->query->group_by, sizeof out->group_by);
    out->table.from_ns = a->plan.from_ns;
    out->table.to_ns = a->plan.to_ns;
    out->table.group_by_count = a->query->group_by_count;
    out->table.measures = etlheap_query_measures(a->query);
    out->table.at_end = a->query->at_end;
    out->table.diagnostics = *etlheap_result_diagnostics(a->result);
    etl_diag_add(&out->table.diagnostics, ETL_DIAG_module_guessed, a->frames.guessed_count);
    if (a->query->symbols != NULL)
        etl_diag_merge(&out->table.diagnostics, &a->query->symbols->diag);
    fill_totals(a, &out->table);
    row_details_mark(a, out);
    table_publish(out);
    return &out->table;
}

static bool add_groups(aggregator *a, owned_table *out)
{
    table_numbers numbers = { .frames = { 0 } };
    free(a->order);
    a->order = frames_rank(&a->frames) ? group_order(a) : NULL;
    bool ok = a->order != NULL && ETLHEAP_RESERVE(&out->rows, a->groups.count);
    for (size_t i = 0; ok && i < a->groups.count; i++)
        ok = table_add_group(a, out, &numbers, &a->groups.at[a->order[i]]);
    table_numbers_free(&numbers);
    return ok;
}

bool table_add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
                     const group_row *group)
{
    const group_key *const key = &group->key;
    etlheap_row row = { .kind = key->kind,
                        .type = key->type,
                        .free_type = key->free_type,
                        .thread = key->thread,
                        .has_heap = key->has_heap,
                        .heap_handle = key->heap,
                        .frame = ETLHEAP_NO_INDEX,
                        .module = group_module_name(a, key->module),
                        .type_name = group_type_name(a, key->type_name),
                        .tag = group_tag_name(a, key->tag),
                        .size_class_bytes =
                            key->size_class == 0 ? 0 : (u64)1 << (key->size_class - 1) };
    if (key->process != 0) {
        row.process = a->result->processes.at[key->process - 1].name;
        row.pid =
            a->query->processes_by_name ? ETL_NO_ID : a->result->processes.at[key->process - 1].pid;
    }
    memcpy(row.measures, group->measures, sizeof group->measures);
    const bool by_frame =
        query_groups_by(a->query, ETLHEAP_KEY_FRAME) || query_groups_by(a->query, ETLHEAP_KEY_SITE);
    if (by_frame && !table_number_frame(out, numbers, &a->frames, key->frame, &row.frame))
        return false;
    return table_number_stack(out, numbers, &a->frames, key->stack, &row.stack) &&
           ETLHEAP_PUSH(&out->rows, row);
}

static void fill_totals(const aggregator *a, etlheap_table *table)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_total *const total = &table->totals[kind];
        memcpy(total->measures, a->totals[kind], sizeof a->totals[kind]);
        total->to_ns = a->query->kind_to_ticks == NULL
                           ? a->plan.to_ns
                           : query_end_ns(&a->plan, a->plan.kind_to_ticks[kind]);
        for (size_t i = 0; i < a->result->processes.count; i++) {
            if (a->plan.process_selected[i + 1])
                total->free_without_alloc += a->result->processes.at[i].free_without_alloc[kind];
        }
        total->present =
            total->measures[ETLHEAP_MEASURE_COUNT] > 0 || total->free_without_alloc > 0;
    }
    const etlheap_abilities can = a->result->abilities;
    table->totals[ETLHEAP_KIND_HEAP].present |= can.heap;
    table->totals[ETLHEAP_KIND_VIRTUALALLOC].present |= can.virtualalloc;
    table->totals[ETLHEAP_KIND_EXTENT].present |= can.extent;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const u32 kinds = a->query->kinds;
        table->totals[kind].present &= kinds == 0 || (kinds >> kind & 1) != 0;
    }
}

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
}

void etlheap_table_free(const etlheap_table *table)
{
    if (table == NULL)
        return;
    owned_table *const owned = table_owned(table);
    ETLHEAP_VECTOR_FREE(&owned->rows);
    ETLHEAP_VECTOR_FREE(&owned->frames);
    ETLHEAP_VECTOR_FREE(&owned->places);
    ETLHEAP_VECTOR_FREE(&owned->stack_starts);
    ETLHEAP_VECTOR_FREE(&owned->frame_indices);
    free(owned);
}

/* Rows refer to frames and stacks in order of first use, so what the first rows
 * need are the first frames and stacks. */
etl_status etlheap_table_keep_top(const etlheap_table **table, u32 rows, etl_error *err)
{
    (void)err;
    owned_table *const owned = table_owned(*table);
    if (rows >= owned->rows.count)
        return ETL_OK;
    u32 stacks = 0, frames = 0;
    for (u32 i = 0; i < rows; i++) {
        const etlheap_row *const row = &owned->rows.at[i];
        if (row->stack != ETLHEAP_NO_INDEX && row->stack >= stacks)
            stacks = row->stack + 1;
        if (row->frame != ETLHEAP_NO_INDEX && row->frame >= frames)
            frames = row->frame + 1;
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
