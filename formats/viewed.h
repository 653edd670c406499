/*
 * viewed.h - the inputs of `etlheap view`, as the page in the browser asks for them. Part of
 * formats.h.
 *
 *     {"schema": "etlheap-view-1", "version": "0.1.0", "shell": "posix", "inputs": [...],
 *      "command_words": {...}, "source_roots": [...]}
 */
#ifndef ETLHEAP_VIEWED_H
#define ETLHEAP_VIEWED_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, word): how far an input is. */
#define ETLHEAP_VIEWED_STATES(X)                                                                   \
    X(READING, "reading")                                                                          \
    X(READY, "ready")                                                                              \
    X(FAILED, "failed") /* it cannot be read; `message` has the reason */

/* X(enumerator, word): how far the names of its functions are. */
#define ETLHEAP_VIEWED_NAMES(X)                                                                    \
    X(NONE, "none")       /* none can be looked up */                                              \
    X(PENDING, "pending") /* they are being looked up */                                           \
    X(READY, "ready")

typedef enum etlheap_viewed_state {
#define ETLHEAP_VIEWED_STATE_ENUM(name, word) ETLHEAP_VIEWED_##name,
    ETLHEAP_VIEWED_STATES(ETLHEAP_VIEWED_STATE_ENUM)
#undef ETLHEAP_VIEWED_STATE_ENUM
        ETLHEAP_VIEWED_STATE_COUNT
} etlheap_viewed_state;

typedef enum etlheap_viewed_names {
#define ETLHEAP_VIEWED_NAMES_ENUM(name, word) ETLHEAP_VIEWED_NAMES_##name,
    ETLHEAP_VIEWED_NAMES(ETLHEAP_VIEWED_NAMES_ENUM)
#undef ETLHEAP_VIEWED_NAMES_ENUM
        ETLHEAP_VIEWED_NAMES_COUNT
} etlheap_viewed_names;

/* Words of a command line. Everything here is borrowed for the call. */
typedef struct etlheap_viewed_words {
    const char *const *at;
    uint32_t count;
} etlheap_viewed_words;

typedef struct etlheap_viewed_input {
    const char *name;
    etlheap_viewed_words words; /* its files, on the command line */
    etlheap_viewed_state state;
    etlheap_viewed_names names;
    uint64_t done_bytes, total_bytes; /* of reading; 0: unknown */
    const char *message;              /* why it failed; NULL: it did not */
} etlheap_viewed_input;

/* What a command has to repeat of the options of `etlheap view`. */
typedef struct etlheap_viewed_command {
    const char *name;
    etlheap_viewed_words words;
} etlheap_viewed_command;

typedef struct etlheap_viewed {
    const etlheap_viewed_input *inputs;
    uint32_t input_count;
    const etlheap_viewed_command *commands;
    uint32_t command_count;
    etlheap_viewed_words source_roots; /* FROM=TO; none: no lines of code are shown */
} etlheap_viewed;

/* Writes the document. Inputs are numbered from 1. Write errors are reported when the sink is
 * closed. */
void etlheap_viewed_write(const etlheap_viewed *viewed, etlheap_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
