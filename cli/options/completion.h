/*
 * completion.h - what the scripts of all shells share: which words an option takes.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "command_list.h"

/* What may follow an option. */
typedef enum cli_follows {
    CLI_FOLLOWS_NOTHING, /* a flag */
    CLI_FOLLOWS_WORD,    /* one of some words */
    CLI_FOLLOWS_LIST,    /* several of them, with commas between */
    CLI_FOLLOWS_FILE,
    CLI_FOLLOWS_FOLDER,
    CLI_FOLLOWS_TEXT /* what nobody can guess: a number, a name */
} cli_follows;

cli_follows cli_follows_of(const cli_option *option);

/* The next word from *index on that the option takes in this command, past which
 * *index then is; NULL after the last. */
const char *cli_completion_word(const cli_command *command, const cli_option *option, u32 *index);

/* All of them with spaces between. */
void cli_completion_words(const cli_command *command, const cli_option *option, etlheap_sink *sink);

/* `etlheap help COMMAND` is no command with options, but a word in the place of one. */
#define CLI_HELP_SUMMARY "Show what a command does, with its options and examples."

/* The names of all commands with spaces between. */
void cli_completion_commands(const cli_command_list *commands, etlheap_sink *sink);

/* A text between single quotes; a quote in it is written as `quote`, and the lines of
 * a text of several are joined. */
void cli_completion_quote(const char *text, const char *quote, etlheap_sink *sink);

/* The scripts. */
void cli_completion_bash(const cli_command_list *commands, etlheap_sink *sink);
void cli_completion_zsh(const cli_command_list *commands, etlheap_sink *sink);
void cli_completion_fish(const cli_command_list *commands, etlheap_sink *sink);

#endif
