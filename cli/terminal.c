/*
 * terminal.c - what the program knows of where it runs.
 */
#include "terminal.h"

#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MIN 20
#define COLUMNS_MAX 4096

static bool is_utf8(void);
static bool is_set(const char *variable);

/* COLUMNS goes before the terminal's own word, as in other programs: a script can
 * set it, and so can a test. */
etlheap_layout cli_layout(const cli_options *options)
{
    etlheap_layout layout = etlheap_layout_default();
    const bool terminal = cli_output_is_terminal(options);
    const char *const columns = getenv("COLUMNS");
    u64 width;
    if (columns && cli_parse_count(columns, COLUMNS_MAX, &width) && width >= COLUMNS_MIN)
        layout.width = (u32)width;
    else if (terminal && cli_terminal_columns(STDOUT_FILENO) >= COLUMNS_MIN)
        layout.width = cli_terminal_columns(STDOUT_FILENO);
    layout.colour = terminal && !is_set("NO_COLOR");
    layout.ascii = terminal && !is_utf8();
    if (options->top > 0) {
        layout.rows_max = options->top;
        layout.rows_of_each_kind = false;
    }
    layout.frames_max = options->frames;
    layout.sort = options->sort;
    layout.sort_ascending = options->sort_ascending;
    layout.tree = (etlheap_tree)options->tree;
    return layout;
}

bool cli_output_is_terminal(const cli_options *options)
{
    return !cli_output_is_file(options) && isatty(STDOUT_FILENO) == 1;
}

const char *cli_temporary_folder(void)
{
    return is_set("TMPDIR") ? getenv("TMPDIR") : NULL;
}

const char *cli_symbol_path(void)
{
    return is_set("_NT_SYMBOL_PATH") ? getenv("_NT_SYMBOL_PATH") : NULL;
}

/* Source: XDG Base Directory Specification. */
bool cli_symbol_store(char *out, size_t size)
{
    const bool cache = is_set("XDG_CACHE_HOME");
    const char *const folder = getenv(cache ? "XDG_CACHE_HOME" : "HOME");
    if (!folder || folder[0] != '/')
        return false;
    const int length = snprintf(out, size, "%s%s/etlheap/symbols", folder, cache ? "" : "/.cache");
    return length > 0 && (size_t)length < size;
}

bool cli_wants_progress(const cli_options *options)
{
    if (options->progress == CLI_PROGRESS_AUTO)
        return isatty(STDERR_FILENO) == 1;
    return options->progress == CLI_PROGRESS_ALWAYS;
}

unsigned cli_terminal_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Whether the locale's characters are UTF-8. Source: POSIX, the order of the
 * variables; glibc, the spellings of the character set. */
static bool is_utf8(void)
{
    const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < ETL_COUNT_OF(variables); i++) {
        if (!is_set(variables[i]))
            continue;
        const char *const point = strchr(getenv(variables[i]), '.');
        return point &&
               (strncasecmp(point, ".utf-8", 6) == 0 || strncasecmp(point, ".utf8", 5) == 0);
    }
    return false;
}

static bool is_set(const char *variable)
{
    const char *const value = getenv(variable);
    return value && value[0] != '\0';
}
