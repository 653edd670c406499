/*
 * query.h - which lifetimes a query selects, and what type each is.
 */
#ifndef ETLHEAP_QUERY_H
#define ETLHEAP_QUERY_H

#include "engine/result/result.h"

/* A query made ready: times in ticks, processes looked up. */
typedef struct query_plan {
    const etlheap_query *query;
    const etlheap_result *result;
    i64 from_ns, to_ns;
    i64 from_ticks, to_ticks;              /* [from, to) selects what the nanoseconds select */
    u32 types;                             /* bit per etlheap_type that is wanted */
    i64 kind_to_ticks[ETLHEAP_KIND_COUNT]; /* to_ticks, or the kind's own */
    bool *process_selected;                /* by process id; [0] unused */
    u32 *threads;                          /* ids that are wanted, also by name */
    u32 thread_count;
} query_plan;

/* Reads what a caller gave, by its size; NULL is the default. Every public function with a
 * query begins with this and goes on with its own copy. Errors as of etl_read_sized. */
etl_status query_read(const etlheap_query *given, etlheap_query *own, etl_error *err);

/* Refuses contradictions with a sentence. query_close also after failure. */
etl_status query_open(query_plan *out, const etlheap_result *result, const etlheap_query *query,
                      etl_error *err);
void query_close(query_plan *plan);

/* One lifetime as the query sees it. */
typedef struct query_row {
    i64 alloc_ticks;
    i64 free_ticks; /* NEVER too when a process exit does not count */
    etlheap_type type;
} query_row;

/* Did it end in the window? */
static inline bool query_is_freed(const query_row *row)
{
    return row->type == ETLHEAP_TYPE_AIFI || row->type == ETLHEAP_TYPE_AOFI;
}

/* Did a thread free it in the window that is not the one that allocated it? */
static inline bool query_is_freed_by_other(const query_row *row, u32 thread, u32 free_thread)
{
    return query_is_freed(row) && thread != ETL_NO_ID && free_thread != ETL_NO_ID &&
           thread != free_thread;
}

/* What a query may ask of a lifetime besides whose memory it is. */
typedef struct query_block {
    i64 alloc_ticks, free_ticks;
    u64 size_bytes;
    u32 thread;
    u8 free_type;
} query_block;

/* Is memory that the thread allocated selected, or a free of the thread? */
bool query_selects_thread(const query_plan *plan, u32 thread);

/* False: a lifetime of the kind is not selected, whoever owns it. */
bool query_select_block(const query_plan *plan, etlheap_kind kind, const query_block *block,
                        query_row *out);

/* False: row `at` of the segment is not selected. Frame filters are not
 * included; they need the stack. */
bool query_select(const query_plan *plan, const etlheap_segment *segment, u32 at, query_row *out);

/* How long a lifetime lasted; false: it begins or ends outside the trace. */
bool query_lifetime_ns(const query_plan *plan, const query_row *row, i64 *ns);

/* The first ns at or after a window's end in ticks that is after all before it. */
i64 query_end_ns(const query_plan *plan, i64 to_ticks);

/* Does the query select threads, by id or by name? */
static inline bool query_selects_threads(const etlheap_query *query)
{
    return query->thread_count > 0 || query->thread_name_count > 0;
}

/* The kinds that a query selects, as bits. */
static inline u32 query_kinds(const etlheap_query *query)
{
    return query->kinds == 0 ? ETLHEAP_KINDS_DEFAULT : query->kinds;
}

/* Ranges belong to a process, everything else to one of its heaps. */
static inline bool query_kind_has_heap(u8 kind)
{
    return kind != ETLHEAP_KIND_VIRTUALALLOC && kind != ETLHEAP_KIND_RESERVE;
}

/* Is the key among those the query groups by? */
bool query_groups_by(const etlheap_query *query, etlheap_key key);

/* Does it ask of single blocks what does not follow from their owner and stack: type without
 * grouping by it, thread, lifetime, size class, how they end? */
bool query_asks_blocks(const etlheap_query *query);

/* Does it ask who freed? And for the stacks of that? */
bool query_asks_frees(const etlheap_query *query);
bool query_asks_free_stacks(const etlheap_query *query);

/* Will sums by slot and type do (tally.h)? Sizes of single blocks are not in them,
 * and neither is what was in use at one time. */
bool query_asks_sums(const etlheap_query *query);

/* Bits of the types that the query selects. */
u32 query_types(const etlheap_query *query);

/* Does the query select this kind, process and heap? */
bool query_select_owner(const query_plan *plan, etlheap_kind kind, u32 process, u64 heap);

/* Does the frame (module and symbol may be NULL) match, as etl_name_glob says? A module
 * pattern may leave out the file's extension. */
bool query_frame_matches(const etlheap_pattern *pattern, const char *module, const char *symbol);

/* The same for the module alone. */
bool query_module_matches(const etlheap_pattern *pattern, const char *module);

#endif
