/*
 * etlheap_query_words.h - queries for programs without our headers, words that name processes, and
 * the usual list of frames to leave out. Part of engine.h.
 */
#include "engine.h" /* before the guard: it includes this header */

#ifndef ETLHEAP_QUERY_WORDS_H
#define ETLHEAP_QUERY_WORDS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * [stable] For programs that cannot include headers, such as those of Python's ctypes: a query with
 * the defaults, whose fields are set by name. Values are texts: the words of the command line's
 * options ("heap", "process,site", "-size"), numbers, or 0 and 1.
 *
 *     kinds, types, group_by       words, separated by commas
 *     sort                         a measure, with a dash smallest first
 *     processes                    words for etlheap_word_names_process, separated by commas
 *     cull_frames                  "allocators" (etlheap_allocator_frames) or ""
 *     from_ns, to_ns, at_exit_freed, lifetime_min_ns, lifetime_max_ns, size_min_bytes,
 *     size_max_bytes, sums_only, at_end, growth, rates, churn, jobs
 *
 * etlheap_query_new returns NULL if memory runs out; the caller frees the query with
 * etlheap_query_free (NULL is allowed). etlheap_query_set: ETL_ERR_ARGUMENT (unknown field or
 * value; the message lists the known ones), ETL_ERR_MEMORY. The query must come from
 * etlheap_query_new.
 */
etlheap_query *etlheap_query_new(void);
void etlheap_query_free(etlheap_query *query);
etl_status etlheap_query_set(etlheap_query *query, const char *field, const char *value,
                             etl_error *err);

/* Asks for no measure that takes more than sums of sizes and counts, where the answer shows
 * none. */
void etlheap_query_drop_measures(etlheap_query *query);

/* [stable] Sets etlheap_query.symbols, which are borrowed; NULL: none. */
void etlheap_query_set_symbols(etlheap_query *query, etlheap_symbols *symbols);

/* [stable] Opens symbols as etlheap_symbols_open does, with a symbol path alone. */
etl_status etlheap_symbols_open_path(const etlheap_result *result, const char *path,
                                     etlheap_symbols **out, etl_error *err);

/* False for the name of a process that no record names, as in etlheap_process_info and in rows. */
bool etlheap_process_is_named(const char *name);

/* True if a word of etlheap_query.processes names the process. A word is a pid in decimal, or a
 * name in which * and ? are wildcards and the extension may be left out. */
bool etlheap_word_names_process(const char *word, const etlheap_process_info *process);

/* True if this is the pattern's module, in which * and ? are wildcards and the extension may be
 * left out; NULL is any module. */
bool etlheap_pattern_names_module(const etlheap_pattern *pattern,
                                  const etlheap_module_info *module);

/* What became of a word of etlheap_query.processes. A list such as "a,b,42" is given as its words
 * and as a whole, because the name of a file may contain commas. One of both is not meant: a word
 * of such a name, or the whole list. */
typedef enum etlheap_word_use {
    ETLHEAP_WORD_MISSING, /* names no process */
    ETLHEAP_WORD_NAMES,
    ETLHEAP_WORD_OTHER /* names none, and is not meant */
} etlheap_word_use;

/* Sets the use of each word, in uses[count]. False if memory runs out. */
bool etlheap_word_uses(const etlheap_result *result, const char *const *words, uint32_t count,
                       etlheap_word_use *uses);

/* Sets named[i] if a word names the process with the id i + 1. False if memory runs out. */
bool etlheap_words_select(const etlheap_result *result, const char *const *words, uint32_t count,
                          bool *named);

/* Patterns in which * and ? are wildcards and case does not matter. Names are looked up among
 * thousands as among a few. For one thread. */
typedef struct etlheap_globs etlheap_globs;

/* Opens patterns, which are borrowed; NULL if memory runs out. */
etlheap_globs *etlheap_globs_open(const char *const *patterns, uint32_t count);
void etlheap_globs_free(etlheap_globs *globs);

/* True if a pattern matches the name. */
bool etlheap_globs_match(etlheap_globs *globs, const char *name);

/* True if the pattern matches a frame, whose names may be NULL. The pattern's module may leave out
 * the file's extension. Does not look at `unnamed_only`. */
bool etlheap_pattern_matches(const etlheap_pattern *pattern, const char *module,
                             const char *symbol);

/* [stable] Patterns of the functions and modules that only pass memory on, or take it back: heap
 * functions, runtimes, operator new and delete, wrappers of the system. They are the built-in list
 * of `etlheap report`, for etlheap_query.cull_frames. Static. */
const etlheap_pattern *etlheap_allocator_frames(uint32_t *count);

/* Writes a pattern that matches the function in every build: its name, with * for a lambda's
 * number, a hash and the like. `out` has room for the name and a NUL. Returns the length. */
size_t etlheap_symbol_of_builds(const char *symbol, char *out);

#ifdef __cplusplus
}
#endif

#endif
