/*
 * analysis.h - running the engine on a command's inputs, with progress.
 */
#ifndef CLI_ANALYSIS_H
#define CLI_ANALYSIS_H

#include "cli/system/guard.h"
#include "inputs.h"

/* What the result is for; report and windows are those of etlheap_options. */
typedef struct cli_purpose {
    const etlheap_query *report;
    const etlheap_windows_options *windows; /* NULL: other than windows */
} cli_purpose;

/* Analyzes the inputs, or without a purpose only counts what they hold; shows
 * progress. Errors as of etlheap_analyze. */
etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const cli_purpose *purpose, etlheap_result **out, etl_error *err);

#endif
