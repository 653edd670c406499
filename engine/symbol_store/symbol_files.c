/*
 * symbol_files.c - names and folders for the symbol search.
 */
#include <errno.h>
#include <stdio.h>

#include "parser/system/files.h"
#include "symbol_files.h"

static char fold_letter(char letter, bool upper);

bool symbol_join(char out[SYMBOL_FILE_SIZE], const char *folder, const char *name)
{
    const size_t folder_size = strlen(folder);
    const char *const slash =
        folder_size == 0 || etl_path_is_separator(folder[folder_size - 1]) ? "" : "/";
    const int size = snprintf(out, SYMBOL_FILE_SIZE, "%s%s%s", folder, slash, name);
    return size >= 0 && size < SYMBOL_FILE_SIZE;
}

const char *symbol_base_name(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\')
            base = path + 1;
    return base;
}

void symbol_fold(char *out, const char *text, bool upper)
{
    for (; *text; text++)
        *out++ = fold_letter(*text, upper);
    *out = 0;
}

static char fold_letter(char letter, bool upper)
{
    const char from = upper ? 'a' : 'A';
    const char to = upper ? 'A' : 'a';
    const bool changes = letter >= from && letter < from + 26;
    return changes ? (char)(letter - from + to) : letter;
}

bool symbol_same_word(const char *a, const char *b)
{
    while (*a && fold_letter(*a, false) == fold_letter(*b, false)) {
        a++;
        b++;
    }
    return fold_letter(*a, false) == fold_letter(*b, false);
}

bool symbol_is_file(const char *path)
{
    return etl_path_kind_of(path) == ETL_PATH_FILE;
}

bool symbol_is_folder(const char *path)
{
    return etl_path_kind_of(path) == ETL_PATH_FOLDER;
}

bool symbol_make_folders(const char *path)
{
    char part[SYMBOL_FILE_SIZE];
    const size_t size = strlen(path);
    if (size >= sizeof part)
        return false;
    /* Ends after each component in turn; making what exists fails, harmlessly. */
    for (size_t i = etl_path_root_size(path) + 1; i <= size; i++) {
        if (i < size && !etl_path_is_separator(path[i]))
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (!etl_folder_make(part) && errno != EEXIST && !symbol_is_folder(part))
            return false;
    }
    return symbol_is_folder(path);
}
