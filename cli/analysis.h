/*
 * analysis.h - running the engine on a command's inputs, with progress.
 */
#ifndef CLI_ANALYSIS_H
#define CLI_ANALYSIS_H

#include "cli/system/guard.h"
#include "inputs.h"
#include "progress.h"

/* The engine's options that every run over traces has; they borrow from both. */
etlheap_options cli_engine_options(const cli_options *options, cli_progress *progress);

/* Frees what cli_analyze returned, unless somebody keeps it. NULL is allowed. */
void cli_analysis_free(const cli_inputs *inputs, etlheap_result *result);

/* Analyzes the inputs for questions, or without questions only counts records; shows progress.
 * Errors as for etlheap_analyze. */
etl_status cli_analyze(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       const etlheap_question *questions, u32 question_count, etlheap_result **out,
                       etl_error *err);

#endif
