/*
 * question.h - a query over a command's inputs, with names of functions: what
 * `report` and `symbols` have in common.
 */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "inputs.h"
#include "report_query.h"
#include "symbol_source.h"

#define CLI_ASKED_MAX 2u

/* Start from {0}. Does not move once it is asked. */
typedef struct cli_question {
    cli_query query;
    /* What the command will ask of the result; none: a table of the query. */
    etlheap_question asked[CLI_ASKED_MAX];
    u32 asked_count;
    etlheap_result *result;
    cli_symbols symbols;
} cli_question;

/*
 * Reads the options and opens the output: what is wrong with either is said before
 * the long work. Returns an exit status; on failure it was said on stderr.
 */
int cli_question_open(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                      cli_question *out, etlheap_sink **sink);

/* One question more, of a query that is borrowed. Returns it, for what else it takes. */
etlheap_question *cli_question_add(cli_question *question, etlheap_question_kind kind,
                                   const etlheap_query *query);

/* Analyzes the inputs for what is asked and has symbols ready; `always`: without a symbol path too.
 * Errors as of etlheap_analyze and etlheap_symbols_open. */
etl_status cli_question_ask(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, bool always, cli_question *question,
                            etl_error *err);

/* An answer whose writer has returned `status`. */
typedef struct cli_written {
    etl_status status;
    etlheap_sink *sink;
    bool is_empty;                      /* nothing is selected */
    const etl_diag_counts *diagnostics; /* of the answer */
    const etlheap_table *named;         /* whose functions should have names; NULL: none */
} cli_written;

/* Completes the output, and notes on stderr which filters select nothing, that names are missing,
 * and what was lost. Returns the command's exit status. */
int cli_question_end(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                     const cli_question *question, const cli_written *written);

/* After what was made of the result is freed. */
void cli_question_close(cli_question *question);

#endif
