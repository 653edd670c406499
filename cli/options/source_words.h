/* source_words.h - parses the words of --source, FILE:LINE, and all about showing them. */
#ifndef CLI_SOURCE_WORDS_H
#define CLI_SOURCE_WORDS_H

#include "root_words.h"

/* Most lines shown before and after a place. */
#define CLI_SOURCE_LINES_MAX 1000u

/* Start from {0}. */
typedef struct cli_sources {
    cli_roots roots;
    etlheap_source_place *places;
    u32 count;
    char *text; /* memory of the places */
    etlheap_source_options options;
} cli_sources;

/* Parses the options; free *out in any case. ETL_ERR_ARGUMENT (the message has the word),
 * ETL_ERR_MEMORY. */
etl_status cli_sources_parse(const cli_options *options, cli_sources *out, etl_error *err);
void cli_sources_free(cli_sources *sources);

#endif
