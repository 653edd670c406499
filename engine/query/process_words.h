/* process_words.h - finds which words of a list name a process, without trying them all. */
#ifndef ETLHEAP_PROCESS_WORDS_H
#define ETLHEAP_PROCESS_WORDS_H

#include "engine/core/pattern_index.h"
#include "engine/engine.h"

/* A word that is a process id. */
typedef struct pid_word {
    u64 pid;
    u32 word;
} pid_word;

typedef struct process_words {
    const char *const *words;
    u32 count;
    pattern_index names;          /* of the words that are no ids */
    ETLHEAP_VECTOR(pid_word) ids; /* by id */
} process_words;

/* The words are borrowed. Call process_words_close even after a failure. False if memory runs
 * out. */
bool process_words_open(process_words *out, const char *const *words, u32 count);
void process_words_close(process_words *words);

/* Sets named[i] if a word names the process with the id i + 1, as etlheap_word_names_process
 * says. */
void process_words_select(process_words *words, const etlheap_result *result, bool *named);

/* Says of each word what became of it, as etlheap_word_uses does. `kinds`: only processes with
 * events of one of these kinds are named; NULL: all are. */
bool process_words_uses(const etlheap_result *result, process_words *words, const u32 *kinds,
                        etlheap_word_use *uses);

#endif
