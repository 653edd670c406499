/*
 * Goal: a symbol path with servers in it fetches what folders do not have, keeps
 * it in the caches left of the server, and believes no server.
 * Method: trees of small files, one of them behind a local HTTP server; what the
 * server does wrong on the way is test_symbol_fetch.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "http_server.h"
#include "symbol_finder.h"

#define KEY       FINDER_KEY
#define OTHER_AGE FINDER_OTHER_AGE
#define OTHER     FINDER_OTHER
#define TEXT_SIZE 1024

typedef struct fixture {
    symbol_tree served;
    http_server server;
    symbol_finder finder;
} fixture;

static int start(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    symbol_tree_open(&f->served);
    http_server_start(&f->server, &f->served, NULL);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *const f = *state;
    http_server_stop(&f->server);
    symbol_tree_close(&f->served);
    free(f);
    return 0;
}

/* One server for all tests; each finds it with nothing to serve and an empty log. */
static int set_up(void **state)
{
    fixture *const f = *state;
    symbol_tree_empty(&f->served);
    symbol_finder_open(&f->finder);
    f->finder.options.fetch =
        (symbol_fetch_options){ .retry_delay_ms = 10, .attempts_max = 2, .stall_timeout_s = 1 };
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    symbol_finder_close(&f->finder);
    return 0;
}

/* Looks for app.pdb in a path where $ stands for the server's URL and a mode. */
static symbol_outcome find_in(fixture *f, const char *path, const char *mode)
{
    char text[TEXT_SIZE];
    const size_t size = strcspn(path, "$");
    snprintf(text, sizeof text, "%.*s%s%s", (int)size, path, http_server_url(&f->server, mode),
             path + size + 1);
    return symbol_finder_find_in(&f->finder, text);
}

static void assert_kept(const fixture *f, const char *name)
{
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->finder.tree, name), KEY));
}

static void a_fetched_file_is_kept_in_all_caches(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    assert_int_equal(find_in(f, "srv*%/a*%/b*$", "ok"), SYMBOL_FOUND);
    symbol_finder_expect(&f->finder, "a/app.pdb/" KEY "/app.pdb");
    assert_kept(f, "b/app.pdb/" KEY "/app.pdb");
}

static void a_cached_file_is_not_fetched_again(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_FOUND);
    assert_int_equal(symbol_finder_find(&f->finder, symbol_finder_key("app.pdb")), SYMBOL_FOUND);
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_FOUND);
    assert_int_equal(http_server_requests(&f->server, ""), 1);
}

static void a_folder_on_the_left_spares_the_server(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->finder.tree, "flat/app.pdb", KEY);
    assert_int_equal(find_in(f, "%/flat;srv*%/a*$", "ok"), SYMBOL_FOUND);
    assert_int_equal(http_server_requests(&f->server, ""), 0);
}

static void a_cache_element_gets_what_a_server_has(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    find_in(f, "cache*%/a;$", "ok");
    symbol_finder_expect(&f->finder, "a/app.pdb/" KEY "/app.pdb");
}

static void without_a_cache_the_default_store_is_used(void **state)
{
    fixture *const f = *state;
    f->finder.options.default_store = f->finder.default_store;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    find_in(f, "srv*$", "ok");
    symbol_finder_expect(&f->finder, "default/app.pdb/" KEY "/app.pdb");
}

static void without_any_store_a_temporary_one_is_used(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    assert_int_equal(find_in(f, "$", "ok"), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->finder.request.file, KEY));
    assert_non_null(strstr(f->finder.request.file, "/temporary/"));
}

static void a_cache_that_cannot_be_written_is_done_without(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    symbol_tree_text(&f->finder.tree, "a", "a file where a folder should be");
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_FOUND);
    assert_true(symbol_tree_is_symbol(f->finder.request.file, KEY));
    assert_true(f->finder.diag.of[ETL_DIAG_symbol_cache_unwritable] > 0);
}

static void a_fetched_cabinet_is_expanded_and_kept_once(void **state)
{
    fixture *const f = *state;
    symbol_tree_cabinet(&f->served, "server/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    find_in(f, "srv*%/a*$", "ok");
    symbol_finder_expect(&f->finder, "a/app.pdb/" KEY "/app.pdb");
    assert_int_equal(symbol_tree_count(&f->finder.tree, "a", ""), 1);
}

static void a_fetched_cabinet_stays_compressed_in_middle_stores(void **state)
{
    fixture *const f = *state;
    symbol_tree_cabinet(&f->served, "server/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    find_in(f, "srv*%/a*%/b*$", "ok");
    symbol_finder_expect(&f->finder, "a/app.pdb/" KEY "/app.pdb");
    assert_true(symbol_tree_exists(&f->finder.tree, "b/app.pdb/" KEY "/app.pd_"));
    assert_int_equal(symbol_tree_count(&f->finder.tree, "b", ""), 1);
}

static void a_server_that_lies_about_a_key_is_found_out(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", OTHER);
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_MISMATCHED);
    assert_null(f->finder.request.file);
    assert_int_equal(f->finder.diag.of[ETL_DIAG_symbol_mismatch], 1);
    assert_int_equal(symbol_tree_count(&f->finder.tree, "a", ""), 0);
}

static void a_broken_cabinet_from_a_server_is_not_kept(void **state)
{
    fixture *const f = *state;
    symbol_tree_text(&f->served, "server/app.pdb/" KEY "/app.pd_",
                     "MSCF and then nothing that would make a cabinet");
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_UNUSABLE);
    assert_int_equal(symbol_tree_count(&f->finder.tree, "a", ""), 0);
}

/* Whatever is there: a server does not name files of the computer that asks. */
static void a_pointer_from_a_server_names_no_local_file(void **state)
{
    fixture *const f = *state;
    char text[TEXT_SIZE];
    symbol_tree_symbol(&f->finder.tree, "share/app.pdb", KEY);
    snprintf(text, sizeof text, "PATH:%s", symbol_tree_path(&f->finder.tree, "share/app.pdb"));
    symbol_tree_text(&f->served, "server/app.pdb/" KEY "/file.ptr", text);
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_UNREACHABLE);
    assert_int_equal(f->finder.diag.of[ETL_DIAG_symbol_pointer_unreachable], 1);
    assert_int_equal(symbol_tree_count(&f->finder.tree, "a", ""), 0);
}

static void a_relative_pointer_from_a_server_leads_nowhere(void **state)
{
    fixture *const f = *state;
    symbol_tree_text(&f->served, "server/app.pdb/" KEY "/file.ptr",
                     "PATH:tests\\test_symbol_server.c");
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_UNREACHABLE);
    assert_int_equal(f->finder.diag.of[ETL_DIAG_symbol_pointer_unreachable], 1);
}

static void reasons_of_servers_become_outcomes(void **state)
{
    fixture *const f = *state;
    assert_int_equal(find_in(f, "srv*%/a*$", "ok"), SYMBOL_MISSING);
    assert_int_equal(find_in(f, "srv*%/a*$", "login"), SYMBOL_WITHHELD);
    assert_int_equal(find_in(f, "srv*%/a*$", "deny401"), SYMBOL_WITHHELD);
    assert_int_equal(find_in(f, "srv*%/a*$", "down"), SYMBOL_UNREACHABLE);
    assert_false(symbol_tree_exists(&f->finder.tree, "a/app.pdb"));
}

static void the_next_server_is_asked_when_one_does_not_answer(void **state)
{
    fixture *const f = *state;
    symbol_tree_symbol(&f->served, "server/app.pdb/" KEY "/app.pdb", KEY);
    assert_int_equal(find_in(f, "srv*%/a*http://127.0.0.1:9/*$", "ok"), SYMBOL_FOUND);
    symbol_finder_expect(&f->finder, "a/app.pdb/" KEY "/app.pdb");
    assert_int_equal(f->finder.diag.of[ETL_DIAG_symbol_server_unreachable], 1);
}

static void all_files_are_asked_for_at_once(void **state)
{
    fixture *const f = *state;
    static const char *const names[] = { "aa.pdb", "bb.pdb", "cc.pdb", "dd.pdb" };
    symbol_request requests[ETL_COUNT_OF(names)];
    char path[TEXT_SIZE];
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "server/%s/" KEY "/%s", names[i], names[i]);
        symbol_tree_symbol(&f->served, path, KEY);
        requests[i] = (symbol_request){ .key = symbol_finder_key(names[i]) };
    }
    snprintf(path, sizeof path, "srv*%%/a*%s", http_server_url(&f->server, "slow"));
    symbol_finder_path(&f->finder, path);
    assert_int_equal(
        symbol_path_find(f->finder.path, requests, ETL_COUNT_OF(names), &f->finder.diag, NULL),
        ETL_OK);
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++)
        assert_int_equal(requests[i].outcome, SYMBOL_FOUND);
    assert_int_equal(http_server_most_at_once(&f->server), ETL_COUNT_OF(names));
}

static bool stop_at_once(void *user, const symbol_progress *progress)
{
    (void)user;
    (void)progress;
    return false;
}

static void cancelling_keeps_what_was_found_before(void **state)
{
    fixture *const f = *state;
    char path[TEXT_SIZE];
    symbol_tree_symbol(&f->finder.tree, "flat/app.pdb", KEY);
    f->finder.options.fetch.progress = stop_at_once;
    snprintf(path, sizeof path, "%%/flat;srv*%%/a*%s", http_server_url(&f->server, "slow"));
    symbol_finder_path(&f->finder, path);
    symbol_request requests[2] = { { .key = symbol_finder_key("app.pdb") },
                                   { .key = symbol_finder_key("other.pdb") } };
    assert_int_equal(symbol_path_find(f->finder.path, requests, 2, &f->finder.diag, NULL),
                     ETL_ERR_CANCELLED);
    assert_int_equal(requests[0].outcome, SYMBOL_FOUND);
    assert_int_equal(requests[1].outcome, SYMBOL_UNREACHABLE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fetched_file_is_kept_in_all_caches),
        TEST(a_cached_file_is_not_fetched_again),
        TEST(a_folder_on_the_left_spares_the_server),
        TEST(a_cache_element_gets_what_a_server_has),
        TEST(without_a_cache_the_default_store_is_used),
        TEST(without_any_store_a_temporary_one_is_used),
        TEST(a_cache_that_cannot_be_written_is_done_without),
        TEST(a_fetched_cabinet_is_expanded_and_kept_once),
        TEST(a_fetched_cabinet_stays_compressed_in_middle_stores),
        TEST(a_server_that_lies_about_a_key_is_found_out),
        TEST(a_broken_cabinet_from_a_server_is_not_kept),
        TEST(a_pointer_from_a_server_names_no_local_file),
        TEST(a_relative_pointer_from_a_server_leads_nowhere),
        TEST(reasons_of_servers_become_outcomes),
        TEST(the_next_server_is_asked_when_one_does_not_answer),
        TEST(all_files_are_asked_for_at_once),
        TEST(cancelling_keeps_what_was_found_before),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
