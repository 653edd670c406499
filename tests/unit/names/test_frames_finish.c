/*
 * Goal: culling, required frames, sites, functions and types go by the names of functions,
 * inlined calls included; no name is asked for that does not matter.
 * Method: stacks over the modules of symbol_world.h, resolved and finished; what is
 * left of them as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stack_bench.h"

/* Places that were looked up so far. */
static size_t asked(const bench *b)
{
    return b->world->symbols->names.count;
}

/* --- culling ---------------------------------------------------------------------- */

static void functions_are_culled_by_name(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "malloc");
    bench_cull(b, "app", "operator *");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_NEW), APP(WORLD_MAIN));
    const u32 other = STACK(b, CRT(WORLD_FILE), APP(WORLD_NEW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "app.exe+1308");
    assert_string_equal(bench_left_of(b, other), "crt.dll+1108 app.exe+1018 app.exe+1308");
}

static void only_the_pattern_for_the_module_counts(void **state)
{
    bench *const b = *state;
    bench_cull(b, "crt", "operator new");
    bench_cull(b, "app", "malloc");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_NEW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "crt.dll+1010 app.exe+1018 app.exe+1308");
}

static void inlined_calls_are_culled_one_by_one(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "allocate");
    const u32 one = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 none = STACK(b, APP(WORLD_PUSH), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, one), "app.exe+1117-1 app.exe+1308");
    assert_string_equal(bench_left_of(b, none), "app.exe+110c app.exe+1308");
}

static void culling_ends_within_a_frame_at_the_first_call_that_differs(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "allocate");
    bench_cull(b, NULL, "vec*::push");
    const u32 two = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, two), "app.exe+1117-2 app.exe+1308");
}

static void a_frame_goes_when_all_of_its_calls_do(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "allocate");
    bench_cull(b, NULL, "vec*::push");
    bench_cull(b, NULL, "grow");
    const u32 id = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_GROW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "app.exe+1308");
}

static void the_last_call_stays(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "?*");
    const u32 frames = STACK(b, APP(WORLD_NEW), APP(WORLD_MAIN));
    const u32 calls = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, frames), "app.exe+1308");
    assert_string_equal(bench_left_of(b, calls), "app.exe+1117-2");
}

static void patterns_without_a_name_need_none(void **state)
{
    bench *const b = *state;
    bench_cull(b, "crt.dll", NULL);
    const u32 id = STACK(b, CRT(WORLD_MALLOC), CRT(WORLD_FILE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "app.exe+1308");
    assert_int_equal(asked(b), 0);
}

static void frames_behind_the_site_are_not_asked_for(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "operator new");
    (void)STACK(b, APP(WORLD_NEW), APP(WORLD_GROW), APP(WORLD_MAIN), CRT(WORLD_FILE));
    (void)STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN_AT), LIB(WORLD_LIB_MAKE));
    bench_finish(b);
    assert_int_equal(asked(b), 2);
}

static void unnamed_only_spares_known_functions(void **state)
{
    bench *const b = *state;
    bench_cull_unnamed(b, "app.exe");
    bench_cull_unnamed(b, "crt.dll");
    bench_cull_unnamed(b, "gone.dll");
    const u32 known = STACK(b, CRT(WORLD_FILE), APP(WORLD_MAIN));
    const u32 unknown = STACK(b, WORLD_GONE + 5, APP(WORLD_MAIN_AT), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, known), "crt.dll+1108 app.exe+1308");
    assert_string_equal(bench_left_of(b, unknown), "app.exe+1308");
}

static void unnamed_only_takes_exports_for_guesses(void **state)
{
    bench *const b = *state;
    bench_cull_unnamed(b, "lib");
    const u32 id = STACK(b, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "app.exe+1308");
}

static void exports_are_culled_by_name_too(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "Heap::*");
    const u32 grow = STACK(b, LIB(WORLD_LIB_GROW), APP(WORLD_MAIN));
    const u32 make = STACK(b, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, grow), "app.exe+1308");
    assert_string_equal(bench_left_of(b, make), "lib.dll+1120 app.exe+1308");
}

static void frames_outside_modules_end_culling(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "malloc");
    const u32 id = STACK(b, 0x1234, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "?+1234 crt.dll+1010 app.exe+1308");
}

static void stacks_that_are_left_alike_are_one(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "malloc");
    const u32 first = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    const u32 second = STACK(b, CRT(WORLD_MALLOC + 4), APP(WORLD_MAIN));
    const u32 third = STACK(b, APP(WORLD_MAIN));
    const u32 fourth = STACK(b, APP(WORLD_MAIN + 4));
    bench_finish(b);
    assert_int_equal(frames_finished(&b->table, first), frames_finished(&b->table, second));
    assert_int_equal(frames_finished(&b->table, first), frames_finished(&b->table, third));
    assert_int_not_equal(frames_finished(&b->table, first), frames_finished(&b->table, fourth));
    assert_int_equal(frames_finished(&b->table, 0), 0);
}

/* --- required frames ------------------------------------------------------------------ */

static void a_required_function_anywhere_is_enough(void **state)
{
    bench *const b = *state;
    bench_require(b, "absent", "main");
    bench_require(b, NULL, "main");
    const u32 with = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 without = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW));
    bench_finish(b);
    assert_true(bench_wants(b, with));
    assert_false(bench_wants(b, without));
}

static void an_inlined_call_can_be_required(void **state)
{
    bench *const b = *state;
    bench_require(b, NULL, "vec*");
    const u32 with = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 without = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_true(bench_wants(b, with));
    assert_false(bench_wants(b, without));
}

static void what_is_culled_still_counts_as_required(void **state)
{
    bench *const b = *state;
    bench_cull(b, NULL, "malloc");
    bench_require(b, NULL, "malloc");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    bench_finish(b);
    assert_true(bench_wants(b, id));
    assert_string_equal(bench_left_of(b, id), "app.exe+1308");
}

static void a_required_module_needs_no_names(void **state)
{
    bench *const b = *state;
    bench_require(b, "crt", NULL);
    const u32 with = STACK(b, APP(WORLD_NEW), CRT(WORLD_MALLOC));
    const u32 without = STACK(b, APP(WORLD_NEW), APP(WORLD_MAIN));
    bench_finish(b);
    assert_true(bench_wants(b, with));
    assert_false(bench_wants(b, without));
    assert_int_equal(asked(b), 0);
}

/* --- sites -------------------------------------------------------------------------------- */

static void a_site_is_a_function_at_its_lowest_place(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_SITE);
    const u32 late = STACK(b, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    const u32 early = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 main = STACK(b, APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, late), "grow app.exe+1104 a.cpp:0");
    assert_string_equal(bench_site_of(b, early), "grow app.exe+1104 a.cpp:0");
    assert_string_equal(bench_site_of(b, main), "main app.exe+1308 :0");
}

static void a_site_on_one_line_has_it(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_FRAME);
    const u32 first = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 second = STACK(b, APP(WORLD_GROW + 2), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, first), "grow app.exe+1104 a.cpp:11");
    assert_string_equal(bench_site_of(b, second), "grow app.exe+1104 a.cpp:11");
}

static void a_site_is_what_culling_left(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_SITE);
    bench_cull(b, NULL, "allocate");
    const u32 inlined = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 same = STACK(b, APP(WORLD_PUSH), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, inlined), "vec<int>::push app.exe+110c :0");
    assert_string_equal(bench_site_of(b, same), "vec<int>::push app.exe+110c :0");
}

static void a_site_without_name_is_its_frame(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_SITE);
    const u32 gone = STACK(b, WORLD_GONE + 5, APP(WORLD_MAIN));
    const u32 near = STACK(b, WORLD_GONE + 6, APP(WORLD_MAIN));
    const u32 outside = STACK(b, 0x1234, APP(WORLD_MAIN));
    const u32 crt = STACK(b, CRT(WORLD_MALLOC));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, gone), "gone.dll+5");
    assert_string_equal(bench_site_of(b, near), "gone.dll+6");
    assert_string_equal(bench_site_of(b, outside), "?+1234");
    assert_string_equal(bench_site_of(b, crt), "malloc crt.dll+1010 :0 near");
}

static void sites_of_unwanted_stacks_do_not_count(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_SITE);
    bench_cull(b, "crt", NULL);
    bench_require(b, NULL, "main");
    (void)STACK(b, APP(WORLD_GROW));
    (void)STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW + 2));
    const u32 late = STACK(b, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(bench_site_of(b, late), "grow app.exe+1180 a.cpp:12");
}

static void sites_of_unwanted_stacks_are_not_asked_for(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_SITE);
    bench_require(b, "crt", NULL);
    (void)STACK(b, APP(WORLD_GROW));
    (void)STACK(b, APP(WORLD_MAIN), CRT(WORLD_MALLOC));
    bench_finish(b);
    assert_int_equal(asked(b), 1);
}

/* --- functions ---------------------------------------------------------------------------- */

/* "allocate, vec<int>::push, main": the functions of a stack; +OFFSET for a frame without a
 * name. */
static const char *functions_of(bench *b, u32 id)
{
    const u32 stack = frames_finished(&b->table, id);
    u32 count;
    const u32 *const frames = frames_functions(&b->table, stack, &count);
    size_t used = 0;
    b->text[0] = '\0';
    for (u32 i = 0; i < count; i++) {
        const frame_row *const row = &b->table.frames.at[frames[i]];
        const char *const separator = i > 0 ? ", " : "";
        used +=
            (size_t)(row->function == 0
                         ? snprintf(b->text + used, sizeof b->text - used, "%s+%llx", separator,
                                    (unsigned long long)row->offset)
                         : snprintf(b->text + used, sizeof b->text - used, "%s%s", separator,
                                    symbols_text(b->world->symbols,
                                                 b->table.functions.at[row->function - 1].symbol)));
        assert_true(used < sizeof b->text);
    }
    return b->text;
}

static void all_calls_of_a_stack_are_functions(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_FUNCTION);
    bench_cull(b, NULL, "allocate");
    const u32 inlined = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 outer =
        STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE), WORLD_GONE + 5, APP(WORLD_MAIN));
    bench_finish(b);
    assert_string_equal(functions_of(b, inlined), "vec<int>::push, grow, main");
    assert_string_equal(functions_of(b, outer),
                        "operator new, allocate, vec<int>::push, grow, +5, main");
    assert_string_equal(functions_of(b, 0), "");
}

static void a_function_is_one_whatever_calls_it(void **state)
{
    bench *const b = *state;
    u32 count, others;
    bench_group_by(b, ETLHEAP_KEY_FUNCTION);
    const u32 one = STACK(b, APP(WORLD_GROW), APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    const u32 other = STACK(b, APP(WORLD_MAIN), APP(WORLD_PUSH));
    bench_finish(b);
    const u32 *const first = frames_functions(&b->table, frames_finished(&b->table, one), &count);
    const u32 *const second =
        frames_functions(&b->table, frames_finished(&b->table, other), &others);
    assert_string_equal(functions_of(b, one), "grow, grow, main");
    assert_string_equal(functions_of(b, other), "main, vec<int>::push, grow");
    assert_int_equal(first[0], first[1]);
    assert_int_equal(first[0], second[2]);
    assert_int_equal(first[2], second[0]);
}

static void functions_of_unwanted_stacks_are_not_asked_for(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_FUNCTION);
    bench_require(b, "crt", NULL);
    (void)STACK(b, APP(WORLD_GROW), APP(WORLD_NEW));
    const u32 wanted = STACK(b, APP(WORLD_MAIN), CRT(WORLD_MALLOC));
    bench_finish(b);
    assert_int_equal(asked(b), 2);
    assert_string_equal(functions_of(b, wanted), "main, malloc");
}

/* --- types ----------------------------------------------------------------------------------- */

static const char *type_of(bench *b, u32 id)
{
    return symbols_text(b->world->symbols, b->table.alloc_types[id]);
}

static void types_are_searched_outward(void **state)
{
    bench *const b = *state;
    u64 deep[40];
    bench_group_by(b, ETLHEAP_KEY_TYPE_NAME);
    for (u32 i = 0; i < ETL_COUNT_OF(deep); i++)
        deep[i] = APP(WORLD_MAIN + i);
    deep[37] = APP(WORLD_ALLOCATE);
    const u32 near = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 none = STACK(b, APP(WORLD_NEW), APP(WORLD_PUSH), APP(WORLD_MAIN));
    const u32 far = bench_add_stack(b, deep, ETL_COUNT_OF(deep));
    bench_finish(b);
    assert_string_equal(type_of(b, near), "int");
    assert_string_equal(type_of(b, none), "");
    assert_string_equal(type_of(b, far), "int");
    assert_string_equal(type_of(b, 0), "");
}

static void what_culling_takes_still_has_types(void **state)
{
    bench *const b = *state;
    bench_group_by(b, ETLHEAP_KEY_TYPE_NAME);
    bench_cull(b, "app.exe", NULL);
    const u32 id = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE), CRT(WORLD_FILE));
    bench_finish(b);
    assert_string_equal(bench_left_of(b, id), "crt.dll+1108");
    assert_string_equal(type_of(b, id), "int");
}

#define FINISH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_begin, bench_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FINISH_TEST(functions_are_culled_by_name),
        FINISH_TEST(only_the_pattern_for_the_module_counts),
        FINISH_TEST(inlined_calls_are_culled_one_by_one),
        FINISH_TEST(culling_ends_within_a_frame_at_the_first_call_that_differs),
        FINISH_TEST(a_frame_goes_when_all_of_its_calls_do),
        FINISH_TEST(the_last_call_stays),
        FINISH_TEST(patterns_without_a_name_need_none),
        FINISH_TEST(frames_behind_the_site_are_not_asked_for),
        FINISH_TEST(unnamed_only_spares_known_functions),
        FINISH_TEST(unnamed_only_takes_exports_for_guesses),
        FINISH_TEST(exports_are_culled_by_name_too),
        FINISH_TEST(frames_outside_modules_end_culling),
        FINISH_TEST(stacks_that_are_left_alike_are_one),
        FINISH_TEST(a_required_function_anywhere_is_enough),
        FINISH_TEST(an_inlined_call_can_be_required),
        FINISH_TEST(what_is_culled_still_counts_as_required),
        FINISH_TEST(a_required_module_needs_no_names),
        FINISH_TEST(a_site_is_a_function_at_its_lowest_place),
        FINISH_TEST(a_site_on_one_line_has_it),
        FINISH_TEST(a_site_is_what_culling_left),
        FINISH_TEST(a_site_without_name_is_its_frame),
        FINISH_TEST(sites_of_unwanted_stacks_do_not_count),
        FINISH_TEST(sites_of_unwanted_stacks_are_not_asked_for),
        FINISH_TEST(all_calls_of_a_stack_are_functions),
        FINISH_TEST(a_function_is_one_whatever_calls_it),
        FINISH_TEST(functions_of_unwanted_stacks_are_not_asked_for),
        FINISH_TEST(types_are_searched_outward),
        FINISH_TEST(what_culling_takes_still_has_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
