/* report_spikes.h - `etlheap report --spikes`. */
#ifndef CLI_REPORT_SPIKES_H
#define CLI_REPORT_SPIKES_H

#include "cli/request.h"

/* Runs the command; returns its exit status. */
int cli_run_spikes(const cli_options *options);

/* Asks for the spikes that the query finds, as many as --top or the format says. The caller owns
 * *out (etlheap_spikes_free). */
etl_status cli_spikes_ask(const cli_options *options, const cli_inputs *inputs,
                          const cli_guard *guard, cli_request *request, etlheap_spikes **out,
                          etl_error *err);

#endif
