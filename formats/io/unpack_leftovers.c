/*
 * unpack_leftovers.c - removes temporary files and folders: those of this run, and those that
 * killed runs left.
 */
#include "unpack.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define PATH_BYTES           4096
#define LEFTOVER_AGE_SECONDS 60

/* Removes the files of a folder, and the folder. */
static void remove_folder(const char *folder)
{
    char path[PATH_BYTES + 512];
    etl_listing *const listing = etl_listing_open(folder);
    for (const char *name; listing && (name = etl_listing_next(listing)) != NULL;) {
        const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (size > 0 && (size_t)size < sizeof path && etl_path_kind_of(path) == ETL_PATH_FILE)
            (void)etl_file_remove(path);
    }
    if (listing)
        etl_listing_close(listing);
    (void)etl_folder_remove(folder);
}

/* The numbers begin at 1 and have no gaps. */
void unpack_remove_symbols(const char *folder)
{
    char path[PATH_BYTES + 16];
    for (u32 i = 1; i <= UNPACK_PDBS_MAX; i++) {
        snprintf(path, sizeof path, "%s/%" PRIu32, folder, i);
        if (etl_path_kind_of(path) != ETL_PATH_FOLDER)
            break;
        remove_folder(path);
    }
    remove_folder(folder);
}

static void remove_leftover_symbols(const char *folder, u32 age_seconds)
{
    char lock[PATH_BYTES];
    const int size = snprintf(lock, sizeof lock, "%s/lock", folder);
    if (size > 0 && (size_t)size < sizeof lock && etl_file_remove_abandoned(lock, age_seconds))
        unpack_remove_symbols(folder);
}

/* Is it a name of unpack_begin_file, "etlheap-" and six letters or digits, or one of a folder of
 * symbols? */
static bool is_our_name(const char *name, const char *start)
{
    const size_t size = strlen(start);
    bool ours = strncmp(name, start, size) == 0 && strlen(name) == size + 6;
    for (const char *at = name + size; ours && *at != '\0'; at++)
        ours = isalnum((unsigned char)*at) != 0;
    return ours;
}

/* A file that was just made may not be locked yet, so new files are left alone. */
void unpack_remove_leftovers(const char *folder)
{
    char path[PATH_BYTES];
    etl_listing *const listing = etl_listing_open(folder);
    if (!listing)
        return;
    for (const char *name; (name = etl_listing_next(listing)) != NULL;) {
        const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (size <= 0 || (size_t)size >= sizeof path)
            continue;
        if (is_our_name(name, "etlheap-"))
            (void)etl_file_remove_abandoned(path, LEFTOVER_AGE_SECONDS);
        else if (is_our_name(name, "etlheap-symbols-"))
            remove_leftover_symbols(path, LEFTOVER_AGE_SECONDS);
    }
    etl_listing_close(listing);
}
