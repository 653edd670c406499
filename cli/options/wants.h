/* wants.h - what several options together ask for. */
#ifndef CLI_WANTS_H
#define CLI_WANTS_H

#include "options.h"

/* True if only transient memory was requested. */
bool cli_wants_transient(const cli_options *options);

/* True if the rows are sorted by one of the measures (a bit each), or --columns asks for one. */
bool cli_uses(const cli_options *options, etlheap_measure_set measures);

/* True if rows need allocation rates: for --churn, or for an order or column that it shows. The
 * second: for the order. */
bool cli_wants_rates(const cli_options *options);
bool cli_sorts_by_rates(const cli_options *options);

/* True if a comparison is about lifetimes, or a report shows lifetimes: because of --lifetimes,
 * --sort or --columns. */
bool cli_wants_lifetimes(const cli_options *options);

/* Rows by function, for which all frames are named. */
bool cli_wants_functions(const cli_options *options);

/* True if --address was given. */
bool cli_has_address(const cli_options *options);

/* The number of rows that --top allows; 0: all. The second: with those of --skip before them. */
u32 cli_top_limit(const cli_options *options);
u32 cli_top_reach(const cli_options *options);

#endif
