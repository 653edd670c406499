/*
 * etlheap_details.h - what a report can tell beyond its rows: the moment of the
 * peak, and how sizes and lifetimes are spread.
 *
 * Part of engine.h. All of this takes all events, or lifetimes in memory: it is among the
 * questions that the result is analyzed or opened for, or there are none. Results may be asked
 * from any number of threads at once, and answers depend neither on that nor on `jobs`.
 */
#include "engine.h" /* before the guard, as etlheap_ask.h, which that includes, takes all of this */

#ifndef ETLHEAP_DETAILS_H
#define ETLHEAP_DETAILS_H

#ifdef __cplusplus
extern "C" {
#endif

/* --- measures ------------------------------------------------------------------ */

/* Bits of the measures that rows of the query's table have, and may be sorted by; 0 for a
 * query that is refused. */
u32 etlheap_query_measures(const etlheap_query *query);

/* --- moments -------------------------------------------------------------------- */

/*
 * The first moment at which most of what a query selects is outstanding. What
 * happens in one tick happens together, as for the measure PEAK_SIZE of a row
 * that has all of it.
 */
typedef struct etlheap_peak_moment {
    bool found;   /* false: nothing of the kind is ever outstanding */
    i64 to_ticks; /* just after it: for etlheap_query.kind_to_ticks */
    i64 at_ns;    /* the same as a time */
    i64 size_bytes, count;
} etlheap_peak_moment;

/*
 * The peak of each kind over the query's window, of the outstanding size of all
 * that the query selects; its types do not count, since they are those of another
 * window. ETL_ERR_ARGUMENT, ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_find_peaks(const etlheap_result *result, const etlheap_query *query,
                              etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY], etl_error *err);

/* --- histograms -------------------------------------------------------------------- */

typedef enum etlheap_histogram_by {
    ETLHEAP_HISTOGRAM_SIZE,     /* bytes of a lifetime */
    ETLHEAP_HISTOGRAM_LIFETIME, /* ns between its two ends */
    ETLHEAP_HISTOGRAM_BY_COUNT
} etlheap_histogram_by;

const char *etlheap_histogram_word(etlheap_histogram_by by); /* "size"; "" for what is none */

/* Values from `from` on and below `to`: powers of two, the first bucket is 0 to 1.
 * `to` is UINT64_MAX, inclusive, where 2^64 would stand. */
typedef struct etlheap_bucket {
    u8 kind;             /* etlheap_kind */
    bool is_open;        /* lifetimes that begin or end outside the trace: no bounds */
    const char *process; /* NULL: of all processes */
    u32 pid;
    u64 from, to;
    i64 count, size_bytes; /* sums that do not fit stop at INT64_MAX */
    i64 outstanding_count, outstanding_size_bytes;
    /* Of buckets of sizes of kind heap: an estimate of what heaps add to what is outstanding,
     * rounded up to 16 bytes (8 in 32-bit processes), or to the classes of the low-fragmentation
     * heap. 0 in others. */
    i64 rounding_size_bytes, lfh_rounding_size_bytes;
} etlheap_bucket;

/*
 * Buckets of one kind and process follow each other, smallest first, without gaps
 * from the first to the last that has something, the open one behind them. Kinds
 * are in order, processes by pid, then start.
 */
typedef struct etlheap_histogram {
    etlheap_histogram_by by;
    bool by_process;
    const etlheap_bucket *buckets;
    u32 bucket_count;
} etlheap_histogram;

/*
 * Spreads what the query selects over buckets: for each kind, and for each process
 * too if the query groups by process. Owned by the caller
 * (etlheap_histogram_free); names are borrowed from the result. ETL_ERR_ARGUMENT,
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_histogram_make(const etlheap_result *result, const etlheap_query *query,
                                  etlheap_histogram_by by, const etlheap_histogram **out,
                                  etl_error *err);
void etlheap_histogram_free(const etlheap_histogram *histogram); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
