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

#include "symbol_fetcher.h"

/* --- what goes well --------------------------------------------------------------- */

static void a_file_is_fetched_in_one_request(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 1);
    assert_int_equal(http_server_requests(&f->server, " etlheap/" ETLHEAP_VERSION), 1);
}

static void a_file_of_unknown_length_is_fetched(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "chunked"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
}

static void names_are_escaped(void **state)
{
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    symbol_tree_cabinet(&f->tree, "server/app.pdb/" KEY "/app.pd_", "app.pdb", KEY);
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_COMPRESSED);
    assert_true(symbol_tree_exists(&f->tree, "to/app.pd_"));
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 1);
    assert_int_equal(http_server_requests(&f->server, ""), 2);
}

static void a_pointer_is_asked_for_last(void **state)
{
    symbol_fetcher *const f = *state;
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/file.ptr", "PATH:\\\\share\\app.pdb");
    const symbol_download done = fetch_from(f, http_server_url(&f->server, "ok"), "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_POINTER);
    assert_string_equal(done.pointer, "PATH:\\\\share\\app.pdb");
    assert_nothing_written(f);
}

static void a_two_tier_server_is_found_out_once(void **state)
{
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "redirect"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
}

static void files_are_fetched_side_by_side_up_to_the_limit(void **state)
{
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_MISSING);
    assert_int_equal(http_server_requests(&f->server, ""), 4);
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_MISSING);
    assert_int_equal(http_server_requests(&f->server, ""), 4);
    assert_nothing_written(f);
    assert_false(symbol_tree_exists(&f->tree, "to"));
}

static void a_server_that_wants_a_login_is_named(void **state)
{
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    assert_int_equal(fetch(f, "login"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_answer_rejected], 1);
    const symbol_download done = fetch_from(f, http_server_url(&f->server, "page"), "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_REJECTED);
    assert_non_null(strstr(done.message, "login"));
    assert_nothing_written(f);
}

static void what_is_no_symbol_file_is_thrown_away(void **state)
{
    symbol_fetcher *const f = *state;
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/app.pdb",
                     "plain text of some length, no PDB");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_REJECTED);
    symbol_tree_text(&f->tree, "server/app.pdb/" KEY "/app.pdb", "");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_REJECTED);
    assert_nothing_written(f);
}

static void redirects_lead_nowhere_else(void **state)
{
    symbol_fetcher *const f = *state;
    assert_int_equal(fetch(f, "tofile"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_redirect_refused], 1);
    assert_int_equal(fetch(f, "loop"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_redirect_refused], 1);
    assert_nothing_written(f);
}

static void a_file_above_the_limit_is_not_fetched(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.file_bytes_max = 2999;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_TOO_LARGE);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_too_large], 1);
    assert_int_equal(fetch(f, "chunked"), SYMBOL_FETCH_TOO_LARGE);
    assert_int_equal(fetch(f, "huge"), SYMBOL_FETCH_TOO_LARGE);
    assert_nothing_written(f);
}

static void a_slow_server_is_told_from_one_that_is_not_there(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.file_ms_max = 300;
    assert_int_equal(fetch(f, "stall"), SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_too_slow], 1);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 0);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_text(&f->tree, "to", "a file");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_UNWRITABLE);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_cache_unwritable], 1);
}

/* --- what goes wrong on the way -------------------------------------------------------- */

static void a_busy_server_is_asked_again(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "busy"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    assert_fetched(f, "app.pdb");
}

static void a_server_that_stays_busy_is_given_up(void **state)
{
    symbol_fetcher *const f = *state;
    assert_int_equal(fetch(f, "down"), SYMBOL_FETCH_FAILED);
    assert_int_equal(http_server_requests(&f->server, ""), 3);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
    assert_int_equal(fetch(f, "down"), SYMBOL_FETCH_FAILED);
    assert_int_equal(http_server_requests(&f->server, ""), 3);
}

static void a_server_that_fails_again_and_again_is_given_up(void **state)
{
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    const symbol_download done = fetch_from(f, "http://127.0.0.1:9/symbols", "app.pdb");
    assert_int_equal(done.state, SYMBOL_FETCH_FAILED);
    assert_true(done.message[0] != 0);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
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
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
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
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "token/?sig=abc"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(fetch(f, "token"), SYMBOL_FETCH_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FETCHER_TEST(a_file_is_fetched_in_one_request),
        FETCHER_TEST(a_file_of_unknown_length_is_fetched),
        FETCHER_TEST(names_are_escaped),
        FETCHER_TEST(the_compressed_form_is_asked_for_next),
        FETCHER_TEST(a_pointer_is_asked_for_last),
        FETCHER_TEST(a_two_tier_server_is_found_out_once),
        FETCHER_TEST(a_redirect_is_followed),
        FETCHER_TEST(files_are_fetched_side_by_side_up_to_the_limit),
        FETCHER_TEST(a_missing_file_is_asked_for_once_a_run),
        FETCHER_TEST(a_server_that_wants_a_login_is_named),
        FETCHER_TEST(a_page_in_place_of_a_file_is_thrown_away),
        FETCHER_TEST(what_is_no_symbol_file_is_thrown_away),
        FETCHER_TEST(redirects_lead_nowhere_else),
        FETCHER_TEST(a_file_above_the_limit_is_not_fetched),
        FETCHER_TEST(a_slow_server_is_told_from_one_that_is_not_there),
        FETCHER_TEST(a_folder_that_cannot_be_made_is_named),
        FETCHER_TEST(a_busy_server_is_asked_again),
        FETCHER_TEST(a_server_that_stays_busy_is_given_up),
        FETCHER_TEST(a_server_that_fails_again_and_again_is_given_up),
        FETCHER_TEST(a_server_that_is_not_there_is_given_up),
        FETCHER_TEST(a_run_can_be_cancelled_and_resumed),
        FETCHER_TEST(progress_is_told),
        FETCHER_TEST(credentials_go_to_their_server_and_nowhere_else),
        FETCHER_TEST(an_access_token_stays_behind_the_path),
    };
    return cmocka_run_group_tests(tests, symbol_fetcher_start, symbol_fetcher_stop);
}
