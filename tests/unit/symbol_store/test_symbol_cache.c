/*
 * Goal: what a symbol path finds is kept in the right caches, whole and under
 * the right key; compressed files and file.ptr lead to the file they stand for.
 * Method: trees of small files, as in test_symbol_path.c; that nothing temporary
 * or half-written is left is checked after each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "symbol_finder.h"

#define KEY       FINDER_KEY
#define OTHER_AGE FINDER_OTHER_AGE
#define OTHER     FINDER_OTHER
#define TEXT_SIZE 1024

static void assert_kept(const symbol_finder *f, const char *name)
{
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->tree, name), KEY));
}

/* --- caches ----------------------------------------------------------------------- */

static void a_chain_copies_to_the_stores_on_the_left(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "c/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/a*%/b*%/c");
    symbol_finder_expect(f, "a/app.pdb/" KEY "/app.pdb");
    assert_kept(f, "b/app.pdb/" KEY "/app.pdb");
}

static void a_chain_of_one_store_copies_nothing(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "c/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/c;srv*%/d");
    symbol_finder_expect(f, "c/app.pdb/" KEY "/app.pdb");
    assert_false(symbol_tree_exists(&f->tree, "d"));
}

static void an_empty_store_of_a_chain_is_the_default_store(void **state)
{
    symbol_finder *const f = *state;
    f->options.default_store = f->default_store;
    symbol_tree_symbol(&f->tree, "c/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv**%/c");
    symbol_finder_expect(f, "default/app.pdb/" KEY "/app.pdb");
    symbol_finder_find_in(f, "srv*");
    symbol_finder_expect(f, "default/app.pdb/" KEY "/app.pdb");
}

static void without_a_default_store_a_temporary_one_is_used_and_removed(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "c/app.pdb/" KEY "/app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "srv**%/c"), SYMBOL_FOUND);
    assert_non_null(strstr(f->request.file, "/temporary/etlheap-symbols-"));
    assert_int_equal(symbol_tree_count(&f->tree, "temporary", ""), 1);
}

static void a_cache_gets_what_later_elements_find(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "before/first.pdb", KEY);
    symbol_tree_symbol(&f->tree, "after/app.pdb", KEY);
    symbol_finder_path(f, "%/before;cache*%/cache;%/after");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("first.pdb")), SYMBOL_FOUND);
    assert_int_equal(symbol_tree_count(&f->tree, "cache", ""), 0);
    symbol_finder_find(f, symbol_finder_key("app.pdb"));
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
}

static void a_cache_is_searched_itself(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "cache/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "cache*%/cache;%/nowhere");
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
}

static void a_cache_before_a_chain_is_its_leftmost_store(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "b/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "cache*%/cache;srv*%/a*%/b");
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
    assert_kept(f, "a/app.pdb/" KEY "/app.pdb");
}

static void a_wrong_file_in_a_cache_is_replaced(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "a/app.pdb/" KEY "/app.pdb", OTHER);
    symbol_tree_symbol(&f->tree, "b/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/a*%/b");
    symbol_finder_expect(f, "a/app.pdb/" KEY "/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_mismatch], 0);
}

static void a_cache_that_cannot_be_written_is_counted_and_done_without(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "cache", "a file where a folder should be");
    symbol_tree_symbol(&f->tree, "b/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/cache*%/b");
    symbol_finder_expect(f, "b/app.pdb/" KEY "/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_cache_unwritable], 1);
}

static void what_a_dead_run_left_half_copied_is_overwritten(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "a/app.pdb/" KEY "/app.pdb.new", "half of somet");
    symbol_tree_symbol(&f->tree, "b/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/a*%/b");
    symbol_finder_expect(f, "a/app.pdb/" KEY "/app.pdb");
}

/* --- compressed files ----------------------------------------------------------- */

static void a_compressed_file_is_expanded_into_the_leftmost_store(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_cabinet(&f->tree, "c/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/a*%/b*%/c");
    symbol_finder_expect(f, "a/app.pdb/" KEY "/app.pdb");
    assert_true(symbol_tree_exists(&f->tree, "b/app.pdb/" KEY "/app.pd_"));
    assert_false(symbol_tree_exists(&f->tree, "b/app.pdb/" KEY "/app.pdb"));
}

static void a_compressed_file_without_cache_goes_to_the_default_store(void **state)
{
    symbol_finder *const f = *state;
    f->options.default_store = f->default_store;
    symbol_tree_cabinet(&f->tree, "flat/APP.PD_", "app.pdb", KEY);
    symbol_finder_find_in(f, "%/flat");
    symbol_finder_expect(f, "default/app.pdb/" KEY "/app.pdb");
}

static void an_expanded_file_of_another_build_is_not_kept(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_cabinet(&f->tree, "c/app.pdb/" KEY "/app.pd_", "app.pdb", OTHER);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/a*%/c"), SYMBOL_MISMATCHED);
    assert_int_equal(symbol_tree_count(&f->tree, "a", ""), 0);
}

static void a_broken_cabinet_alone_is_unusable(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "b/app.pdb/" KEY "/app.pd_", "MSCF and then nothing");
    assert_int_equal(symbol_finder_find_in(f, "srv*%/a*%/b"), SYMBOL_UNUSABLE);
    assert_string_equal(f->request.file, symbol_tree_path(&f->tree, "b/app.pdb/" KEY "/app.pd_"));
    assert_int_equal(symbol_tree_count(&f->tree, "a", ""), 0);
}

static void a_broken_cabinet_is_passed_over_and_counted(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "b/app.pdb/" KEY "/app.pd_", "MSCF and then nothing");
    symbol_tree_symbol(&f->tree, "c/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/a*%/b*%/c");
    symbol_finder_expect(f, "a/app.pdb/" KEY "/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_cabinet_invalid], 1);
}

/* --- file.ptr ------------------------------------------------------------------------ */

static void a_pointer_is_followed(void **state)
{
    symbol_finder *const f = *state;
    char text[TEXT_SIZE];
    symbol_tree_symbol(&f->tree, "share/Deep/App.pdb", KEY);
    snprintf(text, sizeof text, "PATH:%s\r\n", symbol_tree_path(&f->tree, "share/Deep/App.pdb"));
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", text);
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "share/Deep/App.pdb");
    symbol_finder_find_in(f, "srv*%/cache*%/store");
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
}

static void a_pointer_may_be_relative_and_written_on_windows(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "share/Deep/App.pdb", KEY);
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/File.Ptr",
                     "..\\..\\..\\SHARE\\deep\\app.pdb");
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->request.file, KEY));
}

static void a_pointer_may_lead_to_a_cabinet(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_cabinet(&f->tree, "share/archive.bin", "app.pdb", KEY);
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", "..\\..\\..\\share\\archive.bin");
    symbol_finder_find_in(f, "srv*%/cache*%/store");
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
}

static void a_pointer_to_elsewhere_is_counted(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", "PATH:\\\\server\\share\\app.pdb");
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_UNREACHABLE);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_pointer_unreachable], 1);
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", "");
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_UNREACHABLE);
}

static void a_message_in_place_of_a_pointer_is_counted(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", "MSG: these are secret");
    symbol_tree_symbol(&f->tree, "flat/app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_WITHHELD);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_withheld], 1);
    symbol_finder_find_in(f, "srv*%/store;%/flat");
    symbol_finder_expect(f, "flat/app.pdb");
}

static void a_file_comes_before_its_cabinet_and_its_pointer(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", KEY);
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/app.pd_", "broken");
    symbol_tree_text(&f->tree, "store/app.pdb/" KEY "/file.ptr", "MSG: no");
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_withheld], 0);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, symbol_finder_set_up, symbol_finder_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chain_copies_to_the_stores_on_the_left),
        TEST(a_chain_of_one_store_copies_nothing),
        TEST(an_empty_store_of_a_chain_is_the_default_store),
        TEST(without_a_default_store_a_temporary_one_is_used_and_removed),
        TEST(a_cache_gets_what_later_elements_find),
        TEST(a_cache_is_searched_itself),
        TEST(a_cache_before_a_chain_is_its_leftmost_store),
        TEST(a_wrong_file_in_a_cache_is_replaced),
        TEST(a_cache_that_cannot_be_written_is_counted_and_done_without),
        TEST(what_a_dead_run_left_half_copied_is_overwritten),
        TEST(a_compressed_file_is_expanded_into_the_leftmost_store),
        TEST(a_compressed_file_without_cache_goes_to_the_default_store),
        TEST(an_expanded_file_of_another_build_is_not_kept),
        TEST(a_broken_cabinet_alone_is_unusable),
        TEST(a_broken_cabinet_is_passed_over_and_counted),
        TEST(a_pointer_is_followed),
        TEST(a_pointer_may_be_relative_and_written_on_windows),
        TEST(a_pointer_may_lead_to_a_cabinet),
        TEST(a_pointer_to_elsewhere_is_counted),
        TEST(a_message_in_place_of_a_pointer_is_counted),
        TEST(a_file_comes_before_its_cabinet_and_its_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
