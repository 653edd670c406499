/*
 * result.h - what an analysis leaves behind; private to the engine.
 */
#ifndef ETLHEAP_RESULT_H
#define ETLHEAP_RESULT_H

#include "engine/context/mark_list.h"
#include "engine/context/modules.h"
#include "engine/context/thread_names.h"
#include "engine/log/journal.h"
#include "engine/log/store.h"
#include "engine/pair/shard.h"

/* What a result keeps of memory; whoever makes a result sets it once. The first one
 * answers nothing, so that a result whose maker forgot it refuses. */
typedef enum result_mode {
    RESULT_FACTS,     /* processes, modules and counts of records alone */
    RESULT_LIFETIMES, /* every lifetime, in memory */
    RESULT_SUMS,      /* sums by slot, of one window */
    RESULT_JOURNAL,   /* heap events in time order, of one window */
    RESULT_STORE,     /* heap events stay in the file of the archive */
    RESULT_SUMMARY,   /* totals of many recordings */
    RESULT_MODE_COUNT
} result_mode;

/* What a question takes. Every mode but FACTS has ROWS, if only of some queries:
 * what else a query must not ask for is checked where its window is known. */
typedef enum result_question {
    RESULT_ASK_ROWS,         /* sums, peaks and windows by group */
    RESULT_ASK_THREADS,      /* the same by the thread that allocated, or of some threads alone */
    RESULT_ASK_FREES,        /* who freed */
    RESULT_ASK_EACH,         /* lifetimes one by one, in order */
    RESULT_ASK_LIST,         /* the same with thread and address */
    RESULT_ASK_COLUMNS,      /* lifetimes in memory, as columns */
    RESULT_ASK_RESERVATIONS, /* rows of kind RESERVE */
    RESULT_ASK_ADDRESSES,    /* where blocks lie, but not who made them */
    RESULT_QUESTION_COUNT
} result_question;

struct etlheap_result {
    result_mode mode;
    bool is_snapshot; /* of another tool's list, whose modules have no builds */
    bool keeps_reservations;
    timebase base;
    trace_context context;
    module_table modules;
    stack_table stacks;
    foreign_stacks foreign; /* of those, with final process ids */
    allocation_store store;
    struct ehs_archive *archive; /* the store it was read from; NULL: a trace */
    event_journal journal;       /* heap blocks, when only a report was asked for */
    slot_table slot_table;       /* what the journal's slots are */
    slot_table actors;           /* who freed, see order_actors.h; of a log, or a store */
    allocation_store unmatched;  /* frees of other kinds than heap whose range is not known */
    u32 *process_ids;            /* final id by the run's id */
    u32 *deferred_ids;           /* final stack of each deferred node */
    waiting_slot *slots;         /* of stacks that came late */
    heap_size_list heap_sizes;
    memory_rows memory;
    thread_names thread_names;
    mark_list marks;
    ETLHEAP_VECTOR(etlheap_process_info) processes;
    ETLHEAP_VECTOR(etlheap_hook_count) hooks;
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    ETLHEAP_VECTOR(etlheap_event_count) events; /* of providers */
    etlheap_trace_info info;
    ETLHEAP_VECTOR(const char *) files;
    ETLHEAP_VECTOR(etlheap_summary_file) recorded; /* files that a store was made of */
    struct summary_data *summary;                  /* NULL: it is none */
    etlheap_stack_counts stack_counts;
    etlheap_abilities abilities;
    etl_diag_counts diag;
    etl_diag_counts census_diag; /* of a census of the same traces, for stores */
    i64 first_ticks;             /* earliest memory event or time zero */
    i64 last_ticks;              /* latest record */
};

/* What a finished run hands over to make a result of. */
typedef struct result_parts {
    etl_trace *const *traces;
    const char *const *names;
    u32 trace_count;
    record_census *census;
    const heap_notes *heap_notes;     /* may be NULL */
    const memory_notes *memory_notes; /* may be NULL */
    const process_counts *counts;     /* by process id - 1 */
    size_t count_count;
} result_parts;

/* The stack behind a reference, 0: none. */
static inline u32 result_final_stack(const etlheap_result *result, stack_ref ref)
{
    if ((ref & STACK_TAG_MASK) == STACK_TAG_WAITING)
        ref = result->slots[ref & STACK_NUMBER_MAX].stack;
    if ((ref & STACK_TAG_MASK) == STACK_TAG_DEFERRED)
        return result->deferred_ids[ref & STACK_NUMBER_MAX];
    assert((ref & STACK_TAG_MASK) == 0);
    return ref;
}

/*
 * Can the result answer, by its mode and by the columns of its store? Every public function that is asked about memory goes through
 * here, most of them by query_open(): no empty table is the answer to "cannot".
 * ETL_ERR_ARGUMENT, with a sentence in *err.
 */
etl_status result_answers(const etlheap_result *result, result_question question, etl_error *err);

/* The order of providers: messages last, by GUID as it is printed. For qsort. */
int result_by_guid(const void *a, const void *b);

/*
 * Fills the descriptive parts of a result whose context, stacks and store are
 * complete: orders processes by (pid, start), puts final ids into the store's
 * process and stack columns, builds the module table and the trace summary.
 * ETL_ERR_MEMORY; ETL_ERR_IO when the journal cannot be read back.
 */
etl_status result_complete(etlheap_result *result, const result_parts *parts);

#endif
