/*
 * symbols.c - finds the modules' builds, keeps the names that are known, and asks for the others.
 * symbols.h draws the parts.
 *
 * In: places (module, offset) that somebody wants to show or group by. Out: a name per place,
 * valid until the symbols are closed.
 *
 * A place is looked up once. Places of new modules are collected first and their files are
 * searched together, so that servers are asked in parallel. Invariant: the number and order of
 * questions never change an answer.
 */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/core/workers.h"
#include "engine/symbol_store/symbol_files.h"
#include "engine/symbol_store/symbol_logins.h"
#include "parser/system/files.h"
#include "parser/system/name_fold.h"
#include "parser/sized.h"

static bool find_builds_of_modules(etlheap_symbols *symbols);
static bool add_place(etlheap_symbols *symbols, symbol_place *place);
static bool report_progress(void *user, const symbol_progress *progress);

static const char *const state_words[ETLHEAP_SYMBOL_STATE_COUNT] = {
#define STATE_WORD(name, word) word,
    ETLHEAP_SYMBOL_STATES(STATE_WORD)
#undef STATE_WORD
};

const char *etlheap_symbol_state_word(etlheap_symbol_state state)
{
    return (u32)state < ETL_COUNT_OF(state_words) ? state_words[state] : "";
}

etl_status etlheap_symbols_open_path(const etlheap_result *result, const char *path,
                                     etlheap_symbols **out, etl_error *err)
{
    const etlheap_symbol_options options = { .size = sizeof options, .path = path };
    return etlheap_symbols_open(result, &options, out, err);
}

etl_status etlheap_symbols_open(const etlheap_result *result, const etlheap_symbol_options *options,
                                etlheap_symbols **out, etl_error *err)
{
    etlheap_symbol_options own = { .size = sizeof own };
    *out = NULL;
    etl_status status = etl_read_sized(options, "etlheap_symbol_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    etlheap_symbols *const symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return etl_no_memory(err);
    symbols->result = result;
    symbols->jobs = etlheap_workers_jobs(own.jobs);
    symbols->loose = own.loose;
    symbols->progress = own.progress;
    symbols->progress_user = own.progress_user;
    const symbol_path_options path_options = {
        .default_store = own.default_store,
        .temporary_folder = own.temporary_folder,
        .offline = own.offline,
        .loose = own.loose,
        .check = symbols_check_file,
        .check_user = symbols,
        .fetch = { .progress = report_progress,
                   .progress_user = symbols,
                   .login = own.login,
                   .login_user = own.login_user,
                   .file_bytes_max = own.download_bytes_max,
                   .file_ms_max = own.download_ms_max,
                   .private_redirects = own.private_redirects },
    };
    const bool is_told = result->told.anonymised.scheme != 0;
    const bool uses_told = is_told && own.path != NULL;
    const char *const text = own.path == NULL || is_told ? "" : own.path;
    status = symbol_path_open(text, &path_options, &symbols->path, err);
    if (status == ETL_OK &&
        (!find_builds_of_modules(symbols) || (uses_told && !symbols_told_open(symbols))))
        status = etl_no_memory(err);
    if (status != ETL_OK) {
        etlheap_symbols_close(symbols);
        return status;
    }
    *out = symbols;
    return ETL_OK;
}

void etlheap_symbols_close(etlheap_symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->builds.count; i++)
        symbols_close_build(&symbols->builds.at[i]);
    symbol_path_free(symbols->path);
    free(symbols->build_of);
    free(symbols->told_of);
    ETLHEAP_VECTOR_FREE(&symbols->builds);
    ETLHEAP_VECTOR_FREE(&symbols->names);
    ETLHEAP_VECTOR_FREE(&symbols->addresses);
    ETLHEAP_VECTOR_FREE(&symbols->levels);
    symbol_files_free(&symbols->files);
    etlheap_index_free(&symbols->address_index);
    etlheap_strings_free(&symbols->strings);
    free(symbols);
}

etl_status etlheap_symbols_check_path(const char *path, etl_error *err)
{
    const symbol_path_options options = { .offline = true };
    symbol_path *opened = NULL;
    const etl_status status = symbol_path_open(path, &options, &opened, err);
    symbol_path_free(opened);
    return status;
}

u32 etlheap_symbols_path_note(const char *path, u32 from, char *note, size_t size)
{
    const symbol_path_options options = { .offline = true };
    symbol_path *opened = NULL;
    u32 index = UINT32_MAX;
    if (symbol_path_open(path, &options, &opened, NULL) == ETL_OK)
        index = symbol_path_note(opened, from, note, size);
    symbol_path_free(opened);
    return index;
}

bool etlheap_symbols_without_logins(const char *path, char *out)
{
    return symbol_path_without_logins(path, out);
}

bool etlheap_sentence_without_logins(const char *sentence, char *out)
{
    return symbol_sentence_without_logins(sentence, out);
}

bool etlheap_symbols_is_file(const char *path)
{
    static const char *const beginnings[] = { "Microsoft C/C++ ", "BSJB", "MSCF", "MZ" };
    char bytes[16];
    const size_t size = etl_file_start(path, bytes, sizeof bytes);
    bool is_file = false;
    for (size_t i = 0; i < ETL_COUNT_OF(beginnings); i++) {
        const size_t length = strlen(beginnings[i]);
        is_file |= size >= length && memcmp(bytes, beginnings[i], length) == 0;
    }
    return is_file;
}

/* Reports bytes, which a bar can show; names of files change too fast to read. */
static bool report_progress(void *user, const symbol_progress *progress)
{
    const etlheap_symbols *const symbols = user;
    return symbols->progress == NULL ||
           symbols->progress(symbols->progress_user, progress->bytes_done,
                             etl_max_u64(progress->bytes_expected, progress->bytes_done));
}

/* --- builds ------------------------------------------------------------------------ */

/* The identity of a build: modules with equal identities are one build. Compared and hashed as
 * bytes, with the names without case. */
typedef struct build_identity {
    etl_guid guid;
    u32 age, has_rsds;
    u32 time_date_stamp, size_bytes;
} build_identity;

static_assert(sizeof(build_identity) == 32, "no hidden padding: it is hashed as bytes");

static build_identity identity_of(const etlheap_module_info *module)
{
    build_identity id = { .time_date_stamp = module->time_date_stamp,
                          .size_bytes = (u32)module->size_bytes,
                          .has_rsds = module->has_rsds };
    if (module->has_rsds) {
        id.guid = module->guid;
        id.age = module->age;
    }
    return id;
}

static bool same_build(const void *owner, u32 id, const void *key)
{
    const etlheap_symbols *const symbols = owner;
    const etlheap_module_info *const a = symbols->builds.at[id - 1].module, *const b = key;
    const build_identity x = identity_of(a), y = identity_of(b);
    return memcmp(&x, &y, sizeof x) == 0 && etl_name_same(a->name, b->name) &&
           etl_name_same(symbol_base_name(a->pdb_name), symbol_base_name(b->pdb_name));
}

static u64 hash_build(const etlheap_module_info *module)
{
    const build_identity identity = identity_of(module);
    return etl_name_hash(module->name, etlheap_hash_bytes(&identity, sizeof identity));
}

/* Methods of .NET have no build: their names are known. */
static bool is_method(const etlheap_symbols *symbols, u32 module)
{
    return modules_function(&symbols->result->modules.list.at[module]) != NULL;
}

/* Each process has its own entry for a library, and all are the same build. */
static bool find_builds_of_modules(etlheap_symbols *symbols)
{
    const size_t count = symbols->result->modules.list.count;
    etlheap_index index = { 0 };
    symbols->build_of = calloc(count + 1, sizeof *symbols->build_of);
    bool ok = symbols->build_of != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        const etlheap_module_info *const module = &symbols->result->modules.list.at[i];
        const u64 hash = hash_build(module);
        if (modules_function(module) != NULL) {
            symbols->build_of[i] = SYMBOL_BUILD_METHOD;
            continue;
        }
        u32 id = etlheap_index_find(&index, hash, same_build, symbols, module);
        if (id == 0) {
            const symbol_build fresh = { .module = module, .state = ETLHEAP_SYMBOL_STATE_MISSING };
            ok = ETLHEAP_PUSH(&symbols->builds, fresh);
            id = (u32)symbols->builds.count;
            ok = ok && etlheap_index_add(&index, hash, id);
        }
        symbols->build_of[i] = id - 1;
    }
    etlheap_index_free(&index);
    return ok;
}

/* --- places ------------------------------------------------------------------------ */

static int by_build(const void *a, const void *b)
{
    const u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

/* The builds of the places, each once. NULL without memory. */
static u32 *builds_of_places(const etlheap_symbols *symbols, const symbol_place *places,
                             size_t count, u32 *build_count)
{
    u32 *const builds = malloc((symbols->builds.count + 1) * sizeof *builds);
    bool *const is_listed = calloc(symbols->builds.count + 1, sizeof *is_listed);
    *build_count = 0;
    for (size_t i = 0; builds != NULL && is_listed != NULL && i < count; i++) {
        const u32 build = symbols->build_of[places[i].module];
        if (build == SYMBOL_BUILD_METHOD)
            continue;
        if (!is_listed[build])
            builds[(*build_count)++] = build;
        is_listed[build] = true;
    }
    const bool ok = is_listed != NULL;
    free(is_listed);
    if (!ok) {
        free(builds);
        return NULL;
    }
    if (builds != NULL)
        qsort(builds, *build_count, sizeof *builds, by_build);
    return builds;
}

static int by_address(const void *a, const void *b)
{
    const symbol_address *const x = a, *const y = b;
    if (x->build != y->build)
        return x->build < y->build ? -1 : 1;
    return (x->rva > y->rva) - (x->rva < y->rva);
}

/* Sorts and looks up the addresses from `first` on. */
static etl_status resolve_new(etlheap_symbols *symbols, size_t first, etl_error *err)
{
    size_t count = symbols->addresses.count - first;
    symbol_address *const sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return etl_no_memory(err);
    memcpy(sorted, symbols->addresses.at + first, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_address);
    while (count > 0 && sorted[count - 1].build == SYMBOL_BUILD_METHOD)
        count--;
    etl_status status = ETL_OK;
    if (count > 0)
        status = symbols->told_of != NULL ? symbols_told_names(symbols, sorted, count, err)
                                          : symbols_run_batch(symbols, sorted, count, err);
    free(sorted);
    return status;
}

etl_status symbols_resolve(etlheap_symbols *symbols, symbol_place *places, size_t count,
                           etl_error *err)
{
    const size_t known = symbols->addresses.count;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_place(symbols, &places[i]);
    if (ok && symbols->addresses.count == known)
        return ETL_OK;
    u32 build_count = 0;
    u32 *const builds = ok ? builds_of_places(symbols, places, count, &build_count) : NULL;
    if (builds == NULL)
        return etl_no_memory(err);
    etl_status status = symbols_find_builds(symbols, builds, build_count, err);
    free(builds);
    if (status == ETL_OK)
        status = resolve_new(symbols, known, err);
    return status;
}

static bool same_address(const void *owner, u32 id, const void *key)
{
    const etlheap_symbols *const symbols = owner;
    const symbol_address *const a = &symbols->addresses.at[id - 1], *const b = key;
    return a->build == b->build && a->rva == b->rva;
}

static bool name_method(etlheap_symbols *symbols, u32 module, symbol_name *out)
{
    const char *const function = modules_function(&symbols->result->modules.list.at[module]);
    symbol_level level = { 0 };
    *out = (symbol_name){ .first_level = (u32)symbols->levels.count,
                          .level_count = 1,
                          .quality = SYMBOL_QUALITY_FUNCTION };
    return etlheap_strings_add(&symbols->strings, function, strlen(function), &level.name) &&
           ETLHEAP_PUSH(&symbols->levels, level);
}

/* Adds a place. The byte before a return address lies in the call; see symbols.h. */
static bool add_place(etlheap_symbols *symbols, symbol_place *place)
{
    const u64 before = place->offset == 0 ? 0 : place->offset - 1;
    const bool of_method = is_method(symbols, place->module);
    symbol_name fresh = { 0 };
    symbol_address wanted = { .build = symbols->build_of[place->module],
                              .rva = before > UINT32_MAX ? UINT32_MAX : (u32)before };
    if (of_method)
        wanted.rva = place->module;
    const u64 hash = etlheap_hash_u64((u64)wanted.build << 32 | wanted.rva);
    place->name = etlheap_index_find(&symbols->address_index, hash, same_address, symbols, &wanted);
    if (place->name != 0)
        return true;
    if (symbols->names.count >= UINT32_MAX - 1)
        return false;
    wanted.name = (u32)symbols->names.count + 1;
    place->name = wanted.name;
    if (of_method && !name_method(symbols, place->module, &fresh))
        return false;
    return ETLHEAP_PUSH(&symbols->names, fresh) && ETLHEAP_PUSH(&symbols->addresses, wanted) &&
           etlheap_index_add(&symbols->address_index, hash, wanted.name);
}

const symbol_name *symbols_name(const etlheap_symbols *symbols, u32 id)
{
    assert(id > 0 && id <= symbols->names.count);
    return &symbols->names.at[id - 1];
}

const symbol_level *symbols_levels(const etlheap_symbols *symbols, const symbol_name *name)
{
    return symbols->levels.at + name->first_level;
}

const char *symbols_text(const etlheap_symbols *symbols, u32 text)
{
    return etlheap_strings_get(&symbols->strings, text);
}
