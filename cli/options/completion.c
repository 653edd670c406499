/*
 * completion.c - `etlheap --completion SHELL`: scripts for shells, from the table of
 * options, so that what they offer is what the program takes.
 */
#include "completion.h"

typedef struct shell {
    const char *name;
    void (*write)(const cli_command_list *commands, etlheap_sink *sink);
} shell;

static const shell shells[] = {
    { "bash", cli_completion_bash },
    { "zsh", cli_completion_zsh },
    { "fish", cli_completion_fish },
};

bool cli_write_completion(const cli_command_list *commands, const char *word, etlheap_sink *sink)
{
    for (size_t i = 0; i < ETL_COUNT_OF(shells); i++) {
        if (strcmp(shells[i].name, word) == 0) {
            shells[i].write(commands, sink);
            return true;
        }
    }
    return false;
}
