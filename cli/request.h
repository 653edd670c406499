/* request.h - a query over a command's inputs, with function names; shared by `report`, `symbols`
 * and other commands. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "inputs.h"
#include "report_query.h"
#include "symbol_source.h"

#define CLI_ASKED_MAX 2u

/* Start from {0}. Must not move after cli_request_ask. */
typedef struct cli_request {
    cli_query query;
    /* The questions that the command will ask; none: a table of the query. */
    etlheap_question asked[CLI_ASKED_MAX];
    u32 asked_count;
    etlheap_result *result;
    bool is_kept; /* the result is, by a session */
    cli_symbols symbols;
    etlheap_query excluded_query;  /* about what --exclude-frame leaves out */
    const etlheap_table *excluded; /* its answer; NULL: nothing is to be left out */
} cli_request;

/* Reads the options and opens the output, so that errors in either are reported before the long
 * work. Returns an exit status, after writing a message. */
int cli_request_open(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                     cli_request *out, etlheap_sink **sink);

/* Adds a question about a query, which is borrowed. Returns it, to set its other members. */
etlheap_question *cli_request_add(cli_request *request, etlheap_question_kind kind,
                                  const etlheap_query *query);

/* Analyzes the inputs for the questions and opens the symbols; with `always`, even without a symbol
 * path. Errors as for etlheap_analyze and etlheap_symbols_open. */
etl_status cli_request_ask(const cli_options *options, const cli_inputs *inputs,
                           const cli_guard *guard, bool always, cli_request *request,
                           etl_error *err);

/* Asks how much --exclude-frame leaves out of the answer, if it is given. Call it after the answer
 * is made. Errors as for etlheap_aggregate. */
etl_status cli_request_exclude(cli_request *request, etl_error *err);

/* The layout of the answer to a question, with what --exclude-frame left out. */
etlheap_layout cli_request_layout(const cli_options *options, const cli_request *request);

/* A written answer; its writer returned `status`. */
typedef struct cli_written {
    etl_status status;
    etlheap_sink *sink;
    bool is_empty;                      /* nothing is selected */
    const etl_diag_counts *diagnostics; /* of the answer */
    const etlheap_table *named;         /* table that should have function names; NULL: none */
} cli_written;

/* Completes the output, and writes notes to stderr about filters that select nothing, missing names
 * and losses. Returns the command's exit status. */
int cli_request_end(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                    const cli_request *request, const cli_written *written);

/* Frees it. First free what was made from the result. */
void cli_request_close(cli_request *request);

#endif
