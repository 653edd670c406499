/*
 * symbol_fetch_inside.h - what the halves of the fetching share: symbol_fetch.c
 * runs the jobs, symbol_jobs.c knows what a job does next.
 */
#ifndef ETLHEAP_SYMBOL_FETCH_INSIDE_H
#define ETLHEAP_SYMBOL_FETCH_INSIDE_H

#include "engine/core/arena.h"
#include "symbol_transfer.h"

typedef enum server_layout { LAYOUT_UNKNOWN, LAYOUT_ONE_TIER, LAYOUT_TWO_TIER } server_layout;

typedef struct fetch_server {
    const char *url; /* in the arena */
    server_layout layout;
    bool is_asked; /* for its layout, by a job */
    bool is_dead;
    bool has_answered;
    u32 failures; /* in a row */
} fetch_server;

struct symbol_fetch {
    symbol_fetch_options options; /* with the defaults filled in */
    symbol_curl curl;
    CURLM *multi;
    etlheap_arena texts;
    ETLHEAP_VECTOR(fetch_server) servers;
    ETLHEAP_VECTOR(const char *) missing; /* URLs that were 404, sorted */
    bool is_global;                       /* curl_global_cleanup is due */
};

typedef enum job_stage { STAGE_FILE, STAGE_CABINET, STAGE_POINTER, STAGE_LAYOUT } job_stage;
typedef enum job_state { JOB_DUE, JOB_RUNNING, JOB_WAITING, JOB_ENDED } job_state;

typedef struct fetch_job {
    symbol_download *download; /* NULL: asks for the server's layout */
    u32 server;
    job_stage stage;
    job_state state;
    bool is_two_tier;
    bool is_forbidden; /* some name was, so the file may be there */
    u32 attempts;      /* in a row without progress */
    u32 attempts_all;
    i64 due_ms;
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

/* Makes the job's next request. It may end at once: then the state is not
 * JOB_RUNNING. */
void symbol_job_start(fetch_run *run, fetch_job *job);

/* The job's request has ended: sees what that means for the job. */
void symbol_job_finish(fetch_run *run, fetch_job *job, symbol_transfer_end end);

/* Milliseconds of a clock that only goes forward. */
i64 symbol_clock_ms(void);

#endif
