/*
 * cmd_view.c - `etlheap view`: the trace in a browser.
 *
 * In: inputs. Out: one line with the address of the page; then answers to the browser, until
 * somebody asks to stop (stop.h) or nobody has asked anything for as long as --idle says.
 */
#include "cli/messages.h"
#include "cli/system/browser.h"
#include "cli/system/stop.h"
#include "cli/view/server.h"
#include "commands.h"

#include <stdio.h>

/* How often to look after clients, and whether to stop. A client that leaves while it waits is
 * noticed soon, so that the next one need not wait for work that nobody wants. */
#define IDLE_MILLISECONDS 100u
#define BUSY_MILLISECONDS 10u

static void tell_address(const cli_options *options, const char *url)
{
    /* If nobody reads it, the page can still be open elsewhere. */
    (void)printf("%s\n", url);
    (void)fflush(stdout);
    cli_tell(NULL, "open this address in a browser; Ctrl-C ends the page");
    if (options->opens_browser && !cli_browser_open(url))
        cli_complain(NULL, "no browser could be started; open the address yourself");
}

static void serve(const cli_options *options, view_server *server)
{
    i64 idle_ns = 0;
    while (!cli_stop_wait(idle_ns > 0 ? IDLE_MILLISECONDS : BUSY_MILLISECONDS)) {
        idle_ns = view_server_tend(server);
        if (options->idle_ns != 0 && idle_ns > options->idle_ns)
            return;
    }
}

int cli_run_view(const cli_options *options)
{
    view_session *session = NULL;
    view_server *server = NULL;
    const view_place place = { .address = options->listen, .port = (u16)options->port };
    if (options->port > UINT16_MAX) {
        cli_complain(NULL, "--port takes a number from 0 to 65535");
        return CLI_EXIT_USAGE;
    }
    cli_stop_begin();
    int exit_status = view_session_open(options, options->commands, &session);
    if (exit_status == CLI_EXIT_DONE)
        exit_status = view_server_open(&place, session, &server);
    if (exit_status == CLI_EXIT_DONE) {
        tell_address(options, view_server_url(server));
        serve(options, server);
    }
    view_server_close(server);
    view_session_close(session);
    return exit_status;
}
