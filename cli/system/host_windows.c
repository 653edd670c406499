/*
 * host_windows.c - what the program asks of its system, on Windows. host.h has the contract.
 *
 * In: calls of the Windows API. Out: arguments, variables of the environment, and folders in UTF-8;
 * terminals and their width.
 *
 * What the C library gives (main's words, getenv's values) is in the machine's code page, in which
 * most names cannot be written. So everything is asked of the system and kept in UTF-8. Invariant:
 * `host` is written once, before a second thread exists, and modes of a console are put back at
 * exit, because the shell uses it too.
 */
#include "host.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include <shellapi.h>

#include "parser/system/files.h"
#include "parser/system/wide.h"

/* Written once, before a second thread exists. A console belongs to the shell too, so its modes are
 * restored at the end. */
static struct {
    char **variables; /* "NAME=value", NULL behind them */
    UINT output_code_page;
    DWORD modes[3]; /* of the standard streams; 0: not changed */
} host;

static char **read_words(int *count);
static bool read_variables(void);
static void prepare_streams(void);
static void restore_console(void);
static HANDLE stream_of(int descriptor);

char **cli_host_begin(int *count, char **words)
{
    (void)words;
    /* Suppresses error windows: on a build agent, nobody would close them. */
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    prepare_streams();
    return read_variables() ? read_words(count) : NULL;
}

static void prepare_streams(void)
{
    bool is_console = false;
    for (int i = 0; i < 3; i++) {
        DWORD mode;
        (void)_setmode(i, _O_BINARY);
        if (i == 0 || !GetConsoleMode(stream_of(i), &mode))
            continue;
        is_console = true;
        if ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) == 0 &&
            SetConsoleMode(stream_of(i), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING))
            host.modes[i] = mode;
    }
    if (!is_console)
        return;
    host.output_code_page = GetConsoleOutputCP();
    (void)SetConsoleOutputCP(CP_UTF8);
    (void)atexit(restore_console);
}

static void restore_console(void)
{
    (void)SetConsoleOutputCP(host.output_code_page);
    for (int i = 0; i < 3; i++) {
        if (host.modes[i] != 0)
            (void)SetConsoleMode(stream_of(i), host.modes[i]);
    }
}

static HANDLE stream_of(int descriptor)
{
    return (HANDLE)_get_osfhandle(descriptor);
}

static bool read_variables(void)
{
    wchar_t *const block = GetEnvironmentStringsW();
    size_t count = 0;
    for (const wchar_t *at = block; at && *at != 0; at += wcslen(at) + 1)
        count++;
    host.variables = calloc(count + 1, sizeof *host.variables);
    bool is_done = host.variables != NULL;
    const wchar_t *at = block;
    for (size_t i = 0; is_done && i < count; i++, at += wcslen(at) + 1) {
        host.variables[i] = etl_windows_text(at);
        is_done = host.variables[i] != NULL;
    }
    if (block)
        (void)FreeEnvironmentStringsW(block);
    return is_done;
}

static char **read_words(int *count)
{
    wchar_t **const wide = CommandLineToArgvW(GetCommandLineW(), count);
    char **const words = wide ? calloc((size_t)*count + 1, sizeof *words) : NULL;
    bool is_done = words != NULL;
    for (int i = 0; is_done && i < *count; i++) {
        words[i] = etl_windows_text(wide[i]);
        is_done = words[i] != NULL;
    }
    if (wide)
        (void)LocalFree(wide);
    return is_done ? words : NULL;
}

/* Looks up a variable; names of variables ignore case on Windows. */
const char *cli_host_variable(const char *name)
{
    const size_t size = strlen(name);
    for (char **at = host.variables; at && *at; at++) {
        if (_strnicmp(*at, name, size) == 0 && (*at)[size] == '=')
            return (*at)[size + 1] != '\0' ? *at + size + 1 : NULL;
    }
    return NULL;
}

/* Is the stream a console? _isatty also says yes to NUL. Modes of an input have other bits. */
bool cli_host_is_terminal(int descriptor)
{
    DWORD mode;
    return GetConsoleMode(stream_of(descriptor), &mode) &&
           (descriptor == ETL_STDIN || (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0);
}

/* The width of the window, not of the buffer behind it. */
unsigned cli_host_columns(int descriptor)
{
    CONSOLE_SCREEN_BUFFER_INFO facts;
    if (!GetConsoleScreenBufferInfo(stream_of(descriptor), &facts) ||
        facts.srWindow.Right < facts.srWindow.Left)
        return 0;
    return (unsigned)(facts.srWindow.Right - facts.srWindow.Left + 1);
}

bool cli_host_is_utf8(void)
{
    return GetConsoleOutputCP() == CP_UTF8;
}

bool cli_host_has_sigpipe(void)
{
    return false;
}

FILE *cli_host_credential_open(const char *command, const char *server)
{
    char line[4096];
    const int length = snprintf(line, sizeof line, "(echo protocol=https&echo host=%s&echo.)|(%s)",
                                server, command);
    return length > 0 && (size_t)length < sizeof line ? _popen(line, "rb") : NULL;
}

bool cli_host_credential_close(FILE *pipe)
{
    return _pclose(pipe) == 0;
}

/* TMPDIR is not a variable of Windows, but users of this program set it on other systems. */
const char *cli_host_temporary_folder(void)
{
    static const char *const names[] = { "TMPDIR", "TMP", "TEMP" };
    const char *folder = NULL;
    for (size_t i = 0; i < ETL_COUNT_OF(names) && !folder; i++)
        folder = cli_host_variable(names[i]);
    return folder;
}

const char *cli_host_cache(const char **below)
{
    *below = "";
    return cli_host_variable("LOCALAPPDATA");
}
