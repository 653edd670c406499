/*
 * side_outputs.h - the verdict of a check in further formats, each in a file of its own.
 *
 *     one run ──▶ gate ──▶ standard output or -o    the main output
 *                    ├───▶ --junit FILE             side outputs, a row of the options' table
 *                    └───▶ --sarif FILE, ...
 *
 * All say the same verdict, since there is one gate. A file gets its name when it is
 * complete, and all of them before the main output does: what reads the exit status finds
 * the files there.
 */
#ifndef CLI_SIDE_OUTPUTS_H
#define CLI_SIDE_OUTPUTS_H

#include "cli/options/options.h"
#include "cli/system/guard.h"

/* Start from {0}. */
typedef struct cli_side_outputs {
    etlheap_sink *sinks[CLI_SIDE_COUNT]; /* NULL: not asked for, or closed */
} cli_side_outputs;

/* Opens the files that are asked for; the guard is active from the first one on. Returns an
 * exit status, having complained. */
int cli_side_outputs_open(const cli_options *options, cli_guard *guard, cli_side_outputs *out);

/* Writes the verdict into all of them and completes them. Returns an exit status, having
 * complained. */
int cli_side_outputs_write(const cli_options *options, const cli_guard *guard,
                           const etlheap_result *result, const etlheap_check *check,
                           cli_side_outputs *sides);

/* Removes what is not complete. */
void cli_side_outputs_discard(cli_side_outputs *sides);

#endif
