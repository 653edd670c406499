/*
 * symbol_url.h - addresses of files on symbol servers.
 */
#ifndef ETLHEAP_SYMBOL_URL_H
#define ETLHEAP_SYMBOL_URL_H

#include "parser/parser.h"

#define SYMBOL_URL_SIZE 4096

typedef struct symbol_url_parts {
    const char *server;
    const char *name;
    const char *key; /* NULL: the file lies beside the folders of all names */
    const char *file;
    bool is_two_tier; /* a folder of the first two letters stands before the name */
} symbol_url_parts;

/*
 * URL of `file` in the folder of (name, key), or with key NULL in the store's own folder.
 * Components are escaped. A query of the server's URL (an access token) goes behind the
 * path. False when it does not fit.
 */
bool symbol_url_build(char out[SYMBOL_URL_SIZE], const symbol_url_parts *parts);

/* True if `url` uses https. Redirects from such a URL may only lead to https. */
bool symbol_url_is_secure(const char *url);

#endif
