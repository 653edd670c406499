/*
 * formats.h - front door of the output: results as text, JSON and CSV, and the
 * zip files that traces come in.
 *
 * A format is a row of one const table; what it can write are its functions.
 * Writers take a finished result, stream into a sink and keep nothing. The same
 * arguments give the same bytes: no locale, no time of day, no environment.
 *
 * Threads: a sink belongs to one thread; writers may run at once on different
 * sinks.
 */
#ifndef ETLHEAP_FORMATS_H
#define ETLHEAP_FORMATS_H

#include "engine/engine.h"
#include "umdh_log.h" /* snapshot logs of UMDH */

#ifdef __cplusplus
extern "C" {
#endif

/* The libraries of the output, as etlheap_engine_library: one an index, false after
 * the last. */
bool etlheap_formats_library(u32 index, etlheap_library *out);

/* --- sinks ------------------------------------------------------------------ */

/*
 * Where output goes: buffered bytes for a descriptor, or for a file that gets
 * its name only when it is complete. Errors are sticky: after the first one
 * writes do nothing, and etlheap_sink_close() tells it, once.
 */
typedef struct etlheap_sink etlheap_sink;

/* Writes to an open descriptor, which stays the caller's and is not closed.
 * `name` is for messages ("standard output") and borrowed. Errors: MEMORY. */
etl_status etlheap_sink_open_descriptor(int descriptor, const char *name, etlheap_sink **out,
                                        etl_error *err);

/*
 * Writes to a new file beside `path` that is renamed to it by close; an existing
 * file stays whole until then and gives the new one its permissions. What is no
 * regular file (a device, a pipe) is written directly. Errors: IO, MEMORY.
 */
etl_status etlheap_sink_open_file(const char *path, etlheap_sink **out, etl_error *err);

/* Adds to a text, which stays the caller's; `close` fails when it has failed. Errors:
 * MEMORY. */
typedef struct etlheap_text etlheap_text;
etl_status etlheap_sink_open_text(etlheap_text *text, etlheap_sink **out, etl_error *err);

/* Before anything is written: all that comes will be one zstd frame. Errors: MEMORY;
 * the sink is then only to be discarded. */
etl_status etlheap_sink_compress(etlheap_sink *sink, etl_error *err);

void etlheap_sink_write(etlheap_sink *sink, const void *bytes, size_t size);
void etlheap_sink_text(etlheap_sink *sink, const char *text);
void etlheap_sink_format(etlheap_sink *sink, const char *format, ...) ETL_PRINTF(2, 3);

/* Numbers without printf's cost: a listing has hundreds of millions. Hexadecimal
 * is lower case with at least `digits` digits (at most 16), without "0x". */
void etlheap_sink_unsigned(etlheap_sink *sink, u64 value);
void etlheap_sink_signed(etlheap_sink *sink, i64 value);
void etlheap_sink_hex(etlheap_sink *sink, u64 value, int digits);

/* Text from a file, fit for a terminal: what is no valid UTF-8 and what would
 * control the terminal is replaced by U+FFFD. */
void etlheap_sink_printable(etlheap_sink *sink, const char *text, size_t size);

/* `count` times the same character. */
void etlheap_sink_fill(etlheap_sink *sink, char c, size_t count);

/* False after the first error: the rest of the work would be for nothing. */
bool etlheap_sink_ok(const etlheap_sink *sink);

/* Sends what is buffered now; a live reader sees whole lines. */
void etlheap_sink_flush(etlheap_sink *sink);

/* Writes what is left, and waits until a file is on the disk. */
void etlheap_sink_settle(etlheap_sink *sink);

/* Writes text for a terminal that has ASCII alone: each other character that follows is a
 * question mark, but for a dash. */
void etlheap_sink_ascii(etlheap_sink *sink);

/* Completes the output and frees the sink in every case. On failure (ETL_ERR_IO,
 * the first error met) no file is left behind, neither new nor temporary. */
etl_status etlheap_sink_close(etlheap_sink *sink, etl_error *err);

/* Frees the sink and removes the unfinished file; NULL is allowed. */
void etlheap_sink_discard(etlheap_sink *sink);

/* --- how text is laid out ------------------------------------------------------ */

typedef enum etlheap_tree {
    ETLHEAP_TREE_NONE,
    ETLHEAP_TREE_CALLEES, /* outermost frame first */
    ETLHEAP_TREE_CALLERS  /* innermost frame first */
} etlheap_tree;

/* For text; of it CSV heeds `titles` and JSON `hint` alone. Start from
 * etlheap_layout_default(). */
typedef struct etlheap_layout {
    size_t size; /* sizeof(etlheap_layout) */
    u32 width;   /* columns of a line; 0: not limited */
    bool colour;
    u32 rows_max;           /* rows of a report or list; 0: all */
    bool rows_of_each_kind; /* rows_max is for each kind, and rows with 0 in the sort measure
                             * are left out; else rows_max is for all together */
    u32 frames_max;         /* frames shown of a row's stack */
    etlheap_measure sort;   /* by which the table is sorted: always shown */
    bool sort_ascending;
    etlheap_tree tree;
    bool ascii;        /* curves and ellipses are characters that any terminal has */
    bool titles;       /* CSV: columns have titles for people, not the keys that JSON has */
    etl_hint_fn *hint; /* what the program says to users; NULL: nothing. All formats heed it */
    bool whole;        /* tables lose neither columns nor parts of names to the width */
} etlheap_layout;

/* 100 columns, no colour, 25 rows of each kind, 4 frames, outstanding size, no
 * tree. */
static inline etlheap_layout etlheap_layout_default(void)
{
    etlheap_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.width = 100;
    layout.rows_max = 25;
    layout.rows_of_each_kind = true;
    layout.frames_max = 4;
    layout.sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    return layout;
}

/*
 * Marks the rows of the table (row_count of them) that the text report lists:
 * the first layout->rows_max. With rows_of_each_kind, rows with nothing in the
 * measure asked for are left out if their kind has others: memory that came and
 * went would bury what is outstanding. A tree is made of all rows. A layout that writers refuse
 * lists nothing.
 */
void etlheap_layout_choose(const etlheap_layout *layout, const etlheap_table *table, bool *listed);

/* For etlheap_query.whole_rows_max: as many as that chooses among at most. */
u32 etlheap_layout_whole_rows(const etlheap_layout *layout);

/* --- time windows --------------------------------------------------------------- */

/* What the question for windows came to; everything is borrowed. */
typedef struct etlheap_windows_answer {
    const etlheap_windows *windows;
    bool growth_wanted;           /* the steepest rise, and the rows that explain it */
    const etlheap_growth *growth; /* of a row of `windows`; NULL: nothing rises */
    /* The same windows with the keys of `windows` and STACK, measured over those of the
     * growth; NULL: nothing rises. */
    const etlheap_windows *stacks;
    const bool *explains; /* by row of `stacks` */
    u32 unexplained;      /* rows that grew too, but are not marked */
} etlheap_windows_answer;

/*
 * Marks the rows of `stacks` that are part of the row that grows and grew themselves:
 * the first layout->rows_max, and with rows_of_each_kind only those that are at least
 * a hundredth of the growth; all without a layout. Returns how many are left out.
 */
u32 etlheap_windows_explain(const etlheap_windows_answer *answer, const etlheap_layout *layout,
                            bool *explains);

/* --- the leak gate --------------------------------------------------------------- */

/* X(enumerator, word) - what became of the baseline */
#define ETLHEAP_RATCHETS(X)                                                                        \
    X(NONE, "none")           /* nobody asked for an update */                                     \
    X(CREATED, "created")     /* there was none */                                                 \
    X(TIGHTENED, "tightened") /* this run took its place */                                        \
    X(ACCEPTED, "accepted")   /* the same, whatever the verdict */                                 \
    X(KEPT, "kept")           /* it is as it was */                                                \
    X(REFUSED, "refused")     /* the same: what was to be accepted proves nothing */

typedef enum etlheap_ratchet {
#define ETLHEAP_RATCHET_ENUM(name, word) ETLHEAP_RATCHET_##name,
    ETLHEAP_RATCHETS(ETLHEAP_RATCHET_ENUM)
#undef ETLHEAP_RATCHET_ENUM
        ETLHEAP_RATCHET_COUNT
} etlheap_ratchet;

/* Paths below `from`, where a compiler saw the sources, are below `to` in the repository;
 * "" and "." are its root. Both are compared as Windows compares paths. */
typedef struct etlheap_source_root {
    const char *from, *to;
} etlheap_source_root;

typedef struct etlheap_source_roots {
    const etlheap_source_root *at;
    u32 count;
} etlheap_source_roots;

/* Words of a command line, as they were typed. */
typedef struct etlheap_typed {
    const char *const *at;
    u32 count;
} etlheap_typed;

/* What a check came to; everything is borrowed. */
typedef struct etlheap_check {
    const etlheap_gate *gate;
    const char *baseline_name; /* file; NULL: none was named */
    /* For the commands that a failure names: what was read, for want of them the files of the
     * trace; the options that select and name what was measured; and whether the two sides of
     * a growth can be compared by a command of their own. */
    etlheap_typed inputs, selection;
    bool may_compare;
    etlheap_ratchet ratchet;
    /* Of SARIF logs alone: */
    u32 results_max;      /* results that are listed; 0: 5,000, which GitHub shows */
    const char *category; /* by which hosts keep checks apart; NULL: "etlheap" */
    /* Of SARIF logs: where their files are in the repository. */
    etlheap_source_roots roots;
} etlheap_check;

/* Why nothing could be measured for a budget, and which processes have memory events, in
 * one sentence without a full stop, cut if it is longer than `size`. */
void etlheap_check_absence_sentence(const etlheap_gate *gate, char *sentence, size_t size);

/* --- what changed ------------------------------------------------------------------ */

/* One side of a diff: where its table comes from. Everything is borrowed. */
typedef struct etlheap_diff_side {
    const char *name;             /* of the file */
    const etlheap_result *result; /* NULL: a log */
    const etlheap_umdh *log;      /* NULL: a result */
    const etlheap_table *table;
} etlheap_diff_side;

typedef struct etlheap_diff_answer {
    const etlheap_diff *diff;
    etlheap_diff_side base, now;
} etlheap_diff_answer;

/* --- how many runs develop --------------------------------------------------------- */

/* One run of a trend. Everything is borrowed. */
typedef struct etlheap_trend_run {
    const char *name; /* of the file */
    const etlheap_result *result;
    const etlheap_table *table;
} etlheap_trend_run;

typedef struct etlheap_trend_answer {
    const etlheap_trend *trend;
    const etlheap_trend_run *runs; /* trend->run_count, in its order */
} etlheap_trend_answer;

/* --- formats -------------------------------------------------------------------- */

/* Text that grows as needed; writers convert fields in it. Start from {0}. */
struct etlheap_text {
    char *bytes; /* NUL-terminated once something was put in */
    size_t size; /* without the NUL */
    size_t capacity;
    bool failed; /* out of memory: what is in it is incomplete */
};

void etlheap_text_free(etlheap_text *text);

/* The name of an event that describes itself, or that the trace describes: "Provider/Event",
 * and "Provider/Event/Opcode" if it has one. It replaces the text. False: it has no
 * description. */
bool etlheap_record_title(const etlheap_stream_record *record, etlheap_text *text);

/*
 * One output format. A writer that is NULL is not offered. All return ETL_OK,
 * ETL_ERR_MEMORY, or what is wrong with the layout: ETL_ERR_ARGUMENT (its size or a value
 * cannot be one), ETL_ERR_UNSUPPORTED. Errors of the sink are told when it is closed.
 * write_record takes the decoded event as well, of kind ETL_EVENT_NONE when it
 * is not understood.
 */
typedef struct etlheap_format {
    const char *name;    /* "json" */
    const char *suffix;  /* ".json", of files that are in it; NULL: of none but text */
    const char *summary; /* one line for --help */
    bool has_titles;     /* heeds layout->titles */
    bool is_choice;      /* lists a choice of rows, and says how many it leaves out */
    bool shows_equal;    /* of a comparison it wants what is equal on both sides, too */
    u32 rows_max;        /* of a comparison, unless --top says how many; 0: all */
    etl_status (*write_report)(const etlheap_result *result, const etlheap_table *table,
                               const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_histogram)(const etlheap_result *result, const etlheap_table *table,
                                  const etlheap_histogram *histogram, const etlheap_layout *layout,
                                  etlheap_sink *sink); /* and the report it belongs to */
    etl_status (*write_map)(const etlheap_result *result, const etlheap_map *map,
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
    /* Returns what stopped the walk, too: see etlheap_lifetimes_status. */
    etl_status (*write_allocations)(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                    etlheap_sink *sink);
    etl_status (*write_symbols)(const etlheap_result *result, const etlheap_symbol_list *list,
                                const etlheap_layout *layout, etlheap_sink *sink);
    etl_status (*write_info)(const etlheap_result *result, const etlheap_layout *layout,
                             etlheap_sink *sink);
    void (*write_dump_head)(etlheap_sink *sink); /* before the first record; may be NULL */
    etl_status (*write_record)(const etlheap_stream_record *record, const etl_event *event,
                               etlheap_text *scratch, etlheap_sink *sink);
} etlheap_format;

u32 etlheap_format_count(void);
const etlheap_format *etlheap_format_at(u32 index);           /* NULL: from the count on */
const etlheap_format *etlheap_format_named(const char *name); /* NULL: none */

/* --- other programs' formats ------------------------------------------------------ */

#include "exporters.h"
#include "runs.h"         /* the index of a batch */
#include "wpa_xml_read.h" /* documents of one of them, read */

/* --- stack tags ------------------------------------------------------------------ */

/*
 * Adds the tags of a file as WPA has them (*.stacktags, XML); of several files the
 * one read first wins between equals. Nothing but the file is read. ETL_ERR_IO,
 * ETL_ERR_CORRUPT (no such file, or damaged; the message names file and line),
 * ETL_ERR_LIMIT (too large, nested too deep), ETL_ERR_MEMORY. After a failure some
 * tags are there, and the handle is only to be closed.
 */
etl_status etlheap_stack_tags_read(const char *path, etlheap_tags *tags, etl_error *err);

/* --- packed traces and stores --------------------------------------------------------- */

/* True when the file begins as a zip, gzip or zstd file does. False when it cannot be read. */
bool etlheap_is_packed(const char *path);

typedef struct etlheap_unpacked_member {
    const char *name; /* in the zip, UTF-8; NULL: of a single one */
    const char *path; /* of the temporary file that holds it */
} etlheap_unpacked_member;

typedef struct etlheap_unpacked etlheap_unpacked;

typedef struct etlheap_unpack_options {
    size_t size;                   /* sizeof(etlheap_unpack_options) */
    const char *folder;            /* for temporary files; NULL: the system's */
    u64 member_bytes_max;          /* 0: what the folder has room for */
    etlheap_progress_fn *progress; /* may be NULL; false cancels */
    void *progress_user;
} etlheap_unpack_options;

/*
 * Unpacks every .etl member of a zip, or the one trace or store in a gzip or zstd file, into a
 * temporary file of its own, after a look at how each begins (etl_check_start). A member longer
 * than the zip's directory says is an error, so its stated size bounds it; the others say
 * nothing of their size. Progress counts bytes of the members, or of the packed file.
 * Frames of gzip and zstd files that follow each other are one whole (pigz, pzstd).
 * Errors: ETL_ERR_IO (also no room), ETL_ERR_NOT_ETL (no .etl in it, or one that is none),
 * ETL_ERR_UNSUPPORTED (encrypted, unknown compression, a zstd window over 128 MiB or dictionary),
 * ETL_ERR_CORRUPT (also cut off), ETL_ERR_ARGUMENT (not packed), ETL_ERR_LIMIT,
 * ETL_ERR_CANCELLED, ETL_ERR_MEMORY.
 */
etl_status etlheap_unpack(const char *path, const etlheap_unpack_options *options,
                          etlheap_unpacked **out, etl_error *err);

/*
 * Copies what can be read from the descriptor, which stays the caller's, up to its end into one
 * temporary file: a trace, a store or one of them packed, which is packed then as well. The
 * same errors; progress has a total of 0, since it is not known. It is called ten times a second
 * while a pipe brings nothing, so that waiting can be cancelled.
 */
etl_status etlheap_spool(int descriptor, const etlheap_unpack_options *options,
                         etlheap_unpacked **out, etl_error *err);

u32 etlheap_unpacked_count(const etlheap_unpacked *unpacked); /* at least 1 */
/* All 0 for an index from the count on. */
etlheap_unpacked_member etlheap_unpacked_member_of(const etlheap_unpacked *unpacked, u32 index);

/* Frees it and removes the temporary files; open traces keep their bytes. NULL is allowed. */
void etlheap_unpacked_close(etlheap_unpacked *unpacked);

#ifdef __cplusplus
}
#endif

#endif
