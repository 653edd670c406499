/*
 * wildcards.h - inputs as *.etl, where no shell has expanded them.
 */
#ifndef CLI_WILDCARDS_H
#define CLI_WILDCARDS_H

#include "options.h"

/*
 * Adds the word to a list, or, when its last part has * or ? in it, the names in its
 * folder that it matches, in byte order, letters of either case alike. Words that match
 * nothing stay as they are, so that it is said which file is missing. What is made here
 * lives as long as the program, as other words do. Errors: MEMORY.
 */
etl_status cli_wildcards_add(cli_words *words, const char *word, etl_error *err);

/* Adds an input as the command line names it. On Windows, where programs expand wildcards
 * themselves, this is cli_wildcards_add. Errors: MEMORY. */
etl_status cli_input_add(cli_words *words, const char *word, etl_error *err);

#endif
