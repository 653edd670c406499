/*
 * log_groups.h - the groups of heap events in a log or a journal.
 *
 * If a query depends only on owners and stacks, each slot has a group, and events are walked with
 * their slots. Otherwise single blocks have groups (block_groups.h), which needs a log of all
 * events. Either way a walk finds the group by the number in a word: `of_word`.
 */
#ifndef ETLHEAP_LOG_GROUPS_H
#define ETLHEAP_LOG_GROUPS_H

#include "block_groups.h"
#include "free_groups.h"
#include "slot_groups.h"

typedef struct log_groups {
    slot_groups slots;
    free_groups frees; /* if by_block, and the query asks who freed */
    bool by_block;
    block_groups blocks; /* if by_block */
    u32 *identity;       /* if by_block: used as of_word */
    const u32 *of_word;
    u32 word_count, count; /* numbers in words, and groups */
} log_groups;

struct log_pass;

/* How events are walked: see block_groups_begin. */
typedef struct log_groups_wanted {
    u32 first_group;
    bool walks_events;
} log_groups_wanted;

/* Begin before the pass reads blocks, and finish after that; then the groups exist. Group numbers
 * start at wanted->first_group in the aggregator's data about single lifetimes. Close it in any
 * case. ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status log_groups_begin(log_groups *out, aggregator *a, const log_groups_wanted *wanted,
                            struct log_pass *pass, etl_error *err);
etl_status log_groups_finish(log_groups *groups, etl_error *err);
void log_groups_close(log_groups *groups);

/* The key of a group; its type is 0 if slots are groups. */
group_key log_groups_key(const log_groups *groups, u32 number);

#endif
