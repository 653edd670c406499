/* given_options.c - see given_options.h. */
#include "given_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

etl_status cli_given_add(cli_given_list *list, const cli_option *option, const char *value,
                         etl_error *err)
{
    return CLI_APPEND(list, (cli_given){ option, value }) ? ETL_OK : etl_no_memory(err);
}

etl_status cli_given_add_symbols(cli_options *options, const cli_option *option, etl_error *err)
{
    const char *const path = options->symbols;
    char *const shown = malloc(strlen(path) + 1);
    if (!shown)
        return etl_no_memory(err);
    const bool lacks_login = etlheap_symbols_without_logins(path, shown);
    if (cli_words_add(&options->owned_words, shown, err) != ETL_OK) {
        free(shown);
        return ETL_ERR_MEMORY;
    }
    options->lacks_login |= lacks_login;
    if (lacks_login && shown[strspn(shown, ";* ")] == '\0')
        return ETL_OK;
    return cli_given_add(&options->given, option, shown, err);
}

bool cli_is_given(const cli_options *options, const char *name)
{
    for (u32 i = 0; i < options->given.count; i++) {
        if (strcmp(options->given.at[i].option->name, name) == 0)
            return true;
    }
    return false;
}

const cli_option *cli_first_given(const cli_options *options, u32 bit)
{
    for (u32 i = 0; i < options->given.count; i++) {
        if (options->given.at[i].option->commands & bit)
            return options->given.at[i].option;
    }
    return NULL;
}

static bool is_named(const cli_given *given, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(given->option->name, *names) == 0)
            return true;
    }
    return false;
}

/* Appends an option and its value, if there is one. */
static etl_status add_given(const cli_given *given, cli_words *out, etl_error *err)
{
    const etl_status status = cli_words_add(out, given->option->name, err);
    return status == ETL_OK && given->value ? cli_words_add(out, given->value, err) : status;
}

/* Appends the options that have one of the bits, or one of the names, but none of the others. */
static etl_status add_words(const cli_options *options, u32 bits, const char *const *names,
                            const char *const *others, cli_words *out, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < options->given.count && status == ETL_OK; i++) {
        const cli_given *const given = &options->given.at[i];
        if (((given->option->commands & bits) || is_named(given, names)) &&
            !is_named(given, others))
            status = add_given(given, out, err);
    }
    return status;
}

static const char *const none[] = { NULL };

etl_status cli_repeated_words(const cli_options *options, cli_words *out, etl_error *err)
{
    return add_words(options, CLI_REPEATED, none, none, out, err);
}

etl_status cli_selecting_words(const cli_options *options, cli_words *out, etl_error *err)
{
    static const char *const names[] = { "--kind", "--process", "--require-frame", NULL };
    return add_words(options, CLI_REPEATED, names, none, out, err);
}

etl_status cli_asking_words(const cli_options *options, cli_words *out, etl_error *err)
{
    static const char *const files[] = { "--stack-tags", "--pool-tags", NULL };
    /* How the answer is written, and how many of its rows. */
    static const char *const others[] = { "--format", "--titles", "--csv-safe",
                                          "--frames", "--top",    NULL };
    return add_words(options, CLI_REPEATED | CLI_SERVED, files, others, out, err);
}

static const char *group_of(const cli_options *options, const char *name)
{
    for (u32 i = 0; i < options->given.count; i++) {
        if (strcmp(options->given.at[i].option->name, name) == 0)
            return options->given.at[i].option->group;
    }
    return NULL;
}

static size_t word_size(const cli_given *given)
{
    return strlen(given->option->name) + (given->value ? strlen(given->value) + 1 : 0) + 1;
}

/* Appends " --option value", without the space at the begin of the text. */
static size_t add_word(const cli_given *given, size_t used, char *out, size_t size)
{
    return (size_t)snprintf(out + used, size - used, "%s%s%s%s", used > 0 ? " " : "",
                            given->option->name, given->value ? " " : "",
                            given->value ? given->value : "");
}

etl_status cli_given_selection(const cli_options *options, const char *name, char **out,
                               etl_error *err)
{
    const char *const group = group_of(options, name);
    const size_t length = strlen(name);
    size_t size = 1, used = 0;
    for (u32 i = 0; i < options->given.count; i++)
        size += word_size(&options->given.at[i]);
    *out = calloc(size, 1);
    if (*out == NULL)
        return etl_no_memory(err);
    for (u32 i = 0; i < options->given.count; i++) {
        const cli_given *const given = &options->given.at[i];
        if (given->option->group == group && strncmp(given->option->name, name, length) != 0)
            used += add_word(given, used, *out, size);
    }
    return ETL_OK;
}
