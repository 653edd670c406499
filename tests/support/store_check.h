/*
 * store_check.h - a store written by an analysis, and all of it read back plainly.
 *
 * Reading goes through every event from the first on and makes rows of lifetimes:
 * another way than the one that answers questions, and without its shortcuts.
 */
#ifndef TESTS_STORE_CHECK_H
#define TESTS_STORE_CHECK_H

#include "engine/log/ehs_segment.h"
#include "engine/result/result.h"
#include "run_check.h"

/* Analyzes the traces into a file, which must succeed. The options but for the
 * store are kept; *facts is the caller's and may be NULL. */
ehs_bytes store_check_write(const check_traces *traces, const etlheap_options *options,
                            etlheap_result **facts);

/* Likewise, and nobody will ask who freed. */
ehs_bytes store_check_write_without_frees(const check_traces *traces,
                                          const etlheap_options *options);

/* Likewise, as it is kept for one question, and nobody asks for what `info` says. */
ehs_bytes store_check_write_temporary(const check_traces *traces, const etlheap_options *options);

/* The file as a result that holds all its lifetimes. Checks on the way that events
 * are in order of time, and every checkpoint against the events before it. */
etlheap_result *store_check_read(const ehs_bytes *file);

/* The file again, without a column and with more blocks behind those that stay: NULL for as
 * it is. The blocks that stay are not decoded. */
ehs_bytes store_check_rewrite(const ehs_bytes *file, const ehs_column *without,
                              const ehs_blocks *more);

/* How many checkpoints the file has. */
size_t store_check_checkpoints(const ehs_bytes *file);

#endif
