/*
 * Goal: what is asked for over TLS comes from whom it should, and is not answered
 * in the clear.
 * Method: a local server with a certificate made for the test by openssl, next to
 * one without TLS, and redirects from each to the other.
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
    http_server secure;
    http_server plain;
    symbol_fetch_options options;
    symbol_fetch *fetch;
    etl_diag_counts diag;
    char certificate[TREE_PATH_SIZE];
} fixture;

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    char command[5 * TREE_PATH_SIZE];
    if (!f)
        return -1;
    symbol_tree_open(&f->tree);
    snprintf(f->certificate, sizeof f->certificate, "%s",
             symbol_tree_path(&f->tree, "certificate.pem"));
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=127.0.0.1 "
             "-addext subjectAltName=IP:127.0.0.1 -keyout '%s' -out '%s.crt' 2> /dev/null && "
             "cat '%s.crt' >> '%s'",
             f->certificate, f->certificate, f->certificate, f->certificate);
    if (system(command) != 0)
        return -1;
    symbol_tree_symbol(&f->tree, "server/app.pdb/" KEY "/app.pdb", KEY);
    http_server_start(&f->secure, &f->tree, f->certificate);
    http_server_start(&f->plain, &f->tree, NULL);
    f->options = (symbol_fetch_options){ .retry_delay_ms = 10,
                                         .attempts_max = 2,
                                         .authority_file = f->certificate };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    symbol_fetch_close(f->fetch);
    http_server_stop(&f->secure);
    http_server_stop(&f->plain);
    symbol_tree_close(&f->tree);
    free(f);
    return 0;
}

static symbol_fetch_state fetch(fixture *f, const char *url)
{
    symbol_download download = {
        .server = url, .name = "app.pdb", .key = KEY, .folder = symbol_tree_path(&f->tree, "to")
    };
    assert_int_equal(symbol_fetch_open(&f->options, &f->fetch, NULL), ETL_OK);
    assert_int_equal(symbol_fetch_run(f->fetch, &download, 1, &f->diag, NULL), ETL_OK);
    return download.state;
}

/* URL of a server's mode that redirects to the other server. */
static const char *redirect(const http_server *from, const char *scheme, const http_server *to)
{
    char mode[64];
    snprintf(mode, sizeof mode, "%s/%u", scheme, to->port);
    return http_server_url(from, mode);
}

static void a_trusted_server_is_believed(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, http_server_url(&f->secure, "ok")), SYMBOL_FETCH_DONE);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->tree, "to/app.pdb"), KEY));
}

static void an_unknown_certificate_is_refused_at_once(void **state)
{
    fixture *const f = *state;
    f->options.authority_file = NULL;
    assert_int_equal(fetch(f, http_server_url(&f->secure, "ok")), SYMBOL_FETCH_FAILED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_untrusted], 1);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_server_unreachable], 0);
    assert_int_equal(http_server_requests(&f->secure, ""), 0);
    assert_false(symbol_tree_exists(&f->tree, "to"));
}

static void a_redirect_from_tls_into_the_clear_is_refused(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, redirect(&f->secure, "http", &f->plain)), SYMBOL_FETCH_REJECTED);
    assert_int_equal(f->diag.of[ETL_DIAG_symbol_redirect_refused], 1);
    assert_int_equal(http_server_requests(&f->plain, " /ok/"), 0);
    assert_false(symbol_tree_exists(&f->tree, "to"));
}

static void a_redirect_into_tls_is_followed(void **state)
{
    fixture *const f = *state;
    assert_int_equal(fetch(f, redirect(&f->plain, "https", &f->secure)), SYMBOL_FETCH_DONE);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(&f->tree, "to/app.pdb"), KEY));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_trusted_server_is_believed),
        TEST(an_unknown_certificate_is_refused_at_once),
        TEST(a_redirect_from_tls_into_the_clear_is_refused),
        TEST(a_redirect_into_tls_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
