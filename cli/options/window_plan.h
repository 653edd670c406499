/*
 * window_plan.h - which windows `etlheap windows` is asked for.
 */
#ifndef CLI_WINDOW_PLAN_H
#define CLI_WINDOW_PLAN_H

#include "clock.h"
#include "options.h"

/* What is asked of the engine, and what it borrows. Start from {0}. */
typedef struct cli_window_plan {
    etlheap_windows_options windows;
    i64 *cuts;
    etlheap_time_range *ranges;
    bool is_open; /* neither --every nor --at nor --window: see cli_window_plan_close */
} cli_window_plan;

/* The windows of the options, to be freed in every case. Errors: ARGUMENT (an empty
 * window, what cli_clock_time refuses), MEMORY. */
etl_status cli_window_plan_make(const cli_options *options, const cli_clock *clock,
                                cli_window_plan *out, etl_error *err);
void cli_window_plan_free(cli_window_plan *plan);

/* Settles on equal windows for an open plan, now that the span is known: about
 * twenty, or two hundred in which a growth is to be found. */
void cli_window_plan_settle(const cli_options *options, i64 from_ns, i64 to_ns,
                            cli_window_plan *plan);

/* The shortest of 1, 2, 5, 10, ... ns that cuts the span into at most 5/4 `count`
 * pieces, so at least half of `count`. 0: the span is empty. */
i64 cli_window_plan_length(i64 span_ns, u32 count);

#endif
