/*
 * many_store.c - `etlheap store --out-dir`: makes a store from each input.
 *
 * In: the list of inputs. Out: a store for each, a line on stderr as each finishes (unless
 * --progress is never), and the index with the details.
 *
 * Threads take inputs one by one; what a thread does with its input is in many_work.c. One failed
 * input does not stop the others. Invariant: if output cannot be written, no further input is
 * started, because with a full disk each would be decoded for nothing.
 */
#include "many_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "cli/outputs.h"
#include "parser/system/files.h"
#include "many_index.h"
#include "many_work.h"

#define LINE_SIZE 768

/* After this many inputs, or bytes of them, free memory is returned to the system.
 * Otherwise the allocator keeps what the largest input took, in fragments that are too
 * small for later ones. */
#define GIVE_BACK_INPUTS 16u
#define GIVE_BACK_BYTES  ((u64)16 << 20)

/* A batch: what its threads share, and the results so far. */
typedef struct many_run {
    many_batch batch;
    many_list list;
    many_index index;
    u32 finished;
    u32 verdicts[ETLHEAP_VERDICT_COUNT]; /* of those that were done or skipped */
    u32 skipped;
    u32 inputs_kept; /* since memory was given back */
    u64 bytes_kept;
} many_run;

static int check_settings(const cli_options *options);
static int check_outputs(const many_run *run);
static int run_batch(many_run *run);
static etlheap_batch_answer work(void *user, u32 index, u32 jobs, bool is_alone);
static void finished(void *user, u32 index);
static bool goes_on(void *user);
static void give_back(many_run *run, u64 bytes);
static void tell_item(const many_run *run, const many_item *item);
static int tell_all(many_run *run);

int cli_store_many(const cli_options *options)
{
    cli_guard guard = { .active = false };
    many_run run = { .batch = { .options = options, .list = &run.list, .guard = &guard } };
    int status = check_settings(options);
    if (status != CLI_EXIT_DONE)
        return status;
    run.index.file = -1;
    status = cli_many_list_open(options, &run.list);
    if (status == CLI_EXIT_DONE) {
        cli_guard_begin(&guard);
        status = run_batch(&run);
    }
    cli_many_index_close(&run.index);
    cli_many_list_free(&run.list);
    cli_guard_end(&guard);
    return status;
}

/* Checks --every once, before any input: an empty summary rejects windows that are too
 * short. */
static int check_settings(const cli_options *options)
{
    const etlheap_summary_options summary_options = { .size = sizeof summary_options,
                                                      .every_ns = options->every_ns };
    etlheap_summary *summary = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_summary_open(&summary_options, &summary, &err) != ETL_OK)
        cli_complain_error(NULL, &err);
    etlheap_summary_free(summary);
    return cli_exit_of(err.status);
}

static int run_batch(many_run *run)
{
    const many_list *const list = &run->list;
    etl_error err = { .status = ETL_OK };
    char *const inside = cli_many_path(list->folder, "");
    u64 *const sizes = calloc((size_t)list->count + 1, sizeof *sizes);
    etl_status status = inside && sizes ? ETL_OK : ETL_ERR_MEMORY;
    int exit_status = cli_exit_of(status);
    if (status == ETL_OK) {
        cli_output_make_folder(inside);
        exit_status = cli_many_index_open(&run->list, &run->index);
    }
    if (exit_status == CLI_EXIT_DONE)
        exit_status = check_outputs(run);
    if (exit_status == CLI_EXIT_DONE) {
        const etlheap_batch_options options = { .size = sizeof options,
                                                .jobs = run->batch.options->jobs,
                                                .memory_bytes_max =
                                                    run->batch.options->memory_bytes,
                                                .count = list->count,
                                                .input_bytes = sizes,
                                                .work = work,
                                                .finished = finished,
                                                .goes_on = goes_on,
                                                .user = run };
        for (u32 i = 0; i < list->count; i++)
            sizes[i] = list->items[i].bytes;
        run->batch.boot = cli_boot_id();
        cli_many_remove_leftovers(list);
        status = etlheap_batch_run(&options, &err);
        exit_status = status == ETL_OK ? tell_all(run) : cli_exit_of(status);
    }
    if (status == ETL_ERR_MEMORY)
        cli_complain(NULL, "out of memory");
    free(sizes);
    free(inside);
    return exit_status;
}

/* Refuses a summary that would replace a full store, and a part that would replace a whole one. The
 * store may be all that is left of its trace, and it answers more. No other batch writes here
 * meanwhile, because the index is locked. */
static int check_outputs(const many_run *run)
{
    const many_list *const list = &run->list;
    const bool is_summary = run->batch.options->summary;
    for (u32 i = 0; (is_summary || cli_store_is_part(run->batch.options)) && i < list->count; i++) {
        u8 bytes[18];
        char *const path = cli_many_path(list->folder, list->items[i].output);
        const size_t size = path ? etl_file_start(path, bytes, sizeof bytes) : 0;
        const etl_bytes file = { bytes, size };
        const bool has_more =
            is_summary ? etlheap_is_full_store(file) : etlheap_is_whole_store(file);
        if (has_more)
            cli_complain(
                path, is_summary ? "a full store, which a summary would replace; use another "
                                   "--out-dir for summaries, or remove the store first"
                                 : "a store of a whole recording, which a part would replace; use "
                                   "another --out-dir for parts, or remove the store first");
        free(path);
        if (has_more)
            return CLI_EXIT_USAGE;
    }
    return CLI_EXIT_DONE;
}

static etlheap_batch_answer work(void *user, u32 index, u32 jobs, bool is_alone)
{
    many_run *const run = user;
    return cli_many_work(&run->batch, &run->list.items[index], jobs, is_alone);
}

static bool goes_on(void *user)
{
    const many_run *const run = user;
    return !run->batch.is_full && !cli_guard_interrupted(run->batch.guard);
}

static void finished(void *user, u32 index)
{
    many_run *const run = user;
    many_item *const item = &run->list.items[index];
    /* Stands in for an item whose own record could not be allocated. */
    static const many_work none = { .error = { .message = "out of memory" } };
    if (item->state == MANY_NOT_BEGUN)
        return;
    run->finished++;
    run->verdicts[item->verdict]++;
    run->skipped += item->state == MANY_SKIPPED;
    if (item->state == MANY_DONE) {
        etlheap_run line = item->work ? item->work->run : none.run;
        if (!item->work) {
            line.file = item->file;
            line.verdict = ETLHEAP_VERDICT_FAILED;
            line.error = none.error.message;
        }
        if (!cli_many_index_add(&run->index, &line))
            run->batch.is_full = true;
    }
    if (run->batch.options->progress != CLI_PROGRESS_NEVER)
        tell_item(run, item);
    cli_many_work_free(item);
    if (item->state == MANY_DONE)
        give_back(run, item->bytes);
}

static void give_back(many_run *run, u64 bytes)
{
    run->inputs_kept++;
    run->bytes_kept += bytes;
    if (run->inputs_kept < GIVE_BACK_INPUTS && run->bytes_kept < GIVE_BACK_BYTES)
        return;
    cli_give_back_memory();
    run->inputs_kept = 0;
    run->bytes_kept = 0;
}

/* "1.2 GiB" */
static void print_size(u64 bytes, char out[24])
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < ETL_COUNT_OF(units); unit++)
        value /= 1024;
    snprintf(out, 24, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/* Prints the first diagnostic that led to the verdict. */
static void print_reason(const etlheap_run *run, char *out, size_t size)
{
    const etl_severity wanted =
        run->verdict == ETLHEAP_VERDICT_DAMAGED ? ETL_SEVERITY_DAMAGE : ETL_SEVERITY_LOSS;
    out[0] = '\0';
    for (int i = 0; run->verdict != ETLHEAP_VERDICT_STORED && i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        const u64 count = run->diagnostics->of[i];
        if (info->severity != wanted || count == 0)
            continue;
        snprintf(out, size, ", but %s (%s %" PRIu64 ")",
                 wanted == ETL_SEVERITY_DAMAGE ? "damaged" : "lost events", info->name, count);
        return;
    }
}

/* app.etl: stored, 1.2 GiB to 96.1 MiB in 3.20 s (12 of 1000) */
static void tell_item(const many_run *run, const many_item *item)
{
    char line[LINE_SIZE], reason[120], from[24], to[24];
    const many_work *const done = item->work;
    if (item->state == MANY_SKIPPED) {
        snprintf(line, sizeof line, "unchanged since it was stored, skipped (%u of %u)",
                 run->finished, run->list.count);
    } else if (item->verdict == ETLHEAP_VERDICT_FAILED) {
        snprintf(line, sizeof line, "failed: %s (%u of %u)",
                 done ? done->error.message : "out of memory", run->finished, run->list.count);
    } else {
        print_size(done->run.input_bytes, from);
        print_size(done->run.output_bytes, to);
        print_reason(&done->run, reason, sizeof reason);
        snprintf(line, sizeof line, "stored%s, %s to %s in %.2f s (%u of %u)", reason, from, to,
                 (double)done->run.duration_ns / 1e9, run->finished, run->list.count);
    }
    cli_tell(item->file, line);
}

/* Adds ", N WHAT" to a line; nothing for 0. */
static void add_count(char *line, u32 count, const char *what)
{
    const size_t used = strlen(line);
    if (count > 0)
        snprintf(line + used, LINE_SIZE - used, ", %" PRIu32 " %s", count, what);
}

/* Prints the summary of the batch and puts the index in order. */
static int tell_all(many_run *run)
{
    static const char *const what[] = {
        [ETLHEAP_VERDICT_STORED] = "stored",
        [ETLHEAP_VERDICT_LOST_EVENTS] = "stored but lost events",
        [ETLHEAP_VERDICT_DAMAGED] = "stored but damaged",
        [ETLHEAP_VERDICT_FAILED] = "failed",
    };
    char line[LINE_SIZE];
    const bool strict = run->batch.options->strict;
    const u32 left = run->list.count - run->finished;
    snprintf(line, sizeof line, "%" PRIu32 " input%s", run->list.count,
             run->list.count == 1 ? "" : "s");
    for (u32 i = 0; i < ETLHEAP_VERDICT_COUNT; i++)
        add_count(line, run->verdicts[i], what[i]);
    add_count(line, run->skipped, "unchanged (included above)");
    add_count(line, left,
              run->batch.is_full
                  ? "left; see the error above or in the index, and run again to continue"
                  : "left; run again to continue");
    if (run->batch.options->progress != CLI_PROGRESS_NEVER || left > 0)
        cli_tell(NULL, line);
    const int status = cli_many_index_finish(&run->index);
    if (status != CLI_EXIT_DONE || run->verdicts[ETLHEAP_VERDICT_FAILED] > 0 || left > 0)
        return CLI_EXIT_INPUT;
    const u32 bad =
        run->verdicts[ETLHEAP_VERDICT_DAMAGED] + run->verdicts[ETLHEAP_VERDICT_LOST_EVENTS];
    if (!strict || bad == 0)
        return CLI_EXIT_DONE;
    snprintf(line, sizeof line,
             "--strict: %" PRIu32 " %s damaged or lost events; %s has the details", bad,
             bad == 1 ? "input is" : "inputs are", run->index.path);
    cli_complain(NULL, line);
    return CLI_EXIT_STRICT;
}
