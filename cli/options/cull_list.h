/*
 * cull_list.h - frame patterns of the options, and those of known allocators.
 */
#ifndef CLI_CULL_LIST_H
#define CLI_CULL_LIST_H

#include "options.h"

/* Patterns and the text they point into. Start from {0}. */
typedef struct cli_patterns {
    etlheap_pattern *at;
    u32 count;
    char **texts; /* one a pattern; NULL for built-in ones */
} cli_patterns;

/* Adds the words of an option. `spelled` is for messages. Errors: ARGUMENT for
 * what is no pattern, MEMORY. */
etl_status cli_patterns_add_words(cli_patterns *patterns, const cli_words *words,
                                  const char *spelled, etl_error *err);

/* Adds the lines of a file; empty ones and those that begin with # are skipped.
 * Errors: IO, ARGUMENT (the message names the line), MEMORY. */
etl_status cli_patterns_add_file(cli_patterns *patterns, const char *path, etl_error *err);

/* Adds the frames of allocators, which say how memory was asked for but not by
 * whom. Errors: MEMORY. */
etl_status cli_patterns_add_allocators(cli_patterns *patterns, etl_error *err);

void cli_patterns_free(cli_patterns *patterns);

#endif
