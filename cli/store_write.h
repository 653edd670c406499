/*
 * store_write.h - the store of inputs, or the summary that --summary asks for.
 */
#ifndef CLI_STORE_WRITE_H
#define CLI_STORE_WRITE_H

#include "cli/system/guard.h"
#include "inputs.h"

/* What came of it: facts of the traces, or a summary of them. Start from {0}. */
typedef struct cli_stored {
    etlheap_result *facts;
    etlheap_summary *summary;
} cli_stored;

/* Writes it to the sink, which stays open, with progress. *out is to be freed in any
 * case. Errors as of etlheap_analyze and etlheap_summary_add_stores. */
etl_status cli_store_write(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, etlheap_sink *sink, cli_stored *out,
                           etl_error *err);

void cli_stored_free(cli_stored *stored);

/* After a success. */
const etl_diag_counts *cli_stored_diagnostics(const cli_stored *stored);

#endif
