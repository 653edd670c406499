/*
 * many_work.c - one input of a batch: decides whether its store must be made, and makes it.
 *
 * In: an item with its paths, and what the index says about it from earlier batches. Out: a store,
 * if one is needed, and the item's line for the index.
 *
 *     stamps and settings as in the index?   ──yes──▶ skipped
 *         │ no, or stamps cannot be trusted
 *     contents as in the index?              ──yes──▶ skipped, with new stamps
 *         │ no
 *     store, then check that the input did not change meanwhile
 *
 * Invariant: an input is skipped only if it, its store, and all settings that its store depends on
 * are unchanged. Stamps alone decide that only if they are old enough to be trusted; otherwise
 * files are read.
 */
#include "many_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/outputs.h"
#include "cli/system/bus_guard.h"
#include "cli/memory_limit.h"
#include "parser/system/files.h"
#include "cli/options/advice.h"
#include "cli/options/store_settings.h"

/* The work on one input. */
typedef struct job {
    many_batch *batch;
    many_item *item;
    many_work *work;
    const cli_options *options; /* with the threads that it has */
    char *path;                 /* of the store */
    cli_stamp stamp;            /* of the input, before it was read */
    unsigned trips;             /* of the bus guard, before */
} job;

static etl_status run_job(job *j, etl_error *err);
static bool is_of_neighbours(const job *j, etl_status status);
static void complete_run(const job *j, etl_status status, const etl_error *err);
static void add_what_is_left(const job *j);
static bool is_same(const etlheap_run_id *a, const etlheap_run_id *b);
static etl_status find_settings(const job *j, etlheap_run_id *out, etl_error *err);
static bool is_unchanged(job *j);
static etl_status find_content(job *j, etl_error *err);
static etl_status store(job *j, etl_error *err);
static etl_status write_store(const job *j, etlheap_sink *sink, etl_error *err);
static etl_status check_input(const job *j, etl_error *err);
static etl_status describe(const job *j, etl_error *err);

static u64 now_ns(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

etlheap_batch_answer cli_many_work(many_batch *batch, many_item *item, u32 jobs, bool is_alone)
{
    cli_options options = *batch->options;
    options.jobs = jobs;
    /* Only a single input may show a bar: two bars would overwrite each other. */
    options.progress = is_alone ? options.progress : CLI_PROGRESS_NEVER;
    job j = { .batch = batch, .item = item, .options = &options, .trips = cli_bus_guard_trips() };
    etl_error err;
    etl_status status = etl_no_memory(&err);
    const u64 begin_ns = now_ns();
    item->state = MANY_DONE;
    item->verdict = ETLHEAP_VERDICT_FAILED;
    j.work = item->work = calloc(1, sizeof *j.work);
    j.path = cli_many_path(batch->list->folder, item->output);
    if (j.work && j.path)
        status = run_job(&j, &err);
    const bool is_stopped = status != ETL_OK && cli_guard_interrupted(batch->guard);
    const bool is_again = status != ETL_OK && !is_alone && is_of_neighbours(&j, status);
    if (is_stopped || is_again) {
        item->state = MANY_NOT_BEGUN;
        cli_many_work_free(item);
    } else if (j.work && item->state == MANY_DONE) {
        j.work->run.duration_ns = now_ns() - begin_ns;
        complete_run(&j, status, &err);
    }
    free(j.path);
    return is_again && !is_stopped ? ETLHEAP_BATCH_AGAIN : ETLHEAP_BATCH_DONE;
}

/* Without them it may be another thing. */
static bool is_of_neighbours(const job *j, etl_status status)
{
    return status == ETL_ERR_MEMORY || status == ETL_ERR_LIMIT || cli_bus_guard_trips() != j->trips;
}

static void complete_run(const job *j, etl_status status, const etl_error *err)
{
    etlheap_run *const run = &j->work->run;
    run->file = j->item->file;
    run->verdict = j->item->verdict;
    run->peak_memory_bytes = cli_peak_memory_bytes();
    if (status == ETL_OK) {
        run->output = j->item->output;
        return;
    }
    run->marks.output.given = false;
    run->marks.input_stamp.given = run->marks.output_stamp.given = false;
    cli_memory_sentence sentence;
    char text[CLI_ERROR_SIZE];
    cli_error_text(err, text);
    j->work->error = *err;
    snprintf(j->work->error.message, sizeof j->work->error.message, "%.*s",
             (int)sizeof j->work->error.message - 1, text);
    if (cli_memory_explain_one(err, j->item->file, &sentence))
        snprintf(j->work->error.message, sizeof j->work->error.message, "%s", sentence.text);
    run->error = j->work->error.message;
    add_what_is_left(j);
}

/* An earlier store is kept, because the input may come back. But the index must not call it this
 * input's store. */
static void add_what_is_left(const job *j)
{
    etl_error *const error = &j->work->error;
    const size_t used = strlen(error->message);
    if (j->item->before.given && !j->item->before.other_name && j->path &&
        etl_path_kind_of(j->path) == ETL_PATH_FILE)
        snprintf(error->message + used, sizeof error->message - used,
                 "; the store of an earlier run is still there");
}

void cli_many_work_free(many_item *item)
{
    many_work *const work = item->work;
    if (!work)
        return;
    cli_stored_free(&work->stored);
    etlheap_result_free(work->reread);
    free(work);
    item->work = NULL;
}

static etl_status run_job(job *j, etl_error *err)
{
    etlheap_run *const run = &j->work->run;
    const many_before *const before = &j->item->before;
    etl_status status = cli_stamp_take(j->item->file, &j->stamp, err);
    if (status != ETL_OK)
        return status;
    run->input_bytes = j->stamp.size_bytes;
    status = find_settings(j, &run->marks.settings, err);
    if (status != ETL_OK)
        return status;
    if (is_unchanged(j)) {
        j->item->state = MANY_SKIPPED;
        j->item->verdict = before->verdict;
        cli_many_work_free(j->item);
        return ETL_OK;
    }
    status = find_content(j, err);
    if (status == ETL_OK && before->other_name && !is_same(&run->marks.input, &before->marks.input))
        status = etl_fail_with(err, ETL_ERR_IO, 0,
                               "its store would replace the store of another file in %.120s; use "
                               "another --out-dir",
                               j->path);
    if (status == ETL_OK)
        status = store(j, err);
    if (status == ETL_OK)
        status = describe(j, err);
    return status;
}

static bool is_same(const etlheap_run_id *a, const etlheap_run_id *b)
{
    return a->given && b->given && a->id.high == b->id.high && a->id.low == b->id.low;
}

/* Hashes everything that the bytes of the store depend on, except the input's content. */
static etl_status find_settings(const job *j, etlheap_run_id *out, etl_error *err)
{
    etlheap_content_id options;
    const etl_status status = cli_store_settings(j->options, &options, err);
    if (status != ETL_OK)
        return status;
    const etlheap_content_id parts[] = {
        options,
        etlheap_content_of(&(u32){ etlheap_store_version() }, sizeof(u32)),
        etlheap_content_of(j->item->file, strlen(j->item->file)),
        etlheap_content_of(j->item->output, strlen(j->item->output)),
    };
    *out = (etlheap_run_id){ true, etlheap_content_of(parts, sizeof parts) };
    return ETL_OK;
}

/* --- is there anything to do? ------------------------------------------------------- */

static etlheap_run_id reliable_id(const cli_stamp *stamp)
{
    return (etlheap_run_id){ stamp->is_reliable, stamp->id };
}

/* The stamp of a file that we have just written. It cannot be trusted until the system has written
 * the file to disk. */
static etlheap_run_id output_id(const job *j, const cli_stamp *stamp)
{
    const etlheap_content_id ids[] = { j->batch->boot.id, stamp->id };
    return (etlheap_run_id){ j->batch->boot.given && stamp->is_kept,
                             etlheap_content_of(ids, sizeof ids) };
}

/* Is the store still the one that was written then? */
static bool is_output_unchanged(const job *j, etlheap_run_id *stamp_id)
{
    const many_before *const before = &j->item->before;
    cli_stamp stamp;
    etlheap_run_id content = { .given = true };
    u64 size_bytes;
    if (cli_stamp_take(j->path, &stamp, NULL) != ETL_OK || stamp.size_bytes != before->output_bytes)
        return false;
    *stamp_id = output_id(j, &stamp);
    if (is_same(stamp_id, &before->marks.output_stamp))
        return true;
    return etlheap_content_of_file(j->path, &content.id, &size_bytes, NULL) == ETL_OK &&
           is_same(&content, &before->marks.output);
}

static bool is_unchanged(job *j)
{
    const many_before *const before = &j->item->before;
    etlheap_run_marks *const marks = &j->work->run.marks;
    if (!before->given || before->other_name || before->verdict == ETLHEAP_VERDICT_FAILED ||
        before->input_bytes != j->stamp.size_bytes ||
        !is_same(&marks->settings, &before->marks.settings) ||
        !is_output_unchanged(j, &j->item->stamps.output_stamp))
        return false;
    j->item->stamps.input_stamp = reliable_id(&j->stamp);
    if (is_same(&j->item->stamps.input_stamp, &before->marks.input_stamp))
        return true;
    return find_content(j, NULL) == ETL_OK && is_same(&marks->input, &before->marks.input) &&
           check_input(j, NULL) == ETL_OK;
}

/* --- doing it ----------------------------------------------------------------------- */

/* Hashes the input's content, at most once: is_unchanged may have done it. */
static etl_status find_content(job *j, etl_error *err)
{
    etlheap_run *const run = &j->work->run;
    if (run->marks.input.given)
        return ETL_OK;
    const etl_status status =
        etlheap_content_of_file(j->item->file, &run->marks.input.id, &run->input_bytes, err);
    run->marks.input.given = status == ETL_OK;
    return status;
}

static etl_status store(job *j, etl_error *err)
{
    etlheap_sink *sink = NULL;
    cli_output_make_folder(j->path);
    etl_status status = etlheap_sink_open_file(j->path, &sink, err);
    if (status != ETL_OK)
        return status;
    status = write_store(j, sink, err);
    if (status == ETL_OK)
        status = check_input(j, err);
    if (status != ETL_OK && etlheap_sink_ok(sink)) {
        etlheap_sink_discard(sink);
        return status;
    }
    /* The sink knows best why a write failed. */
    status = etlheap_sink_close(sink, err);
    if (status != ETL_OK)
        j->batch->is_full = true;
    return status;
}

static etl_status write_store(const job *j, etlheap_sink *sink, etl_error *err)
{
    cli_inputs inputs = { .count = 0 };
    etl_status status = cli_inputs_add(j->options, j->item->file, j->batch->guard, &inputs, err);
    if (status == ETL_OK && inputs.store && !j->options->summary && !cli_store_is_part(j->options))
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "already a store; name the trace that it was made from");
    if (status == ETL_OK)
        status = cli_store_write(j->options, &inputs, j->batch->guard, sink, &j->work->stored, err);
    cli_inputs_close(&inputs);
    return status;
}

/* Fails if the input changed while it was read, because old and new content may be mixed. */
static etl_status check_input(const job *j, etl_error *err)
{
    cli_stamp stamp;
    if (cli_bus_guard_trips() != j->trips)
        return etl_fail_with(err, ETL_ERR_IO, 0, "%s", cli_bus_guard_message);
    const etl_status status = cli_stamp_take(j->item->file, &stamp, err);
    if (status == ETL_OK && !cli_stamp_is_same(&stamp, &j->stamp))
        return etl_fail_with(
            err, ETL_ERR_IO, 0,
            "changed while it was read; wait until nobody writes to it, and run again");
    return status;
}

/* Collects what the index says: the output written, and facts about the trace. */
static etl_status describe(const job *j, etl_error *err)
{
    many_work *const work = j->work;
    etlheap_run *const run = &work->run;
    cli_stamp stamp;
    const etlheap_options facts = { .size = sizeof facts, .inventory_only = true };
    etl_status status = cli_stamp_take(j->path, &stamp, err);
    if (status == ETL_OK)
        status = etlheap_content_of_file(j->path, &run->marks.output.id, &run->output_bytes, err);
    if (status == ETL_OK && work->stored.summary)
        status = etlheap_open_store(j->path, &facts, &work->reread, err);
    if (status != ETL_OK)
        return status;
    run->marks.output.given = true;
    run->marks.input_stamp = reliable_id(&j->stamp);
    run->marks.output_stamp = output_id(j, &stamp);
    run->diagnostics = cli_stored_diagnostics(&work->stored);
    run->trace = etlheap_result_trace(work->reread ? work->reread : work->stored.facts);
    j->item->verdict = etlheap_verdict_of(run->diagnostics);
    return ETL_OK;
}
