/*
 * Goal: a file is the one that was compiled if its checksum says so, whatever its ends of lines.
 * Method: sums that hashlib of Python made of a file with LF, of its bytes with CRLF, and of
 * others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/parts/source_lines.h"

static const u8 sums_of_lf[3][32] = {
    { 0xbb, 0xdd, 0xa1, 0xe0, 0x38, 0x7a, 0xb4, 0xb9, 0xbe, 0xbe, 0xe0, 0xa3, 0xaf, 0x11, 0x9a,
      0x63 },
    { 0x50, 0x9c, 0x88, 0x77, 0x2b, 0x7c, 0x5a, 0xe4, 0x31, 0x84,
      0x99, 0x06, 0xd3, 0x15, 0x89, 0xc5, 0xb7, 0xe3, 0x2e, 0x37 },
    { 0xeb, 0x0f, 0xce, 0x59, 0x14, 0x0f, 0x45, 0xcf, 0x04, 0x3f, 0x46,
      0x2b, 0xfa, 0x7a, 0x32, 0xe3, 0x12, 0x45, 0x63, 0x1a, 0x27, 0x17,
      0xc7, 0x35, 0xd3, 0x67, 0xde, 0xb0, 0x69, 0x1e, 0x2c, 0xe6 },
};
static const u8 sums_of_crlf[3][32] = {
    { 0x7f, 0xe6, 0xf5, 0xb6, 0xca, 0x01, 0x62, 0xc9, 0xe1, 0x82, 0xb0, 0x52, 0x12, 0x1c, 0x5e,
      0x12 },
    { 0x11, 0x17, 0xef, 0x9c, 0xd1, 0xe0, 0x11, 0x41, 0xdf, 0x9a,
      0xc2, 0xe8, 0xf3, 0xa3, 0xfc, 0x21, 0xe0, 0xf7, 0x23, 0x5c },
    { 0x95, 0xdb, 0xa1, 0xfa, 0x6f, 0x1a, 0x29, 0xa8, 0xd0, 0x8e, 0xb6,
      0xbb, 0x94, 0xe5, 0x7f, 0x61, 0x79, 0xe4, 0xa1, 0xd2, 0x4e, 0x71,
      0x75, 0x22, 0x3a, 0xe5, 0xe3, 0x4a, 0x40, 0x42, 0xac, 0x04 },
};
static const u8 sizes[3] = { 16, 20, 32 };

static bool is_compiled(const char *bytes, const u8 *sum, u8 size)
{
    const etlheap_source_text text = { .bytes = (u8 *)(uintptr_t)bytes, .size = strlen(bytes) };
    const etlheap_source_file file = { .checksum_size = size, .checksum = sum };
    return etlheap_source_text_is(&text, &file);
}

static void ends_of_lines_do_not_matter(void **state)
{
    (void)state;
    for (u32 i = 0; i < 3; i++) {
        assert_true(is_compiled("one\ntwo\n\nlast", sums_of_lf[i], sizes[i]));
        assert_true(is_compiled("one\r\ntwo\r\n\r\nlast", sums_of_lf[i], sizes[i]));
        assert_true(is_compiled("one\r\ntwo\r\n\r\nlast", sums_of_crlf[i], sizes[i]));
        assert_true(is_compiled("one\ntwo\n\nlast", sums_of_crlf[i], sizes[i]));
    }
}

static void everything_else_does(void **state)
{
    static const char *const others[] = { "one\ntwo\nlast", "one\ntwo\n\nlast\n",
                                          "one\rtwo\r\rlast", "", "One\ntwo\n\nlast" };
    (void)state;
    for (u32 i = 0; i < 3; i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(others); k++) {
            assert_false(is_compiled(others[k], sums_of_lf[i], sizes[i]));
            assert_false(is_compiled(others[k], sums_of_crlf[i], sizes[i]));
        }
        assert_false(is_compiled("one\ntwo\n\nlast", sums_of_lf[i], 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_lines_do_not_matter),
        cmocka_unit_test(everything_else_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
