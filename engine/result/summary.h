/*
 * summary.h - the content of a summary, and how it is made; private to the engine.
 *
 *     a full result ──collect──▶ ┌─────────┐
 *     a summary     ───fold────▶ │ builder │ ──finish──▶ a summary ──save──▶ file
 *     more of both  ───────────▶ └─────────┘               (a result)
 *
 * A summary is a result with modules at artificial addresses, one after the other in the order of
 * their content, so that all code for stacks, modules and symbols works on it. This header has its
 * additional data.
 *
 * An *entry* is a kind, a process name and a stack, or all stacks. For each rule about process
 * exits and each type, it has sums over whole traces, and for each window it has cells. Everything
 * is combined by sum, minimum and maximum and finally put in order of content. So the result
 * depends neither on the order of combining nor on earlier summaries.
 *
 * A peak belongs to one curve. The peak of two combined curves is unknown, and so is that of
 * everything combined from them.
 */
#ifndef ETLHEAP_SUMMARY_INSIDE_H
#define ETLHEAP_SUMMARY_INSIDE_H

#include "result.h"

/* The rules about process exits: whether an exit frees, as in etlheap_query.at_exit_freed. */
#define SUMMARY_RULES 2u

/* A part of an entry: rule * ETLHEAP_TYPE_COUNT + type. */
#define SUMMARY_PARTS (SUMMARY_RULES * ETLHEAP_TYPE_COUNT)

/* The least distance between modules, and the largest offset of a frame in one: the size of a
 * program image has 32 bits. */
#define SUMMARY_MODULE_ALIGNMENT ((u64)1 << 16)
#define SUMMARY_MODULE_BYTES_MAX ((u64)1 << 32)

/* The address of all frames outside of modules. */
#define SUMMARY_ADDRESS_UNKNOWN ((u64)0)

/* Instead of a stack: all stacks of the process together, whose peak is not that of any stack. */
#define SUMMARY_ALL_STACKS UINT32_MAX

/* A peak. Both UINT64_MAX: unknown. Blocks that come and go in one tick have a peak of 0. */
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
    u64 trace_count;    /* traces that have the entry */
    i64 first_filetime; /* start of the earliest and of the latest of these traces */
    i64 last_filetime;
    summary_peak peaks[SUMMARY_RULES]; /* of all types together */
} summary_entry;

/* A sum in a file. Sums of 0 are left out. */
typedef struct summary_row {
    u32 entry; /* index */
    u32 part;
    summary_sum sum;
} summary_row;

/* The amounts of an entry's windows, with process exits as frees: counts and sizes by type, then
 * the peak. */
typedef struct summary_amounts {
    u64 count[ETLHEAP_TYPE_COUNT], size_bytes[ETLHEAP_TYPE_COUNT];
    summary_peak peak;
} summary_amounts;

/* Consecutive windows with equal amounts. Window k is [k, k + 1) times the length, since the start
 * of each trace. */
typedef struct summary_cell {
    u32 entry; /* index */
    i64 window;
    u64 window_count;
    summary_amounts amounts;
} summary_cell;

typedef ETLHEAP_VECTOR(summary_cell) summary_cells;

/* A recording that was added. The result or builder owns its texts. */
typedef struct summary_trace {
    u64 id[2];
    etlheap_trace_info info; /* without files */
    i64 from_ns;             /* start of its whole window, at most 0 */
    etlheap_stack_counts stacks;
    etlheap_abilities can;
    u32 file_count;
    u32 first_file; /* into the list of files */
    etl_diag_counts diag, inventory_diag;
} summary_trace;

typedef ETLHEAP_VECTOR(etlheap_summary_file) summary_files;

/* The additional data of a summary. */
typedef struct summary_data {
    i64 every_ns; /* 0: no windows */
    ETLHEAP_VECTOR(summary_trace) traces;
    summary_files files;
    ETLHEAP_VECTOR(summary_entry) entries;
    ETLHEAP_VECTOR(summary_row) rows; /* by (entry, part) */
    summary_cells cells;              /* by (entry, window) */
} summary_data;

void summary_data_free(summary_data *data); /* NULL is allowed */

/* The address of the module after this one. */
u64 summary_module_after(const etlheap_module_info *module);

/* Ticks of a summary are nanoseconds since the start of each trace. */
#define SUMMARY_CLOCK_HZ ((u64)1000000000)
bool summary_set_clock(etlheap_result *result);

/* Describes all traces of a summary together: sums, the longest duration, common values. False if
 * memory runs out. */
bool summary_describe(etlheap_result *result);

/* --- combining -------------------------------------------------------------------- */

/* Combines peaks; is_first: `to` has no lifetimes yet. */
void summary_add_peak(summary_peak *to, bool is_first, const summary_peak *peak);
void summary_add_sum(summary_sum *to, const summary_sum *sum);

/* Adds cells, which must be in order and not overlap, to others. The result is in order, with as
 * few cells as possible. `scratch` is working memory. False if memory runs out. */
bool summary_add_cells(summary_cells *to, const summary_cell *cells, size_t count,
                       summary_cells *scratch);

/* The length of windows as text: "500ms"; "" for none. */
#define SUMMARY_EVERY_TEXT 32
void summary_every_text(i64 every_ns, char text[SUMMARY_EVERY_TEXT]);

/* The number of the window that contains a time, which may be negative. */
static inline i64 summary_window_number(i64 from_ns, i64 every_ns)
{
    return from_ns / every_ns - (from_ns % every_ns < 0);
}

#endif
