/*
 * scenario_runner.c - a test runner that writes a mark before each test.
 *
 * The runner has memory of its own from before the first mark. Each test lasts a second, in which
 * it allocates blocks and frees them; two of them forget some. The last mark follows the last test.
 */
#include "scenario_inside.h"

#define BLOCKS       40u
#define MS           UINT64_C(1000000)
#define IMAGE_BASE   UINT64_C(0x7ff6a0000000)
#define SYSTEM_BASE  UINT64_C(0x7ffb10000000)
#define FIXTURE_SIZE 65536u

static const char *const tests[] = { "Parser.reads_empty_files", "Parser.reads_nested_lists",
                                     "Cache.evicts_the_oldest",  "Cache.survives_a_reload",
                                     "Net.retries_three_times",  "done" };

typedef struct runner {
    etl_build *b;
    u64 address_next;
    u64 heap;
} runner;

static etl_build_at at_time(const runner *r, u64 ns)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(r->b, ns),
                           .pid = TEST_RUNNER_PID,
                           .tid = TEST_RUNNER_PID + 4 };
}

/* `offset`: of the function in the runner's image that allocates, below its test's. */
static u64 allocate(runner *r, u64 ns, u64 size, u64 offset)
{
    const u64 frames[] = { SYSTEM_BASE + 0x2c1f3, IMAGE_BASE + 0x1180, IMAGE_BASE + offset,
                           IMAGE_BASE + 0x1020 };
    const etl_build_at at = at_time(r, ns);
    const u64 address = r->address_next;
    r->address_next += (size + 31) / 16 * 16;
    etl_build_heap_alloc(r->b, at, r->heap, address, size);
    etl_build_stack_walk(r->b, at,
                         &(etl_build_stack){ .user = frames, .user_count = ETL_COUNT_OF(frames) });
    return address;
}

static void introduce(const runner *r)
{
    const etl_build_at at = at_time(r, 1000);
    const etl_build_process_spec process = { .pid = TEST_RUNNER_PID,
                                             .parent_pid = 4,
                                             .name = "UnitTests.exe",
                                             .command_line = "UnitTests.exe --marks" };
    const etl_build_image_spec images[] = {
        { .pid = TEST_RUNNER_PID,
          .base = IMAGE_BASE,
          .size = 0x40000,
          .time_date_stamp = 0x65a1b2c3,
          .path = "\\Device\\HarddiskVolume3\\out\\UnitTests.exe" },
        { .pid = TEST_RUNNER_PID,
          .base = SYSTEM_BASE,
          .size = 0x200000,
          .time_date_stamp = 0x65a1b2c4,
          .path = "\\Device\\HarddiskVolume3\\Windows\\System32\\ntdll.dll" }
    };
    etl_build_process(r->b, at, ETL_BUILD_DCSTART, &process);
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        etl_build_image(r->b, at, ETL_BUILD_DCSTART, &images[i]);
}

/* Blocks of a test: all but the last `left` are freed before it ends. */
static void run_test(runner *r, u32 number, u32 left, u64 size)
{
    const u64 start = (number + 1) * 1000 * MS;
    for (u32 i = 0; i < BLOCKS; i++) {
        const u64 address =
            allocate(r, start + (1 + i * 20) * MS, size, 0x2000 + 0x100 * (number + 1) + i % 3);
        if (i >= left)
            etl_build_heap_free(r->b, at_time(r, start + (11 + i * 20) * MS), r->heap, address);
    }
}

void scenario_test_runner(const scenario_run *run, etl_build *b)
{
    runner r = { .b = b, .address_next = 0x24b3c010850, .heap = 0x24b3c000000 };
    u64 fixtures[4];
    (void)run;
    introduce(&r);
    for (u32 i = 0; i < ETL_COUNT_OF(fixtures); i++)
        fixtures[i] = allocate(&r, (100 + i) * MS, FIXTURE_SIZE, 0x1f00);
    for (u32 i = 0; i < ETL_COUNT_OF(tests); i++) {
        etl_build_mark(b, at_time(&r, (i + 1) * 1000 * MS), tests[i]);
        if (i + 1 < ETL_COUNT_OF(tests))
            run_test(&r, i,
                     i == 1   ? TEST_RUNNER_SMALL_COUNT
                     : i == 3 ? TEST_RUNNER_LEAK_COUNT
                              : 0,
                     i == 3 ? TEST_RUNNER_LEAK_BYTES / TEST_RUNNER_LEAK_COUNT : 200);
    }
    for (u32 i = 0; i < ETL_COUNT_OF(fixtures); i++)
        etl_build_heap_free(b, at_time(&r, (6100 + i) * MS), r.heap, fixtures[i]);
}
