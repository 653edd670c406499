/*
 * summary_runs.h - small traces of one program, and summaries of them.
 *
 * A run says where the program and its parts lie, which build it is and how much it
 * allocates; its trace is built, summarised and gone.
 */
#ifndef TESTS_SUMMARY_RUNS_H
#define TESTS_SUMMARY_RUNS_H

#include "engine/result/summary.h"
#include "run_check.h"
#include "temporary.h"

/* Temporary files of a test. */
#define SUMMARY_PATHS 3u

typedef struct summary_fixture {
    char paths[SUMMARY_PATHS][TEMPORARY_PATH_BYTES];
} summary_fixture;

/* For cmocka: *state is the fixture. */
int summary_fixture_open(void **state);
int summary_fixture_close(void **state);

/* Where and what the program is in a run, and what it does. */
typedef struct summary_run {
    u64 base;
    u8 build;        /* of app.exe; 0: no identity is recorded */
    u64 jit_address; /* the outermost frame */
    u32 pid;
    u32 allocs, frees; /* blocks of 100 bytes */
    bool ends;         /* the process does */
    i64 start_ticks;   /* later than just after time zero */
} summary_run;

/* The same build at two places: 5 blocks of which 2 are freed, and 9 and 4. */
extern const summary_run summary_first_run, summary_second_run;

/* The trace of a run, unfinished. */
etl_build *summary_build_run(const summary_run *run);

/* An etlheap_write_fn: `user` is a FILE. */
bool summary_put(void *user, const void *bytes, size_t size);

/* A summary that must open; 0: without windows. */
etlheap_summary *summary_begin(i64 every_ns);

etl_status summary_add_run(etlheap_summary *summary, const summary_run *run, const char *name,
                           etl_error *err);

/* Writes and frees it. Must succeed. */
void summary_end(etlheap_summary *summary, const char *path);

/* A summary of the runs in a file, and one opened. Must succeed. */
void summary_of_runs(const summary_run *runs, u32 count, i64 every_ns, const char *path);
etlheap_result *summary_read(const char *path);

/* By kind, process, type and stack. */
etlheap_query summary_query(void);

#endif
