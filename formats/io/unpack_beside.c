/*
 * unpack_beside.c - unpacks a member on a thread of its own while it is read.
 *
 * In: a source, which unpacks one piece at a time, and a file that has its size. Out: the file,
 * from its beginning to its end; a gauge of the bytes that are there.
 *
 *     thread   step, raise the gauge, step, raise the gauge ... end: UINT64_MAX
 *     reader   await(wanted) ──▶ gauge ──▶ the bytes, or the thread's error
 *
 * Invariants: the job, the source and the error are the thread's until the gauge says UINT64_MAX or
 * the helper is closed. The reader looks at no byte that the gauge has not passed. Once unpacking
 * has failed, nothing more is said to have arrived, so that no answer is made of half a trace.
 */
#include "unpack_beside.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "parser/system/files.h"

#define ALL     UINT64_MAX
#define WAIT_MS 100u

struct unpack_beside {
    etlheap_unpack_options options; /* for the job, and for progress */
    char *folder;                   /* the same */
    unpacking job;
    unpack_source source;
    u64 size_bytes;
    etl_error error;
    etlheap_gauge *gauge; /* bytes written; ALL: ended, well or not */
    etlheap_helper *helper;
};

static bool take_over(unpack_beside *beside, const unpacking *job, const unpack_source *source);
static bool go_on(void *context, u64 mark);
static void release(unpack_beside *beside);

bool unpack_beside_open(unpacking *job, const unpack_source *source)
{
    const unpacked_member *const member = &job->out->members[0];
    if (!etl_temporary_size(member->file, member->size_bytes))
        return false;
    unpack_beside *const beside = calloc(1, sizeof *beside);
    if (!beside)
        return false;
    beside->size_bytes = member->size_bytes;
    if (take_over(beside, job, source))
        beside->helper = etlheap_helper_open(go_on, beside);
    if (!beside->helper) {
        release(beside);
        return false;
    }
    job->out->beside = beside;
    job->buffer = NULL;
    return true;
}

static bool take_over(unpack_beside *beside, const unpacking *job, const unpack_source *source)
{
    beside->options = *job->options;
    beside->folder = strdup(job->folder);
    beside->gauge = etlheap_gauge_open();
    beside->source = *source;
    beside->job = *job;
    beside->job.options = &beside->options;
    beside->job.folder = beside->folder;
    return beside->folder && beside->gauge;
}

/* On the thread. */
static bool go_on(void *context, u64 mark)
{
    unpack_beside *const beside = context;
    bool more = false;
    (void)mark;
    const etl_status status =
        beside->source.step(&beside->job, beside->source.state, &more, &beside->error);
    beside->error.status = status;
    const bool goes_on = status == ETL_OK && more;
    etlheap_gauge_raise(beside->gauge, goes_on ? beside->job.done_bytes : ALL);
    return goes_on;
}

etl_status unpack_beside_await(unpack_beside *beside, u64 wanted, u64 *arrived, etl_error *err)
{
    const u64 until = wanted > beside->size_bytes ? ALL : wanted;
    unpacking seen = { .options = &beside->options, .total_bytes = beside->size_bytes };
    u64 reached;
    do {
        reached = etlheap_gauge_await(beside->gauge, until, WAIT_MS);
        seen.done_bytes = etl_min_u64(reached, beside->size_bytes);
        const etl_status status = unpack_tell(&seen, err);
        if (status != ETL_OK)
            return status;
    } while (reached < until);
    *arrived = seen.done_bytes;
    if (reached < ALL || beside->error.status == ETL_OK)
        return ETL_OK;
    if (err)
        *err = beside->error;
    return beside->error.status;
}

void unpack_beside_close(unpack_beside *beside)
{
    if (!beside)
        return;
    etlheap_helper_close(beside->helper);
    beside->source.close(beside->source.state);
    free(beside->job.buffer);
    release(beside);
}

static void release(unpack_beside *beside)
{
    etlheap_gauge_close(beside->gauge);
    free(beside->folder);
    free(beside);
}
