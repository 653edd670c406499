/*
 * etlheap_columns.h - the columns of all tables. Part of engine.h.
 *
 * A field is one column, with a key (its name in JSON, NDJSON, CSV and Parquet) and a title for
 * people, which is WPA's title if WPA has the column. Grouping keys, measures, and the columns of
 * lifetimes and windows are subsets of the fields. To add a column, add a row to ETLHEAP_FIELDS.
 * All functions return static text and may be called from any thread.
 */
#ifndef ETLHEAP_COLUMNS_H
#define ETLHEAP_COLUMNS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, key, title), grouped by the first table that has the field. */
#define ETLHEAP_FIELDS(X)                                                                          \
    /* keys of rows, and columns that come with them       */                                      \
    X(KIND, "kind", "Kind")                                                                        \
    X(PROCESS, "process", "Process")                                                               \
    X(PID, "pid", "PID")                                                                           \
    X(HEAP, "heap", "Handle")                                                                      \
    X(TYPE, "type", "Type")                                                                        \
    X(IMPACTING_TYPE, "impacting_type", "Impacting Type")                                          \
    X(FREE_TYPE, "free_type", "Free Type")                                                         \
    X(STACK, "stack", "Stack")                                                                     \
    X(FRAME, "frame", "Frame")                                                                     \
    X(SITE, "site", "Site")                                                                        \
    X(MODULE, "module", "Module")                                                                  \
    X(THREAD, "thread", "Thread")                                                                  \
    X(SIZE_CLASS, "size_class", "Size Class")                                                      \
    X(TYPE_NAME, "type_name", "Type Name")                                                         \
    X(TAG, "tag", "Stack Tag")                                                                     \
    X(GENERATION, "generation", "Generation")                                                      \
    X(MARK, "mark", "Mark")                                                                        \
    X(THREAD_NAME, "thread_name", "Thread Name")                                                   \
    X(FREE_STACK, "free_stack", "Free Stack")                                                      \
    X(FREE_SITE, "free_site", "Free Site")                                                         \
    X(FREE_MODULE, "free_module", "Free Module")                                                   \
    X(FREE_THREAD, "free_thread", "Free Thread")                                                   \
    X(IMPACTING_STACK, "impacting_stack", "Impacting Stack")                                       \
    X(SOURCE_LINE, "source_line", "Source Line")                                                   \
    X(OBJECT_TYPE, "object_type", "Object Type")                                                   \
    X(POOL_TAG, "pool_tag", "Pool Tag")                                                            \
    X(POOL_TAG_DESCRIPTION, "pool_tag_description", "Pool Tag Description")                        \
    /* numbers of a row */                                                                         \
    X(COUNT, "count", "Count")                                                                     \
    X(SIZE, "size", "Size")                                                                        \
    X(IMPACTING_SIZE, "impacting_size", "Impacting Size")                                          \
    X(OUTSTANDING_COUNT, "outstanding_count", "Outstanding Count")                                 \
    X(OUTSTANDING_SIZE, "outstanding_size", "Outstanding Size")                                    \
    X(REALLOC_COUNT, "realloc_count", "Realloc Count")                                             \
    X(PEAK_COUNT, "peak_count", "Count Peak")                                                      \
    X(PEAK_SIZE, "peak_size", "Size Peak")                                                         \
    X(LIFETIME_MEDIAN, "lifetime_median_ns", "Lifetime Median")                                    \
    X(LIFETIME_P99, "lifetime_p99_ns", "Lifetime 99%")                                             \
    X(COMMITTED_SIZE, "committed_size", "Committed Size")                                          \
    X(RESERVED_SIZE, "reserved_size", "Reserved Size")                                             \
    X(OVERHEAD_SIZE, "overhead_size", "Overhead Size")                                             \
    X(GROWTH_RATE, "growth_rate", "Growth/s")                                                      \
    X(STEADINESS, "steadiness", "Steadiness")                                                      \
    X(FREED_BY_OTHER, "freed_by_other_count", "Freed by Other Thread")                             \
    X(GROWS_MOST, "grows_most", "Grows Most")                                                      \
    X(ALLOC_SIZE, "alloc_size", "Alloc Size")                                                      \
    X(ALLOC_RATE, "alloc_rate", "Allocs/s")                                                        \
    X(ALLOC_BYTES_RATE, "alloc_bytes_rate", "Bytes/s")                                             \
    X(FREED_COUNT, "freed_count", "Freed Count")                                                   \
    X(FREED_SIZE, "freed_size", "Freed Size")                                                      \
    X(TEMPORARY_COUNT, "temporary_count", "Temporary")                                             \
    X(TEMPORARY_SIZE, "temporary_size", "Temporary Size")                                          \
    X(TEMPORARY_10_COUNT, "temporary_10_count", "In 10")                                           \
    X(TEMPORARY_1MS_COUNT, "temporary_1ms_count", "In 1 ms")                                       \
    X(LIFETIME_MEAN, "lifetime_mean_ns", "Lifetime Mean")                                          \
    X(LIFETIME_P90, "lifetime_p90_ns", "Lifetime 90%")                                             \
    X(EXCLUSIVE_COUNT, "exclusive_count", "Exclusive Count")                                       \
    X(EXCLUSIVE_SIZE, "exclusive_size", "Exclusive Size")                                          \
    /* of one lifetime */                                                                          \
    X(IS_REALLOC, "is_realloc", "Is Realloc")                                                      \
    X(ADDRESS, "address", "Address")                                                               \
    X(ALLOC_TIME, "alloc_time_ns", "Alloc Time")                                                   \
    X(FREE_TIME, "free_time_ns", "Free Time")                                                      \
    X(LIFETIME, "lifetime_ns", "Lifetime")                                                         \
    /* of time windows */                                                                          \
    X(FROM_NS, "from_ns", "From (ns)")                                                             \
    X(TO_NS, "to_ns", "To (ns)")                                                                   \
    X(WINDOW_MARK, "window_mark", "Window Mark")                                                   \
    X(AIFI_COUNT, "aifi_count", "AIFI Count")                                                      \
    X(AIFI_SIZE, "aifi_size", "AIFI Size")                                                         \
    X(AIFO_COUNT, "aifo_count", "AIFO Count")                                                      \
    X(AIFO_SIZE, "aifo_size", "AIFO Size")                                                         \
    X(AOFI_COUNT, "aofi_count", "AOFI Count")                                                      \
    X(AOFI_SIZE, "aofi_size", "AOFI Size")                                                         \
    X(AOFO_COUNT, "aofo_count", "AOFO Count")                                                      \
    X(AOFO_SIZE, "aofo_size", "AOFO Size")                                                         \
    /* of buckets of a histogram, in bytes or ns */                                                \
    X(FROM, "from", "From")                                                                        \
    X(TO, "to", "Below")                                                                           \
    X(ROUNDING_SIZE, "rounding_size", "Rounding")                                                  \
    X(LFH_ROUNDING_SIZE, "lfh_rounding_size", "LFH Rounding")                                      \
    /* of regions of address space */                                                              \
    X(CATEGORY, "category", "Category")                                                            \
    X(REGIONS, "regions", "Regions")                                                               \
    X(LARGEST_UNCOMMITTED, "largest_uncommitted_size", "Largest Uncommitted")                      \
    X(LARGEST_EMPTY, "largest_empty_size", "Largest Empty")                                        \
    X(TOUCHED, "touched_size", "Touched Size")                                                     \
    /* of suspects */                                                                              \
    X(SCORE, "score", "Score")                                                                     \
    X(ALLOC_COUNT, "alloc_count", "Alloc Count")                                                   \
    X(NEVER_FREED_COUNT, "never_freed_count", "Never Freed Count")                                 \
    X(NEVER_FREED_SIZE, "never_freed_size", "Never Freed Size")                                    \
    X(OUTSTANDING_SHARE, "outstanding_share_millionths", "Outstanding Share (millionths)")         \
    X(FIRST, "first_ns", "First")                                                                  \
    X(LAST, "last_ns", "Last")                                                                     \
    X(OLDEST, "oldest_ns", "Oldest")                                                               \
    X(TYPICAL_LIFETIME, "typical_lifetime_ns", "Typical Lifetime")                                 \
    X(THREADS, "threads", "Threads")                                                               \
    X(REASON, "reason", "Reason")                                                                  \
    /* of comparisons */                                                                           \
    X(STATE, "state", "State")                                                                     \
    X(BACKTRACE, "backtrace", "BackTrace")                                                         \
    /* of modules and their symbols */                                                             \
    X(STATUS, "status", "Status")                                                                  \
    X(EXPECTED, "expected", "Expected")                                                            \
    X(FILE, "file", "File")                                                                        \
    X(NOTE, "note", "Note")                                                                        \
    X(PATH, "path", "Path")                                                                        \
    X(NAMED_SIZE, "named_size", "Named Size")                                                      \
    X(FUNCTION, "function", "Function")                                                            \
    X(LINE, "line", "Line")                                                                        \
    /* texts of fields that are numbers */                                                         \
    X(HEAP_NAME, "heap_name", "Heap Name")                                                         \
    /* of the recording */                                                                         \
    X(STACK_HASH, "stack_hash", "Stack Hash")                                                      \
    X(TRACE, "trace", "Trace")                                                                     \
    X(COMPUTER, "computer", "Computer")                                                            \
    X(SESSION, "session", "Session")                                                               \
    X(START_TIME, "start_time", "Start Time")                                                      \
    X(DURATION, "duration_ns", "Duration (ns)")                                                    \
    /* of spikes */                                                                                \
    X(AT, "at_ns", "At")                                                                           \
    X(HEIGHT_SIZE, "height_size", "Height")                                                        \
    X(SPIKED_SIZE, "spiked_size", "Came and Went")                                                 \
    X(CAME_SIZE, "came_size", "Came")                                                              \
    X(WENT_SIZE, "went_size", "Went")                                                              \
    /* of regions, too */                                                                          \
    X(USED_SIZE, "used_size", "Used Size")                                                         \
    /* of heaps */                                                                                 \
    X(UNCOMMITTED_SIZE, "uncommitted_size", "Uncommitted Size")                                    \
    X(DECOMMITTED_SIZE, "decommitted_size", "Decommitted Size")                                    \
    X(FRAGMENTATION, "fragmentation_millionths", "Fragmentation")

typedef enum etlheap_field {
#define ETLHEAP_FIELD_ENUM(name, key, title) ETLHEAP_FIELD_##name,
    ETLHEAP_FIELDS(ETLHEAP_FIELD_ENUM)
#undef ETLHEAP_FIELD_ENUM
        ETLHEAP_FIELDS_COUNT
} etlheap_field;

/* The key and title of a field; "" for a number out of range. No two fields share a key or a
 * title. */
const char *etlheap_field_key(etlheap_field field);
const char *etlheap_field_title(etlheap_field field);

/* X(field): the keys that rows can be grouped by. */
#define ETLHEAP_KEYS(X)                                                                            \
    X(KIND)                                                                                        \
    X(PROCESS)                                                                                     \
    X(HEAP)                                                                                        \
    X(TYPE)                                                                                        \
    X(FREE_TYPE)                                                                                   \
    X(STACK)                                                                                       \
    X(FRAME)                                                                                       \
    X(SITE)                                                                                        \
    X(MODULE)                                                                                      \
    X(THREAD)                                                                                      \
    X(SIZE_CLASS)                                                                                  \
    X(TYPE_NAME)                                                                                   \
    X(TAG)                                                                                         \
    X(GENERATION)                                                                                  \
    X(THREAD_NAME)                                                                                 \
    X(FREE_STACK)                                                                                  \
    X(FREE_SITE)                                                                                   \
    X(FREE_MODULE)                                                                                 \
    X(FREE_THREAD)                                                                                 \
    X(IMPACTING_STACK)                                                                             \
    X(IMPACTING_TYPE)                                                                              \
    X(SOURCE_LINE)                                                                                 \
    X(FUNCTION)                                                                                    \
    X(POOL_TAG)                                                                                    \
    X(OBJECT_TYPE)

typedef enum etlheap_key {
#define ETLHEAP_KEY_ENUM(name) ETLHEAP_KEY_##name,
    ETLHEAP_KEYS(ETLHEAP_KEY_ENUM)
#undef ETLHEAP_KEY_ENUM
        ETLHEAP_KEY_COUNT
} etlheap_key;

/* The largest number of keys in a query. */
#define ETLHEAP_GROUP_BY_MAX 32

static_assert((int)ETLHEAP_KEY_COUNT <= ETLHEAP_GROUP_BY_MAX, "all keys together have a place");

/* [stable] The field of a key, its key and its title; ETLHEAP_FIELDS_COUNT and "" for a number out
 * of range. */
etlheap_field etlheap_key_field(etlheap_key key);
const char *etlheap_key_word(etlheap_key key); /* "process" */
const char *etlheap_key_title(etlheap_key key);

/* True if the key depends on who freed: the FREE_* keys but FREE_TYPE, and IMPACTING_STACK. */
bool etlheap_key_is_of_free(etlheap_key key);

/* True if the key needs the call stack of the free: all keys of frees but FREE_THREAD. */
bool etlheap_key_needs_free_stacks(etlheap_key key);

/*
 * True if the key is what etlheap_row.stack holds. A query has at most one of these keys:
 *
 *     STACK            call stack of the allocation
 *     IMPACTING_STACK  call stack that changed the outstanding size of the window: of the free for
 *                      blocks of type AOFI, of the allocation for all others
 */
bool etlheap_key_is_stack(etlheap_key key);

/* What the value of a key is, and so how it is compared and written. */
typedef enum etlheap_key_form {
    ETLHEAP_FORM_KIND,       /* a word of a list */
    ETLHEAP_FORM_TYPE,       /* a short word of a list: how blocks begin and end in the window */
    ETLHEAP_FORM_PROCESS,    /* a name and an id */
    ETLHEAP_FORM_HEAP,       /* a handle */
    ETLHEAP_FORM_STACK,      /* a stack of the table */
    ETLHEAP_FORM_FRAME,      /* a frame of the table */
    ETLHEAP_FORM_NAME,       /* a text */
    ETLHEAP_FORM_TYPE_NAME,  /* a C++ name */
    ETLHEAP_FORM_THREAD,     /* an id, maybe with a name */
    ETLHEAP_FORM_SIZE,       /* bytes */
    ETLHEAP_FORM_GENERATION, /* a number, and the name of a mark */
} etlheap_key_form;

etlheap_key_form etlheap_key_form_of(etlheap_key key);

/* The field that stands beside the key's own in JSON and CSV; ETLHEAP_FIELDS_COUNT: none. */
etlheap_field etlheap_key_detail(etlheap_key key);

/* True if rows are not grouped by both keys: one would repeat the other, or its column. */
bool etlheap_keys_exclude(etlheap_key a, etlheap_key b);

/*
 * X(field): the measures, numeric columns of a row that can be sorted by. Not every table has the
 * lifetimes, the sizes of heaps, growth and churn: see etlheap_table.measures.
 *
 *     GROWTH_RATE          bytes per second that the outstanding size grows (fold/growth.h); of
 *                          kinds without sizes, their number per hour
 *     *_SIZE               of kinds without sizes (ETLHEAP_KIND_NO_SIZES), their number
 *     STEADINESS           -100 to 100: 100 for a constant leak, little for one allocation at once
 *     ALLOC_*, FREED_*     allocated and freed inside the window; rates are per second, rounded
 *     TEMPORARY_*          blocks allocated and freed inside the window, freed before the
 *                          allocating thread's next allocation
 *     TEMPORARY_10_COUNT   freed before the thread made ten more allocations
 *     TEMPORARY_1MS_COUNT  freed at most 1 ms after the allocation
 *     FIRST, LAST          when the first and the last of the lifetimes were allocated, since time
 *                          zero; ETLHEAP_NOT_KNOWN if all were before the trace
 *     EXCLUSIVE_*          COUNT and SIZE of the blocks whose site is the row's function; only with
 *                          the key FUNCTION
 *     UNCOMMITTED_SIZE     what the heap has reserved and not committed, at the end of the window
 *     DECOMMITTED_SIZE     what it decommitted inside the window
 *     FRAGMENTATION        share of its committed memory that belongs to no block, in millionths
 *     FREED_BY_OTHER       freed in the window by another thread than the one that allocated, if
 *                          both are known
 *
 * Blocks freed by a process exit are not temporary.
 */
#define ETLHEAP_MEASURES(X)                                                                        \
    X(COUNT)                                                                                       \
    X(SIZE)                                                                                        \
    X(IMPACTING_SIZE)                                                                              \
    X(OUTSTANDING_COUNT)                                                                           \
    X(OUTSTANDING_SIZE)                                                                            \
    X(REALLOC_COUNT)                                                                               \
    X(PEAK_COUNT)                                                                                  \
    X(PEAK_SIZE)                                                                                   \
    X(LIFETIME_MEDIAN)                                                                             \
    X(LIFETIME_P99)                                                                                \
    X(COMMITTED_SIZE)                                                                              \
    X(RESERVED_SIZE)                                                                               \
    X(OVERHEAD_SIZE)                                                                               \
    X(GROWTH_RATE)                                                                                 \
    X(STEADINESS)                                                                                  \
    X(ALLOC_COUNT)                                                                                 \
    X(ALLOC_SIZE)                                                                                  \
    X(ALLOC_RATE)                                                                                  \
    X(ALLOC_BYTES_RATE)                                                                            \
    X(FREED_COUNT)                                                                                 \
    X(FREED_SIZE)                                                                                  \
    X(TEMPORARY_COUNT)                                                                             \
    X(TEMPORARY_SIZE)                                                                              \
    X(TEMPORARY_10_COUNT)                                                                          \
    X(TEMPORARY_1MS_COUNT)                                                                         \
    X(FREED_BY_OTHER)                                                                              \
    X(LIFETIME_MEAN)                                                                               \
    X(LIFETIME_P90)                                                                                \
    X(FIRST)                                                                                       \
    X(LAST)                                                                                        \
    X(EXCLUSIVE_COUNT)                                                                             \
    X(EXCLUSIVE_SIZE)                                                                              \
    X(UNCOMMITTED_SIZE)                                                                            \
    X(DECOMMITTED_SIZE)                                                                            \
    X(FRAGMENTATION)

typedef enum etlheap_measure {
#define ETLHEAP_MEASURE_ENUM(name) ETLHEAP_MEASURE_##name,
    ETLHEAP_MEASURES(ETLHEAP_MEASURE_ENUM)
#undef ETLHEAP_MEASURE_ENUM
        ETLHEAP_MEASURES_COUNT
} etlheap_measure;

/* The length of arrays indexed by measure; elements beyond the last enumerator are 0. New measures
 * are added at the end. */
#define ETLHEAP_MEASURES_CAPACITY 40

static_assert((int)ETLHEAP_MEASURES_COUNT <= ETLHEAP_MEASURES_CAPACITY, "a measure has a place");

/* A set of measures: a bit per measure. */
typedef uint64_t etlheap_measure_set;

#define ETLHEAP_MEASURE_BIT(name) ((etlheap_measure_set)1 << ETLHEAP_MEASURE_##name)

/* [stable] The field of a measure, its key and its title; ETLHEAP_FIELDS_COUNT and "" for a number
 * out of range. */
etlheap_field etlheap_measure_field(etlheap_measure measure);
const char *etlheap_measure_word(etlheap_measure measure); /* "outstanding_size" */
const char *etlheap_measure_title(etlheap_measure measure);

/* Converts an amount over `ns` nanoseconds to an amount per second, rounded to the nearest, halves
 * away from zero. 0 unless ns > 0. The result stays within int64_t. */
int64_t etlheap_per_second(int64_t amount, int64_t ns);

/* The value of a measure that is unknown for a row: no lifetime of it ended, no record has the
 * sizes of its heap, or it would have to add up peaks of a summary. */
#define ETLHEAP_NOT_KNOWN INT64_MIN

#ifdef __cplusplus
}
#endif

#endif
