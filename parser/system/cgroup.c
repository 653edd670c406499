/*
 * cgroup.c - reads what Linux's control groups allow this process: memory and processors.
 *
 * In: three kinds of files, under `root`. Out: the least limit, or none.
 *
 *     /proc/self/cgroup        0::/a/b                          version 2
 *                              4:cpu,cpuacct:/a/b               version 1, by controller
 *     /proc/self/mountinfo     36 25 0:30 /a /sys/fs/cgroup rw - cgroup2 none rw
 *                                         |   `- mounted here
 *                                         `----- the group that the mount begins with
 *     limits are read in       /sys/fs/cgroup/b, /sys/fs/cgroup
 *
 * A group's limit holds for all groups in it, so the least limit on the way up counts. A container
 * may see a path that its mount does not hold; then the mount is its group. Invariant: a missing or
 * damaged file means no limit, never a limit of 0.
 */
#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>

#include "files.h"

#define PATH_BYTES 4096u
#define LINE_BYTES (2 * PATH_BYTES)

/* A limit: the name of its controller, and how to read it from a group's folder. */
typedef struct limit_kind {
    const char *controller;
    u64 (*read)(const char *folder, bool is_v2); /* UINT64_MAX: none */
} limit_kind;

typedef struct mount {
    char group[PATH_BYTES]; /* that the mount begins with */
    char point[PATH_BYTES];
    bool is_found;
} mount;

static u64 least(const char *root, const limit_kind *kind);
static u64 read_quota(const char *folder, bool is_v2);
static u64 read_memory(const char *folder, bool is_v2);

u32 etl_cgroup_processors(const char *root)
{
    static const limit_kind cpu = { "cpu", read_quota };
    const u64 found = least(root, &cpu);
    return found == UINT64_MAX ? 0 : (u32)etl_min_u64(found, UINT32_MAX);
}

u64 etl_cgroup_memory(const char *root)
{
    static const limit_kind memory = { "memory", read_memory };
    return least(root, &memory);
}

static FILE *open_below(const char *folder, const char *name)
{
    char path[3 * PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < 0 || (size_t)length >= sizeof path ? NULL : etl_file_stream(path);
}

/* The next line without its end; lines longer than the buffer are skipped. */
static bool next_line(FILE *file, char line[LINE_BYTES])
{
    while (fgets(line, LINE_BYTES, file) != NULL) {
        const size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return true;
        }
        if (length + 1 < LINE_BYTES)
            return length > 0; /* the last one */
        int c = 0;
        while (c != '\n' && c != EOF)
            c = fgetc(file);
    }
    return false;
}

/* Whether `word` is one of a list with commas. */
static bool lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL;) {
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        at = at == NULL ? NULL : at + 1;
    }
    return false;
}

/* Ends the field at *line and moves on to the next one. */
static char *take_field(char **line, char separator)
{
    char *const field = *line;
    char *const end = field == NULL ? NULL : strchr(field, separator);
    if (end != NULL)
        *end = '\0';
    *line = end == NULL ? NULL : end + 1;
    return field;
}

/* Spaces and the like are written "\040" in the list of mounts. */
static bool copy_unescaped(char out[PATH_BYTES], const char *text)
{
    size_t size = 0;
    for (; *text != '\0' && size + 1 < PATH_BYTES; text++) {
        const bool is_escape = text[0] == '\\' && text[1] >= '0' && text[1] <= '3' &&
                               text[2] >= '0' && text[2] <= '7' && text[3] >= '0' && text[3] <= '7';
        out[size++] =
            is_escape ? (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0') : *text;
        text += is_escape ? 3 : 0;
    }
    out[size] = '\0';
    return *text == '\0';
}

/* The part of `path` below `group`: "", or with a slash in front; NULL if it is elsewhere. */
static const char *rest_of(const char *path, const char *group)
{
    const size_t length = strcmp(group, "/") == 0 ? 0 : strlen(group);
    if (strncmp(path, group, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return strcmp(path + length, "/") == 0 ? "" : path + length;
}

/* Takes the mount of a line if it is of the right kind and fits better than the one so far: a mount
 * that holds the path is better than one that does not. */
static void consider_mount(char *line, const char *path, const char *controller, mount *best)
{
    char *const second_part = strstr(line, " - ");
    if (second_part == NULL)
        return;
    *second_part = '\0';
    char *tail = second_part + 3, *head = line;
    const char *const type = take_field(&tail, ' ');
    (void)take_field(&tail, ' '); /* its source */
    const bool is_kind =
        controller == NULL ? strcmp(type, "cgroup2") == 0
                           : strcmp(type, "cgroup") == 0 && tail != NULL && lists(tail, controller);
    for (u32 i = 0; i < 3; i++)
        (void)take_field(&head, ' ');
    const char *const group = take_field(&head, ' ');
    const char *const point = take_field(&head, ' ');
    if (!is_kind || group == NULL || point == NULL)
        return;
    mount found = { .is_found = true };
    if (copy_unescaped(found.group, group) && copy_unescaped(found.point, point) &&
        (!best->is_found ||
         (rest_of(path, best->group) == NULL && rest_of(path, found.group) != NULL)))
        *best = found;
}

/* The least limit of the group at `path` and the groups around it. */
static u64 least_upward(const char *root, const char *path, const limit_kind *kind, bool is_v2)
{
    FILE *const mounts = open_below(root, "proc/self/mountinfo");
    if (mounts == NULL)
        return UINT64_MAX;
    char line[LINE_BYTES];
    mount where = { 0 };
    while (next_line(mounts, line))
        consider_mount(line, path, is_v2 ? NULL : kind->controller, &where);
    (void)fclose(mounts);
    const char *rest = where.is_found ? rest_of(path, where.group) : NULL;
    if (rest != NULL && strncmp(rest, "/..", 3) == 0)
        rest = NULL; /* a group outside of the container, which sees its own alone */
    char folder[3 * PATH_BYTES];
    const int top = snprintf(folder, sizeof folder, "%s%s", root, where.point);
    if (!where.is_found || top < 0 || (size_t)top >= sizeof folder)
        return UINT64_MAX;
    (void)snprintf(folder + top, sizeof folder - (size_t)top, "%s", rest == NULL ? "" : rest);
    u64 found = UINT64_MAX;
    for (;;) {
        found = etl_min_u64(found, kind->read(folder, is_v2));
        char *const slash = strrchr(folder + top, '/');
        if (slash == NULL)
            return found;
        *slash = '\0';
    }
}

static u64 least(const char *root, const limit_kind *kind)
{
    u64 found = UINT64_MAX;
    char line[LINE_BYTES];
    FILE *const groups = open_below(root, "proc/self/cgroup");
    if (groups == NULL)
        return found;
    while (next_line(groups, line)) {
        char *at = line;
        (void)take_field(&at, ':');
        const char *const controllers = take_field(&at, ':');
        if (controllers == NULL || at == NULL || strlen(at) >= PATH_BYTES)
            continue;
        const bool is_v2 = controllers[0] == '\0';
        if (is_v2 || lists(controllers, kind->controller))
            found = etl_min_u64(found, least_upward(root, at, kind, is_v2));
    }
    (void)fclose(groups);
    return found;
}

/* Up to two numbers of a group's file; how many there are. */
static u32 read_numbers(const char *folder, const char *name, u64 numbers[2])
{
    char line[LINE_BYTES];
    FILE *const file = open_below(folder, name);
    const bool is_read = file != NULL && next_line(file, line);
    if (file != NULL)
        (void)fclose(file);
    char *at = line;
    u32 count = 0;
    while (is_read && count < 2) {
        char *end;
        at += strspn(at, " ");
        if (*at < '0' || *at > '9')
            break; /* "max", "-1", or damage */
        numbers[count++] = strtoull(at, &end, 10);
        if (*end != ' ' && *end != '\0')
            return 0;
        at = end;
    }
    return count;
}

static u64 read_quota(const char *folder, bool is_v2)
{
    u64 numbers[2] = { 0, 0 }, period[2] = { 0, 0 };
    if (is_v2) {
        if (read_numbers(folder, "cpu.max", numbers) != 2)
            return UINT64_MAX;
        period[0] = numbers[1];
    } else if (read_numbers(folder, "cpu.cfs_quota_us", numbers) != 1 ||
               read_numbers(folder, "cpu.cfs_period_us", period) != 1) {
        return UINT64_MAX;
    }
    if (numbers[0] == 0 || period[0] == 0 || numbers[0] == UINT64_MAX)
        return UINT64_MAX;
    return numbers[0] / period[0] + (numbers[0] % period[0] != 0);
}

static u64 read_memory(const char *folder, bool is_v2)
{
    u64 numbers[2];
    const char *const name = is_v2 ? "memory.max" : "memory.limit_in_bytes";
    return read_numbers(folder, name, numbers) == 1 ? numbers[0] : UINT64_MAX;
}

u64 etl_memory_available(const char *root)
{
    static const char name[] = "MemAvailable:";
    u64 found = UINT64_MAX;
    char line[LINE_BYTES];
    FILE *const file = open_below(root, "proc/meminfo");
    while (file != NULL && next_line(file, line)) {
        const char *const at = line + sizeof name - 1;
        if (strncmp(line, name, sizeof name - 1) == 0 &&
            strspn(at, " 0123456789") > strspn(at, " "))
            found = etl_min_u64(strtoull(at, NULL, 10), UINT64_MAX / ETL_KIB) * ETL_KIB;
    }
    if (file != NULL)
        (void)fclose(file);
    return etl_min_u64(found, etl_cgroup_memory(root));
}
