/*
 * many_store.h - `etlheap store --out-dir`: a store of each input.
 */
#ifndef CLI_MANY_STORE_H
#define CLI_MANY_STORE_H

#include "cli/options/options.h"

/* Returns an exit status, that of the worst input, having said what was to be said. */
int cli_store_many(const cli_options *options);

#endif
