/*
 * summary_build.h - a summary while things are added to it; private to the engine.
 *
 * Modules, processes, stacks and entries get numbers in the order in which they
 * come. A frame is a provisional address then, of its module's number and its
 * offset. What is written has numbers and addresses by content (summary_finish.c).
 */
#ifndef ETLHEAP_SUMMARY_BUILD_H
#define ETLHEAP_SUMMARY_BUILD_H

#include "engine/result/summary.h"

typedef struct summary_build_entry {
    summary_entry head;
    summary_sum sums[SUMMARY_PARTS];
    summary_cells cells;
    u32 counted;                  /* traces of the summary when one that has it was counted last */
    bool has_peak[SUMMARY_RULES]; /* peaks of the head are of something */
} summary_build_entry;

typedef struct summary_build_process {
    etlheap_process_info info; /* pointer_bits SUMMARY_BITS_UNSET: not told yet */
    u32 counted;               /* as of entries */
} summary_build_process;

#define SUMMARY_BITS_UNSET UINT32_MAX

struct etlheap_summary {
    etlheap_summary_options options;
    i64 every_ns; /* of the windows; 0: none; -1: to be said by what is added */
    etlheap_strings strings;
    ETLHEAP_VECTOR(etlheap_module_info) modules; /* at[number - 1] */
    ETLHEAP_VECTOR(summary_build_process) processes;
    stack_table stacks;
    ETLHEAP_VECTOR(summary_build_entry) entries;
    etlheap_index module_index, process_index, entry_index, file_index;
    etlheap_index hook_index, provider_index;
    ETLHEAP_VECTOR(summary_trace) traces;
    summary_files files;
    ETLHEAP_VECTOR(const char *) origins; /* of the files: the input they came with */
    size_t input_file;                    /* the first file of the input that is being added */
    ETLHEAP_VECTOR(etlheap_hook_count) hooks;
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    summary_cells scratch, fresh; /* working memory */
    u64 cell_bytes;
    etl_diag_counts diag;
};

/* Each finds or adds by content, and copies text; false without memory. Numbers
 * start at 1. */
bool summary_intern_module(etlheap_summary *s, const etlheap_module_info *module, u32 *number);
bool summary_intern_process(etlheap_summary *s, const char *name, u32 *number);

/* The entry; NULL without memory. */
summary_build_entry *summary_intern_entry(etlheap_summary *s, u32 kind, u32 process, u32 stack);

/* The provisional address of a place in a module; module 0: outside of all. */
static inline u64 summary_address(u32 module, u64 offset)
{
    const bool is_known = module != 0 && offset < SUMMARY_MODULE_BYTES_MAX;
    return is_known ? (u64)module << 32 | offset : SUMMARY_ADDRESS_UNKNOWN;
}

/* Order of modules by what they are: name, then build. */
int summary_compare_modules(const etlheap_module_info *a, const etlheap_module_info *b);

/* Adds the counts of a process, which is found by name. False without memory. */
bool summary_add_process(etlheap_summary *s, const etlheap_process_info *from);

/* Has the trace added last a row of a process of that name? */
bool summary_has_rows(const etlheap_summary *s, const char *name);

/* The peak of all types together. */
void summary_add_entry_peak(summary_build_entry *entry, u32 rule, const summary_peak *peak);

/* The same to an entry of a summary. */
bool summary_add_entry_cells(etlheap_summary *s, summary_build_entry *entry,
                             const summary_cell *cells, size_t count);

/* The records that a result counts, by hook and provider. False without memory. */
bool summary_add_records(etlheap_summary *s, const etlheap_result *result);

/* Moves them to a result, in order. False without memory. */
bool summary_sort_records(etlheap_summary *s, etlheap_result *result);

/*
 * Takes in a trace that came with the input `origin` and its files, whose count
 * and text are copied. ETL_ERR_ARGUMENT: one of the files is there already and
 * that is not allowed; ETL_ERR_MEMORY.
 */
etl_status summary_add_trace(etlheap_summary *s, const summary_trace *trace,
                             const etlheap_summary_file *files, const char *origin, etl_error *err);

/* Says which windows an input has; 0: none. ETL_ERR_ARGUMENT: others than before. */
etl_status summary_set_every(etlheap_summary *s, i64 every_ns, const char *origin, etl_error *err);

/* A path for a message: its end, when it is long. */
const char *summary_path(const char *path);

/* Working memory, roughly. */
u64 summary_bytes(const etlheap_summary *s);

/* --- the stages ------------------------------------------------------------------ */

/* Adds a result, whatever it is: one of the two below. Errors as of them. */
etl_status summary_add_result(etlheap_summary *s, const etlheap_result *result, const char *origin,
                              etl_error *err);

/* Adds a full result: facts and lifetimes. It came from `origin`. Errors as of
 * etlheap_aggregate and of summary_add_trace. */
etl_status summary_collect(etlheap_summary *s, const etlheap_result *result, const char *origin,
                           etl_error *err);

/* Adds a summary. ETL_ERR_ARGUMENT, ETL_ERR_CORRUPT, ETL_ERR_MEMORY. */
etl_status summary_fold(etlheap_summary *s, const etlheap_result *result, const char *origin,
                        etl_error *err);

/* Makes a summary in order of content; text is moved to it, and nothing more can
 * be added. The caller frees *out. ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status summary_finish(etlheap_summary *s, etlheap_result **out, etl_error *err);

#endif
