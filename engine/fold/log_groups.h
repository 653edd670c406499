/*
 * log_groups.h - the groups that heap events of a log or a journal are added up in.
 *
 * Where a query asks only whose memory it is, each slot has its group and events are walked
 * with the slots that they name. Where it asks for more, single blocks have groups
 * (block_groups.h), which only a log of all events can tell. Either way a walk finds a group
 * by the number in a word: `of_word`.
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
    u32 *identity;       /* if by_block: what of_word is then */
    const u32 *of_word;
    u32 word_count, count; /* numbers that words may have, and groups */
} log_groups;

struct log_pass;

/* How events are walked besides: see block_groups_begin. */
typedef struct log_groups_wanted {
    u32 first_group;
    bool walks_events;
} log_groups_wanted;

/* Begins before the pass reads blocks; groups are there after log_groups_finish, which follows
 * that. Numbers of groups count on from wanted->first_group in what the aggregator keeps of
 * single lifetimes. To be closed in any case. MEMORY, LIMIT. */
etl_status log_groups_begin(log_groups *out, aggregator *a, const log_groups_wanted *wanted,
                            struct log_pass *pass, etl_error *err);
etl_status log_groups_finish(log_groups *groups, etl_error *err);
void log_groups_close(log_groups *groups);

/* The key of a group; its type is 0 where slots are groups. */
group_key log_groups_key(const log_groups *groups, u32 number);

#endif
