/*
 * Goal: an address belongs to the module that was there in its process at its
 * time, whatever mixture of loads, unloads and rundowns tells of modules; its
 * path and identity are those of its own events.
 * Method: image events by hand for each mixture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/hand_result.h"
#include "module_bench.h"

#define PID  7u
#define BASE UINT64_C(0x7ff600000000)
#define SIZE UINT64_C(0x10000)

#define LOAD   ETL_EVENT_IMAGE_LOAD
#define UNLOAD ETL_EVENT_IMAGE_UNLOAD
#define START  ETL_EVENT_IMAGE_DCSTART
#define END    ETL_EVENT_IMAGE_DCEND

/* An image event of PID at BASE. */
static void add(module_bench *b, etl_event_kind kind, i64 ticks, const char *path)
{
    hand_image(&b->context, &(hand_image_spec){ .kind = kind,
                                                .pid = PID,
                                                .base = BASE,
                                                .size_bytes = SIZE,
                                                .ticks = ticks,
                                                .path = path });
}

static const char *name_at(const module_bench *b, u32 pid, u64 address, i64 ticks)
{
    const u32 found =
        modules_find(&b->modules, &(module_space){ .pid = pid, .ticks = ticks }, address);
    return found == UINT32_MAX ? "none" : b->modules.list.at[found].name;
}

static void expect_at(const module_bench *b, i64 ticks, const char *name)
{
    assert_string_equal(name_at(b, PID, BASE + 0x10, ticks), name);
}

static void expect_module(const module_bench *b, u32 index, i64 load_ticks, i64 unload_ticks)
{
    assert_true(index < b->modules.list.count);
    assert_int_equal(b->modules.list.at[index].load_ticks, load_ticks);
    assert_int_equal(b->modules.list.at[index].unload_ticks, unload_ticks);
}

/* --- mixtures ------------------------------------------------------------------- */

static void a_module_lives_from_load_to_unload(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, UNLOAD, 200, "\\x\\a.dll");
    add(b, LOAD, 100, "\\x\\a.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 1);
    expect_module(b, 0, 100, 200);
    assert_string_equal(b->modules.list.at[0].path, "\\x\\a.dll");
    module_bench_close(b);
}

static void a_rundown_tells_of_a_module_there_since_before(void **state)
{
    (void)state;
    static const etl_event_kind kinds[] = { START, END };
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        module_bench *const b = module_bench_open();
        add(b, kinds[i], 500, "\\x\\a.dll");
        module_bench_build(b);
        assert_int_equal(b->modules.list.count, 1);
        expect_module(b, 0, ETLHEAP_TICKS_BEFORE, ETLHEAP_TICKS_NEVER);
        expect_at(b, 1, "a.dll");
        module_bench_close(b);
    }
}

static void an_unload_alone_tells_of_a_module_there_since_before(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, UNLOAD, 500, "\\x\\a.dll");
    module_bench_build(b);
    expect_module(b, 0, ETLHEAP_TICKS_BEFORE, 500);
    module_bench_close(b);
}

static void all_events_of_a_module_are_one_module(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, START, 10, "\\x\\a.dll");
    add(b, LOAD, 20, "\\Device\\X\\A.DLL"); /* the loader spells paths its own way */
    add(b, END, 900, "\\x\\a.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 1);
    expect_module(b, 0, ETLHEAP_TICKS_BEFORE, ETLHEAP_TICKS_NEVER);
    module_bench_close(b);
}

static void a_base_used_again_is_another_module(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, START, 10, "\\x\\a.dll");
    add(b, UNLOAD, 100, "\\x\\a.dll");
    add(b, LOAD, 200, "\\x\\b.dll");
    add(b, END, 900, "\\x\\b.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 2);
    expect_module(b, 0, ETLHEAP_TICKS_BEFORE, 100);
    expect_module(b, 1, 200, ETLHEAP_TICKS_NEVER);
    expect_at(b, 99, "a.dll");
    expect_at(b, 200, "b.dll");
    module_bench_close(b);
}

static void a_load_over_a_loaded_module_ends_it(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    add(b, LOAD, 200, "\\x\\b.dll");
    module_bench_build(b);
    expect_module(b, 0, 100, 200);
    expect_module(b, 1, 200, ETLHEAP_TICKS_NEVER);
    module_bench_close(b);
}

static void another_size_is_another_module(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    hand_image(&b->context, &(hand_image_spec){ .kind = LOAD,
                                                .pid = PID,
                                                .base = BASE,
                                                .size_bytes = 2 * SIZE,
                                                .ticks = 200,
                                                .path = "\\x\\a.dll" });
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 2);
    module_bench_close(b);
}

/* What came after an unload cannot have been there before it. */
static void a_rundown_after_an_unload_begins_at_the_unload(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    add(b, UNLOAD, 200, "\\x\\a.dll");
    add(b, END, 900, "\\x\\b.dll");
    module_bench_build(b);
    expect_module(b, 0, 100, 200);
    expect_module(b, 1, 200, ETLHEAP_TICKS_NEVER);
    expect_at(b, 150, "a.dll");
    expect_at(b, 300, "b.dll");
    module_bench_close(b);
}

/* Two sessions that both see it write it twice. */
static void an_unload_written_twice_is_one_unload(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    add(b, UNLOAD, 200, "\\x\\a.dll");
    add(b, UNLOAD, 200, "\\x\\a.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 1);
    expect_module(b, 0, 100, 200);
    module_bench_close(b);
}

/* A coarse clock gives an unload and the next load one time. */
static void events_of_one_tick_are_taken_in_their_order(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    add(b, UNLOAD, 200, "\\x\\a.dll");
    add(b, LOAD, 200, "\\x\\b.dll");
    add(b, UNLOAD, 300, "\\x\\b.dll");
    add(b, LOAD, 300, "\\x\\c.dll");
    add(b, UNLOAD, 300, "\\x\\c.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 3);
    expect_module(b, 0, 100, 200);
    expect_module(b, 1, 200, 300);
    expect_module(b, 2, 300, 300);
    module_bench_close(b);
}

static void processes_have_modules_of_their_own(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    for (u32 pid = 10; pid < 14; pid++) {
        char path[32];
        (void)snprintf(path, sizeof path, "\\x\\p%u.exe", pid);
        hand_image(&b->context, &(hand_image_spec){ .kind = START,
                                                    .pid = pid,
                                                    .base = BASE,
                                                    .size_bytes = SIZE,
                                                    .ticks = 5,
                                                    .path = path });
    }
    module_bench_build(b);
    assert_string_equal(name_at(b, 12, BASE, 50), "p12.exe");
    assert_string_equal(name_at(b, 13, BASE, 50), "p13.exe");
    assert_string_equal(name_at(b, 14, BASE, 50), "none");
    module_bench_close(b);
}

/* The id's second process loads another program at the same place. */
static void a_process_id_used_again_brings_other_modules(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\first.exe");
    add(b, UNLOAD, 200, "\\x\\first.exe");
    add(b, LOAD, 300, "\\x\\second.exe");
    add(b, UNLOAD, 400, "\\x\\second.exe");
    module_bench_build(b);
    expect_at(b, 150, "first.exe");
    expect_at(b, 350, "second.exe");
    module_bench_close(b);
}

/* --- look-ups --------------------------------------------------------------------- */

static void a_module_covers_its_size_and_no_more(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, START, 10, "\\x\\a.dll");
    module_bench_build(b);
    assert_string_equal(name_at(b, PID, BASE - 1, 50), "none");
    assert_string_equal(name_at(b, PID, BASE, 50), "a.dll");
    assert_string_equal(name_at(b, PID, BASE + SIZE - 1, 50), "a.dll");
    assert_string_equal(name_at(b, PID, BASE + SIZE, 50), "none");
    module_bench_close(b);
}

static void a_module_of_another_time_is_better_than_none(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    add(b, LOAD, 100, "\\x\\a.dll");
    add(b, UNLOAD, 200, "\\x\\a.dll");
    module_bench_build(b);
    expect_at(b, 50, "a.dll");
    expect_at(b, 250, "a.dll");
    module_bench_close(b);
}

/* Over time modules overlap in every way. */
static void a_module_inside_the_place_of_another_time_is_found(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    const hand_image_spec large = { .pid = PID, .base = BASE, .size_bytes = 0x100000 };
    const hand_image_spec small = { .pid = PID, .base = BASE + 0x8000, .size_bytes = 0x1000 };
    hand_image_spec spec = large;
    spec.path = "\\x\\large.dll";
    spec.kind = LOAD;
    spec.ticks = 100;
    hand_image(&b->context, &spec);
    spec.kind = UNLOAD;
    spec.ticks = 200;
    hand_image(&b->context, &spec);
    spec = small;
    spec.path = "\\x\\small.dll";
    spec.kind = LOAD;
    spec.ticks = 300;
    hand_image(&b->context, &spec);
    module_bench_build(b);
    assert_string_equal(name_at(b, PID, BASE + 0x8010, 150), "large.dll");
    assert_string_equal(name_at(b, PID, BASE + 0x9010, 150), "large.dll");
    assert_string_equal(name_at(b, PID, BASE + 0x8010, 350), "small.dll");
    module_bench_close(b);
}

static void kernel_addresses_are_the_kernels_in_every_process(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    hand_image_spec spec = { .kind = START,
                             .pid = 0,
                             .base = UINT64_C(0xfffff80000000000),
                             .size_bytes = SIZE,
                             .path = "\\SystemRoot\\ntoskrnl.exe" };
    hand_image(&b->context, &spec);
    spec.pid = 4;
    spec.base += SIZE;
    spec.path = "\\SystemRoot\\hal.dll";
    hand_image(&b->context, &spec);
    module_bench_build(b);
    assert_string_equal(name_at(b, PID, UINT64_C(0xfffff80000000010), 50), "ntoskrnl.exe");
    assert_string_equal(name_at(b, 4, UINT64_C(0xfffff80000000010), 50), "ntoskrnl.exe");
    assert_string_equal(name_at(b, PID, UINT64_C(0xfffff80000010010), 50), "hal.dll");
    assert_int_equal(b->modules.list.at[1].pid, 0);
    module_bench_close(b);
}

/* Process 4 has user modules too: they are not the kernel's. */
static void user_modules_of_the_system_process_stay_its_own(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    hand_image(
        &b->context,
        &(hand_image_spec){
            .kind = START, .pid = 4, .base = BASE, .size_bytes = SIZE, .path = "\\x\\ntdll.dll" });
    module_bench_build(b);
    assert_string_equal(name_at(b, 4, BASE, 50), "ntdll.dll");
    expect_at(b, 50, "none");
    module_bench_close(b);
}

static void kernel_modules_of_32_bit_systems_are_found(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    b->context.os_pointer_bits = 32;
    hand_image_spec spec = { .kind = START,
                             .pid = 0,
                             .base = 0x81000000,
                             .size_bytes = SIZE,
                             .path = "\\SystemRoot\\ntkrnlpa.exe" };
    hand_image(&b->context, &spec);
    spec.pid = 4;
    spec.base = 0x82000000;
    spec.path = "\\SystemRoot\\halmacpi.dll";
    hand_image(&b->context, &spec);
    module_bench_build(b);
    assert_string_equal(name_at(b, PID, 0x81000010, 50), "ntkrnlpa.exe");
    assert_string_equal(name_at(b, PID, 0x82000010, 50), "halmacpi.dll");
    module_bench_close(b);
}

static void a_module_at_the_end_of_the_address_space_does_not_wrap(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    hand_image(&b->context, &(hand_image_spec){ .kind = START,
                                                .pid = 0,
                                                .base = UINT64_MAX - 0xFF,
                                                .size_bytes = UINT64_MAX,
                                                .path = "\\x\\huge.sys" });
    module_bench_build(b);
    assert_string_equal(name_at(b, PID, UINT64_MAX - 1, 50), "huge.sys");
    expect_at(b, 50, "none");
    module_bench_close(b);
}

/* --- identity ------------------------------------------------------------------------ */

static void an_identity_joins_the_image_of_its_place_and_time(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    const hand_image_spec first = { .kind = LOAD,
                                    .pid = PID,
                                    .base = BASE,
                                    .size_bytes = SIZE,
                                    .ticks = 100,
                                    .path = "\\x\\a.dll" };
    hand_image_spec second = first;
    second.ticks = 300;
    second.path = "\\x\\b.dll";
    hand_rsds(&b->context, &second, 2, "b.pdb");
    hand_rsds(&b->context, &first, 1, "a.pdb");
    hand_image_id(&b->context, &first, 0x5f000001);
    hand_image(&b->context, &first);
    add(b, UNLOAD, 200, "\\x\\a.dll");
    hand_image(&b->context, &second);
    module_bench_build(b);
    const etlheap_module_info *const a = &b->modules.list.at[0];
    assert_true(a[0].has_rsds && a[1].has_rsds);
    assert_int_equal(a[0].guid.bytes[0], 1);
    assert_string_equal(a[0].pdb_name, "a.pdb");
    assert_int_equal(a[0].time_date_stamp, 0x5f000001);
    assert_int_equal(a[1].guid.bytes[0], 2);
    assert_string_equal(a[1].pdb_name, "b.pdb");
    module_bench_close(b);
}

/* A rundown has no time stamp: that of the image id wins, and a rundown's 0 does
 * not erase what a load said. */
static void time_stamps_come_from_who_knows(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    hand_image(&b->context, &(hand_image_spec){ .kind = LOAD,
                                                .pid = PID,
                                                .base = BASE,
                                                .size_bytes = SIZE,
                                                .ticks = 100,
                                                .path = "\\x\\a.dll",
                                                .time_date_stamp = 77,
                                                .checksum = 88 });
    add(b, END, 900, "\\x\\a.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.at[0].time_date_stamp, 77);
    assert_int_equal(b->modules.list.at[0].checksum, 88);
    assert_false(b->modules.list.at[0].has_rsds);
    assert_string_equal(b->modules.list.at[0].pdb_name, "");
    module_bench_close(b);
}

/* --- paths ---------------------------------------------------------------------------- */

static const char *mapped_path(const char *path)
{
    static char copy[128];
    module_bench *const b = module_bench_open();
    hand_volume(&b->context, "\\Device\\HarddiskVolume10\\mount\\", "M:\\");
    hand_volume(&b->context, "\\Device\\HarddiskVolume1\\", "D:\\");
    hand_volume(&b->context, "\\Device\\HarddiskVolume10\\", "E:\\");
    hand_volume(&b->context, "\\Device\\Bare", "X:");
    hand_volume(&b->context, "\\??\\", "");
    add(b, START, 10, path);
    module_bench_build(b);
    (void)snprintf(copy, sizeof copy, "%s", b->modules.list.at[0].path);
    module_bench_close(b);
    return copy;
}

static void the_longest_volume_replaces_its_prefix(void **state)
{
    (void)state;
    assert_string_equal(mapped_path("\\Device\\HarddiskVolume1\\x\\a.dll"), "D:\\x\\a.dll");
    assert_string_equal(mapped_path("\\Device\\HarddiskVolume10\\x\\a.dll"), "E:\\x\\a.dll");
    assert_string_equal(mapped_path("\\Device\\HarddiskVolume10\\mount\\a.dll"), "M:\\a.dll");
    assert_string_equal(mapped_path("\\??\\C:\\a.dll"), "C:\\a.dll");
}

static void volumes_are_compared_without_case(void **state)
{
    (void)state;
    assert_string_equal(mapped_path("\\DEVICE\\harddiskvolume1\\A.dll"), "D:\\A.dll");
}

static void other_paths_stay_as_they_are(void **state)
{
    (void)state;
    assert_string_equal(mapped_path("\\Device\\HarddiskVolume2\\a.dll"),
                        "\\Device\\HarddiskVolume2\\a.dll");
    assert_string_equal(mapped_path("a.dll"), "a.dll");
    assert_string_equal(mapped_path(""), "");
}

/* A volume named without its final backslash is not a prefix of longer names. */
static void a_volume_ends_at_a_backslash(void **state)
{
    (void)state;
    assert_string_equal(mapped_path("\\Device\\Bare\\a.dll"), "X:\\a.dll");
    assert_string_equal(mapped_path("\\Device\\Barefoot\\a.dll"), "\\Device\\Barefoot\\a.dll");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_lives_from_load_to_unload),
        cmocka_unit_test(a_rundown_tells_of_a_module_there_since_before),
        cmocka_unit_test(an_unload_alone_tells_of_a_module_there_since_before),
        cmocka_unit_test(all_events_of_a_module_are_one_module),
        cmocka_unit_test(a_base_used_again_is_another_module),
        cmocka_unit_test(a_load_over_a_loaded_module_ends_it),
        cmocka_unit_test(another_size_is_another_module),
        cmocka_unit_test(a_rundown_after_an_unload_begins_at_the_unload),
        cmocka_unit_test(an_unload_written_twice_is_one_unload),
        cmocka_unit_test(events_of_one_tick_are_taken_in_their_order),
        cmocka_unit_test(processes_have_modules_of_their_own),
        cmocka_unit_test(a_process_id_used_again_brings_other_modules),
        cmocka_unit_test(a_module_covers_its_size_and_no_more),
        cmocka_unit_test(a_module_of_another_time_is_better_than_none),
        cmocka_unit_test(a_module_inside_the_place_of_another_time_is_found),
        cmocka_unit_test(kernel_addresses_are_the_kernels_in_every_process),
        cmocka_unit_test(user_modules_of_the_system_process_stay_its_own),
        cmocka_unit_test(kernel_modules_of_32_bit_systems_are_found),
        cmocka_unit_test(a_module_at_the_end_of_the_address_space_does_not_wrap),
        cmocka_unit_test(an_identity_joins_the_image_of_its_place_and_time),
        cmocka_unit_test(time_stamps_come_from_who_knows),
        cmocka_unit_test(the_longest_volume_replaces_its_prefix),
        cmocka_unit_test(volumes_are_compared_without_case),
        cmocka_unit_test(other_paths_stay_as_they_are),
        cmocka_unit_test(a_volume_ends_at_a_backslash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
