/*
 * analysis.h - running the engine on a command's inputs, with progress.
 */
#ifndef CLI_ANALYSIS_H
#define CLI_ANALYSIS_H

#include "guard.h"
#include "inputs.h"

/* Analyzes the inputs for one report, or without one only counts what they hold;
 * shows progress. Errors as of etlheap_analyze. */
etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const etlheap_query *report, etlheap_result **out, etl_error *err);

#endif
