/* completion.h - shared by the completion scripts of all shells: the words that an option takes. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "command_list.h"

/* What can follow an option. */
typedef enum cli_follows {
    CLI_FOLLOWS_NOTHING, /* a flag */
    CLI_FOLLOWS_WORD,    /* one word of a list */
    CLI_FOLLOWS_LIST,    /* several words, separated by commas */
    CLI_FOLLOWS_FILE,
    CLI_FOLLOWS_FOLDER,
    CLI_FOLLOWS_TEXT /* free text: a number, a name */
} cli_follows;

cli_follows cli_follows_of(const cli_option *option);

/* The next word from *index on that the option takes in this command; advances *index. NULL after
 * the last. */
const char *cli_completion_word(const cli_command *command, const cli_option *option, u32 *index);

/* Writes all these words, separated by spaces. */
void cli_completion_words(const cli_command *command, const cli_option *option, etlheap_sink *sink);

/* The summary of `etlheap help COMMAND`, which is not a command with options. */
#define CLI_HELP_SUMMARY "Show what a command does, with its options and examples."

/* Writes the names of all commands, separated by spaces. */
void cli_completion_commands(const cli_command_list *commands, etlheap_sink *sink);

/* Writes a text in single quotes. A quote in it is written as `quote`, and its lines are joined. */
void cli_completion_quote(const char *text, const char *quote, etlheap_sink *sink);

/* Write the scripts. */
void cli_completion_bash(const cli_command_list *commands, etlheap_sink *sink);
void cli_completion_zsh(const cli_command_list *commands, etlheap_sink *sink);
void cli_completion_fish(const cli_command_list *commands, etlheap_sink *sink);

#endif
