/*
 * guard.h - delays interruption while a temporary file exists.
 *
 * A signal handler would need writable globals to know what to remove. Instead, signals that ask
 * the program to stop are blocked while there is something to clean up, and the work checks for
 * them. Pending ones take effect when the guard ends, after the cleanup. On Windows, where a system
 * thread reports Ctrl-C, it is delayed in the same way, and the program then ends as if by Ctrl-C.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <signal.h>
#include <stdbool.h>

typedef struct cli_guard {
#if !defined(_WIN32)
    sigset_t before;
#endif
    bool active;
    bool is_elsewhere; /* the program waits for the request to stop by other means (stop.h) */
} cli_guard;

/* Start from {0}. Further calls have no effect. */
void cli_guard_begin(cli_guard *guard);

/* True if the program was asked to stop. */
bool cli_guard_interrupted(const cli_guard *guard);

/* Ends the guard. Does not return if the program was asked to stop. */
void cli_guard_end(cli_guard *guard);

#endif
