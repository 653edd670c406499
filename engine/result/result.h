/* result.h - the result of an analysis; private to the engine. */
#ifndef ETLHEAP_RESULT_H
#define ETLHEAP_RESULT_H

#include "engine/context/mark_list.h"
#include "engine/context/modules.h"
#include "engine/context/thread_names.h"
#include "engine/log/event_list.h"
#include "engine/log/store.h"
#include "engine/pair/shard.h"

#include "told_names.h"

#define RESULT_UNNAMED_PROCESS "Unknown" /* the name of a process that no record names */

/* What a result keeps about memory, set once by the code that makes it. The first value answers
 * nothing, so a result without a mode refuses questions. */
typedef enum result_mode {
    RESULT_FACTS,      /* only processes, modules and counts of records */
    RESULT_LIFETIMES,  /* all lifetimes, in memory */
    RESULT_SUMS,       /* sums by origin, for one window */
    RESULT_EVENT_LIST, /* heap events in time order, for one window */
    RESULT_STORE,      /* heap events stay in the file of the archive */
    RESULT_SUMMARY,    /* totals of many recordings */
    RESULT_MODE_COUNT
} result_mode;

/* What a question needs. Every mode except FACTS has ROWS, if only for some queries: other
 * conditions are checked when the window is known. */
typedef enum result_need {
    RESULT_NEED_ROWS,         /* sums, peaks and windows by group */
    RESULT_NEED_THREADS,      /* the same by allocating thread, or for selected threads */
    RESULT_NEED_FREES,        /* the stacks that freed */
    RESULT_NEED_FREE_THREADS, /* the threads that freed */
    RESULT_NEED_EACH,         /* lifetimes one by one, in order */
    RESULT_NEED_LIST,         /* the same with thread and address */
    RESULT_NEED_COLUMNS,      /* lifetimes in memory, as columns */
    RESULT_NEED_ADDRESSES,    /* where blocks lie, but not who made them */
    RESULT_NEED_COUNT
} result_need;

/* The part of a recording that a store has. */
typedef struct result_part {
    etlheap_part as_public; /* words of the last cut */
    bool is_part;
    bool by_process;
    ETLHEAP_VECTOR(const char *) words;
    ETLHEAP_VECTOR(u32) processes; /* ids of the part's, ascending; of all, unless by_process */
} result_part;

struct etlheap_result {
    result_mode mode;
    bool is_snapshot;       /* made from another tool's list; its modules have no builds */
    bool keeps_named_kinds; /* also rows of kinds that are selected only by name */
    timebase base;
    trace_context context;
    module_table modules;
    stack_table stacks;
    foreign_stacks foreign; /* foreign stacks, with final process ids */
    lifetime_table store;
    struct ehs_archive *archive; /* the store that it was read from; NULL: a trace */
    event_list event_list;       /* heap blocks, if only a report was requested */
    origin_table origin_table;   /* the origins of the event list */
    origin_table freers;         /* who freed (order_freers.h); for a log or a store */
    lifetime_table unmatched;    /* frees of unknown memory, of other kinds than heap */
    u32 *process_ids;            /* final id by the run's id */
    u32 *keyed_ids;              /* final stack of each keyed node */
    waiting_origin *origins;     /* of stacks that came late */
    heap_size_list heap_sizes;
    memory_rows memory;
    thread_names thread_names;
    mark_list marks;
    told_names told; /* names of functions, of an anonymised store */
    ETLHEAP_VECTOR(etlheap_process_info) processes;
    ETLHEAP_VECTOR(etlheap_hook_count) hooks;
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    ETLHEAP_VECTOR(etlheap_event_count) events; /* of providers */
    etlheap_trace_info info;
    ETLHEAP_VECTOR(const char *) files;
    ETLHEAP_VECTOR(etlheap_summary_file) recorded; /* files that the store was made of */
    struct summary_data *summary;                  /* NULL: not a summary */
    result_part part;
    etlheap_stack_counts stack_counts;
    etlheap_abilities abilities;
    etl_diag_counts diag;
    etl_diag_counts inventory_diag; /* diagnostics of an inventory of the traces, for stores */
    i64 first_ticks;                /* earliest memory event or time zero */
    i64 last_ticks;                 /* latest record */
};

/* What a finished run hands over to make a result. */
typedef struct result_parts {
    etl_trace *const *traces;
    const char *const *names;
    u32 trace_count;
    record_inventory *inventory;
    const heap_notes *heap_notes;     /* may be NULL */
    const memory_notes *memory_notes; /* may be NULL */
    u64 free_stacks;                  /* stacks of frees, if they were counted */
    const process_counts *counts;     /* by process id - 1 */
    size_t count_count;
} result_parts;

/* Notes which processes asked for memory of kinds that outlive them. Rows have final numbers. */
void result_note_askers(etlheap_result *result);

/* The stack behind a reference, 0: none. */
static inline u32 result_final_stack(const etlheap_result *result, stack_ref ref)
{
    if ((ref & STACK_TAG_MASK) == STACK_TAG_WAITING)
        ref = result->origins[ref & STACK_NUMBER_MAX].stack;
    if ((ref & STACK_TAG_MASK) == STACK_TAG_KEYED)
        return result->keyed_ids[ref & STACK_NUMBER_MAX];
    assert((ref & STACK_TAG_MASK) == 0);
    return ref;
}

/*
 * Checks whether the result can answer a question, by its mode and the columns of its store. Every
 * public function about memory calls this, most of them through query_open(), so that no empty
 * table stands for "cannot answer". ETL_ERR_ARGUMENT, with a message.
 */
etl_status result_answers(const etlheap_result *result, result_need need, etl_error *err);

/* The kinds that the recording has events of, as bits. Those of heaps are not all about extents. */
u32 result_kinds_seen(const etlheap_result *result);

/* ETL_ERR_ARGUMENT, with a sentence, if the recording has events of one of the kinds, but the
 * result kept none of its blocks or ranges. */
etl_status result_keeps(const etlheap_result *result, u32 kinds, etl_error *err);

/*
 * For a store of a part. result_part_default gives a query without a window or kinds those of the
 * part. result_part_refuse fails for a window, kinds or processes that the part does not have:
 * ETL_ERR_UNSUPPORTED with a sentence that names what is missing, or ETL_ERR_MEMORY.
 */
void result_part_default(const etlheap_result *result, etlheap_query *query);
etl_status result_part_refuse(const etlheap_result *result, const etlheap_query *query,
                              etl_error *err);

/* Compares providers: messages last, then by GUID as printed. For qsort. */
int result_by_guid(const void *a, const void *b);

/*
 * Completes a result that has its context, stacks and store: orders processes by (pid, start), sets
 * final ids in the store's columns, and builds the module table and the trace summary.
 * ETL_ERR_MEMORY; ETL_ERR_IO if the event list cannot be read back.
 */
etl_status result_complete(etlheap_result *result, const result_parts *parts);

#endif
