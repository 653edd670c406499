/*
 * report_map.h - `etlheap report --map`.
 */
#ifndef CLI_REPORT_MAP_H
#define CLI_REPORT_MAP_H

#include "cli/options/options.h"

/* A function like those in commands.h. */
int cli_run_map(const cli_options *options);

#endif
