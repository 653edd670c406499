/*
 * run_check.h - from builders to traces to results, and results as text.
 *
 * Text makes whole results comparable: one line per fact, in an order that says
 * nothing about the order in which the facts were found.
 */
#ifndef TESTS_RUN_CHECK_H
#define TESTS_RUN_CHECK_H

#include "asked.h"
#include "engine/engine.h"
#include "tests/build/etl_build.h"

#define CHECK_TRACES_MAX 4u

/* Traces open at once and the builders whose bytes they read. Start from {0}. */
typedef struct check_traces {
    etl_trace *at[CHECK_TRACES_MAX];
    const char *names[CHECK_TRACES_MAX];
    etl_build *builders[CHECK_TRACES_MAX];
    u32 count;
} check_traces;

/* Finishes the builder, opens its bytes as one more trace and takes it over. A
 * failure of either ends the test program: then the test is wrong. */
void check_open(check_traces *traces, etl_build *b);
void check_close(check_traces *traces);

/* An analysis that must succeed; options may be NULL. */
etlheap_result *check_analyze(const check_traces *traces, const etlheap_options *options);

/*
 * Everything a result says, but for the names of the files: trace, processes,
 * modules, records, stacks, marks, diagnostics, and the lifetimes with their frames,
 * sorted. To be freed.
 */
char *check_result_text(const etlheap_result *result);

/* The lifetimes alone. */
char *check_lifetimes_text(const etlheap_result *result);

/* A table as it is, in its order. */
char *check_table_text(const etlheap_table *table);

/* The result grouped by a query, as text; must succeed. */
char *check_aggregate_text(const etlheap_result *result, const etlheap_query *query);

/* Are two texts equal? If not, prints the first line in which they differ. */
bool check_same_text(const char *a, const char *b);

#endif
