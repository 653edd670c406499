/*
 * replay_check.h - is a report from the event list the one made from lifetimes?
 */
#ifndef TESTS_REPLAY_CHECK_H
#define TESTS_REPLAY_CHECK_H

#include "tests/support/run_check.h"

/* Analyses the traces for the query alone, in slices of `slice_bytes` (0: the
 * default), and compares table and diagnostics with those of `rows`. Fails the
 * test with `name` when they differ. */
void replay_check_same(const check_traces *traces, const etlheap_query *query,
                       const etlheap_result *rows, u64 slice_bytes, const char *name);

#endif
