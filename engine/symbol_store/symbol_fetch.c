/*
 * symbol_fetch.c - gets files from symbol servers over HTTP and HTTPS.
 *
 * In: downloads: names and keys with a URL each. Out: files in a store, and an outcome for each.
 *
 * Each wanted file is a job (symbol_jobs.c). The jobs of all servers run side by side on the
 * calling thread, as many as connections are allowed, in the order in which they were given.
 *
 *     due ──▶ running ──▶ next name, or a pause, or done
 *
 * Invariant: jobs never move in memory, because running transfers point to them; so room for all is
 * made first (make_jobs).
 */
#include <stdlib.h>

#include "engine/core/cancel.h"
#include "symbol_fetch_inside.h"

#define CONNECTIONS_MAX_DEFAULT    8u
#define CONNECT_TIMEOUT_MS_DEFAULT 10000u
#define STALL_TIMEOUT_S_DEFAULT    30u
#define ATTEMPTS_MAX_DEFAULT       4u
#define RETRY_DELAY_MS_DEFAULT     500u
#define PROGRESS_PERIOD_MS         100

static bool copy_options(symbol_fetch *fetch, const symbol_fetch_options *options);
static bool copy_text(symbol_fetch *fetch, const char **text);
static u32 or_default(u32 value, u32 fallback);
static bool make_jobs(fetch_run *run, symbol_download *downloads, u32 count);
static bool server_index(symbol_fetch *fetch, const char *url, u32 *out);
static etl_status run_jobs(fetch_run *run, etl_error *err);
static void start_due(fetch_run *run);
static void collect(fetch_run *run);
static int time_to_wait(const fetch_run *run);
static bool report(fetch_run *run, bool is_last);
static void cancel_all(fetch_run *run);

etl_status symbol_fetch_open(const symbol_fetch_options *options, symbol_fetch **out,
                             etl_error *err)
{
    *out = NULL;
    symbol_fetch *const fetch = calloc(1, sizeof *fetch);
    if (!fetch || !copy_options(fetch, options)) {
        symbol_fetch_close(fetch);
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to fetch symbols");
    }
    if (!symbol_curl_load(&fetch->curl)) {
        symbol_fetch_close(fetch);
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "libcurl is not installed, or is too old");
    }
    fetch->is_global = fetch->curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    fetch->multi = fetch->is_global ? fetch->curl.multi_init() : NULL;
    if (!fetch->multi) {
        symbol_fetch_close(fetch);
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "libcurl does not start");
    }
    *out = fetch;
    return ETL_OK;
}

static bool copy_options(symbol_fetch *fetch, const symbol_fetch_options *options)
{
    symbol_fetch_options *const own = &fetch->options;
    *own = options ? *options : (symbol_fetch_options){ 0 };
    own->connections_max = or_default(own->connections_max, CONNECTIONS_MAX_DEFAULT);
    own->connect_timeout_ms = or_default(own->connect_timeout_ms, CONNECT_TIMEOUT_MS_DEFAULT);
    own->stall_timeout_s = or_default(own->stall_timeout_s, STALL_TIMEOUT_S_DEFAULT);
    own->attempts_max = or_default(own->attempts_max, ATTEMPTS_MAX_DEFAULT);
    own->retry_delay_ms = or_default(own->retry_delay_ms, RETRY_DELAY_MS_DEFAULT);
    if (own->file_bytes_max == 0)
        own->file_bytes_max = SYMBOL_FILE_BYTES_MAX_DEFAULT;
    if (!own->user_agent)
        own->user_agent = "etlheap/" ETLHEAP_VERSION;
    return copy_text(fetch, &own->user_agent) &&
           (!own->authority_file || copy_text(fetch, &own->authority_file));
}

static u32 or_default(u32 value, u32 fallback)
{
    return value ? value : fallback;
}

/* Replaces *text by a copy that lives as long as the handle. */
static bool copy_text(symbol_fetch *fetch, const char **text)
{
    etl_bytes copy = { NULL, 0 };
    const etl_bytes bytes = { (const u8 *)*text, strlen(*text) + 1 };
    if (!etlheap_arena_copy(&fetch->texts, bytes, &copy))
        return false;
    *text = (const char *)copy.at;
    return true;
}

void symbol_fetch_close(symbol_fetch *fetch)
{
    if (!fetch)
        return;
    if (fetch->multi)
        (void)fetch->curl.multi_cleanup(fetch->multi);
    if (fetch->is_global)
        fetch->curl.global_cleanup();
    ETLHEAP_VECTOR_FREE(&fetch->servers);
    ETLHEAP_VECTOR_FREE(&fetch->missing);
    etlheap_arena_free(&fetch->texts);
    free(fetch);
}

etl_status symbol_fetch_run(symbol_fetch *fetch, symbol_download *downloads, u32 count,
                            etl_diag_counts *diag, etl_error *err)
{
    fetch_run run = { .fetch = fetch, .diag = diag, .progress = { .files_total = count } };
    etl_status status = ETL_OK;
    if (make_jobs(&run, downloads, count))
        status = run_jobs(&run, err);
    else
        run.is_out_of_memory = true;
    if (run.is_out_of_memory)
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to fetch symbols");
    cancel_all(&run);
    ETLHEAP_VECTOR_FREE(&run.jobs);
    return status;
}

/* Makes a job for each download, and room for one more for each server, so that jobs never move. */
static bool make_jobs(fetch_run *run, symbol_download *downloads, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        fetch_job job = { .download = &downloads[i] };
        downloads[i].state = SYMBOL_FETCH_FAILED;
        downloads[i].pointer[0] = 0;
        downloads[i].message[0] = 0;
        if (!server_index(run->fetch, downloads[i].server, &job.server) ||
            !ETLHEAP_PUSH(&run->jobs, job))
            return false;
        run->jobs.at[i].is_two_tier = run->fetch->servers.at[job.server].layout == LAYOUT_TWO_TIER;
    }
    return ETLHEAP_RESERVE(&run->jobs, run->fetch->servers.count);
}

static bool server_index(symbol_fetch *fetch, const char *url, u32 *out)
{
    for (size_t i = 0; i < fetch->servers.count; i++) {
        if (strcmp(fetch->servers.at[i].url, url) == 0) {
            *out = (u32)i;
            return true;
        }
    }
    *out = (u32)fetch->servers.count;
    return copy_text(fetch, &url) && ETLHEAP_PUSH(&fetch->servers, (fetch_server){ .url = url });
}

static etl_status run_jobs(fetch_run *run, etl_error *err)
{
    const symbol_progress *const progress = &run->progress;
    for (;;) {
        int active = 0;
        start_due(run);
        if (run->fetch->curl.multi_perform(run->fetch->multi, &active) != CURLM_OK)
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to fetch symbols");
        collect(run);
        const bool is_last = progress->files_done == progress->files_total || run->is_out_of_memory;
        if (!report(run, is_last) && !is_last)
            return cancelled(err);
        if (is_last)
            return ETL_OK;
        (void)run->fetch->curl.multi_poll(run->fetch->multi, NULL, 0, time_to_wait(run), NULL);
    }
}

static void start_due(fetch_run *run)
{
    const i64 now_ms = symbol_clock_ms();
    for (size_t i = 0; i < run->jobs.count; i++) {
        fetch_job *const job = &run->jobs.at[i];
        /* A file known to be missing takes a job to its next stage at once. */
        while (job->state == JOB_DUE && job->due_ms <= now_ms &&
               run->running < run->fetch->options.connections_max)
            symbol_job_start(run, job);
    }
}

static void collect(fetch_run *run)
{
    const symbol_curl *const curl = &run->fetch->curl;
    int left = 0;
    for (;;) {
        const CURLMsg *const message = curl->multi_info_read(run->fetch->multi, &left);
        if (!message)
            return;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *const easy = message->easy_handle;
        const CURLcode result = message->data.result;
        fetch_job *job = NULL;
        (void)curl->easy_getinfo(easy, CURLINFO_PRIVATE, &job);
        (void)curl->multi_remove_handle(run->fetch->multi, easy);
        symbol_job_finish(run, job, symbol_transfer_finish(job->transfer, result));
    }
}

/* The time until a job is due or progress must be reported; traffic ends the wait anyway. */
static int time_to_wait(const fetch_run *run)
{
    const i64 now_ms = symbol_clock_ms();
    i64 wait_ms = PROGRESS_PERIOD_MS;
    if (run->running == run->fetch->options.connections_max)
        return (int)wait_ms;
    for (size_t i = 0; i < run->jobs.count; i++) {
        const fetch_job *const job = &run->jobs.at[i];
        if (job->state == JOB_DUE && job->due_ms - now_ms < wait_ms)
            wait_ms = job->due_ms > now_ms ? job->due_ms - now_ms : 0;
    }
    return (int)wait_ms;
}

/* False when the caller wants to stop. */
static bool report(fetch_run *run, bool is_last)
{
    const symbol_fetch_options *const options = &run->fetch->options;
    const i64 now_ms = symbol_clock_ms();
    if (!options->progress || (!is_last && now_ms - run->reported_ms < PROGRESS_PERIOD_MS))
        return true;
    run->reported_ms = now_ms;
    symbol_progress progress = run->progress;
    progress.current = "";
    for (size_t i = run->jobs.count; i > 0; i--) {
        const fetch_job *const job = &run->jobs.at[i - 1];
        if (!job->transfer)
            continue;
        progress.bytes_done += job->transfer->bytes_received;
        progress.bytes_expected += job->transfer->bytes_expected;
        if (job->download)
            progress.current = job->download->name;
    }
    return options->progress(options->progress_user, &progress);
}

/* Cancels running transfers; their partial files stay. */
static void cancel_all(fetch_run *run)
{
    for (size_t i = 0; i < run->jobs.count; i++) {
        fetch_job *const job = &run->jobs.at[i];
        if (job->stage == STAGE_LAYOUT && job->state != JOB_ENDED)
            run->fetch->servers.at[job->server].is_asked = false;
        if (!job->transfer)
            continue;
        (void)run->fetch->curl.multi_remove_handle(run->fetch->multi, job->transfer->easy);
        symbol_transfer_cancel(job->transfer);
        free(job->transfer);
        job->transfer = NULL;
    }
}
