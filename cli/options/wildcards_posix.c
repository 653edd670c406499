/* wildcards_posix.c - see wildcards.h; a POSIX system, whose shell has expanded wildcards. */
#include "wildcards.h"

etl_status cli_input_add(cli_words *words, const char *word, etl_error *err)
{
    return cli_words_add(words, word, err);
}
