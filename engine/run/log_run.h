/*
 * log_run.h - analyses whose heap events stay in a log.
 *
 * What a question asks of single blocks can only be answered from all events. They are kept as
 * a store keeps them, by the same code and in the same columns: in memory while they are few,
 * and otherwise in a temporary file without a name. The result is then one that was read from
 * a store, so that nothing that answers it need know where the log is.
 */
#ifndef ETLHEAP_LOG_RUN_H
#define ETLHEAP_LOG_RUN_H

#include "engine_run.h"
#include "options_read.h"

/* Do the questions take a log? Not one alone that a journal answers. False without memory too:
 * whoever goes on finds that out. */
bool log_run_wanted(const traces_named *traces, const options_read *read);

/* Bytes of a log that stay in memory; the rest goes to a file, if there may be one. */
#define LOG_MEMORY_BYTES ((u64)64 << 20)

typedef struct log_run_options {
    u64 memory_bytes_max; /* for the log's bytes, if there is a temporary folder */
    bool with_census;     /* the result says what `info` would of the traces */
    bool with_frees;      /* and who freed */
} log_run_options;

/*
 * Analyzes the traces into a log and opens it. Of the options `questions` and `store` do not
 * count. Errors as of etlheap_analyze.
 */
etl_status log_run(const traces_named *traces, const etlheap_options *options,
                   const log_run_options *how, etlheap_result **out, etl_error *err);

#endif
