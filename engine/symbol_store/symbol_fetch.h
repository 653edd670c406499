/*
 * symbol_fetch.h - gets files from symbol servers over HTTP and HTTPS.
 *
 * A symbol server is a symbol store behind a web server: the file lies under
 * URL/NAME/KEY/NAME. All wanted files are fetched at once on the calling thread
 * (libcurl's multi interface), each under the first name the server has:
 *
 *   NAME       as it is
 *   NAM_       its last letter replaced: a cabinet, fetched as such
 *   file.ptr   a text that says where the file is
 *
 * and, when the server has an index2.txt, under URL/NA/NAME/KEY (two tiers).
 * That is asked once, when a first file is missing.
 *
 * A file is written to `<file>.new` and renamed when complete and of the right
 * kind. What was cut off stays as `.new` and is resumed by the next attempt, in
 * this run or a later one, when the server can (Range). Servers that answer
 * everything with a login page are found out by the content. What a server does
 * not have is not asked for again in a run, and a server that does not answer
 * is given up for the run.
 *
 * libcurl does the work: TLS, proxies, HTTP/2 and their failures are not for us
 * to write, and its multi interface needs no thread. It honours http_proxy and
 * its kin by itself. Credentials stand in a URL only if the user put them there;
 * they are sent to that host alone and never shown (symbol_fetch_redact).
 *
 * Threads: a symbol_fetch is used by one thread at a time.
 */
#ifndef ETLHEAP_SYMBOL_FETCH_H
#define ETLHEAP_SYMBOL_FETCH_H

#include "parser/parser.h"

typedef struct symbol_fetch symbol_fetch;

typedef struct symbol_progress {
    u32 files_done; /* answered in whatever way */
    u32 files_total;
    u64 bytes_done;      /* received in this run */
    u64 bytes_expected;  /* of the files whose size is known */
    const char *current; /* name of a file under way; "" none */
} symbol_progress;

/* Called about ten times a second on the calling thread. Return false to stop. */
typedef bool symbol_progress_fn(void *user, const symbol_progress *progress);

/* 0 or NULL means the default that stands behind each. */
typedef struct symbol_fetch_options {
    u32 connections_max;        /* 8 */
    u32 connect_timeout_ms;     /* 10,000 */
    u32 stall_timeout_s;        /* 30 of less than 100 bytes each */
    u32 attempts_max;           /* 4 in a row without progress */
    u32 retry_delay_ms;         /* 500, doubled each time up to 30 s */
    u64 file_bytes_max;         /* SYMBOL_FILE_BYTES_MAX_DEFAULT */
    const char *user_agent;     /* "etlheap/<version>" */
    const char *authority_file; /* certificates to trust in place of the system's, PEM */
    symbol_progress_fn *progress;
    void *progress_user;
} symbol_fetch_options;

#define SYMBOL_FILE_BYTES_MAX_DEFAULT ((u64)16 << 30)

typedef enum symbol_fetch_state {
    SYMBOL_FETCH_FAILED,     /* no answer, or cut off again and again */
    SYMBOL_FETCH_DONE,       /* complete, as NAME */
    SYMBOL_FETCH_COMPRESSED, /* complete, as NAM_, and a cabinet */
    SYMBOL_FETCH_POINTER,    /* `pointer` is the text of file.ptr */
    SYMBOL_FETCH_MISSING,    /* the server does not have it */
    SYMBOL_FETCH_DENIED,     /* the server wants a login */
    SYMBOL_FETCH_REJECTED,   /* the answer was no symbol file */
    SYMBOL_FETCH_TOO_LARGE,  /* more than file_bytes_max */
    SYMBOL_FETCH_UNWRITABLE  /* the folder cannot be written to */
} symbol_fetch_state;

#define SYMBOL_POINTER_SIZE 1024

/* One wanted file. */
typedef struct symbol_download {
    const char *server; /* in: URL of the store */
    const char *name;   /* in: "ntdll.pdb" */
    const char *key;    /* in: "1EB9FACB04C73C5DEA7160764CD333D01" */
    const char *folder; /* in: gets the file under its name; made when there is one */
    symbol_fetch_state state;
    char pointer[SYMBOL_POINTER_SIZE]; /* out: of SYMBOL_FETCH_POINTER */
    char message[160];                 /* out: why, for people; no URL in it; else "" */
} symbol_download;

/* Texts in options are copied. The caller owns *out (symbol_fetch_close).
 * ETL_ERR_MEMORY, ETL_ERR_UNSUPPORTED (there is no libcurl, or it does not start). */
etl_status symbol_fetch_open(const symbol_fetch_options *options, symbol_fetch **out,
                             etl_error *err);
void symbol_fetch_close(symbol_fetch *fetch); /* NULL is allowed */

/*
 * Fetches all of them; no two may have the same folder and name. Every download
 * gets its state and what was odd is counted in *diag. ETL_ERR_MEMORY,
 * ETL_ERR_CANCELLED (unfinished ones are then FAILED and can be resumed).
 */
etl_status symbol_fetch_run(symbol_fetch *fetch, symbol_download *downloads, u32 count,
                            etl_diag_counts *diag, etl_error *err);

/* The URL without user, password and query, which may hold secrets; cut to fit. */
void symbol_fetch_redact(const char *url, char *out, size_t capacity);

#endif
