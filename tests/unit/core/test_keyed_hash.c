/*
 * Goal: the hashes are those of the standards' own examples (FIPS 180-4 with NIST's examples,
 * RFC 4231), however the text is cut, and for keys shorter and longer than a block.
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

static void sha256_has_the_values_of_the_standard(void **state)
{
    static const struct {
        const char *text, *hash;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
          "lmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        const size_t size = strlen(cases[i].text);
        for (size_t first = 0; first <= size; first++) {
            sha256_state hash;
            u8 out[KEYED_HASH_BYTES];
            sha256_begin(&hash);
            sha256_add(&hash, cases[i].text, first);
            sha256_add(&hash, cases[i].text + first, size - first);
            sha256_end(&hash, out);
            assert_hash(out, cases[i].hash);
        }
    }
}

static void assert_hmac(const void *key, size_t key_bytes, const void *text, size_t size,
                        const char *wanted)
{
    hash_key set;
    u8 out[KEYED_HASH_BYTES];
    hash_key_set(&set, key, key_bytes);
    sha256_state hash = keyed_hash_begin(&set);
    sha256_add(&hash, text, size);
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
        cmocka_unit_test(sha256_has_the_values_of_the_standard),
        cmocka_unit_test(hmac_has_the_values_of_rfc_4231),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
