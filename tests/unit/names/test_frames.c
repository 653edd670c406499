/*
 * Goal: raw stacks become frames of modules by process and time, equal ones
 * share one id; culling never takes the last frame; required frames decide
 * whether a stack is wanted.
 * Method: results by hand with two programs, a library both have, a plug-in that
 * comes and goes, and a driver likewise; stacks printed as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/names/frames.h"
#include "tests/support/hand_result.h"

#define PID_A 10u
#define PID_B 20u

#define APP_BASE   UINT64_C(0x400000)
#define NTDLL_A    UINT64_C(0x7ffa00000000)
#define NTDLL_B    UINT64_C(0x7ffb00000000)
#define PLUGIN     UINT64_C(0x10000000)
#define KERNEL     UINT64_C(0xfffff80000000000)
#define DRIVER     UINT64_C(0xfffff80010000000)
#define IMAGE_SIZE UINT64_C(0x100000)

/* A plug-in is another one from then on; so is the driver. */
#define CHANGE_TICKS (HAND_START_TICKS + 5000)

typedef struct bench {
    etlheap_result *result;
    etlheap_query query;
    frame_table table;
    u32 a, b; /* processes */
    char text[600];
} bench;

static void add_image(bench *b, etl_event_kind kind, u32 pid, u64 base, const char *path)
{
    hand_image(&b->result->context,
               &(hand_image_spec){ .kind = kind,
                                   .pid = pid,
                                   .base = base,
                                   .size_bytes = IMAGE_SIZE,
                                   .ticks = kind == ETL_EVENT_IMAGE_DCSTART ? HAND_START_TICKS
                                                                            : CHANGE_TICKS,
                                   .path = path });
}

static bench *open_bench(void)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->result = hand_result_new();
    b->query = etlheap_query_default();
    b->a = hand_process(b->result, PID_A, "a.exe");
    b->b = hand_process(b->result, PID_B, "b.exe");
    const etl_event_kind rundown = ETL_EVENT_IMAGE_DCSTART;
    add_image(b, rundown, PID_A, APP_BASE, "C:\\a.exe");
    add_image(b, rundown, PID_B, APP_BASE, "C:\\b.exe");
    add_image(b, rundown, PID_A, NTDLL_A, "C:\\Windows\\ntdll.dll");
    add_image(b, rundown, PID_B, NTDLL_B, "C:\\Windows\\ntdll.dll");
    add_image(b, rundown, PID_A, PLUGIN, "C:\\one.dll");
    add_image(b, ETL_EVENT_IMAGE_UNLOAD, PID_A, PLUGIN, "C:\\one.dll");
    add_image(b, ETL_EVENT_IMAGE_LOAD, PID_A, PLUGIN, "C:\\two.dll");
    add_image(b, rundown, 0, KERNEL, "C:\\Windows\\ntoskrnl.exe");
    add_image(b, rundown, 0, DRIVER, "C:\\Windows\\old.sys");
    add_image(b, ETL_EVENT_IMAGE_UNLOAD, 0, DRIVER, "C:\\Windows\\old.sys");
    add_image(b, ETL_EVENT_IMAGE_LOAD, 0, DRIVER, "C:\\Windows\\new.sys");
    hand_ready(b->result, HAND_START_TICKS + 10000);
    return b;
}

/* After the query is as it shall be. */
static void open_table(bench *b)
{
    assert_true(frames_open(&b->table, b->result, &b->query));
}

static void close_bench(bench *b)
{
    frames_close(&b->table);
    etlheap_result_free(b->result);
    free(b);
}

static u32 resolve(bench *b, u32 process, i64 ticks, const u64 *frames, u32 count)
{
    const u32 stack = hand_stack(b->result, frames, count);
    u32 id;
    assert_true(frames_resolve(&b->table, process, stack, ticks, &id));
    assert_true(id != 0);
    return id;
}

/* The stack as "a.exe+10 ntdll.dll+20", innermost first. */
static const char *text_of(bench *b, u32 id)
{
    size_t size = 0;
    const frame_stack *const stack = &b->table.stacks.at[id - 1];
    b->text[0] = '\0';
    for (u32 i = 0; i < stack->count; i++) {
        const u32 frame = b->table.pool.at[stack->start + i];
        const char *const module = frames_module(&b->table, frame);
        const int written = snprintf(b->text + size, sizeof b->text - size, "%s%s+%llx",
                                     i == 0 ? "" : " ", module == NULL ? "?" : module,
                                     (unsigned long long)b->table.frames.at[frame].offset);
        assert_true(written > 0 && (size_t)written < sizeof b->text - size);
        size += (size_t)written;
    }
    return b->text;
}

/* --- resolving -------------------------------------------------------------------- */

static void addresses_become_modules_and_offsets(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frames[] = { KERNEL + 0x10, NTDLL_A + 0x20, APP_BASE + 0x30, 0x123 };
    const u32 id = resolve(b, b->a, HAND_START_TICKS, frames, 4);
    assert_string_equal(text_of(b, id), "ntoskrnl.exe+10 ntdll.dll+20 a.exe+30 ?+123");
    close_bench(b);
}

static void no_stack_stays_none(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    u32 id = 7;
    assert_true(frames_resolve(&b->table, b->a, 0, HAND_START_TICKS, &id));
    assert_int_equal(id, 0);
    assert_int_equal(frames_innermost(&b->table, 0), FRAME_NONE);
    assert_null(frames_module(&b->table, FRAME_NONE));
    close_bench(b);
}

static void the_same_code_at_other_addresses_is_the_same_stack(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 in_a = NTDLL_A + 0x20, in_b = NTDLL_B + 0x20;
    const u32 first = resolve(b, b->a, HAND_START_TICKS, &in_a, 1);
    const u32 second = resolve(b, b->b, HAND_START_TICKS, &in_b, 1);
    assert_int_equal(first, second);
    close_bench(b);
}

static void the_same_addresses_in_other_processes_are_other_stacks(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frame = APP_BASE + 0x20;
    const u32 first = resolve(b, b->a, HAND_START_TICKS, &frame, 1);
    const u32 second = resolve(b, b->b, HAND_START_TICKS, &frame, 1);
    assert_int_not_equal(first, second);
    assert_string_equal(text_of(b, second), "b.exe+20");
    close_bench(b);
}

static void the_same_addresses_at_other_times_are_other_stacks(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frame = PLUGIN + 0x20;
    const u32 before = resolve(b, b->a, CHANGE_TICKS - 1, &frame, 1);
    const u32 after = resolve(b, b->a, CHANGE_TICKS, &frame, 1);
    const u32 again = resolve(b, b->a, HAND_START_TICKS, &frame, 1);
    assert_string_equal(text_of(b, before), "one.dll+20");
    assert_string_equal(text_of(b, after), "two.dll+20");
    assert_int_equal(before, again);
    close_bench(b);
}

static void drivers_come_and_go_too(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frames[] = { DRIVER + 0x20, APP_BASE };
    const u32 before = resolve(b, b->b, CHANGE_TICKS - 1, frames, 2);
    const u32 after = resolve(b, b->b, CHANGE_TICKS, frames, 2);
    assert_string_equal(text_of(b, before), "old.sys+20 b.exe+0");
    assert_string_equal(text_of(b, after), "new.sys+20 b.exe+0");
    close_bench(b);
}

/* What a frame without a module is shown with, and the same in every run. */
/* Resolves the same offset in both processes' copies of the library. */
static bool same_in_both(bench *b)
{
    const u64 in_a = NTDLL_A + 0x20, in_b = NTDLL_B + 0x20;
    const u32 first = resolve(b, b->a, HAND_START_TICKS, &in_a, 1);
    return first == resolve(b, b->b, HAND_START_TICKS, &in_b, 1);
}

static etlheap_module_info *find_module(const bench *b, u32 pid, u64 base)
{
    for (u32 i = 0; i < b->result->modules.list.count; i++) {
        etlheap_module_info *const module = &b->result->modules.list.at[i];
        if (module->pid == pid && module->base == base)
            return module;
    }
    fail();
    return NULL;
}

static void another_build_of_a_module_is_another_module(void **state)
{
    (void)state;
    bench *const b = open_bench();
    find_module(b, PID_A, NTDLL_A)->time_date_stamp = 6;
    find_module(b, PID_B, NTDLL_B)->time_date_stamp = 7;
    open_table(b);
    assert_false(same_in_both(b));
    close_bench(b);
}

/* Rundowns leave the time stamp out. */
static void a_copy_without_a_stamp_is_the_build_that_has_one(void **state)
{
    (void)state;
    bench *const b = open_bench();
    etlheap_module_info *const stamped = find_module(b, PID_B, NTDLL_B);
    stamped->time_date_stamp = 7;
    open_table(b);
    assert_true(same_in_both(b));
    assert_ptr_equal(&b->result->modules.list.at[b->table.frames.at[0].module], stamped);
    close_bench(b);
}

static void the_copy_that_is_identified_stands_for_its_build(void **state)
{
    (void)state;
    bench *const b = open_bench();
    etlheap_module_info *const identified = find_module(b, PID_B, NTDLL_B);
    identified->has_rsds = true;
    open_table(b);
    assert_true(same_in_both(b));
    assert_ptr_equal(&b->result->modules.list.at[b->table.frames.at[0].module], identified);
    close_bench(b);
}

static void identify(bench *b, u32 pid, u64 base, u8 mark)
{
    etlheap_module_info *const module = find_module(b, pid, base);
    module->has_rsds = true;
    module->guid.bytes[0] = mark;
}

/* One linker writes no time stamps, and sizes are whole pages. */
static void builds_of_one_path_are_told_apart_by_their_pdbs(void **state)
{
    (void)state;
    bench *const b = open_bench();
    identify(b, PID_A, NTDLL_A, 1);
    identify(b, PID_B, NTDLL_B, 2);
    open_table(b);
    assert_false(same_in_both(b));
    close_bench(b);
}

/* Whose build a third copy is cannot be known: it is taken for none of them. */
static void a_copy_that_may_be_of_two_builds_is_of_none(void **state)
{
    (void)state;
    bench *const b = open_bench();
    etlheap_module_info *const plugin = find_module(b, PID_A, PLUGIN);
    etlheap_module_info *const ntdll = find_module(b, PID_A, NTDLL_A);
    plugin->path = ntdll->path;
    plugin->name = ntdll->name;
    identify(b, PID_A, NTDLL_A, 1);
    identify(b, PID_B, NTDLL_B, 2);
    open_table(b);
    const u64 address = PLUGIN + 0x10;
    const u32 id = resolve(b, b->a, HAND_START_TICKS, &address, 1);
    const frame_row *const frame = &b->table.frames.at[frames_innermost(&b->table, id)];
    assert_ptr_equal(&b->result->modules.list.at[frame->module], plugin);
    close_bench(b);
}

/* --- guesses ------------------------------------------------------------------- */

/* Nothing else was ever at the plug-in's places, so there is one context. */
static bench *open_late_module(void)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->result = hand_result_new();
    b->query = etlheap_query_default();
    b->a = hand_process(b->result, PID_A, "a.exe");
    add_image(b, ETL_EVENT_IMAGE_DCSTART, PID_A, APP_BASE, "C:\\a.exe");
    add_image(b, ETL_EVENT_IMAGE_LOAD, PID_A, PLUGIN, "C:\\late.dll");
    add_image(b, ETL_EVENT_IMAGE_UNLOAD, PID_A, PLUGIN + IMAGE_SIZE, "C:\\early.dll");
    hand_ready(b->result, HAND_START_TICKS + 10000);
    open_table(b);
    return b;
}

static void a_stack_of_modules_that_were_not_there_is_counted_once(void **state)
{
    (void)state;
    bench *const b = open_late_module();
    const u64 late[] = { PLUGIN + 0x10, APP_BASE + 0x10 };
    (void)resolve(b, b->a, CHANGE_TICKS, late, 2);
    assert_int_equal(b->table.guessed_count, 0);
    (void)resolve(b, b->a, CHANGE_TICKS - 1, late, 2);
    assert_int_equal(b->table.guessed_count, 1);
    (void)resolve(b, b->a, CHANGE_TICKS - 2, late, 2);
    (void)resolve(b, b->a, CHANGE_TICKS + 1, late, 2);
    assert_int_equal(b->table.guessed_count, 1);
    const u64 early[] = { APP_BASE + 0x10, PLUGIN + IMAGE_SIZE };
    (void)resolve(b, b->a, CHANGE_TICKS - 1, early, 2);
    assert_int_equal(b->table.guessed_count, 1);
    (void)resolve(b, b->a, CHANGE_TICKS, early, 2);
    assert_int_equal(b->table.guessed_count, 2);
    close_bench(b);
}

static void stacks_of_other_modules_are_no_guesses(void **state)
{
    (void)state;
    bench *const b = open_late_module();
    const u64 frames[] = { APP_BASE + 0x10, 0x1234 };
    (void)resolve(b, b->a, CHANGE_TICKS - 1, frames, 2);
    (void)resolve(b, b->a, CHANGE_TICKS + 1, frames, 2);
    assert_int_equal(b->table.guessed_count, 0);
    close_bench(b);
}

static void a_frame_keeps_its_lowest_address(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 in_a = NTDLL_A + 0x20, in_b = NTDLL_B + 0x20;
    const u32 id = resolve(b, b->b, HAND_START_TICKS, &in_b, 1);
    (void)resolve(b, b->a, HAND_START_TICKS, &in_a, 1);
    assert_int_equal(b->table.frames.at[frames_innermost(&b->table, id)].address, in_a);
    close_bench(b);
}

/* As after an opening that failed half way. */
static void a_closed_table_may_be_closed_again(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frame = APP_BASE;
    (void)resolve(b, b->a, HAND_START_TICKS, &frame, 1);
    frames_close(&b->table);
    close_bench(b);
}

/* --- culling and requiring ----------------------------------------------------------- */

static const u64 deep[] = { NTDLL_A + 1, NTDLL_A + 2, APP_BASE + 3, NTDLL_A + 4 };

static const char *culled(const char *const *modules, u32 count)
{
    static char copy[600];
    etlheap_pattern patterns[4] = { { .module = NULL } };
    for (u32 i = 0; i < count; i++)
        patterns[i].module = modules[i];
    bench *const b = open_bench();
    b->query.cull_frames = patterns;
    b->query.cull_frame_count = count;
    open_table(b);
    const u32 id = resolve(b, b->a, HAND_START_TICKS, deep, ETL_COUNT_OF(deep));
    (void)snprintf(copy, sizeof copy, "%s", text_of(b, id));
    close_bench(b);
    return copy;
}

static void culling_drops_the_innermost_run_that_matches(void **state)
{
    (void)state;
    static const char *const ntdll[] = { "ntdll.dll" };
    assert_string_equal(culled(ntdll, 1), "a.exe+3 ntdll.dll+4");
    static const char *const both[] = { "kernel32.dll", "NTDLL" };
    assert_string_equal(culled(both, 2), "a.exe+3 ntdll.dll+4");
}

static void culling_what_is_not_innermost_drops_nothing(void **state)
{
    (void)state;
    static const char *const app[] = { "a.exe" };
    assert_string_equal(culled(app, 1), "ntdll.dll+1 ntdll.dll+2 a.exe+3 ntdll.dll+4");
}

static void culling_never_drops_the_last_frame(void **state)
{
    (void)state;
    static const char *const all[] = { "*" };
    assert_string_equal(culled(all, 1), "ntdll.dll+4");
}

static void frames_outside_modules_match_no_module(void **state)
{
    (void)state;
    etlheap_pattern pattern = { .module = "*" };
    bench *const b = open_bench();
    b->query.cull_frames = &pattern;
    b->query.cull_frame_count = 1;
    open_table(b);
    const u64 frames[] = { 0x10, APP_BASE };
    const u32 id = resolve(b, b->a, HAND_START_TICKS, frames, 2);
    assert_string_equal(text_of(b, id), "?+10 a.exe+0");
    close_bench(b);
}

static void stacks_that_differ_only_in_culled_frames_are_one(void **state)
{
    (void)state;
    etlheap_pattern pattern = { .module = "ntdll" };
    bench *const b = open_bench();
    b->query.cull_frames = &pattern;
    b->query.cull_frame_count = 1;
    open_table(b);
    const u64 other[] = { NTDLL_A + 9, APP_BASE + 3, NTDLL_A + 4 };
    assert_int_equal(resolve(b, b->a, HAND_START_TICKS, deep, ETL_COUNT_OF(deep)),
                     resolve(b, b->a, HAND_START_TICKS, other, ETL_COUNT_OF(other)));
    close_bench(b);
}

static bool wanted(const char *require, const char *cull)
{
    const etlheap_pattern required[] = { { .module = "absent.dll" }, { .module = require } };
    const etlheap_pattern to_cull = { .module = cull };
    bench *const b = open_bench();
    b->query.require_frames = required;
    b->query.require_frame_count = 2;
    b->query.cull_frames = &to_cull;
    b->query.cull_frame_count = cull != NULL;
    open_table(b);
    const u32 id = resolve(b, b->a, HAND_START_TICKS, deep, ETL_COUNT_OF(deep));
    const bool answer = b->table.stacks.at[id - 1].wanted;
    close_bench(b);
    return answer;
}

static void any_required_frame_anywhere_is_enough(void **state)
{
    (void)state;
    assert_true(wanted("a.exe", NULL));
    assert_true(wanted("ntdll.dll", NULL));
    assert_false(wanted("b.exe", NULL));
}

static void a_culled_frame_still_counts_as_required(void **state)
{
    (void)state;
    assert_true(wanted("ntdll.dll", "*"));
    assert_true(wanted("a.exe", "*"));
}

static void everything_is_wanted_when_nothing_is_required(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u32 id = resolve(b, b->a, HAND_START_TICKS, deep, 1);
    assert_true(b->table.stacks.at[id - 1].wanted);
    close_bench(b);
}

/* --- order ------------------------------------------------------------------------------ */

static void frames_are_ordered_by_module_then_offset(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    /* Ascending: outside modules first. */
    const u64 frames[] = { 0x10, 0x20, APP_BASE + 1, APP_BASE + 2, NTDLL_A, KERNEL };
    u32 ids[ETL_COUNT_OF(frames)];
    for (u32 i = ETL_COUNT_OF(frames); i > 0; i--)
        ids[i - 1] =
            frames_innermost(&b->table, resolve(b, b->a, HAND_START_TICKS, &frames[i - 1], 1));
    assert_true(frames_rank(&b->table));
    for (u32 i = 0; i < ETL_COUNT_OF(frames); i++) {
        for (u32 k = 0; k < ETL_COUNT_OF(frames); k++) {
            const int order = frames_compare(&b->table, ids[i], ids[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
        assert_true(frames_compare(&b->table, FRAME_NONE, ids[i]) < 0);
        assert_true(frames_compare(&b->table, ids[i], FRAME_NONE) > 0);
    }
    assert_int_equal(frames_compare(&b->table, FRAME_NONE, FRAME_NONE), 0);
    close_bench(b);
}

static void stacks_are_ordered_frame_by_frame_then_by_depth(void **state)
{
    (void)state;
    bench *const b = open_bench();
    open_table(b);
    const u64 frames[] = { APP_BASE, NTDLL_A, KERNEL };
    const u64 other[] = { APP_BASE, KERNEL };
    const u32 one = resolve(b, b->a, HAND_START_TICKS, frames, 1);
    const u32 two = resolve(b, b->a, HAND_START_TICKS, frames, 2);
    const u32 three = resolve(b, b->a, HAND_START_TICKS, frames, 3);
    const u32 sideways = resolve(b, b->a, HAND_START_TICKS, other, 2);
    const u32 ascending[] = { 0, one, two, three, sideways };
    assert_true(frames_rank(&b->table));
    u64 prefix = 0;
    for (u32 i = 0; i < ETL_COUNT_OF(ascending); i++) {
        assert_true(frames_prefix(&b->table, ascending[i]) >= prefix);
        prefix = frames_prefix(&b->table, ascending[i]);
    }
    for (u32 i = 0; i < ETL_COUNT_OF(ascending); i++) {
        for (u32 k = 0; k < ETL_COUNT_OF(ascending); k++) {
            const int order = frames_compare_stacks(&b->table, ascending[i], ascending[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
    close_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_become_modules_and_offsets),
        cmocka_unit_test(no_stack_stays_none),
        cmocka_unit_test(the_same_code_at_other_addresses_is_the_same_stack),
        cmocka_unit_test(the_same_addresses_in_other_processes_are_other_stacks),
        cmocka_unit_test(the_same_addresses_at_other_times_are_other_stacks),
        cmocka_unit_test(drivers_come_and_go_too),
        cmocka_unit_test(another_build_of_a_module_is_another_module),
        cmocka_unit_test(a_copy_without_a_stamp_is_the_build_that_has_one),
        cmocka_unit_test(the_copy_that_is_identified_stands_for_its_build),
        cmocka_unit_test(builds_of_one_path_are_told_apart_by_their_pdbs),
        cmocka_unit_test(a_copy_that_may_be_of_two_builds_is_of_none),
        cmocka_unit_test(a_stack_of_modules_that_were_not_there_is_counted_once),
        cmocka_unit_test(stacks_of_other_modules_are_no_guesses),
        cmocka_unit_test(a_frame_keeps_its_lowest_address),
        cmocka_unit_test(a_closed_table_may_be_closed_again),
        cmocka_unit_test(culling_drops_the_innermost_run_that_matches),
        cmocka_unit_test(culling_what_is_not_innermost_drops_nothing),
        cmocka_unit_test(culling_never_drops_the_last_frame),
        cmocka_unit_test(frames_outside_modules_match_no_module),
        cmocka_unit_test(stacks_that_differ_only_in_culled_frames_are_one),
        cmocka_unit_test(any_required_frame_anywhere_is_enough),
        cmocka_unit_test(a_culled_frame_still_counts_as_required),
        cmocka_unit_test(everything_is_wanted_when_nothing_is_required),
        cmocka_unit_test(frames_are_ordered_by_module_then_offset),
        cmocka_unit_test(stacks_are_ordered_frame_by_frame_then_by_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
