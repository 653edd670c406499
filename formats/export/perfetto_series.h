/*
 * perfetto_series.h - amounts of processes, kinds and call stacks that go on from window to window.
 *
 * Perfetto keeps what a call stack allocated and freed since the beginning. What it had when the
 * first window began counts as allocated before, so the difference is always what is outstanding.
 *
 * A process is a PID there. Processes that had one PID in turn are one series.
 */
#ifndef ETLHEAP_PERFETTO_SERIES_H
#define ETLHEAP_PERFETTO_SERIES_H

#include "formats/formats.h"

#include "parser/base.h"

/* A row of the windows' table. Rows of one series are neighbours. */
typedef struct perfetto_row {
    u32 pid, kind, stack; /* the series; stack 0: all */
    u32 row, next_news;   /* in the windows */
    bool is_changed;
    i64 allocated_size, allocated_count, freed_size, freed_count;
} perfetto_row;

typedef struct perfetto_series {
    const etlheap_windows *windows;
    perfetto_row *rows;
    u32 count;
} perfetto_series;

/* Gives the stack of a row. */
typedef u32 perfetto_stack_fn(void *user, const etlheap_row *row);

/* Opens the series of windows that follow each other, before the first one. The windows are
 * borrowed. `stack_of` may be NULL. False if memory runs out. */
bool perfetto_series_open(const etlheap_windows *windows, perfetto_stack_fn *stack_of, void *user,
                          perfetto_series *out);
void perfetto_series_close(perfetto_series *series);

/* Goes on to the end of a window; windows must come in order. True if anything changed. */
bool perfetto_series_step(perfetto_series *series, u32 window);

/* The end of the rows from `first` on that have the same process and kind, or also the stack. */
u32 perfetto_series_end(const perfetto_series *series, u32 first, bool with_stack);

/* The sum of rows; is_changed if any has changed. */
perfetto_row perfetto_series_sum(const perfetto_series *series, u32 first, u32 end);

#endif
