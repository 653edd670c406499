/*
 * etlheap_columns.h - what rows are grouped by, and the numbers they have.
 *
 * Part of engine.h. A key or a measure is a row of its list: enumerator, word of
 * options and JSON, and the title that WPA gives the column or would give it.
 */
#ifndef ETLHEAP_COLUMNS_H
#define ETLHEAP_COLUMNS_H

/* X(enumerator, --group-by word, WPA title) */
#define ETLHEAP_KEYS(X)                                                                            \
    X(KIND, "kind", "Kind")                                                                        \
    X(PROCESS, "process", "Process")                                                               \
    X(HEAP, "heap", "Handle")                                                                      \
    X(TYPE, "type", "Type")                                                                        \
    X(FREE_TYPE, "free_type", "FreeType")                                                          \
    X(STACK, "stack", "Stack")                                                                     \
    X(FRAME, "frame", "Frame")                                                                     \
    X(SITE, "site", "Site")                                                                        \
    X(MODULE, "module", "Module")                                                                  \
    X(THREAD, "thread", "Thread")                                                                  \
    X(SIZE_CLASS, "size_class", "Size Class")                                                      \
    X(TYPE_NAME, "type_name", "Type Name")                                                         \
    X(TAG, "tag", "Stack Tag")

typedef enum etlheap_key {
#define ETLHEAP_KEY_ENUM(name, word, title) ETLHEAP_KEY_##name,
    ETLHEAP_KEYS(ETLHEAP_KEY_ENUM)
#undef ETLHEAP_KEY_ENUM
        ETLHEAP_KEY_COUNT
} etlheap_key;

#define ETLHEAP_GROUP_BY_MAX ETLHEAP_KEY_COUNT

const char *etlheap_key_word(etlheap_key key);
const char *etlheap_key_title(etlheap_key key);

/*
 * X(enumerator, JSON key and --sort word, WPA title) - numeric columns of a row.
 * The lifetimes, the sizes of heaps and growth are not in every table: see its
 * `measures`. GROWTH_RATE is bytes per second, STEADINESS 0 to 100: a constant leak
 * has 100, what was allocated once little; growth.h says how they are reckoned.
 */
#define ETLHEAP_MEASURES(X)                                                                        \
    X(COUNT, "count", "Count")                                                                     \
    X(SIZE, "size", "Size")                                                                        \
    X(IMPACTING_SIZE, "impacting_size", "Impacting Size")                                          \
    X(OUTSTANDING_COUNT, "outstanding_count", "Outstanding Count")                                 \
    X(OUTSTANDING_SIZE, "outstanding_size", "Outstanding Size")                                    \
    X(REALLOC_COUNT, "realloc_count", "Realloc Count")                                             \
    X(PEAK_COUNT, "peak_count", "Count Peak")                                                      \
    X(PEAK_SIZE, "peak_size", "Size Peak")                                                         \
    X(LIFETIME_MEDIAN, "lifetime_median_ns", "LifeTime Median")                                    \
    X(LIFETIME_P99, "lifetime_p99_ns", "LifeTime 99%")                                             \
    X(COMMITTED_SIZE, "committed_size", "Committed Size")                                          \
    X(RESERVED_SIZE, "reserved_size", "Reserved Size")                                             \
    X(OVERHEAD_SIZE, "overhead_size", "Overhead Size")                                             \
    X(GROWTH_RATE, "growth_rate", "Growth/s")                                                      \
    X(STEADINESS, "steadiness", "Steadiness")

typedef enum etlheap_measure {
#define ETLHEAP_MEASURE_ENUM(name, word, title) ETLHEAP_MEASURE_##name,
    ETLHEAP_MEASURES(ETLHEAP_MEASURE_ENUM)
#undef ETLHEAP_MEASURE_ENUM
        ETLHEAP_MEASURES_COUNT
} etlheap_measure;

const char *etlheap_measure_word(etlheap_measure measure);
const char *etlheap_measure_title(etlheap_measure measure);

/* A measure that is not known for a row: no lifetime of it ended, no record tells the
 * sizes of its heap, or it adds up what a summary has the peaks of one by one. */
#define ETLHEAP_NOT_KNOWN INT64_MIN

#endif
