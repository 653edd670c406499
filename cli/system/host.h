/*
 * host.h - what the program asks of the system it runs on. Only this, of all of the
 * program, reads the environment.
 */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "cli/options/options.h"

/*
 * Before anything else. Gives the words of the command line in UTF-8, with NULL
 * behind them, for as long as the program runs; NULL without memory.
 *
 * On Windows they are taken from the system, which has them in UTF-16; standard
 * streams become streams of bytes, so that a newline is one byte everywhere; and a
 * console is told, until the program ends, that it gets UTF-8.
 */
char **cli_host_begin(int *count, char **words);

/* A variable of the environment, in UTF-8; NULL when it is not set, or empty. */
const char *cli_host_variable(const char *name);

/* Whether a person looks at what is written there, and colours and moving the cursor
 * work, or types what is read from there. How many columns there are, 0 when that is not
 * known. */
bool cli_host_is_terminal(int descriptor);
unsigned cli_host_columns(int descriptor);

/* Whether a terminal shows UTF-8. */
bool cli_host_is_utf8(void);

/* The folder for temporary files that the environment names; NULL: none. */
const char *cli_host_temporary_folder(void);

/* The user's folder for what can be made again, and what to add to it; NULL: none. */
const char *cli_host_cache(const char **below);

#endif
