/*
 * symbol_search.c - takes one wanted file from a candidate to a file that can be opened.
 *
 * In: a candidate (file, cabinet or pointer file) of a store or a download. Out: an accepted file
 * in the search, copies in the caches, or the reason of the refusal.
 *
 *     file      ──check──▶ accepted ──▶ copied to the caches, leftmost copy opened
 *     cabinet   ──expand──▶ file
 *     file.ptr  ──▶ the place it names ──▶ file
 *
 * Which places are searched in which order is decided in symbol_path.c. Invariant: a file enters a
 * cache, by a copy or a download, only after the check accepted it; a file of another build would
 * pass for the right one there.
 */
#include <stdio.h>

#include "parser/system/files.h"
#include "symbol_cab.h"
#include "symbol_content.h"
#include "symbol_search.h"

#define POINTER_BYTES_MAX 4096

static bool take_pointer_file(symbol_context *context, symbol_search *search, const char *file,
                              const symbol_caches *caches);
static bool take_any(symbol_context *context, symbol_search *search, const char *file,
                     const symbol_caches *caches);
static symbol_verdict check(symbol_context *context, const symbol_search *search, const char *file);
static bool accept(symbol_context *context, symbol_search *search, const char *file,
                   const symbol_caches *caches);
static void refuse(symbol_context *context, symbol_search *search, const char *file,
                   symbol_verdict verdict);
static bool keep_copy(symbol_context *context, symbol_store *store, const char *from,
                      const char *name, const char *key, char out[SYMBOL_FILE_SIZE]);
static bool open_expanded(symbol_context *context, const symbol_search *search, symbol_store *store,
                          symbol_partial *out);
static bool expand(symbol_context *context, symbol_search *search, const char *cabinet,
                   symbol_partial *out);
static void keep_cabinet(symbol_context *context, const symbol_search *search, const char *cabinet,
                         const symbol_caches *caches);
static bool take_loose(symbol_context *context, symbol_search *search, const char *file,
                       bool is_cabinet);
static bool same_guid(const char *key, const char *other);
static const char *copy_text(symbol_context *context, const char *text);

bool symbol_search_begin(symbol_search *search, const symbol_key *key)
{
    *search = (symbol_search){ .key = *key };
    symbol_key_format(key, search->key_text);
    const char *const name = symbol_base_name(key->name);
    const size_t size = strlen(name);
    if (size == 0 || size >= sizeof search->name - sizeof ".4294967295.new")
        return false;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t i = 0; i < size; i++)
        if ((u8)name[i] < ' ')
            return false;
    memcpy(search->name, name, size + 1);
    search->key.name = search->name;
    return true;
}

bool symbol_search_store(symbol_context *context, symbol_search *search, symbol_store *store,
                         bool is_flat, const symbol_caches *caches)
{
    symbol_store_search steps = {
        .name = search->name, .key = search->key_text, .is_flat = is_flat, .has_below = is_flat
    };
    symbol_candidate candidate;
    bool is_found = false;
    while (!is_found && symbol_store_next(store, &steps, &candidate)) {
        switch (candidate.kind) {
        case SYMBOL_CANDIDATE_FILE:
            is_found = symbol_search_file(context, search, candidate.file, caches);
            break;
        case SYMBOL_CANDIDATE_CABINET:
            is_found = symbol_search_cabinet(context, search, candidate.file, caches);
            break;
        case SYMBOL_CANDIDATE_POINTER:
            is_found = take_pointer_file(context, search, candidate.file, caches);
            break;
        }
    }
    return is_found;
}

bool symbol_search_file(symbol_context *context, symbol_search *search, const char *file,
                        const symbol_caches *caches)
{
    const symbol_verdict verdict = check(context, search, file);
    if (verdict == SYMBOL_VERDICT_MATCH)
        return accept(context, search, file, caches);
    refuse(context, search, file, verdict);
    return false;
}

static symbol_verdict check(symbol_context *context, const symbol_search *search, const char *file)
{
    const symbol_path_options *const options = context->options;
    if (!options->check)
        return SYMBOL_VERDICT_MATCH;
    return options->check(options->check_user, file, &search->key);
}

/* Copies the file to all caches, from the one next to the source to the leftmost, whose copy is
 * opened. */
static bool accept(symbol_context *context, symbol_search *search, const char *file,
                   const symbol_caches *caches)
{
    char copy[SYMBOL_FILE_SIZE];
    const char *opened = file;
    for (u32 i = caches->count; i > 0; i--)
        if (keep_copy(context, caches->at[i - 1], file, search->name, search->key_text, copy) &&
            i == 1)
            opened = copy;
    search->found = copy_text(context, opened);
    return search->found != NULL;
}

static void note_refusal(symbol_context *context, symbol_search *search, symbol_verdict verdict)
{
    const bool is_mismatch = verdict == SYMBOL_VERDICT_MISMATCH;
    if (is_mismatch)
        search->mismatch_count++;
    else
        etl_diag_add(context->diag, ETL_DIAG_symbol_file_unusable, 1);
    search->is_unusable |= !is_mismatch;
}

bool symbol_search_accepts(symbol_context *context, symbol_search *search, const char *file)
{
    const symbol_verdict verdict = check(context, search, file);
    if (verdict != SYMBOL_VERDICT_MATCH)
        note_refusal(context, search, verdict);
    return verdict == SYMBOL_VERDICT_MATCH;
}

static void refuse(symbol_context *context, symbol_search *search, const char *file,
                   symbol_verdict verdict)
{
    const bool is_mismatch = verdict == SYMBOL_VERDICT_MISMATCH;
    /* A file of another build is better than a broken one, both to show and to use. */
    if (!search->refused || (is_mismatch && search->mismatch_count == 0)) {
        search->refused = copy_text(context, file);
        search->is_refused_cabinet = false;
    }
    note_refusal(context, search, verdict);
}

/* Copies a file into a cache; false, and counted, if the cache does not take it. */
static bool keep_copy(symbol_context *context, symbol_store *store, const char *from,
                      const char *name, const char *key, char out[SYMBOL_FILE_SIZE])
{
    bool is_kept = symbol_store_path(store, name, key, out);
    if (is_kept && etl_path_is_same(from, out))
        return true;
    is_kept = is_kept && symbol_copy_file(from, out);
    if (!is_kept)
        etl_diag_add(context->diag, ETL_DIAG_symbol_cache_unwritable, 1);
    return is_kept;
}

bool symbol_search_cabinet(symbol_context *context, symbol_search *search, const char *file,
                           const symbol_caches *caches)
{
    symbol_store *const store = caches->count ? caches->at[0] : symbol_keeping_store(context);
    symbol_partial expanded;
    if (!open_expanded(context, search, store, &expanded))
        return false;
    if (!expand(context, search, file, &expanded)) {
        symbol_partial_drop(&expanded);
        return false;
    }
    const symbol_verdict verdict = check(context, search, expanded.name);
    if (verdict != SYMBOL_VERDICT_MATCH) {
        symbol_partial_drop(&expanded);
        refuse(context, search, file, verdict);
        search->is_refused_cabinet = search->refused && strcmp(search->refused, file) == 0;
        return false;
    }
    if (!symbol_partial_commit(&expanded)) {
        etl_diag_add(context->diag, ETL_DIAG_symbol_cache_unwritable, 1);
        return false;
    }
    keep_cabinet(context, search, file, caches);
    search->found = copy_text(context, expanded.target);
    return search->found != NULL;
}

/* A place for the expanded file: in `store` (may be NULL), or else temporary. */
static bool open_expanded(symbol_context *context, const symbol_search *search, symbol_store *store,
                          symbol_partial *out)
{
    char target[SYMBOL_FILE_SIZE];
    if (store && symbol_store_path(store, search->name, search->key_text, target) &&
        symbol_partial_open(out, target))
        return true;
    etl_diag_add(context->diag, ETL_DIAG_symbol_cache_unwritable, 1);
    symbol_store *const temporary =
        symbol_temporary_store(context->temporary, context->options->temporary_folder);
    return temporary && temporary != store &&
           symbol_store_path(temporary, search->name, search->key_text, target) &&
           symbol_partial_open(out, target);
}

static bool expand(symbol_context *context, symbol_search *search, const char *cabinet,
                   symbol_partial *out)
{
    const etl_status status =
        symbol_cab_expand(cabinet, search->name, context->options->fetch.file_bytes_max, out, NULL);
    switch (status) {
    case ETL_OK:
        return true;
    case ETL_ERR_MEMORY:
        context->is_out_of_memory = true;
        return false;
    case ETL_ERR_LIMIT:
        etl_diag_add(context->diag, ETL_DIAG_symbol_too_large, 1);
        break;
    case ETL_ERR_IO:
        etl_diag_add(context->diag, ETL_DIAG_symbol_cache_unwritable, 1);
        break;
    default:
        etl_diag_add(context->diag, ETL_DIAG_symbol_cabinet_invalid, 1);
        break;
    }
    search->is_unusable = true;
    if (!search->refused)
        search->refused = copy_text(context, cabinet);
    return false;
}

/* Middle stores of a chain keep the file as it came. Source: "Advanced SymSrv
 * Use": only the leftmost store is guaranteed to hold it expanded. */
static void keep_cabinet(symbol_context *context, const symbol_search *search, const char *cabinet,
                         const symbol_caches *caches)
{
    char path[SYMBOL_FILE_SIZE];
    char name[SYMBOL_NAME_SIZE];
    if (!symbol_cab_name(name, sizeof name, search->name))
        return;
    for (u32 i = 1; i < caches->count; i++) {
        if (!symbol_store_path(caches->at[i], search->name, search->key_text, path))
            continue;
        path[strlen(path) - 1] = '_';
        if (!etl_path_is_same(cabinet, path) && !symbol_copy_file(cabinet, path))
            etl_diag_add(context->diag, ETL_DIAG_symbol_cache_unwritable, 1);
    }
}

static bool take_pointer_file(symbol_context *context, symbol_search *search, const char *file,
                              const symbol_caches *caches)
{
    u8 text[POINTER_BYTES_MAX];
    char folder[SYMBOL_FILE_SIZE];
    FILE *const stream = etl_file_stream(file);
    if (!stream)
        return false;
    const size_t size = fread(text, 1, sizeof text, stream);
    (void)fclose(stream);
    const size_t folder_size = (size_t)(symbol_base_name(file) - file);
    memcpy(folder, file, folder_size);
    folder[folder_size] = 0;
    return symbol_search_pointer(context, search, folder, (etl_bytes){ text, size }, caches);
}

/* A server names neither files of this computer nor hosts that nobody asked for: opening a share
 * would send the user's login to it. */
static bool may_follow(const symbol_context *context, const char *place)
{
    return etl_path_is_separator('\\') && symbol_elements_name_host(context->elements, place);
}

bool symbol_search_pointer(symbol_context *context, symbol_search *search, const char *folder,
                           etl_bytes text, const symbol_caches *caches)
{
    char place[SYMBOL_FILE_SIZE];
    char file[SYMBOL_FILE_SIZE];
    const symbol_pointer_kind kind = symbol_pointer_parse(text, place);
    if (kind == SYMBOL_POINTER_WITHHELD) {
        etl_diag_add(context->diag, ETL_DIAG_symbol_withheld, 1);
        search->is_withheld = true;
        return false;
    }
    const bool is_reachable =
        kind == SYMBOL_POINTER_PLACE && (folder[0] || may_follow(context, place));
    if (is_reachable && symbol_pointer_resolve(folder, place, file))
        return take_any(context, search, file, caches);
    etl_diag_add(context->diag, ETL_DIAG_symbol_pointer_unreachable, 1);
    search->is_unreachable = true;
    return false;
}

/* Takes a file whose name does not say whether it is compressed. */
static bool take_any(symbol_context *context, symbol_search *search, const char *file,
                     const symbol_caches *caches)
{
    if (symbol_content_of_file(file) == SYMBOL_CONTENT_CABINET)
        return symbol_search_cabinet(context, search, file, caches);
    return symbol_search_file(context, search, file, caches);
}

bool symbol_search_refused(symbol_context *context, symbol_search *search)
{
    if (!search->refused || search->mismatch_count == 0)
        return false;
    return take_loose(context, search, search->refused, search->is_refused_cabinet);
}

bool symbol_search_other_builds(symbol_context *context, symbol_search *search, symbol_store *store,
                                bool is_flat)
{
    /* Two passes over the keys: first those with our GUID, which differ only in the age. */
    for (int pass = 0; pass < 2; pass++) {
        char key[SYMBOL_FILE_SIZE] = "";
        while (symbol_store_next_key(store, search->name, is_flat, key)) {
            if (same_guid(key, search->key_text) != (pass == 0))
                continue;
            symbol_store_search steps = { .name = search->name, .key = key, .has_below = is_flat };
            symbol_candidate candidate;
            while (symbol_store_next(store, &steps, &candidate))
                if (candidate.kind != SYMBOL_CANDIDATE_POINTER &&
                    take_loose(context, search, candidate.file,
                               candidate.kind == SYMBOL_CANDIDATE_CABINET))
                    return true;
        }
    }
    return false;
}

static bool same_guid(const char *key, const char *other)
{
    char front[2][33];
    (void)snprintf(front[0], sizeof front[0], "%.32s", key);
    (void)snprintf(front[1], sizeof front[1], "%.32s", other);
    return symbol_same_word(front[0], front[1]);
}

/* Takes a file of any build. It is never put into a cache, where it would pass for the right
 * one. */
static bool take_loose(symbol_context *context, symbol_search *search, const char *file,
                       bool is_cabinet)
{
    symbol_partial expanded;
    const char *opened = file;
    if (is_cabinet) {
        symbol_store *const temporary =
            symbol_temporary_store(context->temporary, context->options->temporary_folder);
        if (!open_expanded(context, search, temporary, &expanded))
            return false;
        if (!expand(context, search, file, &expanded)) {
            symbol_partial_drop(&expanded);
            return false;
        }
        opened = expanded.target;
        if (!symbol_partial_commit(&expanded))
            return false;
    }
    const symbol_verdict verdict = check(context, search, opened);
    if (verdict == SYMBOL_VERDICT_UNUSABLE)
        return false;
    if (search->key.kind == SYMBOL_KIND_PDB) /* a program file only leads to one */
        etl_diag_add(context->diag, ETL_DIAG_symbol_loose, 1);
    search->is_loose = true;
    search->found = copy_text(context, opened);
    return search->found != NULL;
}

symbol_store *symbol_keeping_store(symbol_context *context)
{
    if (context->default_store)
        return context->default_store;
    return symbol_temporary_store(context->temporary, context->options->temporary_folder);
}

static const char *copy_text(symbol_context *context, const char *text)
{
    etl_bytes copy = { NULL, 0 };
    const etl_bytes bytes = { (const u8 *)text, strlen(text) + 1 };
    if (!etlheap_arena_copy(context->texts, bytes, &copy))
        context->is_out_of_memory = true;
    return (const char *)copy.at;
}

symbol_outcome symbol_search_outcome(const symbol_search *search)
{
    if (search->found)
        return search->is_loose ? SYMBOL_FOUND_LOOSE : SYMBOL_FOUND;
    if (search->mismatch_count > 0)
        return SYMBOL_MISMATCHED;
    if (search->is_unusable)
        return SYMBOL_UNUSABLE;
    if (search->is_withheld)
        return SYMBOL_WITHHELD;
    return search->is_unreachable ? SYMBOL_UNREACHABLE : SYMBOL_MISSING;
}
