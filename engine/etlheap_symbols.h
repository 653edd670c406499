/*
 * etlheap_symbols.h - which modules have symbols, where they were found, and symbol paths as they
 * may be shown. Part of engine.h.
 *
 * Open the symbols of a result with etlheap_symbols_open (engine.h).
 */
#ifndef ETLHEAP_SYMBOL_LISTS_H
#define ETLHEAP_SYMBOL_LISTS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, word): the result of looking for a module's symbols. */
#define ETLHEAP_SYMBOL_STATES(X)                                                                   \
    X(FOUND, "found")               /* the PDB of this build */                                    \
    X(LOOSE, "loose")               /* the PDB of another build, which the options allow */        \
    X(EXPORTS, "exports")           /* no PDB, but the program file and its exports */             \
    X(MISSING, "missing")           /* nowhere on the path */                                      \
    X(MISMATCH, "mismatch")         /* found, but of another build */                              \
    X(UNUSABLE, "unusable")         /* found, but damaged or of an unsupported kind */             \
    X(WITHHELD, "withheld")         /* the symbol store says that it is not available */           \
    X(UNREACHABLE, "unreachable")   /* a server or share did not answer */                         \
    X(UNIDENTIFIED, "unidentified") /* the trace does not state the build */

typedef enum etlheap_symbol_state {
#define ETLHEAP_SYMBOL_STATE_ENUM(name, word) ETLHEAP_SYMBOL_STATE_##name,
    ETLHEAP_SYMBOL_STATES(ETLHEAP_SYMBOL_STATE_ENUM)
#undef ETLHEAP_SYMBOL_STATE_ENUM
        ETLHEAP_SYMBOL_STATE_COUNT
} etlheap_symbol_state;

const char *etlheap_symbol_state_word(etlheap_symbol_state state); /* "" if out of range */

/* A build of a module that occurs in stacks of outstanding memory. Strings are borrowed. */
typedef struct etlheap_symbol_module {
    const etlheap_module_info *module;
    etlheap_symbol_state state;
    /* "app.pdb/GUIDage" as in symbol stores, or the key of the program file if the PDB is unknown;
     * "" if the build is unknown. */
    const char *expected;
    const char *file;                          /* path of the file found; NULL: none */
    const char *note;                          /* why a file that was found is not used; "" */
    int64_t size[ETLHEAP_KIND_CAPACITY];       /* outstanding bytes with a site in the module */
    int64_t named_size[ETLHEAP_KIND_CAPACITY]; /* of these, bytes with a site that has a name */
} etlheap_symbol_module;

/* The modules and totals by kind. Freed with etlheap_symbol_list_free. */
typedef struct etlheap_symbol_list {
    int64_t from_ns, to_ns;
    const etlheap_symbol_module *modules; /* largest size first, by kind */
    uint32_t module_count;
    int64_t size[ETLHEAP_KIND_CAPACITY]; /* all outstanding bytes, also without a stack */
    int64_t named_size[ETLHEAP_KIND_CAPACITY];
    etl_diag_counts diagnostics; /* of the result, and of looking up symbols */
} etlheap_symbol_list;

/*
 * Looks for the symbols of all modules in stacks of outstanding memory. The query's filters and
 * culling apply, its symbols must be set, and its keys and required frames do not count. The caller
 * owns *out (etlheap_symbol_list_free), which borrows from result and symbols. Errors as for
 * etlheap_aggregate.
 */
etl_status etlheap_symbols_list(const etlheap_query *query, const etlheap_symbol_list **out,
                                etl_error *err);
void etlheap_symbol_list_free(const etlheap_symbol_list *list); /* NULL is allowed */

/* A source file that a line of looked-up symbols is in. Strings and bytes are borrowed from the
 * symbols until more is looked up. */
typedef struct etlheap_source_file {
    const char *file;   /* path, as the compiler wrote it */
    const char *module; /* whose PDB names it */
    /* Of the bytes that were compiled: 16 bytes of MD5, 20 of SHA-1, 32 of SHA-256; 0: the PDB has
     * none. */
    uint32_t checksum_size;
    const uint8_t *checksum;
    const void *reserved[4]; /* NULL: room for later versions */
} etlheap_source_file;

/*
 * Lists the source files in which the lines of all places lie that were looked up so far with these
 * symbols; etlheap_table_name looks up those of a table. A file has more than one entry if several
 * modules, or several states of it, were compiled. False beyond the count.
 */
uint32_t etlheap_symbols_source_count(const etlheap_symbols *symbols);
bool etlheap_symbols_source_at(const etlheap_symbols *symbols, uint32_t index,
                               etlheap_source_file *out);

/*
 * Writes a symbol path without the logins of its servers (passwords, tokens, signatures), to be
 * shown; a server is left out if it is not clear where its login ends. The second function takes a
 * sentence that may cite such a path. `out` has room for strlen + 1 bytes. True if anything was
 * left out.
 */
bool etlheap_symbols_without_logins(const char *path, char *out);
bool etlheap_sentence_without_logins(const char *sentence, char *out);

/* True if a file begins like a PDB, a program or a cabinet, so that nobody wants it replaced by a
 * report. False if it cannot be read. */
bool etlheap_symbols_is_file(const char *path);

#ifdef __cplusplus
}
#endif

#endif
