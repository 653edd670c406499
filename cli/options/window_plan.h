/* window_plan.h - the windows that `etlheap windows` asks for. */
#ifndef CLI_WINDOW_PLAN_H
#define CLI_WINDOW_PLAN_H

#include "clock.h"
#include "options.h"

/* The request to the engine, and what it borrows. Start from {0}. */
typedef struct cli_window_plan {
    etlheap_windows_options windows;
    i64 *cuts;
    etlheap_time_range *ranges;
    bool is_open; /* no --every, --at or --window: see cli_window_plan_decide */
} cli_window_plan;

/* True if the options leave the windows to the trace. */
bool cli_window_plan_is_open(const cli_options *options);

/* Makes the windows of the options. Free *out in any case. ETL_ERR_ARGUMENT (an empty window, or as
 * for cli_clock_time), ETL_ERR_MEMORY. */
etl_status cli_window_plan_make(const cli_options *options, const cli_clock *clock,
                                cli_window_plan *out, etl_error *err);
void cli_window_plan_free(cli_window_plan *plan);

/* Chooses equal windows for an open plan when the span is known: about twenty, or two hundred to
 * find a growth. */
void cli_window_plan_decide(const cli_options *options, i64 from_ns, i64 to_ns,
                            cli_window_plan *plan);

/* The shortest of 1, 2, 5, 10, ... ns that divides the span into at most 5/4 `count` windows, and
 * so at least half of `count`. 0: the span is empty. */
i64 cli_window_plan_length(i64 span_ns, u32 count);

#endif
