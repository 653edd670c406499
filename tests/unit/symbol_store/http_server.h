/*
 * http_server.h - runs tests/oracles/http_symbol_server.py for the length of a test.
 */
#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <sys/types.h>

#include "symbol_tree.h"

typedef struct http_server {
    const symbol_tree *tree; /* it serves what is below the folder "server" */
    pid_t process;
    int stop; /* closing it ends the server */
    unsigned port;
    bool is_secure;
} http_server;

/* Ends the test program when python3 does not start it. `certificate` is a file
 * with a certificate and its key, for TLS; NULL without. */
void http_server_start(http_server *server, const symbol_tree *tree, const char *certificate);
void http_server_stop(http_server *server);

/* URL of a mode ("ok", "cut", ...); valid until the fourth call after. */
const char *http_server_url(const http_server *server, const char *mode);

/* Requests whose line in the log holds `text`; "" for all. */
u32 http_server_requests(const http_server *server, const char *text);

/* The most requests that were under way at once. */
u32 http_server_most_at_once(const http_server *server);

#endif
