/* report_spikes.h - `etlheap report --spikes`. */
#ifndef CLI_REPORT_SPIKES_H
#define CLI_REPORT_SPIKES_H

#include "cli/options/options.h"

/* Runs the command; returns its exit status. */
int cli_run_spikes(const cli_options *options);

#endif
