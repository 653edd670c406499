/*
 * archive_places.c - finds where times are among the events of a store.
 *
 * In: times in any order. Out: the first event at or after each.
 *
 *     sorted times   | t0 t1 t2 t3 | t4 t5 t6 t7 |      one run for each thread
 *     segments       |  0  |  1  |  2  |  3  |  4       read at most once by each run
 *
 * Times that follow each other are near each other, so a run keeps the batch of the time before.
 * Invariant: what is found does not depend on how times are divided into runs.
 */
#include "archive_places.h"

#include <stdlib.h>

#include "engine/core/timebase.h"
#include "engine/core/workers.h"

/* One thread's times. */
typedef struct place_run {
    const ehs_archive *archive;
    const u32 *cancel;
    const place_wanted *first, *end;
    log_reader reader;
    const log_batch *batch; /* NULL: none yet */
    task_end outcome;
} place_run;

static void find_run(void *context, u32 number);
static etl_status find_place(place_run *run, i64 ticks, archive_place *out);

static int by_ticks(const void *a, const void *b)
{
    const place_wanted *const x = a, *const y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

etl_status archive_find_places(const ehs_archive *archive, place_list *places, u32 threads,
                               const u32 *cancel, etl_error *err)
{
    const u32 count = (u32)etl_min_u64(threads, places->count);
    place_run *const runs = calloc((size_t)count + 1, sizeof *runs);
    if (runs == NULL)
        return etl_no_memory(err);
    if (places->count > 0)
        qsort(places->at, places->count, sizeof *places->at, by_ticks);
    for (u32 i = 0; i < count; i++)
        runs[i] = (place_run){ .archive = archive,
                               .cancel = cancel,
                               .first = places->at + places->count * i / count,
                               .end = places->at + places->count * (i + 1) / count };
    etlheap_workers_run(threads, count, find_run, runs);
    const etl_status status = task_ends_first(&runs->outcome, sizeof *runs, count, err);
    free(runs);
    return status;
}

static void find_run(void *context, u32 number)
{
    place_run *const run = (place_run *)context + number;
    run->outcome.status =
        archive_read(run->archive, EHS_WANT_TICKS, run->cancel, &run->reader, &run->outcome.err);
    for (const place_wanted *one = run->first; run->outcome.status == ETL_OK && one < run->end;
         one++)
        run->outcome.status = find_place(run, one->ticks, one->out);
    log_reader_close(&run->reader);
}

/* Finds the batch of segment `number` with the first event at or after a time. */
static etl_status find_batch(place_run *run, u32 number, i64 ticks)
{
    const bool is_near = run->batch != NULL && run->batch->segment == number &&
                         (run->batch->first == 0 || run->batch->ticks[0] < ticks);
    etl_status status = ETL_OK;
    if (!is_near) {
        log_reader_seek(&run->reader, number, number + 1);
        status = log_next(&run->reader, &run->batch, &run->outcome.err);
    }
    while (status == ETL_OK && run->batch != NULL &&
           run->batch->ticks[run->batch->count - 1] < ticks)
        status = log_next(&run->reader, &run->batch, &run->outcome.err);
    if (status == ETL_OK && run->batch == NULL)
        status = etl_fail_with(&run->outcome.err, ETL_ERR_CORRUPT, 0,
                               "segment %u ends before the time in the index", number);
    return status;
}

/* Finds the place of a time. A time after a segment's last event is the start of the next. */
static etl_status find_place(place_run *run, i64 ticks, archive_place *out)
{
    const ehs_archive *const archive = run->archive;
    const ehs_segment_info *const segments = archive->segments.at;
    const u32 low = archive_segment_at(archive, ticks);
    *out = (archive_place){ .segment = low };
    if (low == archive->segments.count) {
        const ehs_segment_info *const last = low == 0 ? NULL : &segments[low - 1];
        out->allocs = last == NULL ? 0 : last->first_ordinal + last->allocs;
        return ETL_OK;
    }
    out->allocs = segments[low].first_ordinal;
    if (segments[low].first_ticks >= ticks)
        return ETL_OK;
    const etl_status status = find_batch(run, low, ticks);
    if (status != ETL_OK)
        return status;
    const log_batch *const batch = run->batch;
    const u32 at = ticks_at_or_after(batch->ticks, 0, batch->count, ticks);
    const u32 row = batch->row[at];
    out->event = batch->first + at;
    out->allocs += log_opens(batch, at) ? row : out->event - row;
    return ETL_OK;
}
