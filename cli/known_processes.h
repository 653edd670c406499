/* known_processes.h - whether a word of the user names a process of the trace. */
#ifndef CLI_KNOWN_PROCESSES_H
#define CLI_KNOWN_PROCESSES_H

#include "engine/engine.h"
#include "parser/base.h"

/* A key of a process: its id, or a hash of its name with or without the extension. */
typedef struct cli_known_process {
    u64 key;
    u32 process; /* etlheap_process */
} cli_known_process;

typedef struct cli_known_processes {
    const etlheap_result *result;
    cli_known_process
        *at; /* by key; NULL for few words, or if memory ran out: then all are tried */
    size_t count;
    u64 tried; /* words tried on processes so far; tests bound it */
} cli_known_processes;

/* Prepares for so many words: sorted keys are worth their memory only for several. The result is
 * borrowed. */
void cli_known_processes_open(cli_known_processes *out, const etlheap_result *result,
                              u32 word_count);
void cli_known_processes_close(cli_known_processes *known);

/* True if etlheap_word_names_process is true for a process. */
bool cli_known_processes_has(cli_known_processes *known, const char *word);

#endif
