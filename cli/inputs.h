/* inputs.h - opens the inputs of a command: traces or a store, from files, packed files and
 * standard input. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/options/clock.h"
#include "cli/options/options.h"
#include "cli/system/guard.h"
#include "unpacked.h"

typedef struct cli_inputs {
    etl_trace **traces;
    char **names; /* for messages and output: the path, or "zip/member" */
    u32 count;
    char *store;            /* a store instead of traces; NULL: none */
    char *log_path;         /* a UMDH log, as the only input; NULL: none */
    char *name;             /* of the store or log, for messages */
    etlheap_umdh *log;      /* opened; NULL: none */
    cli_unpacked *unpacked; /* has the temporary file of the store or log, or unpacks the only trace
                             * while it is read; NULL: none */
    cli_clock clock;        /* clock of the recording, for times on the command line */
    etlheap_marks *marks;   /* of traces, if an option names one; NULL: not read */
    etlheap_result *facts;  /* of a store, if an option names a mark, or if it is of a part */
    const cli_kept_input *kept; /* in place of opening `store`; NULL: nobody keeps it. Borrowed */
} cli_inputs;

/* Opens all inputs of the options. Returns an exit status; on failure a message with the file's
 * name was written. Close *out in any case. The guard is active while temporary files exist. */
int cli_inputs_open(const cli_options *options, cli_guard *guard, cli_inputs *out);

/* Opens one more input, without messages: *err has the reason of a failure. The guard is active. A
 * store is opened by the function that reads it. */
etl_status cli_inputs_add(const cli_options *options, const char *path, cli_guard *guard,
                          cli_inputs *out, etl_error *err);

/* Any number of stores. Packed ones are unpacked to temporary files while this is open. */
typedef struct cli_stores {
    const char **paths;      /* one path per input; the input is its name */
    cli_unpacked **unpacked; /* has the file at a path; NULL: the input itself */
    u32 count;
} cli_stores;

/* Finds the stores among the inputs. Returns an exit status, after a message about an input that is
 * not a store or is given twice. Close *out in any case. The guard is active while temporary files
 * exist. */
int cli_stores_open(const cli_options *options, cli_guard *guard, cli_stores *out);
void cli_stores_close(cli_stores *stores);

/* The clock of an opened store: its start, its marks and the part that it has, all borrowed. */
void cli_clock_of_store(const etlheap_result *store, cli_clock *out);

/* For commands that need traces: false, after a message, if the input is a store. */
bool cli_inputs_need_traces(const cli_inputs *inputs, const char *why);

/* For UMDH logs: says on stderr which option asks about times, which a log does not have. Returns
 * an exit status. */
int cli_refuse_times(const cli_options *options, const char *log);

void cli_inputs_close(cli_inputs *inputs);

/* Begins the progress of work on the inputs. Its bar takes the place of that of unpacking. */
cli_progress cli_inputs_progress(const cli_options *options, const cli_inputs *inputs,
                                 const char *label, const cli_guard *guard);

/* The subject of a message about all inputs: the only input, or NULL. */
const char *cli_inputs_subject(const cli_inputs *inputs);

#endif
