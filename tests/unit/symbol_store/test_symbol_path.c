/*
 * Goal: a symbol path finds the right file in every layout of folders and
 * stores, never another build's, and says why when there is none.
 * Method: a tree of small files for each layout; the check of the test tells the
 * builds apart by a key inside the files. Where files are kept is
 * test_symbol_cache.c's, servers are test_symbol_server.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "parser/system/files.h"
#include "symbol_finder.h"

#define KEY       FINDER_KEY
#define OTHER_AGE FINDER_OTHER_AGE
#define OTHER     FINDER_OTHER
#define IMAGE_KEY "51CA1E0042b000"

/* --- keys ---------------------------------------------------------------------- */

static void keys_are_written_as_stores_have_them(void **state)
{
    (void)state;
    char text[SYMBOL_KEY_TEXT_SIZE];
    symbol_key key = symbol_finder_key("app.pdb");
    symbol_key_format(&key, text);
    assert_string_equal(text, KEY);
    key.age = UINT32_MAX;
    symbol_key_format(&key, text);
    assert_string_equal(text, "1EB9FACB04C75D3CEA7160764CD333D0ffffffff");
    key = (symbol_key){ .kind = SYMBOL_KIND_IMAGE,
                        .time_date_stamp = 0x51ca1e00,
                        .image_size_bytes = 0x42b000 };
    symbol_key_format(&key, text);
    assert_string_equal(text, IMAGE_KEY);
    key.time_date_stamp = 0xf;
    symbol_key_format(&key, text);
    assert_string_equal(text, "0000000F42b000");
}

/* --- layouts ------------------------------------------------------------------- */

static void a_file_in_a_folder_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "flat/app.pdb", KEY);
    symbol_finder_find_in(f, "%/flat");
    symbol_finder_expect(f, "flat/app.pdb");
}

static void a_file_in_a_folder_below_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "out/a/x64/App.pdb", KEY);
    symbol_tree_symbol(&f->tree, "out/z.text", OTHER);
    symbol_finder_find_in(f, "%/out");
    symbol_finder_expect(f, "out/a/x64/App.pdb");
}

/* Nearest first; other builds are passed over, however many. */
static void of_files_below_the_right_build_is_taken(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "out/app.pdb", OTHER);
    symbol_tree_symbol(&f->tree, "out/a/app.pdb", OTHER_AGE);
    symbol_tree_symbol(&f->tree, "out/b/app.pdb", OTHER);
    symbol_tree_symbol(&f->tree, "out/b/c/app.pdb", KEY);
    symbol_finder_find_in(f, "%/out");
    symbol_finder_expect(f, "out/b/c/app.pdb");
    symbol_tree_symbol(&f->tree, "out/c/app.pdb", KEY);
    symbol_finder_find_in(f, "%/out");
    symbol_finder_expect(f, "out/c/app.pdb");
}

static void a_cabinet_below_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "out/a/app.pdb", OTHER);
    symbol_tree_cabinet(&f->tree, "out/b/app.pd_", "app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "%/out"), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->request.file, KEY));
}

/* As in an unpacked trace, which brought its symbols along. */
static void a_store_below_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "out/symbols/APP.pdb/" KEY "/App.pdb", KEY);
    symbol_tree_symbol(&f->tree, "out/a/symbols/app.pdb/" OTHER "/app.pdb", OTHER);
    symbol_finder_find_in(f, "%/out");
    symbol_finder_expect(f, "out/symbols/APP.pdb/" KEY "/App.pdb");
    symbol_tree_cabinet(&f->tree, "packed/a/ap/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "%/packed"), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->request.file, KEY));
    symbol_tree_symbol(&f->tree, "other/a/symbols/app.pdb/" OTHER "/app.pdb", OTHER);
    assert_int_equal(symbol_finder_find_in(f, "%/other"), SYMBOL_MISSING);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/other"), SYMBOL_MISSING);
    f->options.loose = true;
    assert_int_equal(symbol_finder_find_in(f, "%/other"), SYMBOL_FOUND_LOOSE);
}

/* ~ and variables are a shell's, drives are Windows': nobody wants a folder of such a name. */
static void texts_for_a_shell_or_for_windows_make_no_folders(void **state)
{
    static const char *const texts[] = {
        "~/sym",
        "~",
        "%TEMP%\\sym",
        "$HOME/sym",
        "${HOME}/sym",
#if !defined(_WIN32)
        "C:\\Symbols",
        "\\\\server\\share",
#endif
    };
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "b/app.pdb/" KEY "/app.pdb", KEY);
    for (size_t i = 0; i < ETL_COUNT_OF(texts); i++) {
        symbol_path *path = NULL;
        symbol_request request = { .key = symbol_finder_key("app.pdb") };
        char text[TREE_PATH_SIZE * 2];
        char note[512] = "";
        snprintf(text, sizeof text, "srv*%s*%s", texts[i], symbol_tree_path(&f->tree, "b"));
        assert_int_equal(symbol_path_open(text, &f->options, &path, NULL), ETL_OK);
        assert_int_equal(symbol_path_note(path, 0, note, sizeof note), 0);
        assert_non_null(strstr(note, texts[i]));
        assert_int_equal(symbol_path_find(path, &request, 1, &f->diag, NULL), ETL_OK);
        assert_int_equal(request.outcome, SYMBOL_FOUND);
        assert_int_not_equal(etl_path_kind_of(texts[i]), ETL_PATH_FOLDER);
        symbol_path_free(path);
    }
}

static void a_path_without_slips_has_no_note(void **state)
{
    symbol_finder *const f = *state;
    char note[512] = "";
    symbol_tree_symbol(&f->tree, "50% off/app.pdb", KEY);
    symbol_finder_path(f, "cache*;srv*%/new*%;srv**http://none.invalid/");
    assert_int_equal(symbol_path_note(f->path, 0, note, sizeof note), UINT32_MAX);
    symbol_finder_path(f, "%;srv*;%/gone");
    assert_int_equal(symbol_path_note(f->path, 0, note, sizeof note), 1);
    assert_non_null(strstr(note, "names no server"));
    assert_int_equal(symbol_path_note(f->path, 2, note, sizeof note), 2);
    assert_non_null(strstr(note, "does not exist"));
}

/* A store has its files where their keys say. Hidden folders are other programs'. */
static void folders_of_stores_and_hidden_ones_are_not_searched(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "out/app.pdb/" OTHER "/app.pdb", KEY);
    symbol_tree_symbol(&f->tree, "out/.git/app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "%/out"), SYMBOL_MISSING);
    symbol_tree_symbol(&f->tree, "store/a/app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_MISSING);
}

static void folders_that_are_missing_have_names(void **state)
{
    symbol_finder *const f = *state;
    u32 element = 0;
    symbol_tree_symbol(&f->tree, "out/app.pdb", KEY);
    symbol_finder_path(f, "%/gone;%/out;cache*%/cache;srv*%/down*http://none.invalid/;srv*%/lost");
    const char *missing = symbol_path_missing(f->path, 0, &element);
    assert_string_equal(missing, symbol_tree_path(&f->tree, "gone"));
    assert_int_equal(element, 0);
    missing = symbol_path_missing(f->path, 1, &element);
    assert_string_equal(missing, symbol_tree_path(&f->tree, "lost"));
    assert_null(symbol_path_missing(f->path, element + 1, &element));
    assert_int_equal(element, UINT32_MAX);
}

static void a_file_in_a_store_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "%/store");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
    symbol_finder_find_in(f, "SymSrv*SymSrv.dll*%/store/");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
}

static void an_image_is_found_by_its_time_stamp_and_size(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.dll/" IMAGE_KEY "/app.dll", IMAGE_KEY);
    symbol_finder_path(f, "srv*%/store");
    const symbol_key key = { .kind = SYMBOL_KIND_IMAGE,
                             .name = "C:\\Windows\\app.dll",
                             .time_date_stamp = 0x51ca1e00,
                             .image_size_bytes = 0x42b000 };
    assert_int_equal(symbol_finder_find(f, key), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->request.file, IMAGE_KEY));
}

static void a_store_is_not_searched_flat(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.pdb", KEY);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_MISSING);
    assert_null(f->request.file);
}

static void a_two_tier_store_is_searched_by_two_letters(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "store/index2.txt", "");
    symbol_tree_symbol(&f->tree, "store/ap/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/ap/app.pdb/" KEY "/app.pdb");
}

static void a_two_tier_store_without_its_mark_is_found_too(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/ap/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/ap/app.pdb/" KEY "/app.pdb");
}

static void of_both_tiers_the_one_that_the_mark_speaks_for_comes_first(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/ap/app.pdb/" KEY "/app.pdb", KEY);
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
    symbol_tree_text(&f->tree, "store/index2.txt", "");
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/ap/app.pdb/" KEY "/app.pdb");
}

static void a_two_tier_cache_is_filled_as_such(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "cache/index2.txt", "");
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/cache*%/store");
    symbol_finder_expect(f, "cache/ap/app.pdb/" KEY "/app.pdb");
}

static void the_case_of_names_does_not_matter(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "lower/app.pdb", KEY);
    symbol_tree_symbol(&f->tree, "upper/APP.PDB", KEY);
    symbol_tree_symbol(&f->tree, "mixed/aPp.PdB", KEY);
    symbol_tree_symbol(&f->tree, "store/aPp.Pdb/1eB9fAcB04c75d3cEa7160764cd333D0A/ApP.pDB", KEY);
    symbol_finder_path(f, "%/lower");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("App.pdb")), SYMBOL_FOUND);
    symbol_finder_find_in(f, "%/upper");
    symbol_finder_expect(f, "upper/APP.PDB");
    symbol_finder_find_in(f, "%/mixed");
    symbol_finder_expect(f, "mixed/aPp.PdB");
    symbol_finder_find_in(f, "srv*%/store");
    symbol_finder_expect(f, "store/aPp.Pdb/1eB9fAcB04c75d3cEa7160764cd333D0A/ApP.pDB");
}

static void the_case_of_other_alphabets_does_not_matter_either(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "flat/übung_ДРАЙВЕР.pdb", KEY);
    symbol_finder_path(f, "%/flat");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("Übung_Драйвер.PDB")), SYMBOL_FOUND);
    symbol_finder_expect(f, "flat/übung_ДРАЙВЕР.pdb");
}

static void of_names_that_differ_in_case_the_first_in_byte_order_is_taken(void **state)
{
    symbol_finder *const f = *state;
    static const char *const names[] = { "aPP.pdb", "apP.Pdb", "APp.pdb", "aPp.pdB", "APP.pdb",
                                         "App.pdb", "apP.pDb", "ApP.pdb", "apP.pdb" };
    char path[TREE_PATH_SIZE];
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "flat/%s", names[i]);
        symbol_tree_symbol(&f->tree, path, KEY);
    }
    symbol_finder_find_in(f, "%/flat");
    symbol_finder_expect(f, "flat/APP.pdb");
}

static void elements_are_searched_from_left_to_right(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "one/app.pdb", KEY);
    symbol_tree_symbol(&f->tree, "two/app.pdb", KEY);
    symbol_finder_find_in(f, ";;  \"%/two\" ;%/one;");
    symbol_finder_expect(f, "two/app.pdb");
}

static void folders_in_names_of_modules_are_ignored(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "flat/app.pdb", KEY);
    symbol_finder_path(f, "%/flat");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("d:\\build\\out\\app.pdb")),
                     SYMBOL_FOUND);
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("/build/out/app.pdb")), SYMBOL_FOUND);
}

static void names_that_are_no_file_names_are_missing(void **state)
{
    symbol_finder *const f = *state;
    char long_name[400];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    symbol_finder_path(f, "%;srv*%/cache*%");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("")), SYMBOL_MISSING);
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("..")), SYMBOL_MISSING);
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("x\\..")), SYMBOL_MISSING);
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("app\n.pdb")), SYMBOL_MISSING);
    assert_int_equal(symbol_finder_find(f, symbol_finder_key(long_name)), SYMBOL_MISSING);
    assert_int_equal(f->tree.checks, 0);
}

static void equal_requests_are_searched_once(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "flat/app.pdb", KEY);
    symbol_finder_path(f, "%/flat");
    symbol_request requests[3] = { { .key = symbol_finder_key("app.pdb") },
                                   { .key = symbol_finder_key("other.pdb") },
                                   { .key = symbol_finder_key("c:\\APP.pdb") } };
    assert_int_equal(symbol_path_find(f->path, requests, 3, &f->diag, NULL), ETL_OK);
    assert_int_equal(requests[0].outcome, SYMBOL_FOUND);
    assert_int_equal(requests[1].outcome, SYMBOL_MISSING);
    assert_string_equal(requests[2].file, requests[0].file);
    assert_int_equal(f->tree.checks, 1);
}

static void an_empty_path_finds_nothing(void **state)
{
    symbol_finder *const f = *state;
    assert_int_equal(symbol_finder_find_in(f, " ; ;;"), SYMBOL_MISSING);
    assert_false(symbol_path_uses_network(f->path));
    assert_int_equal(symbol_path_find(f->path, NULL, 0, &f->diag, NULL), ETL_OK);
}

/* --- identity ------------------------------------------------------------------ */

static void a_file_of_another_build_is_counted_if_nothing_is_found(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "old/app.pdb", OTHER_AGE);
    symbol_tree_symbol(&f->tree, "new/app.pdb", KEY);
    symbol_finder_find_in(f, "%/old;%/new");
    symbol_finder_expect(f, "new/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_mismatch], 0);
    assert_int_equal(symbol_finder_find_in(f, "%/old"), SYMBOL_MISMATCHED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_mismatch], 1);
    assert_string_equal(f->request.file, symbol_tree_path(&f->tree, "old/app.pdb"));
}

static void another_age_in_a_store_is_missing(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.pdb/" OTHER_AGE "/app.pdb", OTHER_AGE);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_MISSING);
}

static void a_store_that_lies_about_a_key_is_found_out(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", OTHER);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/cache*%/store"), SYMBOL_MISMATCHED);
    assert_int_equal(symbol_tree_count(&f->tree, "cache", ""), 0);
}

static void a_broken_file_is_passed_over_and_counted(void **state)
{
    symbol_finder *const f = *state;
    symbol_tree_text(&f->tree, "broken/app.pdb", "nothing of value");
    symbol_tree_symbol(&f->tree, "good/app.pdb", KEY);
    symbol_finder_find_in(f, "%/broken;%/good");
    symbol_finder_expect(f, "good/app.pdb");
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_file_unusable], 1);
    assert_int_equal(symbol_finder_find_in(f, "%/broken"), SYMBOL_UNUSABLE);
}

static void loosely_a_file_of_another_build_will_do(void **state)
{
    symbol_finder *const f = *state;
    f->options.loose = true;
    symbol_tree_symbol(&f->tree, "old/app.pdb", OTHER);
    assert_int_equal(symbol_finder_find_in(f, "cache*%/cache;%/old"), SYMBOL_FOUND_LOOSE);
    assert_string_equal(f->request.file, symbol_tree_path(&f->tree, "old/app.pdb"));
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_loose], 1);
    assert_int_equal(symbol_tree_count(&f->tree, "cache", ""), 0);
}

static void loosely_the_right_build_still_comes_first(void **state)
{
    symbol_finder *const f = *state;
    f->options.loose = true;
    symbol_tree_symbol(&f->tree, "old/app.pdb", OTHER);
    symbol_tree_symbol(&f->tree, "store/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "%/old;srv*%/store");
    symbol_finder_expect(f, "store/app.pdb/" KEY "/app.pdb");
}

static void loosely_a_store_gives_another_age_before_another_guid(void **state)
{
    symbol_finder *const f = *state;
    f->options.loose = true;
    symbol_tree_symbol(&f->tree, "store/app.pdb/" OTHER "/app.pdb", OTHER);
    symbol_tree_symbol(&f->tree, "store/app.pdb/" OTHER_AGE "/app.pdb", OTHER_AGE);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_FOUND_LOOSE);
    assert_true(symbol_tree_is_symbol(f->request.file, OTHER_AGE));
}

static void loosely_a_compressed_file_is_expanded_aside(void **state)
{
    symbol_finder *const f = *state;
    f->options.loose = true;
    symbol_tree_cabinet(&f->tree, "store/app.pdb/" OTHER "/app.pd_", "app.pdb", OTHER);
    assert_int_equal(symbol_finder_find_in(f, "srv*%/cache*%/store"), SYMBOL_FOUND_LOOSE);
    assert_true(symbol_tree_is_symbol(f->request.file, OTHER));
    assert_int_equal(symbol_tree_count(&f->tree, "cache", ""), 0);
}

static void loosely_a_broken_file_still_will_not_do(void **state)
{
    symbol_finder *const f = *state;
    f->options.loose = true;
    symbol_tree_text(&f->tree, "broken/app.pdb", "nothing of value");
    assert_int_equal(symbol_finder_find_in(f, "%/broken"), SYMBOL_UNUSABLE);
    symbol_tree_text(&f->tree, "store/app.pdb/" OTHER "/app.pdb", "nothing of value");
    assert_int_equal(symbol_finder_find_in(f, "srv*%/store"), SYMBOL_MISSING);
}

static void without_a_check_names_and_keys_are_believed(void **state)
{
    symbol_finder *const f = *state;
    f->options.check = NULL;
    symbol_tree_text(&f->tree, "flat/app.pdb", "anything");
    assert_int_equal(symbol_finder_find_in(f, "%/flat"), SYMBOL_FOUND);
}

/* --- the path itself ------------------------------------------------------------------ */

static void folders_that_are_not_there_are_counted_once(void **state)
{
    symbol_finder *const f = *state;
    symbol_finder_path(f, "%/nowhere;srv*%/cache*%/neither;C:\\symbols");
    symbol_finder_find(f, symbol_finder_key("app.pdb"));
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_folder_missing], 3);
    symbol_finder_find(f, symbol_finder_key("app.pdb"));
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_folder_missing], 0);
}

static void a_chain_of_too_many_stores_is_refused(void **state)
{
    symbol_finder *const f = *state;
    etl_error error = { 0 };
    symbol_path *path = NULL;
    assert_int_equal(symbol_path_open("srv*1*2*3*4*5*6*7*8*9*10", NULL, &path, &error), ETL_OK);
    symbol_path_free(path);
    assert_int_equal(symbol_path_open("srv*1*2*3*4*5*6*7*8*9*10*11", NULL, &path, &error),
                     ETL_ERR_ARGUMENT);
    assert_null(path);
    assert_non_null(strstr(error.message, "10 stores"));
    (void)f;
}

static void servers_are_told_from_folders(void **state)
{
    symbol_finder *const f = *state;
    symbol_finder_path(f, "srv*%/a*https://example.invalid/symbols");
    assert_true(symbol_path_uses_network(f->path));
    symbol_finder_path(f, "HTTP://example.invalid");
    assert_true(symbol_path_uses_network(f->path));
    symbol_finder_path(f, "srv*%/a*%/https:");
    assert_false(symbol_path_uses_network(f->path));
    f->options.offline = true;
    symbol_finder_path(f, "srv*%/a*https://example.invalid/symbols");
    assert_false(symbol_path_uses_network(f->path));
}

static void offline_a_server_is_passed_over_but_not_its_cache(void **state)
{
    symbol_finder *const f = *state;
    f->options.offline = true;
    symbol_tree_symbol(&f->tree, "cache/app.pdb/" KEY "/app.pdb", KEY);
    symbol_finder_find_in(f, "srv*%/cache*http://127.0.0.1:9/");
    symbol_finder_expect(f, "cache/app.pdb/" KEY "/app.pdb");
    assert_int_equal(symbol_finder_find(f, symbol_finder_key("other.pdb")), SYMBOL_MISSING);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 0);
}

static void outcomes_have_names(void **state)
{
    (void)state;
    assert_string_equal(symbol_outcome_name(SYMBOL_MISSING), "missing");
    assert_string_equal(symbol_outcome_name(SYMBOL_FOUND_LOOSE), "found-loose");
    assert_string_equal(symbol_outcome_name(SYMBOL_UNREACHABLE), "unreachable");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, symbol_finder_set_up, symbol_finder_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_written_as_stores_have_them),
        TEST(a_file_in_a_folder_is_found),
        TEST(a_file_in_a_folder_below_is_found),
        TEST(of_files_below_the_right_build_is_taken),
        TEST(a_cabinet_below_is_found),
        TEST(a_store_below_is_found),
        TEST(texts_for_a_shell_or_for_windows_make_no_folders),
        TEST(a_path_without_slips_has_no_note),
        TEST(folders_of_stores_and_hidden_ones_are_not_searched),
        TEST(folders_that_are_missing_have_names),
        TEST(a_file_in_a_store_is_found),
        TEST(an_image_is_found_by_its_time_stamp_and_size),
        TEST(a_store_is_not_searched_flat),
        TEST(a_two_tier_store_is_searched_by_two_letters),
        TEST(a_two_tier_store_without_its_mark_is_found_too),
        TEST(of_both_tiers_the_one_that_the_mark_speaks_for_comes_first),
        TEST(a_two_tier_cache_is_filled_as_such),
        TEST(the_case_of_names_does_not_matter),
        TEST(the_case_of_other_alphabets_does_not_matter_either),
        TEST(of_names_that_differ_in_case_the_first_in_byte_order_is_taken),
        TEST(elements_are_searched_from_left_to_right),
        TEST(folders_in_names_of_modules_are_ignored),
        TEST(names_that_are_no_file_names_are_missing),
        TEST(equal_requests_are_searched_once),
        TEST(an_empty_path_finds_nothing),
        TEST(a_file_of_another_build_is_counted_if_nothing_is_found),
        TEST(another_age_in_a_store_is_missing),
        TEST(a_store_that_lies_about_a_key_is_found_out),
        TEST(a_broken_file_is_passed_over_and_counted),
        TEST(loosely_a_file_of_another_build_will_do),
        TEST(loosely_the_right_build_still_comes_first),
        TEST(loosely_a_store_gives_another_age_before_another_guid),
        TEST(loosely_a_compressed_file_is_expanded_aside),
        TEST(loosely_a_broken_file_still_will_not_do),
        TEST(without_a_check_names_and_keys_are_believed),
        TEST(folders_that_are_not_there_are_counted_once),
        TEST(a_chain_of_too_many_stores_is_refused),
        TEST(servers_are_told_from_folders),
        TEST(offline_a_server_is_passed_over_but_not_its_cache),
        cmocka_unit_test(outcomes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
