/* terminal.h - settings that depend on where the program runs (host.h). */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "cli/options/options.h"

/* The layout of text: width from COLUMNS or the terminal, unlimited if there is neither; colour on
 * a terminal unless NO_COLOR is set; ASCII without colour on a terminal with a locale other than
 * UTF-8 or with TERM=dumb; rows and frames from the options. */
etlheap_layout cli_layout(const cli_options *options);

/* True if the output goes to a terminal. */
bool cli_output_is_terminal(const cli_options *options);

/* The folder for temporary files: from TMPDIR (on Windows also TMP and TEMP), or else the
 * system's. */
const char *cli_temporary_folder(void);

/* The symbol path of _NT_SYMBOL_PATH, or NULL. */
const char *cli_symbol_path(void);

/* The folder for downloaded symbols: "etlheap/symbols" in the user's cache folder. False if that is
 * unknown or its name is too long. */
bool cli_symbol_store(char *out, size_t size);

/* True if a progress bar is wanted and possible. */
bool cli_wants_progress(const cli_options *options);

#endif
