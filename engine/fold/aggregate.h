/*
 * aggregate.h - shared by aggregate.c (sums) and table.c (what comes out).
 */
#ifndef ETLHEAP_AGGREGATE_H
#define ETLHEAP_AGGREGATE_H

#include "engine/names/frames.h"
#include "engine/table/table.h"
#include "lifetime_ranks.h"
#include "peaks.h"

#define GROUP_UNWANTED UINT32_MAX

/* What a row is grouped by; compared and hashed as bytes. */
typedef struct group_key {
    u64 heap;
    u32 process; /* first process of that name and id, or of that name */
    u32 stack;   /* resolved, 0: none */
    u32 frame;   /* FRAME and SITE */
    u32 module;  /* index + 1 */
    u32 thread;
    u32 type_name;   /* symbols_text, 0: unknown */
    u32 tag;         /* text of the query's tags, 0: no stack */
    u32 thread_name; /* text of its number, see aggregate_thread_name; 0: none */
    u32 generation;
    u32 free_stack, free_frame, free_module, free_thread; /* likewise, of who freed */
    u8 kind, type, free_type, size_class;
    u8 has_heap;
    u8 unwanted; /* does not pass --require-frame; never in a group */
    u8 padding[6];
} group_key;

/* The part of it that follows from the stack that freed. */
typedef struct free_key {
    u32 stack, frame, module;
} free_key;

static_assert(sizeof(group_key) == 72, "no hidden padding: keys are hashed as bytes");

typedef struct group_row {
    group_key key;
    i64 measures[ETLHEAP_MEASURES_COUNT];
    u32 number; /* for those who keep more of a group than this */
    u32 next;   /* group of the same stack, + 1; 0: none */
} group_row;

typedef struct named_process {
    const char *name;
    u32 pid, id;
} named_process;

typedef struct aggregator {
    const etlheap_result *result;
    const etlheap_query *query;
    query_plan plan;
    frame_table frames;
    u32 *same_name; /* by process id: the first with its name and pid, or with its name */
    ETLHEAP_VECTOR(group_row) groups;
    table_ids by_stack;  /* the first groups of each stack: the newest of them, + 1 */
    etlheap_index index; /* of the other groups */
    bool may_merge;      /* the query's whole_rows_max counts */
    const u32 *ranks;    /* by group: what is larger comes first, before the sort; NULL: none */
    u32 *order;          /* of the finished table: the group of each row, unless rows are merged */
    lifetime_lists lifetimes; /* of the groups, if their ranks are wanted */
    i64 totals[ETLHEAP_KIND_COUNT][ETLHEAP_MEASURES_COUNT];
    u32 generation;          /* of the lifetime in memory that was met last */
    bool wants_stack;        /* a key or a filter needs resolved frames */
    bool wants_free_stack;   /* a key needs those of who freed */
    u32 *thread_name_groups; /* by place in the result's thread_names: the first place of the
                                name, + 1; NULL: not grouped by */
    bool is_collecting;      /* stacks are being resolved, to be settled; nothing is wanted yet */
} aggregator;

/* A query made ready; aggregate_close also after failure. Errors as of
 * etlheap_aggregate. */
etl_status aggregate_open(aggregator *a, const etlheap_result *result, const etlheap_query *query,
                          etl_error *err);
void aggregate_close(aggregator *a);

/* The same, but whether the result can answer is for the caller to judge. */
etl_status aggregate_prepare(aggregator *a, const etlheap_result *result,
                             const etlheap_query *query, etl_error *err);

/* Sums up the groups. ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_CANCELLED. */
etl_status aggregate_fill(aggregator *a, etl_error *err);

/* With symbols all stacks are resolved before the first one gets its group: see
 * frames.h. Without, nothing is to be done. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status aggregate_settle(aggregator *a, etl_error *err);

typedef ETLHEAP_VECTOR(peak_row) peak_rows;

/* A lifetime in memory that the query selects, and what it is grouped by. */
typedef struct selected_row {
    const etlheap_segment *segment;
    u32 at;
    query_row row;
    group_key key;
} selected_row;

/* Hands out those that also pass the filter of frames, until one returns false: without
 * memory. While stacks are being collected none is handed out. */
typedef bool aggregate_visit_fn(void *user, const selected_row *selected);
bool aggregate_visit(aggregator *a, aggregate_visit_fn *visit, void *user);

/* Gives each selected lifetime in memory its group, adds up and lists them. Without
 * `steps` stacks are resolved only. False without memory. */
bool aggregate_rows(aggregator *a, peak_rows *steps);

bool aggregate_same_names(aggregator *a);

/* What the query groups by of a resolved stack that freed; 0: none did, or it is not known. */
void aggregate_free_key(aggregator *a, u32 resolved, free_key *key);

/* The group of a thread of a process by name, for a query that groups by that: a place in the
 * result's thread_names + 1; 0: the thread has no name. */
u32 aggregate_thread_name(const aggregator *a, u32 process, u32 thread);
u32 aggregate_module(aggregator *a, u32 frame);

/* The index of the group of a key, which is made when there is none yet. False
 * without memory. */
bool aggregate_group(aggregator *a, const group_key *key, u32 *group);

/* Adds to the measure of a group, and of its kind. */
void aggregate_add_freed_by_other(aggregator *a, u32 group, u8 kind, i64 count);

/* The group, but for who freed, of row `at` of the segment, which is of `type`. False without
 * memory. */
bool aggregate_key(aggregator *a, const etlheap_segment *segment, u32 at, etlheap_type type,
                   group_key *key);

/* The finished table; NULL without memory. */
const etlheap_table *aggregate_table(aggregator *a);

#endif
