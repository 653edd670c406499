/* symbol_url.h - builds URLs of files on symbol servers. */
#ifndef ETLHEAP_SYMBOL_URL_H
#define ETLHEAP_SYMBOL_URL_H

#include "parser/parser.h"

#define SYMBOL_URL_SIZE 4096

typedef struct symbol_url_parts {
    const char *server;
    const char *name;
    const char *key; /* NULL: the file is in the store's own folder */
    const char *file;
    bool is_two_tier; /* a folder with the first two letters comes before the name */
} symbol_url_parts;

/*
 * Builds the URL of `file` in the folder of (name, key), or with key NULL in the store's own
 * folder. Escapes components. A query of the server's URL (an access token) goes after the path.
 * False if it does not fit.
 */
bool symbol_url_build(char out[SYMBOL_URL_SIZE], const symbol_url_parts *parts);

/* True if `url` uses https. Redirects from such a URL may only lead to https. */
bool symbol_url_is_secure(const char *url);

#endif
