/*
 * scenario_pool.c - writes pool events; scenario_pool.h says what the scenario holds.
 *
 * Pool events of the kernel name no thread unless their header does. Here most have one, of the
 * process that asked, whose stack begins in a driver; those of setup.exe have it only in the stack.
 */
#include "scenario_pool.h"

#include "etl_build_inside.h"

#include <string.h>

#define MS          UINT64_C(1000000)
#define KERNEL_BASE UINT64_C(0xfffff80600000000)
#define DRIVER_BASE UINT64_C(0xfffff80710000000)
#define WORKER_BASE UINT64_C(0x7ff640000000)
#define ENTRY_BASE  UINT64_C(0xffffa70000100000)
#define GSES_ENTRY  UINT64_C(0xffff950000200040)
#define SETUP_BASE  UINT64_C(0x7ff650000000)
#define WORKER_PID  700u
#define SETUP_PID   800u
#define SYSTEM_PID  4u

#define POOL_OLD_COUNT 3u
#define POOL_LIVE_MAX  (POOL_LEAK_COUNT + POOL_SETUP_COUNT + POOL_OLD_COUNT)

enum { NONPAGED_NX = 512, PAGED = 1, PAGED_SESSION = 0x21, BIG = 0x10000000 };

static void put_block(etl_build *b, const pool_spec *block)
{
    u32 tag;
    memcpy(&tag, block->tag, sizeof tag);
    build_put_u32(b, block->type);
    build_put_u32(b, tag);
    build_put_pointer(b, block->size);
    build_put_pointer(b, block->entry);
}

void build_pool(etl_build *b, etl_build_at at, u16 hook, const pool_spec *block, u32 session)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_SYSTEM, 2);
    put_block(b, block);
    if ((hook & 1) != 0)
        build_put_u32(b, session);
    build_end(b, &at);
}

void build_pool_list(etl_build *b, etl_build_at at, u16 hook, const pool_spec *blocks, u32 count,
                     u32 extra_bytes)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_PERFINFO, 2);
    for (u32 i = 0; i < count; i++)
        put_block(b, &blocks[i]);
    build_put_zeros(b, extra_bytes);
    build_end(b, &at);
}

static etl_build_at at_time(etl_build *b, u64 ns, u32 pid)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(b, ns), .pid = pid, .tid = pid + 4 };
}

static const etl_build_process_spec setup_process = { .pid = SETUP_PID,
                                                      .parent_pid = SYSTEM_PID,
                                                      .name = "setup.exe" };

static void introduce(etl_build *b)
{
    const etl_build_process_spec processes[] = {
        { .pid = SYSTEM_PID, .name = "System" },
        { .pid = WORKER_PID, .parent_pid = SYSTEM_PID, .name = "worker.exe" },
        setup_process,
    };
    const etl_build_image_spec images[] = {
        { .pid = 0,
          .base = KERNEL_BASE,
          .size = 0x1000000,
          .path = "\\SystemRoot\\system32\\ntoskrnl.exe" },
        { .pid = 0,
          .base = DRIVER_BASE,
          .size = 0x20000,
          .path = "\\SystemRoot\\system32\\drivers\\leaky.sys" },
        { .pid = WORKER_PID,
          .base = WORKER_BASE,
          .size = 0x10000,
          .path = "\\Device\\HarddiskVolume3\\app\\worker.exe" },
        { .pid = SETUP_PID,
          .base = SETUP_BASE,
          .size = 0x10000,
          .path = "\\Device\\HarddiskVolume3\\app\\setup.exe" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(processes); i++)
        etl_build_process(b, at_time(b, 1000, processes[i].pid), ETL_BUILD_DCSTART, &processes[i]);
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        etl_build_image(b, at_time(b, 2000, images[i].pid), ETL_BUILD_DCSTART, &images[i]);
}

/* The stack of an allocation by the driver for a program. */
static void walk(etl_build *b, etl_build_at at, u64 offset, u64 program)
{
    const u64 kernel[] = { KERNEL_BASE + 0x2c1f3, DRIVER_BASE + offset, KERNEL_BASE + 0x9a10 };
    const u64 user[] = { program + 0x1180, program + 0x1020 };
    etl_build_stack_walk(b, at,
                         &(etl_build_stack){ .kernel = kernel,
                                             .kernel_count = ETL_COUNT_OF(kernel),
                                             .user = user,
                                             .user_count = ETL_COUNT_OF(user) });
}

static void allocate(etl_build *b, u64 ns, const pool_spec *block, u64 offset)
{
    const etl_build_at at = at_time(b, ns, WORKER_PID);
    build_pool(b, at, 0x0e20, block, 0);
    walk(b, at, offset, WORKER_BASE);
}

/* Asks for blocks and ends. Only the stacks say who asked. The first block is freed later. */
static void write_setup(etl_build *b, pool_spec *blocks)
{
    for (u32 i = 0; i < POOL_SETUP_COUNT; i++) {
        const etl_build_at at = at_time(b, (3300 + 20 * i) * MS, SETUP_PID);
        blocks[i] =
            (pool_spec){ NONPAGED_NX, "Irp ", POOL_SETUP_BYTES, ENTRY_BASE + 0xC0000 + i * 0x200 };
        build_pool_list(b, at, 0x0e20, &blocks[i], 1, 0);
        walk(b, at, 0x3300, SETUP_BASE);
    }
    etl_build_process(b, at_time(b, 3800 * MS, SETUP_PID), ETL_BUILD_END, &setup_process);
    build_pool(b, at_time(b, 4000 * MS, SYSTEM_PID), 0x0e22, &blocks[0], 0);
}

static void write_temporary(etl_build *b, bool is_odd)
{
    for (u32 i = 0; i < POOL_TEMP_COUNT; i++) {
        pool_spec block = { NONPAGED_NX, "Temp", 96, ENTRY_BASE + 0x90000 + i % 3 * 0x100 };
        allocate(b, (105 + 50 * i) * MS, &block, 0x2200);
        block.size += is_odd && i == 7; /* its free states another size */
        build_pool(b, at_time(b, (120 + 50 * i) * MS, SYSTEM_PID), 0x0e22, &block, 0);
    }
}

/* A block of several pages, and the page that was added for smaller ones. Neither counts twice. */
static void write_pages(etl_build *b)
{
    const pool_spec big = { BIG | NONPAGED_NX, "Big1", 16384, ENTRY_BASE + 0xD0000 };
    const pool_spec page = { NONPAGED_NX, "Big1", 4096, ENTRY_BASE + 0xE0000 };
    build_pool(b, at_time(b, 2800 * MS, WORKER_PID), 0x0e24, &page, 0);
    build_pool(b, at_time(b, 2810 * MS, WORKER_PID), 0x0e26, &big, 0);
    build_pool(b, at_time(b, 2810 * MS, WORKER_PID), 0x0e20, &big, 0);
    build_pool(b, at_time(b, 2900 * MS, WORKER_PID), 0x0e22, &big, 0);
}

static void write_sessions(etl_build *b)
{
    const pool_spec block = { PAGED_SESSION, "Gses", 2048, GSES_ENTRY };
    build_pool(b, at_time(b, 3000 * MS, WORKER_PID), 0x0e21, &block, 1);
    build_pool(b, at_time(b, 3010 * MS, WORKER_PID), 0x0e21, &block, 2);
    build_pool(b, at_time(b, 3020 * MS, WORKER_PID), 0x0e23, &block, 1);
}

/* Lists the blocks from before the trace. */
static void write_old(etl_build *b, pool_spec old[POOL_OLD_COUNT])
{
    for (u32 i = 0; i < POOL_OLD_COUNT; i++)
        old[i] = (pool_spec){ NONPAGED_NX, "Old1", 256, ENTRY_BASE + 0x80000 + i * 0x200 };
    build_pool_list(b, at_time(b, 10 * MS, SYSTEM_PID), 0x0e28, old, POOL_OLD_COUNT, 0);
}

static void write_leak(etl_build *b, pool_spec *blocks, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        blocks[i] = (pool_spec){ PAGED, "Leak", POOL_LEAK_BYTES, ENTRY_BASE + i * 0x400 };
        allocate(b, (100 + 50 * i) * MS, &blocks[i], 0x1100);
    }
}

/* What both sorts of runs have. Fills `live` with what is outstanding at the end, and returns how
 * many that are. */
static u32 write_run(etl_build *b, u32 leak_count, bool is_odd, pool_spec live[POOL_LIVE_MAX])
{
    pool_spec old[POOL_OLD_COUNT], setup[POOL_SETUP_COUNT];
    u32 count = leak_count;
    introduce(b);
    write_old(b, old);
    write_leak(b, live, leak_count);
    write_temporary(b, is_odd);
    build_pool(b, at_time(b, 3100 * MS, SYSTEM_PID), 0x0e22, &old[0], 0);
    write_setup(b, setup);
    for (u32 i = 1; i < POOL_SETUP_COUNT; i++)
        live[count++] = setup[i];
    for (u32 i = 1; i < POOL_OLD_COUNT; i++)
        live[count++] = old[i];
    return count;
}

void scenario_pool_leak(const scenario_run *run, etl_build *b)
{
    pool_spec live[POOL_LIVE_MAX];
    const pool_spec odd = { NONPAGED_NX, "Odd1", 64, ENTRY_BASE + 0xF0000 };
    u32 count = write_run(b, POOL_LEAK_COUNT, true, live);
    (void)run;
    build_pool_list(b, at_time(b, 11 * MS, SYSTEM_PID), 0x0e28, &odd, 1, 5);
    write_pages(b);
    write_sessions(b);
    for (u32 i = 0; i < POOL_UNKNOWN_FREES; i++)
        build_pool(b, at_time(b, (3200 + i) * MS, SYSTEM_PID), 0x0e22,
                   &(pool_spec){ PAGED, "Gone", 64, ENTRY_BASE + 0xA0000 + i * 0x100 }, 0);
    live[0] = (pool_spec){ PAGED, "Late", 4096, ENTRY_BASE + 0xB0000 };
    build_pool_list(b, at_time(b, 5000 * MS, SYSTEM_PID), 0x0e29, live, count, 0);
    build_pool_list(b, at_time(b, 5001 * MS, SYSTEM_PID), 0x0e2d,
                    &(pool_spec){ PAGED_SESSION, "Gses", 2048, GSES_ENTRY }, 1, 0);
}

static void write_sound(etl_build *b, u32 leak_count)
{
    pool_spec live[POOL_LIVE_MAX];
    const u32 count = write_run(b, leak_count, false, live);
    build_pool_list(b, at_time(b, 5000 * MS, SYSTEM_PID), 0x0e29, live, count, 0);
}

void scenario_pool_driver(const scenario_run *run, etl_build *b)
{
    (void)run;
    write_sound(b, POOL_LEAK_COUNT);
}

void scenario_pool_before(const scenario_run *run, etl_build *b)
{
    (void)run;
    write_sound(b, POOL_BEFORE_COUNT);
}
