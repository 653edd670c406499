/* command_list.h - the commands of the program, and texts made from their options: manual pages,
 * and completion for shells. */
#ifndef CLI_COMMAND_LIST_H
#define CLI_COMMAND_LIST_H

#include "options.h"

/* The table in main.c. */
typedef struct cli_command_list {
    const cli_command *at;
    size_t count;
} cli_command_list;

/* The command with this name; NULL: none. */
const cli_command *cli_command_named(const cli_command_list *commands, const char *name);

/* Write the output of --completion and --man. If the shell or the command is unknown, they write
 * nothing and return false. */
bool cli_write_completion(const cli_command_list *commands, const char *shell, etlheap_sink *sink);
bool cli_write_man_page(const cli_command_list *commands, const char *command, etlheap_sink *sink);

#endif
