/*
 * about.h - what the program says of itself rather than of a trace: its version,
 * its manual pages, and completion for shells.
 */
#ifndef CLI_ABOUT_H
#define CLI_ABOUT_H

#include "cli/options/command_list.h"

/* Is the first word one of --version, --completion and --man? Then *exit_status says
 * how it went, and what is to be said was said. `words` ends with NULL. */
bool cli_about(const cli_command_list *commands, char *const *words, int *exit_status);

/* Writes what --version prints; `word` has no meaning. Returns true. */
bool cli_write_version(const cli_command_list *commands, const char *word, etlheap_sink *sink);

#endif
