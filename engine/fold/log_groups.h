/*
 * log_groups.h - the groups of events: those of heap blocks in a log or an event list, or of rows.
 *
 * If a query depends only on owners and stacks, each origin of a log has a group, and events are
 * walked with their origins. Otherwise, and for rows, single blocks have groups (block_groups.h),
 * which needs a log of all events. Either way a walk finds the group by the number in a word:
 * `of_word`.
 */
#ifndef ETLHEAP_LOG_GROUPS_H
#define ETLHEAP_LOG_GROUPS_H

#include "block_groups.h"
#include "free_groups.h"
#include "origin_groups.h"

typedef struct log_groups {
    feed_source source;
    origin_groups origins;
    free_groups frees; /* if by_block, and the query asks who freed */
    bool by_block;
    block_groups blocks; /* if by_block */
    u32 *identity;       /* if by_block: used as of_word */
    const u32 *of_word;
    u32 word_count, count; /* numbers in words, and groups */
} log_groups;

struct log_pass;

/* Whose groups, and how events are walked: see block_groups_begin. */
typedef struct log_groups_wanted {
    feed_source source; /* whose rows are numbered: feed_number */
    bool walks_events, churns;
} log_groups_wanted;

/* Does the aggregator's result have the source? */
bool log_groups_exist(const aggregator *a, feed_source source);

/* Begin before the pass reads blocks, and finish after that; then the groups exist. Group numbers
 * start at `first_group` in the aggregator's data about single lifetimes. Close it in any case.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status log_groups_begin(log_groups *out, aggregator *a, const log_groups_wanted *wanted,
                            struct log_pass *pass, etl_error *err);
etl_status log_groups_finish(log_groups *groups, u32 first_group, etl_error *err);
void log_groups_close(log_groups *groups);

/* The key of a group; its type is 0 if origins are groups. */
group_key log_groups_key(const log_groups *groups, u32 number);

#endif
