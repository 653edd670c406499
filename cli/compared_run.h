/*
 * compared_run.h - one of the recordings that `diff` and `trend` compare.
 *
 * All are asked the same question. All their frames are named before they are
 * compared, not only those that are shown: names decide what is the same.
 */
#ifndef CLI_COMPARED_RUN_H
#define CLI_COMPARED_RUN_H

#include "question.h"

/* Start from {0}. Does not move once it is asked. */
typedef struct cli_compared_run {
    cli_options options; /* with this input alone; what they point to is the command's */
    cli_inputs inputs;
    cli_question question;
    const etlheap_table *table;
} cli_compared_run;

/* What the rows of a comparison are, if the user does not say it. */
typedef struct cli_compared_keys {
    const etlheap_key *at;
    u32 count;
} cli_compared_keys;

/* Refuses what makes no sense for any inputs: groupings and measures that mean something in one
 * run alone. Returns an exit status, having complained; so do the next two. */
int cli_compared_check(const cli_options *options);

/* Opens input `index`. It has its share of the memory that was promised: all inputs are held at
 * once. */
int cli_compared_open(const cli_options *options, u32 index, cli_compared_keys keys,
                      cli_guard *guard, cli_compared_run *out);

/* Whether --from and --to fit: said before the output is opened. */
int cli_compared_check_window(const cli_compared_run *run);

/* Fills in the table, with names. The question is read here unless cli_question_open did. */
etl_status cli_compared_ask(const cli_guard *guard, cli_compared_run *run, etl_error *err);

void cli_compared_close(cli_compared_run *run);

#endif
