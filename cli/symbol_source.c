/*
 * symbol_source.c - the symbols that a command's options tell of.
 */
#include "symbol_source.h"

#include "cli/messages.h"
#include "cli/system/terminal.h"
#include "parser/system/files.h"

#include <stdio.h>
#include <string.h>

#define STORE_SIZE 4096
#define PATH_SIZE  32768

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

etl_status cli_symbols_open(const cli_options *options, const cli_guard *guard,
                            const etlheap_result *result, bool always, cli_symbols *out,
                            etl_error *err)
{
    char store[STORE_SIZE];
    char whole[PATH_SIZE] = "";
    const bool is_asked = !options->no_symbols;
    const char *const asked = options->symbols ? options->symbols : cli_symbol_path();
    const char *path = is_asked ? asked : NULL;
    *out = (cli_symbols){ .symbols = NULL };
    if (is_asked && add_ngen_folders(result, asked ? asked : "", whole))
        path = whole;
    /* The trace itself names methods of .NET. */
    if (!path && !(always && is_asked) && etlheap_method_count(result) == 0)
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
    return etlheap_symbols_open(result, &symbol_options, &out->symbols, err);
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
    etlheap_symbols_close(symbols->symbols);
    symbols->symbols = NULL;
    cli_logins_close(symbols->logins);
    symbols->logins = NULL;
}
