/*
 * outputs.h - where a command's result goes.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "cli/options/options.h"
#include "cli/system/guard.h"

/* Opens standard output (also as "-") or the file of -o, for text: a file whose name
 * ends in .zst is compressed. With a file that is no pipe or device the guard is
 * active from here on. Returns an exit status, having complained. */
int cli_output_open(const cli_options *options, cli_guard *guard, etlheap_sink **out);

/* The same for bytes that are no text: written as they come, but never to a terminal. */
int cli_output_open_binary(const cli_options *options, cli_guard *guard, etlheap_sink **out);

/*
 * Completes the output when `status` says that it is good and nobody asked to
 * stop, else removes it. Returns an exit status, having complained.
 */
int cli_output_close(const cli_options *options, const cli_guard *guard, etl_status status,
                     etlheap_sink *sink);

/* Removes the output of a failed run and says why it failed, unless the run was
 * cancelled. Returns the exit status of the error. */
int cli_output_fail(etlheap_sink *sink, const char *subject, const etl_error *err);

/* An etlheap_write_fn: `user` is the sink. */
bool cli_sink_put(void *user, const void *bytes, size_t size);

#endif
