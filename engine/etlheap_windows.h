/*
 * etlheap_windows.h - totals per time window: engine.h includes this.
 *
 *     etlheap_windows_make         result -> windows x groups, in one pass
 *     etlheap_windows_cell         what one group did in one window
 *     etlheap_windows_find_growth  the rise that explains a new level
 *
 * Groups are the rows of a table as etlheap_aggregate makes it, with its keys,
 * frames and stacks; a cell says how the lifetimes of a row fare in a window, by
 * the definitions of types (AIFO, ...) for that window. A block that is allocated
 * in window 1 and freed in window 3 is AIFO in 1, AOFO in 2 and AOFI in 3.
 *
 * Cells are kept only where something happened; between them a group stands
 * still. So the cost is that of events and of cells with news, not of windows
 * times groups. The same result and options give the same answer, whatever `jobs`
 * is, and whether the result is of a trace or of its store.
 */
#include "engine.h" /* before the guard, as etlheap_ask.h, which that includes, takes all of this */

#ifndef ETLHEAP_WINDOWS_H
#define ETLHEAP_WINDOWS_H

#ifdef __cplusplus
extern "C" {
#endif

/* [from_ns, to_ns). An end that is left open (INT64_MIN, INT64_MAX) is the query's. */
typedef struct etlheap_time_range {
    i64 from_ns, to_ns;
} etlheap_time_range;

/* More windows are refused. */
#define ETLHEAP_WINDOWS_MAX ((u32)1 << 20)

/*
 * Which windows. One of the three ways; with none there is one window, the query's.
 * Arrays are borrowed for the call.
 *
 * `every_ns` cuts the query's window into pieces: at its from_ns and every so often
 * after, or, when from_ns is left open, at time zero and every so often before and
 * after. The last piece ends with the window and may be shorter; so may the first,
 * if from_ns is left open and the trace has events before time zero.
 */
typedef struct etlheap_windows_options {
    size_t size;  /* sizeof(etlheap_windows_options) */
    i64 every_ns; /* 0: not this way */
    /* Moments where the query's window is cut: n cuts make n + 1 windows. In any
     * order; those outside of the window or given twice do not count. */
    const i64 *cuts;
    u32 cut_count;
    /* Any windows, which may overlap and leave gaps. Their order stays. */
    const etlheap_time_range *ranges;
    u32 range_count;
    /* The measures of the table's rows are over these windows, from the start of the
     * first to the end of the last and what lies between; a count of 0: all. */
    u32 measured_first, measured_count;
    bool with_whole; /* one window more, behind the others: the query's. Takes all events. */
} etlheap_windows_options;

/* One group in one window. Sums that do not fit stop at INT64_MAX. */
typedef struct etlheap_cell {
    i64 count[ETLHEAP_TYPE_CAPACITY], size[ETLHEAP_TYPE_CAPACITY];
    i64 outstanding_count, outstanding_size; /* when the window ends: AIFO + AOFO */
    i64 peak_count, peak_size;               /* of the outstanding curve, inside; of a summary
                                                ETLHEAP_NOT_KNOWN, too */
    i64 impacting_size;                      /* AIFO - AOFI */
} etlheap_cell;

/* What a MemInfo record (the system) or a MemInfoWS record (a process) said last
 * before a window ended. */
typedef struct etlheap_memory_sample {
    bool is_known; /* false: no record before, or the process had ended */
    bool has_commit;
    i64 time_ns; /* of the record */
    u64 commit_bytes;
    u64 available_bytes;           /* system: zeroed, free and standby pages */
    u64 working_set_bytes;         /* process */
    u64 private_working_set_bytes; /* process */
} etlheap_memory_sample;

typedef struct etlheap_process_memory {
    etlheap_process process;
    const char *name;
    u32 pid;
    const etlheap_memory_sample *at; /* by window */
} etlheap_process_memory;

typedef struct etlheap_windows {
    i64 every_ns; /* 0: not cut this way */
    const etlheap_time_range *windows;
    u32 window_count;
    /* The groups. The caller may shorten it (etlheap_table_keep_top) and name its
     * frames (etlheap_table_name) in place; its rows keep their cells. KIND is always
     * among its keys unless the query selects one kind alone. COUNT and SIZE of its
     * rows are over what was outstanding at the start or allocated since. */
    const etlheap_table *table;
    const etlheap_memory_sample *memory;          /* by window; NULL: the trace has no MemInfo */
    const etlheap_process_memory *process_memory; /* by (pid, start); selected ones */
    u32 process_memory_count;
} etlheap_windows;

/*
 * Groups the lifetimes that the query selects and follows the groups through the
 * windows. TYPE and FREE_TYPE are no keys here, and types cannot be selected: each
 * window has its own. A result that was made for windows alone answers for these,
 * their query's window and at-exit rule, with any groups; all other results answer
 * anything. *out is owned by the caller (etlheap_windows_free) and
 * borrows strings from the result. Errors: ETL_ERR_MEMORY, IO, CORRUPT,
 * ETL_ERR_ARGUMENT (said why), ETL_ERR_LIMIT (too many windows).
 */
etl_status etlheap_windows_make(const etlheap_result *result, const etlheap_query *query,
                                const etlheap_windows_options *options, etlheap_windows **out,
                                etl_error *err);
void etlheap_windows_free(etlheap_windows *windows); /* NULL is allowed */

/* False: nothing of the row concerns the window, or there is no such row or window; *out is
 * all 0. Takes time in
 * proportion to the logarithm of the row's cells. */
bool etlheap_windows_cell(const etlheap_windows *windows, u32 row, u32 window, etlheap_cell *out);

/* Outstanding bytes as a window begins: before anything in its first tick. 0 when there is
 * no such row or window. */
i64 etlheap_windows_start_size(const etlheap_windows *windows, u32 row, u32 window);

/* The first window from this one on in which something happens to the row; the number of
 * windows if nothing does. The windows before it are all alike: nobody needs to ask for their
 * cells. The windows must follow each other without gaps, and not be of a summary. */
u32 etlheap_windows_next_news(const etlheap_windows *windows, u32 row, u32 window);

/* A rise of the outstanding size to a level that lasted, from one that had. */
typedef struct etlheap_growth {
    u32 row;          /* of the table */
    u32 first_window; /* where it begins */
    u32 window_count;
    i64 from_ns, to_ns;
    i64 before_size, after_size; /* the levels; their difference is the growth */
} etlheap_growth;

/*
 * Finds the steepest rise of a row, ETLHEAP_NO_INDEX: of all rows. The windows must
 * follow each other without gaps (every_ns or cuts, not with_whole); about 200 are best. False:
 * there is no rise, or no such row. windows_growth.c has the rule.
 *
 * The stacks that explain it: windows of the same kind grouped by stack, with
 * measured_first and measured_count as found here, sorted by IMPACTING_SIZE.
 */
bool etlheap_windows_find_growth(const etlheap_windows *windows, u32 row, etlheap_growth *out);

#ifdef __cplusplus
}
#endif

#endif
