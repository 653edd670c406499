/*
 * test_name_fold.c - names without case.
 *
 * Goal: names that Windows takes for one file are one name, and all functions agree on
 * it. Method: examples of each kind of character, the whole table against Unicode's own
 * file where that is installed, and comparisons of the functions with each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/system/name_fold.h"

#define CASE_FOLDING "/usr/share/unicode/CaseFolding.txt" /* Debian: unicode-data */
#define VERSION      "# CaseFolding-15.0.0.txt"

static void folds_to(const char *name, const char *wanted)
{
    char folded[256];
    assert_true(ETL_NAME_FOLDED_SIZE(strlen(name)) <= sizeof folded);
    const size_t size = etl_name_fold(name, folded);
    assert_string_equal(folded, wanted);
    assert_int_equal(size, strlen(wanted));
    assert_true(size < ETL_NAME_FOLDED_SIZE(strlen(name)));
    assert_true(etl_name_same(name, wanted));
    assert_int_equal(etl_name_hash(name, 7), etl_name_hash(wanted, 7));
    assert_int_equal(etl_name_fnv1a(ETL_FNV1A_START, name),
                     etl_name_fnv1a(ETL_FNV1A_START, wanted));
    assert_int_equal(etl_name_begins(name, wanted), strlen(name));
    assert_true(etl_name_contains(name, wanted) && etl_name_glob(name, wanted));
}

static void capitals_of_all_alphabets_are_their_small_letters(void **unused)
{
    (void)unused;
    folds_to("KERNEL32.DLL", "kernel32.dll");
    folds_to("Übung_ÄÖ.exe", "übung_äö.exe");
    folds_to("ΣΊΣΥΦΟΣ.dll", "σίσυφοσ.dll");
    folds_to("σίσυφος.dll", "σίσυφοσ.dll"); /* the final sigma */
    folds_to("ДРАЙВЕР.sys", "драйвер.sys");
    folds_to("Ł\xc4\x82Ǆǅ.exe", "ł\xc4\x83ǆǆ.exe");
    folds_to("\xf0\x90\x90\x80.exe", "\xf0\x90\x90\xa8.exe"); /* Deseret, beyond the BMP */
    folds_to("Ꭰ\xea\xad\xb0", "ᎠᎠ");                          /* Cherokee folds upwards */
}

static void one_character_becomes_one_character(void **unused)
{
    (void)unused;
    folds_to("straße", "straße"); /* not "strasse" */
    folds_to("STRA\xe1\xba\x9e"
             "E",
             "straße");
    folds_to("\xef\xac\x81", "\xef\xac\x81");                     /* the ligature fi */
    folds_to("\xe2\xb1\xa5\xc8\xba", "\xe2\xb1\xa5\xe2\xb1\xa5"); /* two bytes become three */
    folds_to("\xe2\x84\xaa", "k");                                /* Kelvin: three become one */
    folds_to("I\xc4\xb1\xc4\xb0", "i\xc4\xb1\xc4\xb0");           /* no language's own rules */
}

static void what_differs_by_more_than_case_differs(void **unused)
{
    (void)unused;
    static const char *const ordered[] = { "",    ".", "0", "A.dll", "a.dllx",           "B",
                                           "[",   "_", "z", "ä",     "\xf0\x90\x90\xa8", "\x80",
                                           "\xff" };
    for (size_t i = 0; i < ETL_COUNT_OF(ordered); i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(ordered); k++) {
            const char *const a = ordered[i], *const b = ordered[k];
            /* '[' and '_' lie behind the capitals, but before small letters. */
            if (strcmp(a, "[") == 0 || strcmp(b, "[") == 0 || strcmp(a, "_") == 0 ||
                strcmp(b, "_") == 0)
                continue;
            assert_int_equal(etl_name_compare(a, b), (i > k) - (i < k));
        }
    }
    assert_int_equal(etl_name_compare("[", "B"), -1);
    assert_int_equal(etl_name_compare("B", "_"), 1);
    assert_false(etl_name_same("a.dll", "a.dll "));
    assert_int_equal(etl_name_begins("kernel32.dll", "kernelbase"), 0);
    assert_int_equal(etl_name_begins("ker", "kernel"), 0);
    assert_int_equal(etl_name_begins("\xe2\x84\xaa"
                                     "ernel",
                                     "K"),
                     3);
    assert_false(etl_name_contains("kernel32.dll", "rnl"));
    assert_true(etl_name_contains("Kernel32.dll", "L32.D") && etl_name_contains("a", ""));
}

/* Neither read beyond the end nor taken for a character. */
static void bytes_that_are_not_utf8_stand_for_themselves(void **unused)
{
    (void)unused;
    static const char *const odd[] = {
        "\x80", "\xc3",         "a\xc3",    "\xe2\x84",         "\xf0\x90\x90", "\xc0\x80",
        "\xff", "\xed\xa0\x80", "\xc1\xbf", "\xf4\x90\x80\x80", "\xe0\x80\x80"
    };
    for (size_t i = 0; i < ETL_COUNT_OF(odd); i++)
        folds_to(odd[i], odd[i]);
    assert_false(etl_name_same("\xe4", "ä"));
    assert_false(etl_name_same("\xc4", "\xe4"));
}

static void wildcards_match_whole_names(void **unused)
{
    (void)unused;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        { "*", "", true },
        { "", "", true },
        { "", "a", false },
        { "ÄPP*.EXE", "äpp-1.exe", true },
        { "?pp.exe", "Äpp.exe", true },
        { "??pp.exe", "Äpp.exe", false },
        { "*Ü*Ü", "xüyüzü", true },
        { "*Ü*Üa", "xüyüzü", false },
        { "ker*32", "KERNEL32.dll", false },
        { "\xe2\x84\xaa*", "kernel", true },
        { "a**b", "AxB", true },
        { "*\xff", "a\xff", true },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(etl_name_glob(rows[i].pattern, rows[i].text), rows[i].matches);
}

/* What the table says of a character. */
static u32 folded(u32 code_point)
{
    const u32 lead = code_point < 0x10000 ? 0xe0 | code_point >> 12 : 0xf0 | code_point >> 18;
    char text[5] = { (char)lead };
    char *to = text;
    if (code_point < 0x80) {
        *to++ = (char)code_point;
    } else if (code_point < 0x800) {
        *to++ = (char)(0xc0 | code_point >> 6);
        *to++ = (char)(0x80 | (code_point & 0x3f));
    } else {
        to++;
        if (code_point >= 0x10000)
            *to++ = (char)(0x80 | (code_point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code_point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code_point & 0x3f));
    }
    *to = '\0';
    const char *at = text;
    const u32 got = etl_name_next(&at);
    assert_ptr_equal(at, to);
    return got;
}

static void folding_twice_is_folding_once(void **unused)
{
    (void)unused;
    u32 moved = 0;
    for (u32 i = 1; i <= 0x10ffff; i++) {
        if ((i & ~0x7ffu) == 0xd800)
            continue;
        const u32 once = folded(i);
        moved += once != i;
        if (once != i)
            assert_int_equal(folded(once), once);
    }
    assert_int_equal(moved, 1454); /* lines of status C and S in Unicode 15.0.0 */
}

static void the_table_is_unicodes(void **unused)
{
    (void)unused;
    char line[512];
    FILE *const file = fopen(CASE_FOLDING, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL ||
        strncmp(line, VERSION, strlen(VERSION)) != 0) {
        if (file != NULL)
            fclose(file);
        print_message("no %s of this version; install unicode-data\n", CASE_FOLDING);
        skip();
    }
    u32 lines = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *at;
        const u32 from = (u32)strtoul(line, &at, 16);
        if (at == line || (strncmp(at, "; C; ", 5) != 0 && strncmp(at, "; S; ", 5) != 0))
            continue;
        assert_int_equal(folded(from), strtoul(at + 5, NULL, 16));
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 1454);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capitals_of_all_alphabets_are_their_small_letters),
        cmocka_unit_test(one_character_becomes_one_character),
        cmocka_unit_test(what_differs_by_more_than_case_differs),
        cmocka_unit_test(bytes_that_are_not_utf8_stand_for_themselves),
        cmocka_unit_test(wildcards_match_whole_names),
        cmocka_unit_test(folding_twice_is_folding_once),
        cmocka_unit_test(the_table_is_unicodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
