/*
 * block_groups.h - groups of single heap blocks of a log, with their sums.
 *
 * Names, culling and filters by process, heap and frame are the same for all blocks of a slot
 * (slot_groups.h). What a query may ask of single blocks is not: their type in the window, how
 * and after what time they end, their size, and the thread that allocated them. A group of
 * blocks is therefore a group of slots and what of this the query groups by.
 *
 * All blocks are gone through once, by all threads. Each leaves the number of its group in a
 * word (block_words.h), with which events can be walked in the order of time afterwards: that
 * is how peaks, windows and growth come about.
 */
#ifndef ETLHEAP_BLOCK_GROUPS_H
#define ETLHEAP_BLOCK_GROUPS_H

#include "block_words.h"
#include "churn.h"
#include "free_groups.h"
#include "slot_groups.h"

/* What tells blocks of one group of slots apart; 0 where the query does not group by it. */
typedef struct block_traits {
    u64 thread : 32;
    u64 generation : 17; /* ETLHEAP_MARKS_MAX is one of them */
    u64 size_class : 8;
    u64 type : 3;
    u64 free_type : 3;
    u64 padding : 1;
    u32 freer; /* group of free_groups */
    u32 free_thread;
    u32 thread_name; /* see aggregate_thread_name */
    u32 more_padding;
} block_traits;

#define BLOCK_TRAITS_WORDS 3u

static_assert(sizeof(block_traits) == BLOCK_TRAITS_WORDS * sizeof(u64), "compared as numbers");

typedef struct block_group {
    u64 traits[BLOCK_TRAITS_WORDS];
    u32 slot_group;
    u32 number; /* of the group; in a task's list, of the group that it becomes a part of */
    type_sums types[ETLHEAP_TYPE_COUNT];
    i64 freed_by_other; /* of them, in the window */
} block_group;

typedef ETLHEAP_VECTOR(block_group) block_group_list;

struct log_pass;
struct grouping;

typedef struct block_groups {
    const slot_groups *slots;
    const free_groups *frees;
    block_group_list groups;
    block_words words; /* of all blocks, if events are to be walked */
    churn_join churn;  /* sums by group, if the query wants them */
    struct grouping *work;
} block_groups;

/* What blocks are grouped with: numbers of groups count on from `first_group` in what the
 * aggregator keeps of single lifetimes. */
typedef struct block_groups_wanted {
    const slot_groups *slots;
    const free_groups *frees;
    u32 first_group;
    bool walks_events; /* words are wanted */
} block_groups_wanted;

/*
 * Groups the blocks that the aggregator's query selects: begins before the pass reads blocks and
 * finishes after it. The lifetimes whose ranks the query wants go to the aggregator.
 * To be closed in any case. MEMORY, LIMIT.
 */
etl_status block_groups_begin(block_groups *out, aggregator *a, const block_groups_wanted *wanted,
                              struct log_pass *pass, etl_error *err);
etl_status block_groups_finish(block_groups *groups, etl_error *err);
void block_groups_close(block_groups *groups);

/* The key of a group. */
group_key block_groups_key(const block_groups *groups, u32 number);

#endif
