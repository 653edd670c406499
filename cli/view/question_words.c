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
    const bool is_alone = option->value == CLI_VALUE_FLAG ||
                          (option->value == CLI_VALUE_TREE && value[0] == '\0');
    const size_t size = strlen(option->name) + 1 + strlen(value) + 1;
    char *const word = malloc(size);
    if (word)
        snprintf(word, size, is_alone ? "%s" : "%s=%s", option->name, value);
    return word;
}

static etl_status add_input(const char *value, const char *const *names, u32 name_count,
                            view_words *out, etl_error *err)
{
    char *end;
    const unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '1' || value[0] > '9' || *end != '\0' || number > name_count)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "input is a number from 1 to %u",
                             (unsigned)name_count);
    return add_word(out, strdup(names[number - 1]), err);
}

etl_status view_words_make(const view_question *question, u32 command_bit, const char *const *names,
                           u32 name_count, view_words *out, etl_error *err)
{
    etl_status status = ETL_OK;
    bool has_input = false;
    for (u32 i = 0; i < question->pair_count && status == ETL_OK; i++) {
        const view_pair *const pair = &question->pairs[i];
        const cli_option *const option = served_option(pair->name, command_bit);
        if (strcmp(pair->name, "input") == 0) {
            has_input = true;
            status = add_input(pair->value, names, name_count, out, err);
        } else if (option == NULL) {
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%.60s is not an option of %.20s here",
                                   pair->name, question->command);
        } else if (option->value == CLI_VALUE_FLAG && pair->value[0] != '\0') {
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s takes no value", pair->name);
        } else {
            status = add_word(out, word_of(option, pair->value), err);
        }
    }
    return status == ETL_OK && !has_input ? add_input("1", names, name_count, out, err) : status;
}

void view_words_free(view_words *words)
{
    for (u32 i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (view_words){ 0 };
}
