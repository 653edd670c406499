/*
 * Goal: frames exclude stacks, and modules are folded, by the names of functions and modules,
 * whether frames are culled or required or not.
 * Method: stacks over the modules of symbol_world.h, resolved and finished; what is
 * left of them as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stack_bench.h"

/* --- excluded frames ------------------------------------------------------------------ */

static void an_excluded_function_anywhere_is_enough(void **state)
{
    bench *const b = *state;
    bench_exclude(b, "absent", "main");
    bench_exclude(b, NULL, "main");
    const u32 with = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 without = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW));
    bench_finish(b);
    assert_false(bench_wants(b, with));
    assert_true(bench_wants(b, without));
    assert_true(frames_wants(&b->table, 0));
}

static void an_inlined_call_can_be_excluded(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "allocate");
    bench_exclude(b, NULL, "vec*");
    const u32 with = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 without = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_false(bench_wants(b, with));
    assert_true(bench_wants(b, without));
}

static void exclusion_wins_over_requirement(void **state)
{
    bench *const b = *state;
    bench_require(b, NULL, "main");
    bench_exclude(b, "crt", "malloc");
    const u32 both = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    const u32 required = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 neither = STACK(b, APP(WORLD_GROW));
    bench_finish(b);
    assert_false(bench_wants(b, both));
    assert_true(bench_wants(b, required));
    assert_false(bench_wants(b, neither));
    assert_false(frames_wants(&b->table, 0));
}

static void what_is_excluded_can_be_asked_for(void **state)
{
    bench *const b = *state;
    bench_require(b, NULL, "main");
    bench_exclude(b, "crt", "malloc");
    b->world->query.only_excluded = true;
    const u32 both = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    const u32 required = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 excluded = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW));
    bench_finish(b);
    assert_true(bench_wants(b, both));
    assert_false(bench_wants(b, required));
    assert_false(bench_wants(b, excluded));
    assert_false(frames_wants(&b->table, 0));
}

/* --- folded modules ------------------------------------------------------------------- */

static void a_module_stands_for_its_consecutive_frames(void **state)
{
    bench *const b = *state;
    bench_fold(b, "app*");
    const u32 id = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_GROW), CRT(WORLD_MALLOC),
                         APP(WORLD_MAIN), LIB(WORLD_LIB_MAKE), 0x1234);
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "app.exe crt.dll+1010 app.exe lib.dll+1120 ?+1234");
}

static void each_module_stands_for_its_own_frames(void **state)
{
    bench *const b = *state;
    bench_fold(b, "app");
    bench_fold(b, "crt");
    const u32 id = STACK(b, CRT(WORLD_FILE), CRT(WORLD_MALLOC), APP(WORLD_GROW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "crt.dll app.exe");
}

static void stacks_that_are_folded_alike_are_one(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "malloc");
    bench_cull(b, NULL, "allocate");
    bench_fold(b, "app");
    const u32 first = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 second = STACK(b, APP(WORLD_GROW));
    const u32 third = STACK(b, APP(WORLD_GROW), LIB(WORLD_LIB_MAKE));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, first), "app.exe");
    assert_int_equal(frames_finished(&b->table, first), frames_finished(&b->table, second));
    assert_int_not_equal(frames_finished(&b->table, first), frames_finished(&b->table, third));
}

static void the_site_of_a_folded_stack_is_the_module(void **state)
{
    bench *const b = *state;
    bench_fold(b, "app");
    bench_group_by(b, ETLHEAP_KEY_SITE);
    const u32 grow = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 file = STACK(b, CRT(WORLD_FILE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, grow), "app.exe");
    assert_int_equal(frames_site(&b->table, frames_finished(&b->table, grow)),
                     frames_innermost(&b->table, frames_finished(&b->table, grow)));
    assert_non_null(strstr(bench_site_of(b, file), "crt.dll+1108"));
}

static void filters_look_at_frames_before_they_are_folded(void **state)
{
    bench *const b = *state;
    bench_fold(b, "app");
    bench_require(b, NULL, "main");
    const u32 with = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 without = STACK(b, APP(WORLD_GROW));
    bench_finish(b);
    assert_true(bench_wants(b, with));
    assert_false(bench_wants(b, without));
}

int main(void)
{
#define FILTER_TEST(name) cmocka_unit_test_setup_teardown(name, bench_begin, bench_end)
    const struct CMUnitTest tests[] = {
        FILTER_TEST(an_excluded_function_anywhere_is_enough),
        FILTER_TEST(an_inlined_call_can_be_excluded),
        FILTER_TEST(exclusion_wins_over_requirement),
        FILTER_TEST(what_is_excluded_can_be_asked_for),
        FILTER_TEST(a_module_stands_for_its_consecutive_frames),
        FILTER_TEST(each_module_stands_for_its_own_frames),
        FILTER_TEST(stacks_that_are_folded_alike_are_one),
        FILTER_TEST(the_site_of_a_folded_stack_is_the_module),
        FILTER_TEST(filters_look_at_frames_before_they_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
