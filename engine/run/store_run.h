/*
 * store_run.h - a run that writes a store (.ehs).
 *
 * While the trace is read, heap events leave through store_batch.h, and lifetimes of other kinds as
 * rows, with the numbers that processes and stacks have during the run. The final numbers are known
 * at the end, and are written then with all facts of the trace. So memory holds only what every run
 * keeps, one batch, and a few bits per event.
 */
#ifndef ETLHEAP_STORE_RUN_H
#define ETLHEAP_STORE_RUN_H

#include "engine/log/ehs_rows.h"
#include "engine/log/store_batch.h"
#include "engine/result/result.h"
#include "engine_run.h"

/* A stack that was not yet known when its rows were written, and how many of these rows began in
 * the trace. */
typedef struct provisional_stack {
    stack_ref stack;
    u32 allocs;
} provisional_stack;

typedef struct store_run {
    ehs_writer writer;
    etlheap_crew *crew; /* borrowed */
    store_batch batch;
    u32 row_parts; /* parts written */
    ETLHEAP_VECTOR(provisional_stack) provisional;
    size_t provisional_kept; /* distinct stacks at the last check */
    u64 bare_rows;           /* rows that will never have a stack */
    bool is_log;             /* stacks stay in the result */
} store_run;

/* Records in the result the files that the store is made of; store_run_finish identifies them.
 * False if memory runs out. */
bool store_run_record(etlheap_result *result, const char *const *names, u32 trace_count);

/* What is written. Borrowed. */
typedef struct store_run_options {
    const etlheap_store_options *store;
    const log_extra *log; /* NULL: a store */
    u64 memory_bytes_max; /* 0: no limit */
} store_run_options;

/* Begins the file. The event list must be new; it hands its chunks to this run from now on. Free
 * the run even after a failure. ETL_ERR_MEMORY, ETL_ERR_IO. */
etl_status store_run_open(store_run *run, const store_run_options *how, etlheap_crew *crew,
                          event_list *list);

/* Call it after each slice, when its shards are drained. Writes the rows if there are many or if
 * these are the last. ETL_ERR_MEMORY, ETL_ERR_IO. */
etl_status store_run_slice(store_run *run, etlheap_result *result, bool is_last);

/* Call it when the result is complete; `traces` are those that were recorded, and indexed. Writes
 * the rest and ends the file. The event list is then empty, and the result holds only facts.
 * ETL_ERR_MEMORY, ETL_ERR_IO. */
etl_status store_run_finish(store_run *run, etlheap_result *result, etl_trace *const *traces);

u64 store_run_bytes(const store_run *run);
void store_run_free(store_run *run);

#endif
