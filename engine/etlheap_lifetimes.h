/*
 * etlheap_lifetimes.h - lifetimes one by one: the rows that reports add up.
 *
 *     etlheap_lifetimes_open        result, query -> walk
 *     etlheap_lifetimes_next        walk -> row, until there are no more
 *
 * Part of engine.h. Results can be walked that were analyzed, or opened, for
 * ETLHEAP_ASK_EVENTS among other questions, or for no question. A walk hands out what a query selects, in an order that is
 * total and goes by content: it is the same for a trace and its store, and does
 * not depend on `jobs`. By time of allocation it takes no memory for rows of a
 * store, whatever their number, but 10 bytes a block for the ends of some millions
 * of them at once; any other order keeps the rows that are handed out.
 *
 * Any number of walks of a result may be open; one thread uses a walk at a time.
 */
#include "engine.h" /* before the guard, as etlheap_ask.h, which that includes, takes all of this */

#ifndef ETLHEAP_LIFETIMES_H
#define ETLHEAP_LIFETIMES_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(field, word) - what rows can be sorted by. The word of a time has no unit,
 * the key of its field has. */
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

/* ETLHEAP_FIELDS_COUNT and "" for numbers that are not a column. */
etlheap_field etlheap_lifetime_column_field(etlheap_lifetime_column column);
const char *etlheap_lifetime_column_word(etlheap_lifetime_column column);

/* One lifetime as a query sees it. */
typedef struct etlheap_lifetime {
    u8 kind;      /* etlheap_kind */
    u8 type;      /* etlheap_type, for the query's window */
    u8 free_type; /* etlheap_free_type, also of an exit that the query does not count */
    bool is_realloc;
    bool has_heap; /* false: virtualalloc and reserve */
    u32 thread;    /* that allocated; ETL_NO_ID unknown */
    etlheap_process process;
    etlheap_stack raw_stack; /* as recorded: see etlheap_stack_frames */
    u32 stack;               /* into the walk's table, ETLHEAP_NO_INDEX: none */
    u64 address, size_bytes, heap_handle;
    i64 alloc_ticks;       /* ETLHEAP_TICKS_BEFORE: before the trace */
    i64 free_ticks;        /* ETLHEAP_TICKS_NEVER; an exit, if the query counts it, is an end */
    i64 alloc_ns, free_ns; /* the same as times; INT64_MIN before, INT64_MAX never */
    i64 lifetime_ns;       /* INT64_MAX: not known to have both ends */
    /* With options.frees, where the result says who freed: the thread (ETL_NO_ID unknown) and
     * the stack, as recorded and in the walk's table, as above. */
    u32 free_thread;
    etlheap_stack raw_free_stack;
    u32 free_stack;
} etlheap_lifetime;

typedef struct etlheap_lifetimes_options {
    size_t size;                   /* sizeof(etlheap_lifetimes_options) */
    etlheap_lifetime_column sort;  /* of 0: alloc_time */
    bool sort_descending;          /* largest first; what never ended has the largest end */
    u64 top;                       /* the first rows only, kept as they come; 0: all */
    u64 memory_bytes_max;          /* for rows and their ends; 0: no limit */
    etlheap_progress_fn *progress; /* in bytes of the trace; may be NULL; false cancels */
    void *progress_user;
    /* Only lifetimes with a byte at these addresses, which both belong to the range; one of
     * size 0 has the byte where it begins. */
    bool by_address;
    u64 address_first, address_last;
    bool frees; /* rows say who freed; of a result whose questions asked for it, or of a store */
} etlheap_lifetimes_options;

typedef struct etlheap_lifetimes etlheap_lifetimes;

/*
 * Opens a walk over what the query selects; how it groups does not count. The
 * result and the query with all it points to are borrowed until the walk is
 * closed. options may be NULL: all rows, by time of allocation. With symbols in
 * the query, all stacks that rows have are named here. On success the caller owns
 * *out. ETL_ERR_ARGUMENT (contradictory query; the result keeps no lifetimes, or its
 * store no addresses or threads), ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_CORRUPT (the store is damaged),
 * ETL_ERR_CANCELLED.
 */
etl_status etlheap_lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                                  const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                                  etl_error *err);
void etlheap_lifetimes_close(etlheap_lifetimes *walk); /* NULL is allowed */

/* False after the last row and after an error: ask etlheap_lifetimes_status. */
bool etlheap_lifetimes_next(etlheap_lifetimes *walk, etlheap_lifetime *out);

/* How many rows it handed out so far. */
u64 etlheap_lifetimes_count(const etlheap_lifetimes *walk);

/* ETL_OK, or what stopped the walk; errors as of opening. */
etl_status etlheap_lifetimes_status(const etlheap_lifetimes *walk, etl_error *err);

/*
 * The window, and frames and stacks of the rows handed out so far, in order of
 * first use: complete after the last row. There are no rows or totals in it. The
 * table is the walk's; its arrays may move with the next row.
 */
const etlheap_table *etlheap_lifetimes_table(const etlheap_lifetimes *walk);

/* What it walks over. */
const etlheap_result *etlheap_lifetimes_result(const etlheap_lifetimes *walk);

#ifdef __cplusplus
}
#endif

#endif
