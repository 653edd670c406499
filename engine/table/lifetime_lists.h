/*
 * lifetime_lists.h - packed lists of the lifetimes of groups, for ranks (lifetime_ranks.h).
 *
 * There may be millions of lifetimes, of which only a few ranks are needed. Each group has a chain
 * of chunks, the newest first. A lifetime takes 1 to 8 bytes; its lowest three bits say how many.
 * The usual clock of Windows ticks ten million times a second, so most lifetimes are whole hundreds
 * of ns and are stored as hundreds: 27 s fit into 4 bytes.
 *
 *     bits  0 1 2   3               4 ...
 *          ┌──────┬───────────────┬───────────────
 *          │bytes │ 0: hundreds   │ lifetime
 *          │ - 1  │ 1: of ns      │
 *          └──────┴───────────────┴───────────────
 *
 * Longer lifetimes follow eight bytes of ones, unpacked.
 */
#ifndef ETLHEAP_LIFETIME_LISTS_H
#define ETLHEAP_LIFETIME_LISTS_H

#include "engine/core/arena.h"

#define LIFETIME_CHUNK_BYTES_MAX 256u
#define CACHE_LINE_BYTES         64u

/* Each lifetime may be written as a whole word from where it begins. */
typedef struct lifetime_chunk {
    struct lifetime_chunk *older;
    u16 used; /* set when there is a newer chunk */
    u8 data[];
} lifetime_chunk;

/* The data that adding a lifetime reads. It only writes to the chunk, and does not wait for it. */
typedef struct lifetime_group {
    lifetime_chunk *newest; /* NULL: none */
    u32 count;              /* lifetimes in all chunks */
    u16 used, capacity;     /* size and capacity of the newest chunk */
} lifetime_group;

/* The lists of one thread. Starts from {0}. */
typedef struct lifetime_list {
    ETLHEAP_VECTOR(lifetime_group) groups;
    etlheap_arena chunks;
    i64 least, most; /* least and most of all lifetimes and 0 */
} lifetime_list;

/* Lists of several threads. Starts from {0}. */
typedef struct lifetime_lists {
    ETLHEAP_VECTOR(lifetime_list) lists;
} lifetime_lists;

/* Adds a lifetime. False if memory runs out. */
bool lifetime_list_add(lifetime_list *list, u32 group, i64 ns);
void lifetime_list_free(lifetime_list *list);

static inline u64 lifetime_list_bytes(const lifetime_list *list)
{
    return list->groups.capacity * sizeof *list->groups.at + list->chunks.total_bytes;
}

/* Prefetches what adding to a group will read. Always inlined: to a compiler, a function that only
 * prefetches has no effect. */
__attribute__((always_inline)) static inline void lifetime_list_fetch(const lifetime_list *list,
                                                                      u32 group)
{
    if (group < list->groups.count)
        __builtin_prefetch(&list->groups.at[group]);
}

/* Prefetches a chunk to be read; NULL: nothing. Chains are all over the memory. */
__attribute__((always_inline)) static inline void lifetime_chunk_fetch(const lifetime_chunk *chunk)
{
    for (u32 at = 0; chunk != NULL && at < LIFETIME_CHUNK_BYTES_MAX; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const u8 *)chunk + at);
}

/* Prefetches the newest lifetimes of a group, to be read. */
__attribute__((always_inline)) static inline void lifetime_list_fetch_newest(
    const lifetime_list *list, u32 number)
{
    if (number < list->groups.count)
        lifetime_chunk_fetch(list->groups.at[number].newest);
}

/* Prefetches the place that the group's next lifetime will be written to. */
__attribute__((always_inline)) static inline void lifetime_list_fetch_place(
    const lifetime_list *list, u32 number)
{
    if (number >= list->groups.count)
        return;
    const lifetime_group *const group = &list->groups.at[number];
    if (group->newest != NULL)
        __builtin_prefetch(group->newest->data + group->used, 1);
}

/* Adds to one of the lists. */
bool lifetime_lists_add(lifetime_lists *lists, u32 group, i64 ns);

/* Takes over a list, whose groups are numbered from `first_group` on here; it is then empty. False
 * if memory runs out. */
bool lifetime_lists_take(lifetime_lists *lists, lifetime_list *list, u32 first_group);
void lifetime_lists_free(lifetime_lists *lists);

/* --- reading ------------------------------------------------------------------------- */

/* The number of lifetimes in a group. */
u64 lifetime_lists_count(const lifetime_lists *lists, u32 group);

/* Reads the lifetimes of a group, in no particular order. */
typedef struct lifetime_reader {
    const lifetime_lists *lists;
    u32 group;
    size_t next_list, end_list;
    const lifetime_chunk *chunk; /* current chunk; NULL: none yet */
    const u8 *at, *end;
} lifetime_reader;

static inline lifetime_reader lifetime_reader_open(const lifetime_lists *lists, u32 group)
{
    return (lifetime_reader){ .lists = lists, .group = group, .end_list = lists->lists.count };
}

/* Reads those in one of the lists. */
static inline lifetime_reader lifetime_reader_open_one(const lifetime_lists *lists, u32 group,
                                                       size_t list)
{
    return (
        lifetime_reader){ .lists = lists, .group = group, .next_list = list, .end_list = list + 1 };
}

/* Goes to the next chunk. False: there are no more. */
bool lifetime_reader_turn(lifetime_reader *reader);

/* Reads the next lifetime. False: there are no more. */
static inline bool lifetime_reader_next(lifetime_reader *reader, i64 *ns)
{
    u64 word;
    if (reader->at == reader->end && !lifetime_reader_turn(reader))
        return false;
    memcpy(&word, reader->at, sizeof word);
    const u32 bytes = (u32)(word & 7) + 1;
    reader->at += bytes;
    if (bytes == sizeof word && word == UINT64_MAX) {
        memcpy(ns, reader->at, sizeof *ns);
        reader->at += sizeof *ns;
        return true;
    }
    const u64 value = (word & UINT64_MAX >> (64 - 8 * bytes)) >> 4;
    *ns = (i64)((word & 8) != 0 ? value : value * 100);
    return true;
}

#endif
