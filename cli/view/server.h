/*
 * server.h - the HTTP server of `etlheap view`.
 *
 * It listens on one address, and answers those who know its token:
 *
 *     GET /TOKEN/               the page            /TOKEN/view.css, /TOKEN/view.js
 *     GET /TOKEN/api/session    the inputs          /TOKEN/api/COMMAND?OPTION=VALUE&...
 *
 * Pages of other sites are turned away by Host, Origin and Sec-Fetch-Site, other users of the
 * machine by the token.
 */
#ifndef CLI_VIEW_SERVER_H
#define CLI_VIEW_SERVER_H

#include "session.h"

typedef struct view_server view_server;

/* Where to listen. */
typedef struct view_place {
    const char *address; /* NULL: 127.0.0.1 */
    u16 port;            /* 0: the system chooses */
} view_place;

/* Starts the server. The session is borrowed. Returns an exit status, after a message. Close *out
 * in any case. */
int view_server_open(const view_place *place, view_session *session, view_server **out);

/* "http://127.0.0.1:8080/TOKEN/" */
const char *view_server_url(const view_server *server);

/* Call it a few times a second: cancels what clients that left have asked, and ends connections
 * that send too slowly. Returns for how long nobody has asked anything, in nanoseconds. */
i64 view_server_tend(view_server *server);

/* Cancels all questions, and ends all connections. NULL is allowed. */
void view_server_close(view_server *server);

#endif
