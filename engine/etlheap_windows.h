/*
 * etlheap_windows.h - totals per time window. Part of engine.h.
 *
 *     etlheap_windows_make         result -> windows x groups, in one pass
 *     etlheap_windows_cell         what one group did in one window
 *     etlheap_windows_find_growth  the rise that explains a new level
 *
 * Groups are the rows of a table as from etlheap_aggregate, with its keys, frames and stacks. A
 * cell has the counts and sizes of a group's lifetimes by their type (AIFO, ...) relative to one
 * window. A block that is allocated in window 1 and freed in window 3 is AIFO in 1, AOFO in 2 and
 * AOFI in 3.
 *
 * Cells are stored only where something happened; in between, a group does not change. So memory
 * and time grow with events and such cells, not with windows times groups. The same result and
 * options give the same answer for any `jobs`, and for a trace and its store.
 */
#include "engine.h" /* before the guard: it includes etlheap_ask.h, which needs this header */

#ifndef ETLHEAP_WINDOWS_H
#define ETLHEAP_WINDOWS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A window [from_ns, to_ns). INT64_MIN and INT64_MAX stand for the ends of the query's window. */
typedef struct etlheap_time_range {
    int64_t from_ns, to_ns;
} etlheap_time_range;

/* What is left behind the last full window is a rest if it is at most this part of a window. */
#define ETLHEAP_REST_PART 100

/* The largest number of windows. */
#define ETLHEAP_WINDOWS_MAX ((uint32_t)1 << 20)

/*
 * Which windows to make. Set one of every_ns, cuts and ranges; with none there is one window, the
 * query's. Arrays are borrowed for the call.
 *
 * `every_ns` cuts the query's window into windows of this length. They start at the query's
 * from_ns; if that is left open, at time zero, and continue before and after it. The last window
 * ends with the query's and may be shorter, or longer with join_rest. The first may be shorter, if
 * from_ns is left open and the trace has events before time zero.
 */
typedef struct etlheap_windows_options {
    size_t size;      /* sizeof(etlheap_windows_options) */
    int64_t every_ns; /* length of a window; 0: not used */
    /* Moments that cut the query's window: n cuts make n + 1 windows. Any order; duplicates and
     * cuts outside the window are ignored. */
    const int64_t *cuts;
    uint32_t cut_count;
    /* Arbitrary windows, which may overlap and leave gaps. They keep their order. */
    const etlheap_time_range *ranges;
    uint32_t range_count;
    /* The table's measures cover the time from the start of the first of these windows to the end
     * of the last. A count of 0: all windows. */
    uint32_t measured_first, measured_count;
    bool with_whole; /* add the query's whole window after the others; needs all events */
    /* A rest (ETLHEAP_REST_PART) is part of the last window: traces end a few events after a
     * round time. Ignored for summaries, which keep windows of equal length. */
    bool join_rest;
} etlheap_windows_options;

/* One group in one window. Sums are at most INT64_MAX. */
typedef struct etlheap_cell {
    int64_t count[ETLHEAP_TYPE_CAPACITY], size[ETLHEAP_TYPE_CAPACITY];
    int64_t outstanding_count, outstanding_size; /* at the end of the window: AIFO + AOFO */
    /* The largest outstanding amounts inside the window; of a summary they may be
     * ETLHEAP_NOT_KNOWN. */
    int64_t peak_count, peak_size;
    int64_t impacting_size; /* AIFO - AOFI */
} etlheap_cell;

/* The last values of MemInfo records (the system) or MemInfoWS records (a process) before a window
 * ended. */
typedef struct etlheap_memory_sample {
    bool is_known; /* false: no record so far, or the process had ended */
    bool has_commit;
    int64_t time_ns; /* time of the record */
    uint64_t commit_bytes;
    uint64_t available_bytes;           /* system: zeroed, free and standby pages */
    uint64_t working_set_bytes;         /* process */
    uint64_t private_working_set_bytes; /* process */
} etlheap_memory_sample;

/* The memory of one process, sampled at the end of each window. */
typedef struct etlheap_process_memory {
    etlheap_process process;
    const char *name;
    uint32_t pid;
    const etlheap_memory_sample *at; /* by window */
} etlheap_process_memory;

/* The windows and their groups. Freed with etlheap_windows_free. */
typedef struct etlheap_windows {
    int64_t every_ns; /* 0: not cut by every_ns */
    const etlheap_time_range *windows;
    uint32_t window_count;
    /* The groups. The caller may shorten the table (etlheap_table_keep_top) and name its frames
     * (etlheap_table_name) in place; rows keep their cells. KIND is always a key, unless the query
     * selects a single kind. COUNT and SIZE include what was outstanding at the start. */
    etlheap_table *table;
    const etlheap_memory_sample *memory;          /* by window; NULL: the trace has no MemInfo */
    const etlheap_process_memory *process_memory; /* selected processes, by (pid, start) */
    uint32_t process_memory_count;
} etlheap_windows;

/*
 * Groups the lifetimes that the query selects and follows the groups through the windows. TYPE and
 * FREE_TYPE cannot be keys, and types cannot be selected, because each window has its own. A result
 * made only for windows answers for these windows, its query's window and exit rule, with any keys;
 * other results answer any request. With `churn`, rows have TEMPORARY_*, over everything that the
 * windows span. The caller owns *out (etlheap_windows_free), which borrows strings from the result.
 * ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_CORRUPT, ETL_ERR_ARGUMENT (the message says why),
 * ETL_ERR_LIMIT (too many windows).
 */
etl_status etlheap_windows_make(const etlheap_result *result, const etlheap_query *query,
                                const etlheap_windows_options *options, etlheap_windows **out,
                                etl_error *err);
void etlheap_windows_free(etlheap_windows *windows); /* NULL is allowed */

/* Drops the first `rows` groups, as etlheap_table_skip; the others keep their cells. */
etl_status etlheap_windows_skip(etlheap_windows *windows, uint32_t rows, etl_error *err);

/* True if windows can be grouped by the key: it is the same for a block in all windows. */
bool etlheap_windows_group_by(etlheap_key key);

/* True if windows have the measure, so that their groups can be sorted by it. */
bool etlheap_windows_sort_by(etlheap_measure measure);

/* Reads a cell. False, with *out all 0, if the row has nothing in the window, or the
 * row or window does not exist. Takes time logarithmic in the number of the row's cells. Any
 * thread. */
bool etlheap_windows_cell(const etlheap_windows *windows, uint32_t row, uint32_t window,
                          etlheap_cell *out);

/* The outstanding bytes of a row when a window begins, before anything in its first tick. 0 if
 * the row or window does not exist. */
int64_t etlheap_windows_start_size(const etlheap_windows *windows, uint32_t row, uint32_t window);

/* The first window from `window` on in which something happens to the row, or the number of
 * windows. The windows before it are all alike, so their cells need not be read. The windows must
 * follow each other without gaps, and not come from a summary. */
uint32_t etlheap_windows_next_news(const etlheap_windows *windows, uint32_t row, uint32_t window);

/* A rise of the outstanding size from one lasting level to another. */
typedef struct etlheap_growth {
    uint32_t row;          /* of the table */
    uint32_t first_window; /* where the rise begins */
    uint32_t window_count;
    int64_t from_ns, to_ns;
    int64_t before_size, after_size; /* the two levels */
} etlheap_growth;

/*
 * Finds the largest lasting rise of a row, or with ETLHEAP_NO_INDEX of all rows. The windows must
 * follow each other without gaps (every_ns or cuts, without with_whole); about 200 windows work
 * best. It returns false if no row rises, or if there is no such row. The rule is
 * explained in fold/windows_growth.c.
 *
 * To see which stacks explain the rise, make the same windows grouped by stack, with measured_first
 * and measured_count set to the windows found here, sorted by IMPACTING_SIZE.
 */
bool etlheap_windows_find_growth(const etlheap_windows *windows, uint32_t row, etlheap_growth *out);

/* The most rises that are found at once. */
#define ETLHEAP_RISES_MAX 16u

/* Finds the largest lasting rise of each row, and fills `out` with the largest of them, at most
 * `max` and ETLHEAP_RISES_MAX, the one that etlheap_windows_find_growth finds first. Returns their
 * number. */
uint32_t etlheap_windows_find_rises(const etlheap_windows *windows, etlheap_growth *out,
                                    uint32_t max);

/* The window in which a row adds the most bytes per second, whether they stay or not. */
typedef struct etlheap_steepest {
    int64_t from_ns, to_ns;
    int64_t size; /* bytes added, above 0 */
} etlheap_steepest;

/* Finds the steepest rise of a row, the first of equal ones. False, with *out unchanged, if the row
 * rises in no window. */
bool etlheap_windows_find_steepest(const etlheap_windows *windows, uint32_t row,
                                   etlheap_steepest *out);

/* Bytes per second. */
int64_t etlheap_steepest_rate(const etlheap_steepest *rise);

#ifdef __cplusplus
}
#endif

#endif
