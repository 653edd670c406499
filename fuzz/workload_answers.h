/*
 * workload_answers.h - answers to questions about memory as lines of text: the engine's,
 * and those that follow from a world's lives by the definitions alone.
 *
 * The model knows no tricks: it looks at every lifetime for every question, and at every
 * allocation for every peak.
 */
#ifndef FUZZ_WORKLOAD_ANSWERS_H
#define FUZZ_WORKLOAD_ANSWERS_H

#include "workload_world.h"

/* Sorted before they are compared: rows of equal measures have no order worth a model. */
typedef struct workload_lines {
    ETLHEAP_VECTOR(char *) at;
} workload_lines;

typedef struct workload_asked {
    i64 from_ns, to_ns; /* as of etlheap_query */
    bool exit_frees;
    const etlheap_key *keys; /* KIND is the first */
    u32 key_count;
} workload_asked;

void workload_lines_free(workload_lines *lines);
/* The first line that is in one alone, on standard error; false if there is none. */
bool workload_lines_differ(workload_lines *expected, workload_lines *found);

etlheap_query workload_query(const workload_asked *question, u32 jobs);

/* Every lifetime with all that is known of it. */
void workload_told_lifetimes(const etlheap_result *result, workload_lines *out);
void workload_true_lifetimes(const world *w, workload_lines *out);

/* Rows and totals of a report. */
void workload_told_rows(const etlheap_table *table, workload_lines *out);
void workload_true_rows(const world *w, const workload_asked *question, bool with_peaks,
                        workload_lines *out);

/* Cells of windows; the true ones for windows that the engine chose. */
void workload_told_cells(const etlheap_windows *windows, workload_lines *out);
void workload_true_cells(const world *w, const workload_asked *question,
                         const etlheap_windows *windows, workload_lines *out);

void workload_told_buckets(const etlheap_histogram *histogram, workload_lines *out);
void workload_true_buckets(const world *w, const workload_asked *question, etlheap_histogram_by by,
                           workload_lines *out);

/* --- for the two files alone ----------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) void workload_line(workload_lines *lines, const char *format,
                                                         ...);

/* What one row or lifetime shows of itself. */
#define WORKLOAD_TEXT 1024u

typedef struct workload_text {
    char at[WORKLOAD_TEXT];
    size_t count;
} workload_text;

__attribute__((format(printf, 2, 3))) void workload_put(workload_text *text, const char *format,
                                                        ...);

#endif
