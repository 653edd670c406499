/*
 * keyed.c - holds references to stacks that are not known yet, and resolves them when they are.
 *
 * In: per slice, definitions of stack keys and references to keys; kernel and user halves to
 * join; stacks of foreign processes. Out: at the end, a stack id for each node.
 *
 * A reference either finds a later definition in its own slice, or shares the node that its key
 * holds open. Invariant: a key has at most one open node, and a definition resolves exactly the
 * references before it. A node that nothing resolves is the unknown stack.
 */
#include "keyed.h"

#include <stdlib.h>

#include "engine/context/context.h"

static void resolve_open_keys(keyed_stacks *keyed);
static const key_definition *definition_after(const keyed_stacks *keyed, u64 key, bool is_kernel,
                                              i64 ticks);

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
    return (u32)hash % KEYED_FILTER_BITS;
}

bool keyed_define(keyed_stacks *keyed, key_definition *definitions, size_t count)
{
    if (count > 0)
        qsort(definitions, count, sizeof *definitions, by_key_and_time);
    keyed->definitions = definitions;
    keyed->definition_count = count;
    memset(keyed->may_define, 0, sizeof keyed->may_define);
    for (size_t i = 0; i < count; i++) {
        const u32 bit = filter_bit(hash_key(definitions[i].key, definitions[i].is_kernel));
        keyed->may_define[bit / 64] |= (u64)1 << (bit % 64);
    }
    resolve_open_keys(keyed);
    return true;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const keyed_stacks *const keyed = owner;
    const open_key *const a = &keyed->keys.at[id - 1], *const b = key;
    return a->key == b->key && a->is_kernel == b->is_kernel;
}

static u32 find_key(const keyed_stacks *keyed, u64 key, bool is_kernel)
{
    const open_key wanted = { .key = key, .is_kernel = is_kernel };
    return etlheap_index_find(&keyed->key_index, hash_key(key, is_kernel), same_key, keyed,
                              &wanted);
}

/* Resolves references of earlier slices by the first definition of this slice. */
static void resolve_open_keys(keyed_stacks *keyed)
{
    for (size_t i = 0; i < keyed->definition_count; i++) {
        const key_definition *const row = &keyed->definitions[i];
        const bool is_first =
            i == 0 || compare_key(row[-1].key, row[-1].is_kernel, row->key, row->is_kernel) != 0;
        const u32 id = is_first ? find_key(keyed, row->key, row->is_kernel) : 0;
        if (id == 0)
            continue;
        open_key *const open = &keyed->keys.at[id - 1];
        if (open->node != 0)
            keyed->nodes.at[open->node - 1].first = row->stack;
        keyed->keys_resolved += open->uses;
        keyed->passed.resolved += open->passed;
        open->node = 0;
        open->uses = open->passed = 0;
    }
}

static bool add_node(keyed_stacks *keyed, keyed_node node, u32 *id)
{
    if (keyed->nodes.count >= STACK_NUMBER_MAX || !ETLHEAP_PUSH(&keyed->nodes, node))
        return false;
    *id = (u32)keyed->nodes.count;
    return true;
}

void keyed_fetch_place(const keyed_stacks *keyed, u64 key)
{
    etlheap_index_prefetch(&keyed->key_index, hash_key(key, false));
}

void keyed_fetch_key(const keyed_stacks *keyed, u64 key)
{
    const u32 id = etlheap_index_peek(&keyed->key_index, hash_key(key, false));
    if (id != 0)
        __builtin_prefetch(&keyed->keys.at[id - 1]);
}

/* The key's first definition in the slice at or after the time; NULL if none. */
static const key_definition *definition_here(const keyed_stacks *keyed, u64 key, bool is_kernel,
                                             i64 ticks)
{
    const u32 bit = filter_bit(hash_key(key, is_kernel));
    const bool may_be_here = (keyed->may_define[bit / 64] >> (bit % 64) & 1) != 0;
    return may_be_here ? definition_after(keyed, key, is_kernel, ticks) : NULL;
}

/* NULL without memory. */
static open_key *open_key_of(keyed_stacks *keyed, u64 key, bool is_kernel)
{
    u32 id = find_key(keyed, key, is_kernel);
    if (id == 0) {
        if (keyed->keys.count >= UINT32_MAX - 1 ||
            !ETLHEAP_PUSH(&keyed->keys, (open_key){ .key = key, .is_kernel = is_kernel }))
            return NULL;
        id = (u32)keyed->keys.count;
        if (!etlheap_index_add(&keyed->key_index, hash_key(key, is_kernel), id))
            return NULL;
    }
    return &keyed->keys.at[id - 1];
}

/* The node that a later definition of the key resolves; NULL without memory. */
static open_key *open_node_of(keyed_stacks *keyed, u64 key, bool is_kernel)
{
    open_key *const open = open_key_of(keyed, key, is_kernel);
    if (open == NULL || (open->node == 0 && !add_node(keyed, (keyed_node){ 0 }, &open->node)))
        return NULL;
    return open;
}

bool keyed_use(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks, stack_ref *out)
{
    keyed->keys_referenced++;
    const key_definition *const found = definition_here(keyed, key, is_kernel, ticks);
    if (found != NULL) {
        keyed->keys_resolved++;
        *out = found->stack;
        return true;
    }
    open_key *const open = open_node_of(keyed, key, is_kernel);
    if (open == NULL)
        return false;
    open->uses++;
    *out = STACK_TAG_KEYED | open->node;
    return true;
}

bool keyed_use_again(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks, stack_ref *out)
{
    const key_definition *const found = definition_here(keyed, key, is_kernel, ticks);
    const open_key *const open = found != NULL ? NULL : open_node_of(keyed, key, is_kernel);
    if (found == NULL && open == NULL)
        return false;
    *out = found != NULL ? found->stack : STACK_TAG_KEYED | open->node;
    return true;
}

bool keyed_pass(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks)
{
    if (!keyed->counts_passed)
        return true;
    keyed->passed.referenced++;
    if (definition_here(keyed, key, is_kernel, ticks) != NULL) {
        keyed->passed.resolved++;
        return true;
    }
    open_key *const open = open_key_of(keyed, key, is_kernel);
    if (open == NULL)
        return false;
    open->passed++;
    return true;
}

static bool is_before(const key_definition *row, u64 key, bool is_kernel, i64 ticks)
{
    const int order = compare_key(row->key, row->is_kernel, key, is_kernel);
    return order < 0 || (order == 0 && row->ticks < ticks);
}

static const key_definition *definition_after(const keyed_stacks *keyed, u64 key, bool is_kernel,
                                              i64 ticks)
{
    size_t at;
    ETL_BISECT(at, 0, keyed->definition_count,
               is_before(&keyed->definitions[at], key, is_kernel, ticks));
    if (at == keyed->definition_count)
        return NULL;
    const key_definition *const row = &keyed->definitions[at];
    return row->key == key && row->is_kernel == is_kernel ? row : NULL;
}

static bool same_pair(const void *owner, u32 id, const void *key)
{
    const keyed_stacks *const keyed = owner;
    const keyed_node *const a = &keyed->nodes.at[id - 1], *const b = key;
    return a->is_pair == b->is_pair && a->process == b->process && a->first == b->first &&
           a->second == b->second;
}

/* Makes a reference to a node, or finds an equal node. */
static bool intern_node(keyed_stacks *keyed, const keyed_node *node, stack_ref *out)
{
    const u64 parts = (u64)node->first << 32 | node->second;
    const u64 hash = etlheap_hash_u64(parts ^ (u64)node->process << 16);
    u32 id = etlheap_index_find(&keyed->pair_index, hash, same_pair, keyed, node);
    if (id == 0 &&
        (!add_node(keyed, *node, &id) || !etlheap_index_add(&keyed->pair_index, hash, id)))
        return false;
    *out = STACK_TAG_KEYED | id;
    return true;
}

bool keyed_pair(keyed_stacks *keyed, stack_ref kernel, stack_ref user, stack_ref *out)
{
    *out = kernel == STACK_NONE ? user : kernel;
    if (kernel == STACK_NONE || user == STACK_NONE)
        return true;
    const keyed_node pair = { .first = kernel, .second = user, .is_pair = true };
    return intern_node(keyed, &pair, out);
}

bool keyed_foreign(keyed_stacks *keyed, stack_ref stack, u32 pid, i64 ticks, stack_ref *out)
{
    *out = stack;
    if (stack == STACK_NONE || keyed->context == NULL)
        return true;
    if (!context_ensure(keyed->context, pid, ticks, ticks))
        return false;
    const keyed_node foreign = {
        .first = stack,
        .second = context_image_epoch(keyed->context, pid, ticks).number,
        .process = context_process_at(keyed->context, pid, ticks),
        .ticks = ticks,
    };
    return intern_node(keyed, &foreign, out);
}

/* The stack of a part. Parts of a pair are stacks or keys, never pairs, so one step is enough. */
static u32 part_id(const keyed_stacks *keyed, stack_ref ref)
{
    if ((ref & STACK_TAG_MASK) != STACK_TAG_KEYED)
        return ref;
    const keyed_node *const node = &keyed->nodes.at[(ref & STACK_NUMBER_MAX) - 1];
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
static bool add_foreign(keyed_stacks *keyed, stack_table *stacks, u32 *ids)
{
    for (size_t i = 0; i < keyed->nodes.count; i++) {
        const keyed_node *const node = &keyed->nodes.at[i];
        const bool is_node = (node->first & STACK_TAG_MASK) == STACK_TAG_KEYED;
        const u32 stack = is_node ? ids[node->first & STACK_NUMBER_MAX] : node->first;
        if (node->process == 0 || stack == 0)
            continue;
        foreign_stack row = { .process = node->process, .ticks = node->ticks };
        if (!stack_add_copy(stacks, stack, &row.stack) || !ETLHEAP_PUSH(&keyed->foreign, row))
            return false;
        ids[i + 1] = row.stack;
    }
    return true;
}

static bool add_parts(const keyed_stacks *keyed, stack_table *stacks, u32 *ids)
{
    for (size_t i = 0; i < keyed->nodes.count; i++) {
        const keyed_node *const node = &keyed->nodes.at[i];
        if (node->process == 0 && !join_parts(stacks, part_id(keyed, node->first),
                                              part_id(keyed, node->second), &ids[i + 1]))
            return false;
    }
    return true;
}

bool keyed_finish(keyed_stacks *keyed, stack_table *stacks, u32 **ids, u64 *unresolved)
{
    *unresolved = 0;
    *ids = calloc(keyed->nodes.count + 1, sizeof **ids);
    if (*ids == NULL)
        return false;
    for (size_t i = 0; i < keyed->keys.count; i++)
        *unresolved += keyed->keys.at[i].uses; /* of keys that are still open */
    if (add_parts(keyed, stacks, *ids) && add_foreign(keyed, stacks, *ids))
        return true;
    free(*ids);
    *ids = NULL;
    return false;
}

void keyed_free(keyed_stacks *keyed)
{
    ETLHEAP_VECTOR_FREE(&keyed->nodes);
    ETLHEAP_VECTOR_FREE(&keyed->keys);
    ETLHEAP_VECTOR_FREE(&keyed->foreign);
    etlheap_index_free(&keyed->key_index);
    etlheap_index_free(&keyed->pair_index);
}
