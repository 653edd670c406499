/*
 * scenario_section.c - writes sections of the page file; scenario_section.h says what the scenario
 * holds.
 */
#include "scenario_section.h"

#include "etl_build_inside.h"

#define MS          UINT64_C(1000000)
#define BROKER_BASE UINT64_C(0x7ff640000000)
#define KERNEL_BASE UINT64_C(0xfffff80600000000)
#define PTES_BASE   UINT64_C(0xffff82082c400000)
#define BROKER_PID  700u
#define CLIENT_PID  900u
#define SYSTEM_PID  4u
#define CREATE      0x0249u
#define DELETE      0x024fu
#define RUNDOWN     0x0248u

static void put_section(etl_build *b, etl_build_at at, u16 hook, u64 base, u64 bytes, u32 pid)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, base);
    build_put_pointer(b, base + bytes / 4096 * 8);
    build_put_u32(b, pid);
    build_end(b, &at);
}

static etl_build_at at_time(etl_build *b, u64 ns, u32 pid)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(b, ns), .pid = pid, .tid = pid + 4 };
}

static void introduce(etl_build *b)
{
    const etl_build_process_spec processes[] = {
        { .pid = SYSTEM_PID, .name = "System" },
        { .pid = BROKER_PID, .parent_pid = SYSTEM_PID, .name = "broker.exe" },
        { .pid = CLIENT_PID, .parent_pid = BROKER_PID, .name = "client.exe" },
    };
    const etl_build_image_spec images[] = {
        { .pid = 0,
          .base = KERNEL_BASE,
          .size = 0x1000000,
          .path = "\\SystemRoot\\system32\\ntoskrnl.exe" },
        { .pid = BROKER_PID,
          .base = BROKER_BASE,
          .size = 0x10000,
          .path = "\\Device\\HarddiskVolume3\\app\\broker.exe" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(processes); i++)
        etl_build_process(b, at_time(b, 1000, processes[i].pid), ETL_BUILD_DCSTART, &processes[i]);
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        etl_build_image(b, at_time(b, 2000, images[i].pid), ETL_BUILD_DCSTART, &images[i]);
    etl_build_process(b, at_time(b, 4000 * MS, BROKER_PID), ETL_BUILD_END, &processes[1]);
}

static void create(etl_build *b, u64 ns, u64 base)
{
    const u64 kernel[] = { KERNEL_BASE + 0x71c20, KERNEL_BASE + 0x60010 };
    const u64 user[] = { BROKER_BASE + 0x1180, BROKER_BASE + 0x1020 };
    const etl_build_at at = at_time(b, ns, BROKER_PID);
    put_section(b, at, CREATE, base, SECTION_LEAK_BYTES, BROKER_PID);
    etl_build_stack_walk(b, at,
                         &(etl_build_stack){ .kernel = kernel,
                                             .kernel_count = ETL_COUNT_OF(kernel),
                                             .user = user,
                                             .user_count = ETL_COUNT_OF(user) });
}

void scenario_section_leak(const scenario_run *run, etl_build *b)
{
    (void)run;
    introduce(b);
    put_section(b, at_time(b, 10 * MS, SYSTEM_PID), RUNDOWN, PTES_BASE + 0x80000, SECTION_OLD_BYTES,
                CLIENT_PID);
    for (u32 i = 0; i < SECTION_LEAK_COUNT; i++)
        create(b, (100 + 100 * i) * MS, PTES_BASE + i * UINT64_C(0x1000));
    for (u32 i = 0; i < SECTION_TEMP_COUNT; i++) {
        const u64 base = PTES_BASE + 0x90000 + i % 2 * UINT64_C(0x1000);
        put_section(b, at_time(b, (150 + 100 * i) * MS, CLIENT_PID), CREATE, base,
                    SECTION_TEMP_BYTES, CLIENT_PID);
        put_section(b, at_time(b, (180 + 100 * i) * MS, SYSTEM_PID), DELETE, base,
                    SECTION_TEMP_BYTES, CLIENT_PID);
    }
    put_section(b, at_time(b, 3000 * MS, CLIENT_PID), CREATE, 0x1000, 0 - (u64)0x8000, CLIENT_PID);
    put_section(b, at_time(b, 3100 * MS, SYSTEM_PID), DELETE, PTES_BASE + 0xb0000,
                SECTION_TEMP_BYTES, CLIENT_PID);
    put_section(b, at_time(b, 3500 * MS, SYSTEM_PID), RUNDOWN, PTES_BASE, SECTION_LEAK_BYTES,
                BROKER_PID);
}
