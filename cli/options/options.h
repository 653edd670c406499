/*
 * options.h - the options of all commands: one table for parsing and help.
 *
 * A row of the table has an option's spelling, its commands, the kind of its value, and the member
 * it goes to. Parsing never prints or exits: it fills cli_options, or returns an error that names
 * the option and says what was expected.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "column_list.h"
#include "formats/formats.h"
#include "parse_values.h"
#include "served.h"
#include "word_list.h"

typedef enum cli_exit {
    CLI_EXIT_DONE = 0,
    CLI_EXIT_EXCEEDED = 1, /* check: a budget is exceeded */
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_INPUT = 3, /* cannot read or write, or not a usable input */
    CLI_EXIT_STRICT = 4 /* finished, but the input was damaged or lost events */
} cli_exit;

/* Bits of the commands that have an option. */
#define CLI_REPORT      1u
#define CLI_INFO        2u
#define CLI_DUMP        4u
#define CLI_SYMBOLS     8u
#define CLI_STORE       16u
#define CLI_WINDOWS     32u
#define CLI_ALLOCATIONS 64u
#define CLI_CHECK       128u
#define CLI_DIFF        256u
#define CLI_EXPORT      512u
#define CLI_MERGE       1024u
#define CLI_SELFTEST    2048u
#define CLI_TREND       4096u
#define CLI_VIEW        8192u
#define CLI_COMMANDS    16383u /* all of them */

/* Additional bit: the commands that a failed check suggests repeat the option, so they show what
 * was measured. Not for kinds, processes and frames, which the verdict knows better. */
#define CLI_REPEATED 16384u

/* Options of `store` that do not change what a store holds. All others count when a batch decides
 * whether the store of an earlier run still answers: an option without this bit counts. */
#define CLI_SAME_STORE 32768u

/* Options about times, which a UMDH log does not have. */
#define CLI_NEEDS_TIMES 65536u

/* Options that `etlheap view` accepts from a browser. Never those that name files, servers or
 * limits of the machine: outputs, symbols, lists, tags, baselines, threads, memory. */
#define CLI_SERVED 131072u

/* Options of `view` that its commands repeat, though those of a failed check do not. */
#define CLI_OF_VIEW 262144u

/* Groups of commands with common options: all filters and groupings, a window and the simple
 * filters, CSV, a format. */
/* The most kinds of limits that check has: rows of etlheap_limit_at. */
#define CLI_LIMITS_MAX 16

#define CLI_GROUPING  (CLI_REPORT | CLI_WINDOWS | CLI_DIFF | CLI_TREND)
#define CLI_FILTERING (CLI_GROUPING | CLI_ALLOCATIONS | CLI_CHECK | CLI_EXPORT)
#define CLI_ASKING    (CLI_FILTERING | CLI_SYMBOLS)
#define CLI_TITLED    (CLI_GROUPING | CLI_ALLOCATIONS | CLI_SYMBOLS | CLI_EXPORT)
#define CLI_SHOWING   ((CLI_ASKING & ~CLI_EXPORT) | CLI_INFO | CLI_DUMP)
#define CLI_ALL       (CLI_ASKING | CLI_INFO | CLI_DUMP | CLI_STORE | CLI_MERGE)

typedef enum cli_progress_mode {
    CLI_PROGRESS_AUTO,
    CLI_PROGRESS_ALWAYS,
    CLI_PROGRESS_NEVER
} cli_progress_mode;

/* Additional output files of a check, each in the format of its name. */
typedef enum cli_side {
    CLI_SIDE_JUNIT,
    CLI_SIDE_SARIF,
    CLI_SIDE_MARKDOWN,
    CLI_SIDE_JSON,
    CLI_SIDE_COUNT
} cli_side;

typedef struct cli_numbers {
    u64 *at;
    u32 count;
} cli_numbers;

typedef struct cli_custom_heaps {
    etl_custom_allocator *at;
    u32 count;
} cli_custom_heaps;

typedef struct cli_mark_events {
    etlheap_mark_event *at; /* the texts are in `owned_words` */
    u32 count;
} cli_mark_events;

typedef struct cli_times {
    cli_time *at;
    u32 count;
} cli_times;

/* The options of a command line, as they were given. */
typedef struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL: none */
} cli_given;

typedef struct cli_given_list {
    cli_given *at;
    u32 count;
} cli_given_list;

/* --top all */
#define CLI_TOP_ALL UINT32_MAX

typedef struct cli_options {
    u32 command_bit;
    bool help;
    cli_words inputs;
    const char *output;     /* NULL: standard output */
    const char *out_dir;    /* store: folder for one store per input; NULL: not given */
    const char *write_demo; /* selftest: folder for the files of the demo; NULL: not given */
    const char *format;     /* NULL: text */
    u32 top;                /* 0: not given; CLI_TOP_ALL */
    u32 skip;               /* rows before the first one */
    u32 frames;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    u32 group_by_count; /* 0: not given */
    etlheap_measure sort;
    bool sort_given, sort_ascending;
    cli_columns columns;                   /* for report */
    etlheap_lifetime_column lifetime_sort; /* for allocations */
    bool lifetime_descending;
    u32 tree; /* etlheap_tree */
    u32 tree_min_ppm;
    const char *root, *focus; /* patterns of --root and --focus; NULL: not given */
    u32 at_exit;              /* 0 leaked, 1 freed; the default depends on the command */
    cli_time from, to;
    i64 every_ns; /* 0: not given */
    cli_times moments;
    bool at_marks;     /* windows --at marks: at all marks */
    cli_times windows; /* pairs of from and to; if not given: those of the trace */
    bool find_growth;
    bool find_spikes;
    bool all;        /* for diff and trend */
    bool per_second; /* for diff */
    bool in_order;   /* for trend */
    bool at_peak;    /* report --at peak */
    cli_time at;     /* report --at TIME */
    u32 histogram;   /* etlheap_histogram_by + 1; 0: none */
    bool map;
    u64 map_unit;        /* bytes; 0: the default */
    u32 kinds, types;    /* bit masks; 0: all */
    u32 impacting;       /* bit by word: transient, impacting, persistent; 0: not given */
    bool impacting_only; /* allocations: the same as the word impacting */
    cli_words processes;
    cli_words owned_words; /* texts of other words, freed with the options */
    cli_words threads;     /* ids and names */
    cli_numbers heaps;
    i64 lifetime_min_ns, lifetime_max_ns;
    u64 size_min_bytes, size_max_bytes;
    u64 address_first, address_last; /* for allocations; both inclusive */
    cli_words require_frames, exclude_frames, fold_modules, cull_frames, cull_lists, stack_tags;
    const char *pool_tags;
    bool growth, churn, lifetimes;
    bool suspects;
    bool has_view; /* one that only the command asks about, by cli_is_given */
    bool pairs, unmatched;
    bool no_cull, no_symbols;
    cli_words limits[CLI_LIMITS_MAX]; /* of check, as etlheap_limit_at numbers them */
    cli_words suppressions;
    const char *baseline; /* NULL: not given */
    u32 per;              /* etlheap_scope */
    bool update_baseline, accept, allow_empty, lenient, require_baseline;
    cli_words required_processes;
    const char *side_files[CLI_SIDE_COUNT]; /* NULL: not given */
    u32 sarif_results;                      /* 0: not given */
    const char *sarif_category;             /* NULL: not given */
    cli_words source_roots;                 /* FROM=TO */
    cli_words sources;                      /* FILE:LINE */
    u32 source_lines;                       /* before and after each; ETLHEAP_SOURCE_LINES */
    u32 source_link;                        /* etlheap_source_link */
    cli_given_list given;
    const char *symbols; /* NULL: not given */
    bool lacks_login;    /* `given` has the symbol path without a login */
    bool symbols_loose, offline, private_redirects;
    cli_words symbol_logins;  /* HOST=SOURCE */
    u64 download_limit_bytes; /* 0: not given */
    i64 download_time_ns;     /* 0: not given */
    cli_words events;
    cli_custom_heaps custom;
    cli_mark_events mark_events;
    u32 jobs;
    u64 memory_bytes;
    u64 unpack_limit_bytes;         /* 0: not given */
    bool summary, allow_duplicates; /* store, merge */
    const char *anonymise;          /* store: file with the key; NULL: not given */
    bool is_export;                 /* `format` is an exporter */
    u32 metric;                     /* export: etlheap_metric + 1; 0: the format's default */
    bool rows;                      /* for export */
    bool together;                  /* treat several inputs as one recording, even if they differ */
    bool titles, csv_safe;          /* for CSV */
    bool no_mmap, strict;
    u32 progress;       /* cli_progress_mode */
    const char *listen; /* view: address; NULL: 127.0.0.1 */
    u32 port;           /* view; 0: the system chooses */
    bool opens_browser; /* view */
    i64 idle_ns;        /* view; 0: not given */
    /* Not an option: the table in main.c. */
    const struct cli_command_list *commands;
    bool unpacks_first; /* not an option: another input will be unpacked while this one is read */
    const cli_served
        *served; /* not an option: the question of a browser; NULL: of a command line */
} cli_options;

/* One subcommand: a row of the table in main.c. */
typedef struct cli_command {
    const char *name;
    u32 bit;
    const char *arguments; /* "INPUT..." */
    const char *summary;
    const char *const *examples; /* ends with NULL */
    int (*run)(const cli_options *options);
} cli_command;

/* How a value is read, and the type of the option's member. */
typedef enum cli_value {
    CLI_VALUE_FLAG,     /* bool */
    CLI_VALUE_WORD,     /* const char * */
    CLI_VALUE_FILE,     /* const char *: given once, not standard output */
    CLI_VALUE_WORDS,    /* cli_words: may be repeated */
    CLI_VALUE_NAMES,    /* cli_words, from lists with commas: may be repeated */
    CLI_VALUE_COUNT,    /* u32, at least 1 */
    CLI_VALUE_TOP,      /* u32, at least 1, or CLI_TOP_ALL */
    CLI_VALUE_NUMBER,   /* u32 */
    CLI_VALUE_PERCENT,  /* u32, in millionths */
    CLI_VALUE_SIZE,     /* u64 */
    CLI_VALUE_TIME,     /* cli_time */
    CLI_VALUE_AT,       /* cli_time, or "peak": at_peak */
    CLI_VALUE_DURATION, /* i64, above 0 */
    CLI_VALUE_MOMENTS,  /* cli_times, or "marks": at_marks; may be repeated */
    CLI_VALUE_WINDOWS,  /* cli_times, in pairs: may be repeated */
    CLI_VALUE_LIFETIMES,
    CLI_VALUE_SIZES,
    CLI_VALUE_ADDRESSES,
    CLI_VALUE_HEAPS,      /* cli_numbers */
    CLI_VALUE_CUSTOM,     /* cli_custom_heaps: may be repeated */
    CLI_VALUE_MARK_EVENT, /* cli_mark_events: may be repeated */
    CLI_VALUE_KINDS,      /* u32 mask */
    CLI_VALUE_TYPES,      /* u32 mask */
    CLI_VALUE_IMPACTING,  /* u32 mask */
    CLI_VALUE_KEYS,
    CLI_VALUE_SORT,
    CLI_VALUE_COLUMNS, /* cli_columns */
    CLI_VALUE_LIFETIME_SORT,
    CLI_VALUE_FORMAT,    /* const char * */
    CLI_VALUE_EXPORTER,  /* const char * */
    CLI_VALUE_METRIC,    /* u32, + 1 */
    CLI_VALUE_AT_EXIT,   /* u32 */
    CLI_VALUE_HISTOGRAM, /* u32, + 1 */
    CLI_VALUE_SCOPE,     /* u32 */
    CLI_VALUE_PROGRESS,  /* u32 */
    CLI_VALUE_LINK,      /* u32: etlheap_source_link */
    CLI_VALUE_TREE       /* u32; the value is optional and follows "=" */
} cli_value;

typedef struct cli_option {
    const char *name;        /* with dashes */
    char letter;             /* 0: none */
    u8 value;                /* cli_value */
    u16 offset;              /* offset of the member in cli_options */
    u32 commands;            /* bits */
    const char *group;       /* heading in --help */
    const char *placeholder; /* "TIME"; NULL for flags */
    const char *help;
} cli_option;

#define CLI_OPTIONS_MAX 128
u32 cli_option_count(void);
const cli_option *cli_option_at(u32 index);

/* Parses the words after the command's name. Free *out with cli_options_free, even after a failure.
 * ETL_ERR_ARGUMENT (also for options that contradict each other), ETL_ERR_MEMORY. */
etl_status cli_options_parse(const cli_command *command, int count, char *const *words,
                             cli_options *out, etl_error *err);

void cli_options_free(cli_options *options);

/* The words of --impacting. */
typedef enum cli_impacting {
    CLI_IMPACTING_TRANSIENT,
    CLI_IMPACTING_IMPACTING,
    CLI_IMPACTING_PERSISTENT,
    CLI_IMPACTING_COUNT
} cli_impacting;

/* Stores a value in the member of its option; `spelled` is the option as typed, for messages.
 * ETL_ERR_ARGUMENT, ETL_ERR_MEMORY. */
etl_status cli_value_store(const cli_option *option, const char *spelled, const char *text,
                           cli_options *out, etl_error *err);

/* Writes the output of `etlheap COMMAND --help`. */
void cli_write_help(const cli_command *command, etlheap_sink *sink);

#endif
