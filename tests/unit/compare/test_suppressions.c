/*
 * Goal: suppressions mean what they mean to LeakSanitizer, and a file that is none is
 * refused with the line.
 * Method: its rules one by one, on patterns and on files; and patterns without anchors
 * at random against a model that tries every way to lay out the pattern's parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/compare/suppressions.h"
#include "engine/core/stable_name.h"
#include "tests/support/engine_check.h"
#include "tests/support/hand_result.h"

static etlheap_suppressions *suppressions_of(const char *text)
{
    etlheap_suppressions *s;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_suppressions_open(&s, &err), ETL_OK);
    const etl_bytes bytes = { (const u8 *)text, strlen(text) };
    assert_int_equal(etlheap_suppressions_add(s, "known.supp", bytes, &err), ETL_OK);
    return s;
}

static void refuse(const char *text, size_t size, const char *part)
{
    etlheap_suppressions *s;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_suppressions_open(&s, &err), ETL_OK);
    const etl_bytes bytes = { (const u8 *)text, size };
    assert_int_equal(etlheap_suppressions_add(s, "known.supp", bytes, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, part));
    etlheap_suppressions_close(s);
}

/* --- patterns ------------------------------------------------------------------- */

static void pattern_is_part_of_a_name_unless_tied(void **state)
{
    (void)state;
    assert_true(suppression_matches("foo", "foo"));
    assert_true(suppression_matches("oo", "xfoox"));
    assert_false(suppression_matches("foo", "fo"));
    assert_true(suppression_matches("^foo", "foobar"));
    assert_false(suppression_matches("^foo", "xfoo"));
    assert_true(suppression_matches("foo$", "xfoo"));
    assert_false(suppression_matches("foo$", "foox"));
    assert_true(suppression_matches("^foo$", "foo"));
    assert_false(suppression_matches("^foo$", "foofoo"));
}

static void star_stands_for_any_text(void **state)
{
    (void)state;
    assert_true(suppression_matches("a*c", "xabbbcx"));
    assert_true(suppression_matches("a*c", "ac"));
    assert_false(suppression_matches("a*c", "cba"));
    assert_true(suppression_matches("*", "anything"));
    assert_true(suppression_matches("^*foo", "xfoo")); /* the star unties it */
    assert_true(suppression_matches("foo*$", "foox"));
}

static void parts_are_taken_where_they_occur_first(void **state)
{
    (void)state;
    assert_false(suppression_matches("foo$", "foofoo"));
    assert_false(suppression_matches("a*b$", "abab"));
    assert_true(suppression_matches("a*b*$", "abab"));
}

static void anchors_elsewhere_are_not_special_or_end_the_pattern(void **state)
{
    (void)state;
    assert_true(suppression_matches("a^b", "xa^b"));
    assert_false(suppression_matches("a^b", "ab"));
    assert_true(suppression_matches("a$b", "a"));
    assert_true(suppression_matches("a$b", "xa"));
    assert_false(suppression_matches("a$b", "a$b"));
}

static void case_counts(void **state)
{
    (void)state;
    assert_false(suppression_matches("Foo", "foo"));
}

static void no_name_is_never_matched(void **state)
{
    (void)state;
    assert_false(suppression_matches("*", NULL));
    assert_false(suppression_matches("*", ""));
    assert_false(suppression_matches("^$", ""));
}

/* Without `^` and `$`, taking what occurs first is as good as trying everything. */
static bool try_everything(const char *pattern, const char *name)
{
    const size_t names = strlen(name);
    bool reached[2][32] = { { false } };
    for (size_t i = 0; i <= names; i++)
        reached[0][i] = true; /* a star before the pattern */
    for (; *pattern != '\0'; pattern++) {
        bool seen = false;
        for (size_t i = 0; i <= names; i++) {
            seen |= reached[0][i];
            if (*pattern == '*')
                reached[1][i] = seen;
            else
                reached[1][i] = i > 0 && reached[0][i - 1] && name[i - 1] == *pattern;
        }
        memcpy(reached[0], reached[1], sizeof reached[0]);
    }
    for (size_t i = 0; i <= names; i++) {
        if (reached[0][i])
            return true;
    }
    return false;
}

static void random_patterns_match_as_a_search_of_all_ways_says(void **state)
{
    (void)state;
    u64 seed = 7;
    u32 matched = 0;
    for (u32 i = 0; i < 200000; i++) {
        char pattern[9] = "";
        char name[13] = "";
        const u32 pattern_size = engine_check_random(&seed, 8);
        const u32 name_size = 1 + engine_check_random(&seed, 11);
        for (u32 k = 0; k < pattern_size; k++)
            pattern[k] = "abc*"[engine_check_random(&seed, 4)];
        for (u32 k = 0; k < name_size; k++)
            name[k] = "abc"[engine_check_random(&seed, 3)];
        const bool expected = try_everything(pattern, name);
        if (suppression_matches(pattern, name) != expected)
            fail_msg("'%s' and '%s': expected %d", pattern, name, expected);
        matched += expected;
    }
    assert_in_range(matched, 20000, 180000);
}

/* --- files ------------------------------------------------------------------------ */

static void lines_without_suppressions_are_skipped(void **state)
{
    (void)state;
    etlheap_suppressions *const s =
        suppressions_of("# known\n\n  \t\r\n \tleak:foo bar \t\r\nleak: lead\nleak:#x\n #leak:y");
    assert_int_equal(etlheap_suppressions_count(s), 3);
    assert_string_equal(s->list.at[0].pattern, "foo bar");
    assert_int_equal(s->list.at[0].line, 4);
    assert_string_equal(s->list.at[0].file, "known.supp");
    assert_string_equal(s->list.at[1].pattern, " lead"); /* so does LeakSanitizer */
    assert_string_equal(s->list.at[2].pattern, "#x");
    etlheap_suppressions_close(s);
}

static void mark_of_the_encoding_is_no_part_of_the_first_line(void **state)
{
    (void)state;
    etlheap_suppressions *const s = suppressions_of("\xEF\xBB\xBFleak:a\nleak:b");
    assert_int_equal(etlheap_suppressions_count(s), 2);
    etlheap_suppressions_close(s);
}

static void files_add_up(void **state)
{
    (void)state;
    etlheap_suppressions *const s = suppressions_of("leak:a\n");
    const etl_bytes more = { (const u8 *)"\nleak:b", 7 };
    assert_int_equal(etlheap_suppressions_add(s, "more.supp", more, NULL), ETL_OK);
    assert_int_equal(etlheap_suppressions_add(s, "empty", (etl_bytes){ NULL, 0 }, NULL), ETL_OK);
    assert_int_equal(etlheap_suppressions_count(s), 2);
    assert_string_equal(s->list.at[1].file, "more.supp");
    assert_int_equal(s->list.at[1].line, 2);
    etlheap_suppressions_close(s);
}

static void line_that_is_none_is_named(void **state)
{
    (void)state;
    static const char nul[] = "leak:a\nleak:b\0c\n";
    refuse("leak:a\nrace:b\n", 14, "line 2 of known.supp");
    refuse("foo", 3, "line 1 of");
    refuse("Leak:a", 6, "line 1 of");
    refuse("leak:a\n\nleak:\n", 14, "line 3 of"); /* it would suppress everything */
    refuse("leak: \t\n", 8, "line 1 of");
    refuse(nul, sizeof nul - 1, "line 2 of");
}

static void file_that_is_not_there_is_told(void **state)
{
    (void)state;
    etlheap_suppressions *s;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_suppressions_open(&s, &err), ETL_OK);
    assert_int_equal(etlheap_suppressions_read(s, "/no/such/file", &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "suppression file /no/such/file"));
    etlheap_suppressions_close(s);
    etlheap_suppressions_close(NULL);
}

/* --- frames ------------------------------------------------------------------------ */

static u32 found_for(const etlheap_suppressions *suppressions, const etlheap_frame *frame)
{
    suppression_finder finder;
    u32 found = 0;
    assert_true(suppression_finder_open(&finder, suppressions));
    assert_true(suppressions_find(&finder, frame, &found));
    suppression_finder_close(&finder);
    return found;
}

/* The names of lambdas and the hashes of Rust change with every build. */
static void patterns_of_an_earlier_build_match(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool is_match;
    } cases[] = {
        { "leak:call<`lambda at leak.cpp:3:51'>", "App::call<`lambda at leak.cpp:4:51'>", true },
        { "leak:call<`lambda at leak.cpp:3:51'>", "App::call<`lambda at main.cpp:4:51'>", false },
        { "leak:^main::<lambda_1>::*$", "main::<lambda_7>::operator()", true },
        { "leak:insert::h0123456789abcdef", "leak::insert::hfedcba9876543210", true },
        { "leak:insert::h0123456789abcdef", "leak::insert", true },
        { "leak:leak::insert$", "leak::insert::h0123456789abcdef", true },
        { "leak:main::closure$0", "app::main::closure$4", true },
        { "leak:<lambda_1>", "main::<lambda_7>::operator()", false }, /* says nothing else */
        { "leak:<lambda_1>", "main::<lambda_1>::operator()", true },
        { "leak:lambda_1", "my_lambda_2", false },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        char text[128];
        snprintf(text, sizeof text, "%s\n", cases[i].pattern);
        etlheap_suppressions *const s = suppressions_of(text);
        const etlheap_frame frame = { .module = "app.exe", .symbol = cases[i].name };
        if ((found_for(s, &frame) == 0) != cases[i].is_match)
            fail_msg("%s and %s", cases[i].pattern, cases[i].name);
        etlheap_suppressions_close(s);
    }
}

static void frame_is_matched_by_module_function_or_file(void **state)
{
    (void)state;
    etlheap_suppressions *const s = suppressions_of("leak:grow\nleak:.cpp\nleak:app.exe\n");
    const etlheap_frame module = { .module = "app.exe" };
    const etlheap_frame function = { .module = "lib.dll", .symbol = "Leaky::grow" };
    const etlheap_frame file = { .module = "lib.dll", .symbol = "f", .file = "src/a.cpp" };
    const etlheap_frame other = { .module = "lib.dll", .symbol = "f", .file = "a.c" };
    assert_int_equal(found_for(s, &function), 0);
    assert_int_equal(found_for(s, &file), 1);
    assert_int_equal(found_for(s, &module), 2);
    assert_int_equal(found_for(s, &other), SUPPRESSION_NONE);
    etlheap_suppressions_close(s);
}

static void module_goes_before_function_and_file(void **state)
{
    (void)state;
    etlheap_suppressions *const s = suppressions_of("leak:grow\nleak:app.exe\nleak:app\n");
    const etlheap_frame both = { .module = "app.exe", .symbol = "grow", .file = "grow" };
    assert_int_equal(found_for(s, &both), 1);
    etlheap_suppressions_close(s);
}

static void modules_are_matched_without_case_and_functions_with_it(void **state)
{
    (void)state;
    static const struct {
        const char *line, *module;
        bool matches;
    } rows[] = {
        { "leak:APP.exe", "app.EXE", true },          { "leak:^Übung$", "übung", true },
        { "leak:ÜB*.DLL$", "xübx.dll", true },        { "leak:ÜB*.DLL$", "xübx.dll2", false },
        { "leak:\xe2\x84\xaa*32", "KERNEL32", true }, { "leak:kernel", "ker", false },
        { "leak:\xc3*a", "\xc3x\x41", true },         { "leak:grow", "GROWTH.dll", true },
    };
    const etlheap_frame function = { .module = "lib.dll", .symbol = "Grow", .file = "A.cpp" };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_suppressions *const s = suppressions_of(rows[i].line);
        const etlheap_frame module = { .module = rows[i].module };
        assert_int_equal(found_for(s, &module), rows[i].matches ? 0 : SUPPRESSION_NONE);
        assert_int_equal(found_for(s, &function), SUPPRESSION_NONE);
        etlheap_suppressions_close(s);
    }
}

static void frame_outside_of_modules_has_the_name_it_has_elsewhere(void **state)
{
    (void)state;
    etlheap_suppressions *const s = suppressions_of("leak:<unknown module>\n");
    const etlheap_frame nowhere = { .address = 0x1000 };
    assert_int_equal(found_for(s, &nowhere), 0);
    etlheap_suppressions_close(s);
}

/* --- modules with folders ---------------------------------------------------------- */

#define APP "C:\\app\\node_modules\\"

static void add_module(etlheap_result *result, const char *name, const char *path)
{
    const etlheap_module_info module = { .name = name, .path = path };
    assert_true(ETLHEAP_PUSH(&result->modules.list, module));
}

/* A module has folders in its name only in a run that loads several files of that name. A line of
 * either form matches in both runs, and never more files than it names. */
static void modules_match_with_and_without_their_folders(void **state)
{
    static const char *const one = APP "one\\Release\\b.node", *const two =
                                                                   APP "two\\Release\\b.node";
    static const struct {
        const char *pattern, *module, *paths[2];
        bool is_match;
    } cases[] = {
        { "leak:b.node", "one\\Release\\b.node", { one, two }, true },
        { "leak:^b.node$", "one\\Release\\b.node", { one, two }, true },
        { "leak:^B.NODE", "two\\Release\\b.node", { one, two }, true },
        { "leak:one\\Release\\b.node", "one\\Release\\b.node", { one, two }, true },
        { "leak:one\\Release\\b.node", "two\\Release\\b.node", { one, two }, false },
        { "leak:one\\Release\\b.node", "b.node", { one }, true },
        { "leak:^ONE\\*\\b.node$", "b.node", { one }, true },
        { "leak:^Release\\b.node$", "B.node", { one }, true },
        { "leak:two\\Release\\b.node", "b.node", { one }, false },
        { "leak:one\\Release\\b.node", "b.node", { one, two }, false },
        { "leak:Release\\b.node", "b.node", { one, two }, true },
        { "leak:\\one\\", "b.node", { one }, false }, /* about source files in a folder */
        { "leak:node_modules\\one", "b.node", { one }, false },
        { "leak:one\\Release\\b.node", "other.dll", { one }, false },
        { "leak:one\\Release\\b.node", "b.node", { "" }, false },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        etlheap_suppressions *const s = suppressions_of(cases[i].pattern);
        etlheap_result *const result = hand_result_new();
        const etlheap_frame frame = { .module = cases[i].module, .symbol = "f", .file = "f.cpp" };
        suppression_finder finder;
        u32 found = 0;
        for (u32 k = 0; k < 2 && cases[i].paths[k]; k++)
            add_module(result, "b.node", cases[i].paths[k]);
        assert_true(suppression_finder_open(&finder, s));
        assert_true(suppression_finder_add_files(&finder, result));
        assert_true(suppressions_find(&finder, &frame, &found));
        if ((found == 0) != cases[i].is_match)
            fail_msg("%s and %s", cases[i].pattern, cases[i].module);
        suppression_finder_close(&finder);
        etlheap_result_free(result);
        etlheap_suppressions_close(s);
    }
}

/* --- many ------------------------------------------------------------------------- */

/* The first line that matches the module, else the function, its stable form or the file. */
static u32 try_lines(const etlheap_suppressions *s, const etlheap_frame *frame)
{
    char stable[64];
    const char *const names[] = { frame->module, frame->symbol, stable, frame->file };
    (void)stable_name_write(frame->symbol, stable);
    for (size_t k = 0; k < ETL_COUNT_OF(names); k++) {
        for (u32 i = 0; i < s->list.count; i++) {
            const suppression *const one = &s->list.at[i];
            if (k == 0 ? suppression_matches_module(one->pattern, names[k])
                       : suppression_matches(k == 2 ? one->stable : one->pattern, names[k]))
                return i;
        }
    }
    return SUPPRESSION_NONE;
}

static void write_parts(u64 *seed, const char *const *parts, u32 part_count, char *out)
{
    const u32 count = 1 + engine_check_random(seed, 4);
    *out = '\0';
    for (u32 i = 0; i < count; i++)
        strcat(out, parts[engine_check_random(seed, part_count)]);
}

static void random_lines_are_found_as_by_trying_each(void **state)
{
    static const char *const in_patterns[] = { "^", "$",    "*",          "a",  "B",    "ab",
                                               "Ü", "\xc3", "<lambda_1>", "::", "grow", "a*" };
    static const char *const in_names[] = { "a", "b", "B", "ab", "ü", "<lambda_2>", "::", "grow" };
    u64 seed = 3;
    u32 counts[2] = { 0 };
    (void)state;
    for (u32 world = 0; world < 200; world++) {
        char lines[1024] = "", text[64], names[3][64];
        for (u32 i = 0; i < 12; i++) {
            write_parts(&seed, in_patterns, ETL_COUNT_OF(in_patterns), text);
            strcat(strcat(strcat(lines, "leak:"), text), "\n");
        }
        etlheap_suppressions *const s = suppressions_of(lines);
        for (u32 i = 0; i < 20; i++) {
            for (u32 k = 0; k < ETL_COUNT_OF(names); k++)
                write_parts(&seed, in_names, ETL_COUNT_OF(in_names), names[k]);
            const etlheap_frame frame = { .module = names[0],
                                          .symbol = names[1],
                                          .file = names[2] };
            const u32 expected = try_lines(s, &frame);
            assert_int_equal(found_for(s, &frame), expected);
            counts[expected == SUPPRESSION_NONE]++;
        }
        etlheap_suppressions_close(s);
    }
    assert_true(counts[0] > 100 && counts[1] > 100);
}

/* Trying each of 5,000 lines on the module, function and file of 200 frames takes 3 million
 * steps. */
static void work_hardly_grows_with_the_number_of_lines(void **state)
{
    enum { LINES = 5000, FRAMES = 200, LINE_SIZE = 40 };
    char *const lines = calloc(LINES, LINE_SIZE);
    size_t used = 0;
    (void)state;
    assert_non_null(lines);
    for (int i = 0; i < LINES; i++)
        used += (size_t)snprintf(lines + used, LINE_SIZE, "leak:App::Cache%04d<*>::grow\n", i);
    etlheap_suppressions *const s = suppressions_of(lines);
    suppression_finder finder;
    assert_true(suppression_finder_open(&finder, s));
    for (int i = 0; i < FRAMES; i++) {
        char name[64];
        u32 found;
        snprintf(name, sizeof name, "App::Cache%04d<int>::grow", 2 * LINES / FRAMES * i);
        const etlheap_frame frame = { .module = "app.exe", .symbol = name, .file = "src/cache.h" };
        assert_true(suppressions_find(&finder, &frame, &found));
        assert_int_equal(found, i < FRAMES / 2 ? (u32)(2 * LINES / FRAMES * i) : SUPPRESSION_NONE);
    }
    assert_in_range(finder.modules.steps, FRAMES, 100 * FRAMES);
    assert_in_range(finder.names.steps, FRAMES, 500 * FRAMES);
    suppression_finder_close(&finder);
    etlheap_suppressions_close(s);
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_is_part_of_a_name_unless_tied),
        cmocka_unit_test(star_stands_for_any_text),
        cmocka_unit_test(parts_are_taken_where_they_occur_first),
        cmocka_unit_test(anchors_elsewhere_are_not_special_or_end_the_pattern),
        cmocka_unit_test(case_counts),
        cmocka_unit_test(no_name_is_never_matched),
        cmocka_unit_test(random_patterns_match_as_a_search_of_all_ways_says),
        cmocka_unit_test(lines_without_suppressions_are_skipped),
        cmocka_unit_test(mark_of_the_encoding_is_no_part_of_the_first_line),
        cmocka_unit_test(files_add_up),
        cmocka_unit_test(line_that_is_none_is_named),
        cmocka_unit_test(file_that_is_not_there_is_told),
        cmocka_unit_test(patterns_of_an_earlier_build_match),
        cmocka_unit_test(frame_is_matched_by_module_function_or_file),
        cmocka_unit_test(module_goes_before_function_and_file),
        cmocka_unit_test(modules_are_matched_without_case_and_functions_with_it),
        cmocka_unit_test(frame_outside_of_modules_has_the_name_it_has_elsewhere),
        cmocka_unit_test(modules_match_with_and_without_their_folders),
        cmocka_unit_test(random_lines_are_found_as_by_trying_each),
        cmocka_unit_test(work_hardly_grows_with_the_number_of_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
