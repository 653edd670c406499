/*
 * symbol_temporary.c - a store for files that no cache keeps.
 */
#include "symbol_temporary.h"

#include "parser/system/files.h"

static void remove_store(const char *folder);
static void remove_keys(const char *folder);
static void remove_files(const char *folder);

symbol_store *symbol_temporary_store(symbol_temporary *temporary, const char *parent)
{
    if (!temporary->is_made) {
        if (!symbol_join(temporary->folder, parent, "etlheap-symbols-XXXXXX") ||
            !etl_folder_make_temporary(temporary->folder))
            return NULL;
        temporary->is_made = true;
        temporary->store = (symbol_store){ .folder = temporary->folder };
    }
    return &temporary->store;
}

void symbol_temporary_free(symbol_temporary *temporary)
{
    symbol_store_free(&temporary->store);
    if (temporary->is_made)
        remove_store(temporary->folder);
    temporary->is_made = false;
}

/* A store is three levels deep, NAME/KEY/file, so three functions walk it. */
static void remove_store(const char *folder)
{
    symbol_listing names = { 0 };
    char path[SYMBOL_FILE_SIZE];
    symbol_listing_read(&names, folder);
    for (size_t i = 0; i < names.names.count; i++)
        if (symbol_join(path, folder, names.names.at[i]))
            remove_keys(path);
    symbol_listing_free(&names);
    (void)etl_folder_remove(folder);
}

static void remove_keys(const char *folder)
{
    symbol_listing keys = { 0 };
    char path[SYMBOL_FILE_SIZE];
    symbol_listing_read(&keys, folder);
    for (size_t i = 0; i < keys.names.count; i++)
        if (symbol_join(path, folder, keys.names.at[i]))
            remove_files(path);
    symbol_listing_free(&keys);
    (void)etl_folder_remove(folder);
}

static void remove_files(const char *folder)
{
    symbol_listing files = { 0 };
    char path[SYMBOL_FILE_SIZE];
    symbol_listing_read(&files, folder);
    for (size_t i = 0; i < files.names.count; i++)
        if (symbol_join(path, folder, files.names.at[i]))
            (void)etl_file_remove(path);
    symbol_listing_free(&files);
    (void)etl_folder_remove(folder);
}
