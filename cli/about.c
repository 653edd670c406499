/*
 * about.c - words that stand in the place of a command and ask about the program.
 */
#include "about.h"
#include "messages.h"
#include "outputs.h"

#include <stdio.h>

#include "parser/system/files.h"

typedef struct about_word {
    const char *name;
    const char *value; /* what has to follow, for the message; NULL: nothing */
    bool (*write)(const cli_command_list *commands, const char *word, etlheap_sink *sink);
} about_word;

static const about_word about_words[] = {
    { "--version", NULL, cli_write_version },
    { "--completion", "bash, zsh or fish", cli_write_completion },
    { "--man", "the name of a command", cli_write_man_page },
};

static int answer(const cli_command_list *commands, const about_word *about, const char *word);

bool cli_about(const cli_command_list *commands, char *const *words, int *exit_status)
{
    for (size_t i = 0; i < ETL_COUNT_OF(about_words); i++) {
        if (strcmp(words[0], about_words[i].name) != 0)
            continue;
        *exit_status = answer(commands, &about_words[i], words[1]);
        return true;
    }
    return false;
}

static int answer(const cli_command_list *commands, const about_word *about, const char *word)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    if (etlheap_sink_open_descriptor(ETL_STDOUT, "standard output", &sink, &err) != ETL_OK) {
        cli_complain("standard output", err.message);
        return CLI_EXIT_INPUT;
    }
    const bool known = (!about->value || word) && about->write(commands, word, sink);
    const int exit_status = cli_output_close_stdout(sink);
    if (known)
        return exit_status;
    snprintf(err.message, sizeof err.message, "%s needs %s", about->name, about->value);
    cli_complain(NULL, err.message);
    return CLI_EXIT_USAGE;
}
