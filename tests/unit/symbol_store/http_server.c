/*
 * http_server.c - runs tests/oracles/http_symbol_server.py for the length of a test.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_server.h"

#define LINE_SIZE 1024

static void run(const http_server *server, const char *certificate, const int in[2],
                const int out[2]);

void http_server_start(http_server *server, const symbol_tree *tree, const char *certificate)
{
    int in[2];
    int out[2];
    *server = (http_server){ .tree = tree, .is_secure = certificate != NULL };
    if (pipe(in) != 0 || pipe(out) != 0)
        abort();
    server->process = fork();
    if (server->process < 0)
        abort();
    if (server->process == 0)
        run(server, certificate, in, out);
    close(in[0]);
    close(out[1]);
    /* Another server must not hold the end that stops this one. */
    if (fcntl(in[1], F_SETFD, FD_CLOEXEC) != 0)
        abort();
    server->stop = in[1];
    FILE *const answer = fdopen(out[0], "r");
    if (!answer || fscanf(answer, "%u", &server->port) != 1)
        abort();
    fclose(answer);
    /* libcurl honours these; the server is here. */
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("HTTPS_PROXY");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
}

static void run(const http_server *server, const char *certificate, const int in[2],
                const int out[2])
{
    const char *const python = getenv("PYTHON");
    const char *const root = symbol_tree_path(server->tree, "server");
    const char *const log = symbol_tree_path(server->tree, "requests.log");
    if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
        _exit(1);
    close(in[1]);
    close(out[0]);
    execlp(python ? python : "python3", "python3", "-B", "tests/oracles/http_symbol_server.py",
           root, log, certificate, (char *)NULL);
    _exit(1);
}

void http_server_stop(http_server *server)
{
    int status;
    close(server->stop);
    waitpid(server->process, &status, 0);
}

const char *http_server_url(const http_server *server, const char *mode)
{
    static char urls[4][LINE_SIZE];
    static u32 next;
    char *const url = urls[next++ % 4];
    snprintf(url, LINE_SIZE, "%s://127.0.0.1:%u/%s", server->is_secure ? "https" : "http",
             server->port, mode);
    return url;
}

u32 http_server_requests(const http_server *server, const char *text)
{
    char line[LINE_SIZE];
    u32 count = 0;
    FILE *const log = fopen(symbol_tree_path(server->tree, "requests.log"), "r");
    while (log && fgets(line, sizeof line, log))
        count += strstr(line, text) != NULL;
    if (log)
        fclose(log);
    return count;
}

u32 http_server_most_at_once(const http_server *server)
{
    char line[LINE_SIZE];
    u32 most = 0;
    FILE *const log = fopen(symbol_tree_path(server->tree, "requests.log"), "r");
    while (log && fgets(line, sizeof line, log)) {
        const u32 running = (u32)strtoul(line, NULL, 10);
        most = running > most ? running : most;
    }
    if (log)
        fclose(log);
    return most;
}
