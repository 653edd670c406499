/*
 * bench_log.c - `etlheap` whose reports come from an event log. Throwaway: it answers one
 * question, which docs/architecture.md states with its figures, and goes when the log comes.
 *
 *     bench_log report TRACE -jN                     sums: folded as parts close
 *     bench_log report TRACE -jN --sort peak_size    sums and peaks: folded when the run ends
 *     bench_log report STORE.ehs -jN --sort peak_size
 *
 * It is the whole program, linked with other versions of some functions (`--wrap` of the
 * linker), so a run differs from that of `etlheap` in the log alone. What it prints on standard
 * output must be the same, byte for byte; stderr gets a line of figures. Windows and blocks of
 * 2 GiB are refused.
 *
 *     journal chunk closed ─▶ parts, by all threads ─┬─▶ sums per origin          (parts go)
 *                                                    └─▶ curves when the run ends (parts stay)
 *     .ehs segments ─▶ `back` resolved in two steps, by all threads ─▶ parts ─▶ curves
 */
#include "event_log.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "log_resolve.h"

/* The run's log; there is one run. */
static event_log the_log;
static log_archive the_archive;

void journal_open_real(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                       bool exit_frees) __asm__("__real_journal_open");
void journal_open_here(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                       bool exit_frees) __asm__("__wrap_journal_open");
void journal_reduce_here(event_journal *journal) __asm__("__wrap_journal_reduce");
etl_status journal_end_slice_real(event_journal *journal,
                                  i64 end_ticks) __asm__("__real_journal_end_slice");
etl_status journal_end_slice_here(event_journal *journal,
                                  i64 end_ticks) __asm__("__wrap_journal_end_slice");
etl_status journal_close_real(event_journal *journal) __asm__("__real_journal_close");
etl_status journal_close_here(event_journal *journal) __asm__("__wrap_journal_close");
etlheap_crew *crew_open_real(u32 jobs) __asm__("__real_etlheap_crew_open");
etlheap_crew *crew_open_here(u32 jobs) __asm__("__wrap_etlheap_crew_open");
etl_status archive_walk_open_here(archive_walk *out, const ehs_archive *archive,
                                  const aggregator *a,
                                  etl_error *err) __asm__("__wrap_archive_walk_open");
etl_status replay_walk_run_here(const replay_walk *walk, const replay_source *source,
                                live_group **out) __asm__("__wrap_replay_walk_run");

etlheap_crew *crew_open_here(u32 jobs)
{
    the_log.jobs = jobs;
    the_log.crew = crew_open_real(jobs);
    return the_log.crew;
}

/* Chunks must stay in memory until they are parts. */
void journal_open_here(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                       bool exit_frees)
{
    journal_open_real(journal, base, from_ticks, to_ticks, exit_frees);
    journal->resident_bytes_max = UINT64_MAX;
    the_log.keeps_parts = true;
}

/* Sums will do: they come from the log too, so the journal is kept. */
void journal_reduce_here(event_journal *journal)
{
    (void)journal;
    the_log.keeps_parts = false;
}

etl_status journal_end_slice_here(event_journal *journal, i64 end_ticks)
{
    const etl_status status = journal_end_slice_real(journal, end_ticks);
    if (status == ETL_OK)
        event_log_take(&the_log, journal);
    return status;
}

etl_status journal_close_here(event_journal *journal)
{
    const etl_status status = journal_close_real(journal);
    if (status == ETL_OK)
        event_log_take(&the_log, journal);
    the_log.survivors = journal->survivor_bits;
    return status;
}

/* The first reading of a store is not needed: ends are resolved as they are decoded. */
etl_status archive_walk_open_here(archive_walk *out, const ehs_archive *archive,
                                  const aggregator *a, etl_error *err)
{
    (void)err;
    if (a->query->from_ns != INT64_MIN || a->query->to_ns != INT64_MAX)
        log_give_up("windows are not part of the spike");
    *out = (archive_walk){ .archive = archive };
    the_archive = (log_archive){ .archive = archive, .exit_frees = a->query->at_exit_freed };
    return ETL_OK;
}

static void print_figures(double resolve_seconds, double fold_seconds)
{
    const double rows = the_log.rows == 0 ? 1 : (double)the_log.rows;
    fprintf(stderr,
            "bench_log: %llu rows, %.3f bytes a row, write %.2f ns a row, fold %.2f ns a row, "
            "resolve %.3f s (one thread alone %.3f s), fold %.3f s\n",
            (unsigned long long)the_log.rows, (double)the_log.bytes / rows,
            (double)the_log.write_ns / rows, (double)the_log.fold_ns / rows, resolve_seconds,
            the_archive.serial_seconds, fold_seconds);
}

etl_status replay_walk_run_here(const replay_walk *walk, const replay_source *source,
                                live_group **out)
{
    (void)source;
    if (walk->windows != NULL)
        log_give_up("windows are not part of the spike");
    const double begin = bench_now_seconds();
    if (the_archive.archive != NULL) {
        the_log.jobs = walk->jobs;
        the_log.keeps_parts = true;
        the_log.is_store = true;
        the_archive.survivors = log_resolve(&the_archive, &the_log);
        the_log.survivors = the_archive.survivors;
    }
    const double resolved = bench_now_seconds();
    const etl_status status = the_log.keeps_parts ? event_log_fold_curves(&the_log, walk, out)
                                                  : event_log_join_sums(&the_log, walk, out);
    print_figures(resolved - begin, bench_now_seconds() - resolved);
    event_log_free(&the_log);
    free(the_archive.survivors);
    return status;
}
