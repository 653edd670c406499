/* question_words.h - the options of a question, as the words of a command line. */
#ifndef CLI_VIEW_QUESTION_WORDS_H
#define CLI_VIEW_QUESTION_WORDS_H

#include "session.h"

/* Start from {0}; free it in any case. */
typedef struct view_words {
    char **at;
    u32 count;
} view_words;

/* Appends "--name=value", or "--name" for a flag, for each option of the question, and refuses
 * options that are not served (CLI_SERVED). `names` are the inputs' names by number; each input of
 * the question becomes a word, the first one if none is asked for. ETL_ERR_ARGUMENT,
 * ETL_ERR_MEMORY. */
etl_status view_words_make(const view_question *question, u32 command_bit, const char *const *names,
                           u32 name_count, view_words *out, etl_error *err);
void view_words_free(view_words *words);

#endif
