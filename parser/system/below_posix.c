/*
 * below_posix.c - opens files whose names are not trusted, on POSIX systems. files.h has the
 * contract.
 *
 *     path ──▶ names ──▶ as spelled there ──▶ without links ──▶ below the folder
 *          ──▶ opened name after name, never through a link
 *
 * In: a folder and a path in UTF-8. Out: a descriptor and a name, or a reason in errno. Invariant:
 * whatever is renamed or linked meanwhile, the file that is opened is regular, and was reached from
 * the folder through folders alone.
 */
#define _XOPEN_SOURCE 700 /* realpath is in the X/Open part of POSIX */

#include "below.h"
#include "files.h"
#include "name_fold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "FOLDER/NAME"; NULL if memory runs out. */
static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *const joined = malloc(size);
    if (joined)
        snprintf(joined, size, "%s/%s", folder, name);
    return joined;
}

/* The name in a folder that differs from `name` only in case; of several, the first by its bytes.
 * The caller frees it. NULL: there is none. */
static char *name_like(const char *folder, const char *name)
{
    DIR *const listing = opendir(folder);
    char *best = NULL;
    if (!listing)
        return NULL;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (!etl_name_same(entry->d_name, name) || (best && strcmp(best, entry->d_name) <= 0))
            continue;
        free(best);
        best = strdup(entry->d_name);
    }
    (void)closedir(listing);
    if (!best)
        errno = ENOENT;
    return best;
}

/* The path of a name in a folder, as it is spelled there. NULL, with errno. */
static char *spell(const char *folder, const char *name)
{
    struct stat facts;
    char *path = join(folder, name);
    if (!path || lstat(path, &facts) == 0)
        return path;
    free(path);
    if (errno != ENOENT)
        return NULL;
    char *const other = name_like(folder, name);
    path = other ? join(folder, other) : NULL;
    free(other);
    return path;
}

/* The real name of a path below a folder, whose own name has no links. NULL, with errno. */
static char *find(const char *folder, const char *path)
{
    char names[ETL_BELOW_BYTES_MAX];
    const u32 count = etl_below_names(path, names);
    char *spelled = count > 0 ? strdup(folder) : NULL;
    if (count == 0)
        errno = EPERM;
    const char *name = names;
    for (u32 i = 0; i < count && spelled; i++) {
        char *const next = spell(spelled, name);
        free(spelled);
        spelled = next;
        name += strlen(name) + 1;
    }
    char *const real = spelled ? realpath(spelled, NULL) : NULL;
    free(spelled);
    return real;
}

/* What follows the folder in a path below it; NULL: it is not below it. "/" has its slash
 * already. */
static char *below(const char *folder, char *path)
{
    const size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : NULL;
}

static int open_regular(int folder, const char *name)
{
    struct stat facts;
    if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    const int file =
        S_ISREG(facts.st_mode)
            ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            : -1;
    if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode))
        return file;
    if (file >= 0)
        (void)close(file);
    if (!S_ISREG(facts.st_mode))
        errno = EPERM;
    return -1;
}

/* Opens folder after folder, then the file. `path` is cut meanwhile. */
static int walk(const char *folder, char *path)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *name = path;
    for (char *slash = strchr(name, '/'); at >= 0 && slash; slash = strchr(name, '/')) {
        *slash = '\0';
        const int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        *slash = '/';
        (void)close(at);
        at = next;
        name = slash + 1;
    }
    const int file = at >= 0 ? open_regular(at, name) : -1;
    if (at >= 0) {
        const int reason = errno;
        (void)close(at);
        errno = reason;
    }
    return file;
}

int etl_file_open_below(const char *folder, const char *path, char **found)
{
    char *const root = realpath(folder, NULL);
    char *const real = root ? find(root, path) : NULL;
    char *const rest = real ? below(root, real) : NULL;
    int file = -1;
    if (rest)
        file = walk(root, rest);
    else if (real)
        errno = EPERM;
    const int reason = errno;
    free(root);
    *found = file >= 0 ? real : NULL;
    if (file < 0)
        free(real);
    errno = reason;
    return file;
}
