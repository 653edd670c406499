/*
 * etlheap_symbol_options.h - where symbols are looked for, and how servers are asked. Part of
 * engine.h.
 */
#ifndef ETLHEAP_SYMBOL_OPTIONS_H
#define ETLHEAP_SYMBOL_OPTIONS_H

#include "parser/parser.h"

#include "etlheap_progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The login of a server. Either a user and a password, or a token, or the path of a file in the
 * format of .netrc that has them; the others are NULL. All NULL: no login. */
typedef struct etlheap_symbol_login {
    const char *user; /* may be "", as for tokens of Azure DevOps */
    const char *password;
    const char *token; /* sent as Authorization: Bearer; not sent if it has control characters */
    const char *netrc_file;
} etlheap_symbol_login;

/* Finds the login of a server, "host" or "host:port" as in its address, in lower case. Texts stay
 * valid until the symbols are closed. Called on the thread that looks for symbols, before each
 * request. */
typedef void etlheap_symbol_login_fn(void *user, const char *host, etlheap_symbol_login *out);

/* Options of etlheap_symbols_open. Start from {0} with `size` set. */
typedef struct etlheap_symbol_options {
    size_t size;                  /* sizeof(etlheap_symbol_options) */
    const char *path;             /* symbol path in the syntax of _NT_SYMBOL_PATH; NULL: empty */
    const char *default_store;    /* symbol cache for elements without their own; NULL: none */
    const char *temporary_folder; /* NULL: /tmp; C:/Windows/Temp on Windows */
    bool offline;                 /* do not use symbol servers */
    bool loose;                   /* accept files of another build if none matches */
    uint32_t jobs;                /* threads; 0: etlheap_default_jobs() */
    /* Bytes received and expected, about ten times a second during downloads. May be NULL. */
    etlheap_progress_fn *progress;
    void *progress_user;
    /* Logins are sent over https only, or to this computer, and not to hosts to which a server
     * redirects. May be NULL. Logins in addresses of `path` come first. */
    etlheap_symbol_login_fn *login;
    void *login_user;
    uint64_t download_bytes_max; /* of one file; 0: 16 GiB */
    uint64_t download_ms_max;    /* for one file, with all attempts; 0: no limit but progress */
    /* Follow redirects of a server with a public address to private ones, such as 192.168.1.1. */
    bool private_redirects;
} etlheap_symbol_options;

#ifdef __cplusplus
}
#endif

#endif
