/* word_list.c - see word_list.h. */
#include "word_list.h"

#include <stdlib.h>

etl_status cli_words_add(cli_words *words, const char *word, etl_error *err)
{
    const char **const at = realloc(words->at, ((size_t)words->count + 1) * sizeof *at);
    if (!at)
        return etl_no_memory(err);
    at[words->count] = word;
    words->at = at;
    words->count++;
    return ETL_OK;
}

bool cli_is_stdin(const char *input)
{
    return strcmp(input, "-") == 0;
}
