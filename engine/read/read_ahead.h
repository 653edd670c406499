/*
 * read_ahead.h - has the disk read the next slices while one is analyzed.
 *
 * A file that nobody has read lately would be read page fault by page fault. A thread beside
 * the crew asks the system for windows of a few megabytes instead, in the plan's order, up to
 * a bound ahead of the slice at hand. It only asks: no byte is copied or mapped here, and
 * bytes that are in memory are left alone, so a second run has nothing to do.
 */
#ifndef ETLHEAP_READ_AHEAD_H
#define ETLHEAP_READ_AHEAD_H

#include "plan.h"

typedef struct read_ahead read_ahead;

/* As far ahead of the slice at hand as is worth it: more hides no more of the disk. */
#define READ_AHEAD_BYTES (256 * ETL_MIB)

/* Begins with the plan's first buffers, and stays no more than `bytes_max` ahead, or half of
 * the memory that is available. `plan` and `traces` stay as they are until it is
 * closed, but for plan->next. NULL: nothing to read ahead, or no memory or thread for it. */
read_ahead *read_ahead_open(const read_plan *plan, etl_trace *const *traces, u64 bytes_max);

/* Buffers up to `next` of the plan were handed out. NULL is allowed, here and below. */
void read_ahead_go_on(read_ahead *ahead, u64 next);

/* The same for a trace whose index still grows, in file order: up to the offset that
 * read_ahead_go_on() says instead. */
read_ahead *read_ahead_open_file(const etl_trace *trace);

/* How far ahead one may read: no more than `bytes_max`, or half of the available memory. */
u64 read_ahead_bound(u64 bytes_max);

void read_ahead_close(read_ahead *ahead);

#endif
