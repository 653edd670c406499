/*
 * view_options.h - options that show something else than rows of memory, and what they exclude.
 *
 * Each check passes if its option is not given. ETL_ERR_ARGUMENT: an option that is given, too, has
 * no place beside it, or the format cannot show it.
 */
#ifndef CLI_VIEW_OPTIONS_H
#define CLI_VIEW_OPTIONS_H

#include "options.h"

/* --map: how full the address space is at a moment. */
etl_status cli_check_map(const cli_options *options, etl_error *err);

/* --suspects: found by all that its blocks do, in an order of its own. */
etl_status cli_check_suspects(const cli_options *options, etl_error *err);

/* --unmatched: frees without an allocation. */
etl_status cli_check_unmatched(const cli_options *options, etl_error *err);

#endif
