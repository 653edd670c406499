/*
 * group_merge.c - makes the table when only a few of its rows will be shown.
 *
 * In: tens of thousands of groups, of which `whole_rows_max` are wanted. Out: these rows, whole,
 * and sums of the others by their keys before the stack.
 *
 *     groups ──▶ the first N of each kind, by measure ──▶ rows
 *           ├──▶ the rest of heaps with such a row, by keys before the stack ──▶ one sum each, in
 *           │                                                          place of its first group
 *           └──▶ all others, by keys before the heap ──▶ one sum each, likewise
 *
 * There may be hundreds of thousands of heaps, of which few are shown. So the rows are as few as
 * what is shown of them.
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

/* Groups with the same keys before the stack, or before the heap. */
typedef struct merged_group {
    group_key key; /* that they share */
    u32 rows;      /* that are merged */
    u32 empty;     /* of these, with 0 in the sort measure */
    u32 head;      /* of the first of them ... */
    u64 measure;   /* ... and its measure */
    i64 measures[ETLHEAP_MEASURES_COUNT];
} merged_group;

/* A future row: one group, or several merged ones. */
typedef struct merge_row {
    u32 head;
    u32 number; /* of a group, or of a merged group */
    bool is_merged;
} merge_row;

typedef struct merger {
    const aggregator *a;
    group_heads heads;
    first_groups firsts[ETLHEAP_KIND_COUNT][2]; /* of all, and with something */
    bool *is_whole;                             /* by group */
    ETLHEAP_VECTOR(group_key) heaps;            /* keys of whole groups, up to that of the heap */
    etlheap_index heap_index;                   /* by key */
    u32 heap_keys; /* all but those before the heap; 0: rows of heaps stay apart */
    ETLHEAP_VECTOR(merged_group) merged;
    etlheap_index merged_index; /* by key */
    ETLHEAP_VECTOR(merge_row) rows;
} merger;

static bool open_merger(merger *m, const aggregator *a);
static void close_merger(merger *m);
static void select_groups(merger *m);
static bool list_heaps(merger *m);
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
    ok = ok && list_heaps(&m) && list_rows(&m) && add_rows(&m, out);
    close_merger(&m);
    return ok;
}

/* All keys but those before that of the heap. Rates are rounded by row, so rows with rates stay
 * apart. */
static u32 keys_from_heap(const etlheap_query *query)
{
    u32 keys = UINT32_MAX;
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == ETLHEAP_KEY_HEAP)
            return query->rates ? 0 : keys;
        keys &= ~(1u << query->group_by[i]);
    }
    return 0;
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
    m->heap_keys = keys_from_heap(a->query);
    return ok && m->is_whole != NULL;
}

static void close_merger(merger *m)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        free(m->firsts[kind][0].rows);
        free(m->firsts[kind][1].rows);
    }
    free(m->heads.at);
    free(m->is_whole);
    ETLHEAP_VECTOR_FREE(&m->heaps);
    etlheap_index_free(&m->heap_index);
    ETLHEAP_VECTOR_FREE(&m->merged);
    etlheap_index_free(&m->merged_index);
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
            for (size_t i = 0; i < firsts->count; i++) {
                m->is_whole[firsts->rows[i].id] = true;
            }
        }
    }
}

static bool same_heap(const void *owner, u32 id, const void *key)
{
    const merger *const m = owner;
    return memcmp(&m->heaps.at[id - 1], key, sizeof(group_key)) == 0;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const merger *const m = owner;
    return memcmp(&m->merged.at[id - 1].key, key, sizeof(group_key)) == 0;
}

/* The keys of a group before the stack, without some of them. */
static group_key key_without(const merger *m, u32 group, u32 dropped)
{
    const group_key *const key = &m->a->groups.at[group].key;
    group_key out;
    memset(&out, 0, sizeof out);
    if ((dropped >> ETLHEAP_KEY_KIND & 1) == 0)
        out.kind = key->kind;
    if ((dropped >> ETLHEAP_KEY_PROCESS & 1) == 0)
        out.process = key->process;
    if ((dropped >> ETLHEAP_KEY_HEAP & 1) == 0) {
        out.heap = key->heap;
        out.has_heap = key->has_heap;
    }
    if ((dropped >> ETLHEAP_KEY_TYPE & 1) == 0)
        out.type = key->type;
    if ((dropped >> ETLHEAP_KEY_FREE_TYPE & 1) == 0)
        out.free_type = key->free_type;
    return out;
}

/* The keys of a group up to that of the heap. */
static group_key heap_key(const merger *m, u32 group)
{
    return key_without(m, group, m->heap_keys & ~(1u << ETLHEAP_KEY_HEAP));
}

static bool has_whole(const merger *m, const group_key *heap)
{
    const u64 hash = etlheap_hash_bytes(heap, sizeof *heap);
    return etlheap_index_find(&m->heap_index, hash, same_heap, m, heap) != 0;
}

/* Lists the heaps of whole groups. */
static bool list_heaps(merger *m)
{
    for (u32 i = 0; m->heap_keys != 0 && i < m->a->groups.count; i++) {
        if (!m->is_whole[i])
            continue;
        const group_key heap = heap_key(m, i);
        if (has_whole(m, &heap))
            continue;
        const u64 hash = etlheap_hash_bytes(&heap, sizeof heap);
        if (!ETLHEAP_PUSH(&m->heaps, heap) ||
            !etlheap_index_add(&m->heap_index, hash, (u32)m->heaps.count))
            return false;
    }
    return true;
}

/* Is a row of the group's heap whole, or one of no heap, which would be taken for a sum of
 * heaps? */
static bool keeps_heap(const merger *m, u32 group)
{
    const group_key heap = heap_key(m, group);
    const group_key none = key_without(m, group, m->heap_keys);
    return m->heap_keys == 0 || has_whole(m, &heap) || has_whole(m, &none);
}

/* The keys that a merged group has: those before the stack, or before the heap. Kinds always stay
 * apart. */
static group_key merged_key(const merger *m, u32 group)
{
    const u32 dropped = m->heap_keys & ~(1u << ETLHEAP_KEY_KIND);
    return key_without(m, group, keeps_heap(m, group) ? 0 : dropped);
}

/* Finds or adds a merged group. Neighbours mostly have the same one. */
static bool find_merged(merger *m, const group_key *key, u32 *number)
{
    if (m->merged.count > 0 && same_key(m, *number + 1, key))
        return true;
    const u64 hash = etlheap_hash_bytes(key, sizeof *key);
    const u32 id = etlheap_index_find(&m->merged_index, hash, same_key, m, key);
    *number = id != 0 ? id - 1 : (u32)m->merged.count;
    return id != 0 || (ETLHEAP_PUSH(&m->merged, (merged_group){ .key = *key }) &&
                       etlheap_index_add(&m->merged_index, hash, *number + 1));
}

static void merge(merged_group *merged, const aggregator *a, u32 group, u32 head)
{
    const u64 measure = group_measure(a, group);
    const i64 *const measures = aggregate_measures(a, group);
    if (merged->rows == 0 || measure < merged->measure ||
        (measure == merged->measure && head < merged->head)) {
        merged->measure = measure;
        merged->head = head;
    }
    merged->rows++;
    merged->empty += measures[a->query->sort] == 0;
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
    u32 number = 0;
    for (u32 i = 0; ok && i < a->groups.count; i++) {
        const u32 head = m->heads.at[i];
        if (m->is_whole[i]) {
            ok = ETLHEAP_PUSH(&m->rows, (merge_row){ head, i, false });
            continue;
        }
        const group_key key = merged_key(m, i);
        ok = find_merged(m, &key, &number);
        if (ok)
            merge(&m->merged.at[number], a, i, head);
    }
    for (u32 i = 0; ok && i < m->merged.count; i++)
        ok = ETLHEAP_PUSH(&m->rows, (merge_row){ m->merged.at[i].head, i, true });
    return ok;
}

/* Compares rows. With equal measure and head, whole rows come first, in the order of stacks. A head
 * is in one merged group only. */
static int compare_rows(const void *owner, u32 x, u32 y)
{
    const merger *const m = owner;
    const merge_row *const p = &m->rows.at[x], *const q = &m->rows.at[y];
    if (p->head != q->head)
        return p->head < q->head ? -1 : 1;
    if (p->is_merged != q->is_merged)
        return p->is_merged ? 1 : -1;
    return p->is_merged ? 0 : group_compare(m->a, p->number, q->number);
}

static bool add_row(const merger *m, owned_table *out, table_numbers *numbers, const merge_row *row)
{
    group_row group;
    if (!row->is_merged) {
        aggregate_row(m->a, row->number, &group);
        return table_add_group(m->a, out, numbers, &group);
    }
    const merged_group *const merged = &m->merged.at[row->number];
    group = (group_row){ .key = merged->key };
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
            row->is_merged ? m->merged.at[row->number].measure : group_measure(m->a, row->number);
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
