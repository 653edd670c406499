/* question_words.h - the options of a question, as the words of a command line. */
#ifndef CLI_VIEW_QUESTION_WORDS_H
#define CLI_VIEW_QUESTION_WORDS_H

#include "session.h"

/* The inputs of the session, by number. */
typedef struct view_names {
    const char *const *at;
    u32 count;
} view_names;

/* Start from {0}; free it in any case. */
typedef struct view_words {
    char **at;
    u32 count;
} view_words;

/* Makes words of the options of `etlheap view` that have CLI_REPEATED and are the command's, too.
 * ETL_ERR_MEMORY. */
etl_status view_words_repeat(const cli_options *view, u32 command_bit, view_words *out,
                             etl_error *err);

/* Makes "--name=value", or "--name" for a flag, of each option of the question, and refuses options
 * that are not served (CLI_SERVED). JSON is asked for, unless the question has a format or the
 * command exports. The inputs come last: the first one if the question has none. ETL_ERR_ARGUMENT,
 * ETL_ERR_MEMORY. */
etl_status view_words_make(const view_question *question, u32 command_bit, const view_names *names,
                           view_words *out, etl_error *err);
void view_words_free(view_words *words);

#endif
