/* test_symbol_credentials.c - which hosts get a login, and which addresses are private. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/symbol_store/symbol_credentials.h"

#include <string.h>

static void hosts_are_those_of_addresses(void **state)
{
    static const struct {
        const char *url;
        const char *host; /* NULL: none */
    } rows[] = {
        { "https://Symbols.Example.COM/app/x.pdb", "symbols.example.com" },
        { "https://symbols.example.com:8443/app", "symbols.example.com:8443" },
        { "http://[fe80::1]:80/a", "[fe80::1]:80" },
        { "https://host?sig=a@b", "host" },
        { "https://user:password@host/app", NULL },
        { "https://user@host", NULL },
        { "https:///app", NULL },
        { "symbols.example.com/app", NULL },
        { "", NULL },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char host[SYMBOL_HOST_SIZE] = "unchanged";
        assert_int_equal(symbol_credentials_host(rows[i].url, host), rows[i].host != NULL);
        if (rows[i].host != NULL)
            assert_string_equal(host, rows[i].host);
    }
}

static void a_host_that_is_too_long_is_none(void **state)
{
    char url[SYMBOL_HOST_SIZE + 64] = "https://";
    char host[SYMBOL_HOST_SIZE];
    (void)state;
    memset(url + 8, 'a', SYMBOL_HOST_SIZE - 1);
    assert_true(symbol_credentials_host(url, host));
    url[8 + SYMBOL_HOST_SIZE - 1] = 'a';
    assert_false(symbol_credentials_host(url, host));
}

static void local_hosts_are_this_computer(void **state)
{
    static const char *const local[] = { "localhost", "localhost:80", "127.0.0.1:9", "[::1]",
                                         "[::1]:80" };
    static const char *const other[] = { "localhost.example.com", "127.0.0.11", "[::11]", "host",
                                         "" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(local); i++)
        assert_true(symbol_credentials_are_local(local[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(other); i++)
        assert_false(symbol_credentials_are_local(other[i]));
}

static void private_addresses_are_known(void **state)
{
    static const char *const inner[] = { "10.0.0.1",
                                         "10.255.255.255",
                                         "127.0.0.1",
                                         "127.9.9.9",
                                         "169.254.169.254",
                                         "172.16.0.1",
                                         "172.31.255.255",
                                         "192.168.0.1",
                                         "100.64.0.1",
                                         "0.0.0.0",
                                         "::1",
                                         "::",
                                         "fe80::1",
                                         "febf::1",
                                         "fc00::1",
                                         "fd12:3456::789",
                                         "::ffff:10.1.2.3",
                                         "::ffff:127.0.0.1",
                                         "64:ff9b::192.168.1.1" };
    static const char *const outer[] = { "9.255.255.255",      "11.0.0.1",    "172.15.255.255",
                                         "172.32.0.1",         "192.167.1.1", "100.63.0.1",
                                         "100.128.0.1",        "203.0.113.7", "8.8.8.8",
                                         "169.253.1.1",        "2001:db8::1", "fec0::1",
                                         "::ffff:203.0.113.7", "2606::10",    "64:ff9b::8.8.8.8" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(inner); i++)
        assert_true(symbol_address_is_private(inner[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(outer); i++)
        assert_false(symbol_address_is_private(outer[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_those_of_addresses),
        cmocka_unit_test(a_host_that_is_too_long_is_none),
        cmocka_unit_test(local_hosts_are_this_computer),
        cmocka_unit_test(private_addresses_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
