/*
 * etlheap_summary.h - summaries: per-stack totals of one or many traces, in a small store. Part of
 * engine.h.
 *
 *     etlheap_summary_open
 *     etlheap_summary_add_traces   adds recordings, any number of times
 *     etlheap_summary_add_stores   adds stores (.ehs), any number of times
 *     etlheap_summary_write        writes one store, to be opened with etlheap_open_store
 *
 * A summary has no lifetimes. It keeps the totals of each kind, process name and stack over each
 * whole trace, and if asked for, over windows of `every_ns` since the start of each trace. Frames
 * are kept as module, build and offset, so that traces of different boots and computers can be
 * added up; a frame outside all modules is kept as exactly that. Process ids, heaps, threads, sizes
 * and addresses of single blocks, and MemInfo records are not kept.
 *
 * Totals of different traces are added. Peaks are not, because they occurred at different times:
 * the peak of several traces is unknown. The output depends only on what was added, not on the
 * order or on earlier summaries: the bytes are the same.
 *
 * An opened summary answers etlheap_aggregate for the whole window. Queries can select kinds,
 * processes by name, types and frames, and group by kind, process, type, stack, frame, site,
 * function, module, type_name, source_line and tag. etlheap_windows_make answers for the windows
 * that were kept, with process exits as frees. All other questions are refused with
 * ETL_ERR_ARGUMENT and a reason. Rows have no pid (ETL_NO_ID) and no heap, frames have no address
 * (ETLHEAP_NO_ADDRESS). A row has peaks if it is one process name or one whole stack of it in one
 * trace, or if nothing in it was freed; else they are ETLHEAP_NOT_KNOWN.
 *
 * Only one thread may use an etlheap_summary at a time.
 */
#ifndef ETLHEAP_SUMMARY_H
#define ETLHEAP_SUMMARY_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_NO_ADDRESS UINT64_MAX

typedef struct etlheap_summary etlheap_summary;

/* Options of etlheap_summary_open. Start from {0} with `size` set. */
typedef struct etlheap_summary_options {
    size_t size;               /* sizeof(etlheap_summary_options) */
    int64_t every_ns;          /* length of windows to keep; 0: as in the added summaries */
    bool allow_duplicates;     /* add a trace again that was added before */
    uint32_t jobs;             /* threads; 0: etlheap_default_jobs() */
    uint64_t memory_bytes_max; /* limit, checked after each input; 0: none */
} etlheap_summary_options;

/* Makes an empty summary, owned by the caller (etlheap_summary_free). options may be NULL.
 * ETL_ERR_ARGUMENT (windows shorter than a millisecond), ETL_ERR_MEMORY. */
etl_status etlheap_summary_open(const etlheap_summary_options *options, etlheap_summary **out,
                                etl_error *err);
void etlheap_summary_free(etlheap_summary *summary); /* NULL is allowed */

/*
 * Adds the files of one recording. Arrays and options as for etlheap_analyze, without
 * inventory_only, questions and store. Uses a store in options->temporary_folder (NULL: the
 * system's), which is deleted before the call returns. After a failure, free the summary. Errors as
 * for etlheap_analyze; ETL_ERR_ARGUMENT also if the trace was added before.
 */
etl_status etlheap_summary_add_traces(etlheap_summary *summary, etl_trace *const *traces,
                                      const char *const *names, uint32_t trace_count,
                                      const etlheap_options *options, etl_error *err);

/*
 * Adds stores: summaries, or full stores, which are summarised. `names` are used in errors; NULL:
 * the paths. progress counts bytes of the files and may be NULL. After a failure, free the summary.
 * Errors as for etlheap_open_store; ETL_ERR_ARGUMENT also if a trace is there twice, or the windows
 * of two summaries differ; ETL_ERR_CANCELLED.
 */
etl_status etlheap_summary_add_stores(etlheap_summary *summary, const char *const *paths,
                                      const char *const *names, uint32_t path_count,
                                      etlheap_progress_fn *progress, void *progress_user,
                                      etl_error *err);

/* Writes the summary as a store, from front to end. After that nothing can be added. ETL_ERR_IO,
 * ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status etlheap_summary_write(etlheap_summary *summary, const etlheap_store_options *options,
                                 etl_error *err);

/* The diagnostics of all traces added so far. Owned by the summary. */
const etl_diag_counts *etlheap_summary_diagnostics(const etlheap_summary *summary);

/* --- what an open summary holds ----------------------------------------------- */

/* True if the result was opened from a summary. */
bool etlheap_result_is_summary(const etlheap_result *result);

/* True if a file begins like a store that is not a summary. Pass at least its first 16 bytes. */
bool etlheap_is_full_store(etl_bytes file);

/* A file of a trace, and the hash of its content, which identifies it. */
typedef struct etlheap_summary_file {
    const char *name; /* as given when the trace was read */
    uint64_t id[2];
} etlheap_summary_file;

/* A trace in a summary. Strings are UTF-8 and owned by the result. */
typedef struct etlheap_summary_trace {
    const etlheap_summary_file *files;
    uint32_t file_count;
    etlheap_trace_info info; /* files and file_count are not set */
    const etl_diag_counts *diagnostics;
} etlheap_summary_trace;

/* The traces of a summary, ordered by id. The count is 0 if the result is not a summary. */
uint32_t etlheap_summary_trace_count(const etlheap_result *result);
/* All zeros for an index beyond the count. */
etlheap_summary_trace etlheap_summary_trace_of(const etlheap_result *result, uint32_t index);

/* The trace files that a full store was made from, in order, as they were named then; NULL for an
 * index beyond the last, and if the result is not from a full store. UTF-8, owned by the result. */
const char *etlheap_result_source(const etlheap_result *result, uint32_t index);

/* The length of the windows in a summary; 0: it has none. */
int64_t etlheap_summary_every_ns(const etlheap_result *result);

#ifdef __cplusplus
}
#endif

#endif
