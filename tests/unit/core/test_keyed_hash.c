/*
 * Goal: the hashes are those of the examples of RFC 4231, for keys shorter and longer than a
 * block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/core/keyed_hash.h"

static void assert_hash(const u8 hash[KEYED_HASH_BYTES], const char *wanted)
{
    char text[2 * KEYED_HASH_BYTES + 1];
    for (u32 i = 0; i < KEYED_HASH_BYTES; i++)
        snprintf(text + (size_t)2 * i, 3, "%02x", hash[i]);
    assert_string_equal(text, wanted);
}

static void assert_hmac(const void *key, size_t key_bytes, const void *text, size_t size,
                        const char *wanted)
{
    hash_key set;
    u8 out[KEYED_HASH_BYTES];
    hash_key_set(&set, key, key_bytes);
    etl_digest hash = keyed_hash_begin(&set);
    etl_digest_add(&hash, text, size);
    keyed_hash_end(&set, &hash, out);
    assert_hash(out, wanted);
}

static void hmac_has_the_values_of_rfc_4231(void **state)
{
    u8 key[131], text[50];
    (void)state;
    memset(key, 0x0b, sizeof key);
    assert_hmac(key, 20, "Hi There", 8,
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_hmac("Jefe", 4, "what do ya want for nothing?", 28,
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(text, 0xdd, sizeof text);
    assert_hmac(key, 20, text, sizeof text,
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    assert_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_has_the_values_of_rfc_4231),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
