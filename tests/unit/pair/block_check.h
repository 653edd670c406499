/*
 * block_check.h - one table of heap blocks and the rows it puts out, for tests.
 */
#ifndef TESTS_BLOCK_CHECK_H
#define TESTS_BLOCK_CHECK_H

#include "engine/pair/blocks.h"
#include "tests/support/engine_check.h"

#define PID   42u
#define TID   7u
#define OTHER 8u /* another thread */
#define THIRD 9u
#define HEAP  0x1F0000u
#define T0    (CHECK_START + 1000)

/* A table, and the process whose blocks it has. */
typedef struct block_check {
    engine_check check;
    block_table table;
    block_rules rules;
    u32 process;
} block_check;

/* Set-up and tear-down of a test. */
int block_check_open(void **state);
int block_check_close(void **state);

/* An event of the process, of thread TID on CPU 0; its stack is its size. */
memory_event block_event(memory_op op, i64 ticks, u64 address, u64 size);

/* The same event by another thread, on another CPU. */
memory_event block_event_by(u32 tid, u16 cpu, memory_event event);

void block_check_apply(block_check *f, memory_event event);
void block_check_finish(block_check *f);

/* A row of the process, the heap and thread TID; its stack is its size. */
lifetime block_row(u64 address, u64 size, i64 alloc_ticks, i64 free_ticks);
lifetime as_realloc(lifetime row);

/* Have exactly these rows come out since the last call, in any order? */
void block_check_rows(block_check *f, const lifetime *rows, size_t count);
void block_check_row(block_check *f, lifetime row);
void block_check_no_rows(block_check *f);

u64 block_check_unknown_frees(const block_check *f);
u64 block_check_diag(const block_check *f, etl_diag id);

#endif
