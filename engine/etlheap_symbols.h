/*
 * etlheap_symbols.h - which modules have symbols, and where those were found.
 *
 * Part of engine.h, which has the handle: etlheap_symbols_open.
 */
#ifndef ETLHEAP_SYMBOL_LISTS_H
#define ETLHEAP_SYMBOL_LISTS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, word) - what came of looking for a module's symbols */
#define ETLHEAP_SYMBOL_STATES(X)                                                                   \
    X(FOUND, "found")               /* the PDB of this build */                                    \
    X(LOOSE, "loose")               /* the PDB of another build, which was allowed */              \
    X(EXPORTS, "exports")           /* no PDB, but the program file with its exports */            \
    X(MISSING, "missing")           /* nowhere on the path */                                      \
    X(MISMATCH, "mismatch")         /* there, but of another build */                              \
    X(UNUSABLE, "unusable")         /* there, but damaged or of a kind that we do not read */      \
    X(WITHHELD, "withheld")         /* the store says that it is not to be had */                  \
    X(UNREACHABLE, "unreachable")   /* a server or share did not answer */                         \
    X(UNIDENTIFIED, "unidentified") /* the trace does not say which build it was */

typedef enum etlheap_symbol_state {
#define ETLHEAP_SYMBOL_STATE_ENUM(name, word) ETLHEAP_SYMBOL_STATE_##name,
    ETLHEAP_SYMBOL_STATES(ETLHEAP_SYMBOL_STATE_ENUM)
#undef ETLHEAP_SYMBOL_STATE_ENUM
        ETLHEAP_SYMBOL_STATE_COUNT
} etlheap_symbol_state;

const char *etlheap_symbol_state_word(etlheap_symbol_state state); /* "" for what is none */

/* A build of a module that occurs in stacks of outstanding memory. */
typedef struct etlheap_symbol_module {
    const etlheap_module_info *module;
    etlheap_symbol_state state;
    const char *expected;            /* "app.pdb/GUIDage" as stores have it, of the program file if
                           * nothing names the PDB; "" when the build is not known */
    const char *file;                /* found; NULL none */
    const char *note;                /* why a file that was there is not used; "" */
    i64 size[ETLHEAP_KIND_CAPACITY]; /* outstanding bytes whose site is in the module */
    i64 named_size[ETLHEAP_KIND_CAPACITY]; /* of these, with a site of known name */
} etlheap_symbol_module;

typedef struct etlheap_symbol_list {
    i64 from_ns, to_ns;
    const etlheap_symbol_module *modules; /* largest size first, kind by kind */
    u32 module_count;
    i64 size[ETLHEAP_KIND_CAPACITY]; /* all outstanding bytes, those without a stack too */
    i64 named_size[ETLHEAP_KIND_CAPACITY];
    etl_diag_counts diagnostics; /* the result's, and those of finding symbols */
} etlheap_symbol_list;

/*
 * Looks for the symbols of all modules that occur in stacks of outstanding memory.
 * The query selects and culls; its symbols must be set; what it requires of frames
 * and how it groups does not count. The list is owned by the caller
 * (etlheap_symbol_list_free) and borrows from result and symbols.
 * Errors as of etlheap_aggregate.
 */
etl_status etlheap_symbols_list(const etlheap_query *query, const etlheap_symbol_list **out,
                                etl_error *err);
void etlheap_symbol_list_free(const etlheap_symbol_list *list); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
