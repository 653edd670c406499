/*
 * aggregate.c - builds the keys of groups for all folds, and keeps groups with their measures.
 *
 * In: a query, and what all blocks of an origin have in common. Out: keys; and groups in an
 * aggregator, from which table.c makes rows.
 *
 *     kind, process, heap, stack ──aggregate_key──▶ key ──aggregate_group──▶ group
 *
 * Groups of one stack are chained, because stacks come one after the other and have few groups
 * each; other groups are found by hash. Invariants: a group_key is compared and hashed as bytes, so
 * keys that are not asked for must stay 0, padding included. The order of rows goes by content, so
 * it does not depend on how stacks or groups were numbered.
 */
#include "aggregate.h"

#include <stdlib.h>

#include "engine/core/size_class.h"
#include "engine/core/type_rule.h"
#include "engine/query/keys.h"
#include "engine/query/needs.h"
#include "free_groups.h"
#include "summary_answer.h"
#include "row_spans.h"
#include "origin_groups.h"

#define CHAIN_MAX 8u /* groups of a stack that are looked through */

static bool is_answered(const aggregator *a);
static bool group_thread_names(aggregator *a);
static bool aggregate_reserve(aggregator *a, size_t more);

etl_status aggregate_open(aggregator *a, const etlheap_result *result, const etlheap_query *query,
                          etl_error *err)
{
    const etl_status status = aggregate_prepare(a, result, query, err);
    if (status == ETL_OK && result->summary == NULL && etlheap_result_is_for_questions(result) &&
        !is_answered(a))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the analysis kept no lifetimes, which this question needs");
    return status;
}

etl_status aggregate_prepare(aggregator *a, const etlheap_result *result,
                             const etlheap_query *query, etl_error *err)
{
    const u32 of_stacks = KEY_READS(STACK) | KEY_READS(FRAME) | KEY_READS(MODULE) |
                          KEY_READS(TYPE_NAME) | KEY_READS(TAG) | KEY_READS(IMPACT);
    *a = (aggregator){ .result = result, .query = query };
    etl_status status = query_open(&a->plan, result, query, err);
    if (status != ETL_OK)
        return status;
    aggregate_keep_measure(a, ETLHEAP_MEASURE_PEAK_SIZE);
    const u32 measures = etlheap_query_measures(query);
    for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++) {
        if ((measures >> i & 1) != 0)
            aggregate_keep_measure(a, (etlheap_measure)i);
    }
    a->wants_stack = query->require_frame_count > 0 || query_reads(query, of_stacks);
    a->wants_free_stack = query_needs(query, NEEDS_FREE_STACKS);
    a->spans = calloc(1, sizeof *a->spans);
    if (a->spans == NULL || !aggregate_same_names(a) || !row_spans_open(a->spans, a, false) ||
        !group_thread_names(a) || !frames_open(&a->frames, result, query))
        return etl_no_memory(err);
    return ETL_OK;
}

void aggregate_close(aggregator *a)
{
    frames_close(&a->frames);
    query_close(&a->plan);
    ETLHEAP_VECTOR_FREE(&a->groups);
    ETLHEAP_VECTOR_FREE(&a->measures);
    ETLHEAP_VECTOR_FREE(&a->by_stack);
    lifetime_lists_free(&a->lifetimes);
    etlheap_index_free(&a->index);
    if (a->spans != NULL)
        row_spans_close(a->spans);
    free(a->spans);
    free(a->same_name);
    free(a->order);
    free(a->thread_name_groups);
    a->spans = NULL;
    a->same_name = a->order = a->thread_name_groups = NULL;
}

/* Can the result answer? A journal answers only for its own window, a store for any. */
static bool is_answered(const aggregator *a)
{
    const event_journal *const journal = &a->result->journal;
    if (a->result->mode == RESULT_STORE)
        return true;
    if (journal->cuts.session != NULL ||
        (query_needs(a->query, NEEDS_TIMES) && !journal->keeps_clock))
        return false;
    const bool same_start = journal->from_ticks == a->plan.from_ticks ||
                            (journal->from_ticks == INT64_MIN && a->query->from_ns == INT64_MIN);
    const bool same_end = journal->to_ticks == a->plan.to_ticks ||
                          (journal->to_ticks == INT64_MAX && a->query->to_ns == INT64_MAX);
    if (journal->is_tallied && !query_asks_sums(a->query))
        return false;
    return !query_needs(a->query, NEEDS_BLOCKS) && a->query->kind_to_ticks == NULL && same_start &&
           same_end && journal->exit_frees == a->query->at_exit_freed;
}

static int by_name(const void *a, const void *b)
{
    const named_process *const x = a, *const y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Finds, for each process, the first one with the same name and id: both are one row. */
bool aggregate_same_names(aggregator *a)
{
    const size_t count = a->result->processes.count;
    const bool names_only = a->query != NULL && a->query->processes_by_name;
    named_process *const sorted = calloc(count + 1, sizeof *sorted);
    a->same_name = calloc(count + 1, sizeof *a->same_name);
    if (sorted == NULL || a->same_name == NULL) {
        free(sorted);
        return false;
    }
    for (u32 i = 0; i < count; i++) {
        const etlheap_process_info *const info = &a->result->processes.at[i];
        sorted[i] = (named_process){ info->name, names_only ? ETL_NO_ID : info->pid, i + 1 };
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && sorted[i - 1].pid == sorted[i].pid &&
                          strcmp(sorted[i - 1].name, sorted[i].name) == 0;
        a->same_name[sorted[i].id] = same ? a->same_name[sorted[i - 1].id] : sorted[i].id;
    }
    free(sorted);
    return true;
}

/* For qsort: the names of a result, by text. */
static int by_text(const void *a, const void *b)
{
    const named_process *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* Gives threads of the same name the same number, so that they become one row. */
static bool group_thread_names(aggregator *a)
{
    const thread_names *const names = &a->result->thread_names;
    const size_t count = names->list.count;
    if (!query_groups_by(a->query, ETLHEAP_KEY_THREAD_NAME))
        return true;
    named_process *const sorted = calloc(count + 1, sizeof *sorted);
    a->thread_name_groups = calloc(count + 1, sizeof *a->thread_name_groups);
    const bool ok = sorted != NULL && a->thread_name_groups != NULL;
    for (u32 i = 0; ok && i < count; i++)
        sorted[i] = (named_process){ .name = names->list.at[i].name, .id = i };
    if (ok && count > 0)
        qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0, first = 0; ok && i < count; i++) {
        first = strcmp(sorted[first].name, sorted[i].name) == 0 ? first : i;
        a->thread_name_groups[sorted[i].id] = sorted[first].id + 1;
    }
    free(sorted);
    return ok;
}

u32 aggregate_thread_name(const aggregator *a, u32 process, u32 thread)
{
    const thread_names *const names = &a->result->thread_names;
    const size_t place = thread_names_place(names, process, thread);
    return place < names->list.count ? a->thread_name_groups[place] : 0;
}

void aggregate_free_key(aggregator *a, u32 resolved, free_key *key)
{
    const etlheap_query *const query = a->query;
    const u32 stack = a->wants_free_stack ? frames_settled(&a->frames, resolved) : 0;
    memset(key, 0, sizeof *key);
    if (query_groups_by(query, ETLHEAP_KEY_FREE_STACK))
        key->stack = stack;
    if (query_groups_by(query, ETLHEAP_KEY_FREE_SITE))
        key->frame = frames_site(&a->frames, stack);
    if (query_groups_by(query, ETLHEAP_KEY_FREE_MODULE))
        key->module = aggregate_module(a, frames_innermost(&a->frames, stack));
}

void aggregate_add_freed_by_other(aggregator *a, u32 group, u8 kind, i64 count)
{
    aggregate_measures(a, group)[ETLHEAP_MEASURE_FREED_BY_OTHER] += count;
    a->totals[kind][ETLHEAP_MEASURE_FREED_BY_OTHER] += count;
}

etl_status aggregate_settle(aggregator *a, const feed_rows *rows, etl_error *err)
{
    if (a->query->symbols == NULL || !(a->wants_stack || a->wants_free_stack))
        return ETL_OK;
    origin_groups origins = { .of_origin = NULL };
    free_groups frees = { .of_freer = NULL };
    a->is_collecting = true;
    const bool ok = a->result->summary != NULL
                        ? summary_rows(a)
                        : origin_groups_open(&origins, a, rows, true) &&
                              (!a->wants_free_stack || free_groups_open(&frees, a, rows));
    origin_groups_close(&origins);
    free_groups_close(&frees);
    a->is_collecting = false;
    if (!ok)
        return etl_no_memory(err);
    return frames_settle(&a->frames, err);
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const aggregator *const a = owner;
    return memcmp(&a->groups.at[id - 1].key, key, sizeof(group_key)) == 0;
}

void aggregate_keep_measure(aggregator *a, etlheap_measure last)
{
    assert(a->groups.count == 0);
    if (a->measure_count <= (u32)last)
        a->measure_count = (u32)last + 1;
}

static bool aggregate_reserve(aggregator *a, size_t more)
{
    return ETLHEAP_RESERVE(&a->groups, more) &&
           ETLHEAP_RESERVE(&a->measures, more * a->measure_count);
}

void aggregate_expect(aggregator *a, size_t more)
{
    ETLHEAP_EXPECT(&a->groups, more);
    ETLHEAP_EXPECT(&a->measures, more * a->measure_count);
}

void aggregate_trim(aggregator *a)
{
    ETLHEAP_TRIM(&a->groups);
    ETLHEAP_TRIM(&a->measures);
}

bool aggregate_push(aggregator *a, const group_row *row)
{
    if (!aggregate_reserve(a, 1))
        return false;
    a->groups.count++;
    a->measures.count += a->measure_count;
    aggregate_put(a, a->groups.count - 1, row);
    return true;
}

void aggregate_put(aggregator *a, size_t group, const group_row *row)
{
    a->groups.at[group] = (group_head){ .key = row->key, .number = row->number };
    memcpy(aggregate_measures(a, group), row->measures, a->measure_count * sizeof *row->measures);
}

void aggregate_row(const aggregator *a, size_t group, group_row *out)
{
    *out = (group_row){ .key = a->groups.at[group].key, .number = a->groups.at[group].number };
    memcpy(out->measures, aggregate_measures(a, group), a->measure_count * sizeof *out->measures);
}

void aggregate_cut(aggregator *a, size_t count)
{
    a->groups.count = count;
    a->measures.count = count * a->measure_count;
}

static bool add_group(aggregator *a, const group_key *key, u32 next, u32 *group)
{
    *group = (u32)a->groups.count;
    if (a->groups.count >= GROUP_UNWANTED - 1 || !aggregate_reserve(a, 1))
        return false;
    a->groups.at[a->groups.count++] = (group_head){ .key = *key, .next = next };
    memset(a->measures.at + a->measures.count, 0, a->measure_count * sizeof *a->measures.at);
    a->measures.count += a->measure_count;
    return true;
}

static bool find_in_index(aggregator *a, const group_key *key, u32 *group)
{
    const u64 hash = etlheap_hash_bytes(key, sizeof *key);
    const u32 id = etlheap_index_find(&a->index, hash, same_key, a, key);
    *group = id - 1;
    return id != 0 ||
           (add_group(a, key, 0, group) && etlheap_index_add(&a->index, hash, *group + 1));
}

/* Finds or adds the group of a key. Stacks come one after the other and most have few groups, so
 * these are looked through first. */
bool aggregate_group(aggregator *a, const group_key *key, u32 *group)
{
    u32 looked_at = 0;
    if (key->stack == 0)
        return find_in_index(a, key, group);
    if (!table_ids_fit(&a->by_stack, a->frames.stacks.count + 1))
        return false;
    u32 *const newest = &a->by_stack.at[key->stack];
    for (u32 id = *newest; id != 0; id = a->groups.at[id - 1].next) {
        *group = id - 1;
        if (same_key(a, id, key))
            return true;
        looked_at++;
    }
    if (looked_at == CHAIN_MAX)
        return find_in_index(a, key, group);
    if (!add_group(a, key, *newest, group))
        return false;
    *newest = *group + 1;
    return true;
}

static bool is_unwanted(const aggregator *a, u32 stack)
{
    const bool wanted = stack != 0 && a->frames.stacks.at[stack - 1].wanted;
    return a->query->require_frame_count > 0 && !wanted;
}

/* Members of keys that are not asked for stay 0, padding included. */
bool aggregate_key(aggregator *a, const block_source *of, etlheap_type type, group_key *key)
{
    u32 resolved = 0;
    memset(key, 0, sizeof *key);
    if (a->wants_stack && !frames_resolve(&a->frames, of->process, of->stack, of->ticks, &resolved))
        return false;
    key->unwanted = a->is_collecting;
    if (a->is_collecting)
        return true;
    const u32 stack = frames_settled(&a->frames, resolved);
    key->unwanted = is_unwanted(a, stack);
    key->kind = of->kind;
    for (u32 i = 0; i < a->query->group_by_count; i++) {
        const key_reads reads = (key_reads)key_row_of(a->query->group_by[i])->reads;
        switch (reads) {
        case KEY_READS_KIND: /* every row has one */
            break;
        case KEY_READS_PROCESS:
            key->process = a->same_name[of->process];
            break;
        case KEY_READS_HEAP:
            key->heap = of->heap;
            key->has_heap = etlheap_kind_has(of->kind, ETLHEAP_KIND_HAS_HEAP);
            break;
        case KEY_READS_TYPE:
            key->type = a->plan.row_types[type];
            break;
        case KEY_READS_STACK:
        case KEY_READS_IMPACT:
            key->stack = stack;
            break;
        case KEY_READS_FRAME:
            key->frame = frames_site(&a->frames, stack);
            break;
        case KEY_READS_MODULE:
            key->module = aggregate_module(a, frames_innermost(&a->frames, stack));
            break;
        case KEY_READS_TYPE_NAME:
            key->type_name = a->frames.alloc_types == NULL ? 0 : a->frames.alloc_types[resolved];
            break;
        case KEY_READS_TAG:
            key->tag = stack == 0 ? 0 : a->frames.stacks.at[stack - 1].tag;
            break;
        case KEY_READS_THREAD: /* of single blocks: block_groups.h */
        case KEY_READS_THREAD_NAME:
        case KEY_READS_SIZE:
        case KEY_READS_GENERATION:
        case KEY_READS_FREE_TYPE:
        case KEY_READS_FREER:
        case KEY_READS_FREE_THREAD:
            break;
        }
    }
    return true;
}

/* The module of a frame, by name; 0 for none. */
u32 aggregate_module(aggregator *a, u32 frame)
{
    if (frame == FRAME_NONE || a->frames.frames.at[frame].module == FRAME_NONE)
        return 0;
    return a->frames.namesakes[a->frames.frames.at[frame].module] + 1;
}
