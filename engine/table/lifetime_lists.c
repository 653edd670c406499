/*
 * lifetime_lists.c - packs the lifetimes of groups into chains of chunks. lifetime_lists.h draws a
 * lifetime.
 *
 * In: lifetimes in ns, group by group in any order. Out: readers over each group's lifetimes,
 * newest chunk first. Invariant: whoever reads must not care for the order.
 */
#include "lifetime_lists.h"

#include <stdlib.h>

/* A group's first chunk is small, as most groups have few lifetimes. */
#define CHUNK_BYTES_MIN 32u
#define CHUNK_HEADER    ((u32)offsetof(lifetime_chunk, data))

#define PLAIN_END ((u64)1 << 59) /* lifetimes below it fit into a word */

/* Room for the numbers of groups up to this one. */
static bool fit(lifetime_list *list, u32 group)
{
    const size_t old = list->groups.count;
    if (!ETLHEAP_RESERVE(&list->groups, group + 1 - old))
        return false;
    memset(list->groups.at + old, 0, (group + 1 - old) * sizeof *list->groups.at);
    list->groups.count = (size_t)group + 1;
    return true;
}

static bool add_chunk(lifetime_list *list, lifetime_group *group)
{
    const u32 last = group->newest == NULL ? 0 : group->capacity + CHUNK_HEADER;
    const u32 bytes =
        last == 0 ? CHUNK_BYTES_MIN : (u32)etl_min_u64(2 * last, LIFETIME_CHUNK_BYTES_MAX);
    lifetime_chunk *const chunk = etlheap_arena_alloc(&list->chunks, bytes);
    if (chunk == NULL)
        return false;
    if (group->newest != NULL)
        group->newest->used = group->used;
    *chunk = (lifetime_chunk){ .older = group->newest };
    group->newest = chunk;
    group->used = 0;
    group->capacity = (u16)(bytes - CHUNK_HEADER);
    return true;
}

static inline void put(lifetime_group *group, u64 word, u32 bytes)
{
    memcpy(group->newest->data + group->used, &word, sizeof word);
    group->used = (u16)(group->used + bytes);
}

bool lifetime_list_add(lifetime_list *list, u32 number, i64 ns)
{
    const bool is_plain = ns >= 0 && (u64)ns < PLAIN_END;
    const u32 room = is_plain ? sizeof(u64) : 2 * sizeof(u64);
    if (number >= list->groups.count && !fit(list, number))
        return false;
    lifetime_group *const group = &list->groups.at[number];
    if ((u32)group->capacity - group->used < room && !add_chunk(list, group))
        return false;
    if (is_plain) {
        const u64 value = (u64)ns % 100 == 0 ? (u64)ns / 100 * 2 : (u64)ns * 2 + 1;
        const u32 bits = 64 - (u32)__builtin_clzll(value | 1);
        const u32 bytes = (bits + 3 + 7) / 8;
        put(group, value << 3 | (bytes - 1), bytes);
    } else {
        put(group, UINT64_MAX, sizeof(u64));
        put(group, (u64)ns, sizeof(u64));
    }
    group->count++;
    list->least = ns < list->least ? ns : list->least;
    list->most = ns > list->most ? ns : list->most;
    return true;
}

void lifetime_list_free(lifetime_list *list)
{
    ETLHEAP_VECTOR_FREE(&list->groups);
    etlheap_arena_free(&list->chunks);
}

bool lifetime_lists_add(lifetime_lists *lists, u32 group, i64 ns)
{
    if (lists->lists.count == 0 && !ETLHEAP_PUSH(&lists->lists, (lifetime_list){ .least = 0 }))
        return false;
    return lifetime_list_add(&lists->lists.at[0], group, ns);
}

bool lifetime_lists_take(lifetime_lists *lists, lifetime_list *list, u32 first_group)
{
    const size_t count = list->groups.count;
    if (count > 0 && first_group > 0) {
        if (!ETLHEAP_RESERVE(&list->groups, first_group))
            return false;
        memmove(list->groups.at + first_group, list->groups.at, count * sizeof *list->groups.at);
        memset(list->groups.at, 0, first_group * sizeof *list->groups.at);
        list->groups.count += first_group;
    }
    if (!ETLHEAP_PUSH(&lists->lists, *list))
        return false;
    *list = (lifetime_list){ .least = 0 };
    return true;
}

void lifetime_lists_free(lifetime_lists *lists)
{
    for (size_t i = 0; i < lists->lists.count; i++)
        lifetime_list_free(&lists->lists.at[i]);
    ETLHEAP_VECTOR_FREE(&lists->lists);
}

/* A group in a list; NULL: it has none there. */
static const lifetime_group *group_in(const lifetime_lists *lists, size_t number, u32 group)
{
    const lifetime_list *const list = &lists->lists.at[number];
    return group < list->groups.count && list->groups.at[group].count > 0 ? &list->groups.at[group]
                                                                          : NULL;
}

u64 lifetime_lists_count(const lifetime_lists *lists, u32 group)
{
    u64 count = 0;
    for (size_t i = 0; i < lists->lists.count; i++) {
        const lifetime_group *const in = group_in(lists, i, group);
        count += in == NULL ? 0 : in->count;
    }
    return count;
}

bool lifetime_reader_turn(lifetime_reader *reader)
{
    const lifetime_chunk *chunk = reader->chunk == NULL ? NULL : reader->chunk->older;
    u32 used = chunk == NULL ? 0 : chunk->used;
    while (chunk == NULL && reader->next_list < reader->end_list) {
        const lifetime_group *const in =
            group_in(reader->lists, reader->next_list++, reader->group);
        chunk = in == NULL ? NULL : in->newest;
        used = in == NULL ? 0 : in->used;
    }
    if (chunk == NULL)
        return false;
    lifetime_chunk_fetch(chunk->older);
    reader->chunk = chunk;
    reader->at = chunk->data;
    reader->end = chunk->data + used;
    return true;
}
