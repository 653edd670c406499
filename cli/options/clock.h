/*
 * clock.h - from times on the command line to times of a recording.
 */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include "parse_values.h"

/* For whoever names a mark. */
#define CLI_NO_MARKS                                                                               \
    "the trace has no marks; record them with xperf -m NAME or wpr -marker NAME, or make marks "   \
    "of "                                                                                          \
    "events with --mark-event"

/* What instants and marks mean in a recording. */
typedef struct cli_clock {
    i64 start_filetime;
    const etlheap_marks *marks; /* NULL: no option names one */
} cli_clock;

/*
 * Nanoseconds since time zero of a time that is given. `option` is for messages. ETL_ERR_ARGUMENT:
 * an instant is centuries away, or the mark does not exist; the message names the marks that do.
 */
etl_status cli_clock_time(const cli_clock *clock, const cli_time *time, const char *option, i64 *ns,
                          etl_error *err);

/* Are both ends known before a recording is, and is the first after the second? */
bool cli_times_are_reversed(const cli_time *from, const cli_time *to);

#endif
