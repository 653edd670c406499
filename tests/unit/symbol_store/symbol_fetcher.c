/* symbol_fetcher.c - see symbol_fetcher.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "symbol_fetcher.h"

int symbol_fetcher_start(void **state)
{
    symbol_fetcher *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    symbol_tree_open(&f->tree);
    http_server_start(&f->server, &f->tree, NULL);
    *state = f;
    return 0;
}

int symbol_fetcher_stop(void **state)
{
    symbol_fetcher *const f = *state;
    http_server_stop(&f->server);
    symbol_tree_close(&f->tree);
    free(f);
    return 0;
}

int symbol_fetcher_set_up(void **state)
{
    symbol_fetcher *const f = *state;
    f->options =
        (symbol_fetch_options){ .retry_delay_ms = 10, .attempts_max = 3, .stall_timeout_s = 1 };
    symbol_tree_empty(&f->tree);
    return 0;
}

int symbol_fetcher_tear_down(void **state)
{
    symbol_fetcher *const f = *state;
    symbol_fetch_close(f->fetch);
    f->fetch = NULL;
    return 0;
}

symbol_download fetch_from(symbol_fetcher *f, const char *url, const char *name)
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

symbol_fetch_state fetch(symbol_fetcher *f, const char *mode)
{
    return fetch_from(f, http_server_url(&f->server, mode), "app.pdb").state;
}

void serve(const symbol_fetcher *f, const char *name)
{
    char path[TREE_PATH_SIZE + sizeof "server/"];
    snprintf(path, sizeof path, "server/%s", name);
    symbol_tree_symbol(&f->tree, path, KEY);
}

void assert_fetched(const symbol_fetcher *f, const char *name)
{
    char path[TREE_PATH_SIZE + sizeof "to/"];
    snprintf(path, sizeof path, "to/%s", name);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->tree, path), KEY));
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 1);
}

void assert_nothing_written(const symbol_fetcher *f)
{
    assert_int_equal(symbol_tree_count(&f->tree, "to", ""), 0);
}

void assert_resumed(symbol_fetcher *f, const char *mode, const char *range)
{
    serve(f, "app.pdb/" KEY "/app.pdb");
    assert_int_equal(fetch(f, mode), SYMBOL_FETCH_DONE);
    assert_fetched(f, "app.pdb");
    assert_int_equal(http_server_requests(&f->server, ""), 2);
    assert_int_equal(http_server_requests(&f->server, range), 1);
}
