/*
 * terminal.c - what the program knows of where it runs.
 */
#include "terminal.h"

#include "cli/options/given_options.h"

#include "host.h"

#include <stdio.h>

#include "cli/options/advice.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "parser/system/files.h"

#define COLUMNS_MIN 20
#define COLUMNS_MAX 4096

static bool is_plain(void);

/* COLUMNS goes before the terminal's own word, as in other programs: a script can
 * set it, and so can a test. */
etlheap_layout cli_layout(const cli_options *options)
{
    etlheap_layout layout = etlheap_layout_default();
    const bool terminal = cli_output_is_terminal(options);
    const char *const columns = cli_host_variable("COLUMNS");
    u64 width;
    if (columns && cli_parse_count(columns, COLUMNS_MAX, &width) && width >= COLUMNS_MIN)
        layout.width = (u32)width;
    else if (terminal && cli_host_columns(ETL_STDOUT) >= COLUMNS_MIN)
        layout.width = cli_host_columns(ETL_STDOUT);
    else
        layout.whole = !terminal;
    layout.colour = terminal && !is_plain() && !cli_host_variable("NO_COLOR");
    layout.ascii = terminal && is_plain();
    if (options->top > 0) {
        layout.rows_max = cli_top_limit(options);
        layout.rows_of_each_kind = false;
    }
    layout.rows_skip = options->skip;
    memcpy(layout.columns, options->columns.at, sizeof layout.columns);
    layout.column_count = options->columns.count;
    layout.columns_changed = options->columns.is_change;
    layout.columns_removed = options->columns.removed;
    layout.frames_max = options->frames;
    layout.sort = options->sort;
    layout.sort_ascending = options->sort_ascending;
    layout.tree = (etlheap_tree)options->tree;
    if (cli_is_given(options, "--tree-min"))
        layout.tree_min_ppm = options->tree_min_ppm;
    layout.titles = options->titles;
    layout.hint = cli_advice;
    return layout;
}

/* A terminal that is to get nothing but ASCII: one that knows no codes, or that has a
 * locale without Unicode. */
static bool is_plain(void)
{
    const char *const kind = cli_host_variable("TERM");
    return !cli_host_is_utf8() || (kind && strcmp(kind, "dumb") == 0);
}

bool cli_output_is_terminal(const cli_options *options)
{
    return !options->served && !cli_output_is_file(options) && cli_host_is_terminal(ETL_STDOUT);
}

const char *cli_temporary_folder(void)
{
    const char *const folder = cli_host_temporary_folder();
    return folder ? folder : etl_temporary_default;
}

const char *cli_symbol_path(void)
{
    return cli_host_variable("_NT_SYMBOL_PATH");
}

bool cli_symbol_store(char *out, size_t size)
{
    const char *below;
    const char *const folder = cli_host_cache(&below);
    if (!folder)
        return false;
    const int length = snprintf(out, size, "%s%s/etlheap/symbols", folder, below);
    return length > 0 && (size_t)length < size;
}

bool cli_wants_progress(const cli_options *options)
{
    if (options->progress == CLI_PROGRESS_AUTO)
        return cli_host_is_terminal(ETL_STDERR);
    return options->progress == CLI_PROGRESS_ALWAYS;
}
