/*
 * windows_check.h - are the cells of windows what their definition says?
 *
 * Two ways that share nothing with the engine's pass: lifetimes one by one, and a
 * report for each window by itself.
 */
#ifndef TESTS_WINDOWS_CHECK_H
#define TESTS_WINDOWS_CHECK_H

#include "run_check.h"

/* Windows that must be made; options may be NULL. */
etlheap_windows *windows_check_make(const etlheap_result *result, const etlheap_query *query,
                                    const etlheap_windows_options *options);

/* Table, windows and all cells, in their order; to be freed. */
char *windows_check_text(const etlheap_windows *windows);

/* Each cell against the lifetimes of its row, which are known by kind, process,
 * heap and thread: the query may group by these. */
void windows_check_lifetimes(const etlheap_result *rows, const etlheap_query *query,
                             const etlheap_windows *windows);

/* Each cell against reports for its window, of any groups. */
void windows_check_reports(const etlheap_result *rows, const etlheap_query *query,
                           const etlheap_windows *windows);

/* What must hold within the answer: sums, differences and ends that meet. */
void windows_check_sums(const etlheap_windows *windows);

#endif
