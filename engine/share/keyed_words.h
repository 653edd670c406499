/*
 * keyed_words.h - words that stand for names in an anonymised store.
 *
 *     word = PREFIX + 16 hexadecimal digits of HMAC-SHA-256(key, SORT + NUL + name)
 *
 * Equal names have equal words in every file that is made with the key, and names that Windows
 * compares without case are folded first. Without the key, a word can be neither computed for a
 * name nor checked against one.
 *
 * Three prefixes also tell what the built-in list of allocator frames says of a name, because the
 * list matches names, and a report is the same only if the same frames are culled.
 */
#ifndef ETLHEAP_KEYED_WORDS_H
#define ETLHEAP_KEYED_WORDS_H

#include "engine/core/intern.h"
#include "engine/core/keyed_hash.h"
#include "engine/names/frame_patterns.h"

/* X(enumerator, sort, folded): the prefix is the sort and an underscore. */
#define WORD_SORTS(X)                                                                              \
    X(PROCESS, "process", true)                                                                    \
    X(MODULE, "module", true)                                                                      \
    X(PATH, "path", true)                                                                          \
    X(FUNCTION, "fn", false)                                                                       \
    X(TYPE, "type", false)                                                                         \
    X(SOURCE, "source", false)                                                                     \
    X(THREAD, "thread", false)                                                                     \
    X(MARK, "mark", false)                                                                         \
    X(SESSION, "session", false)                                                                   \
    X(COMPUTER, "computer", true)                                                                  \
    X(PACKAGE, "package", true)                                                                    \
    X(SERVICE, "service", true)                                                                    \
    X(LOGGED, "logged", true)                                                                      \
    X(FILE, "file", true)                                                                          \
    X(PROVIDER, "provider", false)                                                                 \
    X(EVENT, "event", false)

typedef enum word_sort {
#define WORD_SORT_ENUM(name, text, folded) WORD_##name,
    WORD_SORTS(WORD_SORT_ENUM)
#undef WORD_SORT_ENUM
        WORD_SORT_COUNT
} word_sort;

#define KEYED_WORD_SIZE 80u

typedef struct keyed_words {
    hash_key key;
    etlheap_pattern *patterns; /* of the built-in list, in three groups */
    frame_patterns functions, modules, runtimes;
    u32 heaps_known; /* in `from` and `to` */
    ETLHEAP_VECTOR(u64) from;
    ETLHEAP_VECTOR(u64) to;
    etlheap_index heap_index;
} keyed_words;

/* Close it even after a failure. False if memory runs out. */
bool keyed_words_open(keyed_words *words, const void *key, size_t key_bytes);
void keyed_words_close(keyed_words *words);

/* A number that tells whether two files have the same key, and nothing else about it. */
u64 keyed_words_check(const keyed_words *words);

/* Writes the word of a name; "" stays "". False if memory runs out. */
bool keyed_word(const keyed_words *words, word_sort sort, const char *name,
                char out[KEYED_WORD_SIZE]);

/* The same for a module and for a function of a module, with what the list of allocator frames says
 * of them. The word of a program ends in .exe, by which its frames are known. */
bool keyed_module(const keyed_words *words, const char *name, bool is_program,
                  char out[KEYED_WORD_SIZE]);
bool keyed_function(const keyed_words *words, const char *module, const char *name,
                    char out[KEYED_WORD_SIZE]);

/* A GUID for a GUID, with further bytes that belong to it. */
void keyed_guid(const keyed_words *words, const u8 guid[16], u32 more, u8 out[16]);

/* A number other than 0 for a number other than 0; 0 stays 0. */
u32 keyed_number(const keyed_words *words, u32 number);

/* Replaces the name in the number of a heap: that of a custom allocator, or a pool tag. Handles of
 * Windows stay, and so do numbers that have their name elsewhere (logged_names.h). False if memory
 * runs out. */
bool keyed_heap(keyed_words *words, u64 handle, u64 *out);

#endif
