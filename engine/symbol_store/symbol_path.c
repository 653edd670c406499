/*
 * symbol_path.c - finds the symbol files that modules ask for. symbol_path.h has the syntax of
 * paths.
 *
 * In: requests: names with keys. Out: for each, an open file, or a reason why there is none.
 *
 *     element 1    all wanted files ──▶ found: opened     still wanted
 *     element 2                                           ──▶ found ...
 *
 * The path is walked element by element, and each element is asked for all files that are still
 * wanted before the next one is. A server then gets its requests at once, and each file still comes
 * from the leftmost element that has it. Requests for the same file are one search. Invariant: a
 * file is used only if the caller's check accepts it, and a file of another build never stays in a
 * cache.
 */
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/name_fold.h"
#include "symbol_logins.h"
#include "symbol_search.h"

/* A store of the path; servers have no folder. */
typedef struct store_slot {
    symbol_store store;
    bool is_default;
    bool is_foreign; /* a folder that only Windows or a shell understands: never used or made */
    bool is_told;    /* its absence has been counted */
} store_slot;

struct symbol_path {
    symbol_path_options options;
    symbol_elements elements;
    store_slot *slots; /* of element e: SYMBOL_CHAIN_STORES_MAX from e times that */
    symbol_store default_store;
    symbol_temporary temporary;
    symbol_fetch *fetch;            /* opened for the first server */
    struct symbol_context *finding; /* of the call that is under way */
    etlheap_arena texts;            /* options and results */
};

/* One call of symbol_path_find. */
typedef struct finding {
    symbol_path *path;
    symbol_context context;
    symbol_search *searches;
    u32 search_count;
    u32 *search_of;       /* per request */
    symbol_caches caches; /* of the cache* elements passed so far: at most one */
    etl_error *err;
} finding;

static bool copy_options(symbol_path *path, const symbol_path_options *options);
static bool copy_text(symbol_path *path, const char **text);
static bool make_slots(symbol_path *path);
static etl_status begin(finding *f, const symbol_request *requests, u32 count);
static bool group_requests(finding *f, const symbol_request *requests, u32 count);
static int compare_requests(const void *left, const void *right);
static int compare_keys(const symbol_key *a, const symbol_key *b);
static etl_status search_element(finding *f, u32 index);
static etl_status search_chain(finding *f, u32 index);
static void search_folder(finding *f, symbol_store *store, bool is_flat,
                          const symbol_caches *caches);
static symbol_store *store_of(finding *f, u32 element, u32 index);
static void tell_missing(finding *f, u32 element, u32 index);
static void tell_unasked(finding *f, u32 element, u32 index);
static etl_status search_server(finding *f, const char *url, const symbol_caches *caches);
static etl_status open_fetch(symbol_path *path, etl_error *err);
static symbol_store *download_store(finding *f, const symbol_caches *caches);
static etl_status download(finding *f, const char *url, symbol_store *store,
                           const symbol_caches *caches);
static bool plan_downloads(finding *f, const char *url, symbol_store *store,
                           symbol_download *downloads, u32 *owners, u32 *count);
static void take_download(finding *f, symbol_search *search, const symbol_download *download,
                          const symbol_caches *caches);
static void search_loosely(finding *f);
static void finish(const finding *f, symbol_request *requests, u32 count);
static bool is_wanted(const symbol_search *search);

const char *symbol_outcome_name(symbol_outcome outcome)
{
    static const char *const names[] = {
        [SYMBOL_MISSING] = "missing",         [SYMBOL_FOUND] = "found",
        [SYMBOL_FOUND_LOOSE] = "found-loose", [SYMBOL_MISMATCHED] = "mismatched",
        [SYMBOL_UNUSABLE] = "unusable",       [SYMBOL_WITHHELD] = "withheld",
        [SYMBOL_UNREACHABLE] = "unreachable",
    };
    assert((size_t)outcome < ETL_COUNT_OF(names));
    return names[outcome];
}

etl_status symbol_path_open(const char *text, const symbol_path_options *options, symbol_path **out,
                            etl_error *err)
{
    *out = NULL;
    symbol_path *const path = calloc(1, sizeof *path);
    if (!path)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for the symbol path");
    etl_status status = symbol_elements_parse(&path->elements, text, err);
    if (status == ETL_OK && !(copy_options(path, options) && make_slots(path)))
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for the symbol path");
    if (status != ETL_OK) {
        symbol_path_free(path);
        return status;
    }
    *out = path;
    return ETL_OK;
}

static bool copy_options(symbol_path *path, const symbol_path_options *options)
{
    path->options = options ? *options : (symbol_path_options){ 0 };
    symbol_path_options *const own = &path->options;
    if (!own->temporary_folder)
        own->temporary_folder = etl_temporary_default;
    if (own->fetch.file_bytes_max == 0)
        own->fetch.file_bytes_max = SYMBOL_FILE_BYTES_MAX_DEFAULT;
    if (!copy_text(path, &own->default_store) || !copy_text(path, &own->temporary_folder) ||
        !copy_text(path, &own->fetch.user_agent) || !copy_text(path, &own->fetch.authority_file))
        return false;
    path->default_store.folder = own->default_store;
    return true;
}

/* Replaces *text by a copy that lives as long as the path. NULL stays. */
static bool copy_text(symbol_path *path, const char **text)
{
    etl_bytes copy = { NULL, 0 };
    if (!*text)
        return true;
    const etl_bytes bytes = { (const u8 *)*text, strlen(*text) + 1 };
    if (!etlheap_arena_copy(&path->texts, bytes, &copy))
        return false;
    *text = (const char *)copy.at;
    return true;
}

static bool make_slots(symbol_path *path)
{
    const size_t count = path->elements.list.count;
    path->slots = calloc(count * SYMBOL_CHAIN_STORES_MAX + 1, sizeof *path->slots);
    if (!path->slots)
        return false;
    for (size_t e = 0; e < count; e++) {
        const symbol_element *const element = &path->elements.list.at[e];
        store_slot *const slots = path->slots + e * SYMBOL_CHAIN_STORES_MAX;
        for (u32 i = 0; i < element->store_count; i++) {
            slots[i].store.folder = element->stores[i].text;
            slots[i].is_default = element->stores[i].place == SYMBOL_PLACE_DEFAULT;
            slots[i].is_foreign = element->stores[i].place == SYMBOL_PLACE_FOLDER &&
                                  symbol_elements_is_foreign(element->stores[i].text) &&
                                  !symbol_store_exists(&slots[i].store);
        }
    }
    return true;
}

void symbol_path_free(symbol_path *path)
{
    if (!path)
        return;
    const size_t slot_count = path->elements.list.count * SYMBOL_CHAIN_STORES_MAX;
    for (size_t i = 0; path->slots && i < slot_count; i++)
        symbol_store_free(&path->slots[i].store);
    free(path->slots);
    symbol_store_free(&path->default_store);
    symbol_fetch_close(path->fetch);
    symbol_temporary_free(&path->temporary);
    symbol_elements_free(&path->elements);
    etlheap_arena_free(&path->texts);
    free(path);
}

const char *symbol_path_missing(symbol_path *path, u32 from, u32 *element)
{
    for (u32 e = from; e < path->elements.list.count; e++) {
        const symbol_element *const at = &path->elements.list.at[e];
        if (at->kind == SYMBOL_ELEMENT_CACHE || at->store_count == 0)
            continue;
        const u32 last = at->store_count - 1; /* those left of it are caches */
        store_slot *const slot = &path->slots[(size_t)e * SYMBOL_CHAIN_STORES_MAX + last];
        if (slot->is_default || at->stores[last].place == SYMBOL_PLACE_SERVER ||
            symbol_store_exists(&slot->store))
            continue;
        *element = e;
        return slot->store.folder;
    }
    *element = UINT32_MAX;
    return NULL;
}

/* A misspelled address of a server looks like a folder, and may have a login. */
static const char *without_logins(symbol_path *path, const char *text)
{
    char *const shown = etlheap_arena_alloc(&path->texts, strlen(text) + 1);
    if (!shown)
        return "";
    (void)symbol_path_without_logins(text, shown);
    return shown;
}

u32 symbol_path_note(symbol_path *path, u32 from, char *note, size_t size)
{
    u32 element = UINT32_MAX;
    const char *const missing = symbol_path_missing(path, from, &element);
    for (u32 e = from; e < path->elements.list.count && e <= element; e++) {
        const symbol_element *const at = &path->elements.list.at[e];
        const store_slot *const slots = &path->slots[(size_t)e * SYMBOL_CHAIN_STORES_MAX];
        for (u32 i = 0; i < at->store_count; i++) {
            if (!slots[i].is_foreign)
                continue;
            (void)snprintf(note, size,
                           "'%s' is not used as a folder: ~, variables and Windows paths mean "
                           "nothing here; write the whole path",
                           without_logins(path, at->stores[i].text));
            return e;
        }
        if (at->kind != SYMBOL_ELEMENT_CHAIN || at->store_count > 1 || !slots[0].is_default)
            continue;
        (void)snprintf(note, size,
                       "SRV* alone names no server: for Microsoft's, write "
                       "SRV**https://msdl.microsoft.com/download/symbols");
        return e;
    }
    if (missing)
        (void)snprintf(note, size, "the folder '%s' does not exist or cannot be read",
                       without_logins(path, missing));
    return element;
}

bool symbol_path_uses_network(const symbol_path *path)
{
    if (path->options.offline)
        return false;
    for (size_t e = 0; e < path->elements.list.count; e++) {
        const symbol_element *const element = &path->elements.list.at[e];
        for (u32 i = 0; i < element->store_count; i++)
            if (element->stores[i].place == SYMBOL_PLACE_SERVER)
                return true;
    }
    return false;
}

etl_status symbol_path_find(symbol_path *path, symbol_request *requests, u32 count,
                            etl_diag_counts *diag, etl_error *err)
{
    finding f = {
        .path = path,
        .context = { .options = &path->options,
                     .elements = &path->elements,
                     .default_store = path->options.default_store ? &path->default_store : NULL,
                     .temporary = &path->temporary,
                     .texts = &path->texts,
                     .diag = diag },
        .err = err,
    };
    etl_status status = begin(&f, requests, count);
    for (u32 e = 0; status == ETL_OK && e < path->elements.list.count; e++)
        status = search_element(&f, e);
    if (status == ETL_OK && path->options.loose)
        search_loosely(&f);
    if (f.context.is_out_of_memory)
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to search for symbols");
    if (f.search_of)
        finish(&f, requests, count);
    free(f.searches);
    free(f.search_of);
    return status;
}

static etl_status begin(finding *f, const symbol_request *requests, u32 count)
{
    f->searches = calloc((size_t)count + 1, sizeof *f->searches);
    f->search_of = calloc((size_t)count + 1, sizeof *f->search_of);
    if (f->searches && f->search_of && group_requests(f, requests, count))
        return ETL_OK;
    free(f->search_of);
    f->search_of = NULL;
    return etl_fail_with(f->err, ETL_ERR_MEMORY, 0, "no memory to search for %u symbol files",
                         (unsigned)count);
}

/* Makes one search of each group of requests for the same file. */
static bool group_requests(finding *f, const symbol_request *requests, u32 count)
{
    const symbol_request **const order = calloc((size_t)count + 1, sizeof(const symbol_request *));
    if (!order)
        return false;
    for (u32 i = 0; i < count; i++)
        order[i] = &requests[i];
    qsort(order, count, sizeof(const symbol_request *), compare_requests);
    for (u32 i = 0; i < count; i++) {
        const bool is_new = i == 0 || compare_keys(&order[i - 1]->key, &order[i]->key) != 0;
        if (is_new && !symbol_search_begin(&f->searches[f->search_count], &order[i]->key))
            f->searches[f->search_count].name[0] = 0; /* never wanted: missing */
        f->search_count += is_new;
        f->search_of[order[i] - requests] = f->search_count - 1;
    }
    free(order);
    return true;
}

static int compare_requests(const void *left, const void *right)
{
    const symbol_request *const a = *(const symbol_request *const *)left;
    const symbol_request *const b = *(const symbol_request *const *)right;
    return compare_keys(&a->key, &b->key);
}

static int compare_keys(const symbol_key *a, const symbol_key *b)
{
    char text[2][SYMBOL_KEY_TEXT_SIZE];
    const int by_name = etl_name_compare(symbol_base_name(a->name), symbol_base_name(b->name));
    if (by_name != 0)
        return by_name;
    symbol_key_format(a, text[0]);
    symbol_key_format(b, text[1]);
    const int by_key = strcmp(text[0], text[1]);
    return by_key != 0 ? by_key : (int)a->kind - (int)b->kind;
}

static etl_status search_element(finding *f, u32 index)
{
    const symbol_element *const element = &f->path->elements.list.at[index];
    if (element->kind == SYMBOL_ELEMENT_CHAIN)
        return search_chain(f, index);
    symbol_store *const store = store_of(f, index, 0);
    if (!store)
        return ETL_OK;
    const bool is_cache = element->kind == SYMBOL_ELEMENT_CACHE;
    search_folder(f, store, !is_cache, &f->caches);
    if (is_cache)
        f->caches = (symbol_caches){ { store }, 1 };
    else
        tell_missing(f, index, 0);
    return ETL_OK;
}

static etl_status search_chain(finding *f, u32 index)
{
    const symbol_element *const element = &f->path->elements.list.at[index];
    symbol_caches caches = f->caches;
    for (u32 i = 0; i < element->store_count; i++) {
        if (element->stores[i].place == SYMBOL_PLACE_SERVER) {
            const etl_status status = search_server(f, element->stores[i].text, &caches);
            if (status == ETL_ERR_UNSUPPORTED)
                tell_unasked(f, index, i);
            else if (status != ETL_OK)
                return status;
            continue;
        }
        symbol_store *const store = store_of(f, index, i);
        if (!store)
            continue;
        search_folder(f, store, false, &caches);
        /* Folders to the left of others are caches, which are created when needed. */
        if (i + 1 == element->store_count)
            tell_missing(f, index, i);
        caches.at[caches.count++] = store;
    }
    return ETL_OK;
}

static void search_folder(finding *f, symbol_store *store, bool is_flat,
                          const symbol_caches *caches)
{
    for (u32 i = 0; i < f->search_count; i++)
        if (is_wanted(&f->searches[i]))
            (void)symbol_search_store(&f->context, &f->searches[i], store, is_flat, caches);
}

/* The store of an element; NULL for one that means nothing here, or for the temporary store if it
 * cannot be made. */
static symbol_store *store_of(finding *f, u32 element, u32 index)
{
    store_slot *const slot = &f->path->slots[(size_t)element * SYMBOL_CHAIN_STORES_MAX + index];
    if (slot->is_foreign) {
        tell_missing(f, element, index);
        return NULL;
    }
    return slot->is_default ? symbol_keeping_store(&f->context) : &slot->store;
}

static void tell_missing(finding *f, u32 element, u32 index)
{
    store_slot *const slot = &f->path->slots[(size_t)element * SYMBOL_CHAIN_STORES_MAX + index];
    if (slot->is_default || slot->is_told || symbol_store_exists(&slot->store))
        return;
    slot->is_told = true;
    etl_diag_add(f->context.diag, ETL_DIAG_symbol_folder_missing, 1);
}

/* Notes that a server was not asked. An answer without names is better than none, so it goes on. */
static void tell_unasked(finding *f, u32 element, u32 index)
{
    store_slot *const slot = &f->path->slots[(size_t)element * SYMBOL_CHAIN_STORES_MAX + index];
    if (!slot->is_told)
        etl_diag_add(f->context.diag, ETL_DIAG_symbol_server_unasked, 1);
    slot->is_told = true;
}

/* ETL_ERR_UNSUPPORTED: this build cannot fetch files. */
static etl_status search_server(finding *f, const char *url, const symbol_caches *caches)
{
    symbol_path *const path = f->path;
    if (path->options.offline)
        return ETL_OK;
    const etl_status status = open_fetch(path, f->err);
    if (status != ETL_OK)
        return status;
    symbol_store *const store = download_store(f, caches);
    if (!store)
        return ETL_OK;
    return download(f, url, store, caches);
}

/* A symbol_accept_fn. */
static bool accept_download(void *user, const symbol_download *download, const char *file)
{
    const symbol_path *const path = user;
    return symbol_search_accepts(path->finding, download->owner, file);
}

static etl_status open_fetch(symbol_path *path, etl_error *err)
{
    path->options.fetch.accept = accept_download;
    path->options.fetch.accept_user = path;
    return path->fetch ? ETL_OK : symbol_fetch_open(&path->options.fetch, &path->fetch, err);
}

/* The nearest folder to the left of the server, or the store for files without one. */
static symbol_store *download_store(finding *f, const symbol_caches *caches)
{
    symbol_store *const store =
        caches->count ? caches->at[caches->count - 1] : symbol_keeping_store(&f->context);
    if (store && symbol_make_folders(store->folder) && etl_folder_is_usable(store->folder, true))
        return store;
    etl_diag_add(f->context.diag, ETL_DIAG_symbol_cache_unwritable, 1);
    return symbol_temporary_store(&f->path->temporary, f->path->options.temporary_folder);
}

static etl_status download(finding *f, const char *url, symbol_store *store,
                           const symbol_caches *caches)
{
    symbol_download *const downloads = calloc((size_t)f->search_count + 1, sizeof *downloads);
    u32 *const owners = calloc((size_t)f->search_count + 1, sizeof *owners);
    u32 count = 0;
    etl_status status = ETL_OK;
    if (!downloads || !owners || !plan_downloads(f, url, store, downloads, owners, &count))
        status = etl_fail_with(f->err, ETL_ERR_MEMORY, 0, "no memory to fetch symbols");
    f->path->finding = &f->context;
    if (status == ETL_OK && count > 0)
        status = symbol_fetch_run(f->path->fetch, downloads, count, f->context.diag, f->err);
    f->path->finding = NULL;
    for (u32 i = 0; i < count; i++)
        take_download(f, &f->searches[owners[i]], &downloads[i], caches);
    free(downloads);
    free(owners);
    return status;
}

/* Does the key name a build? A server has no file for "any build". */
static bool has_build(const symbol_key *key)
{
    static const etl_guid none;
    return key->kind == SYMBOL_KIND_IMAGE ? key->time_date_stamp != 0
                                          : memcmp(&key->guid, &none, sizeof none) != 0;
}

/* One for each file still wanted; owners[i] is the search of downloads[i]. */
static bool plan_downloads(finding *f, const char *url, symbol_store *store,
                           symbol_download *downloads, u32 *owners, u32 *count)
{
    for (u32 i = 0; i < f->search_count; i++) {
        symbol_search *const search = &f->searches[i];
        char target[SYMBOL_FILE_SIZE];
        if (!is_wanted(search) || !has_build(&search->key) ||
            !symbol_store_path(store, search->name, search->key_text, target))
            continue;
        target[symbol_base_name(target) - target - 1] = 0;
        const char *folder = target;
        if (!copy_text(f->path, &folder))
            return false;
        owners[*count] = i;
        downloads[(*count)++] = (symbol_download){ .server = url,
                                                   .name = search->name,
                                                   .key = search->key_text,
                                                   .folder = folder,
                                                   .owner = search };
    }
    return true;
}

/* The store downloaded to is the last of the caches, or temporary. */
static void take_download(finding *f, symbol_search *search, const symbol_download *download,
                          const symbol_caches *caches)
{
    symbol_context *const context = &f->context;
    char file[SYMBOL_FILE_SIZE];
    if (!symbol_join(file, download->folder, download->name))
        return;
    switch (download->state) {
    case SYMBOL_FETCH_DONE:
        (void)symbol_search_file(context, search, file, caches);
        break;
    case SYMBOL_FETCH_REFUSED: /* symbol_search_accepts noted it */
        break;
    case SYMBOL_FETCH_COMPRESSED:
        file[strlen(file) - 1] = '_';
        (void)symbol_search_cabinet(context, search, file, caches);
        /* Kept compressed only if another cache holds it expanded. */
        if (!search->found || caches->count <= 1)
            (void)etl_file_remove(file);
        break;
    case SYMBOL_FETCH_POINTER: {
        const etl_bytes text = { (const u8 *)download->pointer, strlen(download->pointer) };
        (void)symbol_search_pointer(context, search, "", text, caches);
        break;
    }
    case SYMBOL_FETCH_DENIED:
    case SYMBOL_FETCH_REJECTED:
        search->is_withheld = true;
        break;
    case SYMBOL_FETCH_TOO_LARGE:
        search->is_unusable = true;
        break;
    case SYMBOL_FETCH_FAILED:
    case SYMBOL_FETCH_UNWRITABLE:
        search->is_unreachable = true;
        break;
    case SYMBOL_FETCH_MISSING:
        break;
    }
}

static void search_loosely(finding *f)
{
    for (u32 i = 0; i < f->search_count; i++) {
        symbol_search *const search = &f->searches[i];
        if (!is_wanted(search) || symbol_search_refused(&f->context, search))
            continue;
        for (u32 e = 0; e < f->path->elements.list.count && !search->found; e++) {
            const symbol_element *const element = &f->path->elements.list.at[e];
            for (u32 s = 0; s < element->store_count && !search->found; s++) {
                symbol_store *const store =
                    element->stores[s].place == SYMBOL_PLACE_SERVER ? NULL : store_of(f, e, s);
                if (store)
                    (void)symbol_search_other_builds(&f->context, search, store,
                                                     element->kind == SYMBOL_ELEMENT_FOLDER);
            }
        }
    }
}

static void finish(const finding *f, symbol_request *requests, u32 count)
{
    for (u32 i = 0; i < f->search_count; i++) {
        const symbol_search *const search = &f->searches[i];
        /* Where the right file was found, nobody misses those of other builds. */
        if (symbol_search_outcome(search) == SYMBOL_MISMATCHED)
            etl_diag_add(f->context.diag, ETL_DIAG_symbol_mismatch, search->mismatch_count);
    }
    for (u32 i = 0; i < count; i++) {
        const symbol_search *const search = &f->searches[f->search_of[i]];
        requests[i].outcome = symbol_search_outcome(search);
        requests[i].file = search->found ? search->found : search->refused;
    }
}

static bool is_wanted(const symbol_search *search)
{
    return !search->found && search->name[0] != 0;
}
