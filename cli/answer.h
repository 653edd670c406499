/* answer.h - runs a command that answers one question about its inputs. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "request.h"

/* What is special about a command. `request` is the first member of what the command makes, so its
 * functions get to the rest of it. */
typedef struct cli_answer {
    /* Asks, and makes the answer. Errors as for cli_request_ask. */
    etl_status (*make)(const cli_options *options, const cli_inputs *inputs, const cli_guard *guard,
                       cli_request *request, etl_error *err);
    /* Writes what was made, and sets all of *written but its sink. */
    void (*write)(const cli_options *options, const cli_request *request, etlheap_sink *sink,
                  cli_written *written);
    /* Frees what was made, or nothing. */
    void (*free)(cli_request *request);
} cli_answer;

/* Opens the inputs and the output, makes and writes the answer, and frees everything. `request`
 * starts from {0}. Returns the command's exit status. */
int cli_answer_run(const cli_options *options, const cli_answer *answer, cli_request *request);

#endif
