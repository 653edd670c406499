/*
 * group_rows.c - makes an etlheap_table of groups.
 *
 * In: groups with their sums, and the order of rows. Out: rows, and the stacks and frames that they
 * refer to. Invariant: stacks and frames are numbered in order of first use, so that the first rows
 * need the first of them (table.c).
 */
#include "group_rows.h"

#include <stdlib.h>

#include "engine/context/pool_heap.h"
#include "engine/names/symbols.h"
#include "engine/query/keys.h"
#include "row_details.h"
#include "row_spans.h"

#define ROWS_AHEAD 6u

/* True if a row with this key may hold memory of the process. */
static bool covers_process(const aggregator *a, const group_key *key, u32 process)
{
    if (key->process == 0)
        return a->plan.process_selected[process];
    return a->same_name[process] == key->process;
}

/* The name of the row's thread. A row of several processes has one only if no two of their threads
 * with this id have different names. */
static const char *row_thread_name(const aggregator *a, const group_key *key)
{
    const thread_names *const names = &a->result->thread_names;
    const thread_name *const rows = names->list.at;
    const char *found = NULL;
    for (size_t i = thread_names_first(names, key->thread);
         i < names->list.count && rows[i].tid == key->thread; i++) {
        if (rows[i].process == 0 || !covers_process(a, key, rows[i].process))
            continue;
        if (found != NULL && strcmp(found, rows[i].name) != 0)
            return NULL;
        found = rows[i].name;
    }
    return found;
}

bool table_add_group(const aggregator *a, owned_table *out, table_numbers *numbers,
                     const group_row *group)
{
    const group_key *const key = &group->key;
    const logged_names *const names = &a->result->context.logged_names;
    etlheap_row row = { .kind = key->kind,
                        .type = key->type,
                        .free_type = key->free_type,
                        .thread = key->thread,
                        .has_heap = key->has_heap,
                        .rates_ns = row_spans_ns(a->spans, key),
                        .heap_handle = key->has_heap ? key->heap : 0,
                        .heap_name = key->has_heap ? logged_names_find(names, key->heap) : NULL,
                        .frame = ETLHEAP_NO_INDEX,
                        .free_frame = ETLHEAP_NO_INDEX,
                        .free_stack = ETLHEAP_NO_INDEX,
                        .free_thread = ETL_NO_ID,
                        .free_module = group_module_name(a, key->free_module),
                        .module = group_module_name(a, key->module),
                        .type_name = group_type_name(a, key->type_name),
                        .source_line = group_source_line(a, key->source_line),
                        .tag = group_tag_name(a, key->tag),
                        .size_class_bytes =
                            key->size_class == 0 ? 0 : (u64)1 << (key->size_class - 1) };
    if (key->process != 0) {
        row.process = a->result->processes.at[key->process - 1].name;
        row.pid =
            a->query->processes_by_name ? ETL_NO_ID : a->result->processes.at[key->process - 1].pid;
    }
    if (query_groups_by(a->query, ETLHEAP_KEY_THREAD))
        row.thread_name = row_thread_name(a, key);
    if (key->generation > 0) {
        const etlheap_mark *const mark = &a->result->marks.marks.at[key->generation - 1];
        row.generation = key->generation;
        row.mark = mark->name;
        row.mark_number = mark->number;
    }
    if (query_groups_by(a->query, ETLHEAP_KEY_POOL_TAG)) {
        pool_heap_tag_text(key->heap, row.pool_tag);
        row.pool_tag_description =
            a->query->pool_tags == NULL
                ? NULL
                : etlheap_pool_tags_describe(a->query->pool_tags, row.pool_tag);
    }
    if (query_groups_by(a->query, ETLHEAP_KEY_OBJECT_TYPE) &&
        etlheap_kind_has(key->kind, ETLHEAP_KIND_HAS_OBJECT_TYPE))
        row.object_type = logged_names_find(names, key->heap);
    if (key->thread_name != 0)
        row.thread_name = group_thread_name(a, key->thread_name);
    if (query_groups_by(a->query, ETLHEAP_KEY_FREE_THREAD))
        row.free_thread = key->free_thread;
    memcpy(row.measures, group->measures, sizeof group->measures);
    const bool by_frame = query_reads(a->query, KEY_READS(FRAME) | KEY_READS(FUNCTION));
    if (by_frame && !table_number_frame(out, numbers, &a->frames, key->frame, &row.frame))
        return false;
    if (query_groups_by(a->query, ETLHEAP_KEY_FREE_SITE) &&
        !table_number_frame(out, numbers, &a->frames, key->free_frame, &row.free_frame))
        return false;
    return table_number_stack(out, numbers, &a->frames, key->stack, &row.stack) &&
           table_number_stack(out, numbers, &a->frames, key->free_stack, &row.free_stack) &&
           ETLHEAP_PUSH(&out->rows, row);
}

/* Sorted groups are all over memory, and so are their stacks. What a row reads first is fetched
 * some rows ahead: the group and its measures, then its stack, then the stack's frames. Always
 * inlined, because compilers drop a function that only prefetches. */
__attribute__((always_inline)) static inline void fetch_ahead(const aggregator *a, size_t row)
{
    const size_t count = a->groups.count;
    if (row + 3 * ROWS_AHEAD < count) {
        const u32 group = a->order[row + 3 * ROWS_AHEAD];
        const u8 *const measures = (const u8 *)aggregate_measures(a, group);
        __builtin_prefetch(&a->groups.at[group]);
        for (size_t at = 0; at < a->measure_count * sizeof(i64); at += 64)
            __builtin_prefetch(measures + at);
    }
    if (row + 2 * ROWS_AHEAD < count) {
        const u32 stack = a->groups.at[a->order[row + 2 * ROWS_AHEAD]].key.stack;
        if (stack != 0)
            __builtin_prefetch(&a->frames.stacks.at[stack - 1]);
    }
    if (row + ROWS_AHEAD < count) {
        const u32 stack = a->groups.at[a->order[row + ROWS_AHEAD]].key.stack;
        if (stack != 0)
            __builtin_prefetch(&a->frames.pool.at[a->frames.stacks.at[stack - 1].start]);
    }
}

/* How many groups become rows. What is said of one row may depend on all: which heap grows most
 * (row_details_mark), and the lifetimes that rows take over. */
static size_t count_rows(const aggregator *a)
{
    const etlheap_query *const query = a->query;
    const bool needs_all =
        query->rows_max == 0 || query->keep_lifetimes ||
        (etlheap_query_measures(query) >> ETLHEAP_MEASURE_COMMITTED_SIZE & 1) != 0;
    return needs_all ? a->groups.count : (size_t)etl_min_u64(a->groups.count, query->rows_max);
}

static bool add_groups(aggregator *a, owned_table *out)
{
    const size_t count = count_rows(a);
    table_numbers numbers = { .frames = { 0 } };
    free(a->order);
    a->order = frames_rank(&a->frames) ? group_order(a) : NULL;
    bool ok = a->order != NULL && ETLHEAP_RESERVE(&out->rows, count);
    for (size_t i = 0; ok && i < count; i++) {
        group_row row;
        fetch_ahead(a, i);
        aggregate_row(a, a->order[i], &row);
        ok = table_add_group(a, out, &numbers, &row);
    }
    table_numbers_free(&numbers);
    return ok;
}

/* The rows take the lifetimes of their groups over. */
static bool keep_lifetimes(aggregator *a, owned_table *out)
{
    etlheap_row_lifetimes *const kept = &out->lifetimes;
    if (!a->query->lifetime_ranks || !a->query->keep_lifetimes)
        return true;
    if (!ETLHEAP_RESERVE(&kept->groups, a->groups.count))
        return false;
    for (size_t i = 0; i < a->groups.count; i++)
        kept->groups.at[kept->groups.count++] = a->order[i];
    kept->lists = a->lifetimes;
    a->lifetimes = (lifetime_lists){ .lists = { 0 } };
    out->table.row_lifetimes = kept;
    return true;
}

static void fill_totals(const aggregator *a, etlheap_table *table)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_total *const total = &table->totals[kind];
        memcpy(total->measures, a->totals[kind], sizeof a->totals[kind]);
        total->to_ns = a->query->kind_to_ticks == NULL
                           ? a->plan.to_ns
                           : query_end_ns(a->result->base.base, a->plan.kind_to_ticks[kind]);
        for (size_t i = 0; i < a->result->processes.count; i++) {
            if (a->plan.process_selected[i + 1])
                total->free_without_alloc += a->result->processes.at[i].free_without_alloc[kind];
        }
        total->present =
            total->measures[ETLHEAP_MEASURE_COUNT] > 0 || total->free_without_alloc > 0;
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        table->totals[kind].present |= (a->result->abilities.kinds >> kind & 1) != 0;
        table->totals[kind].present &= (query_kinds(a->query) >> kind & 1) != 0;
    }
}

etlheap_table *aggregate_table(aggregator *a)
{
    owned_table *const out = calloc(1, sizeof *out);
    const bool ok = out != NULL && ETLHEAP_PUSH(&out->stack_starts, 0) &&
                    (table_merges(a) ? table_merge(a, out) : add_groups(a, out)) &&
                    keep_lifetimes(a, out);
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
    (void)etlheap_result_is_anonymised(a->result, &out->table.key_check);
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
