/*
 * symbol_source.c - opens the symbols that a command's options ask for.
 *
 * In: options, environment, and what the inputs bring: packages with PDBs, folders beside traces.
 * Out: etlheap_symbols with a progress bar and logins, or none. Invariant: a path is checked before
 * the traces are read, so that a mistake in it does not cost the run.
 */
#include "symbol_source.h"

#include "cli/messages.h"
#include "cli/options/advice.h"
#include "cli/system/terminal.h"
#include "parser/system/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/system/name_fold.h"

#define STORE_SIZE 4096
#define PATH_SIZE  32768

/* What symbols are for. */
typedef struct symbol_subject {
    const etlheap_result *result;
    const etlheap_result
        *traces; /* has the names of the files that packages and folders belong to */
    bool always;
} symbol_subject;

static bool add_ngen_folders(const etlheap_result *result, const char *path, char out[PATH_SIZE]);

/* A slip in a path looks like a program without symbols. */
static void note_slips(const char *subject, const char *path)
{
    char note[STORE_SIZE + 256];
    u32 from = 0;
    for (;;) {
        const u32 found = etlheap_symbols_path_note(path, from, note, sizeof note);
        if (found == UINT32_MAX)
            return;
        cli_note(subject, note);
        from = found + 1;
    }
}

etl_status cli_symbols_check(const cli_options *options, etl_error *err)
{
    const char *const path = options->symbols ? options->symbols : cli_symbol_path();
    etl_error why = { .status = ETL_OK };
    etl_status status = cli_logins_check(&options->symbol_logins, err);
    if (status != ETL_OK || options->no_symbols || !path)
        return status;
    status = etlheap_symbols_check_path(path, &why);
    if (status == ETL_OK)
        note_slips(options->symbols ? "--symbols" : "_NT_SYMBOL_PATH", path);
    if (status == ETL_OK)
        return ETL_OK;
    return etl_fail_with(err, status, 0, "%s: %.180s",
                         options->symbols ? "--symbols" : "_NT_SYMBOL_PATH", why.message);
}

static etl_status unpack_symbols(const cli_options *options, const cli_guard *guard,
                                 const char *path, const etlheap_symbols_wanted *wanted,
                                 etlheap_unpacked_symbols **out, etl_error *err)
{
    cli_progress progress = cli_progress_begin(options, "unpacking symbols", guard);
    const etlheap_unpack_options unpack = {
        .size = sizeof unpack,
        .folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &progress,
        .unpacked_bytes_max = options->unpack_limit_bytes,
    };
    const etl_status status = etlheap_unpack_symbols(path, &unpack, wanted, out, err);
    cli_progress_end(&progress);
    return status;
}

/* A PDB is wanted if a module names it, or could have it if the trace does not say which. */
static bool is_wanted(void *user, const char *name)
{
    const etlheap_result *const result = user;
    char stem[STORE_SIZE];
    for (u32 i = 0; i < etlheap_module_count(result); i++) {
        const etlheap_module_info *const module = etlheap_module_of(result, i);
        const char *pdb = module->pdb_name;
        for (const char *at = pdb; *at != '\0'; at++) {
            if (*at == '\\' || *at == '/')
                pdb = at + 1;
        }
        if (etl_name_same(pdb, name))
            return true;
        const char *const dot = strrchr(module->name, '.');
        const int size = dot == NULL ? (int)strlen(module->name) : (int)(dot - module->name);
        snprintf(stem, sizeof stem, "%.*s.pdb", size, module->name);
        if (etl_name_same(stem, name))
            return true;
    }
    return false;
}

static void note_unused(const char *path, const etl_error *why)
{
    char text[CLI_ERROR_SIZE], note[CLI_ERROR_SIZE + 32];
    cli_error_text(why, text);
    snprintf(note, sizeof note, "its PDBs are not used: %s", text);
    cli_note(path, note);
}

/* The file of a trace "app.etl.zip", or of a member "app.etl.zip/kernel.etl". False if it is not a
 * file. Members lie in folders at times. */
static bool find_package(const char *file, char out[STORE_SIZE])
{
    const int size = snprintf(out, STORE_SIZE, "%s", file);
    if (size < 0 || size >= STORE_SIZE || strpbrk(file, ";*") != NULL)
        return false;
    while (etl_path_kind_of(out) != ETL_PATH_FILE) {
        char *const slash = strrchr(out, '/');
        if (!slash || slash == out)
            return false;
        *slash = '\0';
    }
    return true;
}

/* Unpacks the PDBs of the packages that the traces come from. Names are less important than an
 * answer, so a failure is a note, unless the user stopped it. Without a guard there are no
 * temporary files. */
static etl_status add_packages(const cli_options *options, const cli_guard *guard,
                               const etlheap_result *result, const etlheap_result *traces,
                               cli_symbols *out, etl_error *err)
{
    const etlheap_trace_info *const info = etlheap_result_trace(traces);
    const etlheap_symbols_wanted wanted = { is_wanted, (void *)(uintptr_t)result };
    const char *last = "";
    char paths[2][STORE_SIZE] = { "", "" };
    if (!guard->active)
        return ETL_OK;
    out->packages = calloc(info->file_count + 1, sizeof(etlheap_unpacked_symbols *));
    if (!out->packages)
        return etl_no_memory(err);
    for (u32 i = 0; i < info->file_count; i++) {
        char *const path = paths[i % 2];
        if (!find_package(info->files[i], path) || strcmp(path, last) == 0)
            continue;
        last = path;
        etl_error why = { .status = ETL_OK };
        const etl_status status =
            unpack_symbols(options, guard, path, &wanted, &out->packages[out->package_count], &why);
        if (status == ETL_ERR_CANCELLED)
            return etl_fail_with(err, status, 0, "%s", why.message);
        if (status != ETL_OK)
            note_unused(path, &why);
        out->package_count += out->packages[out->package_count] != NULL;
    }
    return ETL_OK;
}

/* False if the paths are too long. */
static bool put_in_front(const cli_symbols *symbols, const char *path, char out[PATH_SIZE])
{
    int size = 0;
    for (u32 i = 0; i < symbols->package_count && size < PATH_SIZE; i++)
        size += snprintf(out + size, PATH_SIZE - (size_t)size, "%s%s", size > 0 ? ";" : "",
                         etlheap_unpacked_symbols_folder(symbols->packages[i]));
    if (path && path[0] != '\0' && size < PATH_SIZE)
        size += snprintf(out + size, PATH_SIZE - (size_t)size, ";%s", path);
    return size < PATH_SIZE;
}

static etl_status open_for(const cli_options *options, const cli_guard *guard,
                           const symbol_subject *of, cli_symbols *out, etl_error *err)
{
    char store[STORE_SIZE];
    char whole[PATH_SIZE] = "", packed[PATH_SIZE] = "";
    const bool is_asked = !options->no_symbols;
    const char *const asked = options->symbols ? options->symbols : cli_symbol_path();
    const char *path = is_asked ? asked : NULL;
    *out = (cli_symbols){ .symbols = NULL };
    if (is_asked && add_ngen_folders(of->traces, asked ? asked : "", whole))
        path = whole;
    etl_status status =
        is_asked ? add_packages(options, guard, of->result, of->traces, out, err) : ETL_OK;
    if (status != ETL_OK)
        return status;
    if (out->package_count > 0 && put_in_front(out, path, packed))
        path = packed;
    /* The trace itself names methods of .NET. */
    if (!path && !(of->always && is_asked) && etlheap_method_count(of->result) == 0)
        return ETL_OK;
    out->progress = cli_progress_begin(options, "symbols", guard);
    out->logins = cli_logins_open(&options->symbol_logins);
    const etlheap_symbol_options symbol_options = {
        .size = sizeof symbol_options,
        .path = path,
        .default_store = cli_symbol_store(store, sizeof store) ? store : NULL,
        .temporary_folder = cli_temporary_folder(),
        .offline = options->offline || !is_asked,
        .loose = options->symbols_loose,
        .jobs = options->jobs,
        .progress = cli_progress_update,
        .progress_user = &out->progress,
        .login = out->logins == NULL ? NULL : cli_logins_find,
        .login_user = out->logins,
        .download_bytes_max = options->download_limit_bytes,
        .download_ms_max = ((u64)options->download_time_ns + 999999) / 1000000,
        .private_redirects = options->private_redirects,
    };
    return etlheap_symbols_open(of->result, &symbol_options, &out->symbols, err);
}

etl_status cli_symbols_open(const cli_options *options, const cli_guard *guard,
                            const etlheap_result *result, bool always, cli_symbols *out,
                            etl_error *err)
{
    u64 key_check;
    if (etlheap_result_is_anonymised(result, &key_check)) {
        const etlheap_symbol_options own = { .size = sizeof own,
                                             .path = options->no_symbols ? NULL : "",
                                             .offline = true };
        *out = (cli_symbols){ .symbols = NULL };
        out->progress = cli_progress_begin(options, "symbols", guard);
        return options->no_symbols && etlheap_method_count(result) == 0
                   ? ETL_OK
                   : etlheap_symbols_open(result, &own, &out->symbols, err);
    }
    return open_for(options, guard, &(symbol_subject){ result, result, always }, out, err);
}

etl_status cli_symbols_open_made(const cli_options *options, const cli_guard *guard,
                                 const etlheap_result *result, const etlheap_result *traces,
                                 cli_symbols *out, etl_error *err)
{
    return open_for(options, guard, &(symbol_subject){ result, traces, false }, out, err);
}

/* wpr and xperf put the PDBs of images that .NET compiled before beside the trace, into a
 * symbol store TRACE.NGENPDB. Those that are there come behind the path; false: none is. */
static bool add_ngen_folders(const etlheap_result *result, const char *path, char out[PATH_SIZE])
{
    const etlheap_trace_info *const info = etlheap_result_trace(result);
    char folder[STORE_SIZE];
    int size = snprintf(out, PATH_SIZE, "%s", path);
    bool any = false;
    for (u32 i = 0; i < info->file_count && size >= 0 && size < PATH_SIZE; i++) {
        const char *const file = info->files[i];
        const int length = snprintf(folder, sizeof folder, "%s.NGENPDB", file);
        if (length >= (int)sizeof folder || strpbrk(file, ";*") != NULL ||
            size + length + 1 >= PATH_SIZE || etl_path_kind_of(folder) != ETL_PATH_FOLDER)
            continue;
        size += snprintf(out + size, PATH_SIZE - (size_t)size, "%s%s", size > 0 ? ";" : "", folder);
        any = true;
    }
    return any;
}

void cli_symbols_done(cli_symbols *symbols)
{
    if (symbols->symbols)
        cli_progress_end(&symbols->progress);
}

void cli_symbols_close(cli_symbols *symbols)
{
    if (!symbols->is_kept)
        etlheap_symbols_close(symbols->symbols);
    symbols->symbols = NULL;
    cli_logins_close(symbols->logins);
    symbols->logins = NULL;
    for (u32 i = 0; i < symbols->package_count; i++)
        etlheap_unpacked_symbols_close(symbols->packages[i]);
    free(symbols->packages);
    symbols->packages = NULL;
    symbols->package_count = 0;
}
