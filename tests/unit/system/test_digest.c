/*
 * Goal: the sums are those of the standards, however the bytes are cut, for every place of the
 * padding in a block.
 * Method: examples of RFC 1321 and FIPS 180-4; and one sum over the sums of texts of 0 to 200
 * bytes, which hashlib of Python made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "parser/system/digest.h"

static const struct {
    const char *text, *sums[ETL_DIGEST_COUNT];
} cases[] = {
    { "",
      { "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" } },
    { "abc",
      { "900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" } },
    { "message digest",
      { "f96b697d7cb7938d525a2f31aaf161d0", "c12252ceda8be8994d5fa0290a47231c1d16aae3",
        "f7846f55cf23e14eebeab5b4e1550cad5b509e3348fbc4efa3a1413d393cb650" } },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      { "8215ef0796a20bcaaae116d3876c664a", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" } },
    { "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      { "57edf4a22be3c955ac49da2e2107b67a", "50abf5706a150990a08b2c5ea40fa0e585554732",
        "f371bc4a311f2b009eef952dd83ca80e2b60026c8e935592d0f9c308453c813e" } },
};

static const char *const sums_of_sums[ETL_DIGEST_COUNT] = {
    "a442e71c2813be22a1e4ba7304617cca",
    "d0de06f4c5cb01efe13d538b17bbc0bd8144a1c2",
    "e673d33f6940a6d3856d0d305fd88363ae0ba3b96e2411d8ddd5e0dd443f4525",
};

static void assert_sum(etl_digest *digest, const char *wanted)
{
    u8 sum[ETL_DIGEST_BYTES_MAX];
    char text[2 * ETL_DIGEST_BYTES_MAX + 1];
    const size_t size = etl_digest_end(digest, sum);
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    assert_string_equal(text, wanted);
}

static void sums_are_those_of_the_standards(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        const size_t size = strlen(cases[i].text);
        for (u32 kind = 0; kind < ETL_DIGEST_COUNT; kind++) {
            for (size_t first = 0; first <= size; first++) {
                etl_digest digest = etl_digest_begin((etl_digest_kind)kind);
                etl_digest_add(&digest, cases[i].text, first);
                etl_digest_add(&digest, cases[i].text + first, size - first);
                assert_sum(&digest, cases[i].sums[kind]);
            }
        }
    }
}

static void sums_of_all_sizes_are_those_of_hashlib(void **state)
{
    (void)state;
    for (u32 kind = 0; kind < ETL_DIGEST_COUNT; kind++) {
        etl_digest all = etl_digest_begin((etl_digest_kind)kind);
        for (u32 size = 0; size <= 200; size++) {
            u8 bytes[200], sum[ETL_DIGEST_BYTES_MAX];
            etl_digest one = etl_digest_begin((etl_digest_kind)kind);
            for (u32 i = 0; i < size; i++)
                bytes[i] = (u8)(i * 7 + size);
            etl_digest_add(&one, bytes, size);
            const size_t sum_size = etl_digest_end(&one, sum);
            etl_digest_add(&all, sum, sum_size);
        }
        assert_sum(&all, sums_of_sums[kind]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_standards),
        cmocka_unit_test(sums_of_all_sizes_are_those_of_hashlib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
