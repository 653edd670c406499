/* clock.h - converts times on the command line to times of a recording. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include "parse_values.h"

/* The advice for options that name a mark. */
#define CLI_NO_MARKS                                                                               \
    "the trace has no marks; record them with xperf -m NAME or wpr -marker NAME, or make marks "   \
    "of "                                                                                          \
    "events with --mark-event"

/* The clock and marks of a recording. */
typedef struct cli_clock {
    i64 start_filetime;
    const etlheap_marks *marks; /* NULL: no option names one */
    const etlheap_part *part;   /* what a store has, where no option says otherwise; NULL: all */
} cli_clock;

/* Converts a time to nanoseconds since time zero. `option` is for messages. ETL_ERR_ARGUMENT: the
 * time is too far from the trace to be expressed in nanoseconds, or the trace lacks the mark; then
 * the message lists the marks that it has. */
etl_status cli_clock_time(const cli_clock *clock, const cli_time *time, const char *option, i64 *ns,
                          etl_error *err);

/* True if both ends are known without a recording, and the first is after the second. */
bool cli_times_are_reversed(const cli_time *from, const cli_time *to);

#endif
