/* progress.h - a progress bar on stderr for long runs. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/options/options.h"
#include "cli/system/guard.h"

#include <time.h>

typedef struct cli_progress {
    const char *label;        /* "reading" */
    const cli_guard *guard;   /* an interruption cancels the work */
    const cli_served *served; /* the question that the work is for; NULL: a command line */
    bool wanted;
    bool at_once;   /* show it at once, not after a second */
    bool terminal;  /* on a terminal: overwrite lines */
    bool shown;     /* a bar is on the screen */
    bool replaced;  /* another bar is shown instead: this one only notices interruptions */
    unsigned trips; /* trips of the bus guard at the start */
    struct cli_progress *before; /* its bar goes when this one begins to move; NULL: none */
    struct timespec start, last;
} cli_progress;

/* Starts the clock. Nothing is shown for about a second. */
cli_progress cli_progress_begin(const cli_options *options, const char *label,
                                const cli_guard *guard);

/* An etlheap_progress_fn: `user` is the cli_progress. */
bool cli_progress_update(void *user, u64 done_bytes, u64 total_bytes);

/* Removes the bar from a terminal. */
void cli_progress_end(cli_progress *progress);

#endif
