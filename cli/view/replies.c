/*
 * replies.c - what the server sends: bodies, their headers, and errors as JSON.
 *
 * In: answers and files. Out: responses of libmicrohttpd. Invariant: each response of ours has the
 * headers that keep other pages away from it, also errors.
 */
#include "replies.h"

#include <stdlib.h>

/* Only files of this server, and nothing written into the page: text from a trace that found its
 * way into the markup would still do nothing. */
static const char policy[] =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char *const headers[][2] = {
    { "Content-Security-Policy", policy },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" }, /* the address has the token */
    { "Cache-Control", "no-store" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "X-Frame-Options", "DENY" },
};

enum MHD_Result view_reply_send(const view_http *http, struct MHD_Connection *connection,
                                const view_reply *reply)
{
    struct MHD_Response *const response = http->create_response_from_buffer(
        reply->size, (void *)(uintptr_t)reply->body, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    bool has_all = true;
    for (size_t i = 0; i < ETL_COUNT_OF(headers); i++)
        has_all &= http->add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    has_all &= http->add_response_header(response, "Content-Type", reply->content_type) == MHD_YES;
    if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        has_all &= http->add_response_header(response, "Allow", "GET") == MHD_YES;
    if (reply->closes)
        has_all &= http->add_response_header(response, "Connection", "close") == MHD_YES;
    if (reply->is_download)
        has_all &=
            http->add_response_header(response, "Content-Disposition", "attachment") == MHD_YES;
    if (reply->symbols_pending)
        has_all &= http->add_response_header(response, "Etlheap-Symbols-Pending", "1") == MHD_YES;
    const enum MHD_Result sent =
        has_all ? http->queue_response(connection, reply->status, response) : MHD_NO;
    http->destroy_response(response);
    return sent;
}

static const struct {
    unsigned status;
    const char *text;
} refusals[] = {
    { MHD_HTTP_BAD_REQUEST, "bad request\n" },
    { MHD_HTTP_FORBIDDEN, "forbidden\n" },
    { MHD_HTTP_NOT_FOUND, "not found\n" },
    { MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n" },
    { MHD_HTTP_URI_TOO_LONG, "URL too long\n" },
    { MHD_HTTP_SERVICE_UNAVAILABLE, "busy\n" },
};

view_reply view_reply_refuse(unsigned status)
{
    view_reply reply = {
        .status = status, .content_type = "text/plain", .body = "", .closes = true
    };
    for (size_t i = 0; i < ETL_COUNT_OF(refusals); i++) {
        if (refusals[i].status == status)
            reply.body = refusals[i].text;
    }
    reply.size = strlen(reply.body);
    return reply;
}

unsigned view_reply_status(view_outcome outcome)
{
    switch (outcome) {
    case VIEW_ANSWERED:
        return 200;
    case VIEW_WRONG:
        return MHD_HTTP_BAD_REQUEST;
    case VIEW_UNKNOWN:
        return MHD_HTTP_NOT_FOUND;
    case VIEW_FAILED:
        return 422;
    case VIEW_NOT_READY:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    case VIEW_CANCELLED:
        break;
    }
    return MHD_HTTP_CONFLICT;
}

/* Messages quote what clients send, which need not be UTF-8 as JSON is. */
static void write_escaped(const char *text, size_t size, etlheap_sink *sink)
{
    for (size_t i = 0; i < size;) {
        size_t plain = i;
        while (plain < size && !memchr("\"\\\n", text[plain], 3))
            plain++;
        etlheap_sink_printable(sink, &text[i], plain - i);
        if (plain < size)
            etlheap_sink_format(sink, "\\%c", text[plain] == '\n' ? 'n' : text[plain]);
        i = plain + 1;
    }
}

bool view_reply_error(const char *message, int exit_status, etlheap_text *out)
{
    etlheap_sink *sink = NULL;
    size_t size = strlen(message);
    while (size > 0 && message[size - 1] == '\n')
        size--;
    if (etlheap_sink_open_text(out, &sink, NULL) != ETL_OK)
        return false;
    etlheap_sink_text(sink, "{\"error\":\"");
    write_escaped(message, size, sink);
    etlheap_sink_format(sink, "\",\"exit_status\":%d}\n", exit_status);
    return etlheap_sink_close(sink, NULL) == ETL_OK;
}
