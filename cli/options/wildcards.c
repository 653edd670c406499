/*
 * wildcards.c - expands inputs such as *.etl, if no shell has done it.
 *
 * In: a word of the command line. Out: the matching files of its folder, by name. Invariant: a word
 * without a match stays as it is, so that opening it reports it as missing.
 */
#include "wildcards.h"

#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/name_fold.h"

static etl_status add_matches(cli_words *words, const char *word, size_t folder_size,
                              etl_error *err);
static bool add_name(cli_words *words, const char *word, size_t folder_size, const char *name);
static int compare_words(const void *a, const void *b);

etl_status cli_wildcards_add(cli_words *words, const char *word, etl_error *err)
{
    size_t folder_size = etl_path_root_size(word);
    for (size_t i = folder_size; word[i] != '\0'; i++) {
        if (etl_path_is_separator(word[i]))
            folder_size = i + 1;
    }
    const u32 before = words->count;
    etl_status status = ETL_OK;
    if (strpbrk(word + folder_size, "*?"))
        status = add_matches(words, word, folder_size, err);
    return status == ETL_OK && words->count == before ? cli_words_add(words, word, err) : status;
}

/* A folder that cannot be read has no names: opening the word says what is wrong. */
static etl_status add_matches(cli_words *words, const char *word, size_t folder_size,
                              etl_error *err)
{
    char *const folder = malloc(folder_size + 2);
    if (!folder)
        return etl_no_memory(err);
    memcpy(folder, word, folder_size);
    folder[folder_size] = '.';
    folder[folder_size + 1] = '\0';
    const u32 before = words->count;
    bool is_done = true;
    etl_listing *const listing = etl_listing_open(folder);
    for (const char *name; listing && is_done && (name = etl_listing_next(listing)) != NULL;) {
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
            etl_name_glob(word + folder_size, name))
            is_done = add_name(words, word, folder_size, name);
    }
    if (listing)
        etl_listing_close(listing);
    free(folder);
    if (words->count > before)
        qsort(words->at + before, words->count - before, sizeof *words->at, compare_words);
    return is_done ? ETL_OK : etl_no_memory(err);
}

static bool add_name(cli_words *words, const char *word, size_t folder_size, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *const path = malloc(folder_size + size);
    if (!path)
        return false;
    memcpy(path, word, folder_size);
    memcpy(path + folder_size, name, size);
    return cli_words_add(words, path, NULL) == ETL_OK;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
