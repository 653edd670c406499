/*
 * advice.c - see advice.h.
 */
#include "advice.h"

#include <stdio.h>

static const char *const advice[ETL_HINT_COUNT] = {
    [ETL_HINT_NONE] = "",
    [ETL_HINT_MORE_MEMORY] = "; raise --memory",
    [ETL_HINT_NARROWER_WINDOW] = "; raise --memory or narrow the window",
    [ETL_HINT_FEWER_ROWS] = "; raise --memory, or ask for fewer rows with --top",
    [ETL_HINT_DUPLICATES] = ", or --allow-duplicates",
    [ETL_HINT_SAME_WINDOWS] = " (--every)",
    [ETL_HINT_OTHER_RECORDINGS] = ": compare them with diff, add up their stores with merge, store "
                                  "each with store --out-dir, or read them as one with --together",
    [ETL_HINT_WHOLE_TRACE] = ", or leave out --from, --to and --at",
    [ETL_HINT_KEEP_WINDOWS] = ": write it with store --summary --every",
    [ETL_HINT_EXITS_FREE] = ", or use --at-exit freed",
    [ETL_HINT_ONE_KIND] = ", as in --kind heap",
    [ETL_HINT_SUMS] = ", or leave out --rows",
    [ETL_HINT_MORE_ROWS] = "; --top N shows more",
    [ETL_HINT_STEADY_ROWS] = "; --all lists steady rows",
    [ETL_HINT_UNCHANGED_ROWS] = "; --all lists unchanged rows",
    [ETL_HINT_MORE_RESULTS] = "; --sarif-results lists more, and --format json lists all",
    [ETL_HINT_PER_SECOND] = "; --per-second compares rates",
    [ETL_HINT_ALLOW_EMPTY] = " (--allow-empty lets such a run pass)",
    [ETL_HINT_SUPPRESS] =
        "To ignore known leaks, list them in --suppressions FILE, with lines leak:FUNCTION.",
    [ETL_HINT_SUPPRESS_OR_ACCEPT] =
        "To ignore known leaks, list them in --suppressions FILE, with lines leak:FUNCTION. To "
        "accept what grew on purpose, run once with --update-baseline --accept.",
    [ETL_HINT_SYMBOL_PATH] = " (--symbols PATH names them)",
    [ETL_HINT_LIST_MODULES] = "; etlheap symbols lists them and the files they need",
    [ETL_HINT_OTHER_BUILDS] = "; --symbols-loose accepts them",
    [ETL_HINT_OFFLINE] = ", or use --offline to skip them",
    [ETL_HINT_ALL_BLOCKS] = "; to list all: etlheap allocations {files} --kind {kind} --process "
                            "{process} --require-frame {frame}[ {selection}]",
    [ETL_HINT_ONE_THREAD] =
        " To see the stacks of one thread: etlheap report {files} --thread TID[ {selection}]",
    [ETL_HINT_FAILED_STACKS] = "etlheap report {files} --kind {kind}[ --process {process}]"
                               "[ --heap {heap}][ --require-frame {frame}][ {selection}]"
                               "[ --from {from}][ --to {to}][ --sort {sort}] --frames 64",
    [ETL_HINT_GROWN_STACKS] = "etlheap diff {baseline} {files} --kind {kind}[ --process {process}]"
                              "[ --require-frame {frame}][ {selection}] --frames 64",
    [ETL_HINT_LEFT_STACKS] =
        "etlheap report {files} --kind {kind}[ {selection}] --from {from}[ --to {to}] --type AIFO "
        "--frames 64",
    [ETL_HINT_LOGIN] = "These commands lack the login of the symbol server: complete --symbols "
                       "before you run them.",
    [ETL_HINT_UNPACK_LIMIT] = "; if you trust the file, raise --unpack-limit",
    [ETL_HINT_SERVER_LOGIN] = "; --symbol-login says where the login is",
    [ETL_HINT_PROXY_LOGIN] = "; the variable https_proxy takes it: http://USER:PASSWORD@HOST:PORT",
    [ETL_HINT_DOWNLOAD_TIME] = "; raise --download-time",
    [ETL_HINT_DOWNLOAD_SIZE] = "; raise --download-limit",
    [ETL_HINT_PRIVATE_REDIRECTS] =
        "; --private-redirects follows them to private addresses, and with an old libcurl",
    [ETL_HINT_FIRST_BASELINE] =
        ", or make this run the baseline once with --update-baseline --accept",
    [ETL_HINT_WRAPPER] = "; --cull-frame {frame} lists its callers instead",
    [ETL_HINT_EQUAL_WINDOWS] = "; --to ends both at the same time",
    [ETL_HINT_MORE_COLUMNS] = "; a wider terminal or | less -S shows them",
};

const char *cli_advice(etl_hint hint)
{
    const char *const words = (unsigned)hint < ETL_HINT_COUNT ? advice[hint] : NULL;
    return words ? words : "";
}

void cli_error_text(const etl_error *err, char out[CLI_ERROR_SIZE])
{
    snprintf(out, CLI_ERROR_SIZE, "%s%s", err->message, cli_advice(err->hint));
}

bool cli_advice_is_memory(etl_hint hint)
{
    return hint == ETL_HINT_MORE_MEMORY || hint == ETL_HINT_NARROWER_WINDOW ||
           hint == ETL_HINT_FEWER_ROWS;
}
