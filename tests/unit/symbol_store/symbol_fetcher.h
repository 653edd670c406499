/*
 * symbol_fetcher.h - downloads from a local server that misbehaves on request, for the tests of
 * fetching. One server for all tests of a program; each finds it with nothing to serve and an empty
 * log. Waiting times are short.
 */
#ifndef TESTS_SYMBOL_FETCHER_H
#define TESTS_SYMBOL_FETCHER_H

#include "http_server.h"

/* The build that is wanted. */
#define KEY "1EB9FACB04C75D3CEA7160764CD333D0a"

typedef struct symbol_fetcher {
    symbol_tree tree;
    http_server server;
    symbol_fetch_options options;
    symbol_fetch *fetch;
    etl_diag_counts diag;
} symbol_fetcher;

/* Setup and teardown of cmocka: *state is a symbol_fetcher. The first two are of a group. */
int symbol_fetcher_start(void **state);
int symbol_fetcher_stop(void **state);
int symbol_fetcher_set_up(void **state);
int symbol_fetcher_tear_down(void **state);

#define FETCHER_TEST(name)                                                                         \
    cmocka_unit_test_setup_teardown(name, symbol_fetcher_set_up, symbol_fetcher_tear_down)

/* Fetches one file into the folder "to", and app.pdb from a mode of the server. */
symbol_download fetch_from(symbol_fetcher *f, const char *url, const char *name);
symbol_fetch_state fetch(symbol_fetcher *f, const char *mode);

/* The server has the file, of the wanted build. */
void serve(const symbol_fetcher *f, const char *name);

/* "to" holds this file alone, whole and under its name; or nothing. */
void assert_fetched(const symbol_fetcher *f, const char *name);
void assert_nothing_written(const symbol_fetcher *f);

/* A download that breaks off in the middle is resumed there. */
void assert_resumed(symbol_fetcher *f, const char *mode, const char *range);

#endif
