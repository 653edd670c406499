/*
 * commands.h - the functions of the subcommands; the table is in main.c.
 *
 * Each takes parsed options and returns an exit status, after writing any message to stderr.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options/options.h"

int cli_run_report(const cli_options *options);
int cli_run_allocations(const cli_options *options);
int cli_run_windows(const cli_options *options);
int cli_run_diff(const cli_options *options);
int cli_run_trend(const cli_options *options);
int cli_run_symbols(const cli_options *options);
int cli_run_info(const cli_options *options);
int cli_run_store(const cli_options *options);
int cli_run_check(const cli_options *options);
int cli_run_merge(const cli_options *options);
int cli_run_export(const cli_options *options);
int cli_run_dump(const cli_options *options);
int cli_run_view(const cli_options *options);
int cli_run_selftest(const cli_options *options);

#endif
