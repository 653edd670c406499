/*
 * memory_limit.h - the promise of --memory, for the whole program.
 *
 * The system keeps the promise, not a count of ours: whoever asks for memory beyond the
 * limit - the engine, an exporter, a library - is refused, and a refusal ends the run with
 * ETL_ERR_MEMORY. The limit covers all memory that is this process's own and can be
 * written to: heap with its gaps, stacks of threads, anonymous mappings. It leaves out
 * what the program and its libraries held when the limit was set, and mapped files, whose
 * pages the system takes back when it needs them.
 *
 * A run that is refused memory says how much would have been enough. What it holds while
 * it reads is noted as it goes on; from how that grew follows what reading would have
 * taken, and from that, by a table of measured ratios, what the whole question takes.
 */
#ifndef CLI_MEMORY_LIMIT_H
#define CLI_MEMORY_LIMIT_H

#include "cli/options/options.h"

/* Sets the limit of --memory, if it was given; before the first thread and the first
 * input. With --out-dir nothing is noted: that is for one thread. Fewer threads are used where their stacks would take much of the memory. */
void cli_memory_limit_begin(const cli_command *command, cli_options *options);

/* A file that is going to be read, and whether as a whole into memory. */
void cli_memory_note_input(const char *path, bool is_store, bool is_held);

/* How far reading is. */
void cli_memory_note_progress(u64 done_bytes, u64 total_bytes);

/*
 * When a run fails: whether that is because of the limit. Then *out is the sentence that
 * replaces the error's, and the limit is lifted, so that it can be said.
 */
typedef struct cli_memory_sentence {
    char text[240];
} cli_memory_sentence;

bool cli_memory_explain(const etl_error *err, cli_memory_sentence *out);

/* The same of one of many inputs, of a trace of so many bytes; the limit stays, and nothing
 * that was noted counts: inputs are read side by side. */
bool cli_memory_explain_one(const etl_error *err, u64 input_bytes, cli_memory_sentence *out);

/* --- of the system ------------------------------------------------------------------ */

/* Memory of the process's own, written to or not; 0: not known. */
u64 cli_memory_in_use(void);

/* No more than so much from now on (0: as before); false when the system has no such
 * limit. Freed memory goes back to the system at once: what is kept would count. */
bool cli_memory_set_limit(u64 bytes);

#endif
