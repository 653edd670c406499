/*
 * map_options.h - which options go with `report --map`.
 */
#ifndef CLI_MAP_OPTIONS_H
#define CLI_MAP_OPTIONS_H

#include "options.h"

/* Refuses what a map has no place for, and units that are none. ETL_ERR_ARGUMENT. */
etl_status cli_check_map(const cli_options *options, etl_error *err);

#endif
