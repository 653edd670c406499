/*
 * symbol_curl.h - the functions of libcurl, which is loaded when something is to be
 * fetched (see late_library.h): no other run needs it, and it brings thirty more
 * libraries along.
 */
#ifndef ETLHEAP_SYMBOL_CURL_H
#define ETLHEAP_SYMBOL_CURL_H

#include <curl/curl.h>

#include "parser/base.h"

/* Those that are called, without "curl_". */
#define SYMBOL_CURL_FUNCTIONS(X)                                                                   \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(version_info)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
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

/* False when there is no libcurl, or only one that lacks what this was compiled for.
 * Any thread. */
bool symbol_curl_load(symbol_curl *out);

#endif
