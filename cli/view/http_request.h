/*
 * http_request.h - what a browser asks for: the parts of a URL, and whether a page of this server
 * asks.
 *
 * A URL is /TOKEN/PATH?NAME=VALUE&... . Paths need no escapes, so they are compared byte by byte:
 * "%2e%2e" is a name that nothing has. Options are decoded as a form has them. The server never
 * opens a file whose name is in a request.
 */
#ifndef CLI_VIEW_HTTP_REQUEST_H
#define CLI_VIEW_HTTP_REQUEST_H

#include "session.h"

#define VIEW_TOKEN_DIGITS 32 /* 128 bits */
#define VIEW_URL_MAX      65536u
#define VIEW_PAIRS_MAX    256u
#define VIEW_LABEL_MAX    64u /* bytes of `tab` and of `part` */

/* A URL in parts, which point into `text`. Start from {0}. */
typedef struct view_url {
    char *text;
    const char *token; /* "" if there is none */
    const char *path;  /* "api/report"; "" for the page */
    view_pair *pairs;  /* without `tab` and `part` */
    u32 pair_count;
    const char *tab, *part; /* "" if not given */
} view_url;

/* Takes a URL apart, as the request has it. Returns 200; 400 if it is malformed, 414 if it is too
 * long, 503 if memory runs out. Free it in any case. */
unsigned view_url_read(const char *raw, view_url *out);
void view_url_free(view_url *url);

/* True if both have the same bytes. The time that it takes says nothing about `secret`. */
bool view_token_is(const char *secret, const char *given);

/* The names of this server: what a browser that was sent here has in its address line. */
typedef struct view_hosts {
    char names[4][96]; /* "127.0.0.1:8080" */
    u32 count;
    bool any_address; /* also each numeric address with the port */
    u16 port;
} view_hosts;

/* `address` is what the server listens on. */
void view_hosts_make(const char *address, bool is_ipv6, bool is_any, u16 port, view_hosts *out);

/* Headers of a request: Host, Origin, Sec-Fetch-Site and so on. NULL: not given. */
typedef struct view_headers {
    const char *host, *origin;
    const char *fetch_site, *fetch_mode, *fetch_dest;
} view_headers;

/* Checks them against the pages of other servers, which may not ask, and against names that others
 * let point to this machine. A link to the page may be anywhere. */
bool view_headers_are_own(const view_hosts *hosts, const view_headers *given);

#endif
