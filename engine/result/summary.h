/*
 * summary.h - what a summary holds, and how one comes to be; private to the engine.
 *
 *     a full result ──collect──▶ ┌─────────┐
 *     a summary     ───fold────▶ │ builder │ ──finish──▶ a summary ──save──▶ file
 *     more of both  ───────────▶ └─────────┘               (a result)
 *
 * A summary is a result whose modules lie at made-up addresses, one after the
 * other in the order of their content, so that all that knows stacks, modules and
 * symbols works on it. What it has besides is here.
 *
 * An *entry* is a kind, a process name and a stack, or all stacks. For each rule of what the end
 * of a process means and each type it has sums over whole traces, and for each
 * window cells. All of it is combined by sum, minimum and maximum, and put in
 * order of content at the end: so neither the order of what is combined nor how it
 * was combined before shows.
 *
 * A peak is of one curve. Two curves that are combined have a peak that nobody knows
 * any more, and so has everything that is combined from it.
 */
#ifndef ETLHEAP_SUMMARY_INSIDE_H
#define ETLHEAP_SUMMARY_INSIDE_H

#include "result.h"

/* Rules: whether the end of a process frees. As etlheap_query.at_exit_freed. */
#define SUMMARY_RULES 2u

/* A part of an entry: rule * ETLHEAP_TYPE_COUNT + type. */
#define SUMMARY_PARTS (SUMMARY_RULES * ETLHEAP_TYPE_COUNT)

/* Modules lie this far apart at least, and no frame is farther inside of one: a
 * program's image has 32 bits of size. */
#define SUMMARY_MODULE_ALIGNMENT ((u64)1 << 16)
#define SUMMARY_MODULE_BYTES_MAX ((u64)1 << 32)

/* The address of all frames outside of modules. */
#define SUMMARY_ADDRESS_UNKNOWN ((u64)0)

/* In place of a stack: all stacks of the process together, whose peaks are none of
 * the stacks' own. */
#define SUMMARY_ALL_STACKS UINT32_MAX

/* Both UINT64_MAX: not known. Blocks that come and go in one tick have a peak of 0. */
typedef struct summary_peak {
    u64 count, size_bytes;
} summary_peak;

static const summary_peak summary_peak_unknown = { UINT64_MAX, UINT64_MAX };

static inline bool summary_peak_is_known(const summary_peak *most)
{
    return most->count != UINT64_MAX;
}

/* Lifetimes of one part of an entry. */
typedef struct summary_sum {
    u64 count, size_bytes, realloc_count;
    summary_peak peak;
} summary_sum;

typedef struct summary_entry {
    u32 process, stack; /* ids; stack 0: none; SUMMARY_ALL_STACKS */
    u32 kind;           /* etlheap_kind */
    u64 trace_count;    /* that have it */
    i64 first_filetime; /* start of the earliest of them, and of the latest */
    i64 last_filetime;
    summary_peak peaks[SUMMARY_RULES]; /* of all types together */
} summary_entry;

/* A sum as it stands in a file: only those that are not 0. */
typedef struct summary_row {
    u32 entry; /* index */
    u32 part;
    summary_sum sum;
} summary_row;

/* What can be added up of the windows of an entry, by the rule that ends of
 * processes free: counts and sizes by type, then the peak. */
typedef struct summary_amounts {
    u64 count[ETLHEAP_TYPE_COUNT], size_bytes[ETLHEAP_TYPE_COUNT];
    summary_peak peak;
} summary_amounts;

/* Consecutive windows that are alike. Window k is [k, k + 1) times the length,
 * since the start of each trace. */
typedef struct summary_cell {
    u32 entry; /* index */
    i64 window;
    u64 window_count;
    summary_amounts amounts;
} summary_cell;

typedef ETLHEAP_VECTOR(summary_cell) summary_cells;

/* A recording that was added. Text is the result's or builder's. */
typedef struct summary_trace {
    u64 id[2];
    etlheap_trace_info info; /* without files */
    i64 from_ns;             /* of its whole window; 0 or before */
    etlheap_stack_counts stacks;
    etlheap_abilities can;
    u32 file_count;
    u32 first_file; /* into the list of files */
    etl_diag_counts diag, census_diag;
} summary_trace;

typedef ETLHEAP_VECTOR(etlheap_summary_file) summary_files;

/* What a result that is a summary has besides. */
typedef struct summary_data {
    i64 every_ns; /* 0: no windows */
    ETLHEAP_VECTOR(summary_trace) traces;
    summary_files files;
    ETLHEAP_VECTOR(summary_entry) entries;
    ETLHEAP_VECTOR(summary_row) rows; /* by (entry, part) */
    summary_cells cells;              /* by (entry, window) */
} summary_data;

void summary_data_free(summary_data *data); /* NULL is allowed */

/* Where the module after this one lies. */
u64 summary_module_after(const etlheap_module_info *module);

/* Ticks of a summary are nanoseconds since the start of each trace. */
#define SUMMARY_CLOCK_HZ ((u64)1000000000)
bool summary_set_clock(etlheap_result *result);

/* Fills in what all traces of a summary together are: sums, the longest duration,
 * what they have in common. False without memory. */
bool summary_describe(etlheap_result *result);

/* --- combining -------------------------------------------------------------------- */

/* is_first: `to` is of no lifetimes yet. */
void summary_add_peak(summary_peak *to, bool is_first, const summary_peak *peak);
void summary_add_sum(summary_sum *to, const summary_sum *sum);

/*
 * Adds cells, which are in order and do not overlap, to others, which then are so
 * too and as few as can be. `scratch` is working memory. False without memory.
 */
bool summary_add_cells(summary_cells *to, const summary_cell *cells, size_t count,
                       summary_cells *scratch);

/* A length of windows as --every takes it: "500ms"; "" for none. */
#define SUMMARY_EVERY_TEXT 32
void summary_every_text(i64 every_ns, char text[SUMMARY_EVERY_TEXT]);

/* The number of the window that begins at or before a time, which may be negative. */
static inline i64 summary_window_number(i64 from_ns, i64 every_ns)
{
    return from_ns / every_ns - (from_ns % every_ns < 0);
}

#endif
