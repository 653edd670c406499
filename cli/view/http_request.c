/*
 * http_request.c - what a browser asks for: the parts of a URL, and whether a page of this server
 * asks.
 *
 * In: the URL and headers as they were sent, by anybody. Out: parts, or a status of HTTP.
 * Invariant: decoding never makes a text longer, so it is done in place, and a NUL is refused, so
 * that texts end where they seem to end.
 */
#include "http_request.h"

#include "cli/system/sockets.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_query(char *query, view_url *out);
static bool read_pair(char *text, view_url *out);
static bool decode(char *text);

unsigned view_url_read(const char *raw, view_url *out)
{
    const size_t size = strlen(raw);
    *out = (view_url){ .token = "", .path = "", .tab = "", .part = "" };
    if (size > VIEW_URL_MAX)
        return 414;
    if (raw[0] != '/')
        return 400;
    out->text = strdup(raw);
    out->pairs = calloc(VIEW_PAIRS_MAX, sizeof *out->pairs);
    if (!out->text || !out->pairs)
        return 503;
    char *const query = strchr(out->text, '?');
    if (query)
        *query = '\0';
    char *const slash = strchr(out->text + 1, '/');
    if (slash) {
        *slash = '\0';
        out->token = out->text + 1;
        out->path = slash + 1;
    }
    return !query || read_query(query + 1, out) ? 200 : 400;
}

void view_url_free(view_url *url)
{
    free(url->text);
    free(url->pairs);
    *url = (view_url){ .token = "", .path = "", .tab = "", .part = "" };
}

static bool read_query(char *query, view_url *out)
{
    for (char *next = query; next;) {
        char *const pair = next;
        next = strchr(pair, '&');
        if (next)
            *next++ = '\0';
        if (pair[0] != '\0' && !read_pair(pair, out))
            return false;
    }
    return true;
}

static bool read_pair(char *text, view_url *out)
{
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    if (!decode(text) || (value && !decode(value)))
        return false;
    const view_pair pair = { text, value ? value : "" };
    const bool is_tab = strcmp(text, "tab") == 0;
    if (is_tab || strcmp(text, "part") == 0) {
        *(is_tab ? &out->tab : &out->part) = pair.value;
        return strlen(pair.value) <= VIEW_LABEL_MAX;
    }
    if (out->pair_count == VIEW_PAIRS_MAX)
        return false;
    out->pairs[out->pair_count++] = pair;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* As a form is encoded: + is a space, %2B a plus. */
static bool decode(char *text)
{
    char *out = text;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '%') {
            *out++ = *c == '+' ? ' ' : *c;
            continue;
        }
        const int high = digit_of(c[1]);
        const int low = high < 0 ? -1 : digit_of(c[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *out++ = (char)(high * 16 + low);
        c += 2;
    }
    *out = '\0';
    return true;
}

bool view_token_is(const char *secret, const char *given)
{
    unsigned differs = strlen(given) != VIEW_TOKEN_DIGITS;
    for (size_t i = 0, at = 0; i < VIEW_TOKEN_DIGITS; i++) {
        differs |= (unsigned)(unsigned char)secret[i] ^ (unsigned char)given[at];
        at += given[at] != '\0';
    }
    return differs == 0;
}

static void add_host(view_hosts *out, const char *name, bool has_brackets)
{
    snprintf(out->names[out->count++], sizeof out->names[0],
             has_brackets ? "[%.64s]:%u" : "%.64s:%u", name, (unsigned)out->port);
}

void view_hosts_make(const char *address, bool is_ipv6, bool is_any, u16 port, view_hosts *out)
{
    *out = (view_hosts){ .any_address = is_any, .port = port };
    add_host(out, "127.0.0.1", false);
    add_host(out, "localhost", false);
    add_host(out, "::1", true);
    add_host(out, address, is_ipv6);
}

/* With the port, which a browser leaves out only if it is that of http. */
static bool has_port(const view_hosts *hosts, const char *host, char name[96])
{
    char suffix[16];
    const size_t size = strlen(host);
    const int suffix_size = snprintf(suffix, sizeof suffix, ":%u", (unsigned)hosts->port);
    if (size >= 96 || size < (size_t)suffix_size || strcmp(host + size - suffix_size, suffix) != 0)
        return false;
    memcpy(name, host, size - (size_t)suffix_size);
    name[size - (size_t)suffix_size] = '\0';
    return true;
}

/* No other site can let a numeric address point here, so each of the machine's own is good. */
static bool is_numeric(char *name)
{
    const size_t size = strlen(name);
    if (size < 2 || name[0] != '[' || name[size - 1] != ']')
        return strchr(name, ':') == NULL && cli_is_ip_address(name);
    name[size - 1] = '\0';
    return cli_is_ip_address(name + 1);
}

static bool is_own_host(const view_hosts *hosts, const char *given)
{
    char host[96], name[96];
    if (hosts->port == 80 && given[0] != '\0' && !strchr(given, ':')) {
        snprintf(host, sizeof host, "%.64s:80", given);
        given = host;
    }
    for (u32 i = 0; i < hosts->count; i++) {
        if (strcmp(given, hosts->names[i]) == 0)
            return true;
    }
    return hosts->any_address && has_port(hosts, given, name) && is_numeric(name);
}

/* A page of another site, or of another port here, may link to this page, but not ask. Old browsers
 * do not say where a request comes from. */
static bool is_from_here(const view_headers *given)
{
    static const char *const own[] = { "same-origin", "none" };
    if (!given->fetch_site)
        return true;
    for (size_t i = 0; i < ETL_COUNT_OF(own); i++) {
        if (strcmp(given->fetch_site, own[i]) == 0)
            return true;
    }
    return given->fetch_mode && strcmp(given->fetch_mode, "navigate") == 0 && given->fetch_dest &&
           strcmp(given->fetch_dest, "document") == 0;
}

bool view_headers_are_own(const view_hosts *hosts, const view_headers *given)
{
    static const char scheme[] = "http://";
    const size_t scheme_size = sizeof scheme - 1;
    if (!given->host || !is_own_host(hosts, given->host))
        return false;
    if (given->origin && (strncmp(given->origin, scheme, scheme_size) != 0 ||
                          strcmp(given->origin + scheme_size, given->host) != 0))
        return false;
    return is_from_here(given);
}
