/*
 * etlheap_columns.h - the columns of all tables: what rows are grouped by, the numbers
 * they have, and the rest that a row tells.
 *
 * Part of engine.h. A column is a row of ETLHEAP_FIELDS and nowhere else: its key is
 * what JSON, NDJSON, CSV and Parquet call it, its title what people read, which is
 * WPA's where WPA has such a column. Keys of --group-by, measures, columns of lifetimes
 * and of windows are lists of fields.
 */
#ifndef ETLHEAP_COLUMNS_H
#define ETLHEAP_COLUMNS_H

#include "parser/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a query without kinds selects: all that is memory. A reservation is none until it is
 * committed, so only a query that names RESERVE selects it. */
#define ETLHEAP_KINDS_DEFAULT (((1u << ETLHEAP_KIND_COUNT) - 1) & ~(1u << ETLHEAP_KIND_RESERVE))

/* X(enumerator, key, title) - sorted by where a reader meets them first. */
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
    /* of one lifetime */                                                                          \
    X(IS_REALLOC, "is_realloc", "Is Realloc")                                                      \
    X(ADDRESS, "address", "Address")                                                               \
    X(ALLOC_TIME, "alloc_time_ns", "Alloc Time")                                                   \
    X(FREE_TIME, "free_time_ns", "Free Time")                                                      \
    X(LIFETIME, "lifetime_ns", "Lifetime")                                                         \
    /* of time windows */                                                                          \
    X(FROM_NS, "from_ns", "From (ns)")                                                             \
    X(TO_NS, "to_ns", "To (ns)")                                                                   \
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
    X(FIRST, "first_ns", "First")                                                                  \
    X(LAST, "last_ns", "Last")                                                                     \
    X(OLDEST, "oldest_ns", "Oldest")                                                               \
    X(TYPICAL_LIFETIME, "typical_lifetime_ns", "Typical Lifetime")                                 \
    X(THREADS, "threads", "Threads")                                                               \
    X(REASON, "reason", "Reason")                                                                  \
    /* of what changed */                                                                          \
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
    /* texts where another field is a number */                                                    \
    X(HEAP_NAME, "heap_name", "Heap Name")                                                         \
    /* of the recording that a row is from */                                                      \
    X(STACK_HASH, "stack_hash", "Stack Hash")                                                      \
    X(TRACE, "trace", "Trace")                                                                     \
    X(COMPUTER, "computer", "Computer")                                                            \
    X(SESSION, "session", "Session")                                                               \
    X(START_TIME, "start_time", "Start Time")                                                      \
    X(DURATION, "duration_ns", "Duration (ns)")

typedef enum etlheap_field {
#define ETLHEAP_FIELD_ENUM(name, key, title) ETLHEAP_FIELD_##name,
    ETLHEAP_FIELDS(ETLHEAP_FIELD_ENUM)
#undef ETLHEAP_FIELD_ENUM
        ETLHEAP_FIELDS_COUNT
} etlheap_field;

/* Static text; "" for a number that stands for no field. No two fields share a key or a
 * title. */
const char *etlheap_field_key(etlheap_field field);
const char *etlheap_field_title(etlheap_field field);

/* X(field) - what rows are grouped by */
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
    X(FREE_THREAD)

typedef enum etlheap_key {
#define ETLHEAP_KEY_ENUM(name) ETLHEAP_KEY_##name,
    ETLHEAP_KEYS(ETLHEAP_KEY_ENUM)
#undef ETLHEAP_KEY_ENUM
        ETLHEAP_KEY_COUNT
} etlheap_key;

/* Room for keys in a query. */
#define ETLHEAP_GROUP_BY_MAX 32

static_assert((int)ETLHEAP_KEY_COUNT <= ETLHEAP_GROUP_BY_MAX, "all keys together have a place");

/* ETLHEAP_FIELDS_COUNT and "" for numbers that are not a key, and below not a measure. */
etlheap_field etlheap_key_field(etlheap_key key);
const char *etlheap_key_word(etlheap_key key); /* the key of its field */
const char *etlheap_key_title(etlheap_key key);

/*
 * X(field) - numeric columns of a row, which can be sorted by. The lifetimes, the sizes
 * of heaps, growth and churn are not in every table: see its `measures`. GROWTH_RATE is
 * bytes per second, STEADINESS 0 to 100: a constant leak has 100, what was allocated once
 * little; growth.h says how they are reckoned.
 *
 * ALLOC_* and FREED_* are what was allocated and freed inside the window; rates are per
 * second of it, rounded. TEMPORARY_* count blocks allocated and freed inside it: freed
 * before the allocating thread's next allocation, before its tenth next one
 * (TEMPORARY_10_COUNT), or at most 1 ms after their allocation (TEMPORARY_1MS_COUNT). What
 * a process exit frees is not temporary.
 *
 * FREED_BY_OTHER counts what another thread freed in the window than the one that
 * allocated it; both have to be known.
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
    X(FREED_BY_OTHER)

typedef enum etlheap_measure {
#define ETLHEAP_MEASURE_ENUM(name) ETLHEAP_MEASURE_##name,
    ETLHEAP_MEASURES(ETLHEAP_MEASURE_ENUM)
#undef ETLHEAP_MEASURE_ENUM
        ETLHEAP_MEASURES_COUNT
} etlheap_measure;

/* Room in arrays by measure; what is beyond the last enumerator is 0. New measures are
 * added at the end, and sets of them are u32. */
#define ETLHEAP_MEASURES_CAPACITY 32

static_assert((int)ETLHEAP_MEASURES_COUNT <= ETLHEAP_MEASURES_CAPACITY, "a measure has a place");

etlheap_field etlheap_measure_field(etlheap_measure measure);
const char *etlheap_measure_word(etlheap_measure measure); /* the key of its field */
const char *etlheap_measure_title(etlheap_measure measure);

/* An amount of so many nanoseconds per second, rounded to the nearest, halves away from
 * zero; 0 unless ns > 0. Stops at the ends of i64. */
i64 etlheap_per_second(i64 amount, i64 ns);

/* A measure that is not known for a row: no lifetime of it ended, no record tells the
 * sizes of its heap, or it adds up what a summary has the peaks of one by one. */
#define ETLHEAP_NOT_KNOWN INT64_MIN

#ifdef __cplusplus
}
#endif

#endif
