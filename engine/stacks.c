/*
 * stacks.c - the table of distinct stacks.
 *
 * Walking a call tree frame by frame for each of millions of stacks costs a
 * cache miss per frame. Hashing the whole address array once and comparing it
 * with one candidate costs two misses, and only a new stack pays for a copy.
 */
#include "stacks.h"

#include <stdlib.h>

typedef struct stack_key {
    const u64 *frames;
    u32 count;
    u32 hash;
} stack_key;

static bool same_stack(const void *owner, u32 id, const void *key)
{
    const stack_table *const table = owner;
    const stack_key *const wanted = key;
    const stack_entry *const entry = &table->list.at[id - 1];
    return entry->hash == wanted->hash && entry->count == wanted->count &&
           memcmp(entry->frames, wanted->frames, (size_t)wanted->count * 8) == 0;
}

u64 stack_hash(const u64 *frames, u32 count)
{
    return etlheap_hash_bytes(frames, (size_t)count * 8);
}

u32 stack_find(const stack_table *table, u64 hash, const u64 *frames, u32 count)
{
    const stack_key key = { frames, count, (u32)hash };
    return etlheap_index_find(&table->index, hash, same_stack, table, &key);
}

bool stack_add(stack_table *table, u64 hash, const u64 *frames, u32 count, u32 *id)
{
    assert(count > 0);
    *id = stack_find(table, hash, frames, count);
    if (*id != 0)
        return true;
    if (table->list.count >= STACK_NUMBER_MAX)
        return false;
    u64 *const copy = etlheap_arena_alloc(&table->arena, (size_t)count * 8);
    if (copy == NULL)
        return false;
    memcpy(copy, frames, (size_t)count * 8);
    if (!ETLHEAP_PUSH(&table->list, (stack_entry){ copy, count, (u32)hash }))
        return false;
    *id = (u32)table->list.count;
    return etlheap_index_add(&table->index, hash, *id);
}

void stack_table_free(stack_table *table)
{
    etlheap_arena_free(&table->arena);
    etlheap_index_free(&table->index);
    ETLHEAP_VECTOR_FREE(&table->list);
}
