/* wildcards_windows.c - see wildcards.h; Windows, whose shells leave wildcards as they are. */
#include "wildcards.h"

etl_status cli_input_add(cli_words *words, const char *word, etl_error *err)
{
    return cli_wildcards_add(words, word, err);
}
