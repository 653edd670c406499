/*
 * read_ahead.h - reads the next slices from disk while one is analyzed.
 *
 * A file that is not in memory would be read one page fault at a time. Instead, a helper thread
 * asks the system for a few megabytes at a time, in the plan's order, up to a limit ahead of the
 * current slice. It only asks: it copies and maps nothing, and skips bytes that are in memory. It
 * is not started for traces that are in memory: looking at their pages would slow down the threads
 * that map them.
 */
#ifndef ETLHEAP_READ_AHEAD_H
#define ETLHEAP_READ_AHEAD_H

#include "plan.h"

typedef struct read_ahead read_ahead;

/* The distance ahead of the current slice; more would not make the disk wait less. */
#define READ_AHEAD_BYTES (256 * ETL_MIB)

/* Starts with the plan's first buffers and stays at most `bytes_max` ahead, or half of the
 * available memory. `plan` and `traces` must not change until it is closed, except plan->next.
 * NULL: there is nothing to read ahead (all traces are in memory, for example), or no memory or
 * thread. */
read_ahead *read_ahead_open(const read_plan *plan, etl_trace *const *traces, u32 trace_count,
                            u64 bytes_max);

/* Tells it that buffers up to `next` of the plan were handed out. NULL is allowed, here and
 * below. */
void read_ahead_go_on(read_ahead *ahead, u64 next);

/* The same for a trace whose index still grows, in file order: up to the offset that
 * read_ahead_go_on() says instead. */
read_ahead *read_ahead_open_file(const etl_trace *trace);

/* How far ahead one may read: no more than `bytes_max`, or half of the available memory. */
u64 read_ahead_bound(u64 bytes_max);

void read_ahead_close(read_ahead *ahead);

#endif
