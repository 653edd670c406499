/*
 * free_options.h - options that ask who freed.
 */
#ifndef CLI_FREE_OPTIONS_H
#define CLI_FREE_OPTIONS_H

#include "options.h"

/* Refuses what frees without an allocation have no place for. ETL_ERR_ARGUMENT. */
etl_status cli_check_unmatched(const cli_options *options, etl_error *err);

#endif
