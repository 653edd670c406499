/*
 * analysis.h - running the engine on a command's inputs, with progress.
 */
#ifndef CLI_ANALYSIS_H
#define CLI_ANALYSIS_H

#include "guard.h"
#include "inputs.h"

/* Analyzes the inputs, showing progress. census_only: count, keep no lifetimes.
 * Errors as of etlheap_analyze. */
etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       bool census_only, etlheap_result **out, etl_error *err);

#endif
