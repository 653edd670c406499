/* query.h - decides which lifetimes a query selects, and the type of each. */
#ifndef ETLHEAP_QUERY_H
#define ETLHEAP_QUERY_H

#include "engine/core/memory_count.h"
#include "engine/result/result.h"

/* A thread that a query selects: by id in any process, or by name in the process that has it. */
typedef struct selected_thread {
    u32 tid;
    u32 process; /* 0: any */
} selected_thread;

/* A prepared query: times in ticks, processes looked up. */
typedef struct query_plan {
    const etlheap_query *query;
    const etlheap_result *result;
    i64 from_ns, to_ns;
    i64 from_ticks, to_ticks;              /* [from, to), equal to the window in nanoseconds */
    u32 types;                             /* bit per selected etlheap_type */
    u8 row_types[ETLHEAP_TYPE_COUNT];      /* the type of rows: keys_set_types */
    i64 kind_to_ticks[ETLHEAP_KIND_COUNT]; /* to_ticks, or the kind's own */
    i64 ns_per_tick;                       /* 0: not a whole number */
    i64 near_ticks;                        /* so far from the header's time, nothing overflows */
    bool *process_selected;                /* by process id; [0] unused */
    selected_thread *threads;              /* ascending by id, then by process */
    u32 thread_count;
    u64 name_steps;       /* of comparing names with words; tests bound it */
    memory_count *memory; /* what its answer holds while it is made */
} query_plan;

/* Copies a caller's query by its size; NULL means the default. Errors as for etl_read_sized. */
etl_status query_read(const etlheap_query *given, etlheap_query *own, etl_error *err);

/* The same for a question about a result, whose store may have only a part of a recording. Every
 * public function with a query begins with this and then uses its own copy. */
etl_status query_read_for(const etlheap_result *result, const etlheap_query *given,
                          etlheap_query *own, etl_error *err);

/* Prepares a query. Call query_close even after a failure. ETL_ERR_ARGUMENT, with a message, for a
 * contradictory query. */
etl_status query_open(query_plan *out, const etlheap_result *result, const etlheap_query *query,
                      etl_error *err);
void query_close(query_plan *plan);

/* Select what the query's words name, as a part of query_open. False if memory runs out. */
bool query_select_processes(query_plan *plan);
bool query_select_threads(query_plan *plan);

/* One lifetime, relative to the query. */
typedef struct query_row {
    i64 alloc_ticks;
    i64 free_ticks; /* NEVER also if process exits do not count */
    etlheap_type type;
} query_row;

/* True if it was freed in the window. */
static inline bool query_is_freed(const query_row *row)
{
    return row->type == ETLHEAP_TYPE_AIFI || row->type == ETLHEAP_TYPE_AOFI;
}

/* True if another thread than the one that allocated it freed it in the window. */
static inline bool query_is_freed_by_other(const query_row *row, u32 thread, u32 free_thread)
{
    return query_is_freed(row) && thread != ETL_NO_ID && free_thread != ETL_NO_ID &&
           thread != free_thread;
}

/* The properties of a lifetime that a query can select by, besides its owner. */
typedef struct query_block {
    i64 alloc_ticks, free_ticks;
    u64 size_bytes;
    u32 thread;
    u32 process; /* of the memory; set at least if the query selects threads */
    u8 free_type;
} query_block;

/* When a block ends for a query: never, if the end of its process ended it and does not count. */
static inline i64 query_end_ticks(bool at_exit_freed, u8 free_type, i64 free_ticks)
{
    const bool lives_on = free_type == ETLHEAP_FREE_PROCESS_EXIT && !at_exit_freed;
    return lives_on ? ETLHEAP_TICKS_NEVER : free_ticks;
}

/* True if the query selects memory of the process that the thread allocated, or frees by it. */
bool query_selects_thread(const query_plan *plan, u32 process, u32 thread);

/* True if the query selects a lifetime of this kind with these properties, whatever its owner and
 * its type. */
bool query_examine_block(const query_plan *plan, etlheap_kind kind, const query_block *block,
                         query_row *out);

/* True if the query selects row `at` of the segment. Does not check frames, which need the
 * stack. */
bool query_select(const query_plan *plan, const etlheap_segment *segment, u32 at, query_row *out);

/* Computes how long a lifetime lasted; false: it begins or ends outside the trace. */
bool query_lifetime_ns(const query_plan *plan, const query_row *row, i64 *ns);

/* True if the lifetime counts for LIFETIME_* of the query; *ns is its length. */
bool query_counts_lifetime(const query_plan *plan, const query_row *row, i64 *ns);

/* The first nanosecond at or after a window's end in ticks that is later than everything before the
 * end. */
i64 query_end_ns(const etl_session *session, i64 to_ticks);

/* Does the query ask for a moment, or for measures that only a table of lifetimes has? */
static inline bool query_asks_lifetimes(const etlheap_query *query)
{
    return query->lifetime_ranks || query->alloc_times || query->growth ||
           query->kind_to_ticks != NULL;
}

/* True if the query selects threads, by id or by name. */
static inline bool query_selects_threads(const etlheap_query *query)
{
    return query->thread_count > 0 || query->thread_name_count > 0;
}

/* True if frames decide which stacks the query selects. */
static inline bool query_selects_frames(const etlheap_query *query)
{
    return query->require_frame_count > 0 || query->exclude_frame_count > 0 || query->only_excluded;
}

/* True if the query selects a stack with or without a required and an excluded frame. Memory
 * without a stack has neither. */
static inline bool query_selects_stack(const etlheap_query *query, bool is_required,
                                       bool is_excluded)
{
    return (is_required || query->require_frame_count == 0) && is_excluded == query->only_excluded;
}

/* The kinds that the query selects, as bits. */
static inline u32 query_kinds(const etlheap_query *query)
{
    return query->kinds == 0 ? ETLHEAP_KINDS_DEFAULT : query->kinds;
}

/* True if the query groups by the key. */
static inline bool query_groups_by(const etlheap_query *query, etlheap_key key)
{
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == key)
            return true;
    }
    return false;
}

/* The types that the query selects, as bits. */
u32 query_types(const etlheap_query *query);

/* True if the query selects this kind, process and heap. */
bool query_select_owner(const query_plan *plan, etlheap_kind kind, u32 process, u64 heap);

/* True if a word for processes is an id, and not a name. */
bool query_word_is_pid(const char *word, u64 *pid);

/* True if the pattern matches the name of a file, which may have an extension that the pattern
 * leaves out. */
bool query_word_names_file(const char *pattern, const char *name);

/* True if the pattern matches the module. */
bool query_module_matches(const etlheap_pattern *pattern, const char *module);

#endif
