/*
 * server.c - the HTTP server of `etlheap view`.
 *
 * In: requests, from anybody who can connect. Out: files of the page, and answers of the session.
 *
 *     URL ──▶ admitted? ──▶ file, or the session's document ─────────────▶ reply
 *                 │   └───▶ question: suspended ──▶ queue ──▶ resumed ───▶ reply
 *                 └─ no ──▶ a status without details
 *
 * libmicrohttpd reads and writes on one thread of its own, which never waits for an answer: a
 * connection is suspended while its question is in the queue. Invariant: a request is freed when
 * the library has completed it, which it does not do while the connection is suspended.
 */
#include "server.h"

#include "cli/messages.h"
#include "cli/system/random.h"
#include "cli/system/sockets.h"
#include "connections.h"
#include "http_request.h"
#include "page_files.h"
#include "questions.h"
#include "replies.h"

#include <stdio.h>
#include <stdlib.h>

#define CONNECTIONS_MAX  256u
#define CONNECTION_BYTES (128u << 10) /* for URL and headers */
#define SILENT_SECONDS   30u
#define REQUEST_NS       (INT64_C(60) * 1000000000) /* to send one */
#define ADDRESS_DEFAULT  "127.0.0.1"

struct view_server {
    view_http http;
    struct MHD_Daemon *daemon;
    view_session *session;
    view_questions *questions;
    view_connections *connections;
    view_files files;
    view_hosts hosts;
    char token[VIEW_TOKEN_DIGITS + 1];
    char url[192];
    i64 asked_ns; /* atomic: when the last request came, or was completed */
    bool is_open; /* atomic: the names of this server are known */
};

typedef enum request_state {
    REQUEST_NEW,
    REQUEST_ADMITTED,
    REQUEST_ASKED,  /* in the queue */
    REQUEST_REFUSED /* the queue is full */
} request_state;

typedef struct request {
    view_server *server;
    struct MHD_Connection *connection;
    intptr_t socket;
    unsigned url_status;
    view_url url;
    request_state state;
    view_asked asked;
    etlheap_text body; /* of the session's document, or of an error */
} request;

/* --- requests ------------------------------------------------------------------- */

/* The library calls it with the first line of each request. */
static void *begin_request(void *user, const char *url, struct MHD_Connection *connection)
{
    request *const made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->server = user;
    made->connection = connection;
    made->url_status = view_url_read(url, &made->url);
    return made;
}

static view_connection *watched(const request *asking)
{
    const union MHD_ConnectionInfo *const info = asking->server->http.get_connection_info(
        asking->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void end_request(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
    view_server *const server = user;
    request *const ended = *state;
    (void)connection;
    (void)why;
    if (!ended)
        return;
    view_connections_busy(server->connections, watched(ended), false);
    if (ended->state != REQUEST_NEW)
        __atomic_store_n(&server->asked_ns, view_clock_ns(), __ATOMIC_RELAXED);
    if (ended->state == REQUEST_ASKED)
        view_questions_sent(server->questions, ended->asked.answer.body.size);
    view_answer_free(&ended->asked.answer);
    etlheap_text_free(&ended->body);
    view_url_free(&ended->url);
    free(ended);
    *state = NULL;
}

static void watch_connection(void *user, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode why)
{
    view_server *const server = user;
    const union MHD_ConnectionInfo *const info =
        server->http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (why == MHD_CONNECTION_NOTIFY_STARTED && info)
        *state = view_connections_add(server->connections, (intptr_t)info->connect_fd);
    if (why == MHD_CONNECTION_NOTIFY_CLOSED) {
        view_connections_remove(server->connections, *state);
        *state = NULL;
    }
}

/* --- admitting ------------------------------------------------------------------ */

static const char *header(const request *asking, const char *name)
{
    return asking->server->http.lookup_connection_value(asking->connection, MHD_HEADER_KIND, name);
}

/* 200, or the status of a refusal, which does not say which check failed. */
static unsigned admit(request *asking, const char *method)
{
    const view_server *const server = asking->server;
    if (!__atomic_load_n(&server->is_open, __ATOMIC_ACQUIRE))
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    const view_headers headers = { .host = header(asking, "Host"),
                                   .origin = header(asking, "Origin"),
                                   .fetch_site = header(asking, "Sec-Fetch-Site"),
                                   .fetch_mode = header(asking, "Sec-Fetch-Mode"),
                                   .fetch_dest = header(asking, "Sec-Fetch-Dest") };
    if (!view_headers_are_own(&server->hosts, &headers))
        return MHD_HTTP_FORBIDDEN;
    if (strcmp(method, "GET") != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    if (asking->url_status != 200)
        return asking->url_status;
    if (!view_token_is(server->token, asking->url.token))
        return MHD_HTTP_FORBIDDEN;
    const bool has_body = header(asking, "Content-Length") || header(asking, "Transfer-Encoding");
    return has_body ? MHD_HTTP_BAD_REQUEST : 200;
}

/* --- replying ------------------------------------------------------------------- */

static const char json_type[] = "application/json";

static enum MHD_Result send_reply(const request *asking, const view_reply *reply)
{
    return view_reply_send(&asking->server->http, asking->connection, reply);
}

static enum MHD_Result refuse(const request *asking, unsigned status)
{
    const view_reply reply = view_reply_refuse(status);
    return send_reply(asking, &reply);
}

static enum MHD_Result send_text(const request *asking, unsigned status, const char *content_type,
                                 const etlheap_text *text)
{
    const view_reply reply = { .status = status,
                               .content_type = content_type,
                               .body = text->bytes ? text->bytes : "",
                               .size = text->size };
    return send_reply(asking, &reply);
}

static enum MHD_Result send_error(request *asking, unsigned status, const char *message,
                                  int exit_status)
{
    if (!view_reply_error(message, exit_status, &asking->body))
        return MHD_NO;
    return send_text(asking, status, json_type, &asking->body);
}

static enum MHD_Result send_answer(request *asking)
{
    const view_answer *const answer = &asking->asked.answer;
    const unsigned status = view_reply_status(answer->outcome);
    const char *const message = answer->message.size > 0 ? answer->message.bytes : NULL;
    if (answer->outcome == VIEW_CANCELLED)
        return send_error(asking, status, "cancelled: the page asked something else", 3);
    if (answer->outcome != VIEW_ANSWERED)
        return send_error(asking, status, message ? message : "no answer", answer->exit_status);
    const char *const type = answer->content_type ? answer->content_type : json_type;
    const view_reply reply = {
        .status = status,
        .content_type = type,
        .body = answer->body.bytes ? answer->body.bytes : "",
        .size = answer->body.size,
        .is_download = strncmp(type, json_type, sizeof json_type - 1) != 0,
        .symbols_pending = answer->symbols_pending,
    };
    return send_reply(asking, &reply);
}

/* --- asking --------------------------------------------------------------------- */

static void ask_session(void *context, const view_question *question, view_answer *out)
{
    view_session_ask(context, question, out);
}

/* Any thread. The connection goes on with the answer, and the request may be gone at once. */
static void resume(view_asked *asked)
{
    const request *const asking = asked->client;
    asking->server->http.resume_connection(asking->connection);
}

static bool has_left(const void *client)
{
    const request *const asking = client;
    return cli_socket_peer_left(asking->socket);
}

/* Once it is in the queue, the question may be done before this returns. */
static enum MHD_Result ask(request *asking, const char *command)
{
    view_server *const server = asking->server;
    const union MHD_ConnectionInfo *const info =
        server->http.get_connection_info(asking->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return MHD_NO;
    asking->socket = (intptr_t)info->connect_fd;
    asking->asked = (view_asked){ .command = command,
                                  .pairs = asking->url.pairs,
                                  .pair_count = asking->url.pair_count,
                                  .tab = asking->url.tab,
                                  .part = asking->url.part,
                                  .client = asking };
    asking->state = REQUEST_ASKED;
    server->http.suspend_connection(asking->connection);
    if (!view_questions_add(server->questions, &asking->asked)) {
        asking->state = REQUEST_REFUSED;
        server->http.resume_connection(asking->connection);
    }
    return MHD_YES;
}

static enum MHD_Result reply_to(request *asking)
{
    static const char api[] = "api/";
    view_server *const server = asking->server;
    const char *const path = asking->url.path;
    const view_file *const file = view_files_find(&server->files, path);
    if (file)
        return send_text(asking, 200, file->content_type, &file->body);
    if (strcmp(path, "api/session") == 0)
        return view_session_describe(server->session, &asking->body)
                   ? send_text(asking, 200, json_type, &asking->body)
                   : MHD_NO;
    if (strncmp(path, api, sizeof api - 1) == 0)
        return ask(asking, path + sizeof api - 1);
    return refuse(asking, MHD_HTTP_NOT_FOUND);
}

/* The library calls it when the headers are there, when the whole request is, and when a connection
 * was resumed. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    view_server *const server = user;
    request *const asking = *state;
    (void)connection;
    (void)url;
    (void)version;
    (void)upload;
    (void)upload_size;
    if (!asking)
        return MHD_NO;
    if (asking->state == REQUEST_ASKED)
        return send_answer(asking);
    if (asking->state == REQUEST_REFUSED)
        return send_error(asking, MHD_HTTP_SERVICE_UNAVAILABLE,
                          "too many questions are waiting; ask again later", 3);
    if (asking->state == REQUEST_ADMITTED)
        return reply_to(asking);
    view_connections_busy(server->connections, watched(asking), true);
    const unsigned status = admit(asking, method);
    if (status != 200)
        return refuse(asking, status);
    asking->state = REQUEST_ADMITTED;
    __atomic_store_n(&server->asked_ns, view_clock_ns(), __ATOMIC_RELAXED);
    return MHD_YES;
}

/* --- starting and ending -------------------------------------------------------- */

static bool make_token(char token[VIEW_TOKEN_DIGITS + 1])
{
    u8 bytes[VIEW_TOKEN_DIGITS / 2];
    if (!cli_random_bytes(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Messages of the library say what a client did wrong, which its answer says, too. */
static void be_quiet(void *user, const char *format, va_list arguments)
{
    (void)user;
    (void)format;
    (void)arguments;
}

static struct MHD_Daemon *start(view_server *server, const cli_listen_address *address)
{
    const unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                           (address->is_ipv6 ? MHD_USE_IPv6 : 0);
    return server->http.start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, be_quiet, NULL,
        MHD_OPTION_SOCK_ADDR, address->socket.bytes, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENT_SECONDS, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_URI_LOG_CALLBACK,
        begin_request, server, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
        MHD_OPTION_NOTIFY_CONNECTION, watch_connection, server, MHD_OPTION_END);
}

/* Tells the address apart from that of other machines: a browser here takes the loopback's. */
static void write_url(view_server *server, const cli_listen_address *address, u16 port)
{
    const char *const host =
        address->is_any ? address->is_ipv6 ? "::1" : "127.0.0.1" : address->text;
    snprintf(server->url, sizeof server->url,
             address->is_ipv6 ? "http://[%s]:%u/%s/" : "http://%s:%u/%s/", host, (unsigned)port,
             server->token);
    view_hosts_make(address->text, address->is_ipv6, address->is_any, port, &server->hosts);
}

static int listen_at(view_server *server, const view_place *place)
{
    cli_listen_address address;
    const char *const text = place->address ? place->address : ADDRESS_DEFAULT;
    char message[160];
    if (!cli_listen_address_read(text, place->port, &address)) {
        cli_complain(text,
                     "not a numeric IPv4 or IPv6 address; etlheap view can listen only on those");
        return CLI_EXIT_USAGE;
    }
    server->daemon = start(server, &address);
    const union MHD_DaemonInfo *const info =
        server->daemon ? server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)
                       : NULL;
    if (!info) {
        snprintf(message, sizeof message,
                 "cannot listen on %s, port %u; is another program using the port?", address.text,
                 (unsigned)place->port);
        cli_complain(NULL, message);
        return CLI_EXIT_INPUT;
    }
    write_url(server, &address, info->port);
    __atomic_store_n(&server->is_open, true, __ATOMIC_RELEASE);
    if (!address.is_loopback)
        cli_note(address.text,
                 "other machines can reach this address; whoever knows the URL can read "
                 "the trace, and nothing is encrypted on the way");
    return CLI_EXIT_DONE;
}

static int make_parts(view_server *server)
{
    if (!view_http_load(&server->http)) {
        cli_complain(NULL, "etlheap view needs libmicrohttpd, which is not installed; install the "
                           "package libmicrohttpd12");
        return CLI_EXIT_INPUT;
    }
    if (!make_token(server->token)) {
        cli_complain(NULL, "the system has no random numbers for the address of the page");
        return CLI_EXIT_INPUT;
    }
    server->connections = view_connections_open();
    server->questions = view_questions_open(ask_session, server->session, resume);
    if (view_files_make(&server->files, NULL) != ETL_OK || !server->connections ||
        !server->questions) {
        cli_complain(NULL, "out of memory, or of threads");
        return CLI_EXIT_INPUT;
    }
    return CLI_EXIT_DONE;
}

int view_server_open(const view_place *place, view_session *session, view_server **out)
{
    view_server *const server = *out = calloc(1, sizeof *server);
    if (!server) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    server->session = session;
    server->asked_ns = view_clock_ns();
    const int exit_status = make_parts(server);
    return exit_status == CLI_EXIT_DONE ? listen_at(server, place) : exit_status;
}

const char *view_server_url(const view_server *server)
{
    return server->url;
}

i64 view_server_tend(view_server *server)
{
    const u32 busy = view_questions_tend(server->questions, has_left);
    view_connections_tend(server->connections, REQUEST_NS);
    if (busy > 0)
        return 0;
    return view_clock_ns() - __atomic_load_n(&server->asked_ns, __ATOMIC_RELAXED);
}

/* Suspended connections must have been resumed when the library ends them. */
void view_server_close(view_server *server)
{
    if (!server)
        return;
    if (server->questions)
        view_questions_stop(server->questions);
    if (server->daemon)
        server->http.stop_daemon(server->daemon);
    view_questions_close(server->questions);
    view_connections_close(server->connections);
    view_files_free(&server->files);
    free(server);
}
