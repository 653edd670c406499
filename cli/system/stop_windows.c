/*
 * stop_windows.c - see stop.h.
 *
 * The system starts a thread that calls the handler. When it returns from having been told that the
 * window is closed or the user logs off, the program is ended at once; so then it does not return,
 * and the cleaning has the few seconds that Windows grants.
 */
#include "stop.h"

#include <windows.h>

/* A handler is given nothing of its program, so this is global. */
static _Atomic bool stop_asked;

static BOOL WINAPI on_stop(DWORD event)
{
    stop_asked = true;
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

void cli_stop_begin(void)
{
    (void)SetConsoleCtrlHandler(on_stop, TRUE);
}

bool cli_stop_wait(unsigned milliseconds)
{
    if (!stop_asked)
        Sleep(milliseconds);
    return stop_asked;
}
