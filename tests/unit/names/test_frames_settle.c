/*
 * Goal: culling, required frames, sites and types go by the names of functions,
 * inlined calls included; no name is asked for that does not matter.
 * Method: stacks over the modules of symbol_world.h, resolved and settled; what is
 * left of them as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/names/frames.h"
#include "tests/support/symbol_world.h"

#define APP(offset) (WORLD_APP + (offset))
#define CRT(offset) (WORLD_CRT + (offset))
#define LIB(offset) (WORLD_LIB + (offset))

#define PATTERNS_MAX 4u

typedef struct bench {
    symbol_world *world;
    frame_table table;
    etlheap_pattern cull[PATTERNS_MAX], require[PATTERNS_MAX];
    char text[2000];
} bench;

static int begin_test(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    b->world = world_new();
    world_open_symbols(b->world, NULL);
    b->world->query.cull_frames = b->cull;
    b->world->query.require_frames = b->require;
    *state = b;
    return 0;
}

static int end_test(void **state)
{
    bench *const b = *state;
    frames_close(&b->table);
    world_free(b->world);
    free(b);
    return 0;
}

static void cull(bench *b, const char *module, const char *symbol)
{
    b->cull[b->world->query.cull_frame_count++] =
        (etlheap_pattern){ .module = module, .symbol = symbol };
}

static void cull_unnamed(bench *b, const char *module)
{
    cull(b, module, NULL);
    b->cull[b->world->query.cull_frame_count - 1].unnamed_only = true;
}

static void require(bench *b, const char *module, const char *symbol)
{
    b->require[b->world->query.require_frame_count++] =
        (etlheap_pattern){ .module = module, .symbol = symbol };
}

static void group_by(bench *b, etlheap_key key)
{
    b->world->query.group_by[0] = key;
    b->world->query.group_by_count = 1;
}

/* Stacks are given before they are settled; ids are 1, 2, ... in this order. */
static u32 add_stack(bench *b, const u64 *frames, u32 count)
{
    u32 id;
    if (b->table.result == NULL)
        assert_true(frames_open(&b->table, b->world->result, &b->world->query));
    const u32 stack = hand_stack(b->world->result, frames, count);
    assert_true(frames_resolve(&b->table, b->world->process, stack, HAND_START_TICKS, &id));
    return id;
}

#define STACK(b, ...)                                                                              \
    add_stack(b, (const u64[]){ __VA_ARGS__ }, (u32)(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)))

static void settle(bench *b)
{
    assert_int_equal(frames_settle(&b->table, NULL), ETL_OK);
}

/* "app.exe+1117-1 app.exe+1308": what is left, -N for calls that were culled. */
static const char *left_of(bench *b, u32 id)
{
    const u32 settled = frames_settled(&b->table, id);
    const frame_stack *const stack = &b->table.stacks.at[settled - 1];
    size_t size = 0;
    for (u32 i = 0; i < stack->count; i++) {
        const u32 frame = b->table.pool.at[stack->start + i];
        const frame_row *const row = &b->table.frames.at[frame];
        const char *const module = frames_module(&b->table, frame);
        size +=
            (size_t)snprintf(b->text + size, sizeof b->text - size, "%s%s+%llx", i > 0 ? " " : "",
                             module == NULL ? "?" : module, (unsigned long long)row->offset);
        if (row->skip > 0)
            size += (size_t)snprintf(b->text + size, sizeof b->text - size, "-%u", row->skip);
    }
    return b->text;
}

static bool is_wanted(const bench *b, u32 id)
{
    return b->table.stacks.at[frames_settled(&b->table, id) - 1].wanted;
}

/* "grow app.exe+1104 a.cpp:11" of a function, "app.exe+2000" of a mere frame. */
static const char *site_of(bench *b, u32 id)
{
    const u32 frame = frames_site(&b->table, frames_settled(&b->table, id));
    const frame_row *const row = &b->table.frames.at[frame];
    const char *const module = frames_module(&b->table, frame);
    const char *const place = module == NULL ? "?" : module;
    if (row->function == 0) {
        snprintf(b->text, sizeof b->text, "%s+%llx", place, (unsigned long long)row->offset);
        return b->text;
    }
    const frame_function *const f = &b->table.functions.at[row->function - 1];
    const char *const file = symbols_text(b->world->symbols, f->file);
    const char *const slash = strrchr(file, '\\');
    snprintf(b->text, sizeof b->text, "%s %s+%llx %s:%u%s",
             symbols_text(b->world->symbols, f->symbol), place, (unsigned long long)row->offset,
             slash == NULL ? file : slash + 1, f->line, f->is_nearest ? " near" : "");
    return b->text;
}

/* Places that were looked up so far. */
static size_t asked(const bench *b)
{
    return b->world->symbols->names.count;
}

/* --- culling ---------------------------------------------------------------------- */

static void functions_are_culled_by_name(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "malloc");
    cull(b, "app", "operator *");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_NEW), APP(WORLD_MAIN));
    const u32 other = STACK(b, CRT(WORLD_FILE), APP(WORLD_NEW), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "app.exe+1308");
    assert_string_equal(left_of(b, other), "crt.dll+1108 app.exe+1018 app.exe+1308");
}

static void only_the_pattern_for_the_module_counts(void **state)
{
    bench *const b = *state;
    cull(b, "crt", "operator new");
    cull(b, "app", "malloc");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_NEW), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "crt.dll+1010 app.exe+1018 app.exe+1308");
}

static void inlined_calls_are_culled_one_by_one(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "allocate");
    const u32 one = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 none = STACK(b, APP(WORLD_PUSH), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, one), "app.exe+1117-1 app.exe+1308");
    assert_string_equal(left_of(b, none), "app.exe+110c app.exe+1308");
}

static void culling_ends_within_a_frame_at_the_first_call_that_differs(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "allocate");
    cull(b, NULL, "vec*::push");
    const u32 two = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, two), "app.exe+1117-2 app.exe+1308");
}

static void a_frame_goes_when_all_of_its_calls_do(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "allocate");
    cull(b, NULL, "vec*::push");
    cull(b, NULL, "grow");
    const u32 id = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_GROW), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "app.exe+1308");
}

static void the_last_call_stays(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "?*");
    const u32 frames = STACK(b, APP(WORLD_NEW), APP(WORLD_MAIN));
    const u32 calls = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE));
    settle(b);
    assert_string_equal(left_of(b, frames), "app.exe+1308");
    assert_string_equal(left_of(b, calls), "app.exe+1117-2");
}

static void patterns_without_a_name_need_none(void **state)
{
    bench *const b = *state;
    cull(b, "crt.dll", NULL);
    const u32 id = STACK(b, CRT(WORLD_MALLOC), CRT(WORLD_FILE), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "app.exe+1308");
    assert_int_equal(asked(b), 0);
}

static void frames_behind_the_site_are_not_asked_for(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "operator new");
    (void)STACK(b, APP(WORLD_NEW), APP(WORLD_GROW), APP(WORLD_MAIN), CRT(WORLD_FILE));
    (void)STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN_AT), LIB(WORLD_LIB_MAKE));
    settle(b);
    assert_int_equal(asked(b), 2);
}

static void unnamed_only_spares_known_functions(void **state)
{
    bench *const b = *state;
    cull_unnamed(b, "app.exe");
    cull_unnamed(b, "crt.dll");
    cull_unnamed(b, "gone.dll");
    const u32 known = STACK(b, CRT(WORLD_FILE), APP(WORLD_MAIN));
    const u32 unknown = STACK(b, WORLD_GONE + 5, APP(WORLD_MAIN_AT), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, known), "crt.dll+1108 app.exe+1308");
    assert_string_equal(left_of(b, unknown), "app.exe+1308");
}

static void unnamed_only_takes_exports_for_guesses(void **state)
{
    bench *const b = *state;
    cull_unnamed(b, "lib");
    const u32 id = STACK(b, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "app.exe+1308");
}

static void exports_are_culled_by_name_too(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "Heap::*");
    const u32 grow = STACK(b, LIB(WORLD_LIB_GROW), APP(WORLD_MAIN));
    const u32 make = STACK(b, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, grow), "app.exe+1308");
    assert_string_equal(left_of(b, make), "lib.dll+1120 app.exe+1308");
}

static void frames_outside_modules_end_culling(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "malloc");
    const u32 id = STACK(b, 0x1234, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(left_of(b, id), "?+1234 crt.dll+1010 app.exe+1308");
}

static void stacks_that_are_left_alike_are_one(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "malloc");
    const u32 first = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    const u32 second = STACK(b, CRT(WORLD_MALLOC + 4), APP(WORLD_MAIN));
    const u32 third = STACK(b, APP(WORLD_MAIN));
    const u32 fourth = STACK(b, APP(WORLD_MAIN + 4));
    settle(b);
    assert_int_equal(frames_settled(&b->table, first), frames_settled(&b->table, second));
    assert_int_equal(frames_settled(&b->table, first), frames_settled(&b->table, third));
    assert_int_not_equal(frames_settled(&b->table, first), frames_settled(&b->table, fourth));
    assert_int_equal(frames_settled(&b->table, 0), 0);
}

/* --- required frames ------------------------------------------------------------------ */

static void a_required_function_anywhere_is_enough(void **state)
{
    bench *const b = *state;
    require(b, "absent", "main");
    require(b, NULL, "main");
    const u32 with = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 without = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW));
    settle(b);
    assert_true(is_wanted(b, with));
    assert_false(is_wanted(b, without));
}

static void an_inlined_call_can_be_required(void **state)
{
    bench *const b = *state;
    require(b, NULL, "vec*");
    const u32 with = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 without = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    settle(b);
    assert_true(is_wanted(b, with));
    assert_false(is_wanted(b, without));
}

static void what_is_culled_still_counts_as_required(void **state)
{
    bench *const b = *state;
    cull(b, NULL, "malloc");
    require(b, NULL, "malloc");
    const u32 id = STACK(b, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    settle(b);
    assert_true(is_wanted(b, id));
    assert_string_equal(left_of(b, id), "app.exe+1308");
}

static void a_required_module_needs_no_names(void **state)
{
    bench *const b = *state;
    require(b, "crt", NULL);
    const u32 with = STACK(b, APP(WORLD_NEW), CRT(WORLD_MALLOC));
    const u32 without = STACK(b, APP(WORLD_NEW), APP(WORLD_MAIN));
    settle(b);
    assert_true(is_wanted(b, with));
    assert_false(is_wanted(b, without));
    assert_int_equal(asked(b), 0);
}

/* --- sites -------------------------------------------------------------------------------- */

static void a_site_is_a_function_at_its_lowest_place(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_SITE);
    const u32 late = STACK(b, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    const u32 early = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 main = STACK(b, APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(site_of(b, late), "grow app.exe+1104 a.cpp:0");
    assert_string_equal(site_of(b, early), "grow app.exe+1104 a.cpp:0");
    assert_string_equal(site_of(b, main), "main app.exe+1308 :0");
}

static void a_site_on_one_line_has_it(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_FRAME);
    const u32 first = STACK(b, APP(WORLD_GROW), APP(WORLD_MAIN));
    const u32 second = STACK(b, APP(WORLD_GROW + 2), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(site_of(b, first), "grow app.exe+1104 a.cpp:11");
    assert_string_equal(site_of(b, second), "grow app.exe+1104 a.cpp:11");
}

static void a_site_is_what_culling_left(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_SITE);
    cull(b, NULL, "allocate");
    const u32 inlined = STACK(b, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 same = STACK(b, APP(WORLD_PUSH), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(site_of(b, inlined), "vec<int>::push app.exe+110c :0");
    assert_string_equal(site_of(b, same), "vec<int>::push app.exe+110c :0");
}

static void a_site_without_name_is_its_frame(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_SITE);
    const u32 gone = STACK(b, WORLD_GONE + 5, APP(WORLD_MAIN));
    const u32 near = STACK(b, WORLD_GONE + 6, APP(WORLD_MAIN));
    const u32 outside = STACK(b, 0x1234, APP(WORLD_MAIN));
    const u32 crt = STACK(b, CRT(WORLD_MALLOC));
    settle(b);
    assert_string_equal(site_of(b, gone), "gone.dll+5");
    assert_string_equal(site_of(b, near), "gone.dll+6");
    assert_string_equal(site_of(b, outside), "?+1234");
    assert_string_equal(site_of(b, crt), "malloc crt.dll+1010 :0 near");
}

static void sites_of_unwanted_stacks_do_not_count(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_SITE);
    cull(b, "crt", NULL);
    require(b, NULL, "main");
    (void)STACK(b, APP(WORLD_GROW));
    (void)STACK(b, CRT(WORLD_MALLOC), APP(WORLD_GROW + 2));
    const u32 late = STACK(b, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    settle(b);
    assert_string_equal(site_of(b, late), "grow app.exe+1180 a.cpp:12");
}

static void sites_of_unwanted_stacks_are_not_asked_for(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_SITE);
    require(b, "crt", NULL);
    (void)STACK(b, APP(WORLD_GROW));
    (void)STACK(b, APP(WORLD_MAIN), CRT(WORLD_MALLOC));
    settle(b);
    assert_int_equal(asked(b), 1);
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
    group_by(b, ETLHEAP_KEY_TYPE_NAME);
    for (u32 i = 0; i < ETL_COUNT_OF(deep); i++)
        deep[i] = APP(WORLD_MAIN + i);
    deep[37] = APP(WORLD_ALLOCATE);
    const u32 near = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    const u32 none = STACK(b, APP(WORLD_NEW), APP(WORLD_PUSH), APP(WORLD_MAIN));
    const u32 far = add_stack(b, deep, ETL_COUNT_OF(deep));
    settle(b);
    assert_string_equal(type_of(b, near), "int");
    assert_string_equal(type_of(b, none), "");
    assert_string_equal(type_of(b, far), "int");
    assert_string_equal(type_of(b, 0), "");
}

static void what_culling_takes_still_has_types(void **state)
{
    bench *const b = *state;
    group_by(b, ETLHEAP_KEY_TYPE_NAME);
    cull(b, "app.exe", NULL);
    const u32 id = STACK(b, APP(WORLD_NEW), APP(WORLD_ALLOCATE), CRT(WORLD_FILE));
    settle(b);
    assert_string_equal(left_of(b, id), "crt.dll+1108");
    assert_string_equal(type_of(b, id), "int");
}

#define SETTLE_TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SETTLE_TEST(functions_are_culled_by_name),
        SETTLE_TEST(only_the_pattern_for_the_module_counts),
        SETTLE_TEST(inlined_calls_are_culled_one_by_one),
        SETTLE_TEST(culling_ends_within_a_frame_at_the_first_call_that_differs),
        SETTLE_TEST(a_frame_goes_when_all_of_its_calls_do),
        SETTLE_TEST(the_last_call_stays),
        SETTLE_TEST(patterns_without_a_name_need_none),
        SETTLE_TEST(frames_behind_the_site_are_not_asked_for),
        SETTLE_TEST(unnamed_only_spares_known_functions),
        SETTLE_TEST(unnamed_only_takes_exports_for_guesses),
        SETTLE_TEST(exports_are_culled_by_name_too),
        SETTLE_TEST(frames_outside_modules_end_culling),
        SETTLE_TEST(stacks_that_are_left_alike_are_one),
        SETTLE_TEST(a_required_function_anywhere_is_enough),
        SETTLE_TEST(an_inlined_call_can_be_required),
        SETTLE_TEST(what_is_culled_still_counts_as_required),
        SETTLE_TEST(a_required_module_needs_no_names),
        SETTLE_TEST(a_site_is_a_function_at_its_lowest_place),
        SETTLE_TEST(a_site_on_one_line_has_it),
        SETTLE_TEST(a_site_is_what_culling_left),
        SETTLE_TEST(a_site_without_name_is_its_frame),
        SETTLE_TEST(sites_of_unwanted_stacks_do_not_count),
        SETTLE_TEST(sites_of_unwanted_stacks_are_not_asked_for),
        SETTLE_TEST(types_are_searched_outward),
        SETTLE_TEST(what_culling_takes_still_has_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
