/*
 * compared_run.h - one of the recordings that `diff` and `trend` compare.
 *
 * All are asked the same question. All their frames are named before they are compared, not only
 * those that are shown, because names decide which rows are the same.
 */
#ifndef CLI_COMPARED_RUN_H
#define CLI_COMPARED_RUN_H

#include "request.h"

/* Start from {0}. Must not move after cli_compared_ask. */
typedef struct cli_compared_run {
    cli_options options; /* with only this input; pointers are the command's */
    cli_inputs inputs;
    cli_request request;
    etlheap_table *table;
} cli_compared_run;

/* The default keys of a comparison. */
typedef struct cli_compared_keys {
    const etlheap_key *at;
    u32 count;
} cli_compared_keys;

/* Refuses keys and measures that are valid only within one run. Returns an exit status, after
 * writing a message, as do the next two. */
int cli_compared_check(const cli_options *options);

/* How many rows the output has at most, 0: all. Formats for people leave out rows themselves,
 * because they count those. */
u32 cli_compared_rows(const cli_options *options);

/* The layout of the output; `asked` are the options that the answer depends on. */
etlheap_layout cli_compared_layout(const cli_options *options, const cli_words *asked);

/* Opens input `index`, with its share of the allowed memory, because all inputs are in memory
 * together. */
int cli_compared_open(const cli_options *options, u32 index, cli_compared_keys keys,
                      cli_guard *guard, cli_compared_run *out);

/* Checks --from and --to before the output is opened. */
int cli_compared_check_window(const cli_compared_run *run);

/* Makes the table, with names. Reads the question, unless cli_request_open did. */
etl_status cli_compared_ask(const cli_guard *guard, cli_compared_run *run, etl_error *err);

void cli_compared_close(cli_compared_run *run);

#endif
