/*
 * symbol_fetch.h - downloads files from symbol servers over HTTP and HTTPS.
 *
 * A symbol server is a symbol store behind a web server: a file is at URL/NAME/KEY/NAME. All files
 * are fetched in parallel on the calling thread (libcurl's multi interface), each under the first
 * name that the server has:
 *
 *     NAME      the file
 *     NAM_      last letter replaced: a cabinet, downloaded as such
 *     file.ptr  a text that says where the file is
 *
 * If the server has an index2.txt, files are at URL/NA/NAME/KEY (two tiers). This is checked once,
 * when a first file is missing.
 *
 * A file is written to `<file>.new`, and renamed when it is as long as the server said and the
 * caller accepts it. An interrupted download stays as `.new` if the server says what identifies the
 * answer (ETag or Last-Modified); the next attempt, in this run or a later one, resumes it with
 * that (If-Range) from the same address, and from no other. Servers that answer everything with a
 * login page are recognized by the content. A file that a server does not have is not requested
 * again in a run, and a server that does not answer is skipped for the rest of the run.
 *
 * libcurl does TLS, proxies, HTTP/2 and their failures, and its multi interface needs no threads.
 * It honours http_proxy and similar variables itself. A URL contains credentials only if the user
 * put them there; they are sent only to that host and never shown (symbol_logins.h). Other logins
 * come from a function of the caller's (symbol_credentials.h).
 *
 * A server cannot lead into the network of this computer: if its address is a public one, a
 * redirect to a private address is not followed, unless the options say so.
 *
 * Threads: only one thread may use a symbol_fetch at a time.
 */
#ifndef ETLHEAP_SYMBOL_FETCH_H
#define ETLHEAP_SYMBOL_FETCH_H

#include "engine/etlheap_symbol_options.h"

#include "parser/base.h"

typedef struct symbol_fetch symbol_fetch;

typedef struct symbol_progress {
    u32 files_done; /* files answered, in any way */
    u32 files_total;
    u64 bytes_done;      /* received in this run */
    u64 bytes_expected;  /* for files of known size */
    const char *current; /* a file being downloaded; "" none */
} symbol_progress;

/* Called about ten times a second on the calling thread. Return false to cancel. */
typedef bool symbol_progress_fn(void *user, const symbol_progress *progress);

struct symbol_download;

/* Called on the calling thread for a complete file before it gets its name. Return false to discard
 * it: it is damaged, or of another build. */
typedef bool symbol_accept_fn(void *user, const struct symbol_download *download, const char *file);

/* Options; 0 or NULL means the default in the comment. */
typedef struct symbol_fetch_options {
    u32 connections_max;            /* 8 */
    u32 connect_timeout_ms;         /* 10,000 */
    u32 stall_timeout_s;            /* 30 of less than 100 bytes each */
    u32 attempts_max;               /* 4 in a row without progress */
    u32 retry_delay_ms;             /* 500, doubled each time up to 30 s */
    u64 file_bytes_max;             /* SYMBOL_FILE_BYTES_MAX_DEFAULT */
    const char *user_agent;         /* "etlheap/<version>" */
    const char *authority_file;     /* PEM file of certificates to trust instead of the system's */
    u64 file_ms_max;                /* for a file, with all attempts; 0: no limit */
    bool private_redirects;         /* servers with public addresses may redirect to private ones */
    etlheap_symbol_login_fn *login; /* NULL: none */
    void *login_user;
    symbol_progress_fn *progress;
    void *progress_user;
    symbol_accept_fn *accept; /* for files, not for cabinets; NULL: names and keys are trusted */
    void *accept_user;
} symbol_fetch_options;

#define SYMBOL_FILE_BYTES_MAX_DEFAULT ((u64)16 << 30)

typedef enum symbol_fetch_state {
    SYMBOL_FETCH_FAILED,     /* no answer, or interrupted repeatedly */
    SYMBOL_FETCH_DONE,       /* complete, as NAME */
    SYMBOL_FETCH_COMPRESSED, /* complete, as NAM_, and a cabinet */
    SYMBOL_FETCH_POINTER,    /* `pointer` is the text of file.ptr */
    SYMBOL_FETCH_MISSING,    /* the server does not have it */
    SYMBOL_FETCH_DENIED,     /* the server wants a login */
    SYMBOL_FETCH_REJECTED,   /* the answer was not a symbol file, or not a whole one */
    SYMBOL_FETCH_REFUSED,    /* `accept` said no */
    SYMBOL_FETCH_TOO_LARGE,  /* more than file_bytes_max */
    SYMBOL_FETCH_UNWRITABLE  /* the folder cannot be written to */
} symbol_fetch_state;

#define SYMBOL_POINTER_SIZE 1024

/* One wanted file. */
typedef struct symbol_download {
    const char *server; /* in: URL of the store */
    const char *name;   /* in: "ntdll.pdb" */
    const char *key;    /* in: "1EB9FACB04C73C5DEA7160764CD333D01" */
    const char *folder; /* in: where the file is written; made when needed */
    void *owner;        /* in: for `accept` */
    symbol_fetch_state state;
    char pointer[SYMBOL_POINTER_SIZE]; /* out: with SYMBOL_FETCH_POINTER */
    char message[160];                 /* out: the reason, for people, without URL; else "" */
} symbol_download;

/* Opens it. Texts in options are copied. The caller owns *out (symbol_fetch_close). ETL_ERR_MEMORY,
 * ETL_ERR_UNSUPPORTED (libcurl is missing or does not start). */
etl_status symbol_fetch_open(const symbol_fetch_options *options, symbol_fetch **out,
                             etl_error *err);
void symbol_fetch_close(symbol_fetch *fetch); /* NULL is allowed */

/*
 * Fetches all downloads, no two of which may have the same folder and name. Sets the state of each,
 * and counts problems in *diag. ETL_ERR_MEMORY, ETL_ERR_CANCELLED (unfinished ones are FAILED and
 * can be resumed).
 */
etl_status symbol_fetch_run(symbol_fetch *fetch, symbol_download *downloads, u32 count,
                            etl_diag_counts *diag, etl_error *err);

#endif
