/*
 * stop.h - Ctrl-C as the proper end of a command that runs until it is asked to stop.
 *
 * For most commands an interruption is a failure (guard.h). A server has no other end, so it waits
 * for the request here, cleans up, and exits with status 0.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* Call it before other threads start: they inherit that signals are held back. Signals that the
 * program was started to ignore stay ignored. */
void cli_stop_begin(void);

/* Waits for Ctrl-C, SIGTERM or the end of the terminal session, at most so many milliseconds. True
 * if one came. */
bool cli_stop_wait(unsigned milliseconds);

#endif
