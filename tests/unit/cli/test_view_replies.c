/*
 * Goal: each reply has the headers that keep other pages away and its body as it is, and errors are
 * JSON whatever a client sent.
 * Method: functions that note what the HTTP library is told, and refuse when asked to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/view/replies.h"

#include <stdio.h>

/* What the library was told of the one response. */
static struct {
    char headers[2048];
    const void *body;
    size_t size;
    unsigned status;
    u32 made, freed;
    u32 headers_left; /* later ones are refused */
    enum MHD_ResponseMemoryMode mode;
} told;

static struct MHD_Response *create(size_t size, void *body, enum MHD_ResponseMemoryMode mode)
{
    told.size = size;
    told.body = body;
    told.mode = mode;
    told.made++;
    return (struct MHD_Response *)&told;
}

static enum MHD_Result add_header(struct MHD_Response *response, const char *name,
                                  const char *value)
{
    const size_t size = strlen(told.headers);
    assert_ptr_equal(response, &told);
    if (told.headers_left == 0)
        return MHD_NO;
    told.headers_left--;
    (void)snprintf(told.headers + size, sizeof told.headers - size, "%s: %s\n", name, value);
    return MHD_YES;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
    assert_null(connection);
    assert_ptr_equal(response, &told);
    told.status = status;
    return MHD_YES;
}

static void destroy(struct MHD_Response *response)
{
    assert_ptr_equal(response, &told);
    told.freed++;
}

static const view_http http = { .create_response_from_buffer = create,
                                .add_response_header = add_header,
                                .queue_response = queue,
                                .destroy_response = destroy };

static enum MHD_Result send_reply(const view_reply *reply, u32 headers_max)
{
    memset(&told, 0, sizeof told);
    told.headers_left = headers_max;
    const enum MHD_Result sent = view_reply_send(&http, NULL, reply);
    assert_int_equal(told.made, told.freed);
    return sent;
}

static bool has(const char *header)
{
    return strstr(told.headers, header) != NULL;
}

static void has_safe_headers(void)
{
    assert_true(has("Content-Security-Policy: default-src 'none'; "));
    assert_true(has("frame-ancestors 'none'"));
    assert_false(has("unsafe"));
    assert_true(has("X-Content-Type-Options: nosniff\n"));
    assert_true(has("Referrer-Policy: no-referrer\n"));
    assert_true(has("Cache-Control: no-store\n"));
    assert_true(has("Cross-Origin-Resource-Policy: same-origin\n"));
    assert_true(has("Cross-Origin-Opener-Policy: same-origin\n"));
    assert_true(has("X-Frame-Options: DENY\n"));
}

static void an_answer_goes_out_as_it_is(void **state)
{
    const char body[] = "a\0b";
    const view_reply reply = {
        .status = 200, .content_type = "application/json", .body = body, .size = 3
    };
    (void)state;
    assert_int_equal(send_reply(&reply, 99), MHD_YES);
    assert_int_equal(told.status, 200);
    assert_ptr_equal(told.body, body);
    assert_int_equal(told.size, 3);
    assert_int_equal(told.mode, MHD_RESPMEM_PERSISTENT);
    has_safe_headers();
    assert_true(has("Content-Type: application/json\n"));
    assert_false(has("Connection"));
    assert_false(has("Content-Disposition"));
    assert_false(has("Etlheap-Symbols-Pending"));
}

static void further_headers(void **state)
{
    const view_reply reply = { .status = 200,
                               .content_type = "text/csv",
                               .body = "",
                               .is_download = true,
                               .symbols_pending = true };
    (void)state;
    assert_int_equal(send_reply(&reply, 99), MHD_YES);
    has_safe_headers();
    assert_true(has("Content-Disposition: attachment\n"));
    assert_true(has("Etlheap-Symbols-Pending: 1\n"));
}

static void refusals_close_and_say_little(void **state)
{
    static const unsigned statuses[] = { 400, 403, 404, 405, 414, 503 };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(statuses); i++) {
        const view_reply reply = view_reply_refuse(statuses[i]);
        assert_int_equal(send_reply(&reply, 99), MHD_YES);
        assert_int_equal(told.status, statuses[i]);
        has_safe_headers();
        assert_true(has("Connection: close\n"));
        assert_int_equal(has("Allow: GET\n"), statuses[i] == 405);
        assert_in_range(told.size, 1, 32);
    }
}

/* Without memory for each header nothing is sent, rather than less than all. */
static void no_reply_lacks_a_header(void **state)
{
    const view_reply reply = view_reply_refuse(403);
    u32 refused = 0;
    (void)state;
    while (send_reply(&reply, refused) == MHD_NO) {
        assert_int_equal(told.status, 0);
        refused++;
    }
    assert_in_range(refused, 8, 20);
}

static void outcomes_have_statuses(void **state)
{
    (void)state;
    assert_int_equal(view_reply_status(VIEW_ANSWERED), 200);
    assert_int_equal(view_reply_status(VIEW_WRONG), 400);
    assert_int_equal(view_reply_status(VIEW_UNKNOWN), 404);
    assert_int_equal(view_reply_status(VIEW_FAILED), 422);
    assert_int_equal(view_reply_status(VIEW_NOT_READY), 503);
    assert_int_equal(view_reply_status(VIEW_CANCELLED), 409);
}

static void errors_are_json(void **state)
{
    static const struct {
        const char *message, *wanted;
    } rows[] = {
        { "no\n\n", "{\"error\":\"no\",\"exit_status\":3}\n" },
        { "", "{\"error\":\"\",\"exit_status\":3}\n" },
        { "two\nlines", "{\"error\":\"two\\nlines\",\"exit_status\":3}\n" },
        { "\"C:\\x\"", "{\"error\":\"\\\"C:\\\\x\\\"\",\"exit_status\":3}\n" },
        { "\xc3\xa9", "{\"error\":\"\xc3\xa9\",\"exit_status\":3}\n" },
        { "a\xff\"b\x01\x7f", "{\"error\":\"a\xef\xbf\xbd\\\"b\xef\xbf\xbd\xef\xbf\xbd\","
                              "\"exit_status\":3}\n" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { .bytes = NULL };
        assert_true(view_reply_error(rows[i].message, 3, &text));
        assert_int_equal(text.size, strlen(rows[i].wanted));
        assert_memory_equal(text.bytes, rows[i].wanted, text.size);
        etlheap_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_goes_out_as_it_is),   cmocka_unit_test(further_headers),
        cmocka_unit_test(refusals_close_and_say_little), cmocka_unit_test(no_reply_lacks_a_header),
        cmocka_unit_test(outcomes_have_statuses),        cmocka_unit_test(errors_are_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
