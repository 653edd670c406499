/* symbol_source.h - opens the symbols that a command's options ask for. */
#ifndef CLI_SYMBOL_SOURCE_H
#define CLI_SYMBOL_SOURCE_H

#include "progress.h"
#include "server_logins.h"

/* Start from {0}. Must not move while it is open. */
typedef struct cli_symbols {
    etlheap_symbols *symbols;            /* NULL: none */
    bool is_kept;                        /* by a session, which closes them */
    cli_progress progress;               /* of downloads */
    cli_logins *logins;                  /* of servers; NULL: none */
    etlheap_unpacked_symbols **packages; /* PDBs of packages; NULL: none */
    u32 package_count;
} cli_symbols;

/* Checks the symbol path, and where logins come from. ETL_ERR_ARGUMENT (the message says where the
 * path comes from), ETL_ERR_MEMORY. */
etl_status cli_symbols_check(const cli_options *options, etl_error *err);

/*
 * Opens the symbols of packages that the traces come from, of --symbols, or of _NT_SYMBOL_PATH if
 * that is not given, and of folders TRACE.NGENPDB next to the traces. Without any, and with
 * --no-symbols, opens none, unless `always` is set or the traces name .NET methods, which then have
 * names. An anonymised store has its own names, which only --no-symbols leaves out. Errors as for
 * etlheap_symbols_open.
 */
etl_status cli_symbols_open(const cli_options *options, const cli_guard *guard,
                            const etlheap_result *result, bool always, cli_symbols *out,
                            etl_error *err);

/* The same for a store that was just made of traces: packages and folders are those of `traces`,
 * which is the result of making it. */
etl_status cli_symbols_open_made(const cli_options *options, const cli_guard *guard,
                                 const etlheap_result *result, const etlheap_result *traces,
                                 cli_symbols *out, etl_error *err);

/* Removes the progress bar when all files were found. */
void cli_symbols_done(cli_symbols *symbols);

void cli_symbols_close(cli_symbols *symbols);

#endif
