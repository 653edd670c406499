/*
 * walk_world.h - what tests of walks have before them: a random workload, its truth,
 * its analysis in memory, and its store on disk; and questions to ask of them.
 */
#ifndef TESTS_WALK_WORLD_H
#define TESTS_WALK_WORLD_H

#include "engine/fold/lifetimes.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"
#include "walk_check.h"
#include "tests/build/workload.h"

#define MS INT64_C(1000000)

/* All zero but for the path, until something is made. */
typedef struct walk_world {
    check_traces traces;
    workload *work;
    workload_truth truth;
    etlheap_result *rows;  /* lifetimes in memory */
    etlheap_result *store; /* lifetimes in the file */
    char path[TEMPORARY_PATH_BYTES];
    ehs_bytes file;
} walk_world;

/* For setup and teardown of a cmocka test: *state is a walk_world. */
int walk_world_open(void **state);
int walk_world_close(void **state);

#define WALK_SESSIONS 3u

/* A workload of a seed in a session of some kind, and all that comes of it. */
void walk_world_make(walk_world *f, u32 session, u64 seed);

/* What comes of traces that the test made itself. */
void walk_world_analyze(walk_world *f);

/* Makes room for another one. */
void walk_world_forget(walk_world *f);

/* Writes the bytes of the store to its file, and opens what is there. */
void walk_world_write(const walk_world *f);
etl_status walk_world_read(const walk_world *f, etlheap_result **out, etl_error *err);
etlheap_result *walk_world_store(const walk_world *f);

/* What a query borrows. */
typedef struct walk_query {
    etlheap_query query;
    u64 heap;
    u32 thread;
    char pid[16];
    const char *process;
    etlheap_pattern frame;
    char module[64];
} walk_query;

/* Each window with each filter, one at a time. */
#define WALK_QUERIES 66u
void walk_world_ask(const walk_world *f, u32 number, walk_query *q);

/* The first text is what was expected; frees both. */
void walk_check_same(char *expected, char *found);

#endif
