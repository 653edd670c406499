/*
 * Goal: an address gets the line of code that is really there, and the lines of
 * the calls that are inlined at it.
 * Method: small files built in memory; locations are compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pdb_check.h"

static pdb_check c;
static u32 a_cpp, b_h;

static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x1000);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0, 0x1000);
    a_cpp = pdb_build_file(&c.built, "a.cpp");
    b_h = pdb_build_file(&c.built, "b.h");
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

static void add_lines(u32 offset, u32 size, u32 file, const u32 *pairs, u32 count)
{
    const u32 begin = pdb_build_lines_begin(&c.built, offset, size);
    pdb_build_lines_block(&c.built, file, pairs, count);
    pdb_build_lines_end(&c.built, begin);
}

/* --- lines ------------------------------------------------------------------------ */

static void address_gets_the_line_before_it(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10, 4, 11, 9, 7 };
    static const u32 more[] = { 2, 30 };
    add_lines(0x100, 0x20, b_h, more, 1);
    add_lines(0x10, 0x20, a_cpp, lines, 3);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_build_function(&c.built, 1, 0x100, 0x40, "g");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1010, "f+0x0 a.cpp:10");
    pdb_check_says(&c, 0x1013, "f+0x3 a.cpp:10");
    pdb_check_says(&c, 0x1014, "f+0x4 a.cpp:11");
    pdb_check_says(&c, 0x1019, "f+0x9 a.cpp:7");
    pdb_check_says(&c, 0x102f, "f+0x1f a.cpp:7");
    pdb_check_says(&c, 0x1101, "g+0x1");
    pdb_check_says(&c, 0x1102, "g+0x2 b.h:30");
    pdb_check_says(&c, 0x1120, "g+0x20");
}

static void later_of_two_lines_that_begin_together_counts(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10, 0, 11, 4, 12 };
    add_lines(0x10, 0x20, a_cpp, lines, 3);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1010, "f+0x0 a.cpp:11");
    pdb_check_says(&c, 0x1012, "f+0x2 a.cpp:11");
}

/* The linker kept one copy of functions with the same code, and the lines of all. */
static void name_and_line_of_folded_functions_are_of_the_first(void **state)
{
    (void)state;
    static const u32 first[] = { 0, 10, 4, 11 }, second[] = { 0, 20, 4, 21 }, third[] = { 0, 30 };
    add_lines(0x10, 0x20, a_cpp, first, 2);
    add_lines(0x40, 0x20, a_cpp, third, 1);
    add_lines(0x10, 0x20, b_h, second, 2);
    add_lines(0x10, 0x20, a_cpp, third, 1);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_build_function(&c.built, 1, 0x10, 0x20, "g");
    pdb_build_function(&c.built, 1, 0x40, 0x20, "other");
    pdb_build_function(&c.built, 1, 0x10, 0x20, "h");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1010, "f+0x0 a.cpp:10");
    pdb_check_says(&c, 0x1016, "f+0x6 a.cpp:11");
    pdb_check_says(&c, 0x1041, "other+0x1 a.cpp:30");
}

/* One of them has no lines: whose are the others? */
static void lines_that_are_nobodys_of_folded_functions_are_unknown(void **state)
{
    (void)state;
    static const u32 first[] = { 0, 10 }, second[] = { 0, 20 };
    add_lines(0x10, 0x20, a_cpp, first, 1);
    add_lines(0x10, 0x20, b_h, second, 1);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_build_function(&c.built, 1, 0x10, 0x20, "g");
    pdb_build_function(&c.built, 1, 0x10, 0x20, "h");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1011, "f+0x1");
}

static void nearest_line_of_any_file_counts(void **state)
{
    (void)state;
    static const u32 in_a[] = { 0, 10, 8, 11, 30, 14 };
    static const u32 in_b[] = { 16, 3, 24, 4 };
    const u32 begin = pdb_build_lines_begin(&c.built, 0x10, 0x40);
    pdb_build_lines_block(&c.built, a_cpp, in_a, 3);
    pdb_build_lines_block(&c.built, b_h, in_b, 2);
    pdb_build_lines_end(&c.built, begin);
    pdb_build_function(&c.built, 1, 0x10, 0x40, "f");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1010 + 15, "f+0xf a.cpp:11");
    pdb_check_says(&c, 0x1010 + 16, "f+0x10 b.h:3");
    pdb_check_says(&c, 0x1010 + 29, "f+0x1d b.h:4");
    pdb_check_says(&c, 0x1010 + 30, "f+0x1e a.cpp:14");
}

static void code_not_to_be_stepped_onto_has_the_line_before(void **state)
{
    (void)state;
    static const u32 lines[] = {
        0, 10, 4, PDB_LINE_NO_STEP_ONTO, 8, PDB_LINE_NO_STEP_INTO, 12, 13
    };
    static const u32 only[] = { 0, PDB_LINE_NO_STEP_ONTO };
    add_lines(0x10, 0x20, a_cpp, lines, 4);
    add_lines(0x40, 0x20, a_cpp, only, 1);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_build_function(&c.built, 1, 0x40, 0x20, "g");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1015, "f+0x5 a.cpp:10");
    pdb_check_says(&c, 0x1019, "f+0x9 a.cpp:10");
    pdb_check_says(&c, 0x101d, "f+0xd a.cpp:13");
    pdb_check_says(&c, 0x1045, "g+0x5");
}

static void subsections_marked_to_be_ignored_are(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10 };
    add_lines(0x10, 0x20, a_cpp, lines, 1);
    hand_bytes *const written = &c.built.modules[0].lines;
    hand_set_u32(written, 0, PDB_SUBSECTION_LINES | 0x80000000u);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1015, "f+0x5");
}

static void subsections_of_odd_size_are_padded(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10 };
    hand_bytes *const written = &c.built.modules[0].lines;
    hand_u32(written, 0xf5);
    hand_u32(written, 3);
    hand_fill(written, 0xab, 4);
    add_lines(0x10, 0x20, a_cpp, lines, 1);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1015, "f+0x5 a.cpp:10");
}

static void lines_are_not_looked_up_unless_wanted(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10 };
    add_lines(0x10, 0x20, a_cpp, lines, 1);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_check_open(&c);
    etl_pdb_resolver_close(c.resolver);
    assert_int_equal(etl_pdb_resolver_open(c.file, 0, &c.resolver, NULL), ETL_OK);
    pdb_check_says(&c, 0x1015, "f+0x5");
}

static void block_that_overruns_its_subsection_is_damage(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10 };
    /* Count of lines, size of the block. */
    static const u32 fields[] = { 20 + 4, 20 + 8 };
    for (size_t i = 0; i < ETL_COUNT_OF(fields); i++) {
        add_lines(0x10, 0x20, a_cpp, lines, 1);
        hand_set_u32(&c.built.modules[0].lines, fields[i], 0x20000001);
        pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
        pdb_check_open(&c);
        pdb_check_says(&c, 0x1015, "f+0x5");
        assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 1);
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
}

static void file_that_has_no_name_is_damage(void **state)
{
    (void)state;
    static const u32 lines[] = { 0, 10 };
    add_lines(0x10, 0x20, a_cpp, lines, 1);
    hand_set_u32(&c.built.modules[0].checksums, 0, 5000);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "f");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1015, "f+0x5 :10");
    assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 1);
}

/* --- inlined calls ------------------------------------------------------------------- */

/* Numbers of annotations are one byte each here; a delta of d lines is 2 * d. */
#define OFFSET(delta)       PDB_BA_CODE_DELTA, (delta)
#define LINE(delta)         PDB_BA_LINE_DELTA, (u8)(2 * (delta))
#define LINE_BACK(delta)    PDB_BA_LINE_DELTA, (u8)(2 * (delta) + 1)
#define BOTH(line, delta)   PDB_BA_CODE_AND_LINE_DELTA, (u8)((2 * (line)) << 4 | (delta))
#define LENGTH(size)        PDB_BA_CODE_LENGTH, (size)
#define SOURCE(file)        PDB_BA_FILE, (u8)(file)
#define RANGE(offset, size) PDB_BA_CODE_LENGTH_AND_DELTA, (size), (offset)

static u32 add_function_id(const char *scope, const char *name)
{
    const u32 scope_id = scope ? pdb_build_function_id(&c.built, PDB_LF_STRING_ID, 0, scope) : 0;
    return pdb_build_function_id(&c.built, PDB_LF_FUNC_ID, scope_id, name);
}

static void open_site(u32 id, const u8 *annotations, u32 size)
{
    (void)pdb_build_inline_site(&c.built, id, annotations, size);
}

static void close_site(void)
{
    pdb_build_end(&c.built, PDB_S_INLINESITE_END);
}

static void add_f(void)
{
    static const u32 lines[] = { 0, 100, 0x10, 101, 0x20, 102 };
    add_lines(0x100, 0x40, a_cpp, lines, 3);
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
}

static void end_f(void)
{
    pdb_build_end(&c.built, PDB_S_END);
}

static void ranges_of_an_inlined_call_have_their_lines(void **state)
{
    (void)state;
    static const u8 program[] = { OFFSET(4), LINE(2),    OFFSET(4), LINE_BACK(1), OFFSET(4),
                                  LENGTH(2), BOTH(3, 8), LENGTH(3), PDB_BA_END,   0xff };
    const u32 g = add_function_id(NULL, "g");
    pdb_build_inlinee_line(&c.built, g, b_h, 20);
    add_f();
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1103, "f+0x3 a.cpp:100");
    pdb_check_says(&c, 0x1104, "g b.h:20 < f+0x4 a.cpp:100");
    pdb_check_says(&c, 0x1108, "g b.h:22 < f+0x8 a.cpp:100");
    pdb_check_says(&c, 0x110c, "g b.h:21 < f+0xc a.cpp:100");
    pdb_check_says(&c, 0x110d, "g b.h:21 < f+0xd a.cpp:100");
    pdb_check_says(&c, 0x110e, "f+0xe a.cpp:100");
    pdb_check_says(&c, 0x1115, "f+0x15 a.cpp:101");
    pdb_check_says(&c, 0x1116, "g b.h:24 < f+0x16 a.cpp:101");
    pdb_check_says(&c, 0x1118, "g b.h:24 < f+0x18 a.cpp:101");
    pdb_check_says(&c, 0x1119, "f+0x19 a.cpp:101");
    assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 0);
}

static void ranges_with_lengths_of_their_own_and_absolute_offsets(void **state)
{
    (void)state;
    static const u8 program[] = { RANGE(4, 2),
                                  LINE(1),
                                  RANGE(4, 1),
                                  PDB_BA_CODE_OFFSET,
                                  0x20,
                                  LENGTH(4),
                                  PDB_BA_COLUMN_START,
                                  7,
                                  PDB_BA_RANGE_KIND,
                                  1 };
    const u32 g = add_function_id(NULL, "g");
    pdb_build_inlinee_line(&c.built, g, b_h, 20);
    add_f();
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1105, "g b.h:20 < f+0x5 a.cpp:100");
    pdb_check_says(&c, 0x1106, "f+0x6 a.cpp:100");
    pdb_check_says(&c, 0x1108, "g b.h:21 < f+0x8 a.cpp:100");
    pdb_check_says(&c, 0x1109, "f+0x9 a.cpp:100");
    pdb_check_says(&c, 0x1123, "g b.h:21 < f+0x23 a.cpp:102");
    pdb_check_says(&c, 0x1124, "f+0x24 a.cpp:102");
}

static void long_numbers_of_annotations_are_read(void **state)
{
    (void)state;
    /* 0x110 in two bytes, 0x4010 in four. */
    static const u8 program[] = { PDB_BA_CODE_DELTA,
                                  0x81,
                                  0x10,
                                  PDB_BA_CODE_LENGTH,
                                  4,
                                  PDB_BA_LINE_DELTA,
                                  0xc0,
                                  0x00,
                                  0x40,
                                  0x10,
                                  OFFSET(4),
                                  LENGTH(4) };
    const u32 g = add_function_id(NULL, "g");
    pdb_build_inlinee_line(&c.built, g, b_h, 1);
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x400, "f");
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1210, "g b.h:1 < f+0x110");
    pdb_check_says(&c, 0x1218, "g b.h:8201 < f+0x118");
}

static void calls_inlined_into_inlined_calls_are_a_chain(void **state)
{
    (void)state;
    static const u8 outer[] = { OFFSET(4), LINE(1), OFFSET(8), LENGTH(8) };
    static const u8 inner[] = { OFFSET(12), LENGTH(4) };
    static const u8 beside[] = { OFFSET(0x20), LENGTH(4) };
    const u32 g = add_function_id(NULL, "g");
    const u32 h = add_function_id("space::inside", "h");
    pdb_build_inlinee_line(&c.built, g, a_cpp, 50);
    pdb_build_inlinee_line(&c.built, h, b_h, 5);
    add_f();
    open_site(g, outer, sizeof outer);
    open_site(h, inner, sizeof inner);
    close_site();
    close_site();
    (void)pdb_build_block(&c.built);
    open_site(h, beside, sizeof beside);
    close_site();
    pdb_build_end(&c.built, PDB_S_END);
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1104, "g a.cpp:50 < f+0x4 a.cpp:100");
    pdb_check_says(&c, 0x110c, "space::inside::h b.h:5 < g a.cpp:51 < f+0xc a.cpp:100");
    pdb_check_says(&c, 0x1110, "g a.cpp:51 < f+0x10 a.cpp:101");
    pdb_check_says(&c, 0x1121, "space::inside::h b.h:5 < f+0x21 a.cpp:102");
}

/* A site cannot reach out of the one around it. */
static void inlined_call_outside_its_outer_call_is_not_believed(void **state)
{
    (void)state;
    static const u8 outer[] = { OFFSET(4), LENGTH(8) };
    static const u8 inner[] = { OFFSET(10), LENGTH(8) };
    const u32 g = add_function_id(NULL, "g");
    const u32 h = add_function_id(NULL, "h");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(g, outer, sizeof outer);
    open_site(h, inner, sizeof inner);
    close_site();
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x110b, "h < g < f+0xb");
    pdb_check_says(&c, 0x110c, "f+0xc");
}

static void file_of_an_inlined_call_can_change(void **state)
{
    (void)state;
    const u8 program[] = { OFFSET(0), SOURCE(a_cpp), LINE(6), OFFSET(4), LENGTH(4) };
    const u32 g = add_function_id(NULL, "g");
    pdb_build_inlinee_line(&c.built, g, b_h, 20);
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1102, "g b.h:20 < f+0x2");
    pdb_check_says(&c, 0x1106, "g a.cpp:26 < f+0x6");
}

static void member_function_is_named_with_its_class(void **state)
{
    (void)state;
    static const u8 program[] = { OFFSET(0), LENGTH(4) };
    for (u32 i = 0; i < 9; i++) /* so that the class is not at an indexed place */
        (void)pdb_build_class(&c.built, "other");
    const u32 type = pdb_build_class(&c.built, "space::list<int>");
    const u32 g = pdb_build_function_id(&c.built, PDB_LF_MFUNC_ID, type, "push");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1102, "space::list<int>::push < f+0x2");
    pdb_check_says(&c, 0x1103, "space::list<int>::push < f+0x3");
}

static void inlined_function_without_a_record_has_no_name(void **state)
{
    (void)state;
    static const u8 program[] = { OFFSET(0), LENGTH(4) };
    const u32 type = pdb_build_class(&c.built, "type");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(type + 5, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1102, " < f+0x2");
}

/* Another procedure begins where f does and is longer: its calls are its own. */
static void calls_of_an_overlapping_procedure_are_not_mixed_in(void **state)
{
    (void)state;
    static const u8 in_f[] = { OFFSET(0), LENGTH(4) };
    static const u8 in_twin[] = { OFFSET(8), LENGTH(0x48) };
    const u32 g = add_function_id(NULL, "g");
    const u32 h = add_function_id(NULL, "h");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(g, in_f, sizeof in_f);
    close_site();
    end_f();
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x60, "twin");
    open_site(h, in_twin, sizeof in_twin);
    close_site();
    end_f();
    pdb_check_open(&c);
    static const u32 rvas[] = { 0x1102, 0x110a, 0x1142 };
    static const char *const wanted[] = { "g < f+0x2", "f+0xa", "h < twin+0x42" };
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, 3, NULL), ETL_OK);
    for (u32 i = 0; i < 3; i++) {
        assert_true(etl_pdb_resolver_next(c.resolver, &location));
        assert_string_equal(pdb_check_text(&c, &location), wanted[i]);
    }
}

static void damaged_annotations_end_their_site(void **state)
{
    (void)state;
    static const u8 program[] = { OFFSET(0), LENGTH(4), 14, 0, OFFSET(4), LENGTH(4) };
    const u32 g = add_function_id(NULL, "g");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    open_site(g, program, sizeof program);
    close_site();
    end_f();
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1102, "g < f+0x2");
    pdb_check_says(&c, 0x110a, "f+0xa");
    assert_true(etl_pdb_resolver_damage(c.resolver)->count > 0);
}

/* Deeper than is told: the innermost calls are, and nothing overflows. */
static void very_deep_chains_are_cut(void **state)
{
    (void)state;
    static const u8 program[] = { OFFSET(0), LENGTH(4) };
    const u32 g = add_function_id(NULL, "g");
    (void)pdb_build_procedure(&c.built, 1, 0x100, 0x40, "f");
    for (u32 i = 0; i < 700; i++)
        open_site(g, program, sizeof program);
    for (u32 i = 0; i < 700; i++)
        close_site();
    end_f();
    pdb_check_open(&c);
    const u32 rva = 0x1102;
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, &rva, 1, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(location.inline_count, 128);
    assert_int_equal(location.kind, ETL_PDB_SYMBOL_PROCEDURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(address_gets_the_line_before_it, begin_test, end_test),
        cmocka_unit_test_setup_teardown(later_of_two_lines_that_begin_together_counts, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(name_and_line_of_folded_functions_are_of_the_first,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(lines_that_are_nobodys_of_folded_functions_are_unknown,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(nearest_line_of_any_file_counts, begin_test, end_test),
        cmocka_unit_test_setup_teardown(code_not_to_be_stepped_onto_has_the_line_before, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(subsections_marked_to_be_ignored_are, begin_test, end_test),
        cmocka_unit_test_setup_teardown(subsections_of_odd_size_are_padded, begin_test, end_test),
        cmocka_unit_test_setup_teardown(lines_are_not_looked_up_unless_wanted, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(block_that_overruns_its_subsection_is_damage, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(file_that_has_no_name_is_damage, begin_test, end_test),
        cmocka_unit_test_setup_teardown(ranges_of_an_inlined_call_have_their_lines, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(ranges_with_lengths_of_their_own_and_absolute_offsets,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(long_numbers_of_annotations_are_read, begin_test, end_test),
        cmocka_unit_test_setup_teardown(calls_inlined_into_inlined_calls_are_a_chain, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(inlined_call_outside_its_outer_call_is_not_believed,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(file_of_an_inlined_call_can_change, begin_test, end_test),
        cmocka_unit_test_setup_teardown(member_function_is_named_with_its_class, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(inlined_function_without_a_record_has_no_name, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(calls_of_an_overlapping_procedure_are_not_mixed_in,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(damaged_annotations_end_their_site, begin_test, end_test),
        cmocka_unit_test_setup_teardown(very_deep_chains_are_cut, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
