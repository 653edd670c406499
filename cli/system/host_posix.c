/*
 * host_posix.c - see host.h; a POSIX system.
 */
#include "host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

char **cli_host_begin(int *count, char **words)
{
    (void)count;
    /* A file that grows beyond the shell's limit is an error like a full disk. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return words;
}

const char *cli_host_variable(const char *name)
{
    const char *const value = getenv(name);
    return value && value[0] != '\0' ? value : NULL;
}

bool cli_host_is_terminal(int descriptor)
{
    return isatty(descriptor) == 1;
}

unsigned cli_host_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* By the locale. Source: POSIX, the order of the variables; glibc, the spellings of
 * the character set. */
bool cli_host_is_utf8(void)
{
    const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < ETL_COUNT_OF(variables); i++) {
        const char *const locale = cli_host_variable(variables[i]);
        if (!locale)
            continue;
        const char *const point = strchr(locale, '.');
        return point &&
               (strncasecmp(point, ".utf-8", 6) == 0 || strncasecmp(point, ".utf8", 5) == 0);
    }
    return false;
}

bool cli_host_has_sigpipe(void)
{
    return true;
}

FILE *cli_host_credential_open(const char *command, const char *host)
{
    char line[4096];
    const int length = snprintf(line, sizeof line,
                                "printf 'protocol=https\\nhost=%s\\n\\n' | { %s\n}", host, command);
    return length > 0 && (size_t)length < sizeof line ? popen(line, "r") : NULL;
}

bool cli_host_credential_close(FILE *pipe)
{
    return pclose(pipe) == 0;
}

const char *cli_host_temporary_folder(void)
{
    return cli_host_variable("TMPDIR");
}

/* Source: XDG Base Directory Specification, which ignores relative names. */
const char *cli_host_cache(const char **below)
{
    const char *const cache = cli_host_variable("XDG_CACHE_HOME");
    const char *const folder = cache ? cache : cli_host_variable("HOME");
    *below = cache ? "" : "/.cache";
    return folder && folder[0] == '/' ? folder : NULL;
}
