/*
 * view_options.h - checks options that show something other than rows of memory.
 *
 * Each check passes if its option is not given. ETL_ERR_ARGUMENT: another given option cannot be
 * combined with it, or the format cannot show it.
 */
#ifndef CLI_VIEW_OPTIONS_H
#define CLI_VIEW_OPTIONS_H

#include "options.h"

/* --map: how full the address space is. */
etl_status cli_check_map(const cli_options *options, etl_error *err);

/* --suspects: probable leaks, in their own order. */
etl_status cli_check_suspects(const cli_options *options, etl_error *err);

/* --lifetimes of a comparison, or an order by them. */
etl_status cli_check_lifetimes(const cli_options *options, etl_error *err);

/* --unmatched: frees without an allocation. */
etl_status cli_check_unmatched(const cli_options *options, etl_error *err);

#endif
