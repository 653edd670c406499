/*
 * lifetime_check.h - rule tests on whole traces: build one, say which lifetimes
 * it must give, and have it analysed in every way that must not matter.
 *
 *     etl_build *b = lifetime_build(NULL);
 *     etl_build_heap_alloc(b, AT(10), HEAP, 0x100, 24);
 *     lifetime_check *check = lifetime_check_open(b);
 *     lifetime_check_rows(check, (const life[]){ { ... } }, 1);
 *     lifetime_check_close(check);
 *
 * The trace is analysed with several slice sizes and numbers of jobs; all must
 * agree in lifetimes, processes and diagnostics. Stacks are compared by frames.
 * Every failure ends the test.
 */
#ifndef TESTS_LIFETIME_CHECK_H
#define TESTS_LIFETIME_CHECK_H

#include "engine/engine.h"
#include "tests/build/etl_build.h"

/* Times of these tests: ticks after the start of the trace, 10 MHz. */
#define LIFE_START  ((i64)1000000)
#define LIFE_MS     ((i64)10000)
#define LIFE_SECOND ((i64)10000000)

/* What may be known of a lifetime without a look at the bytes. Zero is the usual
 * value wherever there is one. */
typedef struct life {
    u32 pid;
    u32 tid;
    u8 kind; /* etlheap_kind */
    u8 end;  /* etlheap_free_type */
    bool is_realloc;
    u64 heap;
    u64 address;
    u64 size;
    i64 alloc; /* ticks; ETLHEAP_TICKS_BEFORE */
    i64 freed; /* ticks; meaningless with ETLHEAP_FREE_NONE */
    const u64 *frames;
    u32 frame_count; /* 0: no stack */
} life;

typedef struct lifetime_check lifetime_check;

/* A builder whose buffers are small and forced out often, so that even a short
 * trace is many slices. `options` may be NULL; sizes it leaves 0 become small. */
etl_build *lifetime_build(const etl_build_options *options);

/* Finishes the builder, frees it, and analyses what it wrote. */
lifetime_check *lifetime_check_open(etl_build *b);
void lifetime_check_close(lifetime_check *check);

/* Exactly these lifetimes, in any order. */
void lifetime_check_rows(const lifetime_check *check, const life *expected, u32 count);

/* All of it, where there is nothing to check but lifetimes. */
void lifetime_check_all(etl_build *b, const life *expected, u32 count);

#define ASSERT_LIFETIMES(b, ...)                                                                   \
    do {                                                                                           \
        const life rows_of_trace[] = { __VA_ARGS__ };                                              \
        lifetime_check_all(b, rows_of_trace, ETL_COUNT_OF(rows_of_trace));                         \
    } while (0)

/* For what is not a lifetime. */
const etlheap_result *lifetime_check_result(const lifetime_check *check);
u64 lifetime_check_diag(const lifetime_check *check, etl_diag diag);
u64 lifetime_check_unknown_frees(const lifetime_check *check, etlheap_kind kind);

/* The n-th process of the id in order of time; fails when there is none. */
const etlheap_process_info *lifetime_check_process(const lifetime_check *check, u32 pid, u32 n);
u32 lifetime_check_process_count(const lifetime_check *check, u32 pid);

#endif
