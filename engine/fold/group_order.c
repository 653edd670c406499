/*
 * group_order.c - puts groups into the order of a table's rows.
 *
 * In: groups with keys and measures. Out: a.order, an array of groups.
 *
 * Rows are sorted by the measure asked for, then by their keys in the order of columns. That order
 * is total and the same however groups were numbered.
 *
 *     1. keys before the stack have few values: number them in order
 *     2. that number and the stack's two innermost frames, or the frame, make one that nearly
 *        always decides
 *     3. sort by keys, then, stably, by measure
 *
 * Invariant: the second sort must be stable, because ties keep the order of the first.
 */
#include <stdlib.h>

#include "engine/core/digit_sort.h"
#include "engine/names/symbols.h"
#include "engine/query/keys.h"
#include "group_rows.h"

/* Without a stack among the keys, the frame comes next. */
static u64 prefix_of(const aggregator *a, bool by_frame, const group_key *key)
{
    return by_frame ? frames_prefix_of_frame(&a->frames, key->frame)
                    : frames_prefix(&a->frames, key->stack);
}

u32 *group_order(const aggregator *a)
{
    const bool by_frame = query_reads(a->query, KEY_READS(FRAME) | KEY_READS(FUNCTION)) &&
                          !query_reads(a->query, KEY_READS(STACK) | KEY_READS(IMPACT));
    const size_t count = a->groups.count;
    group_heads heads = { .at = NULL };
    digit_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    u32 *const order = malloc((count + 1) * sizeof *order);
    const bool ok =
        rows != NULL && order != NULL && count < UINT32_MAX && group_heads_open(&heads, a);
    for (u32 i = 0; ok && i < count; i++) {
        rows[i] = (digit_row){ prefix_of(a, by_frame, &a->groups.at[i].key), heads.at[i], i };
    }
    free(heads.at);
    if (ok) {
        digit_row *const by_keys = digit_sort(rows, rows + count, count, group_compare, a);
        digit_row *const scratch = by_keys == rows ? rows + count : rows;
        for (size_t i = 0; i < count; i++) {
            by_keys[i].low = group_measure(a, by_keys[i].id);
            by_keys[i].high = a->ranks == NULL ? 0 : ~a->ranks[by_keys[i].id];
        }
        const digit_row *const sorted = digit_sort(by_keys, scratch, count, NULL, NULL);
        for (size_t i = 0; i < count; i++)
            order[i] = sorted[i].id;
    }
    free(rows);
    if (ok)
        return order;
    free(order);
    return NULL;
}

u64 group_measure(const aggregator *a, u32 group)
{
    const etlheap_measure sort = a->query->sort;
    const i64 value = sort == ETLHEAP_MEASURE_EXCLUSIVE_COUNT  ? a->exclusive.at[group].count
                      : sort == ETLHEAP_MEASURE_EXCLUSIVE_SIZE ? a->exclusive.at[group].size
                                                               : aggregate_measures(a, group)[sort];
    const u64 ascending = (u64)value ^ (u64)1 << 63;
    return a->query->sort_ascending ? ascending : ~ascending;
}

const char *group_module_name(const aggregator *a, u32 module)
{
    return module == 0 ? NULL : a->result->modules.list.at[module - 1].name;
}

const char *group_type_name(const aggregator *a, u32 type)
{
    return type == 0 ? "unknown" : symbols_text(a->query->symbols, type);
}

const char *group_source_line(const aggregator *a, u32 line)
{
    return line == 0 ? NULL : symbols_text(a->query->symbols, line);
}

const char *group_tag_name(const aggregator *a, u32 tag)
{
    return tag == 0 ? NULL : etlheap_strings_get(&a->query->tags->strings, tag);
}

const char *group_thread_name(const aggregator *a, u32 name)
{
    return name == 0 ? NULL : a->result->thread_names.list.at[name - 1].name;
}

static int compare_i64(i64 x, i64 y)
{
    return (x > y) - (x < y);
}

static int compare_text(const char *x, const char *y)
{
    return strcmp(x == NULL ? "" : x, y == NULL ? "" : y);
}

static int compare_free_keys(const aggregator *a, const group_key *x, const group_key *y)
{
    int order = frames_compare_stacks(&a->frames, x->free_stack, y->free_stack);
    if (order == 0 && x->free_frame != y->free_frame)
        order = frames_compare(&a->frames, x->free_frame, y->free_frame);
    if (order == 0)
        order = compare_text(group_module_name(a, x->free_module),
                             group_module_name(a, y->free_module));
    return order == 0 ? compare_i64(x->free_thread, y->free_thread) : order;
}

/* Compares two keys column by column. */
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
        order = compare_text(group_module_name(a, x->module), group_module_name(a, y->module));
    if (order == 0)
        order = compare_i64(x->thread, y->thread);
    if (order == 0)
        order = (int)x->size_class - (int)y->size_class;
    if (order == 0 && x->type_name != y->type_name)
        order = strcmp(group_type_name(a, x->type_name), group_type_name(a, y->type_name));
    if (order == 0 && x->source_line != y->source_line)
        order = compare_text(group_source_line(a, x->source_line),
                             group_source_line(a, y->source_line));
    if (order == 0 && x->tag != y->tag)
        order = compare_text(group_tag_name(a, x->tag), group_tag_name(a, y->tag));
    if (order == 0 && x->thread_name != y->thread_name)
        order = compare_text(group_thread_name(a, x->thread_name),
                             group_thread_name(a, y->thread_name));
    if (order == 0)
        order = compare_i64(x->generation, y->generation);
    return order == 0 ? compare_free_keys(a, x, y) : order;
}

int group_compare(const void *owner, u32 x, u32 y)
{
    const aggregator *const a = owner;
    return compare_keys(a, &a->groups.at[x].key, &a->groups.at[y].key);
}

/* The distinct heads of keys: all keys before the stack. */
typedef struct key_heads {
    const aggregator *a;
    ETLHEAP_VECTOR(group_key) list;
    etlheap_index index;
} key_heads;

static bool same_key(const void *owner, u32 id, const void *key)
{
    const key_heads *const heads = owner;
    return memcmp(&heads->list.at[id - 1], key, sizeof(group_key)) == 0;
}

static int compare_heads(const void *owner, u32 x, u32 y)
{
    const key_heads *const heads = owner;
    return compare_keys(heads->a, &heads->list.at[x], &heads->list.at[y]);
}

/* Finds or adds the head of a key. Neighbours mostly have the same one. */
static bool find_head(key_heads *heads, const group_key *key, u32 last, u32 *number)
{
    group_key head;
    memset(&head, 0, sizeof head);
    head.heap = key->heap;
    head.process = key->process;
    head.kind = key->kind;
    head.type = key->type;
    head.free_type = key->free_type;
    head.has_heap = key->has_heap;
    *number = last;
    if (heads->list.count > 0 && same_key(heads, last + 1, &head))
        return true;
    const u64 hash = etlheap_hash_bytes(&head, sizeof head);
    u32 id = etlheap_index_find(&heads->index, hash, same_key, heads, &head);
    if (id == 0) {
        id = (u32)heads->list.count + 1;
        if (!ETLHEAP_PUSH(&heads->list, head) || !etlheap_index_add(&heads->index, hash, id))
            return false;
    }
    *number = id - 1;
    return true;
}

/* places[number] is the place of a head among all. */
static u32 *sort_heads(const key_heads *heads)
{
    const size_t count = heads->list.count;
    digit_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    u32 *const places = malloc((count + 1) * sizeof *places);
    const bool ok = rows != NULL && places != NULL;
    for (u32 i = 0; ok && i < count; i++)
        rows[i] = (digit_row){ .id = i };
    const digit_row *const sorted =
        ok ? digit_sort(rows, rows + count, count, compare_heads, heads) : NULL;
    for (u32 i = 0; ok && i < count; i++)
        places[sorted[i].id] = i;
    free(rows);
    if (ok)
        return places;
    free(places);
    return NULL;
}

bool group_heads_open(group_heads *out, const aggregator *a)
{
    const size_t count = a->groups.count;
    key_heads heads = { .a = a };
    u32 last = 0;
    *out = (group_heads){ .at = malloc((count + 1) * sizeof *out->at) };
    bool ok = out->at != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        ok = find_head(&heads, &a->groups.at[i].key, last, &last);
        out->at[i] = last;
    }
    u32 *const places = ok ? sort_heads(&heads) : NULL;
    for (size_t i = 0; places != NULL && i < count; i++)
        out->at[i] = places[out->at[i]];
    out->count = (u32)heads.list.count;
    ok = places != NULL;
    free(places);
    ETLHEAP_VECTOR_FREE(&heads.list);
    etlheap_index_free(&heads.index);
    return ok;
}
