/*
 * symbol_url.c - addresses of files on symbol servers.
 */
#include <stdio.h>

#include "symbol_fetch.h"
#include "symbol_files.h"
#include "symbol_url.h"

/* Text being written; one that does not fit stays marked. */
typedef struct url_text {
    char *at;
    size_t left; /* with room for the NUL */
    bool is_cut;
} url_text;

static void put(url_text *url, const char *text, size_t size);
static void put_component(url_text *url, const char *text, size_t size);
static bool is_plain(char letter);

bool symbol_url_build(char out[SYMBOL_URL_SIZE], const symbol_url_parts *parts)
{
    url_text url = { out, SYMBOL_URL_SIZE, false };
    const char *const query = strchr(parts->server, '?');
    size_t size = query ? (size_t)(query - parts->server) : strlen(parts->server);
    while (size > 0 && parts->server[size - 1] == '/')
        size--;
    put(&url, parts->server, size);
    if (parts->is_two_tier && parts->key)
        put_component(&url, parts->name, strlen(parts->name) < 2 ? strlen(parts->name) : 2);
    if (parts->key) {
        put_component(&url, parts->name, strlen(parts->name));
        put_component(&url, parts->key, strlen(parts->key));
    }
    put_component(&url, parts->file, strlen(parts->file));
    if (query)
        put(&url, query, strlen(query));
    return !url.is_cut;
}

static void put(url_text *url, const char *text, size_t size)
{
    if (size >= url->left) {
        url->is_cut = true;
        return;
    }
    memcpy(url->at, text, size);
    url->at += size;
    url->left -= size;
    *url->at = 0;
}

static void put_component(url_text *url, const char *text, size_t size)
{
    put(url, "/", 1);
    for (size_t i = 0; i < size; i++) {
        char escaped[4] = { text[i], 0 };
        if (!is_plain(text[i]))
            (void)snprintf(escaped, sizeof escaped, "%%%02X", (unsigned)(u8)text[i]);
        put(url, escaped, strlen(escaped));
    }
}

/* Unreserved characters of RFC 3986. */
static bool is_plain(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || (letter != 0 && strchr("-._~", letter));
}

bool symbol_url_is_secure(const char *url)
{
    char scheme[9];
    (void)snprintf(scheme, sizeof scheme, "%.8s", url);
    return symbol_same_word(scheme, "https://");
}
