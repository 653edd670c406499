/*
 * symbol_source.c - the symbols that a command's options tell of.
 */
#include "symbol_source.h"

#include "cli/messages.h"
#include "cli/system/terminal.h"

#include <stdio.h>

#define STORE_SIZE 4096

static void note_missing(const char *subject, const char *path);

etl_status cli_symbols_check(const cli_options *options, etl_error *err)
{
    const char *const path = options->symbols ? options->symbols : cli_symbol_path();
    etl_error why = { .status = ETL_OK };
    if (options->no_symbols || !path)
        return ETL_OK;
    const etl_status status = etlheap_symbols_check_path(path, &why);
    if (status == ETL_OK)
        note_missing(options->symbols ? "--symbols" : "_NT_SYMBOL_PATH", path);
    if (status == ETL_OK)
        return ETL_OK;
    return etl_fail_with(err, status, 0, "%s: %.180s",
                         options->symbols ? "--symbols" : "_NT_SYMBOL_PATH", why.message);
}

/* A slip in a path looks like a program without symbols. */
static void note_missing(const char *subject, const char *path)
{
    char folder[STORE_SIZE];
    char message[STORE_SIZE + 64];
    u32 from = 0;
    for (;;) {
        const u32 found = etlheap_symbols_missing_folder(path, from, folder, sizeof folder);
        if (found == UINT32_MAX)
            return;
        snprintf(message, sizeof message, "folder '%s' does not exist or cannot be read", folder);
        cli_note(subject, message);
        from = found + 1;
    }
}

etl_status cli_symbols_open(const cli_options *options, const cli_guard *guard,
                            const etlheap_result *result, bool always, cli_symbols *out,
                            etl_error *err)
{
    char store[STORE_SIZE];
    const char *const path = options->symbols ? options->symbols : cli_symbol_path();
    *out = (cli_symbols){ .symbols = NULL };
    if (options->no_symbols || (!path && !always))
        return ETL_OK;
    out->progress = cli_progress_begin(options, "symbols", guard);
    const etlheap_symbol_options symbol_options = {
        .size = sizeof symbol_options,
        .path = path,
        .default_store = cli_symbol_store(store, sizeof store) ? store : NULL,
        .temporary_folder = cli_temporary_folder(),
        .offline = options->offline,
        .loose = options->symbols_loose,
        .jobs = options->jobs,
        .progress = cli_progress_update,
        .progress_user = &out->progress,
    };
    return etlheap_symbols_open(result, &symbol_options, &out->symbols, err);
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
}
