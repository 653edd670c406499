/*
 * progress.c - a bar on stderr for runs that take long.
 *
 *     reading [##########--------------]  43 %  310 MiB/s, 5 s left
 */
#include "progress.h"

#include "cli/system/bus_guard.h"
#include "cli/system/host.h"
#include "cli/system/terminal.h"

#include <inttypes.h>
#include <stdio.h>

#include "parser/system/files.h"

#define FIRST_SHOWN_MS 1000 /* a shorter run needs no bar */
#define SHOWN_EVERY_MS 100
#define LINES_EVERY_MS 1000 /* when lines cannot be overwritten */
#define BAR_COLUMNS    24
#define LINE_SIZE      160

static bool goes_on(const cli_progress *progress);
static i64 elapsed_ms(const struct timespec *from, const struct timespec *to);
static void write_bar(cli_progress *progress, u64 done, u64 total, i64 run_ms);
static void write_line(const cli_progress *progress, const char *line, size_t size);
static void write_stderr(const char *text, size_t size);

cli_progress cli_progress_begin(const cli_options *options, const char *label,
                                const cli_guard *guard)
{
    cli_progress progress = { .label = label, .guard = guard };
    progress.served = options->served;
    progress.wanted = !options->served && cli_wants_progress(options);
    progress.trips = cli_bus_guard_trips();
    progress.at_once = options->progress == CLI_PROGRESS_ALWAYS;
    progress.terminal = cli_host_is_terminal(ETL_STDERR);
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    progress.last = progress.start;
    return progress;
}

bool cli_progress_update(void *user, u64 done_bytes, u64 total_bytes)
{
    cli_progress *const progress = user;
    struct timespec now;
    cli_served_note(progress->served, done_bytes, total_bytes);
    if (progress->replaced)
        return goes_on(progress);
    if (progress->before && total_bytes > 0) {
        cli_progress_end(progress->before);
        progress->before->replaced = true;
        progress->before = NULL;
    }
    if (progress->wanted && total_bytes > 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
        const i64 run_ms = elapsed_ms(&progress->start, &now);
        const i64 pause_ms = progress->terminal ? SHOWN_EVERY_MS : LINES_EVERY_MS;
        const bool late = progress->at_once || run_ms >= FIRST_SHOWN_MS;
        const bool due = !progress->shown || elapsed_ms(&progress->last, &now) >= pause_ms;
        if (late && due) {
            write_bar(progress, done_bytes, total_bytes, run_ms);
            progress->last = now;
        }
    }
    return goes_on(progress);
}

static bool goes_on(const cli_progress *progress)
{
    return !cli_guard_interrupted(progress->guard) && cli_bus_guard_trips() == progress->trips &&
           !(progress->served && cli_is_cancelled(progress->served->cancel));
}

void cli_progress_end(cli_progress *progress)
{
    static const char erase[] = "\r\x1b[K";
    if (progress->shown && progress->terminal)
        write_stderr(erase, sizeof erase - 1);
    progress->shown = false;
}

static i64 elapsed_ms(const struct timespec *from, const struct timespec *to)
{
    return (i64)(to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

/* Rate and time left are of the whole run so far: steadier than the last moment,
 * and right when the work is even. */
static void write_bar(cli_progress *progress, u64 done, u64 total, i64 run_ms)
{
    char bar[BAR_COLUMNS + 1];
    char line[LINE_SIZE];
    const double share = done < total ? (double)done / (double)total : 1;
    const u32 filled = (u32)(share * BAR_COLUMNS);
    for (u32 i = 0; i < BAR_COLUMNS; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[BAR_COLUMNS] = '\0';
    const double seconds = run_ms > 0 ? (double)run_ms / 1000 : 0.001;
    const u64 rate_mib = (u64)((double)done / seconds / (double)ETL_MIB);
    const u64 left = share > 0 ? (u64)(seconds * (1 - share) / share + 0.5) : 0;
    const int size =
        snprintf(line, sizeof line, "%s [%s] %3u %%  %" PRIu64 " MiB/s, %" PRIu64 " s left",
                 progress->label, bar, (unsigned)(share * 100), rate_mib, left);
    write_line(progress, line, size > 0 ? etl_min_u64((u64)size, sizeof line - 1) : 0);
    progress->shown = true;
}

/* On a terminal over the line before, and no longer than fits on one. */
static void write_line(const cli_progress *progress, const char *line, size_t size)
{
    static const char over[] = "\r";
    static const char rest[] = "\x1b[K";
    if (!progress->terminal) {
        write_stderr(line, size);
        write_stderr("\n", 1);
        return;
    }
    const unsigned columns = cli_host_columns(ETL_STDERR);
    write_stderr(over, sizeof over - 1);
    write_stderr(line, columns > 1 ? etl_min_u64(size, columns - 1) : size);
    write_stderr(rest, sizeof rest - 1);
}

/* A bar that cannot be written is no reason to stop. */
static void write_stderr(const char *text, size_t size)
{
    (void)etl_file_write(ETL_STDERR, text, size);
}
