/* cull_list.h - frame patterns of the options, and of known allocators. */
#ifndef CLI_CULL_LIST_H
#define CLI_CULL_LIST_H

#include "options.h"

/* Patterns and their texts. Start from {0}. */
typedef struct cli_patterns {
    etlheap_pattern *at;
    u32 count;
    char **texts; /* one per pattern; NULL for built-in ones */
} cli_patterns;

/* Adds the words of an option. `spelled` is for messages. ETL_ERR_ARGUMENT (not a pattern),
 * ETL_ERR_MEMORY. */
etl_status cli_patterns_add_words(cli_patterns *patterns, const cli_words *words,
                                  const char *spelled, etl_error *err);

/* Adds the words of an option that names modules, with or without a ! at the end. Errors as
 * before. */
etl_status cli_patterns_add_modules(cli_patterns *patterns, const cli_words *words,
                                    const char *spelled, etl_error *err);

/* Adds the lines of a file, except empty ones and those that begin with #. ETL_ERR_IO,
 * ETL_ERR_ARGUMENT (the message names the line), ETL_ERR_MEMORY. */
etl_status cli_patterns_add_file(cli_patterns *patterns, const char *path, etl_error *err);

/* Adds the frames of known allocators, which show how memory was requested but not by whom.
 * ETL_ERR_MEMORY. */
etl_status cli_patterns_add_allocators(cli_patterns *patterns, etl_error *err);

void cli_patterns_free(cli_patterns *patterns);

#endif
