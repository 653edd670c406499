/* word_list.h - words of the command line, and other texts that live as long as the options. */
#ifndef CLI_WORD_LIST_H
#define CLI_WORD_LIST_H

#include "parser/parser.h"

#include "parser/base.h"

/* The words of a repeatable option. They point into argv. */
typedef struct cli_words {
    const char **at;
    u32 count;
} cli_words;

/* Appends a word, which must outlive the list. ETL_ERR_MEMORY. */
etl_status cli_words_add(cli_words *words, const char *word, etl_error *err);

/* True for "-", standard input. */
bool cli_is_stdin(const char *input);

#endif
