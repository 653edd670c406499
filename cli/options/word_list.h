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

/* Appends to a list with `at` and `count`; false if memory runs out. Lists of the command line are
 * short, and grow one by one. */
#define CLI_APPEND(list, ...)                                                                      \
    (cli_list_grow(&(list)->at, (list)->count, sizeof *(list)->at)                                 \
         ? ((list)->at[(list)->count++] = (__VA_ARGS__), true)                                     \
         : false)

/* Makes room for one more element of so many bytes. at_pointer is the address of the list's
 * `at`. */
bool cli_list_grow(void *at_pointer, size_t count, size_t size);

/* True for "-", standard input. */
bool cli_is_stdin(const char *input);

#endif
