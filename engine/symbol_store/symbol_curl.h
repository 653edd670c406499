/*
 * symbol_curl.h - the functions of libcurl, which is loaded only when something is to be fetched
 * (late_library.h).
 *
 * No other run needs libcurl, which loads thirty more libraries.
 */
#ifndef ETLHEAP_SYMBOL_CURL_H
#define ETLHEAP_SYMBOL_CURL_H

#include <curl/curl.h>

#include "parser/base.h"

/* The functions used, without "curl_". */
#define SYMBOL_CURL_FUNCTIONS(X)                                                                   \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(version_info)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(easy_strerror)                                                                               \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_info_read)                                                                             \
    X(multi_poll)

typedef struct symbol_curl {
#define SYMBOL_CURL_MEMBER(function) __typeof__(&curl_##function) function;
    SYMBOL_CURL_FUNCTIONS(SYMBOL_CURL_MEMBER)
#undef SYMBOL_CURL_MEMBER
} symbol_curl;

/* Loads libcurl. False if it is missing or lacks a function. Any thread. */
bool symbol_curl_load(symbol_curl *out);

/* True if the library that was loaded is of this version or newer: 0x075500 is 7.85.0. It may be
 * older than the headers that this was compiled with. */
bool symbol_curl_is(const symbol_curl *curl, u32 version);

#endif
