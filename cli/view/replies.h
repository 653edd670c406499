/* replies.h - what the server sends: bodies, their headers, and errors as JSON. */
#ifndef CLI_VIEW_REPLIES_H
#define CLI_VIEW_REPLIES_H

#include "http_library.h"
#include "session.h"

/* What to send. The body must stay until the request is completed. */
typedef struct view_reply {
    unsigned status;
    const char *content_type;
    const char *body;
    size_t size;
    bool closes;          /* the connection, for requests that no browser sends */
    bool is_download;     /* a browser that is sent here saves it, and never shows it */
    bool symbols_pending; /* names are still being looked up */
} view_reply;

/* Sends it. MHD_NO if memory runs out, which closes the connection. */
enum MHD_Result view_reply_send(const view_http *http, struct MHD_Connection *connection,
                                const view_reply *reply);

/* A reply that says nothing but its status. */
view_reply view_reply_refuse(unsigned status);

/* The status of HTTP for an outcome. */
unsigned view_reply_status(view_outcome outcome);

/* Appends {"error":"...","exit_status":n}. False if memory runs out. */
bool view_reply_error(const char *message, int exit_status, etlheap_text *out);

#endif
