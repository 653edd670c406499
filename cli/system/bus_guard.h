/*
 * bus_guard.h - an input that becomes shorter while it is read is an error.
 *
 * Files are read through mappings. When another program cuts one off, or its disk or
 * network fails, its bytes are gone and touching them raises SIGBUS, on Windows
 * EXCEPTION_IN_PAGE_ERROR, which would end the program without a word. With the guard
 * such bytes read as zeros, the run stops at the next moment at which it can, and
 * nothing of it is written.
 */
#ifndef CLI_BUS_GUARD_H
#define CLI_BUS_GUARD_H

#include <stdbool.h>

/* For the whole run; before threads are started. */
void cli_bus_guard_begin(void);

/* True when bytes were gone: what was read is not what the file says. */
bool cli_bus_guard_tripped(void);

/* How often so far: more than before some work means that it cannot be relied on. */
unsigned cli_bus_guard_trips(void);

/* For the handlers: it happened. */
void cli_bus_guard_trip(void);

/* The sentence for that. */
extern const char cli_bus_guard_message[];

#endif
