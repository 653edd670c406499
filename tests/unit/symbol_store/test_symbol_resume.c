/*
 * Goal: a download that broke off is resumed only with the answer that it is a part of, and a file
 * gets its name only when it is complete and accepted, so nothing mixed or cut stays in a cache.
 * Method: a local server that breaks off, replaces its file between two requests and lies
 * (http_symbol_server.py); parts of earlier runs, written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "symbol_fetcher.h"

/* --- resuming ------------------------------------------------------------------------------ */

/* A part that an earlier run received from a mode of the server, of a file with this content. */
static void leave_part(const symbol_fetcher *f, const char *mode, etl_bytes part, etl_bytes content)
{
    char text[TREE_PATH_SIZE];
    u64 sum = 0;
    for (size_t i = 0; i < content.size; i++)
        sum += content.at[i];
    snprintf(
        text, sizeof text, "etlheap-part 1\nurl %s/app.pdb/app.pdb\netag \"%llx-%zx\"\nbytes %zu\n",
        http_server_url(&f->server, mode), (unsigned long long)sum, content.size, content.size);
    symbol_tree_write(&f->tree, "to/app.pdb.new", part);
    symbol_tree_text(&f->tree, "to/app.pdb.new.from", text);
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
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    leave_part(f, "ok", (etl_bytes){ content.at, 1000 }, hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, " bytes=1000- "), 1);
    hand_free(&content);
}

static void a_part_that_is_the_whole_is_only_renamed(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    leave_part(f, "ok", hand_view(&content), hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 1);
    hand_free(&content);
}

static void a_part_longer_than_the_file_is_begun_anew(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    hand_bytes longer = symbol_tree_content(KEY, 4000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    leave_part(f, "ok", hand_view(&longer), hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    hand_free(&content);
    hand_free(&longer);
}

static void another_part_than_asked_for_is_not_taken(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    leave_part(f, "odd", (etl_bytes){ content.at, 1000 }, hand_view(&content));
    assert_int_equal(fetch(f, "odd"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, " bytes=1000- "), 1);
    hand_free(&content);
}

static void a_page_does_not_cost_the_part_we_have(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    leave_part(f, "ok", (etl_bytes){ content.at, 1000 }, hand_view(&content));
    assert_int_equal(fetch(f, "login"), SYMBOL_FETCH_REJECTED);
    assert_true(symbol_tree_exists(&f->tree, "to/app.pdb.new"));
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, " bytes=1000- "), 1);
    assert_fetched(f, "app.pdb");
    hand_free(&content);
}

/* --- what a part is a part of -------------------------------------------------------------- */

/* A server gives a file and, once it was asked, another one of the same size. */
static void serve_two(const symbol_fetcher *f, hand_bytes *other)
{
    serve(f, "app.pdb/" KEY "/app.pdb");
    *other = symbol_tree_content(KEY, 3000);
    for (size_t i = 100; i < other->size; i++)
        other->at[i] ^= 0xFF;
    symbol_tree_write(&f->tree, "server/app.pdb/" KEY "/app.pdb.other", hand_view(other));
}

/* The fetched file is the second one, from its first byte to its last. */
static void assert_not_mixed(symbol_fetcher *f, const char *mode)
{
    hand_bytes other;
    u8 fetched[4000];
    serve_two(f, &other);
    assert_int_equal(fetch(f, mode), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, " bytes=1500- "), 1);
    FILE *const file = fopen(symbol_tree_path(&f->tree, "to/app.pdb"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(fetched, 1, sizeof fetched, file), other.size);
    fclose(file);
    assert_memory_equal(fetched, other.at, other.size);
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 1);
    hand_free(&other);
}

static void a_file_that_was_replaced_is_fetched_whole(void **state)
{
    assert_not_mixed(*state, "swap");
}

static void the_rest_of_another_file_is_not_taken(void **state)
{
    assert_not_mixed(*state, "liar");
}

static void a_rest_that_does_not_say_of_what_is_not_taken(void **state)
{
    assert_not_mixed(*state, "quiet");
}

static void a_date_identifies_a_file_too(void **state)
{
    assert_resumed(*state, "dated", " bytes=1500- ");
}

/* Nothing says that a second answer is the same file, so it is asked for whole. */
static void assert_begun_anew(symbol_fetcher *f, const char *mode)
{
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, mode), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    assert_int_equal(http_server_requests(&f->server, " bytes="), 0);
}

static void a_part_of_an_unknown_file_is_not_resumed(void **state)
{
    assert_begun_anew(*state, "bare");
}

static void a_weak_tag_identifies_no_bytes(void **state)
{
    assert_begun_anew(*state, "weak");
}

/* Two servers of a path: one has private symbols under the name and key, the other does not. */
static void a_part_of_another_server_is_not_resumed(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    leave_part(f, "chunked", (etl_bytes){ content.at, 1000 }, hand_view(&content));
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, " bytes="), 0);
    assert_fetched(f, "app.pdb");
    hand_free(&content);
}

static void a_part_without_an_origin_is_not_resumed(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes content = symbol_tree_content(KEY, 3000);
    serve(f, "app.pdb/" KEY "/app.pdb");
    symbol_tree_write(&f->tree, "to/app.pdb.new", (etl_bytes){ content.at, 1000 });
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_int_equal(http_server_requests(&f->server, " bytes="), 0);
    assert_fetched(f, "app.pdb");
    hand_free(&content);
}

static void credentials_are_not_kept_with_a_part(void **state)
{
    symbol_fetcher *const f = *state;
    char url[TREE_PATH_SIZE], text[TREE_PATH_SIZE] = "";
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.attempts_max = 1;
    snprintf(url, sizeof url, "http://user:secret@127.0.0.1:%u/cut/?sig=abc", f->server.port);
    assert_int_equal(fetch_from(f, url, "app.pdb").state, SYMBOL_FETCH_FAILED);
    FILE *const file = fopen(symbol_tree_path(&f->tree, "to/app.pdb.new.from"), "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "/cut/app.pdb/app.pdb\n"));
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, "sig"));
}

/* --- what is complete ---------------------------------------------------------------------- */

/* Without a length, a broken connection looks like the end of the file. */
static void an_answer_without_an_end_must_be_as_long_as_it_says(void **state)
{
    symbol_fetcher *const f = *state;
    hand_bytes cabinet =
        symbol_tree_cabinet_bytes("app.pdb", (etl_bytes){ (const u8 *)"x", 1 }, CABINET_STORED);
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "closed"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(fetch(f, "closedwhole"), SYMBOL_FETCH_REJECTED); /* it does not say */
    assert_nothing_written(f);
    symbol_tree_empty(&f->tree);
    symbol_tree_write(&f->tree, "server/app.pdb/" KEY "/app.pd_", hand_view(&cabinet));
    assert_int_equal(fetch(f, "closed"), SYMBOL_FETCH_REJECTED);
    assert_int_equal(fetch(f, "closedwhole"), SYMBOL_FETCH_COMPRESSED);
    hand_free(&cabinet);
}

typedef struct asked_file {
    const symbol_fetcher *f;
    bool accepts, had_name;
    u32 calls;
} asked_file;

static bool accept_file(void *user, const symbol_download *download, const char *file)
{
    asked_file *const asked = user;
    asked->calls++;
    asked->had_name |= symbol_tree_exists(&asked->f->tree, "to/app.pdb");
    assert_string_equal(download->name, "app.pdb");
    assert_true(symbol_tree_is_symbol(file, KEY));
    return asked->accepts;
}

static void a_file_has_its_name_only_when_it_is_accepted(void **state)
{
    symbol_fetcher *const f = *state;
    asked_file asked = { .f = f };
    serve(f, "app.pdb/" KEY "/app.pdb");
    f->options.accept = accept_file;
    f->options.accept_user = &asked;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_REFUSED);
    assert_nothing_written(f);
    asked.accepts = true;
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(asked.calls, 2);
    assert_false(asked.had_name);
}

static void a_header_line_of_megabytes_ends_one_server(void **state)
{
    symbol_fetcher *const f = *state;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, "longline"), SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 1);
    assert_nothing_written(f);
    assert_int_equal(fetch(f, "ok"), SYMBOL_FETCH_DONE);
}

/* A limit on the size of files stands for a disk that is full. */
static void a_full_disk_keeps_no_part(void **state)
{
    symbol_fetcher *const f = *state;
    struct rlimit before, full;
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    full = before;
    full.rlim_cur = 2000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    const symbol_fetch_state fetched = fetch(f, "ok");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(fetched, SYMBOL_FETCH_UNWRITABLE);
    assert_nothing_written(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FETCHER_TEST(a_download_that_is_cut_off_is_resumed),
        FETCHER_TEST(a_download_that_stalls_is_resumed),
        FETCHER_TEST(a_server_without_parts_sends_all_again),
        FETCHER_TEST(a_part_of_an_earlier_run_is_resumed),
        FETCHER_TEST(a_part_that_is_the_whole_is_only_renamed),
        FETCHER_TEST(a_part_longer_than_the_file_is_begun_anew),
        FETCHER_TEST(another_part_than_asked_for_is_not_taken),
        FETCHER_TEST(a_page_does_not_cost_the_part_we_have),
        FETCHER_TEST(a_file_that_was_replaced_is_fetched_whole),
        FETCHER_TEST(the_rest_of_another_file_is_not_taken),
        FETCHER_TEST(a_rest_that_does_not_say_of_what_is_not_taken),
        FETCHER_TEST(a_date_identifies_a_file_too),
        FETCHER_TEST(a_part_of_an_unknown_file_is_not_resumed),
        FETCHER_TEST(a_weak_tag_identifies_no_bytes),
        FETCHER_TEST(a_part_of_another_server_is_not_resumed),
        FETCHER_TEST(a_part_without_an_origin_is_not_resumed),
        FETCHER_TEST(credentials_are_not_kept_with_a_part),
        FETCHER_TEST(an_answer_without_an_end_must_be_as_long_as_it_says),
        FETCHER_TEST(a_file_has_its_name_only_when_it_is_accepted),
        FETCHER_TEST(a_header_line_of_megabytes_ends_one_server),
        FETCHER_TEST(a_full_disk_keeps_no_part),
    };
    return cmocka_run_group_tests(tests, symbol_fetcher_start, symbol_fetcher_stop);
}
