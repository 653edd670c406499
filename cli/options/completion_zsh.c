/*
 * completion_zsh.c - completion for zsh: a specification of _arguments for each option.
 */
#include "completion.h"

static void write_command(const cli_command *command, etlheap_sink *sink);
static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_escaped(const char *text, etlheap_sink *sink);
static bool may_repeat(const cli_option *option);

void cli_completion_zsh(const cli_command_list *commands, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "#compdef etlheap\n"
                            "# zsh completion of etlheap, written by: etlheap --completion zsh\n\n"
                            "_etlheap() {\n"
                            "  local -a commands=(\n");
    for (size_t i = 0; i < commands->count; i++) {
        etlheap_sink_format(sink, "    %s:", commands->at[i].name);
        cli_completion_quote(commands->at[i].summary, "'\\''", sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, "  )\n"
                            "  if (( CURRENT == 2 )); then\n"
                            "    commands+=(help:");
    cli_completion_quote(CLI_HELP_SUMMARY, "'\\''", sink);
    etlheap_sink_text(sink, ")\n"
                            "    _describe -t commands command commands\n"
                            "    return\n"
                            "  fi\n"
                            "  local command=$words[2]\n"
                            "  shift words\n"
                            "  (( CURRENT-- ))\n"
                            "  case $command in\n");
    for (size_t i = 0; i < commands->count; i++)
        write_command(&commands->at[i], sink);
    etlheap_sink_text(sink, "  help)\n"
                            "    (( CURRENT == 2 )) && _describe -t commands command commands ;;\n"
                            "  esac\n"
                            "}\n\n"
                            "if [[ $funcstack[1] == _etlheap ]]; then\n"
                            "  _etlheap \"$@\"\n"
                            "else\n"
                            "  compdef _etlheap etlheap\n"
                            "fi\n");
}

static void write_command(const cli_command *command, etlheap_sink *sink)
{
    etlheap_sink_format(sink, "  %s)\n    _arguments -S", command->name);
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (option->commands & command->bit)
            write_option(command, option, sink);
    }
    etlheap_sink_text(sink, " \\\n      '*:file:_files' ;;\n");
}

/* '(-o --output)'{-o+,--output=}'[write to FILE]:FILE:_files' */
static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    const cli_follows follows = cli_follows_of(option);
    const bool has_value = follows != CLI_FOLLOWS_NOTHING;
    const char *const equals = !has_value ? "" : option->value == CLI_VALUE_TREE ? "=-" : "=";
    etlheap_sink_text(sink, " \\\n      ");
    if (option->letter != 0)
        etlheap_sink_format(sink, "'(-%c %s)'{-%c%s,%s%s}'", option->letter, option->name,
                            option->letter, has_value ? "+" : "", option->name, equals);
    else
        etlheap_sink_format(sink, "'%s%s%s", may_repeat(option) ? "*" : "", option->name, equals);
    etlheap_sink_text(sink, "[");
    write_escaped(option->help ? option->help : "what is written", sink);
    etlheap_sink_text(sink, "]");
    if (has_value) {
        etlheap_sink_text(sink, option->value == CLI_VALUE_TREE ? "::" : ":");
        write_escaped(option->placeholder, sink);
        etlheap_sink_text(sink, ":");
    }
    switch (follows) {
    case CLI_FOLLOWS_WORD:
    case CLI_FOLLOWS_LIST:
        etlheap_sink_text(sink, follows == CLI_FOLLOWS_WORD ? "(" : "_values -s , word ");
        cli_completion_words(command, option, sink);
        etlheap_sink_text(sink, follows == CLI_FOLLOWS_WORD ? ")" : "");
        break;
    case CLI_FOLLOWS_FILE:
    case CLI_FOLLOWS_FOLDER:
        etlheap_sink_text(sink, follows == CLI_FOLLOWS_FILE ? "_files" : "_files -/");
        break;
    default:
        etlheap_sink_text(sink, has_value ? " " : "");
    }
    etlheap_sink_text(sink, "'");
}

/* Inside quotes and a specification: quotes, brackets, colons and backslashes mean
 * something. */
static void write_escaped(const char *text, etlheap_sink *sink)
{
    for (; *text; text++) {
        if (*text == '\'')
            etlheap_sink_text(sink, "'\\''");
        else if (strchr("[]:\\", *text))
            etlheap_sink_format(sink, "\\%c", *text);
        else
            etlheap_sink_write(sink, *text == '\n' ? " " : text, 1);
    }
}

static bool may_repeat(const cli_option *option)
{
    return option->value == CLI_VALUE_WORDS || option->value == CLI_VALUE_NAMES ||
           option->value == CLI_VALUE_MOMENTS || option->value == CLI_VALUE_WINDOWS ||
           option->value == CLI_VALUE_CUSTOM || option->value == CLI_VALUE_HEAPS;
}
