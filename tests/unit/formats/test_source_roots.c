/*
 * Goal: a path of a PDB becomes the repository's path if a root has it, whatever its case and
 * slashes, and the frame that a failure points to is one that people can change.
 * Method: paths and what each must become, written out; frames made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/parts/source_roots.h"

static const etlheap_source_root made_roots[] = {
    { "D:\\a\\app\\app", "." },
    { "D:/a/app/app/third_party/", "vendor" },
    { "/home/ci/app", "src/" },
    { "E:\\", "e" },
};
static const etlheap_source_roots roots = { made_roots, ETL_COUNT_OF(made_roots) };

static void paths_below_a_root_are_the_repositorys(void **state)
{
    static const struct {
        const char *path, *wanted;
        bool mapped;
    } rows[] = {
        { "D:\\a\\app\\app\\src\\leak.cpp", "src/leak.cpp", true },
        { "d:\\A\\App\\APP\\src\\Leak.cpp", "src/Leak.cpp", true },
        { "D:/a/app/app//src/leak.cpp", "src/leak.cpp", true },
        { "D:\\a\\app\\app\\third_party\\z\\z.c", "vendor/z/z.c", true },
        { "/home/ci/app/a.c", "src/a.c", true },
        { "e:\\x.c", "e/x.c", true },
        /* Not below it: its name goes on, it is the root itself, or it is elsewhere. */
        { "D:\\a\\app\\application\\leak.cpp", "D:\\a\\app\\application\\leak.cpp", false },
        { "D:\\a\\app\\app", "D:\\a\\app\\app", false },
        { "C:\\a\\app\\app\\leak.cpp", "C:\\a\\app\\app\\leak.cpp", false },
        { "D:", "D:", false },
        { "", "", false },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { 0 };
        assert_int_equal(etlheap_source_roots_add(&roots, rows[i].path, &text), rows[i].mapped);
        assert_string_equal(etlheap_text_of(&text), rows[i].wanted);
        assert_int_equal(etlheap_source_roots_have(&roots, rows[i].path), rows[i].mapped);
        etlheap_text_free(&text);
    }
}

static void the_rest_of_a_path_begins_with_a_name(void **state)
{
    static const struct {
        const char *path, *to, *rest;
    } rows[] = {
        { "D:\\a\\app\\app\\src\\leak.cpp", ".", "src\\leak.cpp" },
        { "d:/A/app/app//\\/src/x", ".", "src/x" },
        { "D:/a/app/app/third_party/../../x", "vendor", "../../x" },
        { "e:\\", "e", "" },
    };
    const char *rest = NULL;
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_source_root *const root =
            etlheap_source_roots_find(&roots, rows[i].path, &rest);
        assert_non_null(root);
        assert_string_equal(root->to, rows[i].to);
        assert_string_equal(rest, rows[i].rest);
    }
    assert_null(etlheap_source_roots_find(&roots, "D:\\a\\app\\appx", &rest));
}

static void case_and_slashes_of_paths_do_not_matter(void **state)
{
    (void)state;
    assert_true(etlheap_source_paths_same("C:\\Src\\a.CPP", "c:/src/A.cpp"));
    assert_true(etlheap_source_paths_same("", ""));
    assert_false(etlheap_source_paths_same("C:\\src", "C:\\src\\"));
    assert_false(etlheap_source_paths_same("C:\\src\\a", "C:\\src"));
}

static void no_roots_map_nothing(void **state)
{
    const etlheap_source_roots none = { NULL, 0 };
    etlheap_text text = { 0 };
    (void)state;
    assert_false(etlheap_source_roots_add(&none, "D:\\a.c", &text));
    assert_false(etlheap_source_roots_add(NULL, "D:\\a.c", &text));
    assert_string_equal(etlheap_text_of(&text), "D:\\a.cD:\\a.c");
    etlheap_text_free(&text);
}

static const etlheap_frame frames[] = {
    { .module = "app.exe", .offset = 0x10 },
    { .module = "app.exe",
      .symbol = "operator new",
      .line = 9,
      .file = "D:\\a\\_work\\1\\s\\src\\vctools\\crt\\vcstartup\\new_scalar.cpp" },
    { .module = "app.exe",
      .symbol = "vector",
      .line = 5,
      .file =
          "C:\\Program Files\\Microsoft Visual Studio\\VC\\Tools\\MSVC\\14.40\\include\\vector" },
    { .module = "lib.dll", .symbol = "zmalloc", .file = "F:\\lib\\z.c", .line = 3 },
    { .module = "app.exe", .symbol = "grow", .file = "d:\\A\\app\\app\\leak.cpp", .line = 42 },
};

static const etlheap_frame *frame_of(const etlheap_source_roots *of, const u32 *at, u32 count)
{
    const etlheap_table table = { .frames = frames, .frame_count = ETL_COUNT_OF(frames) };
    return etlheap_source_frame(of, &table, (etlheap_indices){ at, count });
}

static void the_frame_is_the_innermost_that_people_can_change(void **state)
{
    static const u32 all[] = { 0, 1, 2, 3, 4 };
    (void)state;
    assert_ptr_equal(frame_of(&roots, all, 5), &frames[4]); /* the repository's */
    assert_ptr_equal(frame_of(NULL, all, 5), &frames[3]);   /* not the compiler's */
    assert_ptr_equal(frame_of(&roots, all, 3), &frames[1]); /* better than none */
    assert_ptr_equal(frame_of(&roots, all, 1), &frames[0]);
    assert_null(frame_of(&roots, all, 0));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_below_a_root_are_the_repositorys),
        cmocka_unit_test(the_rest_of_a_path_begins_with_a_name),
        cmocka_unit_test(case_and_slashes_of_paths_do_not_matter),
        cmocka_unit_test(no_roots_map_nothing),
        cmocka_unit_test(the_frame_is_the_innermost_that_people_can_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
