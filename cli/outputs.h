/* outputs.h - the output of a command. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options/options.h"
#include "cli/system/guard.h"

/* Opens standard output (also as "-") or the file of -o, for text. A file with a name that ends in
 * .zst is compressed. For a regular file, the guard is active from here on. Returns an exit status,
 * after writing a message. */
int cli_output_open(const cli_options *options, cli_guard *guard, etlheap_sink **out);

/* Like cli_output_open, for binary output: written unchanged, but never to a terminal. */
int cli_output_open_binary(const cli_options *options, cli_guard *guard, etlheap_sink **out);

/* Completes the output if `status` is good and nobody asked to stop; else removes it. Returns an
 * exit status, after writing a message. */
int cli_output_close(const cli_options *options, const cli_guard *guard, etl_status status,
                     etlheap_sink *sink);

/* Completes what was written to standard output for a command that takes no options. Returns an
 * exit status, after writing a message. */
int cli_output_close_stdout(etlheap_sink *sink);

/* Removes the output of a failed run and writes why it failed, unless the run was cancelled.
 * Returns the exit status of the error. */
int cli_output_fail(etlheap_sink *sink, const char *subject, const etl_error *err);

/* Makes the folder that contains the path, and those above. Errors show when the file is opened. */
void cli_output_make_folder(const char *path);

/* An etlheap_write_fn: `user` is the sink. */
bool cli_sink_put(void *user, const void *bytes, size_t size);

#endif
