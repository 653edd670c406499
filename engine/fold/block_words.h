/*
 * block_words.h - one word per block of a log, or row, by ordinal: its origin or group, and its
 * size.
 *
 * A word is an entry of the event list without its kind. If single blocks are grouped
 * (block_groups.h), it has the number of the block's group + 1 instead of the origin. A block that
 * does not count has the word 0.
 */
#ifndef ETLHEAP_BLOCK_WORDS_H
#define ETLHEAP_BLOCK_WORDS_H

#include <stdlib.h>

#include "engine/log/event_list.h"

/* Flag in a word of a group: the block is outstanding at the end of its window, so its end does not
 * count. */
#define BLOCK_WORD_STAYS ENTRY_NEW_TICK

/* Sizes that do not fit into a word, as pairs of ordinal and size, ascending. */
typedef ETLHEAP_VECTOR(u64) block_sizes;

typedef struct block_words {
    event_entry *at;
    u64 count;
    block_sizes big_sizes;
} block_words;

static inline event_entry block_word(u32 origin, u64 size, bool is_realloc)
{
    return (event_entry)origin << 6 | etl_min_u64(size, ENTRY_SIZE_BIG) << (64 - ENTRY_SIZE_BITS) |
           (is_realloc ? ENTRY_IS_REALLOC : 0);
}

/* Records a size that does not fit. Ordinals must ascend. False if memory runs out. */
static inline bool block_sizes_note(block_sizes *sizes, u64 ordinal, u64 size)
{
    return size < ENTRY_SIZE_BIG || (ETLHEAP_PUSH(sizes, ordinal) && ETLHEAP_PUSH(sizes, size));
}

static inline bool block_sizes_append(block_sizes *to, const block_sizes *from)
{
    for (size_t i = 0; i < from->count; i++) {
        if (!ETLHEAP_PUSH(to, from->at[i]))
            return false;
    }
    return true;
}

/* The size of a block that does not fit into its word. */
static inline u64 block_words_big_size(const block_words *words, u64 ordinal)
{
    size_t low;
    ETL_BISECT(low, 0, words->big_sizes.count / 2, words->big_sizes.at[2 * low] < ordinal);
    assert(2 * low < words->big_sizes.count && words->big_sizes.at[2 * low] == ordinal);
    return words->big_sizes.at[2 * low + 1];
}

static inline u64 block_words_size(const block_words *words, u64 ordinal)
{
    const u32 size = entry_size_of(words->at[ordinal]);
    return size != ENTRY_SIZE_BIG ? size : block_words_big_size(words, ordinal);
}

static inline int block_sizes_by_ordinal(const void *a, const void *b)
{
    const u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

/* Sorts the sizes of several tasks and chunks, whose ordinals overlap. */
static inline void block_sizes_sort(block_sizes *sizes)
{
    if (sizes->count > 0)
        qsort(sizes->at, sizes->count / 2, 2 * sizeof *sizes->at, block_sizes_by_ordinal);
}

#endif
