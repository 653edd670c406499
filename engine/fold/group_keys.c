/*
 * group_keys.c - builds the keys of groups for all folds, and keeps groups with their measures.
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

#include "engine/context/pool_heap.h"
#include "engine/query/keys.h"

#define CHAIN_MAX 8u /* groups of a stack that are looked through */

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

etl_status aggregate_count(aggregator *a, etl_error *err)
{
    const u64 bytes = a->groups.capacity * sizeof *a->groups.at +
                      a->measures.capacity * sizeof *a->measures.at +
                      a->by_stack.capacity * sizeof *a->by_stack.at;
    return memory_hold(a->plan.memory, &a->held_bytes, bytes, err);
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
    if (group < a->exclusive.count) {
        out->measures[ETLHEAP_MEASURE_EXCLUSIVE_COUNT] = a->exclusive.at[group].count;
        out->measures[ETLHEAP_MEASURE_EXCLUSIVE_SIZE] = a->exclusive.at[group].size;
    }
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
    return query_selects_frames(a->query) && !frames_wants(&a->frames, stack);
}

/* What a key reads of the number of the heap. Parts have the bits that the whole has. */
static u64 heap_part(const aggregator *a, const block_source *of, key_reads reads)
{
    const logged_names *const names = &a->result->context.logged_names;
    const bool has_type = etlheap_kind_has(of->kind, ETLHEAP_KIND_HAS_OBJECT_TYPE);
    if (reads == KEY_READS_HEAP)
        return of->heap;
    if (reads == KEY_READS_POOL_TAG)
        return pool_heap_tag(of->heap);
    return has_type && logged_names_find(names, of->heap) != NULL ? of->heap : 0;
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
    const u32 stack = frames_finished(&a->frames, resolved);
    key->unwanted = is_unwanted(a, stack);
    key->kind = of->kind;
    for (u32 i = 0; i < a->query->group_by_count; i++) {
        const key_reads reads = (key_reads)key_row_of(a->query->group_by[i])->reads;
        switch (reads) {
        case KEY_READS_PROCESS:
            key->process = a->same_name[of->process];
            break;
        case KEY_READS_HEAP:
        case KEY_READS_POOL_TAG:
        case KEY_READS_OBJECT_TYPE:
            key->heap |= heap_part(a, of, reads);
            key->has_heap |=
                reads == KEY_READS_HEAP && etlheap_kind_has(of->kind, ETLHEAP_KIND_HAS_HEAP);
            break;
        case KEY_READS_TYPE:
            key->type = a->plan.row_types[type];
            break;
        case KEY_READS_STACK:
        case KEY_READS_IMPACT:
        case KEY_READS_FUNCTION:
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
        case KEY_READS_SOURCE_LINE:
            key->source_line = frames_source_line(&a->frames, stack);
            break;
        case KEY_READS_TAG:
            key->tag = stack == 0 ? 0 : a->frames.stacks.at[stack - 1].tag;
            break;
        case KEY_READS_KIND:   /* every row has one */
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

u32 aggregate_thread_name(const aggregator *a, u32 process, u32 thread)
{
    const thread_names *const names = &a->result->thread_names;
    const size_t place = thread_names_place(names, process, thread);
    return place < names->list.count ? a->thread_name_groups[place] : 0;
}

void aggregate_free_key(aggregator *a, u32 resolved, free_key *key)
{
    const etlheap_query *const query = a->query;
    const u32 stack = a->wants_free_stack ? frames_finished(&a->frames, resolved) : 0;
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
