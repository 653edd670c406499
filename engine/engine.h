/*
 * engine.h - front door of the analysis: what a trace means.
 *
 *     etl_open                         file -> trace (parser/parser.h)
 *     etlheap_analyze                  traces of one recording -> result
 *     etlheap_open_store               store (.ehs) -> result
 *     etlheap_ask, etlheap_aggregate   result -> tables and other answers
 *     etlheap_symbols_*                result -> names of functions
 *     etlheap_stream_*                 traces -> every record in time order
 *     etlheap_summary_*                traces and stores -> a store with their totals
 *     formats/formats.h                writes answers as text, JSON, CSV and other formats
 *
 * This header includes parser/parser.h and all other public headers of the engine.
 *
 * Functions whose comment begins with [stable] keep their meaning; the others are experimental
 * (docs/c_api.md).
 *
 * Ownership: the caller owns what a function returns through `out`, and frees it with the matching
 * _free or _close. Everything reached through it is valid until then. Threads: a result does not
 * change, so any number of threads may query it at once. The library does not print, exit or read
 * the environment. The same files and options give the same result for any `jobs`.
 *
 * Times: _ticks are raw ticks of the first trace's clock; _ns are nanoseconds since time zero, the
 * time of the first trace's log-file header. Ids and indices out of range are never looked up: a
 * query or an options structure with one is refused with ETL_ERR_ARGUMENT, and functions return ""
 * (text), NULL (pointers) or all zeros (structures) for one.
 *
 * Options, queries and requests begin with their size (docs/c_api.md). Fields beyond a smaller size
 * have their defaults. A nonzero field beyond the size that this library knows is refused with
 * ETL_ERR_UNSUPPORTED, an impossible size with ETL_ERR_ARGUMENT.
 */
#ifndef ETLHEAP_ENGINE_H
#define ETLHEAP_ENGINE_H

#include "parser/parser.h"

#include "etlheap_kinds.h"
#include "etlheap_marks.h"
#include "etlheap_spans.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ids. 0 means none. They are structures so that the compiler tells them apart. */
typedef struct etlheap_stack {
    uint32_t v;
} etlheap_stack; /* 0: no stack was recorded */

typedef struct etlheap_process {
    uint32_t v;
} etlheap_process; /* one lifetime of a process id; Windows reuses ids */

#define ETLHEAP_TICKS_BEFORE INT64_MIN /* allocated before the trace began */
#define ETLHEAP_TICKS_NEVER  INT64_MAX /* never freed */

/* How a lifetime ended: not in the trace, by a free, or with its heap or process. */
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

/* Lengths of arrays indexed by kind and by type. They are larger than the number of kinds, so that
 * structures keep their size when a kind is added. Elements beyond the last enumerator are 0. */
#define ETLHEAP_KIND_CAPACITY 16
#define ETLHEAP_TYPE_CAPACITY 4

static_assert((int)ETLHEAP_KIND_COUNT <= ETLHEAP_KIND_CAPACITY, "a kind has a place in arrays");
static_assert((int)ETLHEAP_TYPE_COUNT <= ETLHEAP_TYPE_CAPACITY, "a type has a place in arrays");

/* [stable] Static text; "" for a number out of range. */
const char *etlheap_kind_name(etlheap_kind kind);           /* "heap" */
const char *etlheap_free_type_name(etlheap_free_type type); /* "process-exit" */
const char *etlheap_type_name(etlheap_type type);           /* "AIFO" */
const char *etlheap_impacting_type_name(etlheap_type type); /* "Impacting" */

/*
 * [stable] Heap handles and their names. A Windows heap is named by its handle, "0x1f0000". A
 * custom heap (kind CUSTOM) has a synthetic handle that encodes the allocator's name and the
 * allocator's own number of the heap; no Windows heap can have such a handle. Names: "mimalloc",
 * "PIX 3", or "Engine ~0a3f1" with a hash of a number that is too large.
 *
 * etlheap_custom_heap returns the handle of a custom heap; `heap` is NULL if the allocator does not
 * tell heaps apart. etlheap_heap_name writes the name of any handle. etlheap_heap_of_name finds the
 * handle of a custom heap; false if no custom heap can have this name. Any thread.
 */
#define ETLHEAP_HEAP_NAME_SIZE 32
uint64_t etlheap_custom_heap(const char *name, const uint64_t *heap);
void etlheap_heap_name(uint64_t handle, char out[ETLHEAP_HEAP_NAME_SIZE]);
bool etlheap_heap_of_name(const char *word, uint64_t *handle);

/* --- analysis ------------------------------------------------------------- */

#include "etlheap_progress.h"

/* Writes the next bytes of a file; false if they could not be written. Any thread of the analysis
 * may call it, but only one at a time. */
typedef bool etlheap_write_fn(void *user, const void *bytes, size_t size);

/* Where etlheap_analyze writes a store (.ehs). Bytes are written once and from front to end. The
 * file is complete only if the call succeeds. */
typedef struct etlheap_store_options {
    size_t size; /* sizeof(etlheap_store_options) */
    etlheap_write_fn *write;
    void *user;
    bool is_temporary; /* the store will be read once, soon: write it faster, and larger */
    /* Leave out the counts of records (etlheap_counts.h), and who freed each block. */
    bool is_without_info, is_without_frees;
    /* Only this part of the recording (etlheap_part.h); NULL: all of it. Borrowed. The traces are
     * decoded into a temporary store first, in memory or in temporary_folder. */
    const struct etlheap_part *part;
} etlheap_store_options;

/* Options of etlheap_analyze and etlheap_open_store. Start from {0} with `size` set. */
typedef struct etlheap_options {
    size_t size;               /* sizeof(etlheap_options) */
    uint32_t jobs;             /* threads; 0: etlheap_default_jobs() */
    uint64_t memory_bytes_max; /* limit, approximate: large parts count, once per slice; 0: none */
    uint64_t slice_bytes;      /* trace bytes per time slice, for tests; 0: the default */
    /* Count records and stacks, and keep no lifetimes: the result holds only facts, and refuses
     * questions about memory with ETL_ERR_ARGUMENT. */
    bool inventory_only;
    /* The questions that will be asked (etlheap_ask.h). If one question needs only sums, or events
     * in order, the result keeps just these, in a fraction of the memory and time. Otherwise it
     * keeps all events as a store does, in memory or in temporary_folder. Without questions it
     * keeps every lifetime in memory, as columns. Borrowed for the call. */
    const struct etlheap_question *questions;
    uint32_t question_count;
    const char *temporary_folder; /* where data goes that does not fit into memory; NULL: nowhere */
    etlheap_progress_fn *progress; /* may be NULL */
    void *progress_user;
    /* Write lifetimes to a store: the result holds only facts, as with inventory_only. Not to be
     * combined with inventory_only or questions. Borrowed for the call; may be NULL. */
    const etlheap_store_options *store;
    const char *name; /* name of the opened store in output; NULL: its path */
    /* Allocators that log their own events; they come before the built-in ones. Borrowed. */
    const etl_custom_allocator *custom_allocators;
    uint32_t custom_allocator_count;
    /* Events to treat as marks besides PerfInfo/Mark; only for traces. Borrowed for the call. */
    const etlheap_mark_event *mark_events;
    uint32_t mark_event_count;
    bool named_kinds; /* keep the kinds that are selected only by name, as stores always do, and
                         questions that select one of them */
    const uint32_t *cancel; /* as in etlheap_query; looked at once per slice and batch of events */
    /* Keep sums of the windows of a store that were asked about last, in at most 64 MiB. Further
     * questions about one of them that need no more than sums do not read its events again. */
    bool keeps_sums;
} etlheap_options;

typedef struct etlheap_result etlheap_result;

/* [stable] Analyzes the files of one recording as one trace. `names` has one name per trace, for
 * messages and output. Both arrays are borrowed for the call, the traces until the result is freed.
 * options may be NULL. On success the caller owns *out. Errors: ETL_ERR_MEMORY, ETL_ERR_LIMIT (more
 * memory is needed than memory_bytes_max allows; the message says how much), ETL_ERR_CANCELLED,
 * ETL_ERR_ARGUMENT (no trace, or options that exclude each other), ETL_ERR_IO (the temporary file
 * or the store could not be written). */
etl_status etlheap_analyze(etl_trace *const *traces, const char *const *names, uint32_t trace_count,
                           const etlheap_options *options, etlheap_result **out, etl_error *err);

/* [stable] True if a file begins like a store (.ehs). Pass at least its first 8 bytes. */
bool etlheap_is_store(etl_bytes file);

/* [stable] Opens a store as a result, which answers like the result of the traces it was written
 * from. Of the options only inventory_only, questions, named_kinds, name, memory_bytes_max and
 * keeps_sums count. With questions, heap events stay in the file, and any question may be asked
 * later. The file stays mapped until the result is freed. On success the caller owns *out. Errors:
 * ETL_ERR_IO, ETL_ERR_CORRUPT (the store is damaged or unfinished), ETL_ERR_UNSUPPORTED (another
 * version), ETL_ERR_ARGUMENT (no questions, but the store lacks addresses or threads),
 * ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status etlheap_open_store(const char *path, const etlheap_options *options,
                              etlheap_result **out, etl_error *err);

/* [stable] NULL is allowed. */
void etlheap_result_free(etlheap_result *result);

/* True if heap lifetimes are not in memory as columns, so segments hold only the other kinds. A
 * result that kept one question's sums answers only for its window or windows; one that kept all
 * events, or a store, answers for any. */
bool etlheap_result_is_for_questions(const etlheap_result *result);

/* --- what the trace holds --------------------------------------------------- */

/* The recording as a whole. Strings are UTF-8 and owned by the result. */
typedef struct etlheap_trace_info {
    const char *const *files;
    uint32_t file_count;
    const char *session;
    const char *computer; /* "" unknown */
    uint32_t os_build;
    uint32_t pointer_bits;
    uint32_t cpus;
    const char *clock; /* "qpc", "system", "cpu" */
    uint64_t clock_hz;
    int64_t start_time_filetime;
    int64_t duration_ns; /* time of the last event */
    int64_t end_ns;      /* just after the last event: where the default window ends */
    uint64_t buffers;
    uint64_t events;
    uint64_t events_lost, buffers_lost;
    uint64_t bytes;       /* of all files */
    uint64_t store_bytes; /* size of the store that was read instead; 0: none */
    etlheap_recorded recorded[ETLHEAP_KIND_CAPACITY]; /* by kind */
    bool is_local_time; /* the start is the local time of an unknown zone, not UTC */
} etlheap_trace_info;

/* Owned by the result. */
const etlheap_trace_info *etlheap_result_trace(const etlheap_result *result);

/* A process lifetime. Strings are owned by the result. */
typedef struct etlheap_process_info {
    uint32_t pid;
    uint32_t parent_pid; /* ETL_NO_ID unknown */
    /* "app.exe"; "Unknown" if no record names it (etlheap_process_is_named). If a record lost
     * characters of the name, it is that of the program's file, if the trace has it. Names that
     * differ only in case are spelled alike within a result: as the one that comes first in byte
     * order. */
    const char *name;
    const char *command_line;               /* "" unknown */
    int64_t start_ticks;                    /* ETLHEAP_TICKS_BEFORE: before the trace */
    int64_t end_ticks;                      /* ETLHEAP_TICKS_NEVER: alive at the end */
    uint32_t pointer_bits;                  /* 32 for WOW64 and 32-bit systems, 0 unknown */
    uint64_t events[ETLHEAP_KIND_CAPACITY]; /* by the kind that they tell about first: those of
                                               heaps also tell about extents (recorded_with) */
    uint64_t free_without_alloc[ETLHEAP_KIND_CAPACITY];
    const char *package;  /* full name of the app package; NULL if it has none */
    const char *services; /* its Windows services, separated by commas; NULL if none */
    uint32_t asked_kinds; /* kinds that it has memory of though events name another process */
} etlheap_process_info;

/* Processes, ordered by (pid, start); the index is id.v - 1. NULL for id 0 and for ids beyond the
 * count. Owned by the result. */
uint32_t etlheap_process_count(const etlheap_result *result);
const etlheap_process_info *etlheap_process_of(const etlheap_result *result, etlheap_process id);

/* The number of memory events of a process, and the kinds that they may tell about, as bits. */
uint64_t etlheap_process_events(const etlheap_process_info *process);
uint32_t etlheap_process_kinds(const etlheap_process_info *process);

/* A module, for the time it was loaded. Strings are owned by the result. */
typedef struct etlheap_module_info {
    uint32_t pid; /* 0: kernel */
    uint64_t base;
    uint64_t size_bytes;
    const char *path; /* DOS path if the volume is known, else the NT path */
    /* Last component of the path, with folders before it if one process loaded several files of
     * that name. Names that differ only in case are spelled alike within a result; the path is as
     * recorded. */
    const char *name;
    uint32_t time_date_stamp;
    uint32_t checksum;
    bool has_rsds;
    etl_guid guid;
    uint32_t age;
    const char *pdb_name;    /* "" unknown */
    int64_t load_ticks;      /* ETLHEAP_TICKS_BEFORE: before the trace */
    int64_t unload_ticks;    /* ETLHEAP_TICKS_NEVER */
    etlheap_process process; /* the process that loaded it; 0: the kernel, or unknown */
} etlheap_module_info;

/* Modules by index; NULL for an index beyond the count. Owned by the result. */
uint32_t etlheap_module_count(const etlheap_result *result);

/* [stable] The number of .NET methods that the trace names. Frames in their code need no symbol
 * file; their module is the file that contains the method. */
uint32_t etlheap_method_count(const etlheap_result *result);

const etlheap_module_info *etlheap_module_of(const etlheap_result *result, uint32_t index);

/* The marks of the recording. A summary has none; etlheap_result_is_summary tells it apart. Owned
 * by the result. */
const etlheap_marks *etlheap_result_marks(const etlheap_result *result);

/* [stable] Counts of lost, damaged and guessed data of the recording (parser/diag.h). Owned by the
 * result. */
const etl_diag_counts *etlheap_result_diagnostics(const etlheap_result *result);

/* The kinds of data that the result has. */
typedef struct etlheap_abilities {
    uint32_t kinds; /* kinds of memory, bit per etlheap_kind: those with events whose blocks or
                       ranges the result keeps (see etlheap_options.named_kinds) */
    bool stacks, modules, symbols;
    bool memory;          /* MemInfo records: commit, working sets and available memory over time */
    bool methods;         /* at least one process has names of .NET methods */
    bool methods_missing; /* a process runs .NET, but none of its methods has a name */
    bool thread_names;    /* at least one thread has a name */
    bool threads_missing; /* there are no thread records, which carry the names */
    bool heap_sizes;      /* records state how much a heap has committed or reserved */
    bool free_stacks;     /* events that free memory have call stacks. Only counted with
                             inventory_only and for stores; false in older stores */
} etlheap_abilities;

etlheap_abilities etlheap_result_abilities(const etlheap_result *result);
/* Is the call stack of some free known? Only if a question of the analysis asks who freed. */
bool etlheap_result_has_free_stacks(const etlheap_result *result);

/* Convert between ticks of the result's clock and nanoseconds since time zero, as etl_time_ns and
 * etl_time_ticks do. */
int64_t etlheap_time_ns(const etlheap_result *result, int64_t ticks);
int64_t etlheap_time_ticks(const etlheap_result *result, int64_t ns);

/* --- lifetimes ----------------------------------------------------------------- */

/* One segment of lifetimes as columns of `rows` entries each, at most ETLHEAP_SEGMENT_ROWS. Owned
 * by the result. */
#define ETLHEAP_SEGMENT_ROWS 65536

typedef struct etlheap_segment {
    uint32_t rows;
    const int64_t *alloc_ticks;
    const int64_t *free_ticks;
    const uint64_t *address;
    const uint64_t *size_bytes;
    const uint64_t *heap_handle; /* 0 for virtualalloc and reserve */
    const uint32_t *process;     /* etlheap_process.v, never 0 */
    const uint32_t *stack;       /* etlheap_stack.v */
    const uint32_t *thread;      /* ETL_NO_ID unknown */
    const uint8_t *kind;         /* etlheap_kind */
    const uint8_t *free_type;    /* etlheap_free_type */
    const uint8_t *is_realloc;
    const uint32_t *free_stack,
        *free_thread; /* only from stores that have them, else 0 and ETL_NO_ID */
} etlheap_segment;

/* Lifetimes in memory. The count is 0 for a result that holds only facts. A segment beyond the
 * count has no rows. */
uint32_t etlheap_segment_count(const etlheap_result *result);
etlheap_segment etlheap_segment_of(const etlheap_result *result, uint32_t index);

/* Addresses of a stack, innermost first, kernel frames before user frames. Owned by the result. */
typedef struct etlheap_frames {
    const uint64_t *addresses;
    uint32_t count;
} etlheap_frames;

/* Stacks have the ids 1 to the count. Id 0 and ids beyond the count have no frames. A result made
 * for questions expands all stacks when the first one is asked for; if memory runs out, no stack
 * has frames. Any thread. */
uint32_t etlheap_stack_count(const etlheap_result *result); /* ids are 1..count */
etlheap_frames etlheap_stack_frames(const etlheap_result *result, etlheap_stack id);

/* --- names of functions --------------------------------------------------------- */

/* Finds symbol files for the modules of a result, and names functions. Opening is cheap: files are
 * looked up when a name is needed. etlheap_table_name names the frames of a table. Queries that
 * depend on names (culled, required and excluded frames, sites, types) need the handle in
 * etlheap_query.symbols. Only one thread may use a handle at a time. Its names are valid until it
 * is closed. */
typedef struct etlheap_symbols etlheap_symbols;

#include "etlheap_symbol_options.h" /* symbol path, servers, logins */

/* [stable] Opens the symbols of a result. Texts in options are copied; the result is borrowed until
 * the symbols are closed. On success the caller owns *out. ETL_ERR_ARGUMENT (invalid symbol path;
 * the message says why), ETL_ERR_MEMORY. */
etl_status etlheap_symbols_open(const etlheap_result *result, const etlheap_symbol_options *options,
                                etlheap_symbols **out, etl_error *err);
void etlheap_symbols_close(etlheap_symbols *symbols); /* NULL is allowed */

/* Checks a symbol path before the long work begins. ETL_ERR_ARGUMENT (invalid; the message says
 * why), ETL_ERR_MEMORY. */
etl_status etlheap_symbols_check_path(const char *path, etl_error *err);

/* Writes a sentence about the first element of the path, from number `from` on, that is probably a
 * slip, such as a missing folder. Returns the element's number, or UINT32_MAX if there is none. */
uint32_t etlheap_symbols_path_note(const char *path, uint32_t from, char *note, size_t size);

/* --- queries ----------------------------------------------------------------------- */

#include "etlheap_columns.h" /* fields, keys, measures */

/* A frame pattern `[module!][symbol]`. `*` and `?` are wildcards; case does not matter. */
typedef struct etlheap_pattern {
    const char *module; /* NULL: any */
    const char *symbol; /* NULL: any; an unknown name matches as "" */
    bool unnamed_only;  /* match only frames without a known function (exports are guesses) */
} etlheap_pattern;

/* A query: which lifetimes to select, and how to group them. Start from etlheap_query_default().
 * All arrays are borrowed for the call. A count of 0 means no such filter. */
typedef struct etlheap_query {
    size_t size;                  /* sizeof(etlheap_query) */
    int64_t from_ns;              /* INT64_MIN: time zero, or the first event if it is earlier */
    int64_t to_ns;                /* INT64_MAX: just after the last event */
    bool at_exit_freed;           /* count memory as freed when its process exits */
    uint32_t kinds;               /* bit per etlheap_kind; 0: ETLHEAP_KINDS_DEFAULT */
    uint32_t types;               /* bit per etlheap_type; 0: all */
    const char *const *processes; /* words for etlheap_word_names_process */
    uint32_t process_count;
    const uint64_t *heaps;
    uint32_t heap_count;
    const uint32_t *threads;
    uint32_t thread_count;
    int64_t lifetime_min_ns, lifetime_max_ns; /* inclusive; 0..INT64_MAX: all */
    uint64_t size_min_bytes, size_max_bytes;  /* inclusive; 0..UINT64_MAX: all */
    const etlheap_pattern *require_frames; /* select stacks with a frame that matches one of them */
    uint32_t require_frame_count;
    const etlheap_pattern *cull_frames;
    uint32_t cull_frame_count;
    /* If the query selects several kinds and KIND is not among the keys, it is added before them:
     * kinds are never added together. */
    etlheap_key group_by[ETLHEAP_GROUP_BY_MAX];
    uint32_t group_by_count;
    etlheap_measure sort;
    bool sort_ascending;
    uint32_t jobs;
    etlheap_symbols *symbols;  /* symbols of the same result; NULL: functions have no names */
    struct etlheap_tags *tags; /* for the key TAG; the table borrows from it */
    bool lifetime_ranks;       /* compute LIFETIME_*, which needs single lifetimes */
    bool growth;    /* compute GROWTH_RATE, STEADINESS; not with selected types or a moment */
    bool sums_only; /* do not compute PEAK_*, which needs events in order */
    bool at_end;    /* select only what is outstanding when the window ends */
    /* Array of ETLHEAP_KIND_CAPACITY ticks, indexed by etlheap_kind: the window of a kind ends
     * there instead of at to_ns. NULL: all end at to_ns. */
    const int64_t *kind_to_ticks;
    /*
     * For reports that show few rows. The first whole_rows_max rows of each kind stay as they are,
     * and as many of those with a nonzero sort measure. Other rows that differ only in their stack
     * are merged into one row without a stack, at the place of the first of them (merged_rows). So
     * are, into one row without a heap, rows of heaps of which no row stays, if they differ only in
     * HEAP and keys after it.
     * Applies if STACK or IMPACTING_STACK is the last key, after keys from KIND to FREE_TYPE. 0: no
     * row is merged.
     */
    uint32_t whole_rows_max;
    bool processes_by_name; /* group processes with the same name together; pid is ETL_NO_ID */
    /* Besides `threads`: threads with a name that matches as in etl_name_glob. Also selects blocks
     * of another thread that had the same id in another process. */
    const char *const *thread_names;
    uint32_t thread_name_count;
    /* Select only what a generation leaves behind: allocated in the window, and not freed before
     * the next mark (after the last mark: before the end of the window). */
    bool left_behind;
    bool freed_by_other; /* compute FREED_BY_OTHER */
    bool unmatched;      /* frees of blocks allocated before the recording, not lifetimes */
    bool rates;          /* compute ALLOC_* and FREED_* */
    bool churn;          /* compute TEMPORARY_*, which needs single blocks; not with at_end */
    bool keep_lifetimes; /* LIFETIME_* only of what the window freed, kept for comparisons */
    /* A flag that any thread may set to something else than 0, with an atomic store: then the call
     * fails with ETL_ERR_CANCELLED. Threads of the call look at it once for each batch of blocks
     * or events. Borrowed for the call, and by lists of lifetimes until they are closed. NULL:
     * nobody cancels. */
    const uint32_t *cancel;
    /* Limit of the memory that the question holds while it is answered, of all threads, besides the
     * result: what grows with blocks, groups or windows counts. Beyond it, the call fails with
     * ETL_ERR_LIMIT. 0: that of etlheap_options, if the result is a store or keeps all events. */
    uint64_t memory_bytes_max;
    /* Leave out stacks with a frame that matches one of them, even if require_frames select them.
     * Memory without a stack stays. */
    const etlheap_pattern *exclude_frames;
    uint32_t exclude_frame_count;
    bool only_excluded; /* the reverse: select only what exclude_frames leave out */
    /* Let one frame stand for consecutive frames of a module that matches: the module alone,
     * without offset and function. Patterns have no symbol. Filters, culling and tags look at the
     * frames before that. */
    const etlheap_pattern *fold_modules;
    uint32_t fold_module_count;
    bool alloc_times; /* compute FIRST and LAST, which need single lifetimes */
    bool heap_pages;  /* rows that are heaps have UNCOMMITTED_SIZE, DECOMMITTED_SIZE and
                         FRAGMENTATION, too */
    /* Describes tags of rows by POOL_TAG, and of gates; the table borrows from it. NULL: nothing
     * does. */
    const struct etlheap_pool_tags *pool_tags;
    /* Make only the first rows_max rows of the table, as etlheap_table_keep_top would keep them:
     * making a row takes longer than adding it up. Totals are of all rows. 0: all rows. Other
     * answers than tables ignore it. */
    uint32_t rows_max;
} etlheap_query;

/* [stable] Fills a query of `size` bytes with the defaults: the whole trace, grouped by kind,
 * process, heap, type and stack, largest outstanding size first; an exit does not free. No effect
 * on a size of 0. */
void etlheap_query_init(etlheap_query *query, size_t size);

/* The default query. Inline, so that `size` is that of the caller's structure. */
static inline etlheap_query etlheap_query_default(void)
{
    etlheap_query query;
    etlheap_query_init(&query, sizeof query);
    return query;
}

#ifdef __cplusplus
}
#endif

#include "etlheap_table.h"

#include "etlheap_anonymise.h"
#include "etlheap_batch.h"
#include "etlheap_counts.h"
#include "etlheap_diff.h"
#include "etlheap_gate.h"
#include "etlheap_libraries.h"
#include "etlheap_lifetimes.h"
#include "etlheap_query_words.h"
#include "etlheap_part.h"
#include "etlheap_pool_tags.h"
#include "etlheap_recorded.h"
#include "etlheap_recording.h"
#include "etlheap_snapshot.h"
#include "etlheap_spikes.h"
#include "etlheap_stream.h"
#include "etlheap_summary.h"
#include "etlheap_symbols.h"
#include "etlheap_tags.h"
#include "etlheap_threads.h"
#include "etlheap_trend.h"

#include "etlheap_ask.h" /* with moments, histograms and windows */

#endif
