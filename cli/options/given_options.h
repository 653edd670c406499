/*
 * given_options.h - the options of a command line, by the bits of their rows.
 */
#ifndef CLI_GIVEN_OPTIONS_H
#define CLI_GIVEN_OPTIONS_H

#include "options.h"

/* Appends an option and its value, which are borrowed. Errors: ETL_ERR_MEMORY. */
etl_status cli_given_add(cli_given_list *list, const cli_option *option, const char *value,
                         etl_error *err);

/* Appends --symbols with the path of the options, without its logins, because the words are shown
 * in suggested commands. Sets lacks_login if there were any. Errors: ETL_ERR_MEMORY. */
etl_status cli_given_add_symbols(cli_options *options, const cli_option *option, etl_error *err);

/* True if the option of that name, with its dashes, is on the command line. */
bool cli_is_given(const cli_options *options, const char *name);

/* The first option on the command line whose row has the bit in `commands`; NULL: none. */
const cli_option *cli_first_given(const cli_options *options, u32 bit);

/* Joins the options that select memory, with their values: those in the group of `name`. That
 * and options that begin with it are left out. The caller frees *out. Errors: ETL_ERR_MEMORY. */
etl_status cli_given_selection(const cli_options *options, const char *name, char **out,
                               etl_error *err);

/* Appends the options that have CLI_REPEATED, each followed by its value if it has one. The words
 * are the options'. Errors: ETL_ERR_MEMORY. */
etl_status cli_repeated_words(const cli_options *options, cli_words *out, etl_error *err);

/* The same with the options that repeated commands have of their own: kinds, processes and frames.
 * Together they select what was selected here. */
etl_status cli_selecting_words(const cli_options *options, cli_words *out, etl_error *err);

/* Appends all options that the rows and numbers of an answer depend on, but not those that say how
 * it is written and how many rows it has. */
etl_status cli_asking_words(const cli_options *options, cli_words *out, etl_error *err);

#endif
