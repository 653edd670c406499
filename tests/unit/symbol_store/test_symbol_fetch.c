/*
 * Goal: files come from symbol servers whole and once, whatever the server does;
 * what is no symbol file never reaches a folder, and each reason has its name.
 * Method: a local server that misbehaves on request (http_symbol_server.py); its
 * log says what was asked for. Waiting times are short throughout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "http_server.h"

#define KEY "1EB9FACB04C75D3CEA7160764CD333D0a"

typedef struct fixture {
    symbol_tree tree;
    http_server server;
    symbol_fetch_options options;
    symbol_fetch *fetch;
    etl_diag_counts diag;
} fixture;

static int start(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    symbol_tree_open(&f->tree);
    http_server_start(&f->server, &f->tree, NULL);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *const f = *state;
    http_server_stop(&f->server);
    symbol_tree_close(&f->tree);
    free(f);
    return 0;
}

/* One server for all tests; each finds it with nothing to serve and an empty log. */
static int set_up(void **state)
{
    fixture *const f = *state;
    f->options =
        (symbol_fetch_options){ .retry_delay_ms = 10, .attempts_max = 3, .stall_timeout_s = 1 };
    symbol_tree_empty(&f->tree);
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    symbol_fetch_close(f->fetch);
    f->fetch = NULL;
    return 0;
}

/* Fetches one file from a mode of the server into the folder "to". */
static symbol_download fetch_from(fixture *f, const char *url, const char *name)
{
    symbol_download download = {
        .server = url, .name = name, .key = KEY, .folder = symbol_tree_path(&f->tree, "to")
    };
    if (!f->fetch)
        assert_int_equal(symbol_fetch_open(&f->options, &f->fetch, NULL), ETL_OK);
    f->diag = (etl_diag_counts){ { 0 } };
    assert_int_equal(symbol_fetch_run(f->fetch, &download, 1, &f->diag, NULL), ETL_OK);
    return download;
}

static symbol_fetch_state fetch(fixture *f, const char *mode)
{
    return fetch_from(f, http_server_url(&f->server, mode), "app.pdb").state;
}

static void serve(const fixture *f, const char *name)
{
    char path[TREE_PATH_SIZE + sizeof "server/"];
    snprintf(path, sizeof path, "server/%s", name);
    symbol_tree_symbol(&f->tree, path, KEY);
}

/* The one file there is, whole and under its name. */
static void assert_fetched(const fixture *f, const char *name)
{
    char path[TREE_PATH_SIZE + sizeof "to/"];
    snprintf(path, sizeof path, "to/%s", name);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->tree, path), KEY));
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 1);
}

static void assert_nothing_written(const fixture *f)
{
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 0);
}

/* --- what goes well --------------------------------------------------------------- */

static void a_file_is_fetched_in_one_request(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 1);
    assert_int_equal(http_server_requests(&f->server, " etlheap/" ETLHEAP_VERSION), 1);
}

static void a_file_of_unknown_length_is_fetched(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "chunked"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
}

static void names_are_escaped(void **state)
{
    fixture *const f = *state;
    static const char name[] = "a b#c?d%e+\xc3\xa9.pdb";
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/" KEY "/%s", name, name);
    serve(f, path);
    const symbol_download done = fetch_from(f, http_server_url(&f->server, "ok/"), name);
    assert_int_equal(done.state, SYMBOL_FETCH_DONE);
    assert_fetched(f, name);
}

static void the_compressed_form_is_asked_for_next(void **state)
{
    fixture *const f = *state;
    symbol_tree_cabinet(&f->tree, "server/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_COMPRESSED);
    assert_true(symbol_tree_exists(&f->tree, "to/app.pd_"));
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 1);
    assert_int_equal(http_server_requests(&f->server, ""), 2);
}

static void a_pointer_is_asked_for_last(void **state)
{
    fixture *const f = *state;
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/file.ptr", "PATH:\\\\share\\app.pdb");
    const symbol_download done = fetch_from(f, http_server_url(&f->server, "ok"), "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_POINTER);
    assert_string_equal(done.pointer, "PATH:\\\\share\\app.pdb");
    assert_nothing_written(f);
}

static void a_two_tier_server_is_found_out_once(void **state)
{
    fixture *const f = *state;
    symbol_tree_text(&f->tree, "server/index2.txt", "");
    serve(f, "ap/app.pdb/" KEY "/app.pdb");
    serve(f, "be/beta.pdb/" KEY "/beta.pdb");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, ""), 5);
    assert_int_equal(fetch_from(f, http_server_url(&f->server, "ok"), "beta.pdb").state,
                     SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, "index2.txt"), 1);
    assert_int_equal(http_server_requests(&f->server, ""), 6);
}

static void a_redirect_is_followed(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "redirect"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
}

static void files_are_fetched_side_by_side_up_to_the_limit(void **state)
{
    fixture *const f = *state;
    symbol_download downloads[12];
    char names[12][16];
    char folders[12][TREE_PATH_SIZE];
    f->options.connections_max = 4;
    for (u32 i = 0; i < 12; i++) {
        char path[TREE_PATH_SIZE];
        snprintf(names[i], sizeof names[i], "m%u.pdb", (unsigned)i);
        snprintf(path, sizeof path, "%s/" KEY "/%s", names[i], names[i]);
        snprintf(folders[i], sizeof folders[i], "%s", symbol_tree_path(&f->tree, "to"));
        serve(f, path);
        downloads[i] = (symbol_download){ .server = http_server_url(&f->server, "slow"),
                                          .name = names[i],
                                          .key = KEY,
                                          .folder = folders[i] };
    }
    /* The static buffers of the URL are used up by now. */
    for (u32 i = 0; i < 12; i++)
        downloads[i].server = downloads[11].server;
    assert_int_equal(symbol_fetch_open(&f->options, &f->fetch, NULL), ETL_OK);
    assert_int_equal(symbol_fetch_run(f->fetch, downloads, 12, &f->diag, NULL), ETL_OK);
    for (u32 i = 0; i < 12; i++)
        assert_int_equal(downloads[i].state, SYMBOL_FETCH_DONE);
    assert_int_equal(symbol_tree_count(&f->tree, "to", ".pdb"), 12);
    assert_int_equal(http_server_most_at_once(&f->server), 4);
}

/* --- what is missing ---------------------------------------------------------------- */

static void a_missing_file_is_asked_for_once_a_run(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_MISSING);
    assert_int_equal(http_server_requests(&f->server, ""), 4);
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_MISSING);
    assert_int_equal(http_server_requests(&f->server, ""), 4);
    assert_nothing_written(f);
    assert_false(symbol_tree_exists(&f->tree, "to"));
}

static void a_server_that_wants_a_login_is_named(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "deny401"), SYMBOL_FETCH_DENIED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_denied], 1);
    assert_int_equal(http_server_requests(&f->server, ""), 1);
    assert_int_equal(fetch(f, "deny403"), SYMBOL_FETCH_DENIED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_denied], 1);
    assert_nothing_written(f);
}

static void a_page_in_place_of_a_file_is_thrown_away(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, "login"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_answer_rejected], 1);
    const symbol_download done = fetch_from(f, http_server_url(&f->server, "page"), "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_REJECTED);
    assert_non_null(strstr(done.message, "login"));
    assert_nothing_written(f);
}

static void what_is_no_symbol_file_is_thrown_away(void **state)
{
    fixture *const f = *state;
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/app.pdb",
                     "plain text of some length, no PDB");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_REJECTED);
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/app.pdb", "");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_REJECTED);
    assert_nothing_written(f);
}

static void redirects_lead_nowhere_else(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, "tofile"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(fetch(f, "loop"), SYMBOL_FETCH_REJECTED);
    assert_nothing_written(f);
}

static void a_file_above_the_limit_is_not_fetched(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.file_bytes_max = 2999;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_TOO_LARGE);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_too_large], 1);
    assert_int_equal(fetch(f, "chunked"), SYMBOL_FETCH_TOO_LARGE);
    assert_int_equal(fetch(f, "huge"), SYMBOL_FETCH_TOO_LARGE);
    assert_nothing_written(f);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_text(&f->tree, "to", "a file");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_UNWRITABLE);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_cache_unwritable], 1);
}

/* --- what goes wrong on the way -------------------------------------------------------- */

static void a_busy_server_is_asked_again(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "busy"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    assert_fetched(f, "app.pdb");
}

static void a_server_that_stays_busy_is_given_up(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, "down"), SYMBOL_FETCH_FAILED);
    assert_int_equal(http_server_requests(&f->server, ""), 3);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
    assert_int_equal(fetch(f, "down"), SYMBOL_FETCH_FAILED);
    assert_int_equal(http_server_requests(&f->server, ""), 3);
}

static void a_server_that_fails_again_and_again_is_given_up(void **state)
{
    fixture *const f = *state;
    const char *const url = http_server_url(&f->server, "moody");
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch_from(f, url, "app.pdb").state, SYMBOL_FETCH_DONE);
    assert_int_equal(fetch_from(f, url, "one.pdb").state, SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_download_failed], 1);
    assert_int_equal(fetch_from(f, url, "two.pdb").state, SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 0);
    assert_int_equal(fetch_from(f, url, "three.pdb").state, SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
    assert_int_equal(fetch_from(f, url, "four.pdb").state, SYMBOL_FETCH_FAILED);
    assert_int_equal(http_server_requests(&f->server, "four.pdb"), 0);
}

static void a_server_that_is_not_there_is_given_up(void **state)
{
    fixture *const f = *state;
    const symbol_download done = fetch_from(f, "http://127.0.0.1:9/symbols", "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_FAILED);
    assert_true(done.message[0] != 0);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
}

/* A download that breaks off in the middle is resumed there. */
static void assert_resumed(fixture *f, const char *mode, const char *range)
{
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, mode), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    assert_int_equal(http_server_requests(&f->server, range), 1);
}

static void a_download_that_is_cut_off_is_resumed(void **state)
{
    assert_resumed(*state, "cut", " bytes=1500- ");
}

static void a_download_that_stalls_is_resumed(void **state)
{
    assert_resumed(*state, "stall", " bytes=1500- ");
}

static void a_server_without_parts_sends_all_again(void **state)
{
    assert_resumed(*state, "cutwhole", " bytes=1500- ");
}

static void a_part_of_an_earlier_run_is_resumed(void **state)
{
    fixture *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_write(&f->tree, "to/app.pdb.new", (etl_bytes){ content.at, 1000 });
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, " bytes=1000- "), 1);
    hand_free(&content);
}

static void a_part_that_is_the_whole_is_only_renamed(void **state)
{
    fixture *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_write(&f->tree, "to/app.pdb.new", hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 1);
    hand_free(&content);
}

static void a_part_longer_than_the_file_is_begun_anew(void **state)
{
    fixture *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 4000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_write(&f->tree, "to/app.pdb.new", hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    hand_free(&content);
}

static void another_part_than_asked_for_is_not_taken(void **state)
{
    fixture *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_write(&f->tree, "to/app.pdb.new", (etl_bytes){ content.at, 1000 });
    assert_int_equal(fetch(f, "odd"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    hand_free(&content);
}

static void a_page_does_not_cost_the_part_we_have(void **state)
{
    fixture *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    symbol_tree_write(&f->tree, "to/app.pdb.new", (etl_bytes){ content.at, 1000 });
    assert_int_equal(fetch(f, "login"), SYMBOL_FETCH_REJECTED);
    assert_true(symbol_tree_exists(&f->tree, "to/app.pdb.new"));
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, " bytes=1000- "), 2);
    hand_free(&content);
}

/* --- stopping ---------------------------------------------------------------- */

static bool stop_at_once(void *user, const symbol_progress *progress)
{
    u32 *const calls = user;
    (*calls)++;
    assert_int_equal(progress->files_total, 1);
    return false;
}

static void a_run_can_be_cancelled_and_resumed(void **state)
{
    fixture *const f = *state;
    u32 calls = 0;
    etl_error error;
    symbol_download download = { .server = http_server_url(&f->server, "stall"),
                                 .name = "app.pdb",
                                 .key = KEY,
                                 .folder = symbol_tree_path(&f->tree, "to") };
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.progress = stop_at_once;
    f->options.progress_user = &calls;
    assert_int_equal(symbol_fetch_open(&f->options, &f->fetch, NULL), ETL_OK);
    assert_int_equal(symbol_fetch_run(f->fetch, &download, 1, &f->diag, &error), ETL_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(download.state, SYMBOL_FETCH_FAILED);
    symbol_fetch_close(f->fetch);
    f->fetch = NULL;
    f->options.progress = NULL;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
}

typedef struct seen_progress {
    u32 calls;
    u64 bytes_max;
    bool was_named;
} seen_progress;

static bool watch(void *user, const symbol_progress *progress)
{
    seen_progress *const seen = user;
    seen->calls++;
    if (progress->bytes_done > seen->bytes_max)
        seen->bytes_max = progress->bytes_done;
    seen->was_named |= strcmp(progress->current, "app.pdb") == 0;
    return progress->files_done <= progress->files_total;
}

static void progress_is_told(void **state)
{
    fixture *const f = *state;
    seen_progress seen = { 0 };
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.progress = watch;
    f->options.progress_user = &seen;
    assert_int_equal(fetch(f, "slow"), SYMBOL_FETCH_DONE);
    assert_true(seen.calls >= 2);
    assert_true(seen.was_named);
    assert_true(seen.bytes_max == 3000);
}

static void credentials_go_to_their_server_and_nowhere_else(void **state)
{
    fixture *const f = *state;
    char url[TREE_PATH_SIZE];
    serve(f, "app.pdb/" KEY "/app.pdb");
    snprintf(url, sizeof url, "http://user:secret@127.0.0.1:%u/basic", f->server.port);
    const symbol_download done = fetch_from(f, url, "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_DONE);
    assert_int_equal(fetch(f, "basic"), SYMBOL_FETCH_DENIED);
    assert_int_equal(http_server_requests(&f->server, "Basic_dXNlcjpzZWNyZXQ="), 1);
}

static void an_access_token_stays_behind_the_path(void **state)
{
    fixture *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "token/?sig=abc"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(fetch(f, "token"), SYMBOL_FETCH_DENIED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_fetched_in_one_request),
        TEST(a_file_of_unknown_length_is_fetched),
        TEST(names_are_escaped),
        TEST(the_compressed_form_is_asked_for_next),
        TEST(a_pointer_is_asked_for_last),
        TEST(a_two_tier_server_is_found_out_once),
        TEST(a_redirect_is_followed),
        TEST(files_are_fetched_side_by_side_up_to_the_limit),
        TEST(a_missing_file_is_asked_for_once_a_run),
        TEST(a_server_that_wants_a_login_is_named),
        TEST(a_page_in_place_of_a_file_is_thrown_away),
        TEST(what_is_no_symbol_file_is_thrown_away),
        TEST(redirects_lead_nowhere_else),
        TEST(a_file_above_the_limit_is_not_fetched),
        TEST(a_folder_that_cannot_be_made_is_named),
        TEST(a_busy_server_is_asked_again),
        TEST(a_server_that_stays_busy_is_given_up),
        TEST(a_server_that_fails_again_and_again_is_given_up),
        TEST(a_server_that_is_not_there_is_given_up),
        TEST(a_download_that_is_cut_off_is_resumed),
        TEST(a_download_that_stalls_is_resumed),
        TEST(a_server_without_parts_sends_all_again),
        TEST(a_part_of_an_earlier_run_is_resumed),
        TEST(a_part_that_is_the_whole_is_only_renamed),
        TEST(a_part_longer_than_the_file_is_begun_anew),
        TEST(another_part_than_asked_for_is_not_taken),
        TEST(a_page_does_not_cost_the_part_we_have),
        TEST(a_run_can_be_cancelled_and_resumed),
        TEST(progress_is_told),
        TEST(credentials_go_to_their_server_and_nowhere_else),
        TEST(an_access_token_stays_behind_the_path),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
