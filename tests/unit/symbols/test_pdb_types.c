/*
 * Goal: an allocation is told with the type that the compiler recorded, spelled
 * as in C++, for just the call it belongs to.
 * Method: type records built by hand, one allocation for each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "pdb_check.h"

static pdb_check c;

static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x1000);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0, 0x1000);
    (void)pdb_build_procedure(&c.built, 1, 0, 0x1000, "f");
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

/* Allocates the type in the last call of f; the answer is "f+0xfff new NAME". */
static void assert_type_name(u32 type, const char *name)
{
    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "f+0xfff%s%s", name[0] ? " new " : "", name);
    pdb_build_alloc_site(&c.built, 0xffb, 5, type);
    pdb_build_end(&c.built, PDB_S_END);
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1fff, wanted);
}

static u32 add_wrapping(u32 kind, u32 type, u32 bits)
{
    hand_bytes payload = { 0 };
    hand_u32(&payload, type);
    if (kind == PDB_LF_MODIFIER)
        hand_u16(&payload, bits);
    else
        hand_u32(&payload, bits);
    const u32 number = pdb_build_type(&c.built, kind, &payload);
    hand_free(&payload);
    return number;
}

static u32 add_named(u32 kind, u32 fixed_bytes, const u8 *number, u32 number_bytes)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0x11, fixed_bytes);
    hand_put(&payload, number, number_bytes);
    hand_put(&payload, "zoo::bird", 10);
    hand_put(&payload, ".?AVbird@zoo@@", 15); /* the unique name behind is not shown */
    const u32 type = pdb_build_type(&c.built, kind, &payload);
    hand_free(&payload);
    return type;
}

static void type_belongs_to_the_last_byte_of_its_call(void **state)
{
    (void)state;
    const u32 bird = pdb_build_class(&c.built, "bird");
    const u32 fish = pdb_build_class(&c.built, "fish");
    pdb_build_alloc_site(&c.built, 0x10, 5, bird);
    pdb_build_alloc_site(&c.built, 0x15, 2, fish);
    pdb_build_alloc_site(&c.built, 0x15, 2, bird); /* the first one counts */
    pdb_build_alloc_site(&c.built, 0x20, 0, bird); /* a call without bytes is none */
    pdb_build_end(&c.built, PDB_S_END);
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1013, "f+0x13");
    pdb_check_says(&c, 0x1014, "f+0x14 new bird");
    pdb_check_says(&c, 0x1015, "f+0x15");
    pdb_check_says(&c, 0x1016, "f+0x16 new fish");
    pdb_check_says(&c, 0x101f, "f+0x1f");
}

static void every_class_record_has_its_name(void **state)
{
    (void)state;
    static const u8 small[] = { 8, 0 };
    static const u8 sizes[][10] = { { 0x00, 0x80, 1 },
                                    { 0x01, 0x80, 1, 2 },
                                    { 0x02, 0x80, 1, 2 },
                                    { 0x03, 0x80, 1, 2, 3, 4 },
                                    { 0x04, 0x80, 1, 2, 3, 4 },
                                    { 0x09, 0x80, 1, 2, 3, 4, 5, 6, 7, 8 },
                                    { 0x0a, 0x80, 1, 2, 3, 4, 5, 6, 7, 8 } };
    static const u32 size_bytes[] = { 3, 4, 4, 6, 6, 10, 10 };
    static const struct {
        u32 kind, fixed_bytes, number_bytes;
    } kinds[] = {
        { PDB_LF_CLASS, 16, 2 },      { PDB_LF_STRUCTURE, 16, 2 },  { PDB_LF_INTERFACE, 16, 2 },
        { PDB_LF_UNION, 8, 2 },       { PDB_LF_ENUM, 12, 0 },       { PDB_LF_CLASS2, 18, 2 },
        { PDB_LF_STRUCTURE2, 18, 2 }, { PDB_LF_INTERFACE2, 18, 2 }, { PDB_LF_UNION2, 10, 2 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        assert_type_name(
            add_named(kinds[i].kind, kinds[i].fixed_bytes, small, kinds[i].number_bytes),
            "zoo::bird");
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        assert_type_name(add_named(PDB_LF_CLASS, 16, sizes[i], size_bytes[i]), "zoo::bird");
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
}

static void simple_types_have_names(void **state)
{
    (void)state;
    static const struct {
        u32 type;
        const char *name;
    } types[] = { { 0x03, "void" },          { 0x74, "int" },
                  { 0x20, "unsigned char" }, { 0x77, "unsigned __int64" },
                  { 0x71, "wchar_t" },       { 0x0674, "int*" },
                  { 0x0403, "void*" },       { 0x0e, "" } };
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++) {
        assert_type_name(types[i].type, types[i].name);
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
}

static void pointers_and_modifiers_are_spelled_around_the_name(void **state)
{
    (void)state;
    const u32 bird = pdb_build_class(&c.built, "bird");
    const u32 const_bird = add_wrapping(PDB_LF_MODIFIER, bird, 1);
    const u32 pointer = add_wrapping(PDB_LF_POINTER, const_bird, 0);
    const u32 const_pointer = add_wrapping(PDB_LF_MODIFIER, pointer, 3);
    const u32 array = add_wrapping(PDB_LF_ARRAY, const_pointer, 0x23);
    const u32 reference = add_wrapping(PDB_LF_POINTER, array, 1 << 5);
    const u32 moved = add_wrapping(PDB_LF_POINTER, reference, 4 << 5);
    assert_type_name(moved, "const bird* const volatile[]&&&");
}

static void function_type_is_named_as_such(void **state)
{
    (void)state;
    hand_bytes nothing = { 0 };
    hand_fill(&nothing, 0, 12);
    const u32 function = pdb_build_type(&c.built, PDB_LF_PROCEDURE, &nothing);
    hand_free(&nothing);
    assert_type_name(add_wrapping(PDB_LF_POINTER, function, 0), "(function)*");
}

/* A type that points to itself has no end and so no name. */
static void types_in_a_circle_have_no_name(void **state)
{
    (void)state;
    const u32 first = PDB_TYPES_FIRST + c.built.type_count;
    (void)add_wrapping(PDB_LF_POINTER, first + 1, 0);
    (void)add_wrapping(PDB_LF_MODIFIER, first, 1);
    assert_type_name(first, "");
}

static void types_are_found_without_an_index(void **state)
{
    (void)state;
    c.built.has_no_index = true;
    for (u32 i = 0; i < 50; i++)
        (void)pdb_build_class(&c.built, "other");
    assert_type_name(pdb_build_class(&c.built, "bird"), "bird");
}

static void every_type_is_found_through_the_index(void **state)
{
    (void)state;
    char name[16];
    for (u32 i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "t%u", i);
        const u32 type = pdb_build_class(&c.built, name);
        pdb_build_alloc_site(&c.built, 4 * i, 4, type);
    }
    pdb_build_end(&c.built, PDB_S_END);
    pdb_check_open(&c);
    for (u32 i = 0; i < 40; i++) {
        char wanted[40];
        (void)snprintf(wanted, sizeof wanted, "f+0x%x new t%u", 4 * i + 3, i);
        pdb_check_says(&c, 0x1000 + 4 * i + 3, wanted);
    }
}

/* The index leads past what is damaged before. */
static void damaged_type_costs_only_its_neighbours(void **state)
{
    (void)state;
    for (u32 i = 0; i < 8; i++)
        (void)pdb_build_class(&c.built, "bird");
    hand_set_u16(&c.built.types, 0, 0xfff0);
    pdb_build_alloc_site(&c.built, 0x10, 5, 0x1000);
    pdb_build_alloc_site(&c.built, 0x20, 5, 0x1006);
    pdb_build_end(&c.built, PDB_S_END);
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1014, "f+0x14");
    assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 1);
    pdb_check_says(&c, 0x1024, "f+0x24 new bird");
}

static void type_outside_the_table_has_no_name(void **state)
{
    (void)state;
    (void)pdb_build_class(&c.built, "bird");
    assert_type_name(0x1000 + 7, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(type_belongs_to_the_last_byte_of_its_call, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(every_class_record_has_its_name, begin_test, end_test),
        cmocka_unit_test_setup_teardown(simple_types_have_names, begin_test, end_test),
        cmocka_unit_test_setup_teardown(pointers_and_modifiers_are_spelled_around_the_name,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(function_type_is_named_as_such, begin_test, end_test),
        cmocka_unit_test_setup_teardown(types_in_a_circle_have_no_name, begin_test, end_test),
        cmocka_unit_test_setup_teardown(types_are_found_without_an_index, begin_test, end_test),
        cmocka_unit_test_setup_teardown(every_type_is_found_through_the_index, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(damaged_type_costs_only_its_neighbours, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(type_outside_the_table_has_no_name, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
