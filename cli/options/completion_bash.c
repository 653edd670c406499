/*
 * completion_bash.c - completion for bash, without the package bash-completion.
 *
 * readline takes "=" for a word of its own; values are completed behind it too. In
 * a list the words behind the last comma are what is completed.
 */
#include "completion.h"

static const char head[] =
    "# bash completion of etlheap, written by: etlheap --completion bash\n"
    "\n"
    "_etlheap_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }\n"
    "_etlheap_list()\n"
    "{\n"
    "    local head=\n"
    "    [[ $current == *,* ]] && head=${current%,*},\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$1\" -- \"${current##*,}\")\n"
    "    compopt -o nospace\n"
    "}\n"
    "_etlheap_files() { compopt -o filenames; "
    "mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); }\n"
    "_etlheap_folders() { compopt -o filenames; "
    "mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); }\n"
    "\n"
    "_etlheap()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    COMPREPLY=()\n"
    "    if [[ $current == = ]]; then\n"
    "        current=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n";

static const char tail[] = "}\ncomplete -F _etlheap etlheap\n";

static void write_commands(const cli_command_list *commands, etlheap_sink *sink);
static void write_values(const cli_command *command, etlheap_sink *sink);
static void write_action(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_options(const cli_command *command, etlheap_sink *sink);

void cli_completion_bash(const cli_command_list *commands, etlheap_sink *sink)
{
    etlheap_sink_text(sink, head);
    write_commands(commands, sink);
    etlheap_sink_text(sink, "    case ${COMP_WORDS[1]}:$before in\n");
    for (size_t i = 0; i < commands->count; i++)
        write_values(&commands->at[i], sink);
    etlheap_sink_text(sink, "    esac\n"
                            "    if [[ $current != -* ]]; then\n"
                            "        _etlheap_files\n"
                            "        return\n"
                            "    fi\n"
                            "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < commands->count; i++)
        write_options(&commands->at[i], sink);
    etlheap_sink_text(sink, "    esac\n");
    etlheap_sink_text(sink, tail);
}

static void write_commands(const cli_command_list *commands, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "    if ((COMP_CWORD == 1)); then\n        _etlheap_words '");
    cli_completion_commands(commands, sink);
    etlheap_sink_text(sink, " help --help --version'\n"
                            "        return\n"
                            "    fi\n"
                            "    if [[ ${COMP_WORDS[1]} == help ]]; then\n"
                            "        ((COMP_CWORD == 2)) && _etlheap_words '");
    cli_completion_commands(commands, sink);
    etlheap_sink_text(sink, "'\n        return\n    fi\n");
}

/* The rows of a command whose option stands before the word. */
static void write_values(const cli_command *command, etlheap_sink *sink)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (!(option->commands & command->bit) || cli_follows_of(option) == CLI_FOLLOWS_NOTHING)
            continue;
        etlheap_sink_format(sink, "    %s:%s", command->name, option->name);
        if (option->letter != 0)
            etlheap_sink_format(sink, " | %s:-%c", command->name, option->letter);
        etlheap_sink_text(sink, ")");
        write_action(command, option, sink);
        etlheap_sink_text(sink, " ;;\n");
    }
}

/* A value that may be left out leaves the word to be anything else, too. */
static void write_action(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    const cli_follows follows = cli_follows_of(option);
    if (option->value == CLI_VALUE_TREE)
        etlheap_sink_text(sink, " [[ ${COMP_WORDS[COMP_CWORD - 1]} == = || "
                                "${COMP_WORDS[COMP_CWORD]} == = ]] &&");
    if (follows == CLI_FOLLOWS_FILE || follows == CLI_FOLLOWS_FOLDER) {
        etlheap_sink_text(sink,
                          follows == CLI_FOLLOWS_FILE ? " _etlheap_files;" : " _etlheap_folders;");
    } else if (follows != CLI_FOLLOWS_TEXT) {
        etlheap_sink_text(sink,
                          follows == CLI_FOLLOWS_LIST ? " _etlheap_list '" : " _etlheap_words '");
        cli_completion_words(command, option, sink);
        etlheap_sink_text(sink, option->value == CLI_VALUE_TREE ? "' && return" : "';");
    }
    etlheap_sink_text(sink, option->value == CLI_VALUE_TREE ? "" : " return");
}

static void write_options(const cli_command *command, etlheap_sink *sink)
{
    etlheap_sink_format(sink, "    %s) _etlheap_words '", command->name);
    bool first = true;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (!(option->commands & command->bit))
            continue;
        etlheap_sink_format(sink, "%s%s", first ? "" : " ", option->name);
        first = false;
    }
    etlheap_sink_text(sink, "' ;;\n");
}
