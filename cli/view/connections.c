/* connections.c - see connections.h. */
#include "connections.h"

#include "cli/system/sockets.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct view_connection {
    view_connection *before, *next;
    intptr_t socket;
    i64 since_ns; /* opened, or completed its last request */
    bool is_busy;
};

struct view_connections {
    pthread_mutex_t lock;
    view_connection *first;
};

view_connections *view_connections_open(void)
{
    view_connections *const connections = calloc(1, sizeof *connections);
    if (connections && pthread_mutex_init(&connections->lock, NULL) == 0)
        return connections;
    free(connections);
    return NULL;
}

void view_connections_close(view_connections *connections)
{
    if (connections)
        (void)pthread_mutex_destroy(&connections->lock);
    free(connections);
}

view_connection *view_connections_add(view_connections *connections, intptr_t socket)
{
    view_connection *const added = calloc(1, sizeof *added);
    if (!added)
        return NULL;
    added->socket = socket;
    added->since_ns = view_clock_ns();
    pthread_mutex_lock(&connections->lock);
    added->next = connections->first;
    if (added->next)
        added->next->before = added;
    connections->first = added;
    pthread_mutex_unlock(&connections->lock);
    return added;
}

void view_connections_remove(view_connections *connections, view_connection *connection)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connections->lock);
    *(connection->before ? &connection->before->next : &connections->first) = connection->next;
    if (connection->next)
        connection->next->before = connection->before;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

void view_connections_busy(view_connections *connections, view_connection *connection, bool is_busy)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connections->lock);
    connection->is_busy = is_busy;
    connection->since_ns = view_clock_ns();
    pthread_mutex_unlock(&connections->lock);
}

/* A socket in the list is open: it leaves the list before it is closed. */
void view_connections_tend(view_connections *connections, i64 limit_ns)
{
    const i64 now_ns = view_clock_ns();
    pthread_mutex_lock(&connections->lock);
    for (view_connection *c = connections->first; c; c = c->next) {
        if (!c->is_busy && (now_ns - c->since_ns > limit_ns || cli_socket_peer_left(c->socket)))
            cli_socket_end(c->socket);
    }
    pthread_mutex_unlock(&connections->lock);
}

i64 view_clock_ns(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (i64)now.tv_sec * 1000000000 + now.tv_nsec;
}
