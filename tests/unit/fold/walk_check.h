/*
 * walk_check.h - walks as text: one line for each lifetime that is handed out, in
 * the order in which it is.
 */
#ifndef TESTS_WALK_CHECK_H
#define TESTS_WALK_CHECK_H

#include "engine/core/arena.h"
#include "engine/engine.h"

/* How a walk is asked for. */
typedef struct walk_request {
    const etlheap_query *query;
    etlheap_lifetimes_options options;
    u64 ends_max; /* blocks whose ends are found at once; 0: as usual */
} walk_request;

/*
 * Lines of kind, process, heap, address, size, times, how it ended, type, realloc,
 * thread, and the frames of the stack, whose modules are in lower case:
 *
 *     heap app.exe 42 heap 1f0000 at 100 size 24 7..900 free AIFI 0 thread 7: app.exe+0x10
 *
 * The walk must succeed. To be freed.
 */
char *walk_check_text(const etlheap_result *result, const walk_request *request);

/* The same, and then the table as it is after the last row. */
char *walk_check_document(const etlheap_result *result, const walk_request *request);

/* How a walk ends that may fail; *rows counts what was handed out before. */
etl_status walk_check_status(const etlheap_result *result, const walk_request *request, u64 *rows,
                             etl_error *err);

typedef ETLHEAP_VECTOR(etlheap_lifetime) walk_rows;

/* What is handed out; `stack`, a number by order of first use, is 0. To be freed. */
walk_rows walk_check_rows(const etlheap_result *result, const etlheap_query *query,
                          const etlheap_lifetimes_options *options);

/* The lines of a text in the order of their bytes; frees it. */
char *walk_check_sorted(char *text);

#endif
