/*
 * http_library.h - the functions of libmicrohttpd, which is loaded only when a page is served
 * (late_library.h): it loads a library for TLS and more, which no other command needs.
 *
 * A program that has its libraries in itself says so with VIEW_HTTP_LINKED.
 */
#ifndef CLI_VIEW_HTTP_LIBRARY_H
#define CLI_VIEW_HTTP_LIBRARY_H

#include <microhttpd.h>

#include "parser/base.h"

#include "engine/engine.h"

/* The functions used, without "MHD_". */
#define VIEW_HTTP_FUNCTIONS(X)                                                                     \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(get_daemon_info)                                                                             \
    X(get_connection_info)                                                                         \
    X(lookup_connection_value)                                                                     \
    X(suspend_connection)                                                                          \
    X(resume_connection)                                                                           \
    X(create_response_from_buffer)                                                                 \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)                                                                            \
    X(get_version)

typedef struct view_http {
#define VIEW_HTTP_MEMBER(function) __typeof__(&MHD_##function) function;
    VIEW_HTTP_FUNCTIONS(VIEW_HTTP_MEMBER)
#undef VIEW_HTTP_MEMBER
} view_http;

/* Loads libmicrohttpd. False if it is missing or lacks a function. */
bool view_http_load(view_http *out);

/* The libraries that pages are served with, by index from 0, as etlheap_engine_library. */
bool view_http_named(u32 index, etlheap_library *out);

#endif
