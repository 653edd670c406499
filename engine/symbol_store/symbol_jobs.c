/*
 * symbol_jobs.c - decides what a fetch job does next.
 *
 * In: a job and the end of its last request. Out: the next request, a pause, or the end of the job.
 *
 * A job walks through the names that a server may have a file under, one request after the other:
 *
 *   FILE -> CABINET -> POINTER -> (LAYOUT) -> FILE -> CABINET -> POINTER
 *        one tier                  wait for        two tiers
 *                                index2.txt
 *
 * A request that is cut off is repeated after a pause that doubles, as often in a row as it makes
 * no progress. A server's index2.txt is a job of its own, for which the others wait. Invariant:
 * every job ends: attempts are bounded (ATTEMPTS_IN_ALL), and a server that keeps failing is given
 * up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "symbol_cab.h"
#include "symbol_fetch_inside.h"

#define RETRY_DELAY_MS_MAX 30000u
#define ATTEMPTS_IN_ALL    100u /* however much progress each makes */
#define FAILURES_IN_A_ROW  3u   /* of one server, before it is given up */

static_assert(sizeof(((symbol_download *)0)->message) == sizeof(((symbol_transfer *)0)->message) &&
                  sizeof(((symbol_download *)0)->pointer) == sizeof(((symbol_transfer *)0)->text),
              "texts are copied whole");

static bool describe(const fetch_run *run, const fetch_job *job, symbol_transfer *transfer);
static void take_end(fetch_run *run, fetch_job *job, symbol_transfer_end end);
static void note_answer(fetch_run *run, fetch_job *job, symbol_transfer_end end);
static void take_done(fetch_run *run, fetch_job *job);
static void take_layout(fetch_run *run, fetch_job *job, symbol_transfer_end end);
static void next_stage(fetch_run *run, fetch_job *job);
static void wait_for_layout(fetch_run *run, fetch_job *job);
static void retry(fetch_run *run, fetch_job *job, symbol_transfer_end end);
static void give_up(fetch_run *run, fetch_job *job, etl_diag reason);
static void end_job(fetch_run *run, fetch_job *job, symbol_fetch_state state);
static void end_counted(fetch_run *run, fetch_job *job, symbol_fetch_state state, etl_diag diag);
static bool is_known_missing(const symbol_fetch *fetch, const char *url, size_t *at);
static void remember_missing(symbol_fetch *fetch, const char *url);

/* What is left of the time for the job's file. False: nothing. */
static bool limit_time(const symbol_fetch *fetch, fetch_job *job, symbol_transfer *transfer)
{
    const u64 most_ms = fetch->options.file_ms_max;
    const i64 now_ms = symbol_clock_ms();
    if (job->begun_ms == 0)
        job->begun_ms = now_ms;
    const u64 spent_ms = (u64)(now_ms - job->begun_ms);
    transfer->ms_max = most_ms > spent_ms ? most_ms - spent_ms : 0;
    if (most_ms == 0 || transfer->ms_max > 0)
        return true;
    if (job->download)
        (void)snprintf(job->download->message, sizeof job->download->message,
                       "the download takes longer than the limit");
    return false;
}

void symbol_job_start(fetch_run *run, fetch_job *job)
{
    symbol_fetch *const fetch = run->fetch;
    if (fetch->servers.at[job->server].is_dead) {
        give_up(run, job, ETL_DIAG_symbol_server_unreachable);
        return;
    }
    symbol_transfer *const transfer = calloc(1, sizeof *transfer);
    if (!transfer) {
        run->is_out_of_memory = true;
        end_job(run, job, SYMBOL_FETCH_FAILED);
        return;
    }
    transfer->curl = &fetch->curl;
    if (!limit_time(fetch, job, transfer)) {
        free(transfer);
        give_up(run, job, ETL_DIAG_symbol_too_slow);
        return;
    }
    symbol_transfer_end end = SYMBOL_TRANSFER_MISSING;
    size_t at;
    if (describe(run, job, transfer) && !is_known_missing(fetch, transfer->url, &at))
        end = symbol_transfer_begin(transfer, &fetch->options);
    job->transfer = transfer;
    job->state = JOB_RUNNING;
    run->running++;
    if (end == SYMBOL_TRANSFER_OK &&
        (fetch->curl.easy_setopt(transfer->easy, CURLOPT_PRIVATE, job) != CURLE_OK ||
         fetch->curl.multi_add_handle(fetch->multi, transfer->easy) != CURLM_OK))
        end = SYMBOL_TRANSFER_NO_MEMORY;
    if (end == SYMBOL_TRANSFER_OK)
        return;
    symbol_transfer_cancel(transfer);
    symbol_job_finish(run, job, end);
}

/* The next request of a job; false if no address can be made for it. */
static bool describe(const fetch_run *run, const fetch_job *job, symbol_transfer *transfer)
{
    char compressed[SYMBOL_FILE_SIZE];
    const symbol_download *const download = job->download;
    symbol_url_parts parts = { .server = run->fetch->servers.at[job->server].url,
                               .is_two_tier = job->is_two_tier };
    transfer->bytes_max = run->fetch->options.file_bytes_max;
    transfer->download = download;
    transfer->accept = run->fetch->options.accept;
    transfer->accept_user = run->fetch->options.accept_user;
    switch (job->stage) {
    case STAGE_FILE:
        transfer->kind = SYMBOL_TRANSFER_FILE;
        parts.file = download->name;
        break;
    case STAGE_CABINET:
        transfer->kind = SYMBOL_TRANSFER_CABINET;
        if (!symbol_cab_name(compressed, sizeof compressed, download->name))
            return false;
        parts.file = compressed;
        break;
    case STAGE_POINTER:
        transfer->kind = SYMBOL_TRANSFER_TEXT;
        parts.file = "file.ptr";
        break;
    case STAGE_LAYOUT:
        transfer->kind = SYMBOL_TRANSFER_TEXT;
        parts.file = "index2.txt";
        break;
    }
    if (download) {
        parts.name = download->name;
        parts.key = download->key;
        if (!symbol_join(transfer->target, download->folder, parts.file))
            return false;
    }
    return symbol_url_build(transfer->url, &parts);
}

/* Applies the end of a request to its job, and frees the request. */
void symbol_job_finish(fetch_run *run, fetch_job *job, symbol_transfer_end end)
{
    symbol_transfer *const transfer = job->transfer;
    run->running--;
    run->progress.bytes_done += transfer->bytes_received;
    run->progress.bytes_expected += transfer->bytes_expected;
    take_end(run, job, end);
    job->transfer = NULL;
    free(transfer);
}

static void take_end(fetch_run *run, fetch_job *job, symbol_transfer_end end)
{
    note_answer(run, job, end);
    if (end == SYMBOL_TRANSFER_AGAIN || end == SYMBOL_TRANSFER_RESTART) {
        retry(run, job, end);
        return;
    }
    if (job->stage == STAGE_LAYOUT) {
        take_layout(run, job, end);
        return;
    }
    switch (end) {
    case SYMBOL_TRANSFER_OK:
        take_done(run, job);
        break;
    case SYMBOL_TRANSFER_DENIED:
        end_counted(run, job, SYMBOL_FETCH_DENIED, ETL_DIAG_symbol_server_denied);
        break;
    case SYMBOL_TRANSFER_UNSENT:
        end_counted(run, job, SYMBOL_FETCH_DENIED, ETL_DIAG_symbol_login_unsent);
        break;
    case SYMBOL_TRANSFER_REDIRECTED:
        end_counted(run, job, SYMBOL_FETCH_REJECTED, ETL_DIAG_symbol_redirect_refused);
        break;
    case SYMBOL_TRANSFER_REJECTED:
        end_counted(run, job, SYMBOL_FETCH_REJECTED, ETL_DIAG_symbol_answer_rejected);
        break;
    case SYMBOL_TRANSFER_REFUSED:
        end_job(run, job, SYMBOL_FETCH_REFUSED);
        break;
    case SYMBOL_TRANSFER_TOO_LARGE:
        end_counted(run, job, SYMBOL_FETCH_TOO_LARGE, ETL_DIAG_symbol_too_large);
        break;
    case SYMBOL_TRANSFER_UNWRITABLE:
        end_counted(run, job, SYMBOL_FETCH_UNWRITABLE, ETL_DIAG_symbol_cache_unwritable);
        break;
    case SYMBOL_TRANSFER_NO_MEMORY:
        run->is_out_of_memory = true;
        end_job(run, job, SYMBOL_FETCH_FAILED);
        break;
    case SYMBOL_TRANSFER_HOPELESS:
        give_up(run, job, ETL_DIAG_symbol_server_unreachable);
        break;
    case SYMBOL_TRANSFER_UNTRUSTED:
        give_up(run, job, ETL_DIAG_symbol_server_untrusted);
        break;
    case SYMBOL_TRANSFER_PROXY_DENIED:
        give_up(run, job, ETL_DIAG_symbol_proxy_denied);
        break;
    default: /* missing, or forbidden */
        next_stage(run, job);
        break;
    }
}

/* Notes what the end of a request says about its server, and reports it. */
static void note_answer(fetch_run *run, fetch_job *job, symbol_transfer_end end)
{
    fetch_server *const server = &run->fetch->servers.at[job->server];
    const bool is_answer = end != SYMBOL_TRANSFER_AGAIN && end != SYMBOL_TRANSFER_HOPELESS &&
                           end != SYMBOL_TRANSFER_UNTRUSTED &&
                           end != SYMBOL_TRANSFER_PROXY_DENIED &&
                           end != SYMBOL_TRANSFER_UNWRITABLE && end != SYMBOL_TRANSFER_NO_MEMORY;
    if (is_answer) {
        server->has_answered = true;
        server->failures = 0;
    }
    if (job->download)
        memcpy(job->download->message, job->transfer->message, sizeof job->download->message);
    if (end == SYMBOL_TRANSFER_MISSING)
        remember_missing(run->fetch, job->transfer->url);
    job->is_forbidden |= end == SYMBOL_TRANSFER_FORBIDDEN;
}

static void take_done(fetch_run *run, fetch_job *job)
{
    if (job->stage == STAGE_POINTER) {
        memcpy(job->download->pointer, job->transfer->text, job->transfer->text_size + 1);
        end_job(run, job, SYMBOL_FETCH_POINTER);
    } else {
        end_job(run, job,
                job->stage == STAGE_CABINET ? SYMBOL_FETCH_COMPRESSED : SYMBOL_FETCH_DONE);
    }
}

/* Takes the answer about a server's layout; the waiting jobs go on in any case. */
static void take_layout(fetch_run *run, fetch_job *job, symbol_transfer_end end)
{
    fetch_server *const server = &run->fetch->servers.at[job->server];
    server->layout = end == SYMBOL_TRANSFER_OK ? LAYOUT_TWO_TIER : LAYOUT_ONE_TIER;
    if (end == SYMBOL_TRANSFER_NO_MEMORY)
        run->is_out_of_memory = true;
    job->state = JOB_ENDED;
    for (size_t i = 0; i < run->jobs.count; i++) {
        fetch_job *const waiting = &run->jobs.at[i];
        if (waiting->state == JOB_WAITING && waiting->server == job->server)
            next_stage(run, waiting);
    }
}

/* The server does not have it under the present name. */
static void next_stage(fetch_run *run, fetch_job *job)
{
    const fetch_server *const server = &run->fetch->servers.at[job->server];
    job->attempts = 0;
    job->state = JOB_DUE;
    if (job->stage < STAGE_POINTER)
        job->stage++;
    else if (!job->is_two_tier && server->layout == LAYOUT_UNKNOWN)
        wait_for_layout(run, job);
    else if (!job->is_two_tier && server->layout == LAYOUT_TWO_TIER) {
        job->is_two_tier = true;
        job->stage = STAGE_FILE;
    } else if (job->is_forbidden) {
        end_counted(run, job, SYMBOL_FETCH_DENIED, ETL_DIAG_symbol_server_denied);
    } else {
        end_job(run, job, SYMBOL_FETCH_MISSING);
    }
}

static void wait_for_layout(fetch_run *run, fetch_job *job)
{
    fetch_server *const server = &run->fetch->servers.at[job->server];
    job->state = JOB_WAITING;
    if (server->is_asked)
        return;
    server->is_asked = true;
    assert(run->jobs.count < run->jobs.capacity);
    run->jobs.at[run->jobs.count++] = (fetch_job){ .server = job->server, .stage = STAGE_LAYOUT };
}

/* Repeats the request after a pause, or at once if it only has to start over. */
static void retry(fetch_run *run, fetch_job *job, symbol_transfer_end end)
{
    const symbol_fetch_options *const options = &run->fetch->options;
    job->attempts = job->transfer->has_progress ? 1 : job->attempts + 1;
    job->attempts_all++;
    if (job->attempts >= options->attempts_max || job->attempts_all >= ATTEMPTS_IN_ALL) {
        give_up(run, job, ETL_DIAG_symbol_server_unreachable);
        return;
    }
    u64 delay_ms = (u64)options->retry_delay_ms << etl_min_u64(job->attempts - 1, 16);
    delay_ms = etl_max_u64(delay_ms, (u64)job->transfer->retry_after_s * 1000);
    if (end == SYMBOL_TRANSFER_RESTART)
        delay_ms = 0;
    job->state = JOB_DUE;
    job->due_ms = symbol_clock_ms() + (i64)etl_min_u64(delay_ms, RETRY_DELAY_MS_MAX);
}

/* A server that never answered, or fails one file after the other, is given up. A failure of a
 * server that answers others has no reason but that the download did not come to an end. */
static void give_up(fetch_run *run, fetch_job *job, etl_diag reason)
{
    fetch_server *const server = &run->fetch->servers.at[job->server];
    server->failures++;
    if (!server->is_dead && (!server->has_answered || server->failures >= FAILURES_IN_A_ROW)) {
        server->is_dead = true;
        etl_diag_add(run->diag, reason, 1);
    } else if (!server->is_dead && job->download) {
        const bool is_reason = reason != ETL_DIAG_symbol_server_unreachable;
        etl_diag_add(run->diag, is_reason ? reason : ETL_DIAG_symbol_download_failed, 1);
    }
    if (job->stage == STAGE_LAYOUT)
        take_layout(run, job, SYMBOL_TRANSFER_MISSING);
    else
        end_job(run, job, SYMBOL_FETCH_FAILED);
}

static void end_job(fetch_run *run, fetch_job *job, symbol_fetch_state state)
{
    job->state = JOB_ENDED;
    if (!job->download)
        return;
    job->download->state = state;
    run->progress.files_done++;
}

static void end_counted(fetch_run *run, fetch_job *job, symbol_fetch_state state, etl_diag diag)
{
    etl_diag_add(run->diag, diag, 1);
    end_job(run, job, state);
}

/* *at is the place of the URL in the sorted list, or where it would be. */
static bool is_known_missing(const symbol_fetch *fetch, const char *url, size_t *at)
{
    ETL_BISECT(*at, 0, fetch->missing.count, strcmp(fetch->missing.at[*at], url) < 0);
    return *at < fetch->missing.count && strcmp(fetch->missing.at[*at], url) == 0;
}

/* Without memory, the server will just be asked again. */
static void remember_missing(symbol_fetch *fetch, const char *url)
{
    size_t at;
    etl_bytes copy = { NULL, 0 };
    const etl_bytes text = { (const u8 *)url, strlen(url) + 1 };
    if (is_known_missing(fetch, url, &at) || !etlheap_arena_copy(&fetch->texts, text, &copy) ||
        !ETLHEAP_PUSH(&fetch->missing, (const char *)copy.at))
        return;
    memmove(&fetch->missing.at[at + 1], &fetch->missing.at[at],
            (fetch->missing.count - 1 - at) * sizeof *fetch->missing.at);
    fetch->missing.at[at] = (const char *)copy.at;
}

i64 symbol_clock_ms(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (i64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
