/*
 * symbol_path.h - finds the symbol files that modules ask for.
 *
 * A symbol path is text in the syntax of _NT_SYMBOL_PATH, given by the caller
 * (nothing here reads the environment). It is a list of elements between
 * semicolons, searched from left to right until a file is found:
 *
 *   DIR                    a folder: DIR/app.pdb, then as a symbol store
 *   srv*A*B*C              a chain of stores. C, and B, and A may be folders or
 *                          http(s) servers; what is found in one is copied into
 *                          the folders left of it and opened there. An empty
 *                          store ("srv**URL") is the default store.
 *   symsrv*symsrv.dll*A*B  the same, in full
 *   cache*DIR              what any later element finds is copied into DIR
 *   https://host/path      the same as srv*https://host/path
 *
 * A symbol store keeps a file under NAME/KEY/NAME, the key being the identity
 * of the build (symbol_key_format). Stores may be two-tier (AB/ABC.pdb/...,
 * told by a file index2.txt), hold files compressed (app.pd_, a cabinet), or a
 * file.ptr that says where the file is. Windows does not tell upper from lower
 * case and this does not either.
 *
 * A name and a key are a claim. Each candidate is shown to the caller's check
 * before it is used; one that belongs to another build is counted
 * (symbol_mismatch) and the search goes on.
 *
 * Threads: a symbol_path is used by one thread at a time.
 */
#ifndef ETLHEAP_SYMBOL_PATH_H
#define ETLHEAP_SYMBOL_PATH_H

#include "parser/parser.h"
#include "symbol_fetch.h"

typedef struct symbol_path symbol_path;

typedef enum symbol_kind { SYMBOL_KIND_PDB, SYMBOL_KIND_IMAGE } symbol_kind;

/* Which file is wanted. */
typedef struct symbol_key {
    symbol_kind kind;
    const char *name;     /* UTF-8; folders before the last / or \ are ignored */
    etl_guid guid;        /* PDB: GUID and age as the image's RSDS record has them */
    u32 age;              /* PDB */
    u32 time_date_stamp;  /* image */
    u32 image_size_bytes; /* image */
} symbol_key;

#define SYMBOL_KEY_TEXT_SIZE 41 /* 32 and 8 hex digits and a NUL */

/* The key as the folder of a symbol store: "GUIDage" of a PDB with the GUID's 32
 * digits in upper case and the age without leading zeros, "TTTTTTTTsize" of an image. */
void symbol_key_format(const symbol_key *key, char out[SYMBOL_KEY_TEXT_SIZE]);

/* What the caller's check says of a candidate. */
typedef enum symbol_verdict {
    SYMBOL_VERDICT_MATCH,    /* readable and of the build that is wanted */
    SYMBOL_VERDICT_MISMATCH, /* readable, but of another build */
    SYMBOL_VERDICT_UNUSABLE  /* damaged, or no file of its kind */
} symbol_verdict;

typedef symbol_verdict symbol_check_fn(void *user, const char *path, const symbol_key *key);

typedef struct symbol_path_options {
    const char *default_store;    /* for srv**URL, srv*URL and cache*; NULL: a temporary one */
    const char *temporary_folder; /* for files without a store to keep them; NULL: the system's */
    bool offline;                 /* servers are passed over */
    bool loose;                   /* for want of a match, a file of another build will do */
    symbol_check_fn *check;       /* NULL: names and keys are believed */
    void *check_user;
    symbol_fetch_options fetch; /* of servers; {0} gives the defaults */
} symbol_path_options;

/*
 * Reads the text. Texts in options are copied. On success the caller owns *out
 * (symbol_path_free). An empty text is an empty path. ETL_ERR_ARGUMENT: a chain
 * has more than ten stores; ETL_ERR_MEMORY.
 */
etl_status symbol_path_open(const char *text, const symbol_path_options *options, symbol_path **out,
                            etl_error *err);

/* Removes temporary files too: what is mapped from them stays readable. */
void symbol_path_free(symbol_path *path); /* NULL is allowed */

/* The first folder, of elements from `from` on, that is not there although it is no cache,
 * and the number of its element; NULL and UINT32_MAX: none. */
const char *symbol_path_missing(symbol_path *path, u32 from, u32 *element);

/* Whether finding may use the network: a server is named and offline is not set. */
bool symbol_path_uses_network(const symbol_path *path);

typedef enum symbol_outcome {
    SYMBOL_MISSING,     /* nowhere on the path */
    SYMBOL_FOUND,       /* `file` matches */
    SYMBOL_FOUND_LOOSE, /* `file` is of another build, and that was allowed */
    SYMBOL_MISMATCHED,  /* `file` has the name but is of another build; not used */
    SYMBOL_UNUSABLE,    /* `file` is damaged or was not a symbol file; not used */
    SYMBOL_WITHHELD,    /* the store says that it is not available, or asks for a login */
    SYMBOL_UNREACHABLE  /* a server or a share did not answer, so nobody knows */
} symbol_outcome;

const char *symbol_outcome_name(symbol_outcome outcome); /* "missing", "found", ... */

typedef struct symbol_request {
    symbol_key key;         /* in */
    symbol_outcome outcome; /* out */
    const char *file;       /* out: path in the file system, or NULL; owned by the symbol_path */
} symbol_request;

/*
 * Finds `count` files, element by element, so that all that a server is asked
 * for is fetched at once. Each request gets its outcome; those that are equal
 * get the same. Files are written to caches only when checked, and under a
 * temporary name until complete. What was odd is counted in *diag.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED (by the fetch options' progress; what was
 * found until then stands).
 */
etl_status symbol_path_find(symbol_path *path, symbol_request *requests, u32 count,
                            etl_diag_counts *diag, etl_error *err);

#endif
