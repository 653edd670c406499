/*
 * bus_guard.h - turns an input that becomes shorter during reading into an error.
 *
 * Files are read through mappings. If another program truncates one, or its disk or network fails,
 * touching the missing bytes raises SIGBUS, on Windows EXCEPTION_IN_PAGE_ERROR, which would end the
 * program without a message. With the guard, such bytes read as zeros, the run stops as soon as it
 * can, and nothing of it is written.
 */
#ifndef CLI_BUS_GUARD_H
#define CLI_BUS_GUARD_H

#include <stdbool.h>

/* Begins the guard for the whole run. Call it before starting threads. */
void cli_bus_guard_begin(void);

/* True if bytes were missing, so that the data read is not that of the file. */
bool cli_bus_guard_tripped(void);

/* For the thread that calls it, the first so many times were no concern of its work, and only
 * later ones count for cli_bus_guard_tripped: for programs that go on with other files. */
void cli_bus_guard_pass_over(unsigned trips);

/* The number of times so far. If it increased during some work, its result is unreliable. */
unsigned cli_bus_guard_trips(void);

/* Counts one; for the handlers. */
void cli_bus_guard_trip(void);

/* The message for it. */
extern const char cli_bus_guard_message[];

#endif
