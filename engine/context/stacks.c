/*
 * stacks.c - interns call stacks: each distinct array of addresses is kept once and has an id.
 *
 * In: arrays of return addresses, innermost first. Out: ids from 1; for an id, its addresses.
 *
 * Walking a call tree frame by frame for each of millions of stacks costs a cache miss for each
 * frame. Instead the whole array is hashed and compared with one candidate: two misses in a row,
 * for the slot and for the stack, which many look-ups can overlap. Only a new stack pays for a
 * copy.
 *
 *     hash ──▶ group of slots with tags (tag_groups.h) ──▶ next group, until one has a free slot
 *
 * Groups are small and a quarter of the slots stays free, so few stacks lie outside their first
 * group. Invariant: nothing is ever removed, because a free slot ends a probe. Many threads may
 * look up while nobody adds.
 */
#include "stacks.h"

#include <stdatomic.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/core/machine.h"

#define GROUPS_MIN 4u
#define GROUPS_MAX ((u32)1 << 27)

static bool grow(stack_table *table);

u64 stack_hash(const void *frames, u32 count)
{
    return XXH3_64bits_withSeed(frames, (size_t)count * 8, etlheap_hash_seed());
}

u32 stack_find(const stack_table *table, u64 hash, const void *frames, u32 count)
{
    if (table->groups == NULL)
        return 0;
    for (u32 at = stack_group_of(table, hash);; at = (at + 1) & table->group_mask) {
        const stack_group *const group = &table->groups[at];
        u32 matches = stack_group_match(group, tag_of(hash));
        for (; matches != 0; matches &= matches - 1) {
            const stack_block *const block = group->blocks[__builtin_ctz(matches)];
            if (stack_block_is(block, hash, frames, count))
                return block->id;
        }
        if (stack_group_match(group, TAG_FREE) != 0)
            return 0;
    }
}

/* Puts a stack into the first free slot of its probe. */
static void place(stack_table *table, const stack_block *block)
{
    u32 at = stack_group_of(table, block->hash);
    u32 free_slots;
    while ((free_slots = stack_group_match(&table->groups[at], TAG_FREE)) == 0)
        at = (at + 1) & table->group_mask;
    const u32 slot = (u32)__builtin_ctz(free_slots);
    table->groups[at].tags[slot] = tag_of(block->hash);
    table->groups[at].blocks[slot] = block;
}

bool stack_add(stack_table *table, u64 hash, const void *frames, u32 count, u32 *id)
{
    assert(count > 0 && table->numbers == NULL);
    *id = stack_find(table, hash, frames, count);
    if (*id != 0)
        return true;
    const size_t slots =
        table->groups == NULL ? 0 : (table->group_mask + (size_t)1) * STACK_GROUP_SLOTS;
    if (table->list.count >= STACK_NUMBER_MAX ||
        (table->list.count >= slots / 4 * 3 && !grow(table)))
        return false;
    const size_t bytes = (size_t)count * sizeof(u64);
    stack_block *const block = etlheap_arena_alloc(&table->arena, sizeof *block + bytes);
    if (block == NULL || !ETLHEAP_PUSH(&table->list, (stack_entry){ block->frames, 0, count }))
        return false;
    *id = (u32)table->list.count;
    block->hash = hash;
    block->count = count;
    block->id = *id;
    memcpy(block->frames, frames, bytes);
    place(table, block);
    return true;
}

bool stack_add_copy(stack_table *table, u32 id, u32 *copy)
{
    const stack_entry entry = table->list.at[id - 1];
    *copy = (u32)table->list.count + 1;
    return table->list.count < STACK_NUMBER_MAX && ETLHEAP_PUSH(&table->list, entry);
}

static bool grow(stack_table *table)
{
    const u32 old_count = table->groups == NULL ? 0 : table->group_mask + 1;
    if (old_count >= GROUPS_MAX)
        return false;
    const u32 new_count = old_count == 0 ? GROUPS_MIN : old_count * 2;
    stack_group *const old = table->groups;
    stack_group *const groups = machine_alloc_aligned(sizeof *groups, new_count * sizeof *groups);
    if (groups == NULL)
        return false;
    memset(groups, 0, new_count * sizeof *groups);
    table->groups = groups;
    table->group_mask = new_count - 1;
    for (u32 i = 0; i < old_count; i++) {
        for (u32 slot = 0; slot < STACK_GROUP_SLOTS && old[i].tags[slot] != TAG_FREE; slot++)
            place(table, old[i].blocks[slot]);
    }
    machine_free_aligned(old);
    return true;
}

/* Makes the addresses of all stacks. If several threads do it at once, one result is kept. */
static const u64 *spell_all(const stack_table *table)
{
    _Atomic(u64 *) *const kept = &table->spelling->frames;
    u64 *known = atomic_load(kept);
    if (known != NULL)
        return known;
    u64 *const made = malloc((table->numbered_count + 1) * sizeof *made);
    for (size_t i = 0; made != NULL && i < table->numbered_count; i++)
        made[i] = table->addresses[table->numbers[i]];
    if (made != NULL && !atomic_compare_exchange_strong(kept, &known, made)) {
        free(made);
        return known;
    }
    return made;
}

etlheap_frames stack_spell(const stack_table *table, u32 id)
{
    etlheap_frames frames = stack_get(table, id);
    if (frames.addresses != NULL || table->spelling == NULL)
        return frames;
    const u64 *const all = spell_all(table);
    frames.addresses = all == NULL ? NULL : all + table->list.at[id - 1].first_number;
    frames.count = all == NULL ? 0 : frames.count;
    return frames;
}

void stack_table_move(stack_table *to, stack_table *from)
{
    *to = *from;
    *from = (stack_table){ .groups = NULL };
}

bool stack_table_keep_numbers(stack_table *table)
{
    assert(table->numbers != NULL && table->spelling == NULL);
    table->spelling = calloc(1, sizeof *table->spelling);
    if (table->spelling == NULL)
        return false;
    for (size_t i = 0; i < table->list.count; i++)
        table->list.at[i].frames = NULL;
    etlheap_arena_free(&table->arena);
    machine_free_aligned(table->groups);
    table->groups = NULL;
    u32 *const smaller =
        realloc(table->numbers, (table->numbered_count + 1) * sizeof *table->numbers);
    table->numbers = smaller != NULL ? smaller : table->numbers;
    return true;
}

void stack_table_free(stack_table *table)
{
    etlheap_arena_free(&table->arena);
    machine_free_aligned(table->groups);
    table->groups = NULL;
    ETLHEAP_VECTOR_FREE(&table->list);
    free(table->addresses);
    table->addresses = NULL;
    free(table->numbers);
    table->numbers = NULL;
    if (table->spelling != NULL)
        free(atomic_load(&table->spelling->frames));
    free(table->spelling);
    table->spelling = NULL;
}
