/*
 * symbol_names.c - finds names regardless of case in a file system that minds it.
 */
#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/name_fold.h"
#include "symbol_names.h"

static bool find_folded(const char *folder, const char *name, bool upper,
                        char out[SYMBOL_FILE_SIZE]);
static const char *find_listed(const symbol_listing *listing, const char *name);
static bool keep(symbol_listing *listing, const char *name);
static int compare_names(const void *left, const void *right);
static bool is_there(const char *path);

void symbol_listing_free(symbol_listing *listing)
{
    ETLHEAP_VECTOR_FREE(&listing->names);
    etlheap_arena_free(&listing->texts);
    listing->is_read = false;
}

void symbol_listing_read(symbol_listing *listing, const char *folder)
{
    if (listing->is_read)
        return;
    listing->is_read = true;
    etl_listing *const names = etl_listing_open(folder);
    if (!names)
        return;
    for (;;) {
        const char *const name = etl_listing_next(names);
        if (!name || !keep(listing, name))
            break;
    }
    etl_listing_close(names);
    if (listing->names.count > 0)
        qsort(listing->names.at, listing->names.count, sizeof *listing->names.at, compare_names);
}

static bool keep(symbol_listing *listing, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    const size_t size = strlen(name) + 1;
    char *const copy = etlheap_arena_alloc(&listing->texts, size);
    if (!copy)
        return false;
    memcpy(copy, name, size);
    return ETLHEAP_PUSH(&listing->names, copy);
}

bool symbol_find_name(const char *folder, const char *name, symbol_listing *listing,
                      char out[SYMBOL_FILE_SIZE])
{
    if (symbol_join(out, folder, name) && is_there(out))
        return true;
    if (find_folded(folder, name, false, out) || find_folded(folder, name, true, out))
        return true;
    symbol_listing own = { 0 };
    symbol_listing *const used = listing ? listing : &own;
    symbol_listing_read(used, folder);
    const char *const found = find_listed(used, name);
    const bool is_found = found && symbol_join(out, folder, found);
    symbol_listing_free(&own);
    return is_found;
}

static bool find_folded(const char *folder, const char *name, bool upper,
                        char out[SYMBOL_FILE_SIZE])
{
    char folded[SYMBOL_FILE_SIZE];
    if (strlen(name) >= sizeof folded)
        return false;
    symbol_fold(folded, name, upper);
    return symbol_join(out, folder, folded) && is_there(out);
}

bool symbol_find_path(const char *folder, const char *path, char out[SYMBOL_FILE_SIZE])
{
    char at[SYMBOL_FILE_SIZE];
    char part[SYMBOL_FILE_SIZE];
    if (strlen(path) >= sizeof part || !symbol_join(at, "", folder))
        return false;
    while (*path) {
        const size_t size = strcspn(path, "/");
        memcpy(part, path, size);
        part[size] = 0;
        path += size;
        path += strspn(path, "/");
        if (size == 0 || strcmp(part, ".") == 0)
            continue;
        const bool is_up = strcmp(part, "..") == 0;
        if (is_up ? !symbol_join(out, at, part) : !symbol_find_name(at, part, NULL, out))
            return false;
        memcpy(at, out, strlen(out) + 1);
    }
    memcpy(out, at, strlen(at) + 1);
    return true;
}

/* The first of the names that are equal regardless of case, or NULL. */
static const char *find_listed(const symbol_listing *listing, const char *name)
{
    size_t at;
    ETL_BISECT(at, 0, listing->names.count, etl_name_compare(listing->names.at[at], name) < 0);
    if (at == listing->names.count || etl_name_compare(listing->names.at[at], name) != 0)
        return NULL;
    return listing->names.at[at];
}

/* Regardless of case, then by it. */
static int compare_names(const void *left, const void *right)
{
    const char *const a = *(const char *const *)left;
    const char *const b = *(const char *const *)right;
    const int order = etl_name_compare(a, b);
    return order != 0 ? order : strcmp(a, b);
}

/* Of whatever kind; broken links are not. */
static bool is_there(const char *path)
{
    return etl_path_kind_of(path) != ETL_PATH_ABSENT;
}
