/*
 * stacks.c - the table of distinct stacks.
 *
 * Walking a call tree frame by frame for each of millions of stacks costs a
 * cache miss per frame. Hashing the whole address array once and comparing it
 * with one candidate costs three, which a batch of look-ups can overlap
 * (stack_prefetch_*), and only a new stack pays for a copy.
 *
 * Slots are in groups of sixteen with their tags (tag_groups.h). A probe starts
 * at the group that the hash names and goes on group by group; a group with a
 * free slot ends it. Nothing is ever removed.
 */
#include "stacks.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tag_groups.h"

#define GROUPS_MIN 4u
#define GROUPS_MAX ((u32)1 << 27)

typedef struct stack_group {
    u8 tags[TAG_GROUP_SIZE];
    u32 ids[TAG_GROUP_SIZE];
} stack_group;

static bool grow(stack_table *table);

u64 stack_hash(const void *frames, u32 count)
{
    return XXH3_64bits(frames, (size_t)count * 8);
}

static inline u32 group_of(const stack_table *table, u64 hash)
{
    return (u32)(hash >> 8) & table->group_mask;
}

u32 stack_find(const stack_table *table, u64 hash, const void *frames, u32 count)
{
    if (table->groups == NULL)
        return 0;
    for (u32 at = group_of(table, hash);; at = (at + 1) & table->group_mask) {
        const stack_group *const group = &table->groups[at];
        u32 matches = tag_match(group->tags, tag_of(hash));
        for (; matches != 0; matches &= matches - 1) {
            const u32 id = group->ids[__builtin_ctz(matches)];
            const stack_entry *const entry = &table->list.at[id - 1];
            if (entry->hash == hash && entry->count == count &&
                memcmp(entry->frames, frames, (size_t)count * 8) == 0)
                return id;
        }
        if (tag_match(group->tags, TAG_FREE) != 0)
            return 0;
    }
}

void stack_prefetch_slots(const stack_table *table, u64 hash)
{
    if (table->groups == NULL)
        return;
    const stack_group *const group = &table->groups[group_of(table, hash)];
    __builtin_prefetch(group->tags);
    __builtin_prefetch(&group->ids[TAG_GROUP_SIZE - 1]);
}

/* The entry the look-up will try first; NULL when the group has none. */
static inline const stack_entry *first_candidate(const stack_table *table, u64 hash)
{
    if (table->groups == NULL)
        return NULL;
    const stack_group *const group = &table->groups[group_of(table, hash)];
    const u32 matches = tag_match(group->tags, tag_of(hash));
    return matches == 0 ? NULL : &table->list.at[group->ids[__builtin_ctz(matches)] - 1];
}

void stack_prefetch_entry(const stack_table *table, u64 hash)
{
    const stack_entry *const entry = first_candidate(table, hash);
    if (entry != NULL)
        __builtin_prefetch(entry);
}

void stack_prefetch_frames(const stack_table *table, u64 hash)
{
    const stack_entry *const entry = first_candidate(table, hash);
    if (entry == NULL || entry->hash != hash)
        return;
    const u8 *const frames = (const u8 *)entry->frames;
    for (u32 offset = 0; offset < entry->count * 8; offset += 64)
        __builtin_prefetch(frames + offset);
}

static void place(stack_group *groups, u32 mask, u64 hash, u32 id)
{
    for (u32 at = (u32)(hash >> 8) & mask;; at = (at + 1) & mask) {
        const u32 free_slots = tag_match(groups[at].tags, TAG_FREE);
        if (free_slots == 0)
            continue;
        const u32 slot = (u32)__builtin_ctz(free_slots);
        groups[at].tags[slot] = tag_of(hash);
        groups[at].ids[slot] = id;
        return;
    }
}

bool stack_add(stack_table *table, u64 hash, const void *frames, u32 count, u32 *id)
{
    assert(count > 0);
    *id = stack_find(table, hash, frames, count);
    if (*id != 0)
        return true;
    const size_t slots = table->groups == NULL ? 0 : (table->group_mask + (size_t)1) * 16;
    if (table->list.count >= STACK_NUMBER_MAX ||
        (table->list.count + 1 > slots / 8 * 7 && !grow(table)))
        return false;
    u64 *const copy = etlheap_arena_alloc(&table->arena, (size_t)count * 8);
    if (copy == NULL)
        return false;
    memcpy(copy, frames, (size_t)count * 8);
    if (!ETLHEAP_PUSH(&table->list, (stack_entry){ copy, hash, count }))
        return false;
    *id = (u32)table->list.count;
    place(table->groups, table->group_mask, hash, *id);
    return true;
}

static bool grow(stack_table *table)
{
    const u32 old_count = table->groups == NULL ? 0 : table->group_mask + 1;
    if (old_count >= GROUPS_MAX)
        return false;
    const u32 new_count = old_count == 0 ? GROUPS_MIN : old_count * 2;
    stack_group *const groups = calloc(new_count, sizeof *groups);
    if (groups == NULL)
        return false;
    for (u32 id = 1; id <= table->list.count; id++)
        place(groups, new_count - 1, table->list.at[id - 1].hash, id);
    free(table->groups);
    table->groups = groups;
    table->group_mask = new_count - 1;
    return true;
}

void stack_table_free(stack_table *table)
{
    etlheap_arena_free(&table->arena);
    free(table->groups);
    table->groups = NULL;
    ETLHEAP_VECTOR_FREE(&table->list);
}
