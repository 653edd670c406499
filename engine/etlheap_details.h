/*
 * etlheap_details.h - details of a report: the moment of the peak, and the distribution of sizes
 * and lifetimes. Part of engine.h.
 *
 * The result must keep all events, or lifetimes in memory: pass the questions to etlheap_analyze or
 * etlheap_open_store, or no questions at all. Any number of threads may query a result at the same
 * time. Answers do not depend on that or on `jobs`.
 */
#include "engine.h" /* before the guard: it includes etlheap_ask.h, which needs this header */

#ifndef ETLHEAP_DETAILS_H
#define ETLHEAP_DETAILS_H

#ifdef __cplusplus
extern "C" {
#endif

/* --- measures ------------------------------------------------------------------ */

/* The measures that rows of the query's table have and can be sorted by, as bits by
 * etlheap_measure. 0 if the query is refused. */
etlheap_measure_set etlheap_query_measures(const etlheap_query *query);

/* --- moments -------------------------------------------------------------------- */

/* The first moment at which the outstanding size of everything the query selects is largest. All
 * events of one tick happen together, as for the measure PEAK_SIZE. */
typedef struct etlheap_peak_moment {
    bool found;       /* false: the kind is never outstanding */
    int64_t to_ticks; /* just after the moment, for etlheap_query.kind_to_ticks */
    int64_t at_ns;    /* the moment as a time */
    int64_t size_bytes, count;
} etlheap_peak_moment;

/* Finds the peak of each kind in the query's window. The query's types do not count, because they
 * belong to a different window. ETL_ERR_ARGUMENT, ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status etlheap_find_peaks(const etlheap_result *result, const etlheap_query *query,
                              etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY], etl_error *err);

/* --- histograms -------------------------------------------------------------------- */

typedef enum etlheap_histogram_by {
    ETLHEAP_HISTOGRAM_SIZE,     /* bytes of a lifetime */
    ETLHEAP_HISTOGRAM_LIFETIME, /* ns from allocation to free */
    ETLHEAP_HISTOGRAM_BY_COUNT
} etlheap_histogram_by;

const char *etlheap_histogram_word(etlheap_histogram_by by); /* "size"; "" if out of range */

/* One bucket: values from `from` up to but not including `to`. Bounds of sizes are powers of
 * two, those of lifetimes are 1, 2 or 5 times a power of ten; the first bucket is 0 to 1. In the
 * last possible bucket `to` is UINT64_MAX, inclusive. */
typedef struct etlheap_bucket {
    uint8_t kind;        /* etlheap_kind */
    bool is_open;        /* lifetimes that begin or end outside the trace; no bounds */
    const char *process; /* NULL: all processes */
    uint32_t pid;
    uint64_t from, to;
    int64_t count, size_bytes; /* at most INT64_MAX, as the two below */
    int64_t outstanding_count, outstanding_size_bytes;
    /* Only in size buckets of kind heap: an estimate of what heaps add to outstanding blocks. The
     * first rounds up to 16 bytes (8 in 32-bit processes), the second to the size classes of the
     * low-fragmentation heap. 0 in other buckets. */
    int64_t rounding_size_bytes, lfh_rounding_size_bytes;
} etlheap_bucket;

/*
 * Buckets, ordered by kind, process (pid, then start) and size. Within a kind and process there are
 * no gaps between the first and the last bucket that has something; the open bucket comes last.
 */
typedef struct etlheap_histogram {
    etlheap_histogram_by by;
    bool by_process;
    const etlheap_bucket *buckets;
    uint32_t bucket_count;
} etlheap_histogram;

/*
 * Counts what the query selects in buckets, separately for each kind, and for each process if the
 * query groups by process. The caller owns *out (etlheap_histogram_free). Names are borrowed from
 * the result. ETL_ERR_ARGUMENT, ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_histogram_make(const etlheap_result *result, const etlheap_query *query,
                                  etlheap_histogram_by by, const etlheap_histogram **out,
                                  etl_error *err);
void etlheap_histogram_free(const etlheap_histogram *histogram); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
