/*
 * store_run.h - a run whose result is a `.ehs` file.
 *
 * While the trace is read, heap events leave by store_batch.h and lifetimes of
 * other kinds as rows, under the numbers that processes and stacks have in the
 * run. What these come to be is known at the end, and written then with all
 * facts of the trace. So what stays in memory is what any run keeps, a batch of
 * each, and some bits for every event.
 */
#ifndef ETLHEAP_STORE_RUN_H
#define ETLHEAP_STORE_RUN_H

#include "engine/log/ehs_rows.h"
#include "engine/log/store_batch.h"
#include "engine/result/result.h"

/* A stack of rows that left before it was known, and how many of them began in
 * the trace. */
typedef struct provisional_stack {
    stack_ref stack;
    u32 allocs;
} provisional_stack;

typedef struct store_run {
    ehs_writer writer;
    etlheap_crew *crew; /* borrowed */
    store_batch batch;
    u32 row_parts; /* written */
    ETLHEAP_VECTOR(provisional_stack) provisional;
    size_t provisional_kept; /* distinct ones, when last looked at */
    u64 bare_rows;           /* that have no stack and never will */
} store_run;

/* Notes in the result which files the store is made of. False without memory. */
bool store_run_record(etlheap_result *result, etl_trace *const *traces, const char *const *names,
                      u32 trace_count);

/* Begins the file; the journal, which is just opened, hands its chunks over from
 * here on. The run is to be freed in any case. MEMORY, IO. */
etl_status store_run_open(store_run *run, const etlheap_store_options *options, etlheap_crew *crew,
                          event_journal *journal, u64 memory_bytes_max);

/* After the shards of a slice were drained: rows leave when there are many, or if
 * these were the last. MEMORY, IO. */
etl_status store_run_slice(store_run *run, etlheap_result *result, bool is_last);

/* After the result was completed: writes what is left and ends the file. The
 * journal is empty then, and the result holds facts alone. MEMORY, IO. */
etl_status store_run_finish(store_run *run, etlheap_result *result);

u64 store_run_bytes(const store_run *run);
void store_run_free(store_run *run);

#endif
