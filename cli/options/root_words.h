/*
 * root_words.h - the words of --source-root, FROM=TO, as the roots that writers take.
 */
#ifndef CLI_ROOT_WORDS_H
#define CLI_ROOT_WORDS_H

#include "options.h"

/* Start from {0}. */
typedef struct cli_roots {
    etlheap_source_roots roots;
    etlheap_source_root *at; /* of roots */
    char *text;              /* what they point into */
} cli_roots;

/* To be freed in every case. Errors: ETL_ERR_ARGUMENT for what is no FROM=TO, ETL_ERR_MEMORY. */
etl_status cli_roots_parse(const cli_options *options, cli_roots *out, etl_error *err);
void cli_roots_free(cli_roots *roots);

#endif
