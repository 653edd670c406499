/*
 * hint.h - advice that a program can add to the library's messages.
 *
 * Messages of the library never name an option, because the library has none. They say what is
 * wrong and what is needed. Errors, diagnostics and shortened texts also have a hint, which a
 * program turns into the name of its own option or menu item:
 *
 *     812 MiB of memory are needed, more than allowed      the library, with hint MORE_MEMORY
 *                                           ; raise --memory         appended by a program
 *
 * Find the hint of an error in etl_error.hint and of a diagnostic with etl_diag_hint(). Functions
 * that write texts call the etl_hint_fn they are given. To add a hint, add a row at the end of the
 * table.
 */
#ifndef ETL_HINT_H
#define ETL_HINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, what would help, as a field or function of the library) */
#define ETL_HINTS(X)                                                                               \
    X(NONE, "")                                                                                    \
    /* of errors */                                                                                \
    X(MORE_MEMORY, "allow more memory (memory_bytes_max)")                                         \
    X(NARROWER_WINDOW, "allow more memory (memory_bytes_max), or narrow the window")               \
    X(FEWER_ROWS, "allow more memory (memory_bytes_max), or ask for fewer rows (top)")             \
    X(DUPLICATES, "count the trace once more (allow_duplicates)")                                  \
    X(SAME_WINDOWS, "make the summaries with windows of one length (every_ns)")                    \
    X(OTHER_RECORDINGS,                                                                            \
      "analyze each recording separately, or allow them to be read as one (together)")             \
    X(WHOLE_TRACE, "leave the window open (from_ns, to_ns, kind_to_ticks)")                        \
    X(KEEP_WINDOWS, "make the summary with windows (every_ns)")                                    \
    X(EXITS_FREE, "let the end of a process free its memory (at_exit_freed)")                      \
    X(ONE_KIND, "select one kind (kinds)")                                                         \
    X(SUMS, "write sums in place of rows (rows)")                                                  \
    /* of shortened texts */                                                                       \
    X(MORE_ROWS, "list more rows (rows_max)")                                                      \
    X(STEADY_ROWS, "list steady rows (keep_steady)")                                               \
    X(UNCHANGED_ROWS, "list unchanged rows (keep_unchanged)")                                      \
    X(MORE_RESULTS, "list more results (results_max)")                                             \
    X(PER_SECOND, "compare amounts per second (per_second)")                                       \
    /* of a check */                                                                               \
    X(ALLOW_EMPTY, "let a run pass that measured nothing (allow_empty)")                           \
    X(SUPPRESS, "suppress known leaks (suppressions)")                                             \
    X(SUPPRESS_OR_ACCEPT, "suppress known leaks, or make the run the baseline")                    \
    /* of symbols */                                                                               \
    X(SYMBOL_PATH, "set the symbol path (path)")                                                   \
    X(LIST_MODULES, "list the modules and their files (etlheap_symbols_list)")                     \
    X(OTHER_BUILDS, "accept symbol files of other builds (loose)")                                 \
    X(OFFLINE, "ask no servers (offline)")                                                         \
    /* of a page with parts of a trace; {file}, {kind}, {process} and {frame} are filled in */     \
    X(ALL_BLOCKS, "list lifetimes one by one (etlheap_lifetimes_open)")                            \
    X(ONE_THREAD, "select a thread (threads)")                                                     \
    /* of shortened tables */                                                                      \
    X(MORE_COLUMNS, "give lines more columns (width), or no limit (whole)")                        \
    /* of a failed check; places and brackets are filled in, see formats/parts/check_more.h */     \
    X(FAILED_STACKS, "report the stacks that have the frame (require_frames)")                     \
    X(GROWN_STACKS, "compare the stacks that have the frame (etlheap_diff_tables)")                \
    X(WRAPPER, "cull the frame (cull_frames)")                                                     \
    X(LEFT_STACKS, "report what was allocated between two moments (from_ns, to_ns, types)")        \
    /* of a comparison */                                                                          \
    X(EQUAL_WINDOWS, "end both windows at the same time (to_ns)")                                  \
    /* of suggested commands */                                                                    \
    X(LOGIN, "give the symbol path with its login (path)")                                         \
    /* of packed files */                                                                          \
    X(UNPACK_LIMIT, "allow more unpacked bytes (unpacked_bytes_max)")                              \
    /* of downloads of symbols */                                                                  \
    X(SERVER_LOGIN, "give the login of the server (login)")                                        \
    X(PROXY_LOGIN, "give the login of the proxy (the variable https_proxy)")                       \
    X(DOWNLOAD_TIME, "allow more time for a file (download_ms_max)")                               \
    X(DOWNLOAD_SIZE, "allow larger files (download_bytes_max)")                                    \
    X(PRIVATE_REDIRECTS, "follow redirects to private addresses (private_redirects)")              \
    /* of a check without the baseline that it requires */                                         \
    X(FIRST_BASELINE, "make this run the baseline")

typedef enum etl_hint {
#define ETL_HINT_ENUM(name, text) ETL_HINT_##name,
    ETL_HINTS(ETL_HINT_ENUM)
#undef ETL_HINT_ENUM
        ETL_HINT_COUNT
} etl_hint;

/* [stable] The hint as advice in terms of the library's fields and functions; "" for NONE and for a
 * number out of range. Static text. */
const char *etl_hint_text(etl_hint hint);

/*
 * Returns the text that a program appends to a message with this hint, including punctuation: ";
 * raise --memory". NULL or "": nothing. Called on the thread that writes the text; the text must
 * stay valid until that is done.
 */
typedef const char *etl_hint_fn(etl_hint hint);

#ifdef __cplusplus
}
#endif

#endif
