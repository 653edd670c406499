/*
 * baseline.h - the run that a check compares with, and the ratchet that replaces it.
 *
 *     --accept: nothing was measured, or lossy  it stays as it is
 *     --accept                                  this run is the next baseline
 *     --strict, and the exit status is 4        it stays as it is
 *     pass, no baseline yet, something measured the same
 *     pass, nothing larger, something smaller   the same
 *     else                                      it stays as it is
 *
 * So a baseline only ever tightens by itself: many small steps that each pass add up
 * against the smallest run there was. What proves nothing never becomes a baseline,
 * since later runs would be compared with it.
 */
#ifndef CLI_BASELINE_H
#define CLI_BASELINE_H

#include "question.h"

/* Start from {0}. Does not move once it is asked. */
typedef struct cli_baseline {
    bool exists;
    cli_options options; /* with its file as the input; what they point to is the command's */
    cli_inputs inputs;
    cli_question question;
    etlheap_sink *next; /* its successor, until it has its name */
} cli_baseline;

/*
 * Opens the file of --baseline, if there is one; without a file it does not exist,
 * which is an error unless it is to be made. Returns an exit status, having said what
 * is wrong.
 */
int cli_baseline_open(const cli_options *options, cli_guard *guard, cli_baseline *out);
void cli_baseline_close(cli_baseline *baseline);

/* The part of --memory for each of what is in memory at once: this run, the baseline,
 * and its successor as it is written. 0: no limit. */
u64 cli_baseline_share(const cli_options *options, const cli_baseline *baseline);

/* Analyzes it. Errors as of etlheap_analyze and etlheap_symbols_open. */
etl_status cli_baseline_ask(const cli_guard *guard, cli_baseline *baseline, etl_error *err);

/* What is to become of it after this verdict. */
etlheap_ratchet cli_baseline_decide(const cli_options *options, const cli_baseline *baseline,
                                    const etlheap_gate *gate);

/* Writes the inputs as a store beside the baseline. Returns an exit status, having
 * complained. */
int cli_baseline_write(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                       cli_baseline *baseline);

/* Puts what was written in the baseline's place. */
int cli_baseline_replace(const cli_options *options, const cli_guard *guard,
                         cli_baseline *baseline);

#endif
