/*
 * scenario_handle.c - writes events of handles; scenario_handle.h says what the scenario holds.
 *
 * Each event has the thread that called, of the process whose handle it is, except for duplicates
 * and handles of the kernel. Stacks have the kernel's frames and then the program's.
 */
#include "scenario_handle.h"

#include "etl_build_inside.h"

#define MS          UINT64_C(1000000)
#define KERNEL_BASE UINT64_C(0xfffff80600000000)
#define WORKER_BASE UINT64_C(0x7ff640000000)
#define CLIENT_BASE UINT64_C(0x7ff650000000)
#define SHORT_BASE  UINT64_C(0x7ff660000000)
#define NTDLL_BASE  UINT64_C(0x7ffc80000000)
#define OBJECT_BASE UINT64_C(0xffffa70000100000)

enum { SYSTEM_PID = 4, WORKER_PID = 700, CLIENT_PID = 800, SHORT_PID = 900 };
enum { EVENT = 16, FILE_TYPE = 37, KEY = 44, SECTION = 42, TWO_NAMES = 60, NO_NAME = 61 };
enum { CREATE = 0x1120, CLOSE = 0x1121, DUPLICATE = 0x1122 };
enum { TYPE_AT_END = 0x1125, AT_START = 0x1126, AT_END = 0x1127 };

static u64 object_of(const handle_spec *handle)
{
    return OBJECT_BASE + (u64)handle->handle * 0x40;
}

void build_handle(etl_build *b, etl_build_at at, u16 hook, const handle_spec *handle)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, object_of(handle));
    build_put_u32(b, handle->handle);
    build_put_u16(b, handle->type);
    build_put_text16(b, handle->name);
    build_end(b, &at);
}

void build_handle_copy(etl_build *b, etl_build_at at, const handle_spec *handle, u32 target_pid,
                       u32 source_pid)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, DUPLICATE, ETL_BUILD_HEADER_SYSTEM, source_pid != 0 ? 3 : 2);
    build_put_pointer(b, object_of(handle));
    build_put_u32(b, handle->handle ^ 0x800);
    build_put_u32(b, handle->handle);
    build_put_u32(b, target_pid);
    build_put_u16(b, handle->type);
    if (source_pid != 0)
        build_put_u32(b, source_pid);
    build_end(b, &at);
}

void build_object_type(etl_build *b, etl_build_at at, u16 hook, u16 type, const char *name)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_u16(b, type);
    build_put_u16(b, 0);
    build_put_text16(b, name);
    build_end(b, &at);
}

void build_handle_row(etl_build *b, etl_build_at at, u16 hook, const handle_spec *handle, u32 pid)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_pointer(b, object_of(handle));
    build_put_u32(b, pid);
    build_put_u32(b, handle->handle);
    build_put_u16(b, handle->type);
    build_put_text16(b, handle->name);
    build_end(b, &at);
}

/* --- the scenario ----------------------------------------------------------------------- */

static etl_build_at at_time(etl_build *b, u64 ns, u32 pid)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(b, ns), .pid = pid, .tid = pid + 4 };
}

static const etl_build_process_spec processes[] = {
    { .pid = SYSTEM_PID, .name = "System" },
    { .pid = WORKER_PID, .parent_pid = SYSTEM_PID, .name = "worker.exe" },
    { .pid = CLIENT_PID, .parent_pid = SYSTEM_PID, .name = "client.exe" },
    { .pid = SHORT_PID, .parent_pid = WORKER_PID, .name = "short.exe" },
};

static void introduce(etl_build *b)
{
    const etl_build_image_spec images[] = {
        { .pid = 0,
          .base = KERNEL_BASE,
          .size = 0x1000000,
          .path = "\\SystemRoot\\system32\\ntoskrnl.exe" },
        { .pid = WORKER_PID,
          .base = WORKER_BASE,
          .size = 0x10000,
          .path = "\\Device\\HarddiskVolume3\\app\\worker.exe" },
        { .pid = WORKER_PID,
          .base = NTDLL_BASE,
          .size = 0x200000,
          .path = "\\Device\\HarddiskVolume3\\Windows\\System32\\ntdll.dll" },
        { .pid = CLIENT_PID,
          .base = CLIENT_BASE,
          .size = 0x10000,
          .path = "\\Device\\HarddiskVolume3\\app\\client.exe" },
    };
    for (u32 i = 0; i < 3; i++)
        etl_build_process(b, at_time(b, 1000, processes[i].pid), ETL_BUILD_DCSTART, &processes[i]);
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++)
        etl_build_image(b, at_time(b, 2000, images[i].pid), ETL_BUILD_DCSTART, &images[i]);
}

static void walk(etl_build *b, etl_build_at at, u64 offset)
{
    const u64 kernel[] = { KERNEL_BASE + 0x6f2a1, KERNEL_BASE + 0x6e118 };
    const u64 user[] = { NTDLL_BASE + 0x9d704, WORKER_BASE + offset, WORKER_BASE + 0x1020 };
    etl_build_stack_walk(b, at,
                         &(etl_build_stack){ .kernel = kernel,
                                             .kernel_count = ETL_COUNT_OF(kernel),
                                             .user = user,
                                             .user_count = ETL_COUNT_OF(user) });
}

static void open_in_worker(etl_build *b, u64 ns, const handle_spec *handle, u64 offset)
{
    const etl_build_at at = at_time(b, ns, WORKER_PID);
    build_handle(b, at, CREATE, handle);
    walk(b, at, offset);
}

static void write_worker(etl_build *b)
{
    for (u32 i = 0; i < HANDLE_LEAK_COUNT; i++)
        open_in_worker(b, (101 + 70 * i) * MS, &(handle_spec){ 0x1000 + 4 * i, EVENT, NULL },
                       0x2130);
    for (u32 i = 0; i < HANDLE_KEY_COUNT; i++)
        open_in_worker(b, (122 + 700 * i) * MS, &(handle_spec){ 0x2000 + 4 * i, KEY, NULL },
                       0x3210);
    for (u32 i = 0; i < HANDLE_FILE_COUNT; i++) {
        const handle_spec file = { 0x300 + i % 3 * 4, FILE_TYPE, "\\app\\settings.ini" };
        etl_build_at at = at_time(b, (143 + 100 * i) * MS, WORKER_PID);
        open_in_worker(b, (133 + 100 * i) * MS, &file, 0x4400);
        at.tid += 4;
        build_handle(b, at, CLOSE, &(handle_spec){ file.handle | 1, FILE_TYPE, file.name });
    }
    open_in_worker(b, 4310 * MS, &(handle_spec){ 0x400, TWO_NAMES, NULL }, 0x2130);
    open_in_worker(b, 4320 * MS, &(handle_spec){ 0x404, NO_NAME, NULL }, 0x2130);
}

static void write_odd(etl_build *b)
{
    const handle_spec of_kernel = { 0x80000a40, KEY, NULL };
    for (u32 i = 0; i < HANDLE_UNKNOWN_CLOSES; i++)
        build_handle(b, at_time(b, (4400 + i) * MS, WORKER_PID), CLOSE,
                     &(handle_spec){ 0xA00 + 4 * i, EVENT, NULL });
    build_handle(b, at_time(b, 4420 * MS, WORKER_PID), CREATE, &of_kernel);
    build_handle(b, at_time(b, 4421 * MS, WORKER_PID), CREATE,
                 &(handle_spec){ of_kernel.handle + 4, KEY, NULL });
    build_handle(b, at_time(b, 4422 * MS, CLIENT_PID), CLOSE, &of_kernel);
}

static void write_client(etl_build *b)
{
    for (u32 i = 0; i < HANDLE_COPY_COUNT; i++) {
        const handle_spec copy = { 0x500 + 4 * i, SECTION, NULL };
        const etl_build_at at = at_time(b, (1005 + 10 * i) * MS, WORKER_PID);
        build_handle_copy(b, at, &copy, CLIENT_PID, i % 2 == 0 ? WORKER_PID : 0);
        walk(b, at, 0x5550);
        if (i < 2)
            build_handle(b, at_time(b, (1100 + i) * MS, CLIENT_PID), CLOSE, &copy);
    }
    build_handle(b, at_time(b, 1200 * MS, CLIENT_PID), CLOSE,
                 &(handle_spec){ 0x600, FILE_TYPE, NULL });
}

static void write_short(etl_build *b)
{
    etl_build_process(b, at_time(b, 2000 * MS, WORKER_PID), ETL_BUILD_START, &processes[3]);
    for (u32 i = 0; i < 8; i++)
        build_handle(b, at_time(b, (2010 + i) * MS, SHORT_PID), CREATE,
                     &(handle_spec){ 0x20 + 4 * i, EVENT, NULL });
    for (u32 i = 0; i < 3; i++)
        build_handle(b, at_time(b, (2100 + i) * MS, SHORT_PID), CLOSE,
                     &(handle_spec){ 0x20 + 4 * i, EVENT, NULL });
    etl_build_process(b, at_time(b, 2200 * MS, SHORT_PID), ETL_BUILD_END, &processes[3]);
    etl_build_process(b, at_time(b, 3000 * MS, WORKER_PID), ETL_BUILD_START, &processes[3]);
    for (u32 i = 0; i < 2; i++)
        build_handle(b, at_time(b, (3010 + i) * MS, SHORT_PID), CREATE,
                     &(handle_spec){ 0x30 + 4 * i, EVENT, NULL });
    build_handle(b, at_time(b, 3020 * MS, SHORT_PID), CLOSE, &(handle_spec){ 0x30, EVENT, NULL });
}

static void write_rows(etl_build *b, u64 ns, u16 hook, u32 pid, handle_spec first, u32 count)
{
    for (u32 i = 0; i < count; i++, first.handle += 4)
        build_handle_row(b, at_time(b, ns, pid), hook, &first, pid);
}

/* What is open, but for the first handle that worker.exe leaks. */
static void write_end(etl_build *b)
{
    const u64 ns = 5000 * MS;
    write_rows(b, ns, AT_END, WORKER_PID, (handle_spec){ 0x1004, EVENT, NULL },
               HANDLE_LEAK_COUNT - 1);
    write_rows(b, ns, AT_END, WORKER_PID, (handle_spec){ 0x2000, KEY, NULL }, HANDLE_KEY_COUNT);
    write_rows(b, ns, AT_END, WORKER_PID, (handle_spec){ 0x700, EVENT, NULL }, 3);
    write_rows(b, ns, AT_END, WORKER_PID, (handle_spec){ 0x400, TWO_NAMES, NULL }, 1);
    write_rows(b, ns, AT_END, WORKER_PID, (handle_spec){ 0x404, NO_NAME, NULL }, 1);
    write_rows(b, ns, AT_END, CLIENT_PID, (handle_spec){ 0x508, SECTION, NULL }, 3);
    write_rows(b, ns, AT_END, CLIENT_PID, (handle_spec){ 0x604, FILE_TYPE, NULL }, 3);
    write_rows(b, ns, AT_END, CLIENT_PID, (handle_spec){ 0xF00, FILE_TYPE, NULL }, 1);
    write_rows(b, ns, AT_END, SHORT_PID, (handle_spec){ 0x34, EVENT, NULL }, 1);
    write_rows(b, ns, AT_END, SYSTEM_PID, (handle_spec){ 0x80000a44, KEY, NULL }, 1);
}

void scenario_handle_leak(const scenario_run *run, etl_build *b)
{
    static const struct {
        u16 type;
        const char *name;
    } types[] = { { EVENT, "Event" },     { FILE_TYPE, "File" },  { KEY, "Key" },
                  { SECTION, "Section" }, { TWO_NAMES, "Alpha" }, { TWO_NAMES, "Beta" } };
    (void)run;
    introduce(b);
    write_rows(b, 10 * MS, AT_START, WORKER_PID, (handle_spec){ 0x700, EVENT, NULL }, 3);
    write_rows(b, 10 * MS, AT_START, CLIENT_PID, (handle_spec){ 0x600, FILE_TYPE, NULL }, 4);
    write_worker(b);
    write_client(b);
    write_short(b);
    write_odd(b);
    write_end(b);
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++)
        build_object_type(b, at_time(b, 5001 * MS, SYSTEM_PID), TYPE_AT_END, types[i].type,
                          types[i].name);
}
