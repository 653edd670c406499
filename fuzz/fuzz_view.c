/*
 * fuzz_view.c - a request to the server of `etlheap view`: the first line is the URL, the next ones
 * are Host, Origin, Sec-Fetch-Site, Sec-Fetch-Mode and Sec-Fetch-Dest. A missing line is a missing
 * header; a line "?" is one, too.
 *
 * What is read, written again with every byte escaped, must be read as the same. A request that may
 * ask must have a Host that is on the list, written here in another way than in the server.
 */
#include "cli/view/http_request.h"
#include "cli/view/replies.h"
#include "formats/io/units.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#define PORT  8080
#define LINES 6

static const char secret[] = "0123456789abcdef0123456789abcdef";

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_inside(const view_url *url, const char *text)
{
    return text[0] == '\0' || (text >= url->text && text <= url->text + VIEW_URL_MAX);
}

static void check_url(const view_url *url)
{
    require(url->pair_count <= VIEW_PAIRS_MAX);
    require(strlen(url->tab) <= VIEW_LABEL_MAX && strlen(url->part) <= VIEW_LABEL_MAX);
    require(is_inside(url, url->token) && is_inside(url, url->path));
    require(is_inside(url, url->tab) && is_inside(url, url->part));
    require(strchr(url->token, '/') == NULL && strchr(url->path, '?') == NULL);
    for (u32 i = 0; i < url->pair_count; i++)
        require(is_inside(url, url->pairs[i].name) && is_inside(url, url->pairs[i].value));
    require(view_token_is(secret, url->token) == (strcmp(secret, url->token) == 0));
}

/* Every byte as %XX, which no reader can misunderstand. */
static void write_escaped(const char *text, etlheap_sink *sink)
{
    for (; *text != '\0'; text++)
        etlheap_sink_format(sink, "%%%02X", (unsigned)(unsigned char)*text);
}

static void write_pair(const view_pair *pair, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "&");
    write_escaped(pair->name, sink);
    etlheap_sink_text(sink, "=");
    write_escaped(pair->value, sink);
}

static void write_url(const view_url *url, etlheap_text *out)
{
    etlheap_sink *sink = NULL;
    require(etlheap_sink_open_text(out, &sink, NULL) == ETL_OK);
    etlheap_sink_format(sink, "/%s/%s?", url->token, url->path);
    for (u32 i = 0; i < url->pair_count; i++)
        write_pair(&url->pairs[i], sink);
    write_pair(&(view_pair){ "tab", url->tab }, sink);
    write_pair(&(view_pair){ "part", url->part }, sink);
    require(etlheap_sink_close(sink, NULL) == ETL_OK);
}

static void check_again(const view_url *url)
{
    etlheap_text text = { .bytes = NULL };
    view_url again;
    write_url(url, &text);
    if (text.size <= VIEW_URL_MAX) {
        require(view_url_read(text.bytes, &again) == 200);
        require(strcmp(again.token, url->token) == 0 && strcmp(again.path, url->path) == 0);
        require(strcmp(again.tab, url->tab) == 0 && strcmp(again.part, url->part) == 0);
        require(again.pair_count == url->pair_count);
        for (u32 i = 0; i < url->pair_count; i++)
            require(strcmp(again.pairs[i].name, url->pairs[i].name) == 0 &&
                    strcmp(again.pairs[i].value, url->pairs[i].value) == 0);
        view_url_free(&again);
    }
    etlheap_text_free(&text);
}

static void read_url(const char *raw)
{
    view_url url;
    const unsigned status = view_url_read(raw, &url);
    require(status == 200 || status == 400 || status == 414);
    if (status == 200) {
        check_url(&url);
        check_again(&url);
    }
    view_url_free(&url);
}

static bool is(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

/* A number with the port, which no name server can give to another machine. */
static bool looks_numeric(const char *host)
{
    return strspn(host, "0123456789abcdefABCDEF.:[]") == strlen(host);
}

static void check_headers(const view_headers *given, bool any_address)
{
    view_hosts hosts;
    char origin[256];
    view_hosts_make(any_address ? "::" : "127.0.0.1", any_address, any_address, PORT, &hosts);
    if (!view_headers_are_own(&hosts, given))
        return;
    require(is(given->host, "127.0.0.1:8080") || is(given->host, "localhost:8080") ||
            is(given->host, "[::1]:8080") || (any_address && looks_numeric(given->host)));
    (void)snprintf(origin, sizeof origin, "http://%s", given->host);
    require(!given->origin || is(given->origin, origin));
    require(!given->fetch_site || is(given->fetch_site, "same-origin") ||
            is(given->fetch_site, "none") ||
            (is(given->fetch_mode, "navigate") && is(given->fetch_dest, "document")));
}

static bool is_utf8(const char *text, size_t size)
{
    while (size > 0) {
        const size_t length = etlheap_units_utf8_length(text, size);
        if (length == 0)
            return false;
        text += length;
        size -= length;
    }
    return true;
}

/* What a client sent comes back in errors. */
static void check_error(const char *message)
{
    etlheap_text text = { .bytes = NULL };
    require(view_reply_error(message, 2, &text));
    require(is_utf8(text.bytes, text.size));
    for (size_t i = 0; i + 1 < text.size; i++)
        require((unsigned char)text.bytes[i] >= ' ');
    etlheap_text_free(&text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char *const text = calloc(size + 1, 1);
    const char *lines[LINES] = { NULL };
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    char *next = text;
    for (u32 i = 0; i < LINES && next; i++) {
        char *const end = strchr(next, '\n');
        lines[i] = next;
        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
    }
    const view_headers headers = { .host = is(lines[1], "?") ? NULL : lines[1],
                                   .origin = is(lines[2], "?") ? NULL : lines[2],
                                   .fetch_site = is(lines[3], "?") ? NULL : lines[3],
                                   .fetch_mode = is(lines[4], "?") ? NULL : lines[4],
                                   .fetch_dest = is(lines[5], "?") ? NULL : lines[5] };
    read_url(lines[0]);
    check_headers(&headers, false);
    check_headers(&headers, true);
    check_error(lines[0]);
    free(text);
    return 0;
}
