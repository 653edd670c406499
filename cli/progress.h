/*
 * progress.h - a bar on stderr for runs that take long.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/options/options.h"
#include "cli/system/guard.h"

#include <time.h>

typedef struct cli_progress {
    const char *label;      /* "reading" */
    const cli_guard *guard; /* whose interruption cancels the work */
    bool wanted;
    bool at_once;   /* from the first moment on, not after a second */
    bool terminal;  /* lines are overwritten */
    bool shown;     /* a bar stands on the screen */
    unsigned trips; /* of the bus guard, at the beginning */
    struct timespec start, last;
} cli_progress;

/* Starts the clock. Nothing is shown before about a second has passed. */
cli_progress cli_progress_begin(const cli_options *options, const char *label,
                                const cli_guard *guard);

/* An etlheap_progress_fn: `user` is the cli_progress. */
bool cli_progress_update(void *user, u64 done_bytes, u64 total_bytes);

/* Removes the bar from a terminal. */
void cli_progress_end(cli_progress *progress);

#endif
