/*
 * bus_guard.h - an input that becomes shorter while it is read is an error.
 *
 * Files are read through mappings. When another program cuts one off, the bytes
 * behind its new end are gone and touching them raises SIGBUS, which would end
 * the program without a word. With the guard such bytes read as zeros, the run
 * stops at the next moment at which it can, and nothing of it is written.
 */
#ifndef CLI_BUS_GUARD_H
#define CLI_BUS_GUARD_H

#include <stdbool.h>

/* For the whole run; before threads are started. */
void cli_bus_guard_begin(void);

/* True when bytes were gone: what was read is not what the file says. */
bool cli_bus_guard_tripped(void);

/* The sentence for that. */
extern const char cli_bus_guard_message[];

#endif
