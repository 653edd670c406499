/*
 * symbol_store.c - lists the candidates for a file in one folder that may hold symbol files.
 *
 * In: a folder, a name and a key. Out: one candidate after the other: first in the folder itself,
 * then in the store of the more likely tier, then in that of the other tier, each as NAME, as NAM_
 * (a cabinet) and as file.ptr. The folder itself has no file.ptr, which would speak for every file
 * in it.
 *
 * Candidates are numbered, so that a caller who refuses one asks for the next. Invariant: the case
 * of names does not matter, so each step down a folder looks the name up in a listing.
 */
#include "parser/system/files.h"
#include "symbol_cab.h"
#include "symbol_store.h"

enum { FORM_FILE, FORM_CABINET, FORM_POINTER, FORM_COUNT };
enum { PLACE_FLAT, PLACE_LIKELY_TIER, PLACE_OTHER_TIER, PLACE_COUNT };

/* Steps from here on are files below. Those before are places, and behind these entries of stores
 * below, in each form: a name has one in each folder. */
#define BELOW_FILES ((PLACE_COUNT + SYMBOL_BELOW_FOLDERS_MAX) * FORM_COUNT)

static bool find_candidate(const char *folder, symbol_listing *listing, const char *name, u32 form,
                           symbol_candidate *out);
static bool find_folder(symbol_store *store, const symbol_store_search *search, u32 place,
                        char out[SYMBOL_FILE_SIZE]);
static bool find_name_folder(symbol_store *store, const char *name, bool two_tier,
                             char out[SYMBOL_FILE_SIZE]);
static bool tier_name(const char *name, char out[3]);
static bool next_key_in(const char *folder, char after[SYMBOL_FILE_SIZE]);
static etl_bytes without_space(etl_bytes text);
static bool skip_word(etl_bytes *text, const char *word);

void symbol_store_free(symbol_store *store)
{
    symbol_listing_free(&store->listing);
    symbol_below_free(&store->below);
}

bool symbol_store_exists(symbol_store *store)
{
    if (store->is_examined && !store->is_missing)
        return true;
    char marker[SYMBOL_FILE_SIZE];
    store->is_examined = true;
    store->is_missing =
        !symbol_is_folder(store->folder) || !etl_folder_is_usable(store->folder, false);
    store->is_two_tier = !store->is_missing && symbol_join(marker, store->folder, "index2.txt") &&
                         symbol_is_file(marker);
    return !store->is_missing;
}

/* Searches the stores below: the folder of the key in each entry of the name. */
static bool find_in_entries(symbol_store *store, symbol_store_search *search, symbol_candidate *out)
{
    char entry[SYMBOL_FILE_SIZE];
    char folder[SYMBOL_FILE_SIZE];
    while (search->step < BELOW_FILES) {
        const u32 place = search->step / FORM_COUNT;
        if (!symbol_below_entry(&store->below, search->name, place - PLACE_COUNT, entry)) {
            search->step = BELOW_FILES;
            return false;
        }
        if (!symbol_find_name(entry, search->key, NULL, folder)) {
            search->step = (place + 1) * FORM_COUNT;
            continue;
        }
        if (find_candidate(folder, NULL, search->name, search->step++ % FORM_COUNT, out))
            return true;
    }
    return false;
}

/* Searches the folders below: first all files of the name, then all cabinets. */
static bool find_below(symbol_store *store, symbol_store_search *search, symbol_candidate *out)
{
    char compressed[SYMBOL_FILE_SIZE];
    for (;;) {
        const u32 index = search->step - BELOW_FILES;
        u32 files = 0;
        while (files < index && symbol_below_at(&store->below, search->name, files, out->file))
            files++;
        out->kind = SYMBOL_CANDIDATE_FILE;
        search->step++;
        if (!symbol_below_at(&store->below, search->name, index, out->file)) {
            out->kind = SYMBOL_CANDIDATE_CABINET;
            if (!symbol_cab_name(compressed, sizeof compressed, search->name) ||
                !symbol_below_at(&store->below, compressed, index - files, out->file))
                return false;
        }
        if (symbol_is_file(out->file))
            return true;
    }
}

bool symbol_store_next(symbol_store *store, symbol_store_search *search, symbol_candidate *out)
{
    if (!symbol_store_exists(store))
        return false;
    while (search->step < PLACE_COUNT * FORM_COUNT) {
        const u32 place = search->step / FORM_COUNT;
        char folder[SYMBOL_FILE_SIZE];
        if (!find_folder(store, search, place, folder)) {
            search->step = (place + 1) * FORM_COUNT;
            continue;
        }
        const u32 form = search->step++ % FORM_COUNT;
        if (place == PLACE_FLAT && form == FORM_POINTER)
            continue; /* it would speak for every file of the folder */
        symbol_listing *const listing = place == PLACE_FLAT ? &store->listing : NULL;
        if (find_candidate(folder, listing, search->name, form, out))
            return true;
    }
    if (store->is_two_tier || !search->has_below)
        return false;
    symbol_below_read(&store->below, store->folder);
    return find_in_entries(store, search, out) ||
           (search->is_flat && find_below(store, search, out));
}

static bool find_candidate(const char *folder, symbol_listing *listing, const char *name, u32 form,
                           symbol_candidate *out)
{
    char compressed[SYMBOL_FILE_SIZE];
    out->kind = SYMBOL_CANDIDATE_FILE;
    if (form == FORM_POINTER) {
        out->kind = SYMBOL_CANDIDATE_POINTER;
        name = "file.ptr";
    }
    if (form == FORM_CABINET) {
        out->kind = SYMBOL_CANDIDATE_CABINET;
        if (!symbol_cab_name(compressed, sizeof compressed, name))
            return false;
        name = compressed;
    }
    return symbol_find_name(folder, name, listing, out->file) && symbol_is_file(out->file);
}

/* The folder that would hold the file itself. */
static bool find_folder(symbol_store *store, const symbol_store_search *search, u32 place,
                        char out[SYMBOL_FILE_SIZE])
{
    if (place == PLACE_FLAT)
        return search->is_flat && symbol_join(out, "", store->folder);
    char above[SYMBOL_FILE_SIZE];
    const bool two_tier = (place == PLACE_LIKELY_TIER) == store->is_two_tier;
    return find_name_folder(store, search->name, two_tier, above) &&
           symbol_find_name(above, search->key, NULL, out);
}

/* The folder with the keys of a file; in a two-tier store it is one level deeper. */
static bool find_name_folder(symbol_store *store, const char *name, bool two_tier,
                             char out[SYMBOL_FILE_SIZE])
{
    if (!two_tier)
        return symbol_find_name(store->folder, name, &store->listing, out) && symbol_is_folder(out);
    char tier[3];
    char above[SYMBOL_FILE_SIZE];
    return tier_name(name, tier) && symbol_find_name(store->folder, tier, &store->listing, above) &&
           symbol_find_name(above, name, NULL, out) && symbol_is_folder(out);
}

static bool tier_name(const char *name, char out[3])
{
    if (strlen(name) < 2)
        return false;
    memcpy(out, name, 2);
    out[2] = 0;
    return true;
}

bool symbol_store_next_key(symbol_store *store, const char *name, bool has_below,
                           char after[SYMBOL_FILE_SIZE])
{
    char folder[SYMBOL_FILE_SIZE], next[SYMBOL_FILE_SIZE], best[SYMBOL_FILE_SIZE] = "";
    if (!symbol_store_exists(store))
        return false;
    bool is_found = (find_name_folder(store, name, store->is_two_tier, folder) ||
                     find_name_folder(store, name, !store->is_two_tier, folder)) &&
                    symbol_join(best, "", after) && next_key_in(folder, best);
    if (has_below && !store->is_two_tier)
        symbol_below_read(&store->below, store->folder);
    for (u32 i = 0; has_below && symbol_below_entry(&store->below, name, i, folder); i++) {
        if (!symbol_join(next, "", after) || !next_key_in(folder, next))
            continue;
        if (!is_found || strcmp(next, best) < 0)
            memcpy(best, next, sizeof best);
        is_found = true;
    }
    return is_found && symbol_join(after, "", best);
}

static bool next_key_in(const char *folder, char after[SYMBOL_FILE_SIZE])
{
    symbol_listing listing = { 0 };
    symbol_listing_read(&listing, folder);
    const char *next = NULL;
    for (size_t i = 0; i < listing.names.count; i++) {
        const char *const key = listing.names.at[i];
        if (strcmp(key, after) > 0 && (!next || strcmp(key, next) < 0))
            next = key;
    }
    const bool is_found = next && symbol_join(after, "", next);
    symbol_listing_free(&listing);
    return is_found;
}

bool symbol_store_path(symbol_store *store, const char *name, const char *key,
                       char out[SYMBOL_FILE_SIZE])
{
    char folder[SYMBOL_FILE_SIZE];
    char tier[3];
    if (!symbol_join(folder, "", store->folder))
        return false;
    if (symbol_store_exists(store) && store->is_two_tier && tier_name(name, tier)) {
        if (!symbol_join(out, folder, tier))
            return false;
        memcpy(folder, out, strlen(out) + 1);
    }
    char named[SYMBOL_FILE_SIZE];
    return symbol_join(named, folder, name) && symbol_join(folder, named, key) &&
           symbol_join(out, folder, name);
}

symbol_pointer_kind symbol_pointer_parse(etl_bytes text, char out[SYMBOL_FILE_SIZE])
{
    text = without_space(text);
    if (skip_word(&text, "MSG:"))
        return SYMBOL_POINTER_WITHHELD;
    (void)skip_word(&text, "PATH:");
    text = without_space(text);
    if (text.size == 0 || text.size >= SYMBOL_FILE_SIZE || memchr(text.at, 0, text.size) ||
        memchr(text.at, '\n', text.size))
        return SYMBOL_POINTER_UNKNOWN;
    for (size_t i = 0; i < text.size; i++)
        out[i] = text.at[i] == '\\' ? '/' : (char)text.at[i];
    out[text.size] = 0;
    return SYMBOL_POINTER_PLACE;
}

bool symbol_pointer_resolve(const char *folder, const char *place, char out[SYMBOL_FILE_SIZE])
{
    const bool is_absolute = etl_path_root_size(place) > 0;
    if (is_absolute ? symbol_join(out, "", place) : symbol_join(out, folder, place))
        if (symbol_is_file(out))
            return true;
    return symbol_find_path(is_absolute ? "/" : folder, place, out) && symbol_is_file(out);
}

static etl_bytes without_space(etl_bytes text)
{
    while (text.size > 0 && strchr(" \t\r\n", text.at[0]) && text.at[0] != 0) {
        text.at++;
        text.size--;
    }
    while (text.size > 0 && strchr(" \t\r\n", text.at[text.size - 1]))
        text.size--;
    return text;
}

/* Takes `word` from the start of the text, regardless of case; false if the text starts
 * differently. */
static bool skip_word(etl_bytes *text, const char *word)
{
    char front[8];
    const size_t size = strlen(word);
    if (text->size < size || size >= sizeof front)
        return false;
    memcpy(front, text->at, size);
    front[size] = 0;
    if (!symbol_same_word(front, word))
        return false;
    *text = (etl_bytes){ text->at + size, text->size - size };
    return true;
}
