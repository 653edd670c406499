/*
 * Goal: the counts of a trace are those of its records, or nearly if it was sampled, and from them
 * follows how much memory a run takes.
 * Method: built traces with known events and stacks, sampled whole and in part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/run/trace_counts.h"
#include "tests/build/etl_build.h"
#include "tests/support/hand_bytes.h"

#define FRAMES 10u

typedef struct built {
    etl_build *build;
    etl_trace *trace;
} built;

/* Allocations with stacks, of which small numbers are more frequent, and as many frees. */
static built build_trace(u32 events, u32 stacks)
{
    built out = { .build = etl_build_new(&(etl_build_options){ .cpus = 2, .buffer_bytes = 4096 }) };
    etl_build_at at = { .ticks = 1000, .pid = 20, .tid = 21 };
    u64 random = 3;
    size_t size = 0;
    for (u32 i = 0; i < events; i++) {
        u64 frames[FRAMES];
        u32 stack = i < stacks ? i : (u32)(hand_random(&random) % stacks);
        stack = i < stacks ? stack : (u32)(hand_random(&random) % (stack + 1));
        for (u32 k = 0; k < FRAMES; k++)
            frames[k] = 0x7ff600000000 + (k < 4 ? k : stack * FRAMES + k);
        at.ticks += 10;
        etl_build_heap_alloc(out.build, at, 0x1f0000, 0x2000, 24);
        etl_build_stack_walk(out.build, at,
                             &(etl_build_stack){ .user = frames, .user_count = FRAMES });
        at.ticks += 10;
        etl_build_heap_free(out.build, at, 0x1f0000, 0x2000);
    }
    assert_true(etl_build_finish(out.build));
    const u8 *const bytes = etl_build_data(out.build, &size);
    const etl_bytes file = { bytes, size };
    assert_int_equal(etl_open_memory(file, NULL, &out.trace, NULL), ETL_OK);
    return out;
}

static void close_trace(built *b)
{
    etl_close(b->trace);
    etl_build_free(b->build);
}

static void a_small_trace_is_counted_whole(void **state)
{
    built b = build_trace(500, 40);
    etlheap_trace_counts has;
    (void)state;
    assert_int_equal(trace_counts_sample(b.trace, UINT32_MAX, &has, NULL), ETL_OK);
    assert_int_equal(has.buffers, etl_buffer_count(b.trace));
    assert_int_equal(has.allocs, 500);
    assert_int_equal(has.frees, 500);
    assert_int_equal(has.lives, 0);
    assert_int_equal(has.walks, 500);
    assert_int_equal(has.stacks, 40);
    assert_int_equal(has.frames, 40 * FRAMES);
    assert_int_equal(has.addresses, 4 + 40 * (FRAMES - 4));
    close_trace(&b);
}

static void expect_about(u64 value, u64 whole)
{
    assert_in_range(value, whole / 2, whole * 2);
}

static void a_sample_tells_about_the_whole(void **state)
{
    built b = build_trace(20000, 3000);
    etlheap_trace_counts has;
    (void)state;
    assert_int_equal(trace_counts_sample(b.trace, etl_file_size(b.trace) / 12, &has, NULL), ETL_OK);
    expect_about(has.allocs, 20000);
    expect_about(has.frees, 20000);
    expect_about(has.walks, 20000);
    expect_about(has.stacks, 3000);
    expect_about(has.frames, 3000 * FRAMES);
    expect_about(has.addresses, 3000 * (FRAMES - 4));
    close_trace(&b);
}

/* More than fit into the set of hashes: only some are kept, and stand for all. */
static void many_stacks_are_counted_by_some_of_them(void **state)
{
    built b = build_trace(50000, 50000);
    etlheap_trace_counts has;
    (void)state;
    assert_int_equal(trace_counts_sample(b.trace, UINT32_MAX, &has, NULL), ETL_OK);
    assert_in_range(has.stacks, 46000, 54000);
    assert_in_range(has.addresses, 276000, 324000);
    close_trace(&b);
}

static void traces_with_more_take_more(void **state)
{
    static const etlheap_trace_counts traces[] = {
        { .buffers = 1, .bytes = 65536 },
        { .buffers = 300,
          .bytes = 20 << 20,
          .allocs = 56000,
          .frees = 53200,
          .frames = 374000,
          .addresses = 147000,
          .system_bytes = 13568 },
        { .buffers = 11000, .bytes = 720 << 20, .allocs = 6000000, .frees = 6000000 },
        { .buffers = 8000,
          .bytes = 500 << 20,
          .lives = 1400000,
          .frames = 1377000,
          .addresses = 239000 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(traces); i++) {
        etlheap_trace_counts twice = traces[i];
        etlheap_trace_counts_add(&twice, &traces[i]);
        for (int keeps = 1; keeps < ETLHEAP_KEEPS_CLASSES; keeps++) {
            const u64 takes = etlheap_trace_memory(&traces[i], (etlheap_keeps)keeps);
            const u64 more = etlheap_trace_memory(&twice, (etlheap_keeps)keeps);
            assert_true(more >= takes && more <= 2 * takes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_trace_is_counted_whole),
        cmocka_unit_test(a_sample_tells_about_the_whole),
        cmocka_unit_test(many_stacks_are_counted_by_some_of_them),
        cmocka_unit_test(traces_with_more_take_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
