/*
 * Goal: a URL is taken apart as a form has it, and only pages of this server may ask.
 * Method: URLs and headers as browsers and others send them, each with the parts or the verdict
 * that the URL standard (application/x-www-form-urlencoded) and server.h give it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/view/http_request.h"

#include <stdlib.h>

static const char secret[] = "0123456789abcdef0123456789abcdef";

static void parts_of_a_url(void **state)
{
    view_url url;
    (void)state;
    assert_int_equal(
        view_url_read("/T/api/report?from=5s&churn=&kind=a%2Cb+c&tab=x%20y&part=p&flag", &url),
        200);
    assert_string_equal(url.token, "T");
    assert_string_equal(url.path, "api/report");
    assert_int_equal(url.pair_count, 4);
    assert_string_equal(url.pairs[0].name, "from");
    assert_string_equal(url.pairs[0].value, "5s");
    assert_string_equal(url.pairs[1].value, "");
    assert_string_equal(url.pairs[2].value, "a,b c");
    assert_string_equal(url.pairs[3].name, "flag");
    assert_string_equal(url.pairs[3].value, "");
    assert_string_equal(url.tab, "x y");
    assert_string_equal(url.part, "p");
    view_url_free(&url);
}

/* A path is compared as it was sent, a value may have any byte but NUL. */
static void odd_urls(void **state)
{
    static const struct {
        const char *raw, *token, *path;
        unsigned status;
        u32 pairs;
    } rows[] = {
        { "/", "", "", 200, 0 },
        { "/T", "", "", 200, 0 },
        { "/T/", "T", "", 200, 0 },
        { "//api", "", "api", 200, 0 },
        { "/T/%2e%2e/x", "T", "%2e%2e/x", 200, 0 },
        { "/T/a?b?c=d/e", "T", "a", 200, 1 },
        { "/T/?&&=&", "T", "", 200, 1 },
        { "/T/?a=%C3%A9%0A%ff", "T", "", 200, 1 },
        { "", "", "", 400, 0 },
        { "http://127.0.0.1/T/", "", "", 400, 0 },
        { "/T/?a=%", "T", "", 400, 0 },
        { "/T/?a=%4", "T", "", 400, 0 },
        { "/T/?a=%g0", "T", "", 400, 0 },
        { "/T/?a%00b", "T", "", 400, 0 },
        { "/T/?a=%00", "T", "", 400, 0 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        view_url url;
        assert_int_equal(view_url_read(rows[i].raw, &url), rows[i].status);
        if (rows[i].status == 200) {
            assert_string_equal(url.token, rows[i].token);
            assert_string_equal(url.path, rows[i].path);
            assert_int_equal(url.pair_count, rows[i].pairs);
        }
        view_url_free(&url);
    }
}

static unsigned status_of(const char *piece, u32 count)
{
    const size_t size = strlen(piece);
    char *const raw = malloc(4 + size * count + 1);
    view_url url;
    assert_non_null(raw);
    memcpy(raw, "/T/?", 5);
    for (u32 i = 0; i < count; i++)
        memcpy(raw + 4 + i * size, piece, size + 1);
    const unsigned status = view_url_read(raw, &url);
    view_url_free(&url);
    free(raw);
    return status;
}

static void limits(void **state)
{
    (void)state;
    assert_int_equal(status_of("&a=1", VIEW_PAIRS_MAX), 200);
    assert_int_equal(status_of("&a=1", VIEW_PAIRS_MAX + 1), 400);
    assert_int_equal(status_of("a", VIEW_URL_MAX - 4), 200);
    assert_int_equal(status_of("a", VIEW_URL_MAX - 3), 414);
}

static void tokens(void **state)
{
    char other[] = "0123456789abcdef0123456789abcdef0";
    (void)state;
    assert_false(view_token_is(secret, other));
    other[VIEW_TOKEN_DIGITS] = '\0';
    assert_true(view_token_is(secret, other));
    for (size_t i = 0; i < VIEW_TOKEN_DIGITS; i++) {
        const char was = other[i];
        other[i] = 'x';
        assert_false(view_token_is(secret, other));
        other[i] = '\0';
        assert_false(view_token_is(secret, other));
        other[i] = was;
    }
}

static void own_and_other_pages(void **state)
{
    static const struct {
        view_headers headers;
        bool is_own;
    } rows[] = {
        { { "127.0.0.1:81", NULL, NULL, NULL, NULL }, true },
        { { "localhost:81", "http://localhost:81", "same-origin", NULL, NULL }, true },
        { { "[::1]:81", "http://[::1]:81", "none", NULL, NULL }, true },
        { { "127.0.0.1:81", "http://localhost:81", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", "http://127.0.0.1:811", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", "http://127.0.0.1", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", "null", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", "", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", "https://127.0.0.1:81", NULL, NULL, NULL }, false },
        { { "127.0.0.1:81", NULL, "cross-site", NULL, NULL }, false },
        { { "127.0.0.1:81", NULL, "same-site", NULL, NULL }, false },
        { { "127.0.0.1:81", NULL, "", NULL, NULL }, false },
        { { "127.0.0.1:81", NULL, "cross-site", "navigate", "document" }, true },
        { { "127.0.0.1:81", NULL, "same-site", "navigate", "document" }, true },
        { { "127.0.0.1:81", NULL, "cross-site", "navigate", "iframe" }, false },
        { { "127.0.0.1:81", NULL, "cross-site", "navigate", NULL }, false },
        { { "127.0.0.1:81", NULL, "cross-site", "no-cors", "document" }, false },
        { { "127.0.0.1:81", NULL, "same-origin", "cors", "empty" }, true },
        { { "127.0.0.1:81", "http://evil.example", "cross-site", "navigate", "document" }, false },
        { { "evil.example:81", NULL, "none", "navigate", "document" }, false },
        { { "127.0.0.1", NULL, NULL, NULL, NULL }, false },
        { { "127.0.0.1:8", NULL, NULL, NULL, NULL }, false },
        { { "127.0.0.1:811", NULL, NULL, NULL, NULL }, false },
        { { "192.0.2.7:81", NULL, NULL, NULL, NULL }, false },
        { { "evil.example:81", NULL, NULL, NULL, NULL }, false },
        { { "", NULL, NULL, NULL, NULL }, false },
        { { NULL, NULL, NULL, NULL, NULL }, false },
    };
    view_hosts hosts;
    (void)state;
    view_hosts_make("127.0.0.1", false, false, 81, &hosts);
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(view_headers_are_own(&hosts, &rows[i].headers), rows[i].is_own);
}

static bool is_own(const view_hosts *hosts, const char *host, const char *origin)
{
    const view_headers headers = { .host = host, .origin = origin };
    return view_headers_are_own(hosts, &headers);
}

/* A server on all addresses has many numbers, and no name that it could know. */
static void any_address(void **state)
{
    view_hosts hosts;
    (void)state;
    view_hosts_make("0.0.0.0", false, true, 80, &hosts);
    assert_true(is_own(&hosts, "192.0.2.7:80", NULL));
    assert_true(is_own(&hosts, "192.0.2.7", "http://192.0.2.7"));
    assert_true(is_own(&hosts, "[2001:db8::1]:80", NULL));
    assert_false(is_own(&hosts, "2001:db8::1:80", NULL));
    assert_false(is_own(&hosts, "[192.0.2.7:80", NULL));
    assert_false(is_own(&hosts, "evil.example:80", NULL));
    assert_false(is_own(&hosts, "192.0.2.7:8080", NULL));
    assert_false(is_own(&hosts, ":80", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_url),
        cmocka_unit_test(odd_urls),
        cmocka_unit_test(limits),
        cmocka_unit_test(tokens),
        cmocka_unit_test(own_and_other_pages),
        cmocka_unit_test(any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
