/*
 * symbol_path.h - finds the symbol files of modules on a symbol path.
 *
 * A symbol path is text in the syntax of _NT_SYMBOL_PATH, given by the caller; nothing here reads
 * the environment. It is a list of elements separated by semicolons, searched from left to right
 * until a file is found:
 *
 *     DIR                    a folder: DIR/app.pdb, then as a symbol store
 *     srv*A*B*C              a chain of stores: folders or http(s) servers, searched from A to C.
 *                            A file found in one is copied into the folders left of it and
 *                            opened there. An empty store ("srv**URL") is the default store.
 *     symsrv*symsrv.dll*A*B  the same, in full
 *     cache*DIR              files found by later elements are copied into DIR
 *     https://host/path      the same as srv*https://host/path
 *
 * A symbol store keeps a file under NAME/KEY/NAME; the key identifies the build
 * (symbol_key_format). Stores may be two-tier (AB/ABC.pdb/..., marked by a file index2.txt), hold
 * compressed files (app.pd_, a cabinet), or a file.ptr that says where the file is. As on Windows,
 * case does not matter.
 *
 * A name and a key only claim to be the right file. The caller's check examines each candidate
 * before it is used; one of another build is passed over, and counted (symbol_mismatch) if the
 * right one is nowhere.
 *
 * A folder that only a shell or Windows understands (~, %TEMP%, C:\symbols elsewhere) counts as
 * missing. It is never made, even as a cache.
 *
 * Threads: only one thread may use a symbol_path at a time.
 */
#ifndef ETLHEAP_SYMBOL_PATH_H
#define ETLHEAP_SYMBOL_PATH_H

#include "parser/parser.h"
#include "symbol_fetch.h"

typedef struct symbol_path symbol_path;

typedef enum symbol_kind { SYMBOL_KIND_PDB, SYMBOL_KIND_IMAGE } symbol_kind;

/* The file to find. */
typedef struct symbol_key {
    symbol_kind kind;
    const char *name;     /* UTF-8; folders before the last / or \ are ignored */
    etl_guid guid;        /* PDB: GUID and age, as in the image's RSDS record */
    u32 age;              /* PDB */
    u32 time_date_stamp;  /* image */
    u32 image_size_bytes; /* image */
} symbol_key;

#define SYMBOL_KEY_TEXT_SIZE 41 /* 32 and 8 hex digits and a NUL */

/* Writes the key as the name of its folder in a symbol store: for a PDB "GUIDage", with the GUID's
 * 32 digits in upper case and the age without leading zeros; for an image "TTTTTTTTsize". */
void symbol_key_format(const symbol_key *key, char out[SYMBOL_KEY_TEXT_SIZE]);

/* The result of the caller's check of a candidate. */
typedef enum symbol_verdict {
    SYMBOL_VERDICT_MATCH,    /* readable, and of the wanted build */
    SYMBOL_VERDICT_MISMATCH, /* readable, but of another build */
    SYMBOL_VERDICT_UNUSABLE  /* damaged, or not a symbol file */
} symbol_verdict;

typedef symbol_verdict symbol_check_fn(void *user, const char *path, const symbol_key *key);

typedef struct symbol_path_options {
    const char *default_store;    /* used for srv**URL, srv*URL and cache*; NULL: a temporary one */
    const char *temporary_folder; /* for files that no store keeps; NULL: the system's */
    bool offline;                 /* skip servers */
    bool loose;                   /* if no file matches, accept one of another build */
    symbol_check_fn *check;       /* NULL: names and keys are trusted */
    void *check_user;
    symbol_fetch_options fetch; /* for servers; {0}: the defaults */
} symbol_path_options;

/*
 * Parses a symbol path; an empty text is an empty path. Texts in options are copied. On success the
 * caller owns *out (symbol_path_free). ETL_ERR_ARGUMENT (a chain has more than ten stores),
 * ETL_ERR_MEMORY.
 */
etl_status symbol_path_open(const char *text, const symbol_path_options *options, symbol_path **out,
                            etl_error *err);

/* Also removes temporary files; files mapped from them stay readable. */
void symbol_path_free(symbol_path *path); /* NULL is allowed */

/* The first folder in elements from `from` on that does not exist and is not a cache; sets
 * *element. NULL and UINT32_MAX: none. */
const char *symbol_path_missing(symbol_path *path, u32 from, u32 *element);

/* Writes what is probably a slip in the first element from `from` on that has one: a missing
 * folder, a text that means nothing here, SRV* without a server. Returns the element's number;
 * UINT32_MAX: none. */
u32 symbol_path_note(symbol_path *path, u32 from, char *note, size_t size);

/* True if a search may use the network: the path has a server, and offline is not set. */
bool symbol_path_uses_network(const symbol_path *path);

typedef enum symbol_outcome {
    SYMBOL_MISSING,     /* nowhere on the path */
    SYMBOL_FOUND,       /* `file` matches */
    SYMBOL_FOUND_LOOSE, /* `file` is of another build, which is allowed */
    SYMBOL_MISMATCHED,  /* `file` has the name, but is of another build; not used */
    SYMBOL_UNUSABLE,    /* `file` is damaged or not a symbol file; not used */
    SYMBOL_WITHHELD,    /* the store says that it is not available, or asks for a login */
    SYMBOL_UNREACHABLE  /* a server or a share did not answer */
} symbol_outcome;

const char *symbol_outcome_name(symbol_outcome outcome); /* "missing", "found", ... */

typedef struct symbol_request {
    symbol_key key;         /* in */
    symbol_outcome outcome; /* out */
    const char *file;       /* out: path in the file system, or NULL; owned by the symbol_path */
} symbol_request;

/*
 * Finds `count` files, element by element, so that all files of a server are fetched in parallel.
 * Sets the outcome of each request; equal requests get the same. Files are written to caches only
 * after the check, under a temporary name until complete. Problems are counted in *diag.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED (by the fetch options' progress; earlier results remain).
 */
etl_status symbol_path_find(symbol_path *path, symbol_request *requests, u32 count,
                            etl_diag_counts *diag, etl_error *err);

#endif
