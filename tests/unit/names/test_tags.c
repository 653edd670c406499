/*
 * Goal: a stack gets the tag that etlheap_tags.h says, with and without symbols.
 * Method: blocks with stacks over the modules of symbol_world.h, grouped by tag; then
 * random tags over random stacks against a model, which knows the calls of each
 * frame and tries every entry point on every call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/names/tags.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/symbol_world.h"

#define APP(offset) (WORLD_APP + (offset))
#define CRT(offset) (WORLD_CRT + (offset))
#define LIB(offset) (WORLD_LIB + (offset))
#define NOWHERE     UINT64_C(0x10)

typedef struct bench {
    symbol_world *world;
    etlheap_tags *tags;
    etlheap_table *table;
    char text[2000];
} bench;

static int begin_test(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->world = world_new();
    world_open_symbols(b->world, NULL);
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    b->world->query.tags = b->tags;
    b->world->query.group_by[0] = ETLHEAP_KEY_TAG;
    b->world->query.group_by_count = 1;
    *state = b;
    return 0;
}

static int end_test(void **state)
{
    bench *const b = *state;
    etlheap_table_free(b->table);
    etlheap_tags_close(b->tags);
    world_free(b->world);
    free(b);
    return 0;
}

#define BLOCK(b, size, ...)                                                                        \
    (void)world_block((b)->world, size, (const u64[]){ __VA_ARGS__ },                              \
                      (u32)(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)))

static void add(bench *b, const etlheap_tag *tag, const char *module, const char *symbol)
{
    const etlheap_pattern entry = { .module = module, .symbol = symbol };
    u32 id;
    assert_int_equal(etlheap_tags_add(b->tags, tag, &id, NULL), ETL_OK);
    assert_int_equal(etlheap_tags_add_entry(b->tags, id, &entry, NULL), ETL_OK);
}

static void add_plain(bench *b, const char *path, i32 priority, const char *module,
                      const char *symbol)
{
    add(b, &(etlheap_tag){ .path = path, .priority = priority }, module, symbol);
}

static void add_hint(bench *b, etlheap_tag_hint hint, bool names_function, const char *module,
                     const char *symbol)
{
    add(b, &(etlheap_tag){ .path = "H", .hint = (u8)hint, .hint_names_function = names_function },
        module, symbol);
}

/* "A 30, Other 5": tags by falling size. */
static const char *tags_of(bench *b)
{
    size_t used = 0;
    etlheap_table_free(b->table);
    b->table = NULL;
    b->text[0] = '\0';
    assert_int_equal(etlheap_aggregate(b->world->result, &b->world->query, &b->table, NULL),
                     ETL_OK);
    for (u32 i = 0; i < b->table->row_count; i++) {
        const etlheap_row *const row = &b->table->rows[i];
        used += (size_t)snprintf(b->text + used, sizeof b->text - used, "%s%s %lld",
                                 i > 0 ? ", " : "", row->tag == NULL ? "-" : row->tag,
                                 (long long)row->measures[ETLHEAP_MEASURE_SIZE]);
    }
    return b->text;
}

/* --- which tag --------------------------------------------------------------------- */

static void stacks_without_a_match_are_other(void **state)
{
    bench *const b = *state;
    add_plain(b, "A", 0, "app.exe", "grow");
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_MAIN));
    BLOCK(b, 10, NOWHERE);
    assert_string_equal(tags_of(b), "A 30, Other 30");
}

static void blocks_without_a_stack_have_no_tag(void **state)
{
    bench *const b = *state;
    add_plain(b, "A", 0, NULL, NULL);
    BLOCK(b, 30, APP(WORLD_MAIN));
    const lifetime bare = { .alloc_ticks = HAND_START_TICKS + 1,
                            .free_ticks = ETLHEAP_TICKS_NEVER,
                            .address = 0x10,
                            .size = 7,
                            .heap = 1,
                            .process = b->world->process };
    hand_lifetime(b->world->result, &bare);
    assert_string_equal(tags_of(b), "A 30, - 7");
}

static void the_highest_priority_wins_wherever_it_is(void **state)
{
    bench *const b = *state;
    add_plain(b, "Low", -1, "crt.dll", NULL);
    add_plain(b, "High", 1, "app.exe", "main");
    add_plain(b, "Middle", 0, "app.exe", "grow");
    BLOCK(b, 30, CRT(WORLD_MALLOC), APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 20, CRT(WORLD_MALLOC), APP(WORLD_GROW));
    BLOCK(b, 10, CRT(WORLD_MALLOC));
    assert_string_equal(tags_of(b), "High 30, Middle 20, Low 10");
}

static void of_equals_the_innermost_frame_decides(void **state)
{
    bench *const b = *state;
    add_plain(b, "Outer", 0, "app.exe", "main");
    add_plain(b, "Inner", 0, "app.exe", "grow");
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_MAIN), APP(WORLD_GROW));
    assert_string_equal(tags_of(b), "Inner 30, Outer 20");
}

static void of_tags_for_one_frame_the_deeper_and_then_the_first_wins(void **state)
{
    bench *const b = *state;
    add(b, &(etlheap_tag){ .path = "A", .depth = 1 }, "app.exe", "main");
    add(b, &(etlheap_tag){ .path = "A\\B", .depth = 2 }, "app.exe", "*");
    add(b, &(etlheap_tag){ .path = "A\\C", .depth = 2 }, "app.exe", "main");
    add(b, &(etlheap_tag){ .path = "D", .depth = 3, .priority = -1 }, "app.exe", "main");
    BLOCK(b, 30, APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "A\\B 30");
}

static void inlined_calls_are_frames(void **state)
{
    bench *const b = *state;
    add_plain(b, "Push", 0, "app.exe", "*::push");
    add_plain(b, "Grow", 0, "app.exe", "grow");
    BLOCK(b, 30, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_GROW), APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "Push 30, Grow 20");
}

static void culled_frames_count(void **state)
{
    bench *const b = *state;
    const etlheap_pattern cull = { .module = "crt.dll" };
    b->world->query.cull_frames = &cull;
    b->world->query.cull_frame_count = 1;
    add_plain(b, "Files", 0, "crt.dll", "File::*");
    BLOCK(b, 30, CRT(WORLD_FILE), APP(WORLD_MAIN));
    BLOCK(b, 20, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "Files 30, Other 20");
}

/* What is left of both stacks is main. */
static void stacks_that_are_alike_after_culling_keep_their_tags(void **state)
{
    bench *const b = *state;
    const etlheap_pattern cull = { .module = "crt.dll" };
    for (int symbols = 0; symbols < 2; symbols++) {
        b->world->query.cull_frames = &cull;
        b->world->query.cull_frame_count = 1;
        b->world->query.group_by[1] = ETLHEAP_KEY_STACK;
        b->world->query.group_by_count = 2;
        if (symbols == 0) {
            add_plain(b, "Crt", 0, "crt.dll", NULL);
            BLOCK(b, 30, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
            BLOCK(b, 20, APP(WORLD_MAIN));
        }
        b->world->query.symbols = symbols ? b->world->symbols : NULL;
        assert_string_equal(tags_of(b), "Crt 30, Other 20");
        b->world->query.group_by[0] = ETLHEAP_KEY_STACK;
        b->world->query.group_by_count = 1;
        assert_string_equal(tags_of(b), "- 50");
        b->world->query.group_by[0] = ETLHEAP_KEY_TAG;
    }
}

static void modules_and_functions_match_as_wholes_in_any_case(void **state)
{
    bench *const b = *state;
    add_plain(b, "Part", 9, "app", NULL);
    add_plain(b, "Part", 9, "app.exe", "mai");
    add_plain(b, "Whole", 0, "A?P.*", "MAI?");
    BLOCK(b, 30, APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "Whole 30");
}

static void tags_of_one_path_are_one_row(void **state)
{
    bench *const b = *state;
    add_plain(b, "A", 0, "app.exe", "main");
    add_plain(b, "A", 5, "crt.dll", NULL);
    add_plain(b, "Other", 5, "lib.dll", NULL);
    BLOCK(b, 1, APP(WORLD_MAIN));
    BLOCK(b, 2, CRT(WORLD_FILE));
    BLOCK(b, 4, LIB(WORLD_LIB_MAKE));
    BLOCK(b, 8, NOWHERE);
    assert_string_equal(tags_of(b), "Other 12, A 3");
}

static void without_symbols_modules_alone_match(void **state)
{
    bench *const b = *state;
    b->world->query.symbols = NULL;
    add_plain(b, "Function", 9, "app.exe", "main");
    add_plain(b, "Module", 0, "app.exe", "*");
    add_plain(b, "Anything", -1, "*", NULL);
    BLOCK(b, 30, APP(WORLD_MAIN));
    BLOCK(b, 20, NOWHERE);
    assert_string_equal(tags_of(b), "Module 30, Anything 20");
    assert_int_equal(etlheap_tags_entries(b->tags), 3);
    assert_int_equal(etlheap_tags_function_entries(b->tags), 1);
}

static void no_tags_leave_all_to_other(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "Other 30");
}

static void grouping_by_tag_takes_tags(void **state)
{
    bench *const b = *state;
    etl_error err;
    b->world->query.tags = NULL;
    assert_int_equal(etlheap_aggregate(b->world->result, &b->world->query, &b->table, &err),
                     ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "stack tags"));
}

/* --- hints --------------------------------------------------------------------------- */

static void a_callee_hint_adds_what_the_entry_point_calls(void **state)
{
    bench *const b = *state;
    add_hint(b, ETLHEAP_TAG_CALLEE, false, "app.exe", "main");
    BLOCK(b, 8, CRT(WORLD_FILE), APP(WORLD_MAIN), APP(WORLD_GROW));
    BLOCK(b, 4, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    BLOCK(b, 2, APP(WORLD_MAIN));
    BLOCK(b, 1, NOWHERE, APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "H\\crt.dll 8, H\\lib.dll 4, H 2, H\\? 1");
}

static void a_caller_hint_adds_what_calls_the_entry_point(void **state)
{
    bench *const b = *state;
    add_hint(b, ETLHEAP_TAG_CALLER, true, "crt.dll", "malloc");
    BLOCK(b, 8, CRT(WORLD_MALLOC), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 4, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    BLOCK(b, 2, CRT(WORLD_MALLOC), WORLD_GONE + 5);
    BLOCK(b, 1, APP(WORLD_MAIN), CRT(WORLD_MALLOC));
    assert_string_equal(tags_of(b),
                        "H\\app.exe\\allocate 8, H\\app.exe\\main 4, H\\gone.dll 2, H 1");
}

static void the_call_beside_may_be_inlined(void **state)
{
    bench *const b = *state;
    add_hint(b, ETLHEAP_TAG_CALLEE, true, "app.exe", "vec<int>::push");
    BLOCK(b, 8, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 4, APP(WORLD_ALLOCATE), APP(WORLD_PUSH));
    BLOCK(b, 2, APP(WORLD_PUSH));
    assert_string_equal(tags_of(b), "H\\app.exe\\allocate 12, H 2");
    etlheap_tags_close(b->tags);
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    b->world->query.tags = b->tags;
    add_hint(b, ETLHEAP_TAG_CALLER, true, "app.exe", "vec<int>::push");
    assert_string_equal(tags_of(b), "H\\app.exe\\grow 14");
}

/* The outermost call of a frame is what calls the next frame. */
static void the_callee_of_a_frame_is_the_outermost_call_of_the_next(void **state)
{
    bench *const b = *state;
    add_hint(b, ETLHEAP_TAG_CALLEE, true, "app.exe", "main");
    BLOCK(b, 8, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "H\\app.exe\\grow 8");
}

/* --- cost -------------------------------------------------------------------------------- */

static void functions_are_looked_up_only_where_tags_depend_on_them(void **state)
{
    bench *const b = *state;
    add_plain(b, "Crt", 0, "crt.dll", "malloc");
    add_plain(b, "App", 1, "app.exe", NULL);
    add_plain(b, "Grow", 0, "app.exe", "grow");
    BLOCK(b, 8, CRT(WORLD_FILE), LIB(WORLD_LIB_MAKE), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    assert_string_equal(tags_of(b), "App 8");
    assert_int_equal(b->world->symbols->addresses.count, 1);
}

/* --- random tags and stacks ---------------------------------------------------------------- */

#define STACKS     60u
#define DEPTH_MAX  6u
#define LEVELS_MAX 3u
#define TAGS_MAX   6u
#define ENTRIES    2u

/* A frame and its calls, innermost first. */
typedef struct place {
    u64 address;
    const char *module;
    const char *calls[LEVELS_MAX + 1];
} place;

static const place places[] = {
    { APP(WORLD_NEW), "app.exe", { "operator new" } },
    { APP(WORLD_GROW), "app.exe", { "grow" } },
    { APP(WORLD_GROW_LATE), "app.exe", { "grow" } },
    { APP(WORLD_PUSH), "app.exe", { "vec<int>::push", "grow" } },
    { APP(WORLD_ALLOCATE), "app.exe", { "allocate", "vec<int>::push", "grow" } },
    { APP(WORLD_MAIN), "app.exe", { "main" } },
    { CRT(WORLD_MALLOC), "crt.dll", { "malloc" } },
    { CRT(WORLD_FILE), "crt.dll", { "File::open" } },
    { LIB(WORLD_LIB_MAKE), "lib.dll", { "make" } },
    { LIB(WORLD_LIB_GROW), "lib.dll", { "Heap::grow" } },
    { WORLD_GONE + 5, "gone.dll", { NULL } },
    { WORLD_BLANK + 5, "blank.dll", { NULL } },
    { NOWHERE, NULL, { NULL } },
};

typedef struct model_tag {
    etlheap_tag tag;
    etlheap_pattern entries[ENTRIES];
    const char *modules[ENTRIES]; /* what the patterns match, separated by commas */
    const char *symbols[ENTRIES];
} model_tag;

/* A pattern, and all texts of this file that it matches; NULL: everything. */
typedef struct model_pattern {
    const char *pattern, *matches;
} model_pattern;

static const model_pattern module_patterns[] = {
    { NULL, NULL },
    { "*", NULL },
    { "app.exe", ",app.exe," },
    { "CRT.DLL", ",crt.dll," },
    { "*.dll", ",crt.dll,lib.dll,gone.dll,blank.dll," },
    { "app", "," },
};

static const model_pattern symbol_patterns[] = {
    { NULL, NULL },
    { "*", NULL },
    { "*grow", ",grow,Heap::grow," },
    { "m*", ",main,malloc,make," },
    { "VEC<int>::p?sh", ",vec<int>::push," },
    { "mai", "," },
    { "?llocate", ",allocate," },
};

static bool model_matches(const char *matches, const char *text)
{
    char wanted[64];
    if (matches == NULL)
        return true;
    (void)snprintf(wanted, sizeof wanted, ",%s,", text == NULL ? "?" : text);
    return strstr(matches, wanted) != NULL;
}

/* Is `a` a better tag for a frame than `b`, which was added before it? */
static bool model_is_better(const model_tag *a, const model_tag *b)
{
    if (b == NULL || a->tag.priority != b->tag.priority)
        return b == NULL || a->tag.priority > b->tag.priority;
    return a->tag.depth > b->tag.depth;
}

typedef struct model_call {
    const char *module, *name;
} model_call;

static const model_tag *model_tag_of(const model_tag *tags, u32 count, const model_call *call)
{
    const model_tag *best = NULL;
    for (u32 i = 0; i < count; i++) {
        for (u32 k = 0; k < ENTRIES; k++) {
            if (model_matches(tags[i].modules[k], call->module) &&
                model_matches(tags[i].symbols[k], call->name) && model_is_better(&tags[i], best))
                best = &tags[i];
        }
    }
    return best;
}

static void model_text_of(const model_tag *tags, u32 tag_count, const model_call *calls, u32 count,
                          char text[100])
{
    const model_tag *best = NULL;
    u32 at = 0;
    for (u32 i = 0; i < count; i++) {
        const model_tag *const tag = model_tag_of(tags, tag_count, &calls[i]);
        if (tag != NULL && (best == NULL || tag->tag.priority > best->tag.priority)) {
            best = tag;
            at = i;
        }
    }
    (void)snprintf(text, 100, "%s", best == NULL ? "Other" : best->tag.path);
    if (best == NULL || best->tag.hint == ETLHEAP_TAG_PLAIN)
        return;
    const bool is_callee = best->tag.hint == ETLHEAP_TAG_CALLEE;
    if (is_callee ? at == 0 : at + 1 == count)
        return;
    const model_call *const beside = &calls[is_callee ? at - 1 : at + 1];
    const bool with_name = best->tag.hint_names_function && beside->name != NULL;
    (void)snprintf(text + strlen(text), 100 - strlen(text), "\\%s%s%s",
                   beside->module == NULL ? "?" : beside->module, with_name ? "\\" : "",
                   with_name ? beside->name : "");
}

static void random_tags(u64 *random, model_tag *tags, u32 count)
{
    static const char *const paths[] = { "A", "A\\B", "C", "A\\B" };
    for (u32 i = 0; i < count; i++) {
        tags[i].tag = (etlheap_tag){ .path = paths[hand_random(random) % 4],
                                     .depth = hand_random(random) % 3,
                                     .priority = (i32)(hand_random(random) % 3) - 1,
                                     .hint = (u8)(hand_random(random) % 3),
                                     .hint_names_function = hand_random(random) % 2 };
        for (u32 k = 0; k < ENTRIES; k++) {
            const model_pattern *const module =
                &module_patterns[hand_random(random) % ETL_COUNT_OF(module_patterns)];
            const model_pattern *const symbol =
                &symbol_patterns[hand_random(random) % ETL_COUNT_OF(symbol_patterns)];
            tags[i].entries[k] =
                (etlheap_pattern){ .module = module->pattern, .symbol = symbol->pattern };
            tags[i].modules[k] = module->matches;
            tags[i].symbols[k] = symbol->matches;
        }
    }
}

typedef struct model_stack {
    u32 count, size;
    u32 places[DEPTH_MAX];
} model_stack;

static u32 calls_of(const model_stack *stack, bool with_symbols, model_call *calls)
{
    u32 count = 0;
    for (u32 i = 0; i < stack->count; i++) {
        const place *const p = &places[stack->places[i]];
        u32 level = 0;
        do {
            calls[count++] = (model_call){ p->module, with_symbols ? p->calls[level] : NULL };
        } while (with_symbols && p->calls[++level] != NULL);
    }
    return count;
}

static void open_random_tags(bench *b, const model_tag *tags, u32 count)
{
    etlheap_tags_close(b->tags);
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    b->world->query.tags = b->tags;
    for (u32 i = 0; i < count; i++) {
        u32 id;
        assert_int_equal(etlheap_tags_add(b->tags, &tags[i].tag, &id, NULL), ETL_OK);
        for (u32 k = 0; k < ENTRIES; k++)
            assert_int_equal(etlheap_tags_add_entry(b->tags, id, &tags[i].entries[k], NULL),
                             ETL_OK);
    }
}

/* Every row is what the model sums for its tag, and nothing is missing. */
static void expect_model(bench *b, const model_stack *stacks, const model_tag *tags, u32 count)
{
    i64 expected[STACKS] = { 0 };
    char texts[STACKS][100];
    u32 text_count = 0;
    for (u32 i = 0; i < STACKS; i++) {
        model_call calls[DEPTH_MAX * LEVELS_MAX];
        const u32 call_count = calls_of(&stacks[i], b->world->query.symbols != NULL, calls);
        model_text_of(tags, count, calls, call_count, texts[text_count]);
        u32 found = 0;
        while (strcmp(texts[found], texts[text_count]) != 0)
            found++;
        expected[found] += stacks[i].size;
        text_count += found == text_count;
    }
    (void)tags_of(b);
    assert_int_equal(b->table->row_count, text_count);
    for (u32 i = 0; i < text_count; i++) {
        u32 found = 0;
        while (found < text_count && strcmp(texts[found], b->table->rows[i].tag) != 0)
            found++;
        assert_true(found < text_count);
        assert_int_equal(b->table->rows[i].measures[ETLHEAP_MEASURE_SIZE], expected[found]);
    }
}

static void random_tags_give_what_the_model_gives(void **state)
{
    static const etlheap_pattern cull = { .symbol = "*" };
    bench *const b = *state;
    model_stack stacks[STACKS];
    u64 random = 5;
    for (u32 i = 0; i < STACKS; i++) {
        u64 frames[DEPTH_MAX];
        stacks[i].count = 1 + hand_random(&random) % DEPTH_MAX;
        stacks[i].size = 1 + hand_random(&random) % 100000;
        for (u32 k = 0; k < stacks[i].count; k++) {
            stacks[i].places[k] = hand_random(&random) % (u32)ETL_COUNT_OF(places);
            frames[k] = places[stacks[i].places[k]].address;
        }
        (void)world_block(b->world, stacks[i].size, frames, stacks[i].count);
    }
    b->world->query.cull_frames = &cull;
    for (u32 round = 0; round < 300; round++) {
        model_tag tags[TAGS_MAX];
        const u32 count = 1 + hand_random(&random) % TAGS_MAX;
        random_tags(&random, tags, count);
        open_random_tags(b, tags, count);
        b->world->query.symbols = round % 3 == 0 ? NULL : b->world->symbols;
        b->world->query.cull_frame_count = round % 2;
        b->world->query.jobs = 1 + round % 3;
        expect_model(b, stacks, tags, count);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stacks_without_a_match_are_other),
        TEST(blocks_without_a_stack_have_no_tag),
        TEST(the_highest_priority_wins_wherever_it_is),
        TEST(of_equals_the_innermost_frame_decides),
        TEST(of_tags_for_one_frame_the_deeper_and_then_the_first_wins),
        TEST(inlined_calls_are_frames),
        TEST(culled_frames_count),
        TEST(stacks_that_are_alike_after_culling_keep_their_tags),
        TEST(modules_and_functions_match_as_wholes_in_any_case),
        TEST(tags_of_one_path_are_one_row),
        TEST(without_symbols_modules_alone_match),
        TEST(no_tags_leave_all_to_other),
        TEST(grouping_by_tag_takes_tags),
        TEST(a_callee_hint_adds_what_the_entry_point_calls),
        TEST(a_caller_hint_adds_what_calls_the_entry_point),
        TEST(the_call_beside_may_be_inlined),
        TEST(the_callee_of_a_frame_is_the_outermost_call_of_the_next),
        TEST(functions_are_looked_up_only_where_tags_depend_on_them),
        TEST(random_tags_give_what_the_model_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
