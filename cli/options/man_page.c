/*
 * man_page.c - `etlheap --man COMMAND`: writes the manual page of a command as roff source.
 *
 * In: the rows of the commands and of the options table, the same that --help prints. Out: roff.
 * Longer explanations are written by hand in cli/man/COMMAND.roff, which goes between the summary
 * and the options when pages are installed. Invariant: text of the tables goes through write_text,
 * which escapes what roff takes for commands.
 */
#include "choices.h"
#include "command_list.h"
#include "output_format.h"

#include <ctype.h>

static void write_name(const cli_command *command, etlheap_sink *sink);
static void write_synopsis(const cli_command *command, etlheap_sink *sink);
static void write_options(const cli_command *command, etlheap_sink *sink);
static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_list(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_choice(const char *name, const char *summary, etlheap_sink *sink);
static void write_examples(const cli_command *command, etlheap_sink *sink);
static void write_see_also(const cli_command_list *commands, const cli_command *command,
                           etlheap_sink *sink);
static void write_text(const char *text, size_t size, etlheap_sink *sink);
static void write_words(const char *text, etlheap_sink *sink);

bool cli_write_man_page(const cli_command_list *commands, const char *word, etlheap_sink *sink)
{
    const cli_command *const command = cli_command_named(commands, word);
    if (!command)
        return false;
    etlheap_sink_text(sink, ".TH ETLHEAP\\-");
    for (const char *at = command->name; *at; at++)
        etlheap_sink_format(sink, "%c", toupper((unsigned char)*at));
    etlheap_sink_text(sink, " 1 \"\" \"etlheap " ETLHEAP_VERSION "\" \"User Commands\"\n");
    write_name(command, sink);
    write_synopsis(command, sink);
    write_options(command, sink);
    write_examples(command, sink);
    etlheap_sink_text(sink, ".SH EXIT STATUS\n"
                            "As\n.BR etlheap (1)\nsays for all commands.\n");
    write_see_also(commands, command, sink);
    return true;
}

/* Writes the name and the summary, as a phrase instead of a sentence, for the index of pages. */
static void write_name(const cli_command *command, etlheap_sink *sink)
{
    const char first = (char)tolower((unsigned char)command->summary[0]);
    const size_t size = strlen(command->summary);
    etlheap_sink_format(sink, ".SH NAME\netlheap\\-%s \\- %c", command->name, first);
    write_text(command->summary + 1, command->summary[size - 1] == '.' ? size - 2 : size - 1, sink);
    etlheap_sink_text(sink, "\n");
}

static void write_synopsis(const cli_command *command, etlheap_sink *sink)
{
    etlheap_sink_format(sink, ".SH SYNOPSIS\n.B etlheap %s\n", command->name);
    if (command->arguments[0] != '\0') {
        etlheap_sink_text(sink, ".I ");
        write_words(command->arguments, sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, ".RI [ OPTION ...]\n.SH DESCRIPTION\n");
    write_words(command->summary, sink);
    etlheap_sink_text(sink, "\n");
}

static void write_options(const cli_command *command, etlheap_sink *sink)
{
    const char *group = "";
    etlheap_sink_text(sink, ".SH OPTIONS\n");
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (!(option->commands & command->bit))
            continue;
        if (strcmp(group, option->group) != 0) {
            group = option->group;
            etlheap_sink_format(sink, ".SS %s\n", group);
        }
        write_option(command, option, sink);
    }
}

static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    etlheap_sink_text(sink, ".TP\n");
    if (option->letter != 0)
        etlheap_sink_format(sink, "\\fB\\-%c\\fR, ", option->letter);
    etlheap_sink_text(sink, "\\fB");
    write_words(option->name, sink);
    etlheap_sink_text(sink, "\\fR");
    if (option->placeholder) {
        etlheap_sink_text(sink, option->value == CLI_VALUE_TREE ? "\\fI" : " \\fI");
        write_words(option->placeholder, sink);
        etlheap_sink_text(sink, "\\fR");
    }
    etlheap_sink_text(sink, "\n");
    if (option->help) {
        write_words(option->help, sink);
        etlheap_sink_text(sink, "\n");
        if (cli_option_lacks_choices(option))
            write_list(command, option, sink);
        return;
    }
    etlheap_sink_text(sink, "One of\n.RS\n");
    const bool is_export = option->value == CLI_VALUE_EXPORTER;
    const u32 count = is_export ? etlheap_exporter_count() : etlheap_format_count();
    for (u32 i = 0; i < count; i++) {
        if (is_export)
            write_choice(etlheap_exporter_at(i)->name, etlheap_exporter_at(i)->summary, sink);
        else if (cli_format_fits(etlheap_format_at(i), command->bit))
            write_choice(etlheap_format_at(i)->name, etlheap_format_at(i)->summary, sink);
    }
    etlheap_sink_text(sink, ".RE\n");
}

static void write_list(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    bool any = false;
    for (u32 i = 0; cli_value_choice((cli_value)option->value, i); i++) {
        if (!cli_choice_fits((cli_value)option->value, i, command->bit))
            continue;
        etlheap_sink_text(sink, any ? " " : "");
        write_words(cli_value_choice((cli_value)option->value, i), sink);
        any = true;
    }
    etlheap_sink_text(sink, "\n");
}

static void write_choice(const char *name, const char *summary, etlheap_sink *sink)
{
    etlheap_sink_text(sink, ".TP\n.B ");
    write_words(name, sink);
    etlheap_sink_text(sink, "\n");
    write_words(summary, sink);
    etlheap_sink_text(sink, "\n");
}

static void write_examples(const cli_command *command, etlheap_sink *sink)
{
    etlheap_sink_text(sink, ".SH EXAMPLES\n.nf\n");
    for (u32 i = 0; command->examples[i]; i++) {
        write_words(command->examples[i], sink);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, ".fi\n");
}

static void write_see_also(const cli_command_list *commands, const cli_command *command,
                           etlheap_sink *sink)
{
    etlheap_sink_text(sink, ".SH SEE ALSO\n.BR etlheap (1)");
    for (size_t i = 0; i < commands->count; i++) {
        if (&commands->at[i] != command)
            etlheap_sink_format(sink, ",\n.BR etlheap\\-%s (1)", commands->at[i].name);
    }
    etlheap_sink_text(sink, "\n");
}

static void write_words(const char *text, etlheap_sink *sink)
{
    write_text(text, strlen(text), sink);
}

/* Roff takes a backslash, and a period or quote at the start of a line, for a command. Its hyphen
 * is not a minus, so that is escaped too. */
static void write_text(const char *text, size_t size, etlheap_sink *sink)
{
    for (size_t i = 0; i < size; i++) {
        const bool begins_line = i == 0 || text[i - 1] == '\n';
        if (begins_line && (text[i] == '.' || text[i] == '\''))
            etlheap_sink_text(sink, "\\&");
        if (text[i] == '\\')
            etlheap_sink_text(sink, "\\e");
        else if (text[i] == '-')
            etlheap_sink_text(sink, "\\-");
        else
            etlheap_sink_write(sink, &text[i], 1);
    }
}
