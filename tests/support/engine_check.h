/*
 * engine_check.h - what unit tests of the pairing stages need: a clock, a
 * context fed event by event, and lifetimes compared as sets.
 *
 * The clock has 10 MHz and begins at tick 1,000,000. Rows that a stage puts out
 * gather in `out`; engine_check_rows() compares them with what is expected in
 * any order, fails the test with both lists when they differ, and empties it.
 */
#ifndef TESTS_ENGINE_CHECK_H
#define TESTS_ENGINE_CHECK_H

#include "engine/pair/blocks.h"

#define CHECK_START    ((i64)1000000)
#define CHECK_MS       ((i64)10000)
#define CHECK_PATIENCE (100 * CHECK_MS) /* of block_rules */
#define CHECK_SECOND   ((i64)10000000)

typedef struct engine_check {
    etl_session session;
    timebase base;
    trace_context context;
    shard_output out;
    origin_table origins;
    u32 order;     /* of the next system event */
    u32 next_rank; /* of the next memory event */
    bool is_lossy; /* as in the rules */
} engine_check;

void engine_check_open(engine_check *check);
void engine_check_close(engine_check *check);

/* For cmocka: *state is an open check of its own. */
int engine_check_setup(void **state);
int engine_check_teardown(void **state);

/* Applies one process record; kind is ETL_EVENT_PROCESS_*. The name may be NULL,
 * key 0 is a record of a version without one. */
void engine_check_process(engine_check *check, etl_event_kind kind, u32 pid, i64 ticks,
                          const char *name, u64 key);

/* Apply the creation or the destruction of a heap. */
void engine_check_create(engine_check *check, u32 pid, u64 heap, i64 ticks);
void engine_check_destroy(engine_check *check, u32 pid, u64 heap, i64 ticks);

/* The process of the id, made when there is none: context_ensure, then look-up. */
u32 engine_check_owner(engine_check *check, u32 pid, i64 ticks);

/* Rules with a race tolerance of a millisecond, over the context and origins. */
block_rules engine_check_rules(const engine_check *check);

/* Numbers a memory event of `process` as ordering does, and applies it. */
void engine_check_apply(engine_check *check, block_table *table, const memory_event *event,
                        u32 process);

/* Has the stage put out exactly these rows, in any order? Empties `out`. */
void engine_check_rows(engine_check *check, const lifetime *expected, size_t count);

/* The same for two lists of rows; both are sorted. */
void engine_check_same_rows(lifetime *rows, size_t row_count, lifetime *expected, size_t count);

u64 engine_check_diag(const engine_check *check, etl_diag diag);

/* A small generator, so that every run sees the same: 0 <= result < below. */
u32 engine_check_random(u64 *seed, u32 below);

#endif
