/*
 * connections.h - the open connections, to end those that send their requests too slowly.
 *
 * The HTTP library ends a connection that sends nothing for a while. One that sends a byte now and
 * then could keep its place for ever, and with it those of others.
 */
#ifndef CLI_VIEW_CONNECTIONS_H
#define CLI_VIEW_CONNECTIONS_H

#include "parser/base.h"

/* One connection. */
typedef struct view_connection view_connection;
typedef struct view_connections view_connections;

/* NULL if memory runs out. */
view_connections *view_connections_open(void);
void view_connections_close(view_connections *connections); /* empty; NULL is allowed */

/* NULL if memory runs out: the connection is then not watched. */
view_connection *view_connections_add(view_connections *connections, intptr_t socket);

/* Call it before the socket is closed. NULL is allowed. */
void view_connections_remove(view_connections *connections, view_connection *connection);

/* Says whether a whole request has arrived and is not yet completed. NULL is allowed. */
void view_connections_busy(view_connections *connections, view_connection *connection,
                           bool is_busy);

/* Ends connections that for so long have not sent a whole request, and those whose client left in
 * the middle of one, which the library may not see until it has waited in vain. */
void view_connections_tend(view_connections *connections, i64 limit_ns);

/* Nanoseconds of a clock that never steps. */
i64 view_clock_ns(void);

#endif
