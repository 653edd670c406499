/*
 * Goal: the text of a symbol path is taken apart as Windows does it, and files
 * are told by their first bytes.
 * Method: one table of texts with what they mean, written out again in a form
 * that shows each element, each store and what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/symbol_store/symbol_content.h"
#include "engine/symbol_store/symbol_elements.h"

#define SHOWN_SIZE 512

/* "folder(a) chain(a, @url, *) cache(c)": * is the default store. */
static void show(const symbol_elements *elements, char out[SHOWN_SIZE])
{
    static const char *const kinds[] = { "folder", "chain", "cache" };
    static const char *const marks[] = { "", "@", "*" };
    size_t size = 0;
    out[0] = 0;
    for (size_t e = 0; e < elements->list.count; e++) {
        const symbol_element *const element = &elements->list.at[e];
        size += (size_t)snprintf(out + size, SHOWN_SIZE - size, "%s%s(", e ? " " : "",
                                 kinds[element->kind]);
        for (u32 i = 0; i < element->store_count; i++)
            size += (size_t)snprintf(out + size, SHOWN_SIZE - size, "%s%s%s", i ? ", " : "",
                                     marks[element->stores[i].place], element->stores[i].text);
        size += (size_t)snprintf(out + size, SHOWN_SIZE - size, ")");
    }
}

static void paths_are_taken_apart(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "", "" },
        { ";; \t;", "" },
        { "/symbols", "folder(/symbols)" },
        { " /a/ ; \"/b c/\" ", "folder(/a) folder(/b c)" },
        { "/", "folder(/)" },
        { "C:\\symbols\\", "folder(C:\\symbols)" },
        { "srv*/a", "chain(/a)" },
        { "SRV*/a*/b", "chain(/a, /b)" },
        { "srv*/a*https://host/x/", "chain(/a, @https://host/x)" },
        { "srv**http://host", "chain(*, @http://host)" },
        { "srv*", "chain(*)" },
        { "symsrv*symsrv.dll*/a*/b", "chain(/a, /b)" },
        { "SymSrv*Other.dll*/a", "chain(/a)" },
        { "cache*/a", "cache(/a)" },
        { "CACHE*", "cache(*)" },
        { "cache*/a;srv*/b;/c", "cache(/a) chain(/b) folder(/c)" },
        { "HTTPS://host/x", "chain(@HTTPS://host/x)" },
        { "srv", "folder(srv)" },
        { "cache", "folder(cache)" },
        { "server*x", "folder(server*x)" },
        { "srv*\\\\server\\share", "chain(\\\\server\\share)" },
        { "srv*https://host/x?sig=a;srv*/b", "chain(@https://host/x?sig=a) chain(/b)" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        symbol_elements elements = { 0 };
        char shown[SHOWN_SIZE];
        assert_int_equal(symbol_elements_parse(&elements, cases[i][0], NULL), ETL_OK);
        show(&elements, shown);
        assert_string_equal(shown, cases[i][1]);
        symbol_elements_free(&elements);
    }
}

static void first_bytes_tell_what_a_file_is(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        symbol_content content;
    } cases[] = {
        { "Microsoft C/C++ MSF 7.00\r\n\x1a\x44S\0\0\0", 32, SYMBOL_CONTENT_PDB },
        { "Microsoft C/C++ MSF 7.00\r\n\x1a\x44S\0\0\0", 28, SYMBOL_CONTENT_UNKNOWN },
        { "Microsoft C/C++ program database 2.00", 32, SYMBOL_CONTENT_PDB },
        { "Microsoft MSFZ Container\r\n\x1a", 27, SYMBOL_CONTENT_PDB },
        { "BSJB\1", 5, SYMBOL_CONTENT_PDB },
        { "MZ\x90", 3, SYMBOL_CONTENT_IMAGE },
        { "MSCF", 4, SYMBOL_CONTENT_CABINET },
        { "\n\t <html>", 9, SYMBOL_CONTENT_MARKUP },
        { "\xef\xbb\xbf<?xml", 8, SYMBOL_CONTENT_MARKUP },
        { "\0<html>", 7, SYMBOL_CONTENT_UNKNOWN },
        { "", 0, SYMBOL_CONTENT_UNKNOWN },
        { "    ", 4, SYMBOL_CONTENT_UNKNOWN },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++)
        assert_int_equal(symbol_content_of((etl_bytes){ (const u8 *)cases[i].text, cases[i].size }),
                         cases[i].content);
    assert_int_equal(symbol_content_of_file("/nonexistent"), SYMBOL_CONTENT_UNKNOWN);
}

/* Where a file.ptr of a server may lead to on Windows. */
static void only_hosts_of_the_path_are_named(void **state)
{
    (void)state;
    static const char path[] = "C:\\out;srv*\\\\Build.corp\\sym*https://me:pw@sym.example:8443/x;"
                               "http://[::1]:80/y;cache*D:\\c";
    static const struct {
        const char *place;
        bool named;
    } cases[] = {
        { "//build.corp/other/app.pdb", true },
        { "//BUILD.CORP/sym/app.pdb", true },
        { "//sym.example/share/app.pdb", true },
        { "//[::1]:80/share/app.pdb", true },
        { "//build.corp.evil/sym/app.pdb", false },
        { "//build/sym/app.pdb", false },
        { "//sym.example@8443/share/app.pdb", false },
        { "//me:pw@sym.example/share/app.pdb", false },
        { "//localhost/C$/app.pdb", false },
        { "//127.0.0.1/C$/app.pdb", false },
        { "//?/C:/Windows/app.pdb", false },
        { "//?/UNC/build.corp/sym/app.pdb", false },
        { "//./pipe/x", false },
        { "//", false },
        { "///build.corp/sym", false },
        { "/build.corp/sym", false },
        { "C:/Windows/app.pdb", false },
        { "https://sym.example/app.pdb", false },
        { "app.pdb", false },
        { "", false },
    };
    symbol_elements elements = { 0 };
    assert_int_equal(symbol_elements_parse(&elements, path, NULL), ETL_OK);
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        if (symbol_elements_name_host(&elements, cases[i].place) != cases[i].named)
            fail_msg("%s", cases[i].place);
    }
    symbol_elements_free(&elements);
}

static void first_bytes_tell_the_size_of_a_file(void **state)
{
    (void)state;
    u8 pdb[64] = "Microsoft C/C++ MSF 7.00\r\n\x1a"
                 "DS";
    u8 cabinet[64] = "MSCF";
    const u8 image[64] = "MZ";
    pdb[33] = 0x10; /* blocks of 4096 bytes */
    pdb[40] = 36;
    cabinet[9] = 2;
    assert_true(symbol_content_size((etl_bytes){ pdb, sizeof pdb }) == 147456);
    assert_true(symbol_content_size((etl_bytes){ pdb, 43 }) == 0);
    assert_true(symbol_content_size((etl_bytes){ cabinet, sizeof cabinet }) == 512);
    assert_true(symbol_content_size((etl_bytes){ cabinet, 11 }) == 0);
    assert_true(symbol_content_size((etl_bytes){ image, sizeof image }) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_taken_apart),
        cmocka_unit_test(first_bytes_tell_what_a_file_is),
        cmocka_unit_test(first_bytes_tell_the_size_of_a_file),
        cmocka_unit_test(only_hosts_of_the_path_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
