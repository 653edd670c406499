/*
 * symbols_builds.c - finds the files that name the functions of builds.
 *
 * In: builds of modules, with what the trace says about their PDB and image. Out: an open PDB, or
 * exports, or a reason why there is neither.
 *
 *     PDB named by the trace  --not there-->  program file  --it names a PDB-->  that PDB
 *                                                  |
 *                                             its exports
 *
 * A merged trace says which PDB belongs to each module. For other traces, the time stamp and size
 * of the program file are known, under which symbol stores keep it; and a program file names its
 * PDB. Whatever is left has only names of exports. Each step asks for all builds at once, so that
 * servers are asked in parallel. Invariant: a file is used only if its identity fits
 * (is_wanted_by); a PDB of another build would give wrong names. If files of another build are
 * accepted, a program file without a fitting time stamp still leads to its PDB, and a PDB may be
 * found by the module's name alone. What such files name is marked (LOOSE).
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/symbol_store/symbol_files.h"
#include "symbols.h"

/* Requests to the path and the builds they are for. */
typedef struct build_requests {
    symbol_request *at;
    u32 *builds;
    u32 count;
} build_requests;

static bool open_requests(build_requests *requests, u32 capacity);
static void close_requests(build_requests *requests);
static void ask(build_requests *requests, u32 build, const symbol_key *key);
static bool key_from_trace(symbol_build *build);
static etl_status find_pdbs(etlheap_symbols *symbols, const build_requests *requests,
                            etl_error *err);
static etl_status find_images(etlheap_symbols *symbols, build_requests *requests, etl_error *err);
static etl_status find_by_name(etlheap_symbols *symbols, const u32 *builds, u32 count,
                               etl_error *err);
static void take_pdb(etlheap_symbols *symbols, symbol_build *build, const symbol_request *request);
static void take_image(etlheap_symbols *symbols, symbol_build *build,
                       const symbol_request *request);
static bool key_from_image(etlheap_symbols *symbols, symbol_build *build);
static etl_status open_exports(symbol_build *build, etl_error *err);
static void note(symbol_build *build, const char *why);

/* True if a file may belong to a module although only its name and size fit: in snapshots, which
 * know no builds, and if the user accepts other builds. */
static bool may_guess(const etlheap_symbols *symbols)
{
    return symbols->loose || symbols->result->is_snapshot;
}

/* Sets the final state of a build, and what the report says about it. */
static void conclude(etlheap_symbols *symbols, symbol_build *build)
{
    const bool is_told = symbols->told_of != NULL;
    const bool is_identified = is_told ? build->state != ETLHEAP_SYMBOL_STATE_UNIDENTIFIED
                                       : build->has_key || build->module->time_date_stamp != 0;
    if (build->state == ETLHEAP_SYMBOL_STATE_MISSING && !is_identified)
        build->state = ETLHEAP_SYMBOL_STATE_UNIDENTIFIED;
    build->is_searched = true;
    if (build->state == ETLHEAP_SYMBOL_STATE_FOUND || build->state == ETLHEAP_SYMBOL_STATE_LOOSE)
        return;
    etl_diag diag = is_identified ? ETL_DIAG_symbol_missing : ETL_DIAG_symbol_unidentified;
    if (build->state == ETLHEAP_SYMBOL_STATE_EXPORTS)
        diag = ETL_DIAG_symbol_exports_only;
    etl_diag_add(&symbols->diag, diag, 1);
}

static void conclude_new(etlheap_symbols *symbols, const u32 *builds, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        symbol_build *const build = &symbols->builds.at[builds[i]];
        if (!build->is_searched)
            conclude(symbols, build);
    }
}

etl_status symbols_find_builds(etlheap_symbols *symbols, const u32 *builds, u32 count,
                               etl_error *err)
{
    build_requests pdbs = { 0 }, images = { 0 };
    etl_status status = ETL_OK;
    if (symbols->told_of != NULL) {
        symbols_told_builds(symbols, builds, count);
        conclude_new(symbols, builds, count);
        return ETL_OK;
    }
    if (!open_requests(&pdbs, count) || !open_requests(&images, count))
        status = etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        symbol_build *const build = &symbols->builds.at[builds[i]];
        if (!build->is_searched && key_from_trace(build))
            ask(&pdbs, builds[i], &build->key);
    }
    if (status == ETL_OK)
        status = find_pdbs(symbols, &pdbs, err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        const symbol_build *const build = &symbols->builds.at[builds[i]];
        const symbol_key key = { .kind = SYMBOL_KIND_IMAGE,
                                 .name = build->module->name,
                                 .time_date_stamp = build->module->time_date_stamp,
                                 .image_size_bytes = (u32)build->module->size_bytes };
        if (!build->is_searched && build->pdb == NULL &&
            (key.time_date_stamp != 0 || may_guess(symbols)))
            ask(&images, builds[i], &key);
    }
    if (status == ETL_OK)
        status = find_images(symbols, &images, err);
    if (status == ETL_OK && may_guess(symbols))
        status = find_by_name(symbols, builds, count, err);
    if (status == ETL_OK)
        conclude_new(symbols, builds, count);
    close_requests(&pdbs);
    close_requests(&images);
    return status;
}

void symbols_close_build(symbol_build *build)
{
    etl_pdb_close(build->pdb);
    etl_pe_exports_close(build->exports);
    etl_pe_close(build->image);
    build->pdb = NULL;
    build->exports = NULL;
    build->image = NULL;
}

static bool open_requests(build_requests *requests, u32 capacity)
{
    requests->at = calloc((size_t)capacity + 1, sizeof *requests->at);
    requests->builds = calloc((size_t)capacity + 1, sizeof *requests->builds);
    return requests->at != NULL && requests->builds != NULL;
}

static void close_requests(build_requests *requests)
{
    free(requests->at);
    free(requests->builds);
}

static void ask(build_requests *requests, u32 build, const symbol_key *key)
{
    requests->at[requests->count].key = *key;
    requests->builds[requests->count] = build;
    requests->count++;
}

/* The PDB's key from the trace; false if the trace has none. */
static bool key_from_trace(symbol_build *build)
{
    const etlheap_module_info *const module = build->module;
    if (!module->has_rsds || module->pdb_name[0] == '\0')
        return false;
    build->key = (symbol_key){
        .kind = SYMBOL_KIND_PDB, .name = module->pdb_name, .guid = module->guid, .age = module->age
    };
    build->has_key = true;
    return true;
}

static etl_status find_pdbs(etlheap_symbols *symbols, const build_requests *requests,
                            etl_error *err)
{
    if (requests->count == 0)
        return ETL_OK;
    const etl_status status =
        symbol_path_find(symbols->path, requests->at, requests->count, &symbols->diag, err);
    for (u32 i = 0; status == ETL_OK && i < requests->count; i++)
        take_pdb(symbols, &symbols->builds.at[requests->builds[i]], &requests->at[i]);
    return status;
}

/* Finds PDBs by name alone, of modules whose build nothing tells, so that any PDB of the name may
 * be the right one. */
static etl_status find_by_name(etlheap_symbols *symbols, const u32 *builds, u32 count,
                               etl_error *err)
{
    build_requests pdbs = { 0 };
    etl_status status = ETL_OK;
    if (!open_requests(&pdbs, count))
        status = etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        symbol_build *const build = &symbols->builds.at[builds[i]];
        const char *const dot = strrchr(build->module->name, '.');
        const size_t size =
            dot == NULL ? strlen(build->module->name) : (size_t)(dot - build->module->name);
        char name[256];
        u32 text;
        if (build->is_searched || build->pdb != NULL || size + sizeof ".pdb" > sizeof name ||
            (build->has_key && !symbols->result->is_snapshot))
            continue;
        memcpy(name, build->module->name, size);
        memcpy(name + size, ".pdb", sizeof ".pdb");
        if (!etlheap_strings_add(&symbols->strings, name, size + 4, &text)) {
            status = etl_no_memory(err);
            continue;
        }
        const symbol_key key = { .kind = SYMBOL_KIND_PDB,
                                 .name = etlheap_strings_get(&symbols->strings, text) };
        ask(&pdbs, builds[i], &key);
    }
    if (status == ETL_OK)
        status = find_pdbs(symbols, &pdbs, err);
    close_requests(&pdbs);
    return status;
}

static void take_pdb(etlheap_symbols *symbols, symbol_build *build, const symbol_request *request)
{
    static const etlheap_symbol_state states[] = {
        [SYMBOL_MISSING] = ETLHEAP_SYMBOL_STATE_MISSING,
        [SYMBOL_FOUND] = ETLHEAP_SYMBOL_STATE_FOUND,
        [SYMBOL_FOUND_LOOSE] = ETLHEAP_SYMBOL_STATE_LOOSE,
        [SYMBOL_MISMATCHED] = ETLHEAP_SYMBOL_STATE_MISMATCH,
        [SYMBOL_UNUSABLE] = ETLHEAP_SYMBOL_STATE_UNUSABLE,
        [SYMBOL_WITHHELD] = ETLHEAP_SYMBOL_STATE_WITHHELD,
        [SYMBOL_UNREACHABLE] = ETLHEAP_SYMBOL_STATE_UNREACHABLE,
    };
    build->state = states[request->outcome];
    build->file = request->file;
    if (request->outcome != SYMBOL_FOUND && request->outcome != SYMBOL_FOUND_LOOSE)
        return;
    etl_error err;
    if (etl_pdb_open(request->file, &build->pdb, &err) == ETL_OK) {
        build->note[0] = '\0';
        if (build->has_loose_image && build->state == ETLHEAP_SYMBOL_STATE_FOUND) {
            build->state = ETLHEAP_SYMBOL_STATE_LOOSE;
            etl_diag_add(&symbols->diag, ETL_DIAG_symbol_loose, 1);
        }
        return;
    }
    build->state = ETLHEAP_SYMBOL_STATE_UNUSABLE;
    note(build, err.message);
    etl_diag_add(&symbols->diag, ETL_DIAG_symbol_file_unusable, 1);
}

/* Finds program files, and the PDBs that they name if the trace names none. */
static etl_status find_images(etlheap_symbols *symbols, build_requests *requests, etl_error *err)
{
    build_requests pdbs = { 0 };
    if (requests->count == 0)
        return ETL_OK;
    if (!open_requests(&pdbs, requests->count))
        return etl_no_memory(err);
    etl_status status =
        symbol_path_find(symbols->path, requests->at, requests->count, &symbols->diag, err);
    for (u32 i = 0; status == ETL_OK && i < requests->count; i++) {
        symbol_build *const build = &symbols->builds.at[requests->builds[i]];
        take_image(symbols, build, &requests->at[i]);
        if (build->image != NULL && !build->has_key && key_from_image(symbols, build))
            ask(&pdbs, requests->builds[i], &build->key);
    }
    if (status == ETL_OK)
        status = find_pdbs(symbols, &pdbs, err);
    for (u32 i = 0; status == ETL_OK && i < requests->count; i++) {
        symbol_build *const build = &symbols->builds.at[requests->builds[i]];
        if (build->pdb == NULL && build->image != NULL && !build->has_loose_image) {
            build->file = requests->at[i].file;
            status = open_exports(build, err);
        }
    }
    close_requests(&pdbs);
    return status;
}

/* Takes an image. One of another build may lead to a PDB; its exports would be worse than none. */
static void take_image(etlheap_symbols *symbols, symbol_build *build, const symbol_request *request)
{
    etl_error err;
    if (request->outcome != SYMBOL_FOUND && request->outcome != SYMBOL_FOUND_LOOSE)
        return;
    build->has_loose_image = request->outcome == SYMBOL_FOUND_LOOSE ||
                             (request->key.time_date_stamp == 0 && !symbols->result->is_snapshot);
    if (etl_pe_open(request->file, &build->image, &err) == ETL_OK)
        return;
    note(build, err.message);
    etl_diag_add(&symbols->diag, ETL_DIAG_symbol_file_unusable, 1);
}

static bool key_from_image(etlheap_symbols *symbols, symbol_build *build)
{
    const etl_pe_pdb *const pdb = etl_pe_pdb_of(build->image);
    u32 name;
    if (pdb->kind != ETL_PE_PDB_RSDS ||
        !etlheap_strings_add_text(&symbols->strings, pdb->path, &name))
        return false;
    build->key = (symbol_key){ .kind = SYMBOL_KIND_PDB,
                               .name = etlheap_strings_get(&symbols->strings, name),
                               .guid = pdb->guid,
                               .age = pdb->age };
    build->has_key = true;
    return true;
}

/* Opens exports. A program without any names nothing and counts as missing. */
static etl_status open_exports(symbol_build *build, etl_error *err)
{
    const etl_status status = etl_pe_exports_open(build->image, &build->exports, err);
    if (status != ETL_OK)
        return status;
    if (etl_pe_exports_count(build->exports) > 0) {
        build->state = ETLHEAP_SYMBOL_STATE_EXPORTS;
        return ETL_OK;
    }
    etl_pe_exports_close(build->exports);
    build->exports = NULL;
    build->file = NULL;
    return ETL_OK;
}

/* --- the check of candidates ---------------------------------------------------- */

static bool is_wanted_by(const symbol_build *build, const symbol_key *key)
{
    if (key->kind == SYMBOL_KIND_PDB)
        return build->has_key && build->key.age == key->age &&
               memcmp(&build->key.guid, &key->guid, sizeof key->guid) == 0;
    return build->module->time_date_stamp == key->time_date_stamp &&
           (u32)build->module->size_bytes == key->image_size_bytes;
}

/* Notes for each build why a file cannot be used; `etlheap symbols` prints it. */
static void note_for_key(etlheap_symbols *symbols, const symbol_key *key, const char *why)
{
    for (size_t i = 0; i < symbols->builds.count; i++) {
        if (is_wanted_by(&symbols->builds.at[i], key))
            note(&symbols->builds.at[i], why);
    }
}

static symbol_verdict check_pdb(etlheap_symbols *symbols, const char *path, const symbol_key *key)
{
    etl_pdb_file *file = NULL;
    etl_error err;
    if (etl_pdb_open(path, &file, &err) != ETL_OK) {
        note_for_key(symbols, key, err.message);
        return SYMBOL_VERDICT_UNUSABLE;
    }
    const etl_pdb_info *const info = etl_pdb_info_of(file);
    const bool same =
        info->age == key->age && memcmp(&info->guid, &key->guid, sizeof key->guid) == 0;
    if (!same) {
        char text[SYMBOL_KEY_TEXT_SIZE];
        char why[96];
        const symbol_key found = { .kind = SYMBOL_KIND_PDB, .guid = info->guid, .age = info->age };
        symbol_key_format(&found, text);
        snprintf(why, sizeof why, "it is of build %s", text);
        note_for_key(symbols, key, why);
    }
    etl_pdb_close(file);
    return same ? SYMBOL_VERDICT_MATCH : SYMBOL_VERDICT_MISMATCH;
}

static symbol_verdict check_image(etlheap_symbols *symbols, const char *path, const symbol_key *key)
{
    etl_pe_image *image = NULL;
    etl_error err;
    if (etl_pe_open(path, &image, &err) != ETL_OK) {
        note_for_key(symbols, key, err.message);
        return SYMBOL_VERDICT_UNUSABLE;
    }
    const etl_pe_info *const info = etl_pe_info_of(image);
    const bool same =
        (key->time_date_stamp == 0 || info->time_date_stamp == key->time_date_stamp) &&
        info->image_size_bytes == key->image_size_bytes;
    etl_pe_close(image);
    return same ? SYMBOL_VERDICT_MATCH : SYMBOL_VERDICT_MISMATCH;
}

symbol_verdict symbols_check_file(void *user, const char *path, const symbol_key *key)
{
    return key->kind == SYMBOL_KIND_PDB ? check_pdb(user, path, key) : check_image(user, path, key);
}

static void note(symbol_build *build, const char *why)
{
    snprintf(build->note, sizeof build->note, "%.*s", (int)sizeof build->note - 1, why);
}
