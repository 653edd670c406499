/*
 * unpacked.h - unpacks inputs into temporary files, with a progress bar.
 *
 * A trace may be read while it is unpacked. Its bar is shown until the bar of what reads it moves
 * (cli_progress.before), and goes when it is complete.
 */
#ifndef CLI_UNPACKED_H
#define CLI_UNPACKED_H

#include "progress.h"

typedef struct cli_unpacked {
    etlheap_unpacked *files;
    cli_progress progress;
} cli_unpacked;

/* Unpacks a file. With `beside`, a trace may still be arriving. Errors as for etlheap_unpack; on
 * success the caller owns *out. */
etl_status cli_unpack(const cli_options *options, const char *path, const cli_guard *guard,
                      bool beside, cli_unpacked **out, etl_error *err);

/* Copies standard input or a named pipe into a file. The same in all other respects. */
etl_status cli_unpack_pipe(const cli_options *options, const char *path, const cli_guard *guard,
                           cli_unpacked **out, etl_error *err);

/* An etl_arrival_fn: `unpacked` is the cli_unpacked. */
etl_status cli_unpacked_arrival(void *unpacked, u64 wanted, u64 *arrived, etl_error *err);

/* As etlheap_unpacked_close. */
void cli_unpacked_close(cli_unpacked *unpacked);

#endif
