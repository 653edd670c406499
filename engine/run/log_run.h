/*
 * log_run.h - analyses that keep all heap events in an event log.
 *
 * Questions about single blocks need all events. The events are stored as in a store, by the same
 * code and in the same columns: in memory while they are few, otherwise in a temporary file without
 * a name. The result is then one that was read from a store, so the code that answers questions
 * does not need to know where the log is.
 */
#ifndef ETLHEAP_LOG_RUN_H
#define ETLHEAP_LOG_RUN_H

#include "engine_run.h"
#include "options_read.h"

/* True if the questions need an event log, because an event list for one question does not answer
 * them. False if memory runs out; the next step reports that. */
bool log_run_wanted(const traces_named *traces, const options_read *read);

/* Bytes of a log that are kept in memory. The rest goes to a file, if there is a temporary
 * folder. */
#define LOG_MEMORY_BYTES ((u64)96 << 20)

typedef struct log_run_options {
    u64 memory_bytes_max; /* limit for the log's bytes, if there is a temporary folder */
    bool with_inventory;  /* the result also has the counts of records */
    bool with_addresses;  /* the result has the frames of its stacks as addresses */
    u32 needs;            /* columns that questions need: bits of needs.h */
} log_run_options;

/* Analyzes the traces into a log and opens it. options->questions and options->store are ignored.
 * Errors as for etlheap_analyze. */
etl_status log_run(const traces_named *traces, const etlheap_options *options,
                   const log_run_options *how, etlheap_result **out, etl_error *err);

/* Analyzes the traces into a temporary store and writes options->store->part of it. *out has the
 * facts of the traces. Errors as for etlheap_analyze and etlheap_store_part. */
etl_status log_run_part(const traces_named *traces, const etlheap_options *options,
                        etlheap_result **out, etl_error *err);

#endif
