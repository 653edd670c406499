/*
 * diff_tables.h - small tables to be compared, made by hand.
 *
 *     diff_input base;
 *     diff_input_open(&base);
 *     diff_input_simple(&base, "a.exe", "a.dll", 0x10, 100);
 *
 * Tables are grouped by kind, process and stack; keys[] may be changed. A failure
 * ends the test.
 */
#ifndef TESTS_DIFF_TABLES_H
#define TESTS_DIFF_TABLES_H

#include "engine/engine.h"

#include "parser/base.h"

#define DIFF_ROWS_MAX   64u
#define DIFF_FRAMES_MAX 64u
#define DIFF_STACKS_MAX 16u

/* A table in the making. Frames of stack i are the next after those of i - 1. */
typedef struct diff_input {
    etlheap_table table;
    etlheap_key keys[4];
    etlheap_frame frames[DIFF_FRAMES_MAX];
    u32 stack_starts[DIFF_STACKS_MAX + 1];
    u32 indices[DIFF_FRAMES_MAX];
    etlheap_row rows[DIFF_ROWS_MAX];
} diff_input;

void diff_input_open(diff_input *t);

/* One frame more for the stack that diff_input_stack closes next. */
void diff_input_frame(diff_input *t, etlheap_frame frame);
u32 diff_input_stack(diff_input *t);

/* A row with so many bytes and blocks outstanding, twice as many allocated. */
etlheap_row *diff_input_row(diff_input *t, const char *process, u32 stack, i64 size, i64 count);

/* A row of one block whose stack is one frame, module + offset. */
etlheap_row *diff_input_simple(diff_input *t, const char *process, const char *module, u64 offset,
                               i64 size);

/* The diff of two tables, which must be possible; options may be NULL. */
etlheap_diff *diff_input_make(const diff_input *base, const diff_input *now,
                              const etlheap_diff_options *options);

/* Of a row: change of outstanding bytes, word of its state. */
i64 diff_size_change(const etlheap_diff *diff, u32 row);
const char *diff_state_word(const etlheap_diff *diff, u32 row);

#endif
