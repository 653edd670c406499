/*
 * scenario_mapped.c - writes views of files; scenario_mapped.h says what the scenario holds.
 *
 * The kernel logs a view in the thread that maps it, whichever process owns the view, and walks the
 * stack of that thread.
 */
#include "scenario_mapped.h"

#include "etl_build_inside.h"

#define MS           UINT64_C(1000000)
#define VIEWER_BASE  UINT64_C(0x7ff640000000)
#define GONE_BASE    UINT64_C(0x7ff650000000)
#define KERNEL_BASE  UINT64_C(0xfffff80600000000)
#define VIEWS_BASE   UINT64_C(0x1c0b0000000)
#define FILES_BASE   UINT64_C(0xffff82082c300000)
#define VIEWER_PID   700u
#define GONE_PID     900u
#define SYSTEM_PID   4u
#define FOLDER       "\\Device\\HarddiskVolume3\\app\\"
#define HOOK_MAP     0x0425u
#define HOOK_UNMAP   0x0426u
#define HOOK_DCSTART 0x0427u
#define HOOK_DCEND   0x0428u

enum { DATA, VIEWER, FONT, SHARED, TEMP, LATE, TEMPORARY, FILES };

static u64 file_of(u32 number)
{
    return FILES_BASE + (u64)number * 0x170;
}

void build_view(etl_build *b, etl_build_at at, u16 hook, const view_spec *view)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_pointer(b, view->base);
    build_put_pointer(b, view->file);
    build_put_u64(b, UINT64_C(0x00c1000000000000)); /* MiscInfo, as in a real record */
    build_put_pointer(b, view->size);
    build_put_u64(b, view->offset);
    build_put_u32(b, view->pid);
    build_end(b, &at);
}

void build_file_name(etl_build *b, etl_build_at at, u16 hook, u64 file, const char *path)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_pointer(b, file);
    build_put_text16(b, path);
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
        { .pid = VIEWER_PID, .parent_pid = SYSTEM_PID, .name = "viewer.exe" },
        { .pid = GONE_PID, .parent_pid = VIEWER_PID, .name = "gone.exe" },
    };
    const etl_build_image_spec images[] = {
        { .pid = 0,
          .base = KERNEL_BASE,
          .size = 0x1000000,
          .path = "\\SystemRoot\\system32\\ntoskrnl.exe" },
        { .pid = VIEWER_PID, .base = VIEWER_BASE, .size = 0x10000, .path = FOLDER "viewer.exe" },
        { .pid = GONE_PID, .base = GONE_BASE, .size = 0x10000, .path = FOLDER "gone.exe" },
    };
    etl_build_volume(b, at_time(b, 500, SYSTEM_PID), "\\Device\\HarddiskVolume3\\", "C:\\");
    for (size_t i = 0; i < ETL_COUNT_OF(processes); i++)
        etl_build_process(b, at_time(b, 1000, processes[i].pid), ETL_BUILD_DCSTART, &processes[i]);
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        etl_build_image(b, at_time(b, 2000, images[i].pid), ETL_BUILD_DCSTART, &images[i]);
    etl_build_process(b, at_time(b, 4000 * MS, GONE_PID), ETL_BUILD_END, &processes[2]);
}

static void map(etl_build *b, u64 ns, u32 caller, const view_spec *view, u64 offset)
{
    const u64 kernel[] = { KERNEL_BASE + 0x61c20, KERNEL_BASE + 0x60010 };
    const u64 base = caller == GONE_PID ? GONE_BASE : VIEWER_BASE;
    const u64 user[] = { base + offset, base + 0x1020 };
    const etl_build_at at = at_time(b, ns, caller);
    build_view(b, at, HOOK_MAP, view);
    etl_build_stack_walk(
        b, at,
        &(etl_build_stack){ .kernel = kernel,
                            .kernel_count = ETL_COUNT_OF(kernel),
                            .user = user,
                            .user_count = caller == SYSTEM_PID ? 0 : ETL_COUNT_OF(user) });
}

static view_spec viewer_view(u32 place, u32 file, u64 size)
{
    return (view_spec){ VIEWS_BASE + (u64)place * 0x100000, file_of(file), size, 0, VIEWER_PID };
}

static void write_temporary(etl_build *b)
{
    for (u32 i = 0; i < MAPPED_TEMP_COUNT; i++) {
        const view_spec view = viewer_view(100 + 2 * (i % 3), TEMP, 0x180000);
        map(b, (150 + 100 * i) * MS, VIEWER_PID, &view, 0x2200);
        build_view(b, at_time(b, (180 + 100 * i) * MS, VIEWER_PID), HOOK_UNMAP, &view);
    }
}

/* One key names two files, one after the other. */
static void write_reused_key(etl_build *b)
{
    const view_spec first = viewer_view(120, TEMPORARY, 0x8000);
    const view_spec second = viewer_view(121, TEMPORARY, 0xc000);
    const u64 key = file_of(TEMPORARY);
    build_file_name(b, at_time(b, 2400 * MS, SYSTEM_PID), 0x0420, key, FOLDER "first.tmp");
    map(b, 2410 * MS, VIEWER_PID, &first, 0x2800);
    build_file_name(b, at_time(b, 2420 * MS, SYSTEM_PID), 0x0423, key, FOLDER "first.tmp");
    map(b, 2430 * MS, VIEWER_PID, &second, 0x2800);
    build_file_name(b, at_time(b, 2440 * MS, SYSTEM_PID), 0x0420, key, FOLDER "second.tmp");
}

static void write_exit(etl_build *b)
{
    for (u32 i = 0; i < 3; i++) {
        const view_spec view = { VIEWS_BASE + i * UINT64_C(0x100000), file_of(DATA), 0x1000, 0,
                                 GONE_PID };
        map(b, (3000 + i) * MS, GONE_PID, &view, 0x1500);
    }
}

static void write_names(etl_build *b)
{
    static const char *const names[FILES] = {
        [DATA] = FOLDER "data.bin",       [VIEWER] = FOLDER "viewer.exe",
        [FONT] = FOLDER "font.ttf",       [SHARED] = FOLDER "shared.dat",
        [TEMP] = FOLDER "temp.dat",       [LATE] = FOLDER "late.dat",
        [TEMPORARY] = FOLDER "second.tmp"
    };
    for (u32 i = 0; i < FILES; i++)
        build_file_name(b, at_time(b, 5010 * MS, SYSTEM_PID), 0x0424, file_of(i), names[i]);
}

void scenario_mapped_views(const scenario_run *run, etl_build *b)
{
    const view_spec image = { VIEWER_BASE, file_of(VIEWER), 0x10000, 0, VIEWER_PID };
    const view_spec fonts[] = { viewer_view(80, FONT, 0x40000), viewer_view(81, FONT, 0x40000) };
    const view_spec shared = viewer_view(90, SHARED, 0x4000);
    const view_spec late = viewer_view(91, LATE, 0x2000);
    view_spec unnamed = viewer_view(92, 0, 0x3000);
    unnamed.file = MAPPED_UNNAMED_KEY;
    (void)run;
    introduce(b);
    build_view(b, at_time(b, 10 * MS, SYSTEM_PID), HOOK_DCSTART, &image);
    for (u32 i = 0; i < ETL_COUNT_OF(fonts); i++)
        build_view(b, at_time(b, 10 * MS, SYSTEM_PID), HOOK_DCSTART, &fonts[i]);
    for (u32 i = 0; i < MAPPED_LEAK_COUNT; i++) {
        const view_spec leak = viewer_view(i, DATA, MAPPED_LEAK_BYTES);
        map(b, (100 + 100 * i) * MS, VIEWER_PID, &leak, 0x1180);
        if (i > 0)
            build_view(b, at_time(b, 5000 * MS, SYSTEM_PID), HOOK_DCEND, &leak);
    }
    write_temporary(b);
    write_reused_key(b);
    write_exit(b);
    map(b, 2500 * MS, SYSTEM_PID, &shared, 0);
    map(b, 2510 * MS, VIEWER_PID, &unnamed, 0x2900);
    build_view(b, at_time(b, 2600 * MS, VIEWER_PID), HOOK_UNMAP, &fonts[0]);
    for (u32 i = 0; i < MAPPED_UNKNOWN_UNMAPS; i++) {
        const view_spec unknown = viewer_view(130 + i, DATA, 0x1000);
        build_view(b, at_time(b, (2700 + i) * MS, VIEWER_PID), HOOK_UNMAP, &unknown);
    }
    const view_spec listed[] = { image,
                                 fonts[1],
                                 shared,
                                 unnamed,
                                 late,
                                 viewer_view(120, TEMPORARY, 0x8000),
                                 viewer_view(121, TEMPORARY, 0xc000) };
    for (u32 i = 0; i < ETL_COUNT_OF(listed); i++)
        build_view(b, at_time(b, 5000 * MS, SYSTEM_PID), HOOK_DCEND, &listed[i]);
    write_names(b);
}
