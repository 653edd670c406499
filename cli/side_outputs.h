/*
 * side_outputs.h - writes the verdict of a check in further formats, each to a separate file.
 *
 *     one run ──▶ gate ──▶ standard output or -o    the main output
 *                    ├───▶ --junit FILE             side outputs, a row of the options' table
 *                    └───▶ --sarif FILE, ...
 *
 * All have the same verdict, because there is one gate. A file is renamed to its name when it is
 * complete, and all side outputs before the main output: a program that reads the exit status finds
 * the files.
 */
#ifndef CLI_SIDE_OUTPUTS_H
#define CLI_SIDE_OUTPUTS_H

#include "request.h"
#include "cli/system/guard.h"

/* Start from {0}. */
typedef struct cli_side_outputs {
    etlheap_sink *sinks[CLI_SIDE_COUNT]; /* NULL: not requested, or closed */
} cli_side_outputs;

/* Opens the requested files; the guard is active from the first one on. Returns an exit status,
 * after writing a message. */
int cli_side_outputs_open(const cli_options *options, cli_guard *guard, cli_side_outputs *out);

/* Writes the verdict to all of them and completes them. Returns an exit status, after writing a
 * message. */
int cli_side_outputs_write(const cli_options *options, const cli_guard *guard,
                           const cli_request *request, const etlheap_check *check,
                           cli_side_outputs *sides);

/* Removes incomplete files. */
void cli_side_outputs_discard(cli_side_outputs *sides);

#endif
