/*
 * completion_fish.c - completion for fish: a line for each command and option.
 */
#include "completion.h"

static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink);

void cli_completion_fish(const cli_command_list *commands, etlheap_sink *sink)
{
    etlheap_sink_text(sink,
                      "# fish completion of etlheap, written by: etlheap --completion fish\n\n");
    for (size_t i = 0; i < commands->count; i++) {
        etlheap_sink_format(sink, "complete -c etlheap -n __fish_use_subcommand -f -a %s -d ",
                            commands->at[i].name);
        cli_completion_quote(commands->at[i].summary, "\\'", sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "complete -c etlheap -n __fish_use_subcommand -f -a help -d ");
    cli_completion_quote(CLI_HELP_SUMMARY, "\\'", sink);
    etlheap_sink_text(sink, "\ncomplete -c etlheap -n '__fish_seen_subcommand_from help' -f -a '");
    cli_completion_commands(commands, sink);
    etlheap_sink_text(sink, "'\n");
    for (size_t i = 0; i < commands->count; i++) {
        for (u32 k = 0; k < cli_option_count(); k++) {
            if (cli_option_at(k)->commands & commands->at[i].bit)
                write_option(&commands->at[i], cli_option_at(k), sink);
        }
    }
}

static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    const cli_follows follows = cli_follows_of(option);
    etlheap_sink_format(sink, "complete -c etlheap -n '__fish_seen_subcommand_from %s' -l %s",
                        command->name, option->name + 2);
    if (option->letter != 0)
        etlheap_sink_format(sink, " -s %c", option->letter);
    switch (follows) {
    case CLI_FOLLOWS_WORD:
        /* -f: the value may be left out. */
        etlheap_sink_text(sink, option->value == CLI_VALUE_TREE ? " -f -a '" : " -x -a '");
        cli_completion_words(command, option, sink);
        etlheap_sink_text(sink, "'");
        break;
    case CLI_FOLLOWS_LIST:
        etlheap_sink_text(sink, " -x -a '(__fish_complete_list , \"printf %s\\\\\\n ");
        cli_completion_words(command, option, sink);
        etlheap_sink_text(sink, "\")'");
        break;
    case CLI_FOLLOWS_FILE:
        etlheap_sink_text(sink, " -r -F");
        break;
    case CLI_FOLLOWS_FOLDER:
        etlheap_sink_text(sink, " -x -a '(__fish_complete_directories)'");
        break;
    case CLI_FOLLOWS_TEXT:
        etlheap_sink_text(sink, " -x");
        break;
    case CLI_FOLLOWS_NOTHING:
        break;
    }
    etlheap_sink_text(sink, " -d ");
    cli_completion_quote(option->help ? option->help : "what is written", "\\'", sink);
    etlheap_sink_text(sink, "\n");
}
