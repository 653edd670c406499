/*
 * formats.h - front door of the output: writes results as text, JSON, CSV and other formats, and
 * unpacks compressed traces.
 *
 *     etlheap_sink_open_*          a file, descriptor or text to write to
 *     etlheap_format_named         "json" -> format, with a writer per kind of answer
 *     etlheap_exporter_named       "folded" -> exporter for another program (exporters.h)
 *     etlheap_unpack               zip, gzip or zstd file -> traces and stores to open
 *     etlheap_stack_tags_read      WPA's stack tags -> etlheap_tags
 *     etlheap_pool_tags_read       pooltag.txt -> etlheap_pool_tags
 *
 * This header includes engine/engine.h and all other public headers of the output, so it is enough
 * for a program that analyzes traces and prints answers.
 *
 * Functions whose comment begins with [stable] keep their meaning; the others are experimental
 * (docs/c_api.md).
 *
 * A format is a row of a const table with a function per kind of answer. Writers take a finished
 * answer, stream it into a sink and keep nothing. The same arguments give the same bytes: writers
 * do not use the locale, the time of day or the environment.
 *
 * Threads: only one thread may use a sink at a time. Writers may run in parallel on different
 * sinks.
 */
#ifndef ETLHEAP_FORMATS_H
#define ETLHEAP_FORMATS_H

#include "engine/engine.h"
#include "umdh_log.h" /* UMDH logs */

#ifdef __cplusplus
extern "C" {
#endif

/* The libraries that the output uses, by index from 0. False after the last. */
bool etlheap_formats_library(uint32_t index, etlheap_library *out);

/* --- sinks ------------------------------------------------------------------ */

/*
 * Where output goes: a descriptor, a text, or a file that gets its name only when it is complete.
 * Output is buffered. After the first error, writes do nothing, and etlheap_sink_close() returns
 * the error. So a writer need not check each write.
 */
typedef struct etlheap_sink etlheap_sink;

/* [stable] Opens a sink that writes to a descriptor, which the caller must keep open and close
 * later. `name` is for messages ("standard output") and must outlive the sink. On success the
 * caller owns *out (etlheap_sink_close or etlheap_sink_discard), as for the two functions below.
 * ETL_ERR_MEMORY. */
etl_status etlheap_sink_open_descriptor(int descriptor, const char *name, etlheap_sink **out,
                                        etl_error *err);

/*
 * [stable] Opens a sink that writes to a new file next to `path`. Closing renames it to `path`; an
 * existing file stays unchanged until then, and passes its permissions to the new one. If `path` is
 * not a regular file (a device, a pipe), it is written directly. ETL_ERR_IO, ETL_ERR_MEMORY.
 */
etl_status etlheap_sink_open_file(const char *path, etlheap_sink **out, etl_error *err);

/* [stable] Opens a sink that appends to a text, which the caller keeps and frees. Closing fails if
 * the text ran out of memory. ETL_ERR_MEMORY. */
typedef struct etlheap_text etlheap_text;
etl_status etlheap_sink_open_text(etlheap_text *text, etlheap_sink **out, etl_error *err);

/* Compresses all output of the sink into one zstd frame. Call it before the first write.
 * ETL_ERR_MEMORY: the sink can then only be discarded. */
etl_status etlheap_sink_compress(etlheap_sink *sink, etl_error *err);

/* Write bytes, text up to its NUL, or formatted text. */
void etlheap_sink_write(etlheap_sink *sink, const void *bytes, size_t size);
void etlheap_sink_text(etlheap_sink *sink, const char *text);
void etlheap_sink_format(etlheap_sink *sink, const char *format, ...) ETL_PRINTF(2, 3);

/* Writes what the zstd frame contains. ETL_ERR_CORRUPT: it is damaged or incomplete, and the sink
 * got only the bytes before the damage. Write errors are reported when the sink is closed. */
etl_status etlheap_sink_unpack(etlheap_sink *sink, const void *frame, size_t size, etl_error *err);

/* Write numbers, faster than with a format. etlheap_sink_hex writes lower case with at least
 * `digits` digits (at most 16), without "0x". */
void etlheap_sink_unsigned(etlheap_sink *sink, uint64_t value);
void etlheap_sink_signed(etlheap_sink *sink, int64_t value);
void etlheap_sink_hex(etlheap_sink *sink, uint64_t value, int digits);

/* Writes text from a file so that it is safe for a terminal: invalid UTF-8 and control characters
 * are replaced with U+FFFD. */
void etlheap_sink_printable(etlheap_sink *sink, const char *text, size_t size);

/* Writes the same character `count` times. */
void etlheap_sink_fill(etlheap_sink *sink, char c, size_t count);

/* False after the first error: stop, because further output would be lost. */
bool etlheap_sink_ok(const etlheap_sink *sink);

/* True if that error was a pipe whose reader has left. Flush first. */
bool etlheap_sink_reader_left(const etlheap_sink *sink);

/* Writes buffered output now, so that a live reader sees whole lines. */
void etlheap_sink_flush(etlheap_sink *sink);

/* Writes buffered output, and waits until a file is on disk. */
void etlheap_sink_settle(etlheap_sink *sink);

/* From now on, writes ASCII only: dashes become '-', other characters '?'. */
void etlheap_sink_ascii(etlheap_sink *sink);

/*
 * From now on, no line is a command of a build server, whatever the names in a trace are: "::"
 * after a line's leading blanks, and "##[" or "##word[" anywhere in a line, get U+FFFD as their
 * last character. For output that may be shown in a build log: formats that are `for_people`, and
 * messages.
 */
void etlheap_sink_log_safe(etlheap_sink *sink);

/* From now on, cells of CSV that a spreadsheet would run as a formula begin with an apostrophe. */
void etlheap_sink_csv_safe(etlheap_sink *sink);
bool etlheap_sink_is_csv_safe(const etlheap_sink *sink);

/* Called before each part of the output is written, 64 KiB or less. Return false to stop: then
 * writes do nothing, etlheap_sink_ok() is false, and closing fails with ETL_ERR_CANCELLED. */
typedef bool etlheap_sink_watch_fn(void *user);
void etlheap_sink_watch(etlheap_sink *sink, etlheap_sink_watch_fn *goes_on, void *user);

/* Asks the watcher, if there is one; for writers that work long between two writes. False if
 * writing has failed or was stopped. */
bool etlheap_sink_goes_on(etlheap_sink *sink);

/* [stable] Completes the output and frees the sink, also on failure. After a failure (ETL_ERR_IO,
 * the first error that occurred) no new or temporary file is left. */
etl_status etlheap_sink_close(etlheap_sink *sink, etl_error *err);

/* [stable] Frees the sink and removes its unfinished file. NULL is allowed. */
void etlheap_sink_discard(etlheap_sink *sink);

/* --- how text is laid out ------------------------------------------------------ */

typedef enum etlheap_tree {
    ETLHEAP_TREE_NONE,
    ETLHEAP_TREE_CALLEES, /* outermost frame first */
    ETLHEAP_TREE_CALLERS, /* innermost frame first */
    ETLHEAP_TREE_BOTH     /* the callers of tree_root, and its callees */
} etlheap_tree;

/* Words of a command line, as typed. */
typedef struct etlheap_typed {
    const char *const *at;
    uint32_t count;
} etlheap_typed;

/* How text output is laid out. CSV uses only `titles` and `hint`, JSON only `hint`. Start from
 * etlheap_layout_default(). */
typedef struct etlheap_layout {
    size_t size;    /* sizeof(etlheap_layout) */
    uint32_t width; /* columns of a line; 0: no limit */
    bool colour;
    uint32_t rows_max; /* rows in a report or list; 0: all */
    /* rows_max applies to each kind, and rows with 0 in the sort measure are left out; else it
     * applies to all kinds together. */
    bool rows_of_each_kind;
    uint32_t frames_max;  /* frames shown per stack; lists of lifetimes, 0: only the site */
    etlheap_measure sort; /* the table is sorted by it; always shown */
    bool sort_ascending;
    etlheap_tree tree;
    bool ascii;            /* draw curves and ellipses with ASCII characters */
    bool titles;           /* CSV: column titles for people instead of JSON keys */
    etl_hint_fn *hint;     /* the program's hints to users (hint.h); NULL: none */
    bool whole;            /* show all columns and whole names, whatever the width */
    uint32_t tree_min_ppm; /* a tree shows nodes from this part of their root on, in millionths */
    /* Reports: the columns of rows, each an etlheap_measure, in place of those that the format
     * shows; none: the format's. With columns_changed, they follow the format's own, of which those
     * in columns_removed are left out. */
    uint8_t columns[ETLHEAP_MEASURES_CAPACITY];
    uint32_t column_count;
    bool columns_changed;
    etlheap_measure_set columns_removed;
    etlheap_measure_set columns_beside; /* that rows have only because they are in `columns` */
    uint32_t rows_skip; /* rows left out before the first one, of all kinds together */
    /* A tree begins at the outermost frame that matches, and has only stacks with one. NULL: it
     * begins where stacks do. Borrowed. */
    const etlheap_pattern *tree_root;
    /* What the query's exclude_frames left out of the answer, for each compared run: tables of
     * queries with only_excluded, whose totals are written. NULL: nothing was to be left out. */
    const etlheap_table *const *excluded;
    uint32_t excluded_count;
    /* Of a report of one moment that is a peak: the options that select what has the peak, "" for
     * all memory. NULL: the moment is not a peak. Borrowed. */
    const char *peak_of;
    /* For pages, which show commands: the inputs, the options that select, name and shape what is
     * shown, and whether these have the symbol path without a login. Borrowed. */
    etlheap_typed inputs, selection;
    bool lacks_login;
} etlheap_layout;

/* [stable] Fills a layout of `size` bytes with the defaults: 100 columns, no colour, 25 rows of
 * each kind, 4 frames, sorted by outstanding size, no tree; of a tree, nodes from 1 % of their root
 * on. Does nothing if the size is impossible. */
void etlheap_layout_init(etlheap_layout *layout, size_t size);

/* The default layout, inline, so that `size` is that of the caller's structure. */
static inline etlheap_layout etlheap_layout_default(void)
{
    etlheap_layout layout;
    etlheap_layout_init(&layout, sizeof layout);
    return layout;
}

/*
 * Marks the rows that the text report lists, in `listed` (row_count entries): the first
 * layout->rows_max. With rows_of_each_kind, rows with 0 in the sort measure are left out if their
 * kind has others, because memory that came and went would hide what is outstanding. A tree has
 * the paths of all rows, or without rows_of_each_kind of the first rows_max; its sums are of all
 * rows. If the layout is invalid, no row is marked.
 */
void etlheap_layout_choose(const etlheap_layout *layout, const etlheap_table *table, bool *listed);

/* Appends the totals of what excluded frames left out, as words for people. */
void etlheap_excluded_words(const etlheap_table *excluded, etlheap_text *text);

/* The value for etlheap_query.whole_rows_max that keeps all rows etlheap_layout_choose can list. */
uint32_t etlheap_layout_whole_rows(const etlheap_layout *layout);

/* --- time windows --------------------------------------------------------------- */

/* The answer of a report on windows. Everything is borrowed. */
typedef struct etlheap_windows_answer {
    const etlheap_windows *windows;
    bool growth_wanted;           /* show the largest lasting rise, and its rows */
    const etlheap_growth *growth; /* the rise of a row of `windows`; NULL: nothing rises */
    uint32_t other_count;         /* smaller rises of other rows, which follow it in memory */
    /* The same windows, grouped also by STACK, measured over the windows of the rise; NULL: nothing
     * rises. */
    const etlheap_windows *stacks;
    const bool *explains; /* by row of `stacks`: the row explains the rise */
    uint32_t unexplained; /* number of rows that grew but are not marked */
    /* Window i is that of spike i of these, whose groups have the same keys. If there are none, the
     * only window is not shown. NULL: the windows are not those of spikes. */
    const etlheap_spikes *spikes;
    /* Names windows by the marks at which they begin; NULL: windows have no names. */
    const etlheap_marks *marks;
    const void *reserved[8]; /* NULL: room for later versions */
} etlheap_windows_answer;

/*
 * Marks the rows of `stacks` that grew and belong to the row that rises: the first layout->rows_max
 * and, with rows_of_each_kind, only those with at least a hundredth of the rise. Without a layout
 * it marks all. Returns the number of such rows that are left out.
 */
uint32_t etlheap_windows_explain(const etlheap_windows_answer *answer, const etlheap_layout *layout,
                                 bool *explains);

/* --- the leak gate --------------------------------------------------------------- */

/* X(enumerator, word): what happened to the baseline. */
#define ETLHEAP_RATCHETS(X)                                                                        \
    X(NONE, "none")           /* no update was requested */                                        \
    X(CREATED, "created")     /* there was no baseline */                                          \
    X(TIGHTENED, "tightened") /* this run replaced it */                                           \
    X(ACCEPTED, "accepted")   /* this run replaced it, whatever the verdict */                     \
    X(KEPT, "kept")           /* it is unchanged */                                                \
    X(REFUSED, "refused")     /* it is unchanged, because this run or its symbols are damaged */

typedef enum etlheap_ratchet {
#define ETLHEAP_RATCHET_ENUM(name, word) ETLHEAP_RATCHET_##name,
    ETLHEAP_RATCHETS(ETLHEAP_RATCHET_ENUM)
#undef ETLHEAP_RATCHET_ENUM
        ETLHEAP_RATCHET_COUNT
} etlheap_ratchet;

/* Maps source paths below `from`, as a compiler saw them, to paths below `to` in the repository; ""
 * and "." are its root. Paths are compared as on Windows. */
typedef struct etlheap_source_root {
    const char *from, *to;
} etlheap_source_root;

/* A list of source roots. Borrowed. */
typedef struct etlheap_source_roots {
    const etlheap_source_root *at;
    uint32_t count;
} etlheap_source_roots;

/* The answer of a check. Everything is borrowed. */
typedef struct etlheap_check {
    const etlheap_gate *gate;
    const char *baseline_name; /* file name; NULL: none */
    /* For the commands that a failed check suggests: the inputs (if empty, the files of the trace),
     * the options that select and name what was measured, and whether a command can compare the two
     * sides of a growth. */
    etlheap_typed inputs, selection;
    bool may_compare;
    etlheap_ratchet ratchet;
    /* Only for SARIF logs: */
    uint32_t results_max; /* largest number of results; 0: 5,000, GitHub's limit */
    const char *category; /* name by which hosts tell checks apart; NULL: "etlheap" */
    /* Where source files are in the repository; only for SARIF logs. */
    etlheap_source_roots roots;
    bool lacks_login; /* `selection` has the symbol path without a login; the output says so */
    const void *reserved[8]; /* NULL: room for later versions */
} etlheap_check;

/* Writes why nothing could be measured for a budget, and which processes have memory events: one
 * sentence without a full stop, cut to `size` bytes. */
void etlheap_check_absence_sentence(const etlheap_gate *gate, char *sentence, size_t size);

/* The same for a requirement of the gate that is not met; `index` counts its requirements. */
void etlheap_check_requirement_sentence(const etlheap_check *check, uint32_t index,
                                        etl_hint_fn *say, char *sentence, size_t size);

/* Which session's file is missing beside those that were given. xperf records heaps in a session of
 * their own, and processes, modules and VirtualAlloc in the kernel session. Until they are merged
 * there are two files, and either alone answers only half. */
typedef enum etlheap_missing_session {
    ETLHEAP_MISSING_NONE,
    ETLHEAP_MISSING_HEAP,  /* kernel events, and no heap events */
    ETLHEAP_MISSING_KERNEL /* heap events, and neither processes nor modules */
} etlheap_missing_session;

etlheap_missing_session etlheap_find_missing_session(const etlheap_result *result);

/* --- what changed ------------------------------------------------------------------ */

/* One side of a diff: its table, and the result or log it comes from. Everything is borrowed. */
typedef struct etlheap_diff_side {
    const char *name;             /* file name */
    const etlheap_result *result; /* NULL: the table is from a log */
    const etlheap_umdh *log;      /* NULL: the table is from a result */
    const etlheap_table *table;
    const void *reserved[8]; /* NULL: room for later versions */
} etlheap_diff_side;

/* The answer of a comparison. Everything is borrowed. */
typedef struct etlheap_diff_answer {
    const etlheap_diff *diff;
    etlheap_diff_side base, now;
    const void *reserved[8]; /* NULL: room for later versions */
} etlheap_diff_answer;

/* --- how many runs develop --------------------------------------------------------- */

/* One run of a trend. Everything is borrowed. */
typedef struct etlheap_trend_run {
    const char *name; /* file name */
    const etlheap_result *result;
    const etlheap_table *table;
    const void *reserved[8]; /* NULL: room for later versions */
} etlheap_trend_run;

/* The answer of a trend. Everything is borrowed. */
typedef struct etlheap_trend_answer {
    const etlheap_trend *trend;
    const etlheap_trend_run *runs; /* trend->run_count runs, in the order of the trend */
    const void *reserved[8];       /* NULL: room for later versions */
} etlheap_trend_answer;

/* --- formats -------------------------------------------------------------------- */

/* Text that grows as needed. Start from {0}, and free it with etlheap_text_free. */
struct etlheap_text {
    char *bytes; /* with a NUL once something was appended */
    size_t size; /* without the NUL */
    size_t capacity;
    bool failed; /* out of memory: the text is incomplete */
};

/* [stable] Frees the text's memory and resets it to {0}. */
void etlheap_text_free(etlheap_text *text);

/* Replaces the text with the name of an event that describes itself or that the trace describes:
 * "Provider/Event", or "Provider/Event/Opcode" if it has an opcode. False if it has no
 * description. */
bool etlheap_record_title(const etlheap_stream_record *record, etlheap_text *text);

/*
 * One output format. A writer that is NULL is not available in the format. Writers return ETL_OK,
 * ETL_ERR_MEMORY, or if the layout is invalid ETL_ERR_ARGUMENT (its size or a value) or
 * ETL_ERR_UNSUPPORTED. Write errors are reported when the sink is closed. write_record also takes
 * the decoded event, of kind ETL_EVENT_NONE if it could not be decoded.
 */
typedef struct etlheap_format {
    const char *name;    /* "json" */
    const char *suffix;  /* ".json": of files in this format; NULL: only text */
    const char *summary; /* one line */
    bool has_titles;     /* uses layout->titles */
    bool is_choice;      /* lists some of the rows, and says how many it leaves out */
    bool shows_equal;    /* comparisons need groups that are equal on both sides, too */
    bool adds_up;        /* comparisons are drawn as sums, so lifetimes cannot be */
    uint32_t rows_max;   /* default number of rows in a comparison; 0: all */
    bool for_people;     /* shown in build logs: needs etlheap_sink_log_safe */
    etl_status (*write_report)(const etlheap_result *result, const etlheap_table *table,
                               const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_histogram)(const etlheap_result *result, const etlheap_table *table,
                                  const etlheap_histogram *histogram, const etlheap_layout *layout,
                                  etlheap_sink *sink); /* and the report it belongs to */
    etl_status (*write_map)(const etlheap_result *result, const etlheap_map *map,
                            const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_spikes)(const etlheap_result *result, const etlheap_spikes *spikes,
                               const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_windows)(const etlheap_result *result, const etlheap_windows_answer *answer,
                                const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_check)(const etlheap_result *result, const etlheap_check *check,
                              const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_diff)(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                             etlheap_sink *sink);
    etl_status (*write_trend)(const etlheap_trend_answer *answer, const etlheap_layout *layout,
                              etlheap_sink *sink);
    etl_status (*write_suspects)(const etlheap_result *result, const etlheap_suspects *suspects,
                                 const etlheap_layout *layout, etlheap_sink *sink);
    /* Also returns what stopped the walk: see etlheap_lifetimes_status. */
    etl_status (*write_allocations)(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                    etlheap_sink *sink);
    etl_status (*write_symbols)(const etlheap_result *result, const etlheap_symbol_list *list,
                                const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_info)(const etlheap_result *result, const etlheap_layout *layout,
                             etlheap_sink *sink);
    void (*write_dump_head)(etlheap_sink *sink); /* written before the first record; may be NULL */
    etl_status (*write_record)(const etlheap_stream_record *record, const etl_event *event,
                               etlheap_text *scratch, etlheap_sink *sink);
} etlheap_format;

/* [stable] All formats, in a fixed order, and one by its name. Static. */
uint32_t etlheap_format_count(void);
const etlheap_format *etlheap_format_at(uint32_t index);      /* NULL beyond the count */
const etlheap_format *etlheap_format_named(const char *name); /* NULL: none */

/* [stable] Writes a table in the format of this name, with the default layout. For programs that
 * cannot include this header. ETL_ERR_ARGUMENT (no such format, or it has no reports), and errors
 * of write_report. */
etl_status etlheap_write_table(const char *format, const etlheap_result *result,
                               const etlheap_table *table, etlheap_sink *sink, etl_error *err);

/* --- other programs' formats ------------------------------------------------------ */

#include "exporters.h"
#include "runs.h"    /* index of a batch */
#include "sources.h" /* lines of source code */
#include "viewed.h"  /* inputs of a page in the browser */

/* --- stack tags ------------------------------------------------------------------ */

/*
 * Adds the tags of one of WPA's files (*.stacktags, XML). If tags are equal, the file that was read
 * first wins. Only the file itself is read. After a failure the handle has some of the tags, and
 * can only be closed. ETL_ERR_IO, ETL_ERR_CORRUPT (not such a file, or damaged; the message names
 * file and line), ETL_ERR_LIMIT (too large, or nested too deeply), ETL_ERR_MEMORY.
 */
etl_status etlheap_stack_tags_read(const char *path, etlheap_tags *tags, etl_error *err);

/* --- pool tags ------------------------------------------------------------------- */

/* Lines of a file that were not understood, and so left out. */
typedef struct etlheap_skipped_lines {
    uint32_t count, first; /* number of the first one, from 1 */
} etlheap_skipped_lines;

/*
 * Adds the descriptions of a file in the form of pooltag.txt: lines "TAG - BINARY - DESCRIPTION".
 * If tags are equal, the first line wins. Long descriptions are cut. ETL_ERR_IO, ETL_ERR_LIMIT (a
 * file of more than 4 MiB, or more than 1024 tags with wildcards), ETL_ERR_MEMORY.
 */
etl_status etlheap_pool_tags_read(const char *path, etlheap_pool_tags *tags,
                                  etlheap_skipped_lines *skipped, etl_error *err);

/* --- packed traces and stores --------------------------------------------------------- */

/* [stable] True if the file begins like a zip, gzip or zstd file. False if it cannot be read. */
bool etlheap_is_packed(const char *path);

/* One unpacked file. Strings are owned by the etlheap_unpacked. */
typedef struct etlheap_unpacked_member {
    const char *name; /* name in the zip, UTF-8; NULL: not from a zip */
    const char *path; /* path of the temporary file with the unpacked bytes */
} etlheap_unpacked_member;

typedef struct etlheap_unpacked etlheap_unpacked;

/* Options of etlheap_unpack and etlheap_spool. Start from {0} with `size` set. */
typedef struct etlheap_unpack_options {
    size_t size;                   /* sizeof(etlheap_unpack_options) */
    const char *folder;            /* for temporary files; NULL: the system's folder */
    uint64_t member_bytes_max;     /* largest unpacked size; 0: what the folder has room for */
    etlheap_progress_fn *progress; /* may be NULL */
    void *progress_user;
    bool beside; /* etlheap_unpack may return earlier: see etlheap_unpacked_is_arriving */
    /* Largest unpacked size of all files together. 0: ten times the packed file, and at least 64
     * GiB; for a pipe, what the folder has room for. */
    uint64_t unpacked_bytes_max;
} etlheap_unpack_options;

/*
 * [stable] Unpacks every .etl member of a zip, or the one trace or store in a gzip or zstd file,
 * each into its own temporary file, after checking how it begins (etl_check_start). Pass the paths
 * to etl_open or etlheap_open_store. A member that is longer than the zip's directory states is an
 * error; gzip and zstd files state no size. Consecutive frames of a gzip or zstd file (pigz, pzstd)
 * are read as one. Progress counts bytes of the members, or of the packed file. On success the
 * caller owns *out (etlheap_unpacked_close).
 *
 *     ETL_ERR_IO           cannot be read, or no room in the folder
 *     ETL_ERR_NOT_ETL      no .etl in it, or one that is not a trace
 *     ETL_ERR_UNSUPPORTED  encrypted, unknown compression, or zstd with a window over 128 MiB or
 *                          a dictionary
 *     ETL_ERR_CORRUPT      damaged, or cut off
 *     ETL_ERR_ARGUMENT     not packed
 *     ETL_ERR_LIMIT, ETL_ERR_CANCELLED, ETL_ERR_MEMORY
 */
etl_status etlheap_unpack(const char *path, const etlheap_unpack_options *options,
                          etlheap_unpacked **out, etl_error *err);

/*
 * With `beside`, a zip that holds a single trace is unpacked by a thread of its own while the trace
 * is read, if that is possible. All checks that precede unpacking have then been made, the file has
 * its size, and its bytes are written from the first to the last. The library reads the zip until
 * then, even if its name is gone. True if it is so; otherwise the files are complete.
 *
 *     open.in_steps = true;
 *     open.arrival = etlheap_unpacked_arrival;
 *     open.arrival_user = unpacked;
 *     status = etl_open(etlheap_unpacked_member_of(unpacked, 0).path, &open, &trace, err);
 *     etlheap_unpacked_hide(unpacked);
 *     ... read the trace ...
 *     etl_close(trace);
 *     etlheap_unpacked_close(unpacked);
 *
 * etlheap_unpacked_arrival is an etl_arrival_fn, for one thread at a time; `unpacked` is the
 * etlheap_unpacked. It calls the progress function of the options in the thread that waits, and
 * fails as etlheap_unpack would have; ETL_ERR_CANCELLED ends only the wait. Once it has failed with
 * another error, so does every call. If etl_open fails, a call with UINT64_MAX tells whether
 * the zip is to blame.
 */
bool etlheap_unpacked_is_arriving(const etlheap_unpacked *unpacked);
etl_status etlheap_unpacked_arrival(void *unpacked, uint64_t wanted, uint64_t *arrived,
                                    etl_error *err);

/*
 * Copies all bytes from a descriptor, which the caller keeps, into one temporary file: a trace, a
 * store, or one of these packed, which is then unpacked. Progress has a total of 0, because the
 * size is unknown, and is called ten times a second while a pipe has no data, so that waiting can
 * be cancelled. Errors and ownership as for etlheap_unpack.
 */
etl_status etlheap_spool(int descriptor, const etlheap_unpack_options *options,
                         etlheap_unpacked **out, etl_error *err);

/* [stable] The unpacked files, at least one, owned by `unpacked`. All zeros beyond the count. */
uint32_t etlheap_unpacked_count(const etlheap_unpacked *unpacked);
etlheap_unpacked_member etlheap_unpacked_member_of(const etlheap_unpacked *unpacked,
                                                   uint32_t index);

/* Which PDBs are wanted, by the name of the file, such as "app.pdb". */
typedef struct etlheap_symbols_wanted {
    bool (*is_wanted)(void *user, const char *name);
    void *user;
} etlheap_symbols_wanted;

/*
 * [stable] Unpacks the wanted PDBs of a zip, which PerfView and Visual Studio pack along, into a
 * temporary folder for a symbol path. *out is NULL if the file is not a zip or has none; otherwise
 * the caller owns it. Closing it removes the folder; files that are mapped stay readable. Errors as
 * for etlheap_unpack.
 */
typedef struct etlheap_unpacked_symbols etlheap_unpacked_symbols;
etl_status etlheap_unpack_symbols(const char *path, const etlheap_unpack_options *options,
                                  const etlheap_symbols_wanted *wanted,
                                  etlheap_unpacked_symbols **out, etl_error *err);
const char *etlheap_unpacked_symbols_folder(const etlheap_unpacked_symbols *symbols);
void etlheap_unpacked_symbols_close(etlheap_unpacked_symbols *symbols); /* NULL is allowed */

/* Removes the names of the temporary files, so that nothing is left over however the program ends.
 * Traces that are open keep their bytes, and a trace that is arriving arrives. */
void etlheap_unpacked_hide(etlheap_unpacked *unpacked);

/* [stable] Frees `unpacked` and removes the temporary files. Traces that are open keep their bytes,
 * but a trace that is arriving must be closed first: unpacking ends. NULL is allowed. */
void etlheap_unpacked_close(etlheap_unpacked *unpacked);

/* Writes the part of a recording as words, cut off if they do not fit: "20 s to 30 s, of app.exe,
 * only heap". */
#define ETLHEAP_PART_WORDS_SIZE 256
void etlheap_part_words(const etlheap_part *part, char out[ETLHEAP_PART_WORDS_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
