/*
 * guard_posix.c - interruption while a temporary file exists.
 */
#include "guard.h"

#include <stddef.h>

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* As nohup and shells without job control have it: then the program is to go on. The system holds
 * a blocked signal back even if it is ignored, so such a one must not be blocked. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void cli_guard_begin(cli_guard *guard)
{
    sigset_t held;
    if (guard->active)
        return;
    if (guard->is_elsewhere) {
        guard->active = true;
        return;
    }
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        if (!is_ignored(stop_signals[i]))
            sigaddset(&held, stop_signals[i]);
    }
    /* A closed stderr must not end the program before it has cleaned up. */
    sigaddset(&held, SIGPIPE);
    guard->active = sigprocmask(SIG_BLOCK, &held, &guard->before) == 0;
}

bool cli_guard_interrupted(const cli_guard *guard)
{
    sigset_t pending;
    if (!guard->active || guard->is_elsewhere || sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        if (sigismember(&pending, stop_signals[i]) == 1)
            return true;
    }
    return false;
}

void cli_guard_end(cli_guard *guard)
{
    if (guard->active && !guard->is_elsewhere)
        sigprocmask(SIG_SETMASK, &guard->before, NULL);
    guard->active = false;
}
