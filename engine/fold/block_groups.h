/*
 * block_groups.h - groups of single blocks of a log, or of rows, and their sums.
 *
 * Names, culling and filters by process, heap and frame are the same for all blocks of an origin
 * (origin_groups.h). Other properties that a query may use are not: the type in the window, how and
 * when a block ends, its size, and the thread that allocated it. So a group of blocks is a group of
 * origins plus the properties that the query groups by.
 *
 * All threads read all blocks once. Each block's group number is written to a word (block_words.h),
 * with which events can then be walked in time order: that gives peaks, windows and growth.
 * Blocks are those of the origins, or rows if the groups of origins are those of origins.
 */
#ifndef ETLHEAP_BLOCK_GROUPS_H
#define ETLHEAP_BLOCK_GROUPS_H

#include "block_words.h"
#include "churn.h"
#include "free_groups.h"
#include "origin_groups.h"

/* The properties that divide a group of origins; 0 if the query does not group by one. */
typedef struct block_traits {
    u32 thread;
    u32 generation; /* up to and including ETLHEAP_MARKS_MAX */
    u32 freer;      /* group in free_groups */
    u32 free_thread;
    u32 thread_name; /* see aggregate_thread_name */
    u32 impact;      /* impacting stack, as in a group_key */
    u8 size_class, type, free_type;
} block_traits;

#define BLOCK_TRAITS_WORDS 3u

/* Traits as numbers, which are compared and masked faster than members. */
static inline void block_traits_pack(const block_traits *traits, u64 out[BLOCK_TRAITS_WORDS])
{
    out[0] = traits->thread | (u64)(traits->generation & 0x1FFFFu) << 32 |
             (u64)traits->size_class << 49 | (u64)(traits->type & 7u) << 57 |
             (u64)(traits->free_type & 7u) << 60;
    out[1] = traits->freer | (u64)traits->free_thread << 32;
    out[2] = traits->thread_name | (u64)traits->impact << 32;
}

static inline block_traits block_traits_unpack(const u64 packed[BLOCK_TRAITS_WORDS])
{
    return (block_traits){ .thread = (u32)packed[0],
                           .generation = (u32)(packed[0] >> 32) & 0x1FFFFu,
                           .freer = (u32)packed[1],
                           .free_thread = (u32)(packed[1] >> 32),
                           .thread_name = (u32)packed[2],
                           .impact = (u32)(packed[2] >> 32),
                           .size_class = (u8)(packed[0] >> 49),
                           .type = (u8)(packed[0] >> 57 & 7),
                           .free_type = (u8)(packed[0] >> 60 & 7) };
}

/* The sums of a type, in half the size of type_sums: a log has fewer than 2^32 blocks. */
typedef struct block_sums {
    i64 size;
    u32 count, realloc_count;
} block_sums;

/* A block adds to the first 64 bytes if it was allocated in the window. */
typedef struct block_group {
    u64 traits[BLOCK_TRAITS_WORDS];
    u32 origin_group;
    u32 number; /* number of the group; in a task's list: of the group it is added to */
    block_sums types[ETLHEAP_TYPE_COUNT];
    u32 freed_by_other;          /* freed by another thread in the window */
    i64 first_ticks, last_ticks; /* of allocations in the trace; if there is none, first > last */
} block_group;

/* Counts allocations from `first` to `last`. If one is unknown
 * (ETLHEAP_TICKS_BEFORE), it does not count as the first. */
static inline void block_group_add_times(block_group *to, i64 first, i64 last)
{
    if (first != ETLHEAP_TICKS_BEFORE && first < to->first_ticks)
        to->first_ticks = first;
    if (last > to->last_ticks)
        to->last_ticks = last;
}

static inline void block_sums_add(block_sums *to, const block_sums *from)
{
    to->size = etl_sat_add_i64(to->size, from->size);
    to->count += from->count;
    to->realloc_count += from->realloc_count;
}

static inline type_sums block_sums_wide(const block_sums *sums)
{
    return (type_sums){ sums->count, sums->size, sums->realloc_count };
}

typedef ETLHEAP_VECTOR(block_group) block_group_list;

struct log_pass;
struct grouping;

typedef struct block_groups {
    const origin_groups *origins;
    const free_groups *frees;
    block_group_list groups;
    block_words words; /* words of all blocks, if events are walked */
    churn_join churn;  /* sums by group, if the query needs them */
    struct grouping *work;
} block_groups;

/* Options for grouping. */
typedef struct block_groups_wanted {
    const origin_groups *origins;
    const free_groups *frees;
    bool walks_events; /* makes words */
    bool churns;
} block_groups_wanted;

/*
 * Groups the blocks that the aggregator's query selects. Begin before the pass reads blocks, and
 * finish after it. Gives the aggregator the lifetimes of which the query needs ranks, by group from
 * `first_group` on. Close it in any case. ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status block_groups_begin(block_groups *out, aggregator *a, const block_groups_wanted *wanted,
                              struct log_pass *pass, etl_error *err);
etl_status block_groups_finish(block_groups *groups, u32 first_group, etl_error *err);
void block_groups_close(block_groups *groups);

/* The key of a group. */
group_key block_groups_key(const block_groups *groups, u32 number);

#endif
