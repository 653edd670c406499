/* store_write.h - writes the store of the inputs, or with --summary a summary. */
#ifndef CLI_STORE_WRITE_H
#define CLI_STORE_WRITE_H

#include "cli/system/guard.h"
#include "inputs.h"

/* The result: facts of the traces, or a summary of them. Start from {0}. */
typedef struct cli_stored {
    etlheap_result *facts;
    etlheap_summary *summary;
} cli_stored;

/* True if the options name a part of the recording to store. */
bool cli_store_is_part(const cli_options *options);

/* Writes it to the sink, which stays open, with progress. Free *out in any case. Errors as for
 * etlheap_analyze and etlheap_summary_add_stores. */
etl_status cli_store_write(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, etlheap_sink *sink, cli_stored *out,
                           etl_error *err);

/* The same, to a function. */
etl_status cli_store_write_to(const cli_options *options, const cli_inputs *inputs,
                              const cli_guard *guard, const etlheap_store_options *store,
                              cli_stored *out, etl_error *err);

void cli_stored_free(cli_stored *stored);

/* The diagnostics, after a success. */
const etl_diag_counts *cli_stored_diagnostics(const cli_stored *stored);

#endif
