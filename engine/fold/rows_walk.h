/*
 * rows_walk.h - the events of rows in memory, as what replay_walk.c walks.
 *
 * Rows have both their ends. Sorted by time, these are events like those of a log, and the word of
 * a row (block_words.h) says in which group it is.
 *
 *     rows         [2 .. 7)   [1 .. 4)   [4 .. never)
 *     events       1+  2+  4-  4+  7-
 */
#ifndef ETLHEAP_ROWS_WALK_H
#define ETLHEAP_ROWS_WALK_H

#include "block_words.h"
#include "feed_rows.h"
#include "replay_walk.h"
#include "steps.h"

/* The words of a job's rows, and the start of its window. */
typedef struct row_words {
    const block_words *words;
    i64 from_ticks;
} row_words;

typedef struct rows_walk {
    const feed_rows *rows;
    const row_words *words; /* of each job */
    u32 jobs;
    const u32 *cancel; /* NULL: nobody cancels */
    step_list steps;
    const digit_row *events; /* in order */
    size_t count;
} rows_walk;

/* Lists and sorts the events of rows that a job has a word for. False if memory runs out or the
 * flag is set; close it in any case. */
bool rows_walk_sort(rows_walk *walk);
void rows_walk_close(rows_walk *walk);

/* The time of a moment that a walk has found; 0: nothing was ever outstanding. */
i64 rows_walk_ticks(const rows_walk *walk, const replay_peak *moment);

/* Makes a source for the jobs, in their order. The walk is borrowed. */
replay_source rows_walk_source(const rows_walk *walk);

#endif
