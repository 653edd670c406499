/* symbols_source.h - `etlheap symbols --source`. */
#ifndef CLI_SYMBOLS_SOURCE_H
#define CLI_SYMBOLS_SOURCE_H

#include "cli/options/options.h"

/* Prints lines of code around the places. Returns an exit status. */
int cli_run_source(const cli_options *options);

#endif
