/*
 * etl_build_system.c - payloads about the system: processes, threads, images, what merges inject
 * about images, and the machine.
 *
 * In: calls with values. Out: payload bytes in the builder's record. Structures are byte packed; P
 * is the pointer width of the record. Invariant: versions differ in their fields, so each field is
 * written only from the version on that brought it.
 * Sources: kernel MOF (Process_V*, Thread_V*, Image_V*, SystemConfig_V*), the ImageID and
 * SysConfigEx layouts of PerfView's KernelTraceEventParser; both agree with the real recordings the
 * tests read.
 */
#include "etl_build_inside.h"

#define CLASS_IMAGE_ID   "b3e675d7-2554-4f18-830b-2762732560de"
#define CLASS_SYS_CONFIG "9b79ee91-b5fd-41c0-a243-4248e266e9d0"
#define CLASS_LOST_EVENT "6a399ae0-4bc6-4de9-870b-3657f8947e7e"

#define HOOK_PROCESS_TERMINATE 0x030Bu
#define HOOK_IMAGE_LOAD        0x030Au
#define HOOK_THREAD_NAME       0x0548u
#define HOOK_KERNEL_BASE       0x1421u
#define HOOK_CONFIG_CPU        0x0B0Au
#define HOOK_CONFIG_PLATFORM   0x0B19u
#define HOOK_DEVICE_FAMILY     0x0B21u
#define HOOK_MARK              0x0F22u

#define STILL_RUNNING 259
#define FLAG_WOW64    2u

static void put_sid_block(etl_build *b, const etl_build_process_spec *spec);
static void put_process(etl_build *b, const etl_build_process_spec *spec, u8 type, u8 version);
static void put_thread(etl_build *b, const etl_build_thread_spec *spec, u8 type, u8 version);
static void put_image(etl_build *b, const etl_build_image_spec *spec, u8 version, bool stamped);
static void begin_injected(etl_build *b, const etl_build_at *at, const char *guid, u8 opcode,
                           u8 version);
static void inject_file_version(etl_build *b, const etl_build_at *at,
                                const etl_build_image_spec *image);
static void inject_pdb(etl_build *b, const etl_build_at *at, const etl_build_image_spec *image,
                       const etl_build_pdb_spec *pdb);
static const char *base_name(const char *path);

/* --- processes --- */

void etl_build_process(etl_build *b, etl_build_at at, u8 type, const etl_build_process_spec *spec)
{
    if (!build_ok(b))
        return;
    const bool live = type == ETL_BUILD_START || type == ETL_BUILD_END;
    const u8 version = build_version(&at, type == ETL_BUILD_DEFUNCT ? 5 : 4);
    build_begin(b, &at, (u16)(0x0300u | type),
                live ? ETL_BUILD_HEADER_SYSTEM : ETL_BUILD_HEADER_PERFINFO, version);
    put_process(b, spec, type, version);
    build_end(b, &at);
}

static void put_process(etl_build *b, const etl_build_process_spec *spec, u8 type, u8 version)
{
    if (version == 0) {
        build_put_pointer(b, spec->pid);
        build_put_pointer(b, spec->parent_pid);
    } else {
        const bool running = type != ETL_BUILD_END && spec->exit_status == 0;
        build_put_pointer(b, 0xFFFFE00100000080u + (u64)spec->pid * 0x1000);
        build_put_u32(b, spec->pid);
        build_put_u32(b, spec->parent_pid);
        build_put_u32(b, spec->session_id);
        build_put_u32(b, running ? STILL_RUNNING : (u32)spec->exit_status);
    }
    if (version >= 3)
        build_put_pointer(b, 0x1AB000 + (u64)spec->pid * 0x1000);
    if (version >= 4)
        build_put_u32(b, spec->wow64 ? FLAG_WOW64 : 0);
    put_sid_block(b, spec);
    build_put_text8(b, spec->name);
    if (version >= 2)
        build_put_text16(b, spec->command_line);
    if (version >= 4) {
        build_put_text16(b, NULL); /* package, application */
        build_put_text16(b, NULL);
    }
    if (version >= 5)
        build_put_u64(b, 0x01D66541C2A4B600u); /* exit time */
}

/* Four zero bytes, or TOKEN_USER (two pointers' worth) and the SID S-1-5-18. */
static void put_sid_block(etl_build *b, const etl_build_process_spec *spec)
{
    static const u8 sid[12] = { 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0 };
    if (spec->no_sid) {
        build_put_u32(b, 0);
        return;
    }
    build_put_pointer(b, 0xFFFFB00A12345670u);
    build_put_u32(b, 0); /* attributes */
    if (b->put.pointer_bytes == 8)
        build_put_u32(b, 0);
    build_put_bytes(b, sid, sizeof sid);
}

void etl_build_process_terminate(etl_build *b, etl_build_at at, u32 pid)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_PROCESS_TERMINATE, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_u32(b, pid);
    build_end(b, &at);
}

/* --- threads --- */

void etl_build_thread(etl_build *b, etl_build_at at, u8 type, const etl_build_thread_spec *spec)
{
    if (!build_ok(b))
        return;
    const u8 version = build_version(&at, 3);
    build_begin(b, &at, (u16)(0x0500u | type), ETL_BUILD_HEADER_SYSTEM, version);
    put_thread(b, spec, type, version);
    build_end(b, &at);
}

static void put_thread(etl_build *b, const etl_build_thread_spec *spec, u8 type, u8 version)
{
    const bool starts = type == ETL_BUILD_START || type == ETL_BUILD_DCSTART;
    build_put_u32(b, version == 0 ? spec->tid : spec->pid);
    build_put_u32(b, version == 0 ? spec->pid : spec->tid);
    if (version == 0 || (version == 1 && !starts))
        return;
    build_put_pointer(b, 0xFFFFF88000F0C000u); /* kernel stack: base, limit */
    build_put_pointer(b, 0xFFFFF88000F06000u);
    build_put_pointer(b, 0x14D0000); /* user stack: base, limit */
    build_put_pointer(b, 0x14C8000);
    build_put_pointer(b, version >= 3 ? 0xFF : spec->start_address); /* affinity since 3 */
    build_put_pointer(b, spec->start_address);
    if (version == 1) {
        build_put_u8(b, 1); /* wait mode */
        return;
    }
    build_put_pointer(b, 0x7E3000); /* TEB */
    build_put_u32(b, 0);            /* sub-process tag */
    if (version < 3)
        return;
    build_put_u8(b, 8); /* base, page and I/O priority, flags */
    build_put_u8(b, 5);
    build_put_u8(b, 2);
    build_put_u8(b, 0);
    if (spec->name != NULL)
        build_put_text16(b, spec->name);
}

void etl_build_thread_name(etl_build *b, etl_build_at at, const etl_build_thread_spec *spec)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_THREAD_NAME, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_u32(b, spec->pid);
    build_put_u32(b, spec->tid);
    build_put_text16(b, spec->name);
    build_end(b, &at);
}

/* --- images --- */

/* Rundowns of user images have PERFINFO headers and no time stamp. */
void etl_build_image(etl_build *b, etl_build_at at, u8 type, const etl_build_image_spec *spec)
{
    if (!build_ok(b))
        return;
    const bool live = type == ETL_BUILD_START || type == ETL_BUILD_END;
    const bool is_kernel = spec->pid == 0;
    const u16 hook = type == ETL_BUILD_START ? HOOK_IMAGE_LOAD : (u16)(0x1400u | type);
    const u8 version = build_version(&at, 3);
    build_begin(b, &at, hook,
                live || is_kernel ? ETL_BUILD_HEADER_SYSTEM : ETL_BUILD_HEADER_PERFINFO, version);
    put_image(b, spec, version, live || is_kernel);
    build_end(b, &at);
}

static void put_image(etl_build *b, const etl_build_image_spec *spec, u8 version, bool stamped)
{
    build_put_pointer(b, spec->base);
    if (version == 0)
        build_put_u32(b, (u32)spec->size);
    else
        build_put_pointer(b, spec->size);
    if (version >= 1)
        build_put_u32(b, spec->pid);
    if (version >= 2) {
        build_put_u32(b, spec->checksum);
        build_put_u32(b, stamped ? spec->time_date_stamp : 0);
        build_put_u32(b, version >= 3 ? 0x0104 : 0); /* signature level and type since 3 */
        build_put_pointer(b, spec->base);
        build_put_zeros(b, 16);
    }
    build_put_text16(b, spec->path);
}

void etl_build_kernel_base(etl_build *b, etl_build_at at, u64 base)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_KERNEL_BASE, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_pointer(b, base);
    build_end(b, &at);
}

void etl_build_image_id(etl_build *b, etl_build_at at, const etl_build_image_spec *image,
                        const etl_build_pdb_spec *pdb)
{
    if (!build_ok(b))
        return;
    at.pid = image->pid;
    at.header = ETL_BUILD_HEADER_FULL;
    inject_file_version(b, &at, image);

    begin_injected(b, &at, CLASS_IMAGE_ID, 0x00, 2);
    build_put_pointer(b, image->base);
    build_put_pointer(b, image->size);
    build_put_u32(b, image->pid);
    build_put_u32(b, image->time_date_stamp);
    build_put_text16(b, base_name(image->path));
    build_end(b, &at);

    if (pdb != NULL)
        inject_pdb(b, &at, image, pdb);
}

static void begin_injected(etl_build *b, const etl_build_at *at, const char *guid, u8 opcode,
                           u8 version)
{
    etl_build_classic event = { .opcode = opcode, .version = build_version(at, version) };
    etl_build_guid(guid, event.guid);
    build_begin_classic(b, at, &event);
}

static const char *base_name(const char *path)
{
    const char *const slash = path ? strrchr(path, '\\') : NULL;
    return slash ? slash + 1 : path;
}

/* Ten strings: file, description, two versions, language, product, company,
 * product version, two ids. */
static void inject_file_version(etl_build *b, const etl_build_at *at,
                                const etl_build_image_spec *image)
{
    static const char *const rest[9] = { "A program", "1.0.0.1", "1.0.0.1", "English", "Product",
                                         "Company",   "1.0",     "",        "" };
    begin_injected(b, at, CLASS_IMAGE_ID, 0x40, 0);
    build_put_u32(b, (u32)image->size);
    build_put_u32(b, image->time_date_stamp);
    build_put_text16(b, base_name(image->path));
    for (size_t i = 0; i < ETL_COUNT_OF(rest); i++)
        build_put_text16(b, rest[i]);
    build_end(b, at);
}

static void inject_pdb(etl_build *b, const etl_build_at *at, const etl_build_image_spec *image,
                       const etl_build_pdb_spec *pdb)
{
    const u8 opcode = pdb->il ? 0x25 : 0x24;
    begin_injected(b, at, CLASS_IMAGE_ID, pdb->name ? opcode : 0x20, 2);
    build_put_pointer(b, image->base);
    build_put_u32(b, image->pid);
    if (pdb->name != NULL) {
        build_put_bytes(b, pdb->guid, sizeof pdb->guid);
        build_put_u32(b, pdb->age);
        build_put_text8(b, pdb->name);
    }
    build_end(b, at);
}

/* --- the system --- */

void etl_build_config_cpu(etl_build *b, etl_build_at at, const etl_build_cpu_spec *spec)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_CONFIG_CPU, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_u32(b, spec->mhz);
    build_put_u32(b, b->session.options.cpus);
    build_put_u32(b, spec->memory_mib);
    build_put_u32(b, 4096); /* page size, allocation granularity */
    build_put_u32(b, 65536);
    build_put_name16(b, spec->computer_name, 256);
    build_put_name16(b, spec->domain_name, 134);
    build_put_pointer(b, 1);                  /* hyper-threading */
    build_put_pointer(b, 0x00007FFFFFFEFFFF); /* highest user address */
    build_put_u16(b, 9);                      /* AMD64, level, revision */
    build_put_u16(b, 6);
    build_put_u16(b, 0x8E0A);
    build_put_u8(b, 1); /* PAE, NX */
    build_put_u8(b, 1);
    build_put_u32(b, 3200); /* memory speed */
    build_end(b, &at);
}

void etl_build_config_platform(etl_build *b, etl_build_at at, const char *const texts[4])
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_CONFIG_PLATFORM, ETL_BUILD_HEADER_SYSTEM, 2);
    for (int i = 0; i < 4; i++)
        build_put_text16(b, texts[i]);
    build_end(b, &at);
}

void etl_build_device_family(etl_build *b, etl_build_at at, const u16 version[4])
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_DEVICE_FAMILY, ETL_BUILD_HEADER_SYSTEM, 2);
    for (int i = 3; i >= 0; i--)
        build_put_u16(b, version[i]); /* one u64, the major version on top */
    build_put_u32(b, 3);
    build_put_u32(b, 0);
    build_end(b, &at);
}

void etl_build_build_info(etl_build *b, etl_build_at at, const char *lab, const char *product)
{
    if (!build_ok(b))
        return;
    begin_injected(b, &at, CLASS_SYS_CONFIG, 32, 0);
    build_put_u64(b, 0x01D5F0A1B2C3D400u); /* install date */
    build_put_text16(b, lab);
    build_put_text16(b, product);
    build_end(b, &at);
}

void etl_build_system_paths(etl_build *b, etl_build_at at, const char *system, const char *windows)
{
    if (!build_ok(b))
        return;
    begin_injected(b, &at, CLASS_SYS_CONFIG, 33, 0);
    build_put_text16(b, system);
    build_put_text16(b, windows);
    build_end(b, &at);
}

void etl_build_volume(etl_build *b, etl_build_at at, const char *nt_path, const char *dos_path)
{
    if (!build_ok(b))
        return;
    begin_injected(b, &at, CLASS_SYS_CONFIG, 35, 0);
    build_put_text16(b, nt_path);
    build_put_text16(b, dos_path);
    build_end(b, &at);
}

void etl_build_lost_event(etl_build *b, etl_build_at at, u8 type)
{
    if (!build_ok(b))
        return;
    begin_injected(b, &at, CLASS_LOST_EVENT, type, 0);
    build_end(b, &at);
}

void etl_build_mark(etl_build *b, etl_build_at at, const char *text)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_MARK, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_text8(b, text);
    build_end(b, &at);
}
