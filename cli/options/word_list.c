/* word_list.c - see word_list.h. */
#include "word_list.h"

#include <stdlib.h>

bool cli_list_grow(void *at_pointer, size_t count, size_t size)
{
    void *at;
    memcpy(&at, at_pointer, sizeof at);
    at = realloc(at, (count + 1) * size);
    if (at)
        memcpy(at_pointer, &at, sizeof at);
    return at != NULL;
}

etl_status cli_words_add(cli_words *words, const char *word, etl_error *err)
{
    return CLI_APPEND(words, word) ? ETL_OK : etl_no_memory(err);
}

bool cli_is_stdin(const char *input)
{
    return strcmp(input, "-") == 0;
}
