/*
 * Goal: in an image that was rearranged after linking, addresses are those of
 * the image as it runs, though symbols have those of the image as it was linked.
 * Method: a file whose OMAP swaps two functions, adds bytes and drops some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pdb_check.h"

static pdb_check c;

/*
 * linked: one 0x1000..0x103f, two 0x1040..0x107f, three 0x1080..0x10bf
 * runs:   two 0x2000, filling 0x2040, three 0x2050, one 0x2090, end 0x20d0
 * The image's section begins elsewhere than the linked one.
 */
static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build *const b = &c.built;
    pdb_build_section(b, 0x2000, 0x1000);
    pdb_build_original_section(b, 0x1000, 0x800);
    static const u32 to_source[][2] = {
        { 0x2000, 0x1040 }, { 0x2040, 0 }, { 0x2050, 0x1080 }, { 0x2090, 0x1000 }, { 0x20d0, 0 }
    };
    static const u32 from_source[][2] = {
        { 0x1000, 0x2090 }, { 0x1040, 0x2000 }, { 0x1080, 0x2050 }, { 0x10c0, 0 }
    };
    for (size_t i = 0; i < ETL_COUNT_OF(to_source); i++) {
        hand_u32(&b->omap_to_source, to_source[i][0]);
        hand_u32(&b->omap_to_source, to_source[i][1]);
    }
    for (size_t i = 0; i < ETL_COUNT_OF(from_source); i++) {
        hand_u32(&b->omap_from_source, from_source[i][0]);
        hand_u32(&b->omap_from_source, from_source[i][1]);
    }
    pdb_build_module(b);
    pdb_build_contribution(b, 1, 0, 0xc0);
    pdb_build_function(b, 1, 0, 0x40, "one");
    pdb_build_function(b, 1, 0x40, 0x40, "two");
    pdb_build_public(b, 1, 0x80, "?three");
    pdb_build_public(b, 1, 0xc4, "?dropped");
    pdb_build_file(b, "a.cpp");
    static const u32 lines[] = { 0, 10, 0x40, 20, 0x60, 21 };
    const u32 begin = pdb_build_lines_begin(b, 0, 0x80);
    pdb_build_lines_block(b, 0, lines, 3);
    pdb_build_lines_end(b, begin);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

static void moved_functions_are_found_where_they_run(void **state)
{
    (void)state;
    pdb_check_open(&c);
    assert_true(etl_pdb_info_of(c.file)->has_omap);
    assert_int_equal(etl_pdb_sections(c.file)[0].rva, 0x2000);
    pdb_check_says(&c, 0x2000, "two+0x0 a.cpp:20");
    pdb_check_says(&c, 0x2025, "two+0x25 a.cpp:21");
    pdb_check_says(&c, 0x2090, "one+0x0 a.cpp:10");
    pdb_check_says(&c, 0x20cf, "one+0x3f a.cpp:10");
    pdb_check_says(&c, 0x2055, "near ?three+0x5");
}

static void code_that_was_added_has_no_symbol(void **state)
{
    (void)state;
    pdb_check_open(&c);
    pdb_check_says(&c, 0x2044, "-");
    pdb_check_says(&c, 0x20d0, "-");
    pdb_check_says(&c, 0x1000, "-");
}

static void start_of_a_function_is_where_it_runs(void **state)
{
    (void)state;
    static const u32 rvas[] = { 0x2010, 0x2060, 0x2094 };
    static const u32 starts[] = { 0x2000, 0x2050, 0x2090 };
    pdb_check_open(&c);
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, 3, NULL), ETL_OK);
    for (u32 i = 0; i < 3; i++) {
        assert_true(etl_pdb_resolver_next(c.resolver, &location));
        assert_int_equal(location.function_rva, starts[location.index]);
        assert_int_equal(location.rva, rvas[location.index]);
        assert_int_equal(location.displacement, location.rva - location.function_rva);
    }
}

static void public_symbols_are_listed_where_they_run(void **state)
{
    (void)state;
    pdb_check_open(&c);
    u32 at = 0;
    etl_pdb_public symbol;
    assert_true(etl_pdb_public_next(c.resolver, &at, &symbol));
    assert_int_equal(symbol.rva, 0x2050);
    assert_true(etl_pdb_public_next(c.resolver, &at, &symbol));
    assert_int_equal(symbol.rva, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moved_functions_are_found_where_they_run, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(code_that_was_added_has_no_symbol, begin_test, end_test),
        cmocka_unit_test_setup_teardown(start_of_a_function_is_where_it_runs, begin_test, end_test),
        cmocka_unit_test_setup_teardown(public_symbols_are_listed_where_they_run, begin_test,
                                        end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
