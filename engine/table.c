/*
 * table.c - groups to an etlheap_table: sorted rows, and the stacks and frames
 * they refer to, numbered in order of first use.
 */
#include <stdlib.h>

#include "aggregate.h"
#include "row_details.h"
#include "symbols.h"
#include "table.h"

static bool sort_groups(aggregator *a);
static bool add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
                      const group_row *group);
static void fill_totals(const aggregator *a, etlheap_table *table);

const etlheap_table *aggregate_table(aggregator *a)
{
    owned_table *const out = calloc(1, sizeof *out);
    table_numbers numbers = { .frames = { 0 } };
    bool ok = out != NULL && frames_rank(&a->frames) && sort_groups(a) &&
              ETLHEAP_PUSH(&out->stack_starts, 0);
    for (size_t i = 0; ok && i < a->groups.count; i++)
        ok = add_group(a, out, &numbers, &a->groups.at[i]);
    table_numbers_free(&numbers);
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
    if (a->query->symbols != NULL)
        etl_diag_merge(&out->table.diagnostics, &a->query->symbols->diag);
    fill_totals(a, &out->table);
    row_details_mark(a, out);
    table_publish(out);
    return &out->table;
}

static int compare_i64(i64 x, i64 y)
{
    return (x > y) - (x < y);
}

static int compare_text(const char *x, const char *y)
{
    return strcmp(x == NULL ? "" : x, y == NULL ? "" : y);
}

static const char *module_name(const aggregator *a, u32 module)
{
    return module == 0 ? NULL : a->result->modules.list.at[module - 1].name;
}

static const char *type_name(const aggregator *a, u32 type)
{
    return type == 0 ? "unknown" : symbols_text(a->query->symbols, type);
}

static const char *tag_name(const aggregator *a, u32 tag)
{
    return tag == 0 ? NULL : etlheap_strings_get(&a->query->tags->strings, tag);
}

/* Ties go by the keys in the order of their columns. */
static int compare_keys(const aggregator *a, const group_key *x, const group_key *y)
{
    int order = (int)x->kind - (int)y->kind;
    if (order == 0 && x->process != y->process && x->process != 0 && y->process != 0) {
        const etlheap_process_info *const p = &a->result->processes.at[x->process - 1];
        const etlheap_process_info *const q = &a->result->processes.at[y->process - 1];
        order = strcmp(p->name, q->name);
        order = order != 0 ? order : compare_i64(p->pid, q->pid);
    }
    if (order == 0)
        order = (x->heap > y->heap) - (x->heap < y->heap);
    if (order == 0)
        order = (int)x->has_heap - (int)y->has_heap;
    if (order == 0)
        order = (int)x->type - (int)y->type;
    if (order == 0)
        order = (int)x->free_type - (int)y->free_type;
    if (order == 0)
        order = frames_compare_stacks(&a->frames, x->stack, y->stack);
    if (order == 0 && x->frame != y->frame)
        order = frames_compare(&a->frames, x->frame, y->frame);
    if (order == 0)
        order = compare_text(module_name(a, x->module), module_name(a, y->module));
    if (order == 0)
        order = compare_i64(x->thread, y->thread);
    if (order == 0)
        order = (int)x->size_class - (int)y->size_class;
    if (order == 0 && x->type_name != y->type_name)
        order = strcmp(type_name(a, x->type_name), type_name(a, y->type_name));
    if (order == 0 && x->tag != y->tag)
        order = compare_text(tag_name(a, x->tag), tag_name(a, y->tag));
    return order;
}

/* What decides the order of nearly all groups, at hand without looking further. */
typedef struct sort_row {
    i64 measure;
    u64 heap, prefix;
    u32 process, group;
    u8 kind, has_heap, type, free_type;
} sort_row;

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

static int compare_groups(const aggregator *a, const sort_row *x, const sort_row *y)
{
    const int measure = compare_i64(x->measure, y->measure);
    if (measure != 0)
        return a->query->sort_ascending ? measure : -measure;
    const bool alike = x->kind == y->kind && x->process == y->process && x->heap == y->heap &&
                       x->has_heap == y->has_heap && x->type == y->type &&
                       x->free_type == y->free_type;
    if (alike && x->prefix != y->prefix)
        return compare_u64(x->prefix, y->prefix);
    return compare_keys(a, &a->groups.at[x->group].key, &a->groups.at[y->group].key);
}

/* Merge sort, as in frames.c. */
static void merge_runs(const aggregator *a, const sort_row *from, sort_row *to, size_t start,
                       size_t middle, size_t end)
{
    size_t left = start, right = middle;
    for (size_t at = start; at < end; at++) {
        const bool take_left =
            right >= end || (left < middle && compare_groups(a, &from[left], &from[right]) <= 0);
        to[at] = take_left ? from[left++] : from[right++];
    }
}

/* Sorts `from`; returns the one of the two arrays that holds the result. */
static sort_row *sort_rows(const aggregator *a, sort_row *from, sort_row *to, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = start + width < count ? start + width : count;
            const size_t end = start + 2 * width < count ? start + 2 * width : count;
            merge_runs(a, from, to, start, middle, end);
        }
        sort_row *const swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static bool sort_groups(aggregator *a)
{
    const size_t count = a->groups.count;
    sort_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    group_row *const sorted = malloc((count + 1) * sizeof *sorted);
    const bool ok = rows != NULL && sorted != NULL && count < UINT32_MAX;
    for (u32 i = 0; ok && i < count; i++) {
        const group_row *const group = &a->groups.at[i];
        const group_key *const key = &group->key;
        rows[i] = (sort_row){ .measure = group->measures[a->query->sort],
                              .heap = key->heap,
                              .prefix = frames_prefix(&a->frames, key->stack),
                              .process = key->process,
                              .group = i,
                              .kind = key->kind,
                              .has_heap = key->has_heap,
                              .type = key->type,
                              .free_type = key->free_type };
    }
    if (ok) {
        const sort_row *const order = sort_rows(a, rows, rows + count, count);
        for (size_t i = 0; i < count; i++)
            sorted[i] = a->groups.at[order[i].group];
        if (count > 0)
            memcpy(a->groups.at, sorted, count * sizeof *sorted);
    }
    free(rows);
    free(sorted);
    return ok;
}

static bool add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
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
                        .module = module_name(a, key->module),
                        .type_name = type_name(a, key->type_name),
                        .tag = tag_name(a, key->tag),
                        .size_class_bytes =
                            key->size_class == 0 ? 0 : (u64)1 << (key->size_class - 1) };
    if (key->process != 0) {
        row.process = a->result->processes.at[key->process - 1].name;
        row.pid = a->result->processes.at[key->process - 1].pid;
    }
    memcpy(row.measures, group->measures, sizeof row.measures);
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
        memcpy(total->measures, a->totals[kind], sizeof total->measures);
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
