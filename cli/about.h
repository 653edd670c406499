/*
 * about.h - what the program says of itself rather than of a trace: its version,
 * its manual pages, and completion for shells.
 */
#ifndef CLI_ABOUT_H
#define CLI_ABOUT_H

#include "cli/options/options.h"

/* The table of main.c. */
typedef struct cli_command_list {
    const cli_command *at;
    size_t count;
} cli_command_list;

/* Is the first word one of --version, --completion and --man? Then *exit_status says
 * how it went, and what is to be said was said. `words` ends with NULL. */
bool cli_about(const cli_command_list *commands, char *const *words, int *exit_status);

/* The command of that name; NULL: there is none. */
const cli_command *cli_command_named(const cli_command_list *commands, const char *name);

/*
 * What stands behind those words. Each writes a text for `word` and returns false,
 * with nothing written, when it knows none: no such shell, no such command.
 */
bool cli_write_version(const cli_command_list *commands, const char *word, etlheap_sink *sink);
bool cli_write_completion(const cli_command_list *commands, const char *word, etlheap_sink *sink);
bool cli_write_man_page(const cli_command_list *commands, const char *word, etlheap_sink *sink);

#endif
