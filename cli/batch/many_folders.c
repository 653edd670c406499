/*
 * many_folders.c - lists the traces in a folder, and removes temporary files that killed runs left.
 *
 * In: a folder of the command line, or the folders of outputs. Out: items added to the list, in
 * order of name; leftover files removed.
 *
 * Folders still to be opened wait in a list (`walk`), so a deep tree costs no stack. Invariants:
 * links to folders are not followed, because they may lead back. A file is removed only if its name
 * is one that a sink gives to an unfinished output of this batch (is_leftover).
 */
#include "many_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "parser/system/files.h"

/* Folders still to be opened, by name below the folder that was given. */
typedef struct walk {
    const char *root;
    char **names;
    u32 count, capacity;
} walk;

static bool push_folder(walk *w, char *name)
{
    if (w->count == w->capacity) {
        const u32 capacity = w->capacity < 16 ? 16 : w->capacity * 2;
        char **const names = realloc(w->names, capacity * sizeof *names);
        if (!names)
            return false;
        w->names = names;
        w->capacity = capacity;
    }
    w->names[w->count++] = name;
    return true;
}

/* Takes an entry of a folder if it is a trace, or a folder to be opened later. */
static etl_status add_entry(many_list *list, walk *w, const char *folder, const char *name,
                            etl_error *err)
{
    char *below = folder[0] == '\0' ? strdup(name) : cli_many_path(folder, name);
    char *const path = below ? cli_many_path(w->root, below) : NULL;
    const bool is_trace = cli_is_trace_name(name);
    const etl_path_kind kind = path ? etl_path_kind_of(path) : ETL_PATH_ABSENT;
    etl_status status = path ? ETL_OK : ETL_ERR_MEMORY;
    if (kind == ETL_PATH_FOLDER && !cli_is_link(path)) {
        if (push_folder(w, below))
            below = NULL;
        else
            status = ETL_ERR_MEMORY;
    } else if (path && is_trace && kind != ETL_PATH_FOLDER) {
        status = cli_many_add(list, path, below) ? ETL_OK : ETL_ERR_MEMORY;
    } else if (path && kind == ETL_PATH_ABSENT && errno != ENOENT) {
        /* A folder that cannot be examined may hold traces, so that is an error; a broken link is
         * not. */
        status = etl_fail_with(err, ETL_ERR_IO, 0, "%.120s cannot be examined: %s", below,
                               strerror(errno));
    }
    free(below);
    free(path);
    return status == ETL_ERR_MEMORY ? etl_fail_with(err, status, 0, "out of memory") : status;
}

static etl_status list_entries(many_list *list, walk *w, const char *name, etl_error *err)
{
    char *const path = name[0] == '\0' ? strdup(w->root) : cli_many_path(w->root, name);
    if (!path)
        return etl_no_memory(err);
    etl_listing *const listing = etl_listing_open(path);
    etl_status status = ETL_OK;
    if (!listing)
        status = etl_fail_with(err, ETL_ERR_IO, 0, "the folder %.120s cannot be read: %s", path,
                               strerror(errno));
    while (status == ETL_OK) {
        errno = 0;
        const char *const entry = etl_listing_next(listing);
        if (!entry && errno != 0)
            status = etl_fail_with(err, ETL_ERR_IO, 0, "the folder %.120s cannot be read: %s", path,
                                   strerror(errno));
        if (!entry)
            break;
        /* Hidden names are skipped, among them "." and "..". */
        if (entry[0] != '.')
            status = add_entry(list, w, name, entry, err);
    }
    if (listing)
        etl_listing_close(listing);
    free(path);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const many_item *)a)->file, ((const many_item *)b)->file);
}

int cli_many_add_folder(many_list *list, const char *path)
{
    walk w = { .root = path };
    const u32 first = list->count;
    etl_error err = { .status = ETL_OK };
    etl_status status = list_entries(list, &w, "", &err);
    while (w.count > 0) {
        char *const name = w.names[--w.count];
        if (status == ETL_OK)
            status = list_entries(list, &w, name, &err);
        free(name);
    }
    free(w.names);
    if (status == ETL_OK && list->count == first)
        status = etl_fail_with(&err, ETL_ERR_IO, 0, "the folder has no .etl files, packed or not");
    if (status != ETL_OK)
        cli_complain_error(path, &err);
    else
        qsort(list->items + first, list->count - first, sizeof *list->items, by_name);
    return cli_exit_of(status);
}

/* --- what killed runs left ---------------------------------------------------------- */

/* Is it a name such as "app.ehs.1234-0.tmp", which a sink gives to an output until it is
 * complete? */
static bool is_leftover(const many_list *list, const char *below)
{
    const char *at = strrchr(below, '-');
    unsigned long long process;
    int end = 0;
    if (!at || sscanf(at, "-%*u.tmp%n", &end) != 0 || end == 0 || at[end] != '\0')
        return false;
    while (at > below && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at <= below + 1 || at[-1] != '.' || sscanf(at, "%llu", &process) != 1 ||
        cli_is_running(process))
        return false;
    char *const output = strdup(below);
    if (output)
        output[at - 1 - below] = '\0';
    char *const quoted = output ? cli_many_quote(output) : NULL;
    const bool ours =
        quoted && cli_many_by_output(list, (etl_bytes){ (const u8 *)quoted, strlen(quoted) });
    free(output);
    free(quoted);
    return ours;
}

static void clean_folder(const many_list *list, const char *folder)
{
    char *const path = cli_many_path(list->folder, folder);
    etl_listing *const listing = path ? etl_listing_open(path) : NULL;
    for (const char *name; listing && (name = etl_listing_next(listing)) != NULL;) {
        char *const below = folder[0] == '\0' ? strdup(name) : cli_many_path(folder, name);
        char *const file = below ? cli_many_path(list->folder, below) : NULL;
        if (file && is_leftover(list, below))
            (void)etl_file_remove_abandoned(file, 0);
        free(below);
        free(file);
    }
    if (listing)
        etl_listing_close(listing);
    free(path);
}

/* The folder that an output lies in, "" for the batch's own. NULL without memory. */
static char *parent_of(const char *output)
{
    char *const folder = strdup(output);
    char *const slash = folder ? strrchr(folder, '/') : NULL;
    if (folder)
        *(slash ? slash : folder) = '\0';
    return folder;
}

/* Cleans each folder once, as long as its outputs are neighbours in the list. */
void cli_many_remove_leftovers(const many_list *list)
{
    char *last = NULL;
    for (u32 i = 0; i < list->count; i++) {
        char *const folder = parent_of(list->items[i].output);
        if (folder && (!last || strcmp(folder, last) != 0))
            clean_folder(list, folder);
        free(last);
        last = folder;
    }
    free(last);
}
