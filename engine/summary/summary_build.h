/*
 * summary_build.h - builds a summary; private to the engine.
 *
 * Modules, processes, stacks and entries are numbered in the order in which they come. A frame is
 * then a provisional address, made of its module's number and its offset. The output has numbers
 * and addresses by content (summary_finish.c).
 */
#ifndef ETLHEAP_SUMMARY_BUILD_H
#define ETLHEAP_SUMMARY_BUILD_H

#include "engine/result/summary.h"

typedef struct summary_build_entry {
    summary_entry head;
    summary_sum sums[SUMMARY_PARTS];
    summary_cells cells;
    u32 counted;                  /* number of traces when it was last counted */
    bool has_peak[SUMMARY_RULES]; /* the head has a peak */
} summary_build_entry;

typedef struct summary_build_process {
    etlheap_process_info info; /* pointer_bits SUMMARY_BITS_UNSET: not set yet */
    u32 counted;               /* as in entries */
} summary_build_process;

#define SUMMARY_BITS_UNSET UINT32_MAX

struct etlheap_summary {
    etlheap_summary_options options;
    i64 every_ns; /* length of windows; 0: none; -1: decided by the first input */
    etlheap_strings strings;
    ETLHEAP_VECTOR(etlheap_module_info) modules; /* at[number - 1] */
    ETLHEAP_VECTOR(summary_build_process) processes;
    stack_table stacks;
    ETLHEAP_VECTOR(summary_build_entry) entries;
    etlheap_index module_index, process_index, entry_index, file_index;
    etlheap_index hook_index, provider_index;
    ETLHEAP_VECTOR(summary_trace) traces;
    summary_files files;
    ETLHEAP_VECTOR(const char *) origins; /* by file: the input it came with */
    size_t input_file;                    /* first file of the current input */
    ETLHEAP_VECTOR(etlheap_hook_count) hooks;
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    summary_cells scratch, fresh; /* working memory */
    u64 cell_bytes;
    etl_diag_counts diag;
};

/* Find or add by content, and copy texts. False if memory runs out. Numbers start at 1. */
bool summary_intern_module(etlheap_summary *s, const etlheap_module_info *module, u32 *number);
bool summary_intern_process(etlheap_summary *s, const char *name, u32 *number);

/* Finds or adds an entry; NULL if memory runs out. */
summary_build_entry *summary_intern_entry(etlheap_summary *s, u32 kind, u32 process, u32 stack);

/* The provisional address of an offset in a module; module 0: outside all modules. */
static inline u64 summary_address(u32 module, u64 offset)
{
    const bool is_known = module != 0 && offset < SUMMARY_MODULE_BYTES_MAX;
    return is_known ? (u64)module << 32 | offset : SUMMARY_ADDRESS_UNKNOWN;
}

/* Compares modules by name, then build. */
int summary_compare_modules(const etlheap_module_info *a, const etlheap_module_info *b);

/* Adds the counts of a process, found by name. False if memory runs out. */
bool summary_add_process(etlheap_summary *s, const etlheap_process_info *from);

/* True if the last added trace has rows of a process with this name. */
bool summary_has_rows(const etlheap_summary *s, const char *name);

/* Combines the peak of all types together. */
void summary_add_entry_peak(summary_build_entry *entry, u32 rule, const summary_peak *peak);

/* Adds cells to an entry. */
bool summary_add_entry_cells(etlheap_summary *s, summary_build_entry *entry,
                             const summary_cell *cells, size_t count);

/* Adds a result's counts of records by hook and provider. False if memory runs out. */
bool summary_add_records(etlheap_summary *s, const etlheap_result *result);

/* Moves these counts to a result, in order. False if memory runs out. */
bool summary_sort_records(etlheap_summary *s, etlheap_result *result);

/* Adds a trace of the input `origin` and its files, with copies of counts and texts.
 * ETL_ERR_ARGUMENT: one of the files was added before and that is not allowed. ETL_ERR_MEMORY. */
etl_status summary_add_trace(etlheap_summary *s, const summary_trace *trace,
                             const etlheap_summary_file *files, const char *origin, etl_error *err);

/* Sets the length of an input's windows; 0: none. ETL_ERR_ARGUMENT: differs from earlier inputs. */
etl_status summary_set_every(etlheap_summary *s, i64 every_ns, const char *origin, etl_error *err);

/* A path for a message, shortened to its end. */
const char *summary_path(const char *path);

/* Working memory, roughly. */
u64 summary_bytes(const etlheap_summary *s);

/* --- the stages ------------------------------------------------------------------ */

/* Adds a full result or a summary, with one of the two functions below. Errors as for these. */
etl_status summary_add_result(etlheap_summary *s, const etlheap_result *result, const char *origin,
                              etl_error *err);

/* Adds the facts and lifetimes of a full result from the input `origin`. Errors as for
 * etlheap_aggregate and summary_add_trace. */
etl_status summary_collect(etlheap_summary *s, const etlheap_result *result, const char *origin,
                           etl_error *err);

/* Adds a summary. ETL_ERR_ARGUMENT, ETL_ERR_CORRUPT, ETL_ERR_MEMORY. */
etl_status summary_fold(etlheap_summary *s, const etlheap_result *result, const char *origin,
                        etl_error *err);

/* Makes the summary, in order of content. Texts are moved to it, and nothing more can be added. The
 * caller frees *out. ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status summary_finish(etlheap_summary *s, etlheap_result **out, etl_error *err);

#endif
