/* aggregate.h - keys of groups, and groups with their measures; shared by all folds. */
#ifndef ETLHEAP_AGGREGATE_H
#define ETLHEAP_AGGREGATE_H

#include "engine/names/frames.h"
#include "engine/table/table.h"
#include "lifetime_ranks.h"

#define GROUP_UNWANTED UINT32_MAX

/* The key of a group; compared and hashed as bytes. */
typedef struct group_key {
    u64 heap;    /* HEAP; what POOL_TAG and OBJECT_TYPE read of it */
    u32 process; /* first process with this name and pid, or with this name */
    u32 stack;   /* STACK, IMPACTING_STACK; FUNCTION until function_rows: resolved, 0: none */
    u32 frame;   /* FRAME, SITE and FUNCTION */
    u32 module;  /* index + 1 */
    u32 thread;
    u32 type_name;   /* symbols_text, 0: unknown */
    u32 tag;         /* text in the query's tags; 0: no stack */
    u32 thread_name; /* see aggregate_thread_name; 0: none */
    u32 generation;
    u32 free_stack, free_frame, free_module, free_thread; /* the same, of the free */
    u8 kind, type, free_type, size_class;
    u8 has_heap;
    u8 unwanted; /* left out because of its frames; never in a group */
    u8 padding[2];
    u32 source_line; /* symbols_text; 0: unknown */
} group_key;

/* The part of a key that depends on the stack that freed. */
typedef struct free_key {
    u32 stack, frame, module;
} free_key;

static_assert(sizeof(group_key) == 72, "no hidden padding: keys are hashed as bytes");

typedef struct group_head {
    group_key key;
    u32 number; /* number of the group, for additional data */
    u32 next;   /* next group of the same stack, + 1; 0: none */
} group_head;

/* A group with all measures, before it is kept and when it is shown. */
typedef struct group_row {
    group_key key;
    u32 number;
    i64 measures[ETLHEAP_MEASURES_COUNT];
} group_row;

/* EXCLUSIVE_COUNT and EXCLUSIVE_SIZE of a group, which only groups by function have. */
typedef struct exclusive_sums {
    i64 count, size;
} exclusive_sums;

typedef struct named_process {
    const char *name;
    u32 pid, id;
} named_process;

struct feed_rows;

typedef struct aggregator {
    const etlheap_result *result;
    const etlheap_query *query;
    query_plan plan;
    frame_table frames;
    u32 *same_name;          /* by process id: the first with its name and pid, or its name */
    struct row_spans *spans; /* what rates of rows are divided by */
    ETLHEAP_VECTOR(group_head) groups;
    ETLHEAP_VECTOR(i64) measures;             /* of the groups; see aggregate_measures */
    u32 measure_count;                        /* of each group */
    ETLHEAP_VECTOR(exclusive_sums) exclusive; /* of groups by function; else empty */
    table_ids by_stack;                       /* first groups of each stack: the newest, + 1 */
    etlheap_index index;                      /* index of the other groups */
    bool may_merge;                           /* whole_rows_max applies */
    const u32 *ranks;         /* by group: larger ranks come first, before the sort; NULL: none */
    u32 *order;               /* group of each row of the finished table, unless rows are merged */
    lifetime_lists lifetimes; /* lifetimes of the groups, if their ranks are needed */
    i64 totals[ETLHEAP_KIND_COUNT][ETLHEAP_MEASURES_COUNT];
    bool wants_stack;      /* a key or a filter needs resolved frames */
    bool wants_free_stack; /* a key needs the stack that freed */
    /* By place in the result's thread_names: the first place with this name, + 1. NULL: not a
     * key. */
    u32 *thread_name_groups;
    bool is_collecting; /* stacks are being resolved; groups are made later */
    u64 held_bytes;     /* of the groups */
} aggregator;

/* Prepares a query. Call aggregate_close even after a failure. Errors as for etlheap_aggregate. */
etl_status aggregate_open(aggregator *a, const etlheap_result *result, const etlheap_query *query,
                          etl_error *err);
void aggregate_close(aggregator *a);

/* Like aggregate_open, without checking whether the result can answer the query. */
etl_status aggregate_prepare(aggregator *a, const etlheap_result *result,
                             const etlheap_query *query, etl_error *err);

/* Adds up the groups. ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_CANCELLED. */
etl_status aggregate_fill(aggregator *a, etl_error *err);

/* With symbols, resolves all stacks before the first one gets its group: see frames.h. Does nothing
 * without symbols. `rows` is not read if the result is a summary. ETL_ERR_MEMORY,
 * ETL_ERR_CANCELLED. */
etl_status aggregate_finish_stacks(aggregator *a, const struct feed_rows *rows, etl_error *err);

bool aggregate_same_names(aggregator *a);

/* The part of the key for a resolved stack that freed; 0: nothing freed, or unknown. */
void aggregate_free_key(aggregator *a, u32 resolved, free_key *key);

/* The number of a thread's name, for a query that groups by it: a place in the result's
 * thread_names + 1; 0: the thread has no name. */
u32 aggregate_thread_name(const aggregator *a, u32 process, u32 thread);
u32 aggregate_module(aggregator *a, u32 frame);

/* Finds or makes the group of a key. False if memory runs out. */
bool aggregate_group(aggregator *a, const group_key *key, u32 *group);

/* The measures of a group: from the first, up to the last that the query needs. There may be
 * hundreds of thousands of groups, and most queries need few measures. The pointer is valid until
 * the next group is made. */
static inline i64 *aggregate_measures(const aggregator *a, size_t group)
{
    return a->measures.at + group * a->measure_count;
}

/* Has groups keep measures up to this one, whatever the query says. Call it before the first group
 * is made. */
void aggregate_keep_measure(aggregator *a, etlheap_measure last);

/* Counts the groups as memory of the question. ETL_ERR_LIMIT. */
etl_status aggregate_count(aggregator *a, etl_error *err);

/* Makes room for so many more groups, and tells the system that they will be used. */
void aggregate_expect(aggregator *a, size_t more);

/* Gives back the room that groups do not use; few or none will follow. */
void aggregate_trim(aggregator *a);

/* Appends a group, replaces one (which may be one with a larger index), and makes a copy of one.
 * False if memory runs out. */
bool aggregate_push(aggregator *a, const group_row *row);
void aggregate_put(aggregator *a, size_t group, const group_row *row);
void aggregate_row(const aggregator *a, size_t group, group_row *out);

/* Drops all groups but the first ones. */
void aggregate_cut(aggregator *a, size_t count);

/* Adds to FREED_BY_OTHER of a group and of the total of its kind. */
void aggregate_add_freed_by_other(aggregator *a, u32 group, u8 kind, i64 count);

/* What all blocks of an origin or an origin have in common. */
typedef struct block_source {
    i64 ticks; /* at which modules are looked up */
    u64 heap;
    u32 process, stack;
    u8 kind;
} block_source;

/* Makes the key of blocks of a type, without what depends on single blocks and on their frees: with
 * IMPACTING_STACK, key.stack is that of the allocation. False if memory runs out. */
bool aggregate_key(aggregator *a, const block_source *of, etlheap_type type, group_key *key);

/* Makes the finished table; NULL if memory runs out. */
etlheap_table *aggregate_table(aggregator *a);

#endif
