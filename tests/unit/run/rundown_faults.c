/* rundown_faults.c - see rundown_faults.h. */
#include "rundown_faults.h"

#include "tests/build/etl_build_inside.h"
#include "tests/build/scenario_pool.h"

/* Of the process that starts in the trace: a region of which the half is committed, and
 * one that nobody made. */
static void contradict_at_the_end(etl_build *b, u64 base, u64 committed)
{
    const u64 frames[] = { CODE };
    const etl_build_virtual_spec told = { .hook = 0x0281,
                                          .base = base,
                                          .size = 0x10000,
                                          .flags = ETL_BUILD_COMMIT,
                                          .owner_pid = PID,
                                          .commit_bytes = committed };
    etl_build_virtual_alloc(b, at(90), 0x800000, 0x10000, ETL_BUILD_COMMIT);
    etl_build_stack_walk(b, at(90), &(etl_build_stack){ .user = frames, .user_count = 1 });
    etl_build_virtual(b, at(91), &told);
}

void tell_another_size_at_the_end(etl_build *b)
{
    contradict_at_the_end(b, 0x800000, 0x8000);
}

void tell_of_an_unseen_range_at_the_end(etl_build *b)
{
    contradict_at_the_end(b, 0x900000, 0x10000);
}

static pool_spec allocate_in_the_pool(etl_build *b)
{
    const pool_spec block = { 1, "Test", 64, 0xffffa70000100000 };
    const etl_build_process_spec kernel = { .pid = 4, .name = "System" };
    etl_build_process(b, at(0), ETL_BUILD_DCSTART, &kernel);
    build_pool(b, at(80), 0x0e20, &block, 0);
    return block;
}

void free_another_size_of_the_pool(etl_build *b)
{
    pool_spec block = allocate_in_the_pool(b);
    block.size++;
    build_pool(b, at(81), 0x0e22, &block, 0);
}

void allocate_over_a_pool_block(etl_build *b)
{
    const pool_spec block = allocate_in_the_pool(b);
    build_pool(b, at(81), 0x0e20, &block, 0);
}

void tell_of_an_unseen_pool_block_at_the_end(etl_build *b)
{
    const pool_spec block = allocate_in_the_pool(b);
    pool_spec blocks[3] = { block, block, block };
    blocks[1].entry += 0x100;
    blocks[2].entry += 0x200;
    build_pool_list(b, at(1), 0x0e28, &blocks[1], 1, 0);
    build_pool_list(b, at(82), 0x0e29, blocks, 3, 0);
}

void tell_of_no_pool_block_at_the_end(etl_build *b)
{
    pool_spec other = allocate_in_the_pool(b);
    other.entry += 0x100;
    build_pool_list(b, at(81), 0x0e28, &other, 1, 0);
    build_pool_list(b, at(82), 0x0e29, &other, 1, 0);
}

void tell_of_part_of_a_pool_block(etl_build *b)
{
    const pool_spec block = allocate_in_the_pool(b);
    build_pool_list(b, at(82), 0x0e28, &block, 1, 5);
}

/* A record with a header that names no thread. */
void open_a_handle_of_no_process(etl_build *b)
{
    const etl_build_at when = at(80);
    build_begin(b, &when, 0x1120, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_pointer(b, 0xffffc30000200000);
    build_put_u32(b, 0x10);
    build_put_u16(b, 5);
    build_put_text16(b, NULL);
    build_end(b, &when);
}

/* Its range ends where it begins. */
void make_a_section_without_pages(etl_build *b)
{
    const etl_build_at when = at(80);
    build_begin(b, &when, 0x0249, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, 0xffff82082c300000);
    build_put_pointer(b, 0xffff82082c300000);
    build_put_u32(b, 700);
    build_end(b, &when);
}
