/*
 * guard_windows.c - interruption while a temporary file exists.
 *
 * The system starts a thread that calls the handler. When it returns from having been
 * told that the window is closed, the user logs off or the machine stops, the program
 * is ended at once; so then it does not return, and the cleaning has the few seconds
 * that Windows grants.
 */
#include "guard.h"

#include <stdlib.h>
#include <windows.h>

/* A handler is given nothing of its program, so these are global. */
static _Atomic long guard_count;
static _Atomic bool stop_asked;

static BOOL WINAPI on_stop(DWORD event);

void cli_guard_begin(cli_guard *guard)
{
    if (guard->active)
        return;
    if (!guard->is_elsewhere && guard_count++ == 0)
        (void)SetConsoleCtrlHandler(on_stop, TRUE);
    guard->active = true;
}

static BOOL WINAPI on_stop(DWORD event)
{
    stop_asked = true;
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

bool cli_guard_interrupted(const cli_guard *guard)
{
    return guard->active && !guard->is_elsewhere && stop_asked;
}

/* The status is that of a program that Ctrl-C ended. */
void cli_guard_end(cli_guard *guard)
{
    const bool is_own = guard->active && !guard->is_elsewhere;
    if (is_own && --guard_count == 0)
        (void)SetConsoleCtrlHandler(on_stop, FALSE);
    guard->active = false;
    if (guard_count == 0 && stop_asked)
        exit((int)STATUS_CONTROL_C_EXIT);
}
