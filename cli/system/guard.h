/*
 * guard.h - interruption while a temporary file exists.
 *
 * A handler would need written globals to know what to remove. Instead the
 * signals that ask a program to stop are held back while there is something to
 * clean up, and work is asked to look for them: pending ones take effect when
 * the guard ends, after the cleaning. On Windows, where a thread of the system tells
 * of Ctrl-C, it is held back likewise, and the program then ends as Ctrl-C ends one.
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
} cli_guard;

/* Start from {0}. Beginning twice is once. */
void cli_guard_begin(cli_guard *guard);

/* True when the program was asked to stop. */
bool cli_guard_interrupted(const cli_guard *guard);

/* Lets go; does not return when the program was asked to stop. */
void cli_guard_end(cli_guard *guard);

#endif
