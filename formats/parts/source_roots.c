/*
 * source_roots.c - maps paths of source files on the compiling computer to paths in the repository;
 * source_roots.h shows one.
 *
 * In: roots FROM=TO, then paths of frames. Out: a repository path, or none. Invariant: a path
 * outside all roots is never shown as one of the repository.
 */
#include "source_roots.h"

/* Where compilers and system libraries keep their own sources. A leak whose innermost line is
 * in one of them is not mended there. */
static const char *const foreign_folders[] = {
    "/vctools/crt/", "/vc/tools/msvc/",      "/minkernel/crts/",  "/windows kits/",
    "/onecore/",     "/usr/include/",        "/usr/lib/gcc/",     "/rustc/",
    "/.cargo/",      "/vcpkg/buildtrees/",   "/.nuget/packages/", "/.conan/data/",
    "/public/sdk/",  "/microsoft visual st", "/vc/include/",      "/usr/src/",
};

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return c == '\\' ? '/' : c;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Bytes of the path that are the root, with the slash after it; 0: it is not below it. */
static size_t match(const char *from, const char *path)
{
    size_t size = strlen(from);
    while (size > 0 && is_slash(from[size - 1]))
        size--;
    for (size_t i = 0; i < size; i++) {
        if (path[i] == '\0' || folded(path[i]) != folded(from[i]))
            return 0;
    }
    return is_slash(path[size]) ? size + 1 : 0;
}

const etlheap_source_root *etlheap_source_roots_find(const etlheap_source_roots *roots,
                                                     const char *path, const char **rest)
{
    const etlheap_source_root *found = NULL;
    size_t size = 0;
    for (u32 i = 0; roots && i < roots->count; i++) {
        const size_t matched = match(roots->at[i].from, path);
        if (matched > size) {
            size = matched;
            found = &roots->at[i];
        }
    }
    while (is_slash(path[size]))
        size++;
    *rest = path + size;
    return found;
}

bool etlheap_source_paths_same(const char *a, const char *b)
{
    while (*a != '\0' && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static void add_slashed(etlheap_text *text, const char *path)
{
    for (; *path != '\0'; path++)
        etlheap_text_add(text, *path == '\\' ? "/" : path, 1);
}

bool etlheap_source_roots_add(const etlheap_source_roots *roots, const char *path,
                              etlheap_text *text)
{
    const char *rest;
    const etlheap_source_root *const root = etlheap_source_roots_find(roots, path, &rest);
    if (!root) {
        etlheap_text_add_string(text, path);
        return false;
    }
    const size_t to_size = strlen(root->to);
    if (to_size > 0 && strcmp(root->to, ".") != 0) {
        add_slashed(text, root->to);
        etlheap_text_add_string(text, is_slash(root->to[to_size - 1]) ? "" : "/");
    }
    add_slashed(text, rest);
    return true;
}

bool etlheap_source_roots_have(const etlheap_source_roots *roots, const char *path)
{
    const char *rest;
    return etlheap_source_roots_find(roots, path, &rest) != NULL;
}

static bool contains(const char *path, const char *folder)
{
    for (; *path != '\0'; path++) {
        size_t i = 0;
        while (folder[i] != '\0' && path[i] != '\0' && folded(path[i]) == folder[i])
            i++;
        if (folder[i] == '\0')
            return true;
    }
    return false;
}

static bool is_foreign(const char *path)
{
    for (size_t i = 0; i < ETL_COUNT_OF(foreign_folders); i++) {
        if (contains(path, foreign_folders[i]))
            return true;
    }
    return false;
}

u32 etlheap_source_rank(const etlheap_source_roots *roots, const etlheap_frame *frame)
{
    if (!frame->file || frame->file[0] == '\0')
        return frame->module && frame->module[0] != '\0' ? 1 : 0;
    if (frame->line > 0 && etlheap_source_roots_have(roots, frame->file))
        return 5;
    if (is_foreign(frame->file))
        return 2;
    return frame->line > 0 ? 4 : 3;
}

const etlheap_frame *etlheap_source_frame(const etlheap_source_roots *roots,
                                          const etlheap_table *table, etlheap_indices frames)
{
    const etlheap_frame *best = NULL;
    u32 best_rank = 0;
    for (u32 i = 0; i < frames.count; i++) {
        const etlheap_frame *const frame = &table->frames[frames.at[i]];
        const u32 rank = etlheap_source_rank(roots, frame);
        if (!best || rank > best_rank) {
            best = frame;
            best_rank = rank;
        }
    }
    return best;
}
