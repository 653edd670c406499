/*
 * etlheap_summary.h - archives: per-stack totals of one or many traces.
 *
 *     etlheap_summary_open
 *     etlheap_summary_add_traces   recordings          any number of times,
 *     etlheap_summary_add_stores   `.ehs` files        in any order
 *     etlheap_summary_write        one `.ehs` file, to be read by etlheap_open_store
 *
 * A summary keeps no lifetimes. It keeps the totals of each kind, process name and
 * stack over the whole of each trace, and if asked for, of each window of
 * `every_ns` since the start of each trace. Frames are kept as module, build and
 * offset, so that traces of different boots and machines add up; a frame outside
 * every module is kept as just that. Process ids, heaps, threads, sizes and
 * addresses of single blocks are not kept, nor what MemInfo records say.
 *
 * Sums of different traces are added. Peaks are not, since they were not at one time:
 * the peak of what several traces have is not known. What is written depends on what
 * was added alone, not on the order or on how it was grouped into summaries before:
 * the same bytes come out.
 *
 * A summary opened by etlheap_open_store answers etlheap_aggregate for the whole
 * window: kinds, processes by name, types and frames select, and kind, process,
 * type, stack, frame, site, module, type_name and tag group. etlheap_windows_make
 * answers for the windows that are kept, with the end of a process as a free.
 * Everything else is refused with ETL_ERR_ARGUMENT and a sentence. Rows have no pid
 * (ETL_NO_ID) and no heap, frames no address (ETLHEAP_NO_ADDRESS). The peaks of a
 * row are those of its curve if it is a process name or a whole stack of one, of one
 * trace, or if nothing of it was freed. Else they are ETLHEAP_NOT_KNOWN.
 */
#ifndef ETLHEAP_SUMMARY_H
#define ETLHEAP_SUMMARY_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_NO_ADDRESS UINT64_MAX

typedef struct etlheap_summary etlheap_summary;

typedef struct etlheap_summary_options {
    size_t size;           /* sizeof(etlheap_summary_options) */
    i64 every_ns;          /* windows to keep; 0: those of the summaries added, or none */
    bool allow_duplicates; /* count a trace that is there already once more */
    u32 jobs;              /* threads; 0: etlheap_default_jobs() */
    u64 memory_bytes_max;  /* looked at after each input; 0: no limit */
} etlheap_summary_options;

/* An empty summary, owned by the caller. options may be NULL. ETL_ERR_ARGUMENT
 * (windows of less than a millisecond), ETL_ERR_MEMORY. */
etl_status etlheap_summary_open(const etlheap_summary_options *options, etlheap_summary **out,
                                etl_error *err);
void etlheap_summary_free(etlheap_summary *summary); /* NULL is allowed */

/*
 * Adds the files of one recording; arrays and options as of etlheap_analyze, of
 * which report, census_only and store must not be set. The recording goes through
 * a store in options->temporary_folder (NULL: the system's), which is gone when the call returns. After a
 * failure the summary is to be freed.
 * Errors as of etlheap_analyze; ETL_ERR_ARGUMENT: the trace was added before.
 */
etl_status etlheap_summary_add_traces(etlheap_summary *summary, etl_trace *const *traces,
                                      const char *const *names, u32 trace_count,
                                      const etlheap_options *options, etl_error *err);

/*
 * Adds stores, summaries or full ones, which are summarised. `names` are what errors call them;
 * NULL: their paths. progress may be NULL; it counts the bytes of the files. After a failure the summary is to be freed.
 * Errors as of etlheap_open_store; ETL_ERR_ARGUMENT: a trace is there twice, or the
 * windows of two summaries differ; ETL_ERR_CANCELLED.
 */
etl_status etlheap_summary_add_stores(etlheap_summary *summary, const char *const *paths,
                                      const char *const *names, u32 path_count,
                                      etlheap_progress_fn *progress, void *progress_user,
                                      etl_error *err);

/* Writes the file from front to end. The summary can be added to no more.
 * ETL_ERR_IO, ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status etlheap_summary_write(etlheap_summary *summary, const etlheap_store_options *options,
                                 etl_error *err);

/* Those of all traces added so far. */
const etl_diag_counts *etlheap_summary_diagnostics(const etlheap_summary *summary);

/* --- what an open summary holds ----------------------------------------------- */

bool etlheap_result_is_summary(const etlheap_result *result);

/* A file of a trace, and the sum of its content by which it is known again. */
typedef struct etlheap_summary_file {
    const char *name; /* as it was given when the trace was read */
    u64 id[2];
} etlheap_summary_file;

/* A trace that was added. Strings are UTF-8. */
typedef struct etlheap_summary_trace {
    const etlheap_summary_file *files;
    u32 file_count;
    etlheap_trace_info info; /* files and file_count are unset */
    const etl_diag_counts *diagnostics;
} etlheap_summary_trace;

/* In order of their ids; none unless the result is a summary. */
u32 etlheap_summary_trace_count(const etlheap_result *result);
/* All 0 for an index from the count on. */
etlheap_summary_trace etlheap_summary_trace_of(const etlheap_result *result, u32 index);

/* Length of the windows that were kept; 0: none. */
i64 etlheap_summary_every_ns(const etlheap_result *result);

#ifdef __cplusplus
}
#endif

#endif
