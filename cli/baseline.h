/*
 * baseline.h - the run that a check compares with, and the rules that replace it.
 *
 *     --accept: nothing was measured, or lossy         unchanged
 *     --accept                                         this run is the next baseline
 *     pass, no baseline yet, something was measured    this run is the next baseline
 *     pass, nothing larger, something smaller          this run is the next baseline
 *     else                                             unchanged
 *
 * So by itself a baseline only gets tighter: many small increases that each pass are still compared
 * with the smallest run so far. A run that proves nothing never becomes a baseline, because later
 * runs would be compared with it.
 */
#ifndef CLI_BASELINE_H
#define CLI_BASELINE_H

#include "request.h"

/* Start from {0}. Must not move after cli_baseline_ask. */
typedef struct cli_baseline {
    bool exists;
    cli_options options; /* with its file as the input; pointers are the command's */
    cli_inputs inputs;
    cli_request request;
    etlheap_sink *next; /* the next baseline, until it is renamed */
} cli_baseline;

/* Opens the file of --baseline, if the option is given. A missing file is an error, unless the
 * baseline is to be created. Returns an exit status, after writing a message. */
int cli_baseline_open(const cli_options *options, cli_guard *guard, cli_baseline *out);
void cli_baseline_close(cli_baseline *baseline);

/* The share of --memory for each of this run, the baseline, and the next one while it is written.
 * 0: no limit. */
u64 cli_baseline_share(const cli_options *options, const cli_baseline *baseline);

/* Analyzes the baseline. Errors as for etlheap_analyze and etlheap_symbols_open. */
etl_status cli_baseline_ask(const cli_guard *guard, cli_baseline *baseline, etl_error *err);

/* Decides what happens to the baseline after this verdict. */
etlheap_ratchet cli_baseline_decide(const cli_options *options, const cli_baseline *baseline,
                                    const etlheap_gate *gate);

/* Writes the inputs as a store next to the baseline. Returns an exit status, after writing a
 * message. */
int cli_baseline_write(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       cli_baseline *baseline);

/* Replaces the baseline with the new store. */
int cli_baseline_replace(const cli_options *options, const cli_guard *guard,
                         cli_baseline *baseline);

#endif
