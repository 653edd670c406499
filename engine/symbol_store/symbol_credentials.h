/*
 * symbol_credentials.h - the login of a request, and which requests may have it.
 *
 * A login goes to the host of the server's address and to no other: libcurl drops it when a
 * redirect leads elsewhere. It is sent over https, or over http to this computer.
 */
#ifndef ETLHEAP_SYMBOL_CREDENTIALS_H
#define ETLHEAP_SYMBOL_CREDENTIALS_H

#include "engine/etlheap_symbol_options.h"
#include "symbol_curl.h"

#define SYMBOL_HOST_SIZE 300

/* The host of a URL, with its port if one is given, in lower case. False if there is none, or if
 * the address has a login of its own. */
bool symbol_credentials_host(const char *url, char out[SYMBOL_HOST_SIZE]);

/* True if the host, as symbol_credentials_host returns it, is this computer. */
bool symbol_credentials_are_local(const char *host);

/* Gives the handle of a request for `url` the login that `find` (NULL: none) has for its host.
 * *withheld is set if there is one that must not be sent. False: out of memory. */
bool symbol_credentials_apply(const symbol_curl *curl, CURL *easy, const char *url,
                              etlheap_symbol_login_fn *find, void *user, bool *withheld);

/* True for addresses that only lead somewhere within a network: private, link-local, loopback. */
bool symbol_address_is_private(const char *address);

#endif
