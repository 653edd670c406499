/* about.h - the program's version, manual pages, and completion for shells. */
#ifndef CLI_ABOUT_H
#define CLI_ABOUT_H

#include "cli/options/command_list.h"

/* True if the first word is --version, --completion or --man. The request was then handled, and
 * *exit_status is set. `words` ends with NULL. */
bool cli_about(const cli_command_list *commands, char *const *words, int *exit_status);

/* Writes the output of --version; `word` is ignored. Returns true. */
bool cli_write_version(const cli_command_list *commands, const char *word, etlheap_sink *sink);

#endif
