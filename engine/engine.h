/*
 * engine.h - front door of the analysis: what a trace means.
 *
 *     etlheap_analyze   traces -> result   (allocation store and context)
 *     etlheap_aggregate result -> table    (rows for a window, filters, a grouping)
 *     etlheap_symbols_* result -> names    (of the functions that frames lie in)
 *     etlheap_stream_*  traces -> every record in global time order (dump)
 *     etlheap_summary_* traces and stores -> a store of their totals (merge)
 *
 * A result does not change once made; any number of threads may aggregate it at
 * once. Everything handed out is owned by its handle and valid until that is
 * freed. Nothing here prints, exits or reads the environment.
 *
 * Determinism: the same files and options give the same result for any `jobs`
 * is. Times are raw ticks of the first file's clock inside and nanoseconds
 * since time zero, the first file's log-file header, outside.
 *
 * Ids and indices: one that is out of range is never looked up. A query or an options
 * structure with one is refused with ETL_ERR_ARGUMENT; a word for one is "", what is
 * pointed to is NULL, what is returned as a structure is all 0.
 *
 * Options, queries and requests begin with their size (see docs/c_api.md): fields beyond
 * a smaller one have their defaults, what is set beyond ours is ETL_ERR_UNSUPPORTED, and
 * a size that cannot be one is ETL_ERR_ARGUMENT.
 */
#ifndef ETLHEAP_ENGINE_H
#define ETLHEAP_ENGINE_H

#include "parser/parser.h"

#include "etlheap_marks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ids. 0 means none. One-member structs so that they cannot be mixed up. */
typedef struct etlheap_stack {
    u32 v;
} etlheap_stack; /* 0: no stack was recorded */

typedef struct etlheap_process {
    u32 v;
} etlheap_process; /* one lifetime of a process id, not the id: ids are reused */

#define ETLHEAP_TICKS_BEFORE INT64_MIN /* allocated before the trace began */
#define ETLHEAP_TICKS_NEVER  INT64_MAX /* never freed */

typedef enum etlheap_kind {
    ETLHEAP_KIND_HEAP,         /* blocks from the heap functions */
    ETLHEAP_KIND_VIRTUALALLOC, /* committed ranges */
    ETLHEAP_KIND_EXTENT,       /* committed heap extents (Expand, Contract) */
    ETLHEAP_KIND_CUSTOM,       /* blocks of allocators with events of their own */
    ETLHEAP_KIND_RESERVE,      /* reserved address ranges, whatever of them is committed */
    ETLHEAP_KIND_COUNT
} etlheap_kind;

/* How a lifetime ends. */
typedef enum etlheap_free_type {
    ETLHEAP_FREE_NONE,
    ETLHEAP_FREE_FREE,
    ETLHEAP_FREE_HEAP_DESTROY,
    ETLHEAP_FREE_PROCESS_EXIT,
    ETLHEAP_FREE_TYPE_COUNT
} etlheap_free_type;

/* WPA's Type: Allocated/Freed Inside/Outside the window. */
typedef enum etlheap_type {
    ETLHEAP_TYPE_AIFO,
    ETLHEAP_TYPE_AIFI,
    ETLHEAP_TYPE_AOFI,
    ETLHEAP_TYPE_AOFO,
    ETLHEAP_TYPE_COUNT
} etlheap_type;

/*
 * Room in arrays by kind and by type. Structures have arrays of these sizes, not of the
 * numbers of enumerators, so that they stay as they are when a kind is added; what is
 * beyond the last enumerator is 0. Types answer two questions with yes or no, so there
 * are four of them for good.
 */
#define ETLHEAP_KIND_CAPACITY 8
#define ETLHEAP_TYPE_CAPACITY 4

static_assert((int)ETLHEAP_KIND_COUNT <= ETLHEAP_KIND_CAPACITY, "a kind has a place in arrays");
static_assert((int)ETLHEAP_TYPE_COUNT <= ETLHEAP_TYPE_CAPACITY, "a type has a place in arrays");

/* "" for what is none. */
const char *etlheap_kind_name(etlheap_kind kind);           /* "heap" */
const char *etlheap_free_type_name(etlheap_free_type type); /* "process-exit" */
const char *etlheap_type_name(etlheap_type type);           /* "AIFO" */
const char *etlheap_impacting_type_name(etlheap_type type); /* "Impacting" */

/*
 * Heaps by name. A heap of Windows is called by its handle, "0x1f0000". A heap of kind
 * CUSTOM has a handle that is made of its allocator's name and number of it, which no
 * heap of Windows can have: "mimalloc", "PIX 3"; "Engine ~0a3f1" if the allocator's number is
 * so large that a hash stands for it. `heap` NULL: the allocator does not tell heaps apart.
 * _of_name: false if no heap of kind CUSTOM is called so.
 */
#define ETLHEAP_HEAP_NAME_SIZE 24
u64 etlheap_custom_heap(const char *name, const u64 *heap);
void etlheap_heap_name(u64 handle, char out[ETLHEAP_HEAP_NAME_SIZE]);
bool etlheap_heap_of_name(const char *word, u64 *handle);

/* --- analysis ------------------------------------------------------------- */

/* Called on the thread that called the engine, after every time slice (64 MiB of
 * trace by default). Return false to cancel: the call then fails with
 * ETL_ERR_CANCELLED. */
typedef bool etlheap_progress_fn(void *user, u64 done_bytes, u64 total_bytes);

/* Takes the next bytes of a file, in order; false when they cannot be kept. One
 * call at a time, but by any thread of the analysis. */
typedef bool etlheap_write_fn(void *user, const void *bytes, size_t size);

/* Where a `.ehs` store goes while a trace is analyzed. Bytes are written once and
 * from front to end; only after a success is the file complete. */
typedef struct etlheap_store_options {
    size_t size; /* sizeof(etlheap_store_options) */
    etlheap_write_fn *write;
    void *user;
    bool is_temporary; /* read soon and once: made in less time, and larger */
    /* Nobody will ask what census_only counts, or who freed: that is not found out. */
    bool is_without_info, is_without_frees;
} etlheap_store_options;

typedef struct etlheap_options {
    size_t size;          /* sizeof(etlheap_options) */
    u32 jobs;             /* threads; 0: etlheap_default_jobs() */
    u64 memory_bytes_max; /* working memory, about: large parts, once a slice; 0: no limit */
    u64 slice_bytes;      /* trace bytes per time slice; 0: default. For tests. */
    /* Count records and stacks, keep no lifetimes (info): the result holds facts alone
     * and refuses every question about memory with ETL_ERR_ARGUMENT. */
    bool census_only;
    /* What will be asked (etlheap_ask.h). Where the sums of one question, or its events in
     * order, answer it, these are kept for its window and at-exit rule alone, in a fraction of
     * the memory and time; else all events are, as a store keeps them, in memory or in the
     * temporary folder. None: every lifetime is in memory, as columns. Borrowed for the call. */
    const struct etlheap_question *questions;
    u32 question_count;
    const char *temporary_folder;  /* for what memory is too short for; NULL: none */
    etlheap_progress_fn *progress; /* may be NULL */
    void *progress_user;
    /* Lifetimes leave for a store instead of being kept: the result holds facts
     * alone, as after census_only; like that it cannot go with questions.
     * Borrowed for the call; may be NULL. */
    const etlheap_store_options *store;
    const char *name; /* of the store that is opened, for output; NULL: its path */
    /* Allocators with events of their own, besides those that are built in and before them.
     * Borrowed for the call. */
    const etl_custom_allocator *custom_allocators;
    u32 custom_allocator_count;
    /* Events that are marks, besides PerfInfo/Mark; of a trace. Borrowed for the call. */
    const etlheap_mark_event *mark_events;
    u32 mark_event_count;
    bool reservations; /* keep those, as stores do and questions that select the kind */
} etlheap_options;

typedef struct etlheap_result etlheap_result;

/*
 * Analyzes the files of one recording as one trace. `names` are for messages
 * and output, one per trace; both arrays are borrowed for the call, the traces
 * until the result is freed. options may be NULL. *out is owned by the caller.
 * Errors: ETL_ERR_MEMORY, ETL_ERR_LIMIT (memory promise; the message says what
 * is needed), ETL_ERR_CANCELLED, ETL_ERR_ARGUMENT (no trace, options that exclude
 * each other), ETL_ERR_IO (the temporary file, or the store's write failed).
 */
etl_status etlheap_analyze(etl_trace *const *traces, const char *const *names, u32 trace_count,
                           const etlheap_options *options, etlheap_result **out, etl_error *err);

/* Does a file begin like a store (`.ehs`)? The first 8 bytes are enough. */
bool etlheap_is_store(etl_bytes file);

/*
 * Opens a store that was written from traces: a result that answers as theirs
 * would. Of the options, census_only (facts alone are read), questions, name and
 * memory_bytes_max count: with questions, heap events stay in the file and any
 * question may be asked. *out is owned by the caller; the file stays mapped until
 * it is freed. ETL_ERR_IO, ETL_ERR_CORRUPT (damaged, or its writing was not
 * finished), ETL_ERR_UNSUPPORTED (another version), ETL_ERR_ARGUMENT (no questions,
 * and a store that lacks addresses or threads), ETL_ERR_LIMIT, ETL_ERR_MEMORY.
 */
etl_status etlheap_open_store(const char *path, const etlheap_options *options,
                              etlheap_result **out, etl_error *err);

void etlheap_result_free(etlheap_result *result); /* NULL is allowed */

/* True: heap lifetimes are not in memory, and segments hold other kinds alone. What was kept
 * for one question answers for its window or windows only, a log or a store for all. */
bool etlheap_result_is_for_questions(const etlheap_result *result);

/* --- what the trace holds --------------------------------------------------- */

/* The `trace` object of cli.md section 3.1. Strings are UTF-8. */
typedef struct etlheap_trace_info {
    const char *const *files;
    u32 file_count;
    const char *session;
    const char *computer; /* "" unknown */
    u32 os_build;
    u32 pointer_bits;
    u32 cpus;
    const char *clock; /* "qpc", "system", "cpu" */
    u64 clock_hz;
    i64 start_time_filetime;
    i64 duration_ns; /* time of the last event */
    i64 end_ns;      /* just after the last event: end of the default window */
    u64 buffers;
    u64 events;
    u64 events_lost;
    u64 buffers_lost;
    u64 bytes;       /* of all files */
    u64 store_bytes; /* of the store that was read in their place; 0: none was */
} etlheap_trace_info;

const etlheap_trace_info *etlheap_result_trace(const etlheap_result *result);

typedef struct etlheap_process_info {
    u32 pid;
    u32 parent_pid; /* ETL_NO_ID unknown */
    /* "app.exe"; "Unknown" when no record names it. Names that differ in case alone are
     * written alike in one result, as the one that comes first in byte order. */
    const char *name;
    const char *command_line; /* "" unknown */
    i64 start_ticks;          /* ETLHEAP_TICKS_BEFORE: before the trace */
    i64 end_ticks;            /* ETLHEAP_TICKS_NEVER: alive at the end */
    u32 pointer_bits;         /* 32 for WOW64 and 32-bit systems, 0 unknown */
    u64 heap_events;
    u64 virtualalloc_events;
    u64 free_without_alloc[ETLHEAP_KIND_CAPACITY];
    u64 custom_events;
    const char *package;  /* full name of the app package; NULL: none */
    const char *services; /* Windows services that it runs, with commas; NULL: none */
} etlheap_process_info;

/* Processes in order of (pid, start); id.v - 1 is the index. NULL for id 0 and for ids
 * beyond the count. */
u32 etlheap_process_count(const etlheap_result *result);
const etlheap_process_info *etlheap_process_of(const etlheap_result *result, etlheap_process id);

/* Does a word of a query's `processes` name the process? It is its pid in decimal, or its
 * name with wildcards, from which the extension may be left out. */
bool etlheap_word_names_process(const char *word, const etlheap_process_info *process);

typedef struct etlheap_module_info {
    u32 pid; /* 0: kernel */
    u64 base;
    u64 size_bytes;
    const char *path; /* DOS path when the volume is known, else the NT path */
    /* Last component, without case: of the spellings in the result the first in byte
     * order. The path is as recorded. */
    const char *name;
    u32 time_date_stamp;
    u32 checksum;
    bool has_rsds;
    etl_guid guid;
    u32 age;
    const char *pdb_name;    /* "" unknown */
    i64 load_ticks;          /* ETLHEAP_TICKS_BEFORE: before the trace */
    i64 unload_ticks;        /* ETLHEAP_TICKS_NEVER */
    etlheap_process process; /* whose it is; 0: the kernel's, or not known */
} etlheap_module_info;

/* NULL for an index from the count on. */
u32 etlheap_module_count(const etlheap_result *result);

/* How many methods of .NET the trace names: frames in their code have a symbol, without
 * any symbol file, and the name of the methods' file as module. */
u32 etlheap_method_count(const etlheap_result *result);
const etlheap_module_info *etlheap_module_of(const etlheap_result *result, u32 index);

/* The last name of a thread of a process; of ETL_NO_ID, or a process without such a thread,
 * that of the latest thread of the id. NULL: it has none. Owned by the result. */
const char *etlheap_thread_name(const etlheap_result *result, u32 pid, u32 tid);

/* The marks of the recording; of a summary none, which etlheap_result_is_summary tells apart.
 * Owned by the result. */
const etlheap_marks *etlheap_result_marks(const etlheap_result *result);

const etl_diag_counts *etlheap_result_diagnostics(const etlheap_result *result);

/* What can be analysed. */
typedef struct etlheap_abilities {
    bool heap, virtualalloc, extent, stacks, modules, symbols, custom;
    bool memory;          /* MemInfo: commit, working sets and available memory over time */
    bool methods;         /* names of methods of .NET, for some process */
    bool methods_missing; /* a process runs .NET, and none of its methods has a name */
    bool thread_names;    /* names of threads, for some thread */
    bool threads_missing; /* no record of a thread, which is where names would be */
    bool reserve;         /* VirtualAlloc events, and the result keeps lifetimes of kind RESERVE */
} etlheap_abilities;

etlheap_abilities etlheap_result_abilities(const etlheap_result *result);

/* Time conversions of the result's clock; see etl_time_ns and etl_time_ticks. */
i64 etlheap_time_ns(const etlheap_result *result, i64 ticks);
i64 etlheap_time_ticks(const etlheap_result *result, i64 ns);

/* --- lifetimes ----------------------------------------------------------------- */

/* Rows of one segment, as columns. rows <= ETLHEAP_SEGMENT_ROWS. */
#define ETLHEAP_SEGMENT_ROWS 65536

typedef struct etlheap_segment {
    u32 rows;
    const i64 *alloc_ticks;
    const i64 *free_ticks;
    const u64 *address;
    const u64 *size_bytes;
    const u64 *heap_handle; /* 0 for virtualalloc and reserve */
    const u32 *process;     /* etlheap_process.v, never 0 */
    const u32 *stack;       /* etlheap_stack.v */
    const u32 *thread;      /* ETL_NO_ID unknown */
    const u8 *kind;         /* etlheap_kind */
    const u8 *free_type;    /* etlheap_free_type */
    const u8 *is_realloc;
    const u32 *free_stack, *free_thread; /* of a store that has them; else 0 and ETL_NO_ID */
} etlheap_segment;

/* 0 of a result of facts alone, which refuses what can be refused. A segment beyond the
 * count has no rows. */
u32 etlheap_segment_count(const etlheap_result *result);
etlheap_segment etlheap_segment_of(const etlheap_result *result, u32 index);

/* Raw frames of a stack, innermost first, kernel frames before user frames. */
typedef struct etlheap_frames {
    const u64 *addresses;
    u32 count;
} etlheap_frames;

/* Id 0 and ids beyond the count have no frames. What was opened for a report has the
 * frames of all stacks made when the first ones are asked for; without memory for them
 * there are none. */
u32 etlheap_stack_count(const etlheap_result *result); /* ids are 1..count */
etlheap_frames etlheap_stack_frames(const etlheap_result *result, etlheap_stack id);

/* The process whose addresses the frames of a lifetime's stack are: `owner`, the
 * lifetime's, unless another process allocated the memory for it (VirtualAllocEx). For id 0
 * and ids beyond the count it is `owner`. */
etlheap_process etlheap_stack_process(const etlheap_result *result, etlheap_stack id,
                                      etlheap_process owner);

/* --- names of functions --------------------------------------------------------- */

/*
 * Where symbol files are and which modules of a result have them. Nothing is
 * looked for before somebody asks: opening is cheap. Frames are named by
 * etlheap_table_name; queries that go by names (culling, required frames, sites,
 * types) have them in etlheap_query.symbols.
 *
 * A handle remembers what it found; one thread uses it at a time. Names that it
 * gave are valid until it is closed.
 */
typedef struct etlheap_symbols etlheap_symbols;

typedef struct etlheap_symbol_options {
    size_t size;                  /* sizeof(etlheap_symbol_options) */
    const char *path;             /* in the syntax of _NT_SYMBOL_PATH; NULL: nowhere */
    const char *default_store;    /* for elements that name none; NULL: none is kept */
    const char *temporary_folder; /* NULL: /tmp; C:/Windows/Temp on Windows */
    bool offline;                 /* servers are not asked */
    bool loose;                   /* accept files of another build if there is no match */
    u32 jobs;                     /* threads; 0: etlheap_default_jobs() */
    /* Bytes received and expected from servers, about ten times a second while
     * there are any. May be NULL. */
    etlheap_progress_fn *progress;
    void *progress_user;
} etlheap_symbol_options;

/*
 * Texts in options are copied; the result is borrowed until the symbols are closed.
 * On success the caller owns *out. ETL_ERR_ARGUMENT (the path, said why),
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_symbols_open(const etlheap_result *result, const etlheap_symbol_options *options,
                                etlheap_symbols **out, etl_error *err);
void etlheap_symbols_close(etlheap_symbols *symbols); /* NULL is allowed */

/* Whether opening will take the path: to be asked before the long work.
 * ETL_ERR_ARGUMENT, ETL_ERR_MEMORY. */
etl_status etlheap_symbols_check_path(const char *path, etl_error *err);

/* Writes the first folder of the path, from that many on, that does not exist or cannot be
 * read, and returns its number; UINT32_MAX: all others are there. Caches, which come into
 * being when they are needed, and servers are passed over. */
u32 etlheap_symbols_missing_folder(const char *path, u32 from, char *folder, size_t size);

/* --- tables ------------------------------------------------------------------------ */

#include "etlheap_columns.h" /* fields, keys and measures */

/* A frame pattern `[module!][symbol]` with `*` and `?`, case-insensitive. */
typedef struct etlheap_pattern {
    const char *module; /* NULL: any */
    const char *symbol; /* NULL: any; a name that is not known is empty */
    bool unnamed_only;  /* matches no frame whose function is known (exports are guesses) */
} etlheap_pattern;

/* What to select and how to group. Start from etlheap_query_default(); all arrays are borrowed
 * for the call. Counts of 0 mean "no such filter". */
typedef struct etlheap_query {
    size_t size;                  /* sizeof(etlheap_query) */
    i64 from_ns;                  /* INT64_MIN: time zero or the first event if earlier */
    i64 to_ns;                    /* INT64_MAX: just after the last event */
    bool at_exit_freed;           /* process exit ends a lifetime */
    u32 kinds;                    /* bit per etlheap_kind; 0: ETLHEAP_KINDS_DEFAULT */
    u32 types;                    /* bit per etlheap_type; 0: all */
    const char *const *processes; /* as etlheap_word_names_process reads them */
    u32 process_count;
    const u64 *heaps;
    u32 heap_count;
    const u32 *threads;
    u32 thread_count;
    i64 lifetime_min_ns, lifetime_max_ns;  /* inclusive; 0..INT64_MAX: all */
    u64 size_min_bytes, size_max_bytes;    /* inclusive; 0..UINT64_MAX: all */
    const etlheap_pattern *require_frames; /* any frame matches one of them */
    u32 require_frame_count;
    const etlheap_pattern *cull_frames;
    u32 cull_frame_count;
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    u32 group_by_count;
    etlheap_measure sort;
    bool sort_ascending;
    u32 jobs;
    etlheap_symbols *symbols;  /* of the same result; NULL: functions have no names */
    struct etlheap_tags *tags; /* for the key TAG; tables borrow from it */
    bool lifetime_ranks;       /* rows have the measures LIFETIME_*, which needs lifetimes */
    bool growth;               /* and GROWTH_RATE, STEADINESS: of all types, not by type */
    bool sums_only;            /* rows do not have PEAK_*, for which events are kept in order */
    bool at_end;               /* only what is outstanding as the window ends, at its moment */
    /* By etlheap_kind, ETLHEAP_KIND_CAPACITY of them: the window ends there, not at to_ns;
     * NULL: no such moments. */
    const i64 *kind_to_ticks;
    /* For rows of which few are looked at: of each kind the first so many stand on their
     * own, and the first so many with something in the sort measure; the others are added
     * up, those that differ in STACK alone in one row without it, at the place of its
     * first (etlheap_row.merged_rows). Holds where STACK comes last, after keys from KIND
     * to FREE_TYPE. 0: every row stands on its own. */
    u32 whole_rows_max;
    bool processes_by_name; /* those of one name are one, whose rows have pid ETL_NO_ID */
    /* Beside `threads`: threads with such a name, as etl_name_glob matches them. A block of another thread
     * that had the same id in another process is selected too. */
    const char *const *thread_names;
    u32 thread_name_count;
    /* Only what its generation leaves behind: allocated in the window, and not freed before the
     * next mark or, after the last one, the end of the window. */
    bool left_behind;
    bool freed_by_other; /* rows have the measure FREED_BY_OTHER */
    bool unmatched; /* frees of what was allocated before the recording in place of lifetimes */
    bool rates;     /* rows have ALLOC_* and FREED_* */
    bool churn;     /* and TEMPORARY_*, which needs single blocks; not at a moment */
} etlheap_query;

/* The defaults of `report`: whole trace, kind process heap type stack, largest outstanding size
 * first, exits do not free. Inline, so that the program's own idea of the structure is filled in. */
static inline etlheap_query etlheap_query_default(void)
{
    etlheap_query query;
    memset(&query, 0, sizeof query);
    query.size = sizeof query;
    query.from_ns = INT64_MIN;
    query.to_ns = INT64_MAX;
    query.lifetime_max_ns = INT64_MAX;
    query.size_max_bytes = UINT64_MAX;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_PROCESS;
    query.group_by[2] = ETLHEAP_KEY_HEAP;
    query.group_by[3] = ETLHEAP_KEY_TYPE;
    query.group_by[4] = ETLHEAP_KEY_STACK;
    query.group_by_count = 5;
    query.sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    return query;
}

/*
 * A resolved frame. Strings are UTF-8, NULL when unknown. Calls that the compiler
 * inlined are frames of their own, with the module, offset and address of the
 * frame that they are part of, which follows them. As FRAME and SITE of a row a
 * frame stands for a function: its offset and address are the lowest among the
 * row's, its line is 0 unless all agree.
 */
typedef struct etlheap_frame {
    const char *module; /* last component of the module's path */
    const char *symbol;
    const char *file;
    u64 address;      /* the lowest it was seen at: processes differ */
    u64 offset;       /* in the module, or in the code of a method; meaningless without module */
    u64 displacement; /* of the call from the symbol's begin; for the nearest only */
    u32 line;         /* 0 unknown */
    bool is_inlined;
    bool is_nearest; /* the symbol is the nearest one before, its size unknown: a guess */
} etlheap_frame;

#define ETLHEAP_NO_INDEX UINT32_MAX

typedef struct etlheap_row {
    u8 kind;      /* etlheap_kind */
    u8 type;      /* etlheap_type */
    u8 free_type; /* etlheap_free_type */
    const char *process;
    u32 pid;
    u32 thread;    /* ETL_NO_ID unknown */
    bool has_heap; /* false: virtualalloc and reserve */
    u64 heap_handle;
    u32 stack;             /* into etlheap_table.stacks, ETLHEAP_NO_INDEX: none */
    u32 frame;             /* into frames: FRAME and SITE; ETLHEAP_NO_INDEX: none */
    const char *module;    /* MODULE key; NULL: outside every module or no stack */
    const char *type_name; /* TYPE_NAME key: C++ type; "unknown" */
    const char *tag;       /* TAG key; NULL: no stack */
    u64 size_class_bytes;  /* largest power of two <= size; 0 for size 0 */
    bool grows_most;       /* grouped by heap: the largest impacting size of its kind, above 0 */
    u32 merged_rows;       /* rows that this is the sum of; 0: it stands on its own */
    i64 measures[ETLHEAP_MEASURES_CAPACITY];
    const char *thread_name; /* THREAD or THREAD_NAME key; NULL: it has none */
    u32 generation;          /* GENERATION key: how many marks come before the allocation */
    const char *mark;        /* GENERATION key: the latest of these; NULL: there is none */
    u32 mark_number;         /* as in etlheap_mark; 0: there is none */
    u32 free_stack, free_frame, free_thread; /* FREE_* keys; as above if not freed or not known */
    const char *free_module;
} etlheap_row;

typedef struct etlheap_total {
    bool present; /* the kind occurs in the trace */
    i64 to_ns;    /* end of the window for the kind */
    u64 free_without_alloc;
    i64 measures[ETLHEAP_MEASURES_CAPACITY]; /* only those that add up over rows, else 0 */
} etlheap_total;

/* Members of stack i: frame_indices[stack_starts[i]] up to stack_starts[i + 1]. */
typedef struct etlheap_table {
    i64 from_ns, to_ns;
    const etlheap_key *group_by;
    u32 group_by_count;
    u32 measures; /* bit per etlheap_measure: those that the rows have */
    bool at_end;  /* as asked: what is outstanding at a moment */
    const etlheap_frame *frames;
    u32 frame_count;
    const u32 *stack_starts; /* stack_count + 1 entries */
    const u32 *frame_indices;
    u32 stack_count;
    const etlheap_row *rows; /* sorted; ties by keys, so the order is total */
    u32 row_count;
    etlheap_total totals[ETLHEAP_KIND_CAPACITY];
    etl_diag_counts diagnostics; /* the result's, and those of finding symbols so far */
    i64 rates_ns; /* with rates: what ALLOC_RATE is per second of, the window or, of a summary,
                     all its recordings together */
} etlheap_table;

/*
 * Groups the lifetimes that the query selects. The table is owned by the caller
 * (etlheap_table_free) and borrows strings from the result. frames and stacks
 * hold only what rows refer to, in order of first use.
 * Errors: ETL_ERR_MEMORY, ETL_ERR_ARGUMENT (contradictory query, or one that the result
 * keeps too little to answer; said why).
 */
etl_status etlheap_aggregate(const etlheap_result *result, const etlheap_query *query,
                             const etlheap_table **out, etl_error *err);

void etlheap_table_free(const etlheap_table *table); /* NULL is allowed */

/* Frames and stacks of a table after its first `rows` rows were kept: the same table with fewer
 * rows and only what they refer to. */
etl_status etlheap_table_keep_top(const etlheap_table **table, u32 rows, etl_error *err);

/* Names the frames of the rows that are marked in `rows` (row_count of them; NULL: all rows),
 * and of other rows as far as they share them; makes inlined calls frames of their own. The
 * table borrows the names from the symbols. Call it after etlheap_table_keep_top: what is not
 * shown needs no names. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status etlheap_table_name(const etlheap_table **table, etlheap_symbols *symbols,
                              const bool *rows, etl_error *err);

#ifdef __cplusplus
}
#endif

#include "etlheap_batch.h"
#include "etlheap_counts.h"
#include "etlheap_diff.h"
#include "etlheap_gate.h"
#include "etlheap_libraries.h"
#include "etlheap_lifetimes.h"
#include "etlheap_recording.h"
#include "etlheap_snapshot.h"
#include "etlheap_stream.h"
#include "etlheap_summary.h"
#include "etlheap_symbols.h"
#include "etlheap_tags.h"
#include "etlheap_totals.h"
#include "etlheap_trend.h"

#include "etlheap_details.h" /* moments, histograms */
#include "etlheap_windows.h"

#include "etlheap_ask.h"

#endif
