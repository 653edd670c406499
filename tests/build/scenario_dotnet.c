/*
 * scenario_dotnet.c - writes native memory below methods of .NET; scenario_dotnet.h says what the
 * scenario holds.
 *
 * In: nothing. Out: calls of the builder. Invariant: every stack of a request goes from native code
 * through a stub of the runtime to the methods that called it.
 */
#include "scenario_dotnet.h"

#include "etl_build_inside.h"

#define MS      UINT64_C(1000000)
#define PID     6200u
#define TID     6204u
#define HEAP    UINT64_C(0x1f0000)
#define BLOCKS  UINT64_C(0x20000000000)
#define GC_BASE UINT64_C(0x21000000000)

#define APP     UINT64_C(0x7ff640000000)
#define CODE    UINT64_C(0x7ff7a0000000) /* compiled methods */
#define IMAGING UINT64_C(0x7ff7f0000000)
#define CORECLR UINT64_C(0x7ff800000000)
#define BASE    UINT64_C(0x7ff80d000000)
#define UCRT    UINT64_C(0x7ff80e000000)
#define NTDLL   UINT64_C(0x7ff810000000)

enum { APP_ASSEMBLY = 0x1000, CORE_ASSEMBLY = 0x2000, STUB_ASSEMBLY = 0x3000 };
enum {
    IN_CREATE = 0x1000,
    IN_HANDLE = 0x2000,
    IN_ADD = 0x3000,
    IN_ALLOC = 0x4000,
    IN_STUB = 0x5000
};

static const etl_build_method_spec methods[] = {
    { .start = CODE + IN_CREATE,
      .size = 0x200,
      .module_id = APP_ASSEMBLY,
      .name_space = "OrderService.Images.Thumbnail",
      .name = "Create" },
    { .start = CODE + IN_HANDLE,
      .size = 0x400,
      .module_id = APP_ASSEMBLY,
      .name_space = "OrderService.Http.RequestHandler",
      .name = "Handle" },
    { .start = CODE + IN_ADD,
      .size = 0x180,
      .module_id = APP_ASSEMBLY,
      .name_space = "OrderService.Cache",
      .name = "Add" },
    { .start = CODE + IN_ALLOC,
      .size = 0x80,
      .module_id = CORE_ASSEMBLY,
      .name_space = "System.Runtime.InteropServices.Marshal",
      .name = "AllocHGlobal" },
    { .start = CODE + IN_STUB,
      .size = 0x100,
      .module_id = STUB_ASSEMBLY,
      .name_space = "dynamicClass",
      .name = "IL_STUB_PInvoke" },
};

static etl_build_at at_time(etl_build *b, u64 ns)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(b, ns), .pid = PID, .tid = TID };
}

static void introduce(etl_build *b)
{
    static const struct {
        u64 base;
        u32 size;
        const char *path, *pdb;
    } images[] = {
        { APP, 0x20000, "\\Device\\HarddiskVolume3\\app\\OrderService.exe", "orderservice.pdb" },
        { IMAGING, 0x40000, "\\Device\\HarddiskVolume3\\app\\imaging.dll", "imaging.pdb" },
        { CORECLR, 0x500000, "\\Device\\HarddiskVolume3\\dotnet\\coreclr.dll", "coreclr.pdb" },
        { BASE, 0x300000, "\\Device\\HarddiskVolume3\\Windows\\System32\\KernelBase.dll",
          "kernelbase.pdb" },
        { UCRT, 0x100000, "\\Device\\HarddiskVolume3\\Windows\\System32\\ucrtbase.dll",
          "ucrtbase.pdb" },
        { NTDLL, 0x1f0000, "\\Device\\HarddiskVolume3\\Windows\\System32\\ntdll.dll", "ntdll.pdb" },
    };
    etl_build_process(b, at_time(b, 1000), ETL_BUILD_DCSTART,
                      &(etl_build_process_spec){ .pid = PID, .name = "OrderService.exe" });
    for (size_t i = 0; i < ETL_COUNT_OF(images); i++) {
        const etl_build_at at = at_time(b, 2000 + i * 1000);
        const etl_build_image_spec image = {
            .pid = PID, .base = images[i].base, .size = images[i].size, .path = images[i].path
        };
        etl_build_image_id(
            b, at, &image,
            &(etl_build_pdb_spec){ .guid = { (u8)(i + 1) }, .age = 1, .name = images[i].pdb });
        etl_build_image(b, at, ETL_BUILD_DCSTART, &image);
    }
}

static void put_stack(etl_build *b, etl_build_at at, const u64 *frames, u32 count)
{
    etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = count });
}

/* The heap of the garbage collector, in two commits. */
static void write_collector(etl_build *b)
{
    static const u64 frames[] = { NTDLL + 0x9d3c4, BASE + 0x3f5a1, CORECLR + 0x2a3b40,
                                  CORECLR + 0x2a1f08, NTDLL + 0x526b1 };
    for (u32 i = 0; i < 2; i++) {
        const etl_build_at at = at_time(b, (20 + 10 * i) * MS);
        etl_build_virtual_alloc(b, at, GC_BASE + i * DOTNET_GC_BYTES, DOTNET_GC_BYTES, 0x3000);
        put_stack(b, at, frames, ETL_COUNT_OF(frames));
    }
}

/* Thumbnail.Create calls imaging.dll, at `site`. */
static void call_imaging(etl_build *b, u64 ns, u64 site, u64 address, u64 size)
{
    const u64 frames[] = { NTDLL + 0x2c1f3,          UCRT + 0x1fe26,        IMAGING + site,
                           IMAGING + 0x1c20,         CODE + IN_STUB + 0x8e, CODE + IN_CREATE + 0x64,
                           CODE + IN_HANDLE + 0x1b2, CORECLR + 0x1a2b40,    NTDLL + 0x526b1 };
    const etl_build_at at = at_time(b, ns);
    etl_build_heap_alloc(b, at, HEAP, address, size);
    put_stack(b, at, frames, ETL_COUNT_OF(frames));
}

static void call_alloc_global(etl_build *b, u64 ns, u64 address)
{
    static const u64 frames[] = { NTDLL + 0x2c1f3,       BASE + 0x1f2e0,
                                  CODE + IN_STUB + 0x8e, CODE + IN_ALLOC + 0x2c,
                                  CODE + IN_ADD + 0x91,  CODE + IN_HANDLE + 0x20c,
                                  CORECLR + 0x1a2b40,    NTDLL + 0x526b1 };
    const etl_build_at at = at_time(b, ns);
    etl_build_heap_alloc(b, at, HEAP, address, DOTNET_GLOBAL_BYTES);
    put_stack(b, at, frames, ETL_COUNT_OF(frames));
}

static void write_requests(etl_build *b)
{
    for (u32 i = 0; i < DOTNET_REQUESTS; i++) {
        const u64 ns = (100 + 50 * i) * MS, block = BLOCKS + (u64)i * 0x20000;
        call_imaging(b, ns, 0x4a10, block, DOTNET_IMAGE_BYTES);
        call_imaging(b, ns + 1000, 0x5b30, block + 0x8000, DOTNET_BUFFER_BYTES);
        if (i % 4 == 0)
            call_alloc_global(b, ns + 2000, block + 0x1c000);
        etl_build_heap_free(b, at_time(b, ns + 20 * MS), HEAP, block + 0x8000);
    }
}

/* The rundown of the runtime, as the recording ends. */
static void write_rundown(etl_build *b)
{
    const u64 ns = (100 + 50 * DOTNET_REQUESTS) * MS;
    etl_build_assembly(b, at_time(b, ns), ETL_BUILD_ASSEMBLY_DCSTOP, true, APP_ASSEMBLY,
                       "C:\\app\\OrderService.dll");
    etl_build_assembly(b, at_time(b, ns), ETL_BUILD_ASSEMBLY_DCSTOP, true, CORE_ASSEMBLY,
                       "C:\\dotnet\\System.Private.CoreLib.dll");
    for (size_t i = 0; i < ETL_COUNT_OF(methods); i++)
        etl_build_method(b, at_time(b, ns + 1000), ETL_BUILD_METHOD_UNLOAD, true, &methods[i]);
}

void scenario_dotnet(const scenario_run *run, etl_build *b)
{
    (void)run;
    introduce(b);
    write_collector(b);
    etl_build_heap_create(b, at_time(b, 40 * MS), HEAP);
    write_requests(b);
    write_rundown(b);
}
