/*
 * help.c - the screen of `etlheap COMMAND --help`, from the options' table.
 *
 * In: a command. Out: its summary, usage, options by topic, and examples. Invariant: the text names
 * every option that the command takes, and no other, because both come from the same rows.
 */
#include "choices.h"
#include "options.h"
#include "output_format.h"

#include <stdio.h>

#define SPELLING_SIZE   64
#define SPELLING_COLUMN 24
#define EXPORTER_COLUMN 12
#define CHOICES_COLUMN  6
#define LINE_COLUMNS    79

static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_choices(const cli_command *command, const cli_option *option, etlheap_sink *sink);
static void write_lines(const char *text, etlheap_sink *sink);
static void write_formats(const cli_command *command, etlheap_sink *sink);
static void write_exporters(etlheap_sink *sink);

void cli_write_help(const cli_command *command, etlheap_sink *sink)
{
    const char *group = "";
    etlheap_sink_text(sink, "Usage: etlheap ");
    etlheap_sink_text(sink, command->name);
    etlheap_sink_text(sink, command->arguments[0] == '\0' ? "" : " ");
    etlheap_sink_text(sink, command->arguments);
    etlheap_sink_text(sink, " [OPTION...]\n");
    etlheap_sink_text(sink, command->summary);
    etlheap_sink_text(sink, "\n");
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (!(option->commands & command->bit))
            continue;
        if (strcmp(group, option->group) != 0) {
            etlheap_sink_text(sink, *group == '\0' ? "\n" : "");
            group = option->group;
            etlheap_sink_text(sink, group);
            etlheap_sink_text(sink, ":\n");
        }
        write_option(command, option, sink);
    }
    etlheap_sink_text(sink, "\nExamples:\n");
    for (u32 i = 0; command->examples[i]; i++) {
        etlheap_sink_text(sink, "  ");
        etlheap_sink_text(sink, command->examples[i]);
        etlheap_sink_text(sink, "\n");
    }
}

/* Two columns: the spelling, and what the option does, which begins on the next line if the
 * spelling is long. */
static void write_option(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    char spelling[SPELLING_SIZE];
    const char *const value = option->placeholder ? option->placeholder : "";
    const char *const gap = option->value == CLI_VALUE_TREE || *value == '\0' ? "" : " ";
    if (option->letter != 0)
        snprintf(spelling, sizeof spelling, "  -%c, %s%s%s", option->letter, option->name, gap,
                 value);
    else
        snprintf(spelling, sizeof spelling, "  %s%s%s", option->name, gap, value);
    const size_t size = strlen(spelling);
    etlheap_sink_text(sink, spelling);
    etlheap_sink_text(sink, size + 2 > SPELLING_COLUMN ? "\n" : "");
    etlheap_sink_fill(sink, ' ',
                      size + 2 > SPELLING_COLUMN ? SPELLING_COLUMN : SPELLING_COLUMN - size);
    if (option->value == CLI_VALUE_FORMAT)
        write_formats(command, sink);
    else if (option->value == CLI_VALUE_EXPORTER)
        write_exporters(sink);
    else
        write_lines(option->help, sink);
    etlheap_sink_text(sink, "\n");
    if (cli_option_lacks_choices(option))
        write_choices(command, option, sink);
}

/* All words that it takes, below. */
static void write_choices(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    size_t column = LINE_COLUMNS;
    bool any = false;
    for (u32 i = 0; cli_value_choice((cli_value)option->value, i); i++) {
        const char *const word = cli_value_choice((cli_value)option->value, i);
        const bool is_new_line = column + 1 + strlen(word) > LINE_COLUMNS;
        if (!cli_choice_fits((cli_value)option->value, i, command->bit))
            continue;
        etlheap_sink_text(sink, !is_new_line ? " " : any ? "\n" : "");
        etlheap_sink_fill(sink, ' ', is_new_line ? CHOICES_COLUMN : 0);
        etlheap_sink_text(sink, word);
        any = true;
        column = (is_new_line ? CHOICES_COLUMN : column + 1) + strlen(word);
    }
    etlheap_sink_text(sink, "\n");
}

/* Breaks the text between words, so that it stays in its column. */
static void write_lines(const char *text, etlheap_sink *sink)
{
    size_t column = SPELLING_COLUMN;
    while (*text != '\0') {
        const size_t size = strcspn(text, " ");
        const bool is_first = column == SPELLING_COLUMN;
        const bool is_new_line = !is_first && column + 1 + size > LINE_COLUMNS;
        etlheap_sink_text(sink, is_new_line ? "\n" : is_first ? "" : " ");
        etlheap_sink_fill(sink, ' ', is_new_line ? SPELLING_COLUMN : 0);
        etlheap_sink_write(sink, text, size);
        column = (is_new_line ? SPELLING_COLUMN : column + !is_first) + size;
        text += size;
        text += strspn(text, " ");
    }
}

/* "text: tables for people, json: one JSON document" */
static void write_formats(const cli_command *command, etlheap_sink *sink)
{
    bool any = false;
    size_t column = SPELLING_COLUMN;
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        if (!cli_format_fits(format, command->bit))
            continue;
        const size_t size = strlen(format->name) + strlen(format->summary) + sizeof ",  ()" - 1;
        const bool is_new_line = any && column + size > LINE_COLUMNS;
        column = (is_new_line ? SPELLING_COLUMN : column) + size;
        etlheap_sink_text(sink, is_new_line ? ",\n" : any ? ", " : "");
        etlheap_sink_fill(sink, ' ', is_new_line ? SPELLING_COLUMN : 0);
        etlheap_sink_text(sink, format->name);
        etlheap_sink_text(sink, " (");
        etlheap_sink_text(sink, format->summary);
        etlheap_sink_text(sink, ")");
        any = true;
    }
}

/* A line for each: there are many, and each needs a word. */
static void write_exporters(etlheap_sink *sink)
{
    for (u32 i = 0; i < etlheap_exporter_count(); i++) {
        const etlheap_exporter *const exporter = etlheap_exporter_at(i);
        const size_t size = strlen(exporter->name);
        if (i > 0) {
            etlheap_sink_text(sink, "\n");
            etlheap_sink_fill(sink, ' ', SPELLING_COLUMN);
        }
        etlheap_sink_text(sink, exporter->name);
        etlheap_sink_fill(sink, ' ', size < EXPORTER_COLUMN ? EXPORTER_COLUMN - size : 1);
        etlheap_sink_text(sink, exporter->summary);
    }
}
