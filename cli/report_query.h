/* report_query.h - makes the engine's query from the options of a command. */
#ifndef CLI_REPORT_QUERY_H
#define CLI_REPORT_QUERY_H

#include "cli/options/clock.h"
#include "cli/options/cull_list.h"

/* A query and what it borrows. */
typedef struct cli_query {
    etlheap_query query;
    etlheap_measure_set columns_beside; /* that rows have only because of --columns */
    cli_patterns require_frames, exclude_frames, fold_modules, cull_frames;
    cli_patterns root;  /* of a tree; empty: none is given */
    etlheap_tags *tags; /* NULL: none */
    etlheap_pool_tags *pool_tags;
    etlheap_skipped_lines pool_tags_skipped;
    u32 *threads;
    const char **thread_names;
    i64 kind_to_ticks[ETLHEAP_KIND_CAPACITY]; /* for --at peak */
} cli_query;

/*
 * Makes the query. Free *out in any case. The clock has the start of the trace for calendar times.
 * ETL_ERR_ARGUMENT (an empty window, a bad pattern), ETL_ERR_IO (a cull list, stack or pool tags),
 * ETL_ERR_CORRUPT (stack tags), ETL_ERR_LIMIT (stack or pool tags), ETL_ERR_MEMORY.
 */
etl_status cli_query_build(const cli_options *options, const cli_clock *clock, cli_query *out,
                           etl_error *err);

void cli_query_free(cli_query *query);

/* Groups windows by kind and process, unless the options choose the keys. Types are not among them:
 * each window has its own. */
void cli_group_windows(const cli_options *options, etlheap_query *query);

/* Converts --from and --to, or --at, to nanoseconds; INT64_MIN and INT64_MAX if not given.
 * ETL_ERR_ARGUMENT: the window is empty. */
etl_status cli_window(const cli_options *options, const cli_clock *clock, i64 *from_ns, i64 *to_ns,
                      etl_error *err);

#endif
