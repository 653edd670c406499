/*
 * terminal.h - what the program makes of where it runs (host.h).
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "cli/options/options.h"

/* How text is to look: width from COLUMNS or the terminal, whole where there is neither,
 * colour on a terminal unless NO_COLOR is set, ASCII without colour on a terminal whose
 * locale is not UTF-8 or whose TERM is dumb, rows and frames from the options. */
etlheap_layout cli_layout(const cli_options *options);

/* Whether the result goes to a terminal. */
bool cli_output_is_terminal(const cli_options *options);

/* The folder for temporary files: of TMPDIR (on Windows also TMP and TEMP), or else the
 * system's. */
const char *cli_temporary_folder(void);

/* The symbol path of _NT_SYMBOL_PATH, or NULL. */
const char *cli_symbol_path(void);

/* Where symbols are kept that come from servers: "etlheap/symbols" in the user's
 * cache folder. False when that is not known or its name is too long. */
bool cli_symbol_store(char *out, size_t size);

/* Whether a progress bar is wanted and possible. */
bool cli_wants_progress(const cli_options *options);

#endif
