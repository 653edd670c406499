/*
 * deferred.c - holds references to stacks that are not known yet, and settles them when they are.
 *
 * In: per slice, definitions of stack keys and references to keys; kernel and user halves to
 * join; stacks of foreign processes. Out: at the end, a stack id for each node.
 *
 * A reference either finds a later definition in its own slice, or shares the node that its key
 * holds open. Invariant: a key has at most one open node, and a definition settles exactly the
 * references before it. A node that nothing settles is the unknown stack.
 */
#include "deferred.h"

#include <stdlib.h>

#include "engine/context/context.h"

static void settle_open_keys(deferred_stacks *deferred);
static const key_definition *definition_after(const deferred_stacks *deferred, u64 key,
                                              bool is_kernel, i64 ticks);

static int compare_key(u64 key_a, bool kernel_a, u64 key_b, bool kernel_b)
{
    if (key_a != key_b)
        return key_a < key_b ? -1 : 1;
    return (int)kernel_a - (int)kernel_b;
}

static int by_key_and_time(const void *a, const void *b)
{
    const key_definition *const x = a, *const y = b;
    const int order = compare_key(x->key, x->is_kernel, y->key, y->is_kernel);
    if (order != 0)
        return order;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static u64 hash_key(u64 key, bool is_kernel)
{
    return etlheap_hash_u64(key ^ (is_kernel ? UINT64_C(0x8000000000000001) : 0));
}

static u32 filter_bit(u64 hash)
{
    return (u32)hash % DEFERRED_FILTER_BITS;
}

bool deferred_define(deferred_stacks *deferred, key_definition *definitions, size_t count)
{
    if (count > 0)
        qsort(definitions, count, sizeof *definitions, by_key_and_time);
    deferred->definitions = definitions;
    deferred->definition_count = count;
    memset(deferred->may_define, 0, sizeof deferred->may_define);
    for (size_t i = 0; i < count; i++) {
        const u32 bit = filter_bit(hash_key(definitions[i].key, definitions[i].is_kernel));
        deferred->may_define[bit / 64] |= (u64)1 << (bit % 64);
    }
    settle_open_keys(deferred);
    return true;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const deferred_stacks *const deferred = owner;
    const open_key *const a = &deferred->keys.at[id - 1], *const b = key;
    return a->key == b->key && a->is_kernel == b->is_kernel;
}

static u32 find_key(const deferred_stacks *deferred, u64 key, bool is_kernel)
{
    const open_key wanted = { .key = key, .is_kernel = is_kernel };
    return etlheap_index_find(&deferred->key_index, hash_key(key, is_kernel), same_key, deferred,
                              &wanted);
}

/* Settles references of earlier slices by the first definition of this slice. */
static void settle_open_keys(deferred_stacks *deferred)
{
    for (size_t i = 0; i < deferred->definition_count; i++) {
        const key_definition *const row = &deferred->definitions[i];
        const bool is_first =
            i == 0 || compare_key(row[-1].key, row[-1].is_kernel, row->key, row->is_kernel) != 0;
        const u32 id = is_first ? find_key(deferred, row->key, row->is_kernel) : 0;
        if (id == 0)
            continue;
        open_key *const open = &deferred->keys.at[id - 1];
        if (open->node != 0)
            deferred->nodes.at[open->node - 1].first = row->stack;
        deferred->keys_resolved += open->uses;
        deferred->passed.resolved += open->passed;
        open->node = 0;
        open->uses = open->passed = 0;
    }
}

static bool add_node(deferred_stacks *deferred, deferred_node node, u32 *id)
{
    if (deferred->nodes.count >= STACK_NUMBER_MAX || !ETLHEAP_PUSH(&deferred->nodes, node))
        return false;
    *id = (u32)deferred->nodes.count;
    return true;
}

void deferred_fetch_place(const deferred_stacks *deferred, u64 key)
{
    etlheap_index_prefetch(&deferred->key_index, hash_key(key, false));
}

void deferred_fetch_key(const deferred_stacks *deferred, u64 key)
{
    const u32 id = etlheap_index_peek(&deferred->key_index, hash_key(key, false));
    if (id != 0)
        __builtin_prefetch(&deferred->keys.at[id - 1]);
}

/* The key's first definition in the slice at or after the time; NULL if none. */
static const key_definition *definition_here(const deferred_stacks *deferred, u64 key,
                                             bool is_kernel, i64 ticks)
{
    const u32 bit = filter_bit(hash_key(key, is_kernel));
    const bool may_be_here = (deferred->may_define[bit / 64] >> (bit % 64) & 1) != 0;
    return may_be_here ? definition_after(deferred, key, is_kernel, ticks) : NULL;
}

/* NULL without memory. */
static open_key *open_key_of(deferred_stacks *deferred, u64 key, bool is_kernel)
{
    u32 id = find_key(deferred, key, is_kernel);
    if (id == 0) {
        if (deferred->keys.count >= UINT32_MAX - 1 ||
            !ETLHEAP_PUSH(&deferred->keys, (open_key){ .key = key, .is_kernel = is_kernel }))
            return NULL;
        id = (u32)deferred->keys.count;
        if (!etlheap_index_add(&deferred->key_index, hash_key(key, is_kernel), id))
            return NULL;
    }
    return &deferred->keys.at[id - 1];
}

/* The node that a later definition of the key settles; NULL without memory. */
static open_key *open_node_of(deferred_stacks *deferred, u64 key, bool is_kernel)
{
    open_key *const open = open_key_of(deferred, key, is_kernel);
    if (open == NULL || (open->node == 0 && !add_node(deferred, (deferred_node){ 0 }, &open->node)))
        return NULL;
    return open;
}

bool deferred_use(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks, stack_ref *out)
{
    deferred->keys_referenced++;
    const key_definition *const found = definition_here(deferred, key, is_kernel, ticks);
    if (found != NULL) {
        deferred->keys_resolved++;
        *out = found->stack;
        return true;
    }
    open_key *const open = open_node_of(deferred, key, is_kernel);
    if (open == NULL)
        return false;
    open->uses++;
    *out = STACK_TAG_DEFERRED | open->node;
    return true;
}

bool deferred_use_again(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks,
                        stack_ref *out)
{
    const key_definition *const found = definition_here(deferred, key, is_kernel, ticks);
    const open_key *const open = found != NULL ? NULL : open_node_of(deferred, key, is_kernel);
    if (found == NULL && open == NULL)
        return false;
    *out = found != NULL ? found->stack : STACK_TAG_DEFERRED | open->node;
    return true;
}

bool deferred_pass(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks)
{
    if (!deferred->counts_passed)
        return true;
    deferred->passed.referenced++;
    if (definition_here(deferred, key, is_kernel, ticks) != NULL) {
        deferred->passed.resolved++;
        return true;
    }
    open_key *const open = open_key_of(deferred, key, is_kernel);
    if (open == NULL)
        return false;
    open->passed++;
    return true;
}

static const key_definition *definition_after(const deferred_stacks *deferred, u64 key,
                                              bool is_kernel, i64 ticks)
{
    size_t low = 0, high = deferred->definition_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const key_definition *const row = &deferred->definitions[middle];
        const int order = compare_key(row->key, row->is_kernel, key, is_kernel);
        if (order < 0 || (order == 0 && row->ticks < ticks))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == deferred->definition_count)
        return NULL;
    const key_definition *const row = &deferred->definitions[low];
    return row->key == key && row->is_kernel == is_kernel ? row : NULL;
}

static bool same_pair(const void *owner, u32 id, const void *key)
{
    const deferred_stacks *const deferred = owner;
    const deferred_node *const a = &deferred->nodes.at[id - 1], *const b = key;
    return a->is_pair == b->is_pair && a->process == b->process && a->first == b->first &&
           a->second == b->second;
}

/* Makes a reference to a node, or finds an equal node. */
static bool intern_node(deferred_stacks *deferred, const deferred_node *node, stack_ref *out)
{
    const u64 parts = (u64)node->first << 32 | node->second;
    const u64 hash = etlheap_hash_u64(parts ^ (u64)node->process << 16);
    u32 id = etlheap_index_find(&deferred->pair_index, hash, same_pair, deferred, node);
    if (id == 0 &&
        (!add_node(deferred, *node, &id) || !etlheap_index_add(&deferred->pair_index, hash, id)))
        return false;
    *out = STACK_TAG_DEFERRED | id;
    return true;
}

bool deferred_pair(deferred_stacks *deferred, stack_ref kernel, stack_ref user, stack_ref *out)
{
    *out = kernel == STACK_NONE ? user : kernel;
    if (kernel == STACK_NONE || user == STACK_NONE)
        return true;
    const deferred_node pair = { .first = kernel, .second = user, .is_pair = true };
    return intern_node(deferred, &pair, out);
}

bool deferred_foreign(deferred_stacks *deferred, stack_ref stack, u32 pid, i64 ticks,
                      stack_ref *out)
{
    *out = stack;
    if (stack == STACK_NONE || deferred->context == NULL)
        return true;
    if (!context_ensure(deferred->context, pid, ticks, ticks))
        return false;
    const deferred_node foreign = {
        .first = stack,
        .second = context_image_epoch(deferred->context, pid, ticks).number,
        .process = context_process_at(deferred->context, pid, ticks),
        .ticks = ticks,
    };
    return intern_node(deferred, &foreign, out);
}

/* The stack of a part. Parts of a pair are stacks or keys, never pairs, so one step is enough. */
static u32 part_id(const deferred_stacks *deferred, stack_ref ref)
{
    if ((ref & STACK_TAG_MASK) != STACK_TAG_DEFERRED)
        return ref;
    const deferred_node *const node = &deferred->nodes.at[(ref & STACK_NUMBER_MAX) - 1];
    assert(!node->is_pair);
    return node->first;
}

static bool join_parts(stack_table *stacks, u32 kernel, u32 user, u32 *id)
{
    *id = kernel == 0 ? user : kernel;
    if (kernel == 0 || user == 0)
        return true;
    u64 frames[2 * STACK_FRAMES_MAX];
    const etlheap_frames inner = stack_get(stacks, kernel);
    const etlheap_frames outer = stack_get(stacks, user);
    const u32 count = inner.count + outer.count;
    assert(count <= ETL_COUNT_OF(frames));
    memcpy(frames, inner.addresses, (size_t)inner.count * 8);
    memcpy(frames + inner.count, outer.addresses, (size_t)outer.count * 8);
    return stack_add(stacks, stack_hash(frames, count), frames, count, id);
}

/* Adds stacks of foreign processes. Their ids come last and are consecutive. */
static bool add_foreign(deferred_stacks *deferred, stack_table *stacks, u32 *ids)
{
    for (size_t i = 0; i < deferred->nodes.count; i++) {
        const deferred_node *const node = &deferred->nodes.at[i];
        const bool is_node = (node->first & STACK_TAG_MASK) == STACK_TAG_DEFERRED;
        const u32 stack = is_node ? ids[node->first & STACK_NUMBER_MAX] : node->first;
        if (node->process == 0 || stack == 0)
            continue;
        foreign_stack row = { .process = node->process, .ticks = node->ticks };
        if (!stack_add_copy(stacks, stack, &row.stack) || !ETLHEAP_PUSH(&deferred->foreign, row))
            return false;
        ids[i + 1] = row.stack;
    }
    return true;
}

static bool add_parts(const deferred_stacks *deferred, stack_table *stacks, u32 *ids)
{
    for (size_t i = 0; i < deferred->nodes.count; i++) {
        const deferred_node *const node = &deferred->nodes.at[i];
        if (node->process == 0 && !join_parts(stacks, part_id(deferred, node->first),
                                              part_id(deferred, node->second), &ids[i + 1]))
            return false;
    }
    return true;
}

bool deferred_finish(deferred_stacks *deferred, stack_table *stacks, u32 **ids, u64 *unresolved)
{
    *unresolved = 0;
    *ids = calloc(deferred->nodes.count + 1, sizeof **ids);
    if (*ids == NULL)
        return false;
    for (size_t i = 0; i < deferred->keys.count; i++)
        *unresolved += deferred->keys.at[i].uses; /* of keys that are still open */
    if (add_parts(deferred, stacks, *ids) && add_foreign(deferred, stacks, *ids))
        return true;
    free(*ids);
    *ids = NULL;
    return false;
}

void deferred_free(deferred_stacks *deferred)
{
    ETLHEAP_VECTOR_FREE(&deferred->nodes);
    ETLHEAP_VECTOR_FREE(&deferred->keys);
    ETLHEAP_VECTOR_FREE(&deferred->foreign);
    etlheap_index_free(&deferred->key_index);
    etlheap_index_free(&deferred->pair_index);
}
