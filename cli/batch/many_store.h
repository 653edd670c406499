/* many_store.h - `etlheap store --out-dir`: one store per input. */
#ifndef CLI_MANY_STORE_H
#define CLI_MANY_STORE_H

#include "cli/options/options.h"

/*
 * Returns the exit status: CLI_EXIT_INPUT if an input failed or was not processed; else
 * CLI_EXIT_STRICT if --strict applies; else CLI_EXIT_DONE. Errors of single inputs are
 * written to the index, and to stderr unless --progress is never.
 */
int cli_store_many(const cli_options *options);

#endif
