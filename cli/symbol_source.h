/*
 * symbol_source.h - the symbols that a command's options tell of.
 */
#ifndef CLI_SYMBOL_SOURCE_H
#define CLI_SYMBOL_SOURCE_H

#include "progress.h"

/* Start from {0}. Does not move once it is open. */
typedef struct cli_symbols {
    etlheap_symbols *symbols; /* NULL: none are wanted */
    cli_progress progress;    /* of downloads */
} cli_symbols;

/* Whether the symbol path can be read as one. Errors: ARGUMENT, said with where the
 * path comes from; MEMORY. */
etl_status cli_symbols_check(const cli_options *options, etl_error *err);

/*
 * Opens the symbols of --symbols, or of _NT_SYMBOL_PATH when that is absent, and of
 * folders TRACE.NGENPDB beside the traces. Without any, and with --no-symbols, there are
 * none, unless `always` or the traces name methods of .NET: then these have names.
 * Errors as of etlheap_symbols_open.
 */
etl_status cli_symbols_open(const cli_options *options, const cli_guard *guard,
                            const etlheap_result *result, bool always, cli_symbols *out,
                            etl_error *err);

/* Takes the bar off the screen: all files that are wanted are there. */
void cli_symbols_done(cli_symbols *symbols);

void cli_symbols_close(cli_symbols *symbols);

#endif
