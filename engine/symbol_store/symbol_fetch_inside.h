/* symbol_fetch_inside.h - shared by the two halves of fetching: symbol_fetch.c runs jobs,
 * symbol_jobs.c decides what a job does next. */
#ifndef ETLHEAP_SYMBOL_FETCH_INSIDE_H
#define ETLHEAP_SYMBOL_FETCH_INSIDE_H

#include "engine/core/arena.h"
#include "symbol_transfer.h"

typedef enum server_layout { LAYOUT_UNKNOWN, LAYOUT_ONE_TIER, LAYOUT_TWO_TIER } server_layout;

typedef struct fetch_server {
    const char *url; /* in the arena */
    server_layout layout;
    bool is_asked; /* a job asks for its layout */
    bool is_dead;
    bool has_answered;
    u32 failures; /* consecutive failures */
} fetch_server;

struct symbol_fetch {
    symbol_fetch_options options; /* including defaults */
    symbol_curl curl;
    CURLM *multi;
    etlheap_arena texts;
    ETLHEAP_VECTOR(fetch_server) servers;
    ETLHEAP_VECTOR(const char *) missing; /* URLs that returned 404, sorted */
    bool is_global;                       /* curl_global_cleanup must be called */
};

typedef enum job_stage { STAGE_FILE, STAGE_CABINET, STAGE_POINTER, STAGE_LAYOUT } job_stage;
typedef enum job_state { JOB_DUE, JOB_RUNNING, JOB_WAITING, JOB_ENDED } job_state;

typedef struct fetch_job {
    symbol_download *download; /* NULL: asks for the server's layout */
    u32 server;
    job_stage stage;
    job_state state;
    bool is_two_tier;
    bool is_forbidden; /* a name was forbidden, so the file may exist */
    u32 attempts;      /* consecutive attempts without progress */
    u32 attempts_all;
    i64 due_ms;
    i64 begun_ms;              /* 0: not yet */
    symbol_transfer *transfer; /* while running */
} fetch_job;

typedef struct fetch_run {
    symbol_fetch *fetch;
    ETLHEAP_VECTOR(fetch_job) jobs;
    u32 running;
    symbol_progress progress;
    i64 reported_ms;
    etl_diag_counts *diag;
    bool is_out_of_memory;
} fetch_run;

/* Makes the job's next request. It may end at once: then the state is not JOB_RUNNING. */
void symbol_job_start(fetch_run *run, fetch_job *job);

/* Handles the end of the job's request. */
void symbol_job_finish(fetch_run *run, fetch_job *job, symbol_transfer_end end);

/* The milliseconds of a monotonic clock. */
i64 symbol_clock_ms(void);

#endif
