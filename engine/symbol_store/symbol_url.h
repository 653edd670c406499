/*
 * symbol_url.h - addresses of files on symbol servers.
 */
#ifndef ETLHEAP_SYMBOL_URL_H
#define ETLHEAP_SYMBOL_URL_H

#include "parser/parser.h"

#define SYMBOL_URL_SIZE 4096

/*
 * URL of `file` in the folder of (name, key), or with key NULL in the store's
 * own folder. Components are escaped. A query of the server's URL (an access
 * token) goes behind the path. False when it does not fit.
 */
typedef struct symbol_url_parts {
    const char *server;
    const char *name;
    const char *key; /* NULL: the file lies beside the folders of all names */
    const char *file;
    bool is_two_tier;
} symbol_url_parts;

bool symbol_url_build(char out[SYMBOL_URL_SIZE], const symbol_url_parts *parts);

/* Whether a redirect may lead only to https: an answer asked for in private must
 * not come in the clear. */
bool symbol_url_is_secure(const char *url);

#endif
