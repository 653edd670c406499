/* root_words.h - parses the words of --source-root, FROM=TO. */
#ifndef CLI_ROOT_WORDS_H
#define CLI_ROOT_WORDS_H

#include "options.h"

/* Start from {0}. */
typedef struct cli_roots {
    etlheap_source_roots roots;
    etlheap_source_root *at; /* memory of the roots */
    char *text;              /* their texts */
} cli_roots;

/* Parses the roots. Free *out in any case. ETL_ERR_ARGUMENT (not FROM=TO), ETL_ERR_MEMORY. */
etl_status cli_roots_parse(const cli_options *options, cli_roots *out, etl_error *err);
void cli_roots_free(cli_roots *roots);

#endif
