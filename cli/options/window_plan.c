/*
 * window_plan.c - works out which windows `etlheap windows` asks for.
 *
 * In: options: a length, a number, moments, ranges, marks. Out: etlheap_windows_options with arrays
 * that this plan owns. A length that nobody gave is decided after the trace was read.
 */
#include "window_plan.h"

#include <stdlib.h>

#define WINDOWS_SHOWN  20
#define WINDOWS_GROWTH 200 /* as etlheap_windows_find_growth likes them */

static etl_status add_cuts(const cli_options *options, const cli_clock *clock, cli_window_plan *out,
                           etl_error *err);
static etl_status add_ranges(const cli_options *options, const cli_clock *clock,
                             cli_window_plan *out, etl_error *err);

etl_status cli_window_plan_make(const cli_options *options, const cli_clock *clock,
                                cli_window_plan *out, etl_error *err)
{
    *out = (cli_window_plan){ .windows = { .size = sizeof out->windows } };
    etl_status status = add_cuts(options, clock, out, err);
    if (status == ETL_OK)
        status = add_ranges(options, clock, out, err);
    out->windows.every_ns = options->every_ns;
    out->windows.cuts = out->cuts;
    out->windows.ranges = out->ranges;
    out->is_open = cli_window_plan_is_open(options);
    return status;
}

bool cli_window_plan_is_open(const cli_options *options)
{
    return options->every_ns == 0 && options->moments.count == 0 && !options->at_marks &&
           options->windows.count == 0;
}

void cli_window_plan_free(cli_window_plan *plan)
{
    free(plan->cuts);
    free(plan->ranges);
    *plan = (cli_window_plan){ .is_open = false };
}

void cli_window_plan_decide(const cli_options *options, i64 from_ns, i64 to_ns,
                            cli_window_plan *plan)
{
    i64 span_ns;
    if (!plan->is_open || __builtin_sub_overflow(to_ns, from_ns, &span_ns))
        return;
    plan->windows.every_ns =
        cli_window_plan_length(span_ns, options->find_growth ? WINDOWS_GROWTH : WINDOWS_SHOWN);
}

i64 cli_window_plan_length(i64 span_ns, u32 count)
{
    static const i64 steps[] = { 1, 2, 5 };
    const i64 pieces_max = (i64)count + count / 4;
    i64 power = 1;
    u32 step = 0;
    if (span_ns <= 0)
        return 0;
    while ((span_ns - 1) / (power * steps[step]) >= pieces_max) {
        step = (step + 1) % (u32)ETL_COUNT_OF(steps);
        power *= step == 0 ? 10 : 1;
    }
    return power * steps[step];
}

static etl_status add_cuts(const cli_options *options, const cli_clock *clock, cli_window_plan *out,
                           etl_error *err)
{
    const u32 mark_count = options->at_marks ? clock->marks->count : 0;
    const u32 count = options->moments.count + mark_count;
    etl_status status = ETL_OK;
    if (count == 0)
        return ETL_OK;
    out->cuts = calloc(count, sizeof *out->cuts);
    if (!out->cuts)
        return etl_no_memory(err);
    for (u32 i = 0; i < mark_count; i++)
        out->cuts[options->moments.count + i] = clock->marks->at[i].time_ns;
    for (u32 i = 0; i < options->moments.count && status == ETL_OK; i++)
        status = cli_clock_time(clock, &options->moments.at[i], "--at", &out->cuts[i], err);
    out->windows.cut_count = count;
    return status;
}

static etl_status add_ranges(const cli_options *options, const cli_clock *clock,
                             cli_window_plan *out, etl_error *err)
{
    const u32 count = options->windows.count / 2;
    etl_status status = ETL_OK;
    if (count == 0)
        return ETL_OK;
    out->ranges = calloc(count, sizeof *out->ranges);
    if (!out->ranges)
        return etl_no_memory(err);
    for (u32 i = 0; i < count && status == ETL_OK; i++) {
        etlheap_time_range *const range = &out->ranges[i];
        const cli_time *const ends = &options->windows.at[i * 2];
        *range = (etlheap_time_range){ INT64_MIN, INT64_MAX };
        if (ends[0].given)
            status = cli_clock_time(clock, &ends[0], "--window", &range->from_ns, err);
        if (status == ETL_OK && ends[1].given)
            status = cli_clock_time(clock, &ends[1], "--window", &range->to_ns, err);
        if (status == ETL_OK && range->from_ns > range->to_ns)
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                   "--window: the window is empty; the earlier end comes first");
    }
    out->windows.range_count = count;
    return status;
}
