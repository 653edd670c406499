/* diff_tables.c - see diff_tables.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "diff_tables.h"

void diff_input_open(diff_input *t)
{
    *t = (diff_input){ .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK } };
    t->table = (etlheap_table){ .to_ns = 1000000000,
                                .group_by = t->keys,
                                .group_by_count = 3,
                                .measures = ETLHEAP_MEASURE_BIT(COUNT) | ETLHEAP_MEASURE_BIT(SIZE) |
                                            ETLHEAP_MEASURE_BIT(OUTSTANDING_COUNT) |
                                            ETLHEAP_MEASURE_BIT(OUTSTANDING_SIZE) |
                                            ETLHEAP_MEASURE_BIT(PEAK_SIZE),
                                .frames = t->frames,
                                .stack_starts = t->stack_starts,
                                .frame_indices = t->indices,
                                .rows = t->rows };
}

void diff_input_frame(diff_input *t, etlheap_frame frame)
{
    const u32 at = t->table.frame_count++;
    assert_true(at < DIFF_FRAMES_MAX);
    t->frames[at] = frame;
    t->indices[at] = at;
}

u32 diff_input_stack(diff_input *t)
{
    assert_true(t->table.stack_count < DIFF_STACKS_MAX);
    t->stack_starts[++t->table.stack_count] = t->table.frame_count;
    return t->table.stack_count - 1;
}

etlheap_row *diff_input_row(diff_input *t, const char *process, u32 stack, i64 size, i64 count)
{
    assert_true(t->table.row_count < DIFF_ROWS_MAX);
    etlheap_row *const row = &t->rows[t->table.row_count++];
    *row = (etlheap_row){
        .process = process, .pid = 4 * t->table.row_count, .stack = stack, .frame = ETLHEAP_NO_INDEX
    };
    row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = size;
    row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = count;
    row->measures[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(size, size);
    row->measures[ETLHEAP_MEASURE_COUNT] = 2 * count;
    row->measures[ETLHEAP_MEASURE_PEAK_SIZE] = 3;
    return row;
}

etlheap_row *diff_input_simple(diff_input *t, const char *process, const char *module, u64 offset,
                               i64 size)
{
    diff_input_frame(
        t, (etlheap_frame){ .module = module, .offset = offset, .address = offset + 0x10000 });
    return diff_input_row(t, process, diff_input_stack(t), size, 1);
}

etlheap_diff *diff_input_make(const diff_input *base, const diff_input *now,
                              const etlheap_diff_options *options)
{
    etlheap_diff *diff = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_diff_tables(&base->table, &now->table, options, &diff, &err), ETL_OK);
    assert_non_null(diff);
    return diff;
}

i64 diff_size_change(const etlheap_diff *diff, u32 row)
{
    return diff->table.rows[row].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
}

const char *diff_state_word(const etlheap_diff *diff, u32 row)
{
    return etlheap_diff_state_word((etlheap_diff_state)diff->changes[row].state);
}
