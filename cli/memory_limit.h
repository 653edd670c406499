/*
 * memory_limit.h - enforces --memory for the whole program.
 *
 * The system enforces the limit, not a counter in the program. Whatever asks for memory beyond it -
 * the engine, an exporter, a library - is refused, and the run ends with ETL_ERR_MEMORY. The limit
 * covers all private writable memory of the process: the heap with its gaps, thread stacks,
 * anonymous mappings. It excludes memory that the program and its libraries held when the limit was
 * set, and mapped files, whose pages the system can take back.
 *
 * A run that is refused memory says how much would have been enough, by what its inputs have and
 * its question keeps of them.
 */
#ifndef CLI_MEMORY_LIMIT_H
#define CLI_MEMORY_LIMIT_H

#include "cli/options/options.h"

/* Sets the limit of --memory, if given. Call it before the first thread and the first input. With
 * --out-dir nothing is recorded, because that works only for one thread. Uses fewer threads if
 * their stacks would take much of the memory. */
void cli_memory_limit_begin(const cli_command *command, cli_options *options);

/* Records a file that will be read, and whether it is read into memory as a whole. */
void cli_memory_note_input(const char *path, bool is_store, bool is_held);

/* Call it when a run fails: true if the limit is the cause. Then *out replaces the error's
 * sentence, and the limit is lifted, so that the message can be written. */
typedef struct cli_memory_sentence {
    char text[240];
} cli_memory_sentence;

bool cli_memory_explain(const etl_error *err, cli_memory_sentence *out);

/* For one of many inputs, the trace at `path`. The limit stays, and nothing that was recorded
 * counts, because inputs are read in parallel. */
bool cli_memory_explain_one(const etl_error *err, const char *path, cli_memory_sentence *out);

#endif
