/*
 * symbol_credentials.c - the login of a request, and which requests may have it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol_credentials.h"
#include "symbol_url.h"

bool symbol_credentials_host(const char *url, char out[SYMBOL_HOST_SIZE])
{
    const char *const scheme = strstr(url, "://");
    if (scheme == NULL)
        return false;
    const char *const host = scheme + 3;
    const size_t size = strcspn(host, "/?#");
    if (size == 0 || size >= SYMBOL_HOST_SIZE || memchr(host, '@', size) != NULL)
        return false;
    for (size_t i = 0; i < size; i++)
        out[i] = host[i] >= 'A' && host[i] <= 'Z' ? (char)(host[i] - 'A' + 'a') : host[i];
    out[size] = '\0';
    return true;
}

/* Length of the name in "name:port" or "[address]:port". */
static size_t name_size(const char *host)
{
    return host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
}

bool symbol_credentials_are_local(const char *host)
{
    static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        if (strlen(names[i]) == name_size(host) && memcmp(names[i], host, name_size(host)) == 0)
            return true;
    }
    return false;
}

static bool set_text(const symbol_curl *curl, CURL *easy, CURLoption option, const char *text)
{
    return text == NULL || curl->easy_setopt(easy, option, text) == CURLE_OK;
}

/* libcurl writes a token into the request as it is: a line end would begin a header of the token's
 * own. User and password are sent in base64. */
static bool is_header_text(const char *token)
{
    while (token != NULL && (unsigned char)*token >= ' ' && *token != '\x7F')
        token++;
    return token == NULL || *token == '\0';
}

bool symbol_credentials_apply(const symbol_curl *curl, CURL *easy, const char *url,
                              etlheap_symbol_login_fn *find, void *user, bool *withheld)
{
    char host[SYMBOL_HOST_SIZE];
    etlheap_symbol_login login = { 0 };
    *withheld = false;
    if (find == NULL || !symbol_credentials_host(url, host))
        return true;
    find(user, host, &login);
    if (login.password == NULL && login.token == NULL && login.netrc_file == NULL)
        return true;
    *withheld = (!symbol_url_is_secure(url) && !symbol_credentials_are_local(host)) ||
                !is_header_text(login.token);
    if (*withheld)
        return true;
    if (login.netrc_file != NULL)
        return curl->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL) == CURLE_OK &&
               set_text(curl, easy, CURLOPT_NETRC_FILE, login.netrc_file);
    if (login.token != NULL)
        return curl->easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER) == CURLE_OK &&
               set_text(curl, easy, CURLOPT_XOAUTH2_BEARER, login.token);
    return curl->easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC) == CURLE_OK &&
           set_text(curl, easy, CURLOPT_USERNAME, login.user == NULL ? "" : login.user) &&
           set_text(curl, easy, CURLOPT_PASSWORD, login.password);
}

/* Blocks that are not routed on the internet. Source: RFC 1122, 1918, 3927, 6598. */
static bool is_private_v4(const char *address)
{
    static const struct {
        u32 network;
        unsigned bits;
    } blocks[] = { { 0x00000000, 8 },  { 0x0A000000, 8 },  { 0x64400000, 10 }, { 0x7F000000, 8 },
                   { 0xA9FE0000, 16 }, { 0xAC100000, 12 }, { 0xC0A80000, 16 } };
    u32 value = 0;
    for (unsigned i = 0; i < 4; i++) {
        char *end;
        value = value << 8 | (u32)(strtoul(address, &end, 10) & 0xFF);
        address = *end == '.' ? end + 1 : end;
    }
    for (size_t i = 0; i < ETL_COUNT_OF(blocks); i++) {
        if ((value ^ blocks[i].network) >> (32 - blocks[i].bits) == 0)
            return true;
    }
    return false;
}

/* libcurl writes addresses as inet_ntop does. Source: RFC 4193, 4291, 6052. */
bool symbol_address_is_private(const char *address)
{
    static const char nat64[] = "64:ff9b::";
    const char *const dotted = strchr(address, '.');
    const char *const last = strrchr(address, ':');
    if (last == NULL)
        return is_private_v4(address);
    if (dotted != NULL && (address[0] == ':' || strncmp(address, nat64, sizeof nat64 - 1) == 0))
        return is_private_v4(last + 1);
    if (strcmp(address, "::") == 0 || strcmp(address, "::1") == 0)
        return true;
    const unsigned long first = strtoul(address, NULL, 16);
    return (first & 0xFE00) == 0xFC00 || (first & 0xFFC0) == 0xFE80;
}
