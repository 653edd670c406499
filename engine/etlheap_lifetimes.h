/*
 * etlheap_lifetimes.h - single lifetimes: the rows that reports add up. Part of engine.h.
 *
 *     etlheap_lifetimes_open        result, query -> walk
 *     etlheap_lifetimes_next        walk -> row, until there are no more
 *
 * The result must have been analyzed or opened for ETLHEAP_ASK_EVENTS, or without questions. A walk
 * returns what a query selects, in a total order by content: a trace and its store give the same
 * order, for any `jobs`. In order of allocation time, the rows of a store take no memory, except 10
 * bytes per block for the free times of some millions of blocks at once. Any other order keeps all
 * rows in memory.
 *
 * Any number of walks over a result may be open. Only one thread may use a walk at a time.
 */
#include "engine.h" /* before the guard: it includes etlheap_ask.h, which needs this header */

#ifndef ETLHEAP_LIFETIMES_H
#define ETLHEAP_LIFETIMES_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(field, word): the columns that rows can be sorted by. The word of a time has no unit, the key
 * of its field has one. */
#define ETLHEAP_LIFETIME_COLUMNS(X)                                                                \
    X(ALLOC_TIME, "alloc_time")                                                                    \
    X(FREE_TIME, "free_time")                                                                      \
    X(LIFETIME, "lifetime")                                                                        \
    X(KIND, "kind")                                                                                \
    X(PROCESS, "process")                                                                          \
    X(HEAP, "heap")                                                                                \
    X(TYPE, "type")                                                                                \
    X(FREE_TYPE, "free_type")                                                                      \
    X(IS_REALLOC, "is_realloc")                                                                    \
    X(ADDRESS, "address")                                                                          \
    X(SIZE, "size")                                                                                \
    X(THREAD, "thread")

typedef enum etlheap_lifetime_column {
#define ETLHEAP_LIFETIME_COLUMN_ENUM(name, word) ETLHEAP_LIFETIME_##name,
    ETLHEAP_LIFETIME_COLUMNS(ETLHEAP_LIFETIME_COLUMN_ENUM)
#undef ETLHEAP_LIFETIME_COLUMN_ENUM
        ETLHEAP_LIFETIME_COLUMN_COUNT
} etlheap_lifetime_column;

/* [stable] The field and the word of a column; ETLHEAP_FIELDS_COUNT and "" for a number out of
 * range. */
etlheap_field etlheap_lifetime_column_field(etlheap_lifetime_column column);
const char *etlheap_lifetime_column_word(etlheap_lifetime_column column);

/* One lifetime, relative to the query's window. */
typedef struct etlheap_lifetime {
    uint8_t kind;      /* etlheap_kind */
    uint8_t type;      /* etlheap_type, for the query's window */
    uint8_t free_type; /* etlheap_free_type, even if the query does not count exits */
    bool is_realloc;
    bool has_heap;   /* false: virtualalloc and reserve */
    uint32_t thread; /* the thread that allocated; ETL_NO_ID unknown */
    etlheap_process process;
    etlheap_stack raw_stack; /* as recorded, for etlheap_stack_frames */
    uint32_t stack;          /* index into the walk's table; ETLHEAP_NO_INDEX: none */
    uint64_t address, size_bytes, heap_handle;
    int64_t alloc_ticks;       /* ETLHEAP_TICKS_BEFORE: before the trace */
    int64_t free_ticks;        /* ETLHEAP_TICKS_NEVER; an exit counts if the query says so */
    int64_t alloc_ns, free_ns; /* in ns; INT64_MIN: before the trace, INT64_MAX: never */
    int64_t lifetime_ns;       /* INT64_MAX: the allocation or the free is not in the trace */
    /* With options.frees, if the result has who freed: the thread (ETL_NO_ID unknown), and the
     * stack as recorded and in the walk's table. */
    uint32_t free_thread;
    etlheap_stack raw_free_stack;
    uint32_t free_stack;
    const char *heap_name; /* as in etlheap_row */
} etlheap_lifetime;

/* Options of etlheap_lifetimes_open. Start from {0} with `size` set. */
typedef struct etlheap_lifetimes_options {
    size_t size;                   /* sizeof(etlheap_lifetimes_options) */
    etlheap_lifetime_column sort;  /* 0: alloc_time */
    bool sort_descending;          /* largest first; never freed sorts as the largest */
    uint64_t top;                  /* only the first rows, after those skipped; 0: all */
    uint64_t memory_bytes_max;     /* limit for the rows in memory; 0: no limit */
    etlheap_progress_fn *progress; /* counts bytes of the trace; may be NULL */
    void *progress_user;
    /* Select lifetimes with a byte from address_first to address_last, inclusive. A lifetime of
     * size 0 has its byte where it begins. */
    bool by_address;
    uint64_t address_first, address_last;
    bool frees;    /* report who freed; needs a store, or questions with `frees` */
    uint64_t skip; /* rows left out before the first one */
} etlheap_lifetimes_options;

typedef struct etlheap_lifetimes etlheap_lifetimes;

/*
 * [stable] Opens a walk over what the query selects; its keys do not count. The result, the query
 * and all it points to are borrowed until the walk is closed. options may be NULL: all rows, by
 * allocation time. If the query has symbols, all stacks of the rows are named now. On success the
 * caller owns *out. ETL_ERR_ARGUMENT (contradictory query; or the result has no lifetimes, or its
 * store no addresses or threads), ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_CORRUPT (damaged store),
 * ETL_ERR_CANCELLED.
 */
etl_status etlheap_lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                                  const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                                  etl_error *err);
void etlheap_lifetimes_close(etlheap_lifetimes *walk); /* NULL is allowed */

/* Reads the next row. False after the last row and after an error; etlheap_lifetimes_status tells
 * which. */
bool etlheap_lifetimes_next(etlheap_lifetimes *walk, etlheap_lifetime *out);

/* The number of rows returned so far. */
uint64_t etlheap_lifetimes_count(const etlheap_lifetimes *walk);

/* [stable] ETL_OK, or the error that stopped the walk, as for etlheap_lifetimes_open. */
etl_status etlheap_lifetimes_status(const etlheap_lifetimes *walk, etl_error *err);

/*
 * A table with the window, and with the frames and stacks of the rows returned so far, in order of
 * first use. It has no rows and no totals. Owned by the walk; its arrays may move with the next
 * row.
 */
const etlheap_table *etlheap_lifetimes_table(const etlheap_lifetimes *walk);

/* The result that the walk reads. */
const etlheap_result *etlheap_lifetimes_result(const etlheap_lifetimes *walk);

#ifdef __cplusplus
}
#endif

#endif
