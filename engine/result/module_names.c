/*
 * module_names.c - tells modules of one name apart by their folders.
 *
 * In: the modules of a complete result, with plain names. Out: longer names for those of which one
 * process loaded several files:
 *
 *     C:\app\node_modules\bcrypt\build\Release\binding.node    bcrypt\build\Release\binding.node
 *     C:\app\node_modules\sharp\build\Release\binding.node     sharp\build\Release\binding.node
 *
 * Names are what rows and frames show, group by and compare, so the two are two everywhere. Names
 * get as many folders as tell the files apart. Copies of one build are one file, wherever they lie.
 * Files whose builds are not known are not told apart, and files of Windows, such as the two
 * ntdll.dll of a 32-bit program, keep their names. Invariant: the names depend only on names, paths
 * and builds of modules, so a trace and its store agree.
 */
#include "spellings.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

#define FILES_MAX   64u /* of one name; programs with more keep the plain name */
#define FOLDERS_MAX 8u

const char *module_plain_name(const char *name)
{
    const char *const slash = strrchr(name, '\\');
    return slash == NULL ? name : slash + 1;
}

static bool is_same_build(const etlheap_module_info *a, const etlheap_module_info *b)
{
    return a->has_rsds && b->has_rsds && a->age == b->age &&
           memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
}

/* The end of the path, with `folders` folders before the file. */
static const char *end_of(const char *path, u32 folders)
{
    const char *at = path + strlen(path);
    for (u32 left = folders + 1; at > path; at--) {
        if (at[-1] == '\\' && --left == 0)
            break;
    }
    return at;
}

static bool is_of_windows(const char *path)
{
    return etl_name_contains(path, "\\Windows\\");
}

/* Files of one name. */
typedef struct namesakes {
    const etlheap_module_info *files[FILES_MAX]; /* one of each path and build */
    u32 count;
    bool has_clash; /* one process loaded two of them */
} namesakes;

static bool is_same_file(const etlheap_module_info *a, const etlheap_module_info *b)
{
    return etl_name_same(a->path, b->path) || is_same_build(a, b);
}

static int by_name_and_process(const void *a, const void *b)
{
    const etlheap_module_info *const x = *(const etlheap_module_info *const *)a;
    const etlheap_module_info *const y = *(const etlheap_module_info *const *)b;
    const int order = etl_name_compare(module_plain_name(x->name), module_plain_name(y->name));
    if (order != 0)
        return order;
    if (x->process.v != y->process.v)
        return x->process.v < y->process.v ? -1 : 1;
    const int paths = etl_name_compare(x->path, y->path);
    return paths != 0 ? paths : (x > y) - (x < y);
}

/* True if one process loaded both, and they are certainly two: the path alone may be spelled in two
 * ways. Modules of a summary have no process: their names are those that they had in their runs. */
static bool is_clash(const etlheap_module_info *a, const etlheap_module_info *b)
{
    return a->pid != ETL_NO_ID && a->process.v == b->process.v && a->pid == b->pid && a->has_rsds &&
           b->has_rsds && !is_same_file(a, b) &&
           !(is_of_windows(a->path) && is_of_windows(b->path));
}

/* False if there are too many files. */
static bool add_file(namesakes *out, const etlheap_module_info *module)
{
    for (u32 i = 0; i < out->count; i++) {
        if (is_same_file(out->files[i], module))
            return true;
    }
    if (out->count == FILES_MAX)
        return false;
    out->files[out->count++] = module;
    return true;
}

/* Modules of one name lie together, those of a process by path. */
static void find_namesakes(etlheap_module_info *const *modules, size_t count, namesakes *out)
{
    *out = (namesakes){ .count = 0 };
    for (size_t i = 0; i < count; i++) {
        out->has_clash |= i > 0 && is_clash(modules[i], modules[i - 1]);
        if (!add_file(out, modules[i])) {
            out->has_clash = false;
            return;
        }
    }
}

/* How many folders tell all files apart; 0: none do. */
static u32 folders_needed(const namesakes *names)
{
    for (u32 folders = 1; folders <= FOLDERS_MAX; folders++) {
        bool all = true;
        for (u32 i = 0; i < names->count && all; i++) {
            for (u32 k = 0; k < i && all; k++)
                all = !etl_name_same(end_of(names->files[i]->path, folders),
                                     end_of(names->files[k]->path, folders));
        }
        if (all)
            return folders;
    }
    return 0;
}

/* The longer names share the text of the first file that has them, so that equal files do. */
static void name_files(etlheap_module_info *const *modules, size_t count, const namesakes *names)
{
    const u32 folders = folders_needed(names);
    for (size_t i = 0; i < count && folders > 0; i++) {
        for (u32 k = 0; k < names->count; k++) {
            if (is_same_file(names->files[k], modules[i])) {
                modules[i]->name = end_of(names->files[k]->path, folders);
                break;
            }
        }
    }
}

bool module_names_set(etlheap_result *result)
{
    const u32 count = modules_image_count(&result->modules);
    etlheap_module_info **const modules = calloc((size_t)count + 1, sizeof(etlheap_module_info *));
    if (modules == NULL)
        return false;
    for (u32 i = 0; i < count; i++)
        modules[i] = &result->modules.list.at[i];
    if (count > 0)
        qsort(modules, count, sizeof(etlheap_module_info *), by_name_and_process);
    for (size_t start = 0, end; start < count; start = end) {
        namesakes names;
        for (end = start + 1; end < count && etl_name_same(module_plain_name(modules[start]->name),
                                                           module_plain_name(modules[end]->name));)
            end++;
        if (end - start < 2)
            continue;
        find_namesakes(&modules[start], end - start, &names);
        if (names.has_clash)
            name_files(&modules[start], end - start, &names);
    }
    free(modules);
    return true;
}
