/*
 * inputs.h - what a command works on: traces or a store, from files, packed ones and standard
 * input.
 */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/options/clock.h"
#include "cli/options/options.h"
#include "cli/system/guard.h"

typedef struct cli_inputs {
    etl_trace **traces;
    char **names; /* as in messages and output: the path, or "zip/member" */
    u32 count;
    etlheap_umdh *log;          /* of UMDH, alone, called names[0]; NULL: none */
    char *store;                /* then there are no traces; NULL: none */
    etlheap_unpacked *unpacked; /* whose temporary file the store is; NULL: none */
    char *store_name;           /* as in messages */
    cli_clock clock;            /* of the recording: what times on the command line mean */
    etlheap_marks *marks;       /* of traces, if an option names one; NULL: not read */
    etlheap_result *facts;      /* of a store, likewise */
} cli_inputs;

/*
 * Opens every input of the options. Returns an exit status; on failure the
 * sentence, which names the file, was written to stderr. *out is to be closed
 * in every case. The guard is active while temporary files exist.
 */
int cli_inputs_open(const cli_options *options, cli_guard *guard, cli_inputs *out);

/* Opens one input behind those that are open, and says nothing: *err does. The guard
 * is active. A store is opened by whoever reads it. */
etl_status cli_inputs_add(const cli_options *options, const char *path, cli_guard *guard,
                          cli_inputs *out, etl_error *err);

/* Any number of stores. What is packed is in temporary files, as long as they are open. */
typedef struct cli_stores {
    const char **paths;          /* as many as there are inputs, which are their names */
    etlheap_unpacked **unpacked; /* whose file a path is; NULL: the input itself */
    u32 count;
} cli_stores;

/* Finds the stores that the inputs are: an exit status; the sentence about what is no store, or
 * given twice, was written to stderr. *out is to be closed in every case. The guard is active
 * while temporary files exist. */
int cli_stores_open(const cli_options *options, cli_guard *guard, cli_stores *out);
void cli_stores_close(cli_stores *stores);

/* For commands that need the traces themselves: false, said to the user, when the
 * input is a store. */
bool cli_inputs_need_traces(const cli_inputs *inputs, const char *why);

/* For UMDH logs: says on stderr which option asks about times, which a log does not have. Returns an
 * exit status. */
int cli_refuse_times(const cli_options *options, const char *log);

void cli_inputs_close(cli_inputs *inputs);

/* The input a message is about when it is about all: the only one, or NULL. */
const char *cli_inputs_subject(const cli_inputs *inputs);

#endif
