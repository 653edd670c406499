/*
 * host.h - the system that the program runs on: arguments, environment, terminal.
 *
 * Only this part of the program reads the environment.
 */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "cli/options/options.h"

#include <stdio.h>

/*
 * Call it first. Returns the words of the command line in UTF-8, followed by NULL, valid as long as
 * the program runs; NULL if memory runs out. On Windows the words are taken from the system, which
 * has them in UTF-16; standard streams are set to binary, so that a newline is one byte everywhere;
 * and a console is set to UTF-8 until the program ends.
 */
char **cli_host_begin(int *count, char **words);

/* An environment variable, in UTF-8; NULL if not set, or empty. */
const char *cli_host_variable(const char *name);

/* True if the descriptor is a terminal, on which colours and cursor movement work, or into which a
 * person types. Its columns; 0 if unknown. */
bool cli_host_is_terminal(int descriptor);
unsigned cli_host_columns(int descriptor);

/* True if the terminal shows UTF-8. */
bool cli_host_is_utf8(void);

/* True if the system ends a program that writes to a pipe whose reader has left, by SIGPIPE. An
 * error then means that whoever started the program ignores the signal and wants to know. */
bool cli_host_has_sigpipe(void);

/* Starts a command that speaks git's protocol for credentials, with the protocol https and the host
 * as its input. The host has no letter that a shell understands. The caller reads what it prints,
 * and ends it with the second function: true if it ran to its end without an error. NULL if it
 * cannot be started. */
FILE *cli_host_credential_open(const char *command, const char *host);
bool cli_host_credential_close(FILE *pipe);

/* The folder for temporary files in the environment; NULL: none. */
const char *cli_host_temporary_folder(void);

/* The user's cache folder, and what to append to it; NULL: none. */
const char *cli_host_cache(const char **below);

#endif
