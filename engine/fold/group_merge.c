/*
 * group_merge.c - makes the table when only a few of its rows will be shown.
 *
 * In: tens of thousands of groups, of which `whole_rows_max` are wanted. Out: these rows, whole,
 * and sums of the others by their keys before the stack.
 *
 *     groups ──▶ the first N of each kind, by measure ──▶ rows
 *           └──▶ the rest, by keys before the stack ──▶ one sum each, in place of its first group
 *
 * Sorting all groups, ranking their frames and copying their stacks would be most of a report's
 * work. Selecting the first N compares each other group with one group only. Invariant: rows of one
 * stack are never split between a whole row and a sum, so merging is done only if the stack is the
 * last key (table_merges).
 */
#include <stdlib.h>

#include "engine/core/digit_sort.h"
#include "engine/query/keys.h"
#include "group_rows.h"

/* Collects the first `wanted` of the rows offered. `rows` has room for twice as many; whenever it
 * is full, the second half is dropped. */
typedef struct first_groups {
    digit_row *rows; /* by measure; behind them room for as many again, to sort */
    size_t count, wanted;
    bool is_cut; /* rows[wanted - 1] is later than `wanted` others */
} first_groups;

/* Groups that differ only in their stacks. */
typedef struct merged_group {
    u32 rows;    /* that are merged; 0: none */
    u32 empty;   /* of these, with 0 in the sort measure */
    u32 group;   /* one of them */
    u64 measure; /* of the first of them */
    i64 measures[ETLHEAP_MEASURES_COUNT];
} merged_group;

/* A future row: one group, or several merged ones. */
typedef struct merge_row {
    u32 head, group;
    bool is_merged;
} merge_row;

typedef struct merger {
    const aggregator *a;
    group_heads heads;
    first_groups firsts[ETLHEAP_KIND_COUNT][2]; /* of all, and with something */
    bool *is_whole;                             /* by group */
    merged_group *merged;                       /* by head */
    ETLHEAP_VECTOR(merge_row) rows;
} merger;

static bool open_merger(merger *m, const aggregator *a);
static void close_merger(merger *m);
static void select_groups(merger *m);
static bool list_rows(merger *m);
static bool add_rows(merger *m, owned_table *out);

/* A merged group keeps only its keys before the stack, so the stack must be the last key: rows of
 * one stack must not be split. */
bool table_merges(const aggregator *a)
{
    const etlheap_query *const query = a->query;
    const u32 before = KEY_READS(KIND) | KEY_READS(PROCESS) | KEY_READS(HEAP) | KEY_READS(TYPE) |
                       KEY_READS(FREE_TYPE);
    const u32 last = query->group_by_count == 0 ? 0 : query->group_by_count - 1;
    u32 reads = 0;
    for (u32 i = 0; i < last; i++)
        reads |= 1u << key_row_of(query->group_by[i])->reads;
    return a->may_merge && !query->keep_lifetimes && query->whole_rows_max > 0 &&
           query->whole_rows_max < a->groups.count && etlheap_key_is_stack(query->group_by[last]) &&
           (reads & ~before) == 0;
}

bool table_merge(const aggregator *a, owned_table *out)
{
    merger m;
    bool ok = open_merger(&m, a);
    if (ok)
        select_groups(&m);
    ok = ok && list_rows(&m) && add_rows(&m, out);
    close_merger(&m);
    return ok;
}

static bool open_merger(merger *m, const aggregator *a)
{
    const size_t wanted = a->query->whole_rows_max; /* fewer than groups */
    *m = (merger){ .a = a };
    bool ok = a->groups.count < UINT32_MAX && group_heads_open(&m->heads, a);
    for (u32 kind = 0; ok && kind < ETLHEAP_KIND_COUNT; kind++) {
        for (u32 which = 0; ok && which < 2; which++) {
            first_groups *const firsts = &m->firsts[kind][which];
            *firsts = (first_groups){ .wanted = wanted };
            firsts->rows = malloc(4 * wanted * sizeof *firsts->rows);
            ok = firsts->rows != NULL;
        }
    }
    m->is_whole = calloc(a->groups.count + 1, sizeof *m->is_whole);
    m->merged = calloc((size_t)m->heads.count + 1, sizeof *m->merged);
    return ok && m->is_whole != NULL && m->merged != NULL;
}

static void close_merger(merger *m)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        free(m->firsts[kind][0].rows);
        free(m->firsts[kind][1].rows);
    }
    free(m->heads.at);
    free(m->is_whole);
    free(m->merged);
    ETLHEAP_VECTOR_FREE(&m->rows);
}

/* Sorts the rows and drops those beyond `wanted`. */
static void cut(const merger *m, first_groups *firsts)
{
    digit_row *const scratch = firsts->rows + 2 * firsts->wanted;
    const digit_row *const sorted =
        digit_sort(firsts->rows, scratch, firsts->count, group_compare, m->a);
    if (sorted != firsts->rows)
        memcpy(firsts->rows, sorted, firsts->count * sizeof *firsts->rows);
    firsts->is_cut = firsts->count >= firsts->wanted;
    firsts->count = firsts->is_cut ? firsts->wanted : firsts->count;
}

static void offer(const merger *m, first_groups *firsts, const digit_row *row)
{
    if (firsts->is_cut) {
        const digit_row *const last = &firsts->rows[firsts->wanted - 1];
        if (row->low > last->low ||
            (row->low == last->low && group_compare(m->a, row->id, last->id) >= 0))
            return;
    }
    firsts->rows[firsts->count++] = *row;
    if (firsts->count == 2 * firsts->wanted)
        cut(m, firsts);
}

static void select_groups(merger *m)
{
    const aggregator *const a = m->a;
    for (u32 i = 0; i < a->groups.count; i++) {
        const u8 kind = a->groups.at[i].key.kind;
        const digit_row row = { .low = group_measure(a, i), .id = i };
        offer(m, &m->firsts[kind][0], &row);
        if (aggregate_measures(a, i)[a->query->sort] != 0)
            offer(m, &m->firsts[kind][1], &row);
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (u32 which = 0; which < 2; which++) {
            first_groups *const firsts = &m->firsts[kind][which];
            cut(m, firsts);
            for (size_t i = 0; i < firsts->count; i++)
                m->is_whole[firsts->rows[i].id] = true;
        }
    }
}

static void merge(merged_group *merged, const aggregator *a, u32 group)
{
    const u64 measure = group_measure(a, group);
    const i64 *const measures = aggregate_measures(a, group);
    if (merged->rows == 0 || measure < merged->measure)
        merged->measure = measure;
    merged->rows++;
    merged->empty += measures[a->query->sort] == 0;
    merged->group = group;
    for (u32 i = 0; i < a->measure_count; i++) {
        i64 *const sum = &merged->measures[i];
        const bool is_known = *sum != ETLHEAP_NOT_KNOWN && measures[i] != ETLHEAP_NOT_KNOWN;
        *sum = is_known ? etl_sat_add_i64(*sum, measures[i]) : ETLHEAP_NOT_KNOWN;
    }
}

static bool list_rows(merger *m)
{
    const aggregator *const a = m->a;
    bool ok = true;
    for (u32 i = 0; ok && i < a->groups.count; i++) {
        const u32 head = m->heads.at[i];
        if (m->is_whole[i])
            ok = ETLHEAP_PUSH(&m->rows, (merge_row){ head, i, false });
        else
            merge(&m->merged[head], a, i);
    }
    for (u32 head = 0; ok && head < m->heads.count; head++) {
        if (m->merged[head].rows > 0)
            ok = ETLHEAP_PUSH(&m->rows, (merge_row){ head, m->merged[head].group, true });
    }
    return ok;
}

/* Compares rows. With equal measure and head, whole rows come first, in the order of stacks. */
static int compare_rows(const void *owner, u32 x, u32 y)
{
    const merger *const m = owner;
    const merge_row *const p = &m->rows.at[x], *const q = &m->rows.at[y];
    if (p->head != q->head)
        return p->head < q->head ? -1 : 1;
    if (p->is_merged != q->is_merged)
        return p->is_merged ? 1 : -1;
    return group_compare(m->a, p->group, q->group);
}

static bool add_row(const merger *m, owned_table *out, table_numbers *numbers, const merge_row *row)
{
    group_row group;
    aggregate_row(m->a, row->group, &group);
    if (!row->is_merged)
        return table_add_group(m->a, out, numbers, &group);
    const merged_group *const merged = &m->merged[row->head];
    group.key.stack = 0;
    memcpy(group.measures, merged->measures, sizeof group.measures);
    if (!table_add_group(m->a, out, numbers, &group))
        return false;
    out->rows.at[out->rows.count - 1].merged_rows = merged->rows;
    out->rows.at[out->rows.count - 1].merged_empty_rows = merged->empty;
    return true;
}

static bool add_rows(merger *m, owned_table *out)
{
    const size_t count = m->rows.count;
    table_numbers numbers = { .frames = { 0 } };
    digit_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    bool ok = rows != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        const merge_row *const row = &m->rows.at[i];
        const u64 measure =
            row->is_merged ? m->merged[row->head].measure : group_measure(m->a, row->group);
        rows[i] = (digit_row){ .low = measure, .id = i };
    }
    const digit_row *const sorted =
        ok ? digit_sort(rows, rows + count, count, compare_rows, m) : NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_row(m, out, &numbers, &m->rows.at[sorted[i].id]);
    free(rows);
    table_numbers_free(&numbers);
    return ok;
}
