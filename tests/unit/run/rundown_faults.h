/*
 * rundown_faults.h - what rundowns and frees say that contradicts the events before them: additions
 * to a trace of test_diagnostics.c, each for one diagnostic.
 */
#ifndef TESTS_RUNDOWN_FAULTS_H
#define TESTS_RUNDOWN_FAULTS_H

#include "tests/build/etl_build.h"

#define START 1000000
#define PID   8u
#define CODE  0x7ff600001000u

/* The moments of the trace, of its process. */
static inline etl_build_at at(u32 n)
{
    return (etl_build_at){ .ticks = START + 100 * (i64)n, .pid = PID, .tid = 16 };
}

void tell_another_size_at_the_end(etl_build *b);
void tell_of_an_unseen_range_at_the_end(etl_build *b);
void free_another_size_of_the_pool(etl_build *b);
void allocate_over_a_pool_block(etl_build *b);
void tell_of_an_unseen_pool_block_at_the_end(etl_build *b);
void tell_of_no_pool_block_at_the_end(etl_build *b);
void tell_of_part_of_a_pool_block(etl_build *b);
void open_a_handle_of_no_process(etl_build *b);
void make_a_section_without_pages(etl_build *b);

#endif
