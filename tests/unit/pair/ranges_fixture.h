/*
 * ranges_fixture.h - a table of ranges for test_ranges*.c: single events go in, rows
 * come out. Addresses and sizes are pages.
 */
#ifndef TESTS_RANGES_FIXTURE_H
#define TESTS_RANGES_FIXTURE_H

#include "engine/pair/ranges.h"
#include "tests/support/engine_check.h"

#define PID    42u
#define TID    7u
#define HEAP   0x1F0000u
#define PAGE   ((u64)4096)
#define T0     (CHECK_START + 1000)
#define NEVER  INT64_MAX
#define BEFORE INT64_MIN

typedef struct fixture {
    engine_check check;
    range_table table;
    u32 process;
} fixture;

int open_fixture(void **state);
int close_fixture(void **state);
/* At T0 + after, over `count` pages from `page`; the stack is `after` + 1. */
void apply(fixture *f, memory_op op, i64 after, u64 page, u64 count);
void rundown(fixture *f, memory_op op, u64 page, u64 count, u64 committed);
i64 ticks_of(i64 after);
lifetime row_of(u64 page, u64 count, i64 committed, i64 freed);
lifetime extent_of(u64 page, u64 count, i64 committed, i64 freed);
lifetime ended(lifetime row, etlheap_free_type type);
void assert_rows(fixture *f, const lifetime *rows, size_t count);
void assert_row(fixture *f, lifetime row);
void finish(fixture *f);
u64 unknown_frees(const fixture *f, etlheap_kind kind);

#endif
