/* stop_posix.c - see stop.h; signals are blocked, and taken by the thread that waits. */
#include "stop.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* Blocked signals are held back even if they are ignored, as nohup has it. */
static sigset_t wanted(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        struct sigaction action;
        if (sigaction(stop_signals[i], NULL, &action) != 0 || action.sa_handler != SIG_IGN)
            sigaddset(&set, stop_signals[i]);
    }
    return set;
}

void cli_stop_begin(void)
{
    sigset_t held = wanted();
    /* A client or a reader of standard output that leaves must not end the program. */
    sigaddset(&held, SIGPIPE);
    (void)sigprocmask(SIG_BLOCK, &held, NULL);
}

bool cli_stop_wait(unsigned milliseconds)
{
    const sigset_t set = wanted();
    const struct timespec limit = { .tv_sec = milliseconds / 1000,
                                    .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
    return sigtimedwait(&set, NULL, &limit) > 0;
}
