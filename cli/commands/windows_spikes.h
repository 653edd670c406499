/* windows_spikes.h - `etlheap windows --find-spikes`. */
#ifndef CLI_WINDOWS_SPIKES_H
#define CLI_WINDOWS_SPIKES_H

#include "cli/options/options.h"

/* Runs `windows` with --find-spikes. Returns the exit status. */
int cli_run_windows_spikes(const cli_options *options);

#endif
