/* wants.h - what several options together ask for. */
#ifndef CLI_WANTS_H
#define CLI_WANTS_H

#include "options.h"

/* True if only transient memory was requested. */
bool cli_wants_transient(const cli_options *options);

/* True if rows need allocation rates: for --churn, or because they are sorted by what it shows. */
bool cli_wants_rates(const cli_options *options);
bool cli_sorts_by_rates(const cli_options *options);

/* True if a comparison is about lifetimes, because of --lifetimes or of --sort. */
bool cli_wants_lifetimes(const cli_options *options);

/* True if --address was given. */
bool cli_has_address(const cli_options *options);

/* The number of rows that --top allows; 0: all. */
u32 cli_top_limit(const cli_options *options);

#endif
