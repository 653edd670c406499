/*
 * question_words.c - from the parameters of a question to words that the option table parses.
 *
 * In: names and values that a browser sent. Out: words, or a sentence about the first one that is
 * refused. Invariant: only options with CLI_SERVED pass, so nothing that a client sends names a
 * file, a server or a limit of this machine.
 */
#include "question_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static etl_status add_word(view_words *out, char *word, etl_error *err)
{
    if (word == NULL || !cli_list_grow(&out->at, out->count, sizeof *out->at)) {
        free(word);
        return etl_no_memory(err);
    }
    out->at[out->count++] = word;
    return ETL_OK;
}

static const cli_option *served_option(const char *name, u32 command_bit)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        if (strcmp(option->name + 2, name) == 0 && (option->commands & command_bit) != 0)
            return (option->commands & CLI_SERVED) != 0 ? option : NULL;
    }
    return NULL;
}

/* A tree's value is optional. An empty value of another option is the option's to refuse. */
static char *word_of(const cli_option *option, const char *value)
{
    const bool is_alone =
        option->value == CLI_VALUE_FLAG || (option->value == CLI_VALUE_TREE && value[0] == '\0');
    const size_t size = strlen(option->name) + 1 + strlen(value) + 1;
    char *const word = malloc(size);
    if (word)
        snprintf(word, size, is_alone ? "%s" : "%s=%s", option->name, value);
    return word;
}

etl_status view_words_repeat(const cli_options *view, u32 command_bit, view_words *out,
                             etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < view->given.count && status == ETL_OK; i++) {
        const cli_given *const given = &view->given.at[i];
        const u32 commands = given->option->commands;
        if ((commands & (CLI_REPEATED | CLI_OF_VIEW)) != 0 && (commands & command_bit) != 0)
            status = add_word(out, word_of(given->option, given->value ? given->value : ""), err);
    }
    return status;
}

static etl_status add_option(const view_pair *pair, const view_question *question, u32 command_bit,
                             view_words *out, etl_error *err)
{
    const cli_option *const option = served_option(pair->name, command_bit);
    if (option == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%.60s is not an option of %.20s here",
                             pair->name, question->command);
    if (option->value == CLI_VALUE_FLAG && pair->value[0] != '\0')
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s takes no value", pair->name);
    return add_word(out, word_of(option, pair->value), err);
}

/* Numbers begin at 1 and have no sign, space or leading zero. */
static etl_status add_input(const char *value, const view_names *names, view_words *out,
                            etl_error *err)
{
    u64 number = 0;
    const char *c = value;
    for (; *c >= '0' && *c <= '9' && number <= names->count; c++)
        number = number * 10 + (u64)(*c - '0');
    if (value[0] == '0' || *c != '\0' || number == 0 || number > names->count)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "input is a number from 1 to %u",
                             (unsigned)names->count);
    return add_word(out, strdup(names->at[number - 1]), err);
}

static bool is_input(const view_pair *pair)
{
    return strcmp(pair->name, "input") == 0;
}

/* Behind "--", so that no name is taken for an option. */
static etl_status add_inputs(const view_question *question, const view_names *names,
                             view_words *out, etl_error *err)
{
    bool has_input = false;
    etl_status status = add_word(out, strdup("--"), err);
    for (u32 i = 0; i < question->pair_count && status == ETL_OK; i++) {
        if (!is_input(&question->pairs[i]))
            continue;
        has_input = true;
        status = add_input(question->pairs[i].value, names, out, err);
    }
    return status == ETL_OK && !has_input ? add_input("1", names, out, err) : status;
}

etl_status view_words_make(const view_question *question, u32 command_bit, const view_names *names,
                           view_words *out, etl_error *err)
{
    etl_status status = ETL_OK;
    bool has_format = command_bit == CLI_EXPORT;
    for (u32 i = 0; i < question->pair_count && status == ETL_OK; i++) {
        const view_pair *const pair = &question->pairs[i];
        has_format |= strcmp(pair->name, "format") == 0;
        if (!is_input(pair))
            status = add_option(pair, question, command_bit, out, err);
    }
    if (status == ETL_OK && !has_format)
        status = add_word(out, strdup("--format=json"), err);
    return status == ETL_OK ? add_inputs(question, names, out, err) : status;
}

void view_words_free(view_words *words)
{
    for (u32 i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (view_words){ 0 };
}
