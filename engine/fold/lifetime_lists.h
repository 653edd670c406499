/*
 * lifetime_lists.h - the lifetimes of groups, packed: millions of them, of which few numbers
 * are wanted (lifetime_ranks.h).
 *
 * Each group has a chain of chunks, the newest first. A lifetime takes 1 to 8 bytes in a chunk:
 * its lowest three bits say how many. Windows' usual clock ticks ten million times a second, so
 * that most lifetimes are whole hundreds of ns and are kept as hundreds: 27 s fit into 4 bytes.
 *
 *     bits  0 1 2   3               4 ...
 *          ┌──────┬───────────────┬───────────────
 *          │bytes │ 0: hundreds   │ lifetime
 *          │ - 1  │ 1: of ns      │
 *          └──────┴───────────────┴───────────────
 *
 * What does not fit follows eight bytes of ones as it is.
 */
#ifndef ETLHEAP_LIFETIME_LISTS_H
#define ETLHEAP_LIFETIME_LISTS_H

#include "engine/core/arena.h"

/* Every lifetime has room for a whole word behind where it begins. */
typedef struct lifetime_chunk {
    struct lifetime_chunk *older;
    u16 used; /* once there is a newer one */
    u8 data[];
} lifetime_chunk;

/* What adding a lifetime reads: it writes to the chunk alone, and does not wait for it. */
typedef struct lifetime_group {
    lifetime_chunk *newest; /* NULL: none */
    u32 count;              /* lifetimes in all chunks */
    u16 used, capacity;     /* of the newest chunk */
} lifetime_group;

/* What one thread has listed. Starts from {0}. */
typedef struct lifetime_list {
    ETLHEAP_VECTOR(lifetime_group) groups;
    etlheap_arena chunks;
    i64 least, most; /* of all lifetimes and 0 */
} lifetime_list;

/* Lists of several threads. Starts from {0}. */
typedef struct lifetime_lists {
    ETLHEAP_VECTOR(lifetime_list) lists;
} lifetime_lists;

/* False without memory. */
bool lifetime_list_add(lifetime_list *list, u32 group, i64 ns);
void lifetime_list_free(lifetime_list *list);

/* Fetches what adding to a group will read. Always inlined: a function that only fetches has no
 * effect in a compiler's eyes. */
__attribute__((always_inline)) static inline void lifetime_list_fetch(const lifetime_list *list,
                                                                      u32 group)
{
    if (group < list->groups.count)
        __builtin_prefetch(&list->groups.at[group]);
}

/* Adds to one of the lists. */
bool lifetime_lists_add(lifetime_lists *lists, u32 group, i64 ns);

/* Takes a list, which is empty afterwards. False without memory; it is then as before. */
bool lifetime_lists_take(lifetime_lists *lists, lifetime_list *list);
void lifetime_lists_free(lifetime_lists *lists);

/* --- reading ------------------------------------------------------------------------- */

/* How many lifetimes a group has. */
u64 lifetime_lists_count(const lifetime_lists *lists, u32 group);

/* A group's lifetimes one after the other, in no order. */
typedef struct lifetime_reader {
    const lifetime_lists *lists;
    u32 group;
    size_t next_list;
    const lifetime_chunk *chunk; /* at hand; NULL: none yet */
    const u8 *at, *end;
} lifetime_reader;

static inline lifetime_reader lifetime_reader_open(const lifetime_lists *lists, u32 group)
{
    return (lifetime_reader){ .lists = lists, .group = group };
}

/* Goes to the next chunk. False: there is none. */
bool lifetime_reader_turn(lifetime_reader *reader);

/* False: there is none left. */
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
