/* wildcards.h - expands inputs such as *.etl if no shell did. */
#ifndef CLI_WILDCARDS_H
#define CLI_WILDCARDS_H

#include "options.h"

/*
 * Adds the word to a list, or if its last part contains * or ?, the matching names in its folder,
 * in byte order, ignoring case. A word that matches nothing stays unchanged, so that the missing
 * file is reported. Names made here live as long as the program, as other words do. ETL_ERR_MEMORY.
 */
etl_status cli_wildcards_add(cli_words *words, const char *word, etl_error *err);

/* Adds an input from the command line. On Windows, where programs expand wildcards themselves, this
 * is cli_wildcards_add. ETL_ERR_MEMORY. */
etl_status cli_input_add(cli_words *words, const char *word, etl_error *err);

#endif
