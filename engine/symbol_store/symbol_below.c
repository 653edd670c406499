/*
 * symbol_below.c - lists the files in all folders below one, once, and finds them by name.
 *
 * In: a folder of a symbol path that is not a store. Out: files of a name, or folders of stores for
 * it, near ones first, then in byte order. Invariant: the order does not depend on the file
 * system's.
 */
#include "symbol_below.h"

#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/name_fold.h"

static bool read_folder(symbol_below *below, const char *folder, u32 index);
static bool add_folder(symbol_below *below, const char *path);
static bool may_hold_files(const char *name);
static const char *keep(symbol_below *below, const char *text);
static int compare_files(const void *left, const void *right);

/* Of a folder's files when they are read: those of the top are found elsewhere. */
#define TOP UINT32_MAX

void symbol_below_free(symbol_below *below)
{
    ETLHEAP_VECTOR_FREE(&below->folders);
    ETLHEAP_VECTOR_FREE(&below->files);
    ETLHEAP_VECTOR_FREE(&below->entries);
    etlheap_arena_free(&below->texts);
    below->is_read = false;
}

/* Breadth first: the list of folders is what is still to be read. */
void symbol_below_read(symbol_below *below, const char *folder)
{
    if (below->is_read)
        return;
    below->is_read = true;
    bool good = read_folder(below, folder, TOP);
    for (u32 i = 0; good && i < below->folders.count; i++)
        good = read_folder(below, below->folders.at[i], i);
    if (below->files.count > 0)
        qsort(below->files.at, below->files.count, sizeof *below->files.at, compare_files);
    if (below->entries.count > 0)
        qsort(below->entries.at, below->entries.count, sizeof *below->entries.at, compare_files);
}

/* The path of the sorted one after `index` others of the name. Names are compared ignoring case. */
static bool path_of(const symbol_below *below, const symbol_below_file *sorted, size_t count,
                    const char *name, u32 index, char out[SYMBOL_FILE_SIZE])
{
    size_t first;
    ETL_BISECT(first, 0, count, etl_name_compare(sorted[first].name, name) < 0);
    if (index >= count - first || etl_name_compare(sorted[first + index].name, name) != 0)
        return false;
    const symbol_below_file *const file = &sorted[first + index];
    return symbol_join(out, below->folders.at[file->folder], file->name);
}

bool symbol_below_at(const symbol_below *below, const char *name, u32 index,
                     char out[SYMBOL_FILE_SIZE])
{
    return path_of(below, below->files.at, below->files.count, name, index, out);
}

bool symbol_below_entry(const symbol_below *below, const char *name, u32 index,
                        char out[SYMBOL_FILE_SIZE])
{
    return path_of(below, below->entries.at, below->entries.count, name, index, out);
}

/* False without memory. */
static bool read_folder(symbol_below *below, const char *folder, u32 index)
{
    symbol_listing listing = { 0 };
    char path[SYMBOL_FILE_SIZE];
    bool good = true;
    symbol_listing_read(&listing, folder);
    for (size_t i = 0; good && i < listing.names.count; i++) {
        const char *const name = listing.names.at[i];
        if (!symbol_join(path, folder, name))
            continue;
        if (may_hold_files(name) && symbol_is_folder(path)) {
            good = add_folder(below, path);
        } else if (index != TOP) {
            const char *const kept = keep(below, name);
            const symbol_below_file file = { kept, index };
            const bool is_entry = name[0] != '.' && !may_hold_files(name) && symbol_is_folder(path);
            good = kept && (is_entry ? ETLHEAP_PUSH(&below->entries, file)
                                     : ETLHEAP_PUSH(&below->files, file));
        }
    }
    symbol_listing_free(&listing);
    return good;
}

static bool add_folder(symbol_below *below, const char *path)
{
    if (below->folders.count >= SYMBOL_BELOW_FOLDERS_MAX)
        return true;
    const char *const kept = keep(below, path);
    return kept && ETLHEAP_PUSH(&below->folders, kept);
}

/* A folder with the name of a symbol file is an entry of a store, whose keys say what is in it.
 * Hidden ones belong to other programs. */
static bool may_hold_files(const char *name)
{
    static const char *const suffixes[] = { ".pdb", ".dll", ".exe", ".sys" };
    const char *const suffix = strrchr(name, '.');
    if (name[0] == '.')
        return false;
    for (size_t i = 0; suffix && i < ETL_COUNT_OF(suffixes); i++) {
        if (symbol_same_word(suffix, suffixes[i]))
            return false;
    }
    return true;
}

static const char *keep(symbol_below *below, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = etlheap_arena_alloc(&below->texts, size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static int compare_files(const void *left, const void *right)
{
    const symbol_below_file *const a = left;
    const symbol_below_file *const b = right;
    const int order = etl_name_compare(a->name, b->name);
    if (order != 0)
        return order;
    return a->folder != b->folder ? (a->folder > b->folder) - (a->folder < b->folder)
                                  : strcmp(a->name, b->name);
}
