/*
 * scenario_kitchen.c - a trace with one of everything that the builder can write, in all versions
 * and header kinds.
 *
 * In: a seed. Out: a trace: a fuzz seed, and a check that no reader trips over any event.
 * Invariant: a new event or version of the builder needs a line here, or nothing reads it in the
 * tests of dump.
 */
#include "scenario_inside.h"

#define PID  3100u
#define TID  3104u
#define HEAP 0x1f0000u

/* Times and CPUs of one event after another. */
typedef struct kitchen {
    etl_build *b;
    i64 ticks;
    u32 cpu;
    u32 cpus;
} kitchen;

static etl_build_at next(kitchen *k);
static void cook_system(kitchen *k);
static void cook_processes(kitchen *k);
static void cook_images(kitchen *k);
static void cook_heap(kitchen *k, u8 pointer_bytes, u8 header);
static void cook_ranges(kitchen *k);
static void cook_memory(kitchen *k);
static void cook_stacks(kitchen *k);
static void cook_other_headers(kitchen *k);

void scenario_kitchen_sink(const scenario_run *run, etl_build *b)
{
    kitchen k = { .b = b, .ticks = etl_build_start_ticks(b) + 1000, .cpus = run->cpus };
    cook_system(&k);
    cook_processes(&k);
    cook_images(&k);
    for (u8 header = ETL_BUILD_HEADER_DEFAULT; header <= ETL_BUILD_HEADER_INSTANCE; header++) {
        cook_heap(&k, 8, header);
        cook_heap(&k, 4, header);
    }
    cook_ranges(&k);
    cook_memory(&k);
    cook_stacks(&k);
    cook_other_headers(&k);
}

static etl_build_at next(kitchen *k)
{
    k->ticks += 37;
    k->cpu = (k->cpu + 1) % k->cpus;
    return (etl_build_at){ .ticks = k->ticks, .cpu = k->cpu, .pid = PID, .tid = TID };
}

static void cook_system(kitchen *k)
{
    static const char *const platform[4] = { "Maker", "Board", "01/02/2024", "1.2.3" };
    static const u16 version[4] = { 10, 0, 26100, 4652 };
    etl_build *const b = k->b;
    const etl_build_cpu_spec cpu = {
        .mhz = 3000, .memory_mib = 32768, .computer_name = "KITCHEN", .domain_name = "HOUSE"
    };
    etl_build_config_cpu(b, next(k), &cpu);
    etl_build_config_platform(b, next(k), platform);
    etl_build_device_family(b, next(k), version);
    etl_build_build_info(b, next(k), "26100.1.amd64fre.ge_release.240331-1435", "Windows 11 Pro");
    etl_build_system_paths(b, next(k), "C:\\Windows\\system32\\", "C:\\Windows\\");
    etl_build_volume(b, next(k), "\\Device\\HarddiskVolume3\\", "C:\\");
    etl_build_volume(b, next(k), "\\Device\\HarddiskVolume9\\", NULL);
    etl_build_mark(b, next(k), "begin");
    for (u8 type = 32; type <= 34; type++)
        etl_build_lost_event(b, next(k), type);
    etl_build_hook(b, next(k), 0x0005, (u8[36]){ 7 }, 36);
    etl_build_hook(b, next(k), 0x0008, NULL, 0);
}

static void cook_processes(kitchen *k)
{
    static const u8 types[] = { ETL_BUILD_START, ETL_BUILD_END, ETL_BUILD_DCSTART,
                                ETL_BUILD_DCEND };
    const etl_build_process_spec process = { .pid = PID,
                                             .parent_pid = 812,
                                             .session_id = 1,
                                             .name = "kitchen.exe",
                                             .command_line = "kitchen.exe --sink" };
    const etl_build_thread_spec thread = {
        .pid = PID, .tid = TID, .start_address = 0x7ff6d2a41000, .name = "cook"
    };
    for (u32 version = 0; version <= 4; version++) {
        for (u32 i = 0; i < ETL_COUNT_OF(types); i++) {
            etl_build_at at = next(k);
            at.version = ETL_BUILD_VERSION(version);
            at.pointer_bytes = i % 2 ? 4 : 8;
            etl_build_process_spec spec = process;
            spec.no_sid = version % 2 == 1;
            spec.wow64 = at.pointer_bytes == 4;
            etl_build_process(k->b, at, types[i], &spec);
            at.ticks = k->ticks += 5;
            etl_build_thread(k->b, at, types[i], &thread);
        }
    }
    etl_build_process(k->b, next(k), ETL_BUILD_DEFUNCT, &process);
    etl_build_process_terminate(k->b, next(k), PID);
    etl_build_thread_name(k->b, next(k), &thread);
}

static void cook_images(kitchen *k)
{
    static const u8 types[] = { ETL_BUILD_START, ETL_BUILD_END, ETL_BUILD_DCSTART,
                                ETL_BUILD_DCEND };
    const etl_build_image_spec image = { .pid = PID,
                                         .base = 0x10000000,
                                         .size = 0x7c000,
                                         .checksum = 0x7a1b2,
                                         .time_date_stamp = 0x65f0a1b2,
                                         .path = "\\Device\\HarddiskVolume3\\kitchen.exe" };
    etl_build_pdb_spec pdb = { .age = 3, .name = "kitchen.pdb" };
    etl_build_guid("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", pdb.guid);
    for (u32 version = 0; version <= 3; version++) {
        for (u32 i = 0; i < ETL_COUNT_OF(types); i++) {
            etl_build_at at = next(k);
            at.version = ETL_BUILD_VERSION(version);
            at.pointer_bytes = i % 2 ? 4 : 8;
            etl_build_image(k->b, at, types[i], &image);
            at.ticks = k->ticks += 5;
            at.header = ETL_BUILD_HEADER_FULL;
            etl_build_image(k->b, at, types[i], &image);
        }
    }
    etl_build_image_id(k->b, next(k), &image, &pdb);
    pdb.il = true;
    etl_build_image_id(k->b, next(k), &image, &pdb);
    pdb.name = NULL;
    etl_build_image_id(k->b, next(k), &image, &pdb);
    etl_build_image_id(k->b, next(k), &image, NULL);
    etl_build_kernel_base(k->b, next(k), 0xfffff80344a00000);
}

static etl_build_at next_of(kitchen *k, u8 pointer_bytes, u8 header)
{
    etl_build_at at = next(k);
    at.pointer_bytes = pointer_bytes;
    at.header = header;
    return at;
}

static void cook_heap(kitchen *k, u8 pointer_bytes, u8 header)
{
    etl_build *const b = k->b;
    const u64 block = 0x2000 + (u64)header * 0x1000;
    etl_build_heap_create(b, next_of(k, pointer_bytes, header), HEAP);
    etl_build_heap_alloc(b, next_of(k, pointer_bytes, header), HEAP, block, 24);
    etl_build_heap_realloc(
        b, next_of(k, pointer_bytes, header), HEAP,
        &(etl_build_realloc){
            .new_address = block, .old_address = block, .new_size = 48, .old_size = 24 });
    etl_build_heap_free(b, next_of(k, pointer_bytes, header), HEAP, block);
    etl_build_heap_expand(b, next_of(k, pointer_bytes, header), HEAP, 0x200000, 0x4000);
    etl_build_heap_contract(b, next_of(k, pointer_bytes, header), HEAP, 0x201000, 0x1000);
    etl_build_heap_snapshot(b, next_of(k, pointer_bytes, header), HEAP, PID, 0x10000);
    for (u8 type = 0x27; type <= 0x3A; type++) {
        if (type != 0x2A)
            etl_build_heap_other(b, next_of(k, pointer_bytes, header), type, HEAP);
    }
    for (u8 version = 2; version <= 3; version++) {
        etl_build_at at = next_of(k, pointer_bytes, header);
        at.version = ETL_BUILD_VERSION(version);
        etl_build_heap_create(b, at, HEAP);
        at.ticks = k->ticks += 5;
        etl_build_heap_expand(b, at, HEAP, 0x300000, 0x1000);
        at.ticks = k->ticks += 5;
        etl_build_heap_snapshot(b, at, HEAP, PID, 0x10000);
    }
    etl_build_heap_destroy(b, next_of(k, pointer_bytes, header), HEAP);
}

static void cook_ranges(kitchen *k)
{
    static const etl_build_range ranges[3] = { { 0x1f0000, 0x10000 },
                                               { 0x400000, 0x100000 },
                                               { 0x900000, 0x200000 } };
    for (u8 version = 2; version <= 3; version++) {
        etl_build_at at = next(k);
        at.version = ETL_BUILD_VERSION(version);
        etl_build_heap_range_rundown(k->b, at, HEAP, ranges, 3);
    }
    for (u8 type = 0x65; type <= 0x68; type++)
        etl_build_heap_range(k->b, next(k), type, HEAP, ranges[1]);
}

static void cook_memory(kitchen *k)
{
    etl_build *const b = k->b;
    u64 values[26];
    for (u64 i = 0; i < ETL_COUNT_OF(values); i++)
        values[i] = 1000 + i;
    const etl_build_working_set rows[2] = { { PID, 100, 200, 300, 50 }, { 812, 10, 20, 30, 5 } };
    for (u8 header = ETL_BUILD_HEADER_DEFAULT; header <= ETL_BUILD_HEADER_INSTANCE; header++) {
        for (u8 width = 4; width <= 8; width += 4) {
            etl_build_virtual_alloc(b, next_of(k, width, header), 0x500000, 0x8000,
                                    ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
            etl_build_virtual_free(b, next_of(k, width, header), 0x502000, 0x1000,
                                   ETL_BUILD_DECOMMIT);
            etl_build_virtual_free(b, next_of(k, width, header), 0x500000, 0, ETL_BUILD_RELEASE);
        }
    }
    for (u16 hook = 0x0280; hook <= 0x0281; hook++) {
        const etl_build_virtual_spec spec = { .hook = hook,
                                              .base = 0x700000,
                                              .size = 0x10000,
                                              .owner_pid = PID,
                                              .commit_bytes = 0x2000 };
        etl_build_virtual(b, next(k), &spec);
    }
    etl_build_meminfo(b, next(k), values, 22);
    etl_build_meminfo(b, next(k), values, 26);
    for (u8 version = 1; version <= 2; version++) {
        etl_build_at at = next(k);
        at.version = ETL_BUILD_VERSION(version);
        etl_build_meminfo_ws(b, at, rows, 2);
    }
}

static void cook_stacks(kitchen *k)
{
    static const u64 kernel[5] = { 0xfffff80344a01000, 0xfffff80344a02000, 0xfffff80344a03000,
                                   0xfffff80344a04000, 0xfffff80344a05000 };
    static const u64 user[6] = { 0x7ffb1c8b1000, 0x7ffb1c8b2000, 0x10001000,
                                 0x10002000,     0x10003000,     0x7ffb1c8b3000 };
    etl_build_stack stack = { .kernel = kernel, .kernel_count = 5, .user = user, .user_count = 6 };
    for (u8 form = ETL_BUILD_STACK_DEFAULT; form <= ETL_BUILD_STACK_KEYED; form++) {
        stack.form = form;
        stack.user_cpu_differs = form % 2 == 1;
        stack.user_cpu = (k->cpu + 2) % k->cpus;
        const etl_build_at at = next(k);
        etl_build_virtual_alloc(k->b, at, 0x600000 + form * 0x10000u, 0x1000, 0x3000);
        etl_build_stack_walk(k->b, at, &stack);
        k->ticks += 200;
    }
    const etl_build_at at = next(k);
    etl_build_heap_alloc(k->b, at, HEAP, 0x9000, 32);
    etl_build_stack_inline(k->b, next(k), at.ticks, user, 6);
    for (u16 hook = 0x1825; hook <= 0x1826; hook++)
        etl_build_stack_key(k->b, next(k), hook, at.ticks, 0xFFFFFA8003000000);
    for (u16 hook = 0x1822; hook <= 0x1824; hook++)
        etl_build_stack_definition(k->b, next(k), hook, 0xFFFFFA8003000000, &stack);
}

static void cook_other_headers(kitchen *k)
{
    static const u64 frames[4] = { 0, 0x10001000, 0x10002000, 0x10003000 };
    static const u8 activity[16] = { 1, 2, 3 };
    const etl_build_item items[] = { { 1, activity, sizeof activity },
                                     { 6, frames, sizeof frames },
                                     { 0x0C, "traits", 7 } };
    etl_build_manifest event = {
        .id = 100, .version = 2, .opcode = 1, .task = 3, .payload = "payload", .payload_size = 8
    };
    etl_build_guid("5770385f-c22a-43e0-bf4c-06f5698ffbd9", event.provider);
    etl_build_event(k->b, next(k), &event);
    event.items = items;
    event.item_count = ETL_COUNT_OF(items);
    etl_build_event(k->b, next(k), &event);
    etl_build_event(k->b, next_of(k, 4, 0), &event);

    static const u16 parts[] = { 0x00AA, 0x0008, 0x0028, 0x0001, 0x0007, 0x0000 };
    for (u32 i = 0; i < ETL_COUNT_OF(parts); i++) {
        const etl_build_wpp message = { .number = 17,
                                        .parts = parts[i],
                                        .sequence = i,
                                        .guid = { 9, 8, 7 },
                                        .payload = "arguments",
                                        .payload_size = 9 };
        etl_build_message(k->b, next(k), &message);
    }
    const etl_build_counters counters = {
        .pebs = true, .count = 2, .values = { 1, 2, 3 }, .payload = frames, .payload_size = 16
    };
    etl_build_hook_counters(k->b, next(k), 0x0F2E, &counters);
    const etl_build_classic classic = { .guid = { 1, 2, 3 }, .opcode = 5, .version = 1 };
    etl_build_classic_event(k->b, next(k), &classic);
    etl_build_hook(k->b, next(k), 0x7F7F, frames, sizeof frames);
}
