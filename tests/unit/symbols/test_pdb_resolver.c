/*
 * Goal: each address of a batch gets the symbol that covers it, once, whatever
 * the batch looks like and however the file lies on disk.
 * Method: small files built in memory; locations are compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "pdb_check.h"

static pdb_check c;

/*
 * Two modules that take turns in section 1, and one more section:
 *   module 0: 0x00..0x3f one (0x00, 0x10) two (0x10, 0x20)      0x80..0xbf three
 *   module 1: 0x40..0x7f four (0x48, 0x08)
 */
static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x1000);
    pdb_build_section(&c.built, 0x3000, 0x100);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0, 0x40);
    pdb_build_function(&c.built, 1, 0x80, 0x40, "three");
    pdb_build_function(&c.built, 1, 0, 0x10, "one");
    pdb_build_function(&c.built, 1, 0x10, 0x20, "two");
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0x40, 0x40);
    pdb_build_function(&c.built, 1, 0x48, 8, "four");
    c.built.contributions[c.built.contribution_count++] = (pdb_build_piece){ 1, 0x80, 0x40, 0 };
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

/* --- procedures ------------------------------------------------------------------ */

static void address_gets_the_procedure_around_it(void **state)
{
    (void)state;
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1000, "one+0x0");
    pdb_check_says(&c, 0x100f, "one+0xf");
    pdb_check_says(&c, 0x1010, "two+0x0");
    pdb_check_says(&c, 0x102f, "two+0x1f");
    pdb_check_says(&c, 0x1030, "-");
    pdb_check_says(&c, 0x1047, "-");
    pdb_check_says(&c, 0x1048, "four+0x0");
    pdb_check_says(&c, 0x104f, "four+0x7");
    pdb_check_says(&c, 0x10bf, "three+0x3f");
    pdb_check_says(&c, 0x10c0, "-");
    pdb_check_says(&c, 0xfff, "-");
    pdb_check_says(&c, 0x3000, "-");
    pdb_check_says(&c, UINT32_MAX, "-");
}

static void function_has_start_and_size(void **state)
{
    (void)state;
    pdb_check_open(&c);
    const u32 rva = 0x1015;
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, &rva, 1, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(location.kind, ETL_PDB_SYMBOL_PROCEDURE);
    assert_int_equal(location.function_rva, 0x1010);
    assert_int_equal(location.function_size, 0x20);
    assert_false(location.is_nearest);
}

static void first_of_folded_procedures_has_the_address(void **state)
{
    (void)state;
    pdb_build_function(&c.built, 1, 0x50, 0x10, "first");
    pdb_build_function(&c.built, 1, 0x50, 0x10, "second");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1055, "first+0x5");
}

static void every_kind_of_procedure_is_read(void **state)
{
    (void)state;
    static const u32 kinds[] = { PDB_S_GPROC32,    PDB_S_LPROC32,     PDB_S_GPROC32_ID,
                                 PDB_S_LPROC32_ID, PDB_S_LPROC32_DPC, PDB_S_LPROC32_DPC_ID };
    char wanted[20];
    for (u32 i = 0; i < ETL_COUNT_OF(kinds); i++) {
        const u32 place[3] = { 1, 0x50 + i, 1 };
        (void)snprintf(wanted, sizeof wanted, "f%u", i);
        (void)pdb_build_procedure_of(&c.built, kinds[i], place, wanted);
        pdb_build_end(&c.built, PDB_S_PROC_ID_END);
    }
    pdb_check_open(&c);
    for (u32 i = 0; i < ETL_COUNT_OF(kinds); i++) {
        (void)snprintf(wanted, sizeof wanted, "f%u+0x0", i);
        pdb_check_says(&c, 0x1050 + i, wanted);
    }
}

/* pEnd leads nowhere: the procedures behind are still found. */
static void procedure_without_believable_end_is_stepped_through(void **state)
{
    (void)state;
    static const u32 ends[] = { 0, 8, 0x7ffffffc, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(ends); i++) {
        const u32 at = pdb_build_procedure(&c.built, 1, 0x50, 4, "bad");
        pdb_build_end(&c.built, PDB_S_END);
        pdb_build_function(&c.built, 1, 0x54, 4, "good");
        hand_set_u32(&c.built.modules[1].symbols, at + 8, ends[i]);
        pdb_check_open(&c);
        pdb_check_says(&c, 0x1055, "good+0x1");
        pdb_check_says(&c, 0x1052, "bad+0x2");
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
}

static void end_that_is_no_end_is_stepped_through(void **state)
{
    (void)state;
    const u32 at = pdb_build_procedure(&c.built, 1, 0x50, 4, "bad");
    pdb_build_end(&c.built, PDB_S_END);
    const u32 good = pdb_build_procedure(&c.built, 1, 0x54, 4, "good");
    pdb_build_end(&c.built, PDB_S_END);
    hand_set_u32(&c.built.modules[1].symbols, at + 8, good);
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1055, "good+0x1");
}

static void procedure_outside_its_modules_code_is_not_found(void **state)
{
    (void)state;
    pdb_build_contribution(&c.built, 1, 0xc0, 8);
    pdb_build_function(&c.built, 1, 0xd0, 0x10, "stray");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x10d4, "-");
}

static void module_without_symbols_leaves_public_ones(void **state)
{
    (void)state;
    pdb_build_public(&c.built, 1, 0x40, "_near");
    c.built.module_signature = 2;
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0xc0, 0x10);
    pdb_build_function(&c.built, 1, 0xc0, 0x10, "old");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x10c2, "near _near+0x82");
    assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 1);
    assert_non_null(strstr(etl_pdb_resolver_damage(c.resolver)->first.message, "form"));
}

/* --- thunks and pieces --------------------------------------------------------------- */

static void thunk_has_its_own_name(void **state)
{
    (void)state;
    pdb_build_thunk(&c.built, 1, 0x60, 6, "CreateFileW");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1065, "thunk CreateFileW+0x5");
    pdb_check_says(&c, 0x1066, "-");
}

static void incremental_thunk_is_named_after_the_public_target(void **state)
{
    (void)state;
    pdb_build_trampoline(&c.built, 0x60, 5, 0x48);
    pdb_build_trampoline(&c.built, 0x65, 5, 0x10);
    pdb_build_public(&c.built, 1, 0x8, "?before@@YAXXZ");
    pdb_build_public(&c.built, 1, 0x48, "?four@@YAXXZ");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1061, "thunk ?four@@YAXXZ+0x1");
    pdb_check_says(&c, 0x1065, "thunk +0x0");
}

static void piece_of_a_procedure_has_its_name(void **state)
{
    (void)state;
    pdb_build_piece_of(&c.built, 0x70, 8, 0x48);
    pdb_build_piece_of(&c.built, 0x78, 4, 0x44); /* of no procedure */
    pdb_build_public(&c.built, 1, 0x40, "_near");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1073, "four+0x2b");
    pdb_check_says(&c, 0x1079, "near _near+0x39");
    pdb_check_says(&c, 0x107c, "near _near+0x3c");
}

/* --- public symbols ------------------------------------------------------------------- */

static void address_without_procedure_gets_the_nearest_public(void **state)
{
    (void)state;
    pdb_build_public(&c.built, 1, 0x10, "?two@@YAXXZ");
    pdb_build_public(&c.built, 1, 0x34, "asm_a");
    pdb_build_public(&c.built, 1, 0x38, "asm_b");
    pdb_build_public(&c.built, 2, 0x20, "data");
    pdb_check_open(&c);
    pdb_check_says(&c, 0x1020, "two+0x10");
    pdb_check_says(&c, 0x1037, "near asm_a+0x3");
    pdb_check_says(&c, 0x1038, "near asm_b+0x0");
    pdb_check_says(&c, 0x1fff, "near asm_b+0xfc7");
    pdb_check_says(&c, 0x3010, "-");
    pdb_check_says(&c, 0x3025, "near data+0x5");
    const u32 rva = 0x1037;
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, &rva, 1, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_true(location.is_nearest);
    assert_int_equal(location.function_size, 0);
}

static void public_symbols_are_listed_by_address(void **state)
{
    (void)state;
    pdb_build_public(&c.built, 1, 0x10, "a");
    pdb_build_public(&c.built, 1, 0x20, "b");
    pdb_build_public(&c.built, 2, 0x8, "c");
    pdb_check_open(&c);
    static const u32 rvas[] = { 0x1010, 0x1020, 0x3008 };
    u32 at = 0;
    etl_pdb_public symbol;
    for (u32 i = 0; i < 3; i++) {
        assert_true(etl_pdb_public_next(c.resolver, &at, &symbol));
        assert_int_equal(symbol.rva, rvas[i]);
        assert_int_equal(symbol.name.size, 1);
        assert_int_equal(symbol.name.at[0], 'a' + i);
        assert_true(symbol.is_function);
    }
    assert_false(etl_pdb_public_next(c.resolver, &at, &symbol));
}

/* --- batches ---------------------------------------------------------------------------- */

static void batch_answers_each_address_once_module_by_module(void **state)
{
    (void)state;
    static const u32 rvas[] = { 0x1000, 0x1000, 0x1015, 0x104a, 0x1090, 0x2fff, 0x3000 };
    static const char *const wanted[] = { "one+0x0",    "one+0x0", "two+0x5", "four+0x2",
                                          "three+0x10", "-",       "-" };
    static const size_t order[] = { 0, 1, 2, 4, 3, 5, 6 };
    pdb_check_open(&c);
    for (int round = 0; round < 2; round++) {
        etl_pdb_location location;
        assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, ETL_COUNT_OF(rvas), NULL),
                         ETL_OK);
        for (size_t i = 0; i < ETL_COUNT_OF(rvas); i++) {
            assert_true(etl_pdb_resolver_next(c.resolver, &location));
            assert_int_equal(location.index, order[i]);
            assert_int_equal(location.rva, rvas[order[i]]);
            assert_string_equal(pdb_check_text(&c, &location), wanted[order[i]]);
        }
        assert_false(etl_pdb_resolver_next(c.resolver, &location));
    }
}

/* Searches go on from where the last one ended, by growing steps. */
static void addresses_at_any_distance_find_their_place(void **state)
{
    (void)state;
    const u32 count = 48;
    pdb_check_end(&c);
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x1000);
    for (u32 m = 0; m < 2; m++)
        pdb_build_module(&c.built);
    for (u32 i = 0; i < count; i++) {
        c.built.contributions[c.built.contribution_count++] =
            (pdb_build_piece){ 1, i * 16, 8, i % 2 };
        pdb_build_public(&c.built, 1, i * 16 + 8, i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c");
    }
    for (u32 i = 1; i < count; i += 2)
        pdb_build_function(&c.built, 1, i * 16, 8, "odd");
    pdb_check_open(&c);
    for (u32 step = 1; step < count; step++) {
        u32 rvas[2 * 48];
        u32 n = 0;
        for (u32 i = 0; i < count; i += step) {
            rvas[n++] = 0x1000 + i * 16 + 3;
            rvas[n++] = 0x1000 + i * 16 + 9;
        }
        etl_pdb_location location;
        assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, n, NULL), ETL_OK);
        for (u32 k = 0; k < n; k++) {
            assert_true(etl_pdb_resolver_next(c.resolver, &location));
            const u32 i = (location.rva - 0x1000) / 16;
            const bool in_code = location.index % 2 == 0;
            const char *wanted = in_code && i % 2 == 1 ? "odd+0x3"
                                 : in_code && i == 0   ? "-"
                                 : in_code             ? (i % 3 == 1   ? "near a+0xb"
                                                          : i % 3 == 2 ? "near b+0xb"
                                                                       : "near c+0xb")
                                                       : (i % 3 == 0   ? "near a+0x1"
                                                          : i % 3 == 1 ? "near b+0x1"
                                                                       : "near c+0x1");
            assert_string_equal(pdb_check_text(&c, &location), wanted);
        }
    }
}

static void begin_drops_what_is_left_of_the_batch_before(void **state)
{
    (void)state;
    static const u32 rvas[] = { 0x1000, 0x1015, 0x104a };
    pdb_check_open(&c);
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, 3, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas + 2, 1, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(location.rva, 0x104a);
    assert_false(etl_pdb_resolver_next(c.resolver, &location));
}

static void empty_batch_has_no_locations(void **state)
{
    (void)state;
    etl_pdb_location location;
    pdb_check_open(&c);
    assert_false(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, NULL, 0, NULL), ETL_OK);
    assert_false(etl_pdb_resolver_next(c.resolver, &location));
}

static void descending_batch_is_refused(void **state)
{
    (void)state;
    static const u32 rvas[] = { 0x1010, 0x100f };
    etl_pdb_location location;
    pdb_check_open(&c);
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, 2, &c.error), ETL_ERR_ARGUMENT);
    assert_false(etl_pdb_resolver_next(c.resolver, &location));
}

static void unknown_wishes_are_refused(void **state)
{
    (void)state;
    pdb_check_open(&c);
    etl_pdb_resolver *resolver = NULL;
    assert_int_equal(etl_pdb_resolver_open(c.file, 8, &resolver, &c.error), ETL_ERR_ARGUMENT);
    assert_null(resolver);
}

/* More addresses of one module than are taken at a time: the seam must not show. */
static void module_with_very_many_addresses_is_read_in_parts(void **state)
{
    (void)state;
    const u32 count = 300000;
    hand_free(&c.built.sections);
    pdb_build_section(&c.built, 0x1000, 0x100000);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0x10000, count);
    const u32 file = pdb_build_file(&c.built, "a.cpp");
    pdb_build_function(&c.built, 1, 0x10000, count, "large");
    const u32 lines = pdb_build_lines_begin(&c.built, 0x10000, count);
    const u32 pairs[] = { 0, 1, 200000, 2 };
    pdb_build_lines_block(&c.built, file, pairs, 2);
    pdb_build_lines_end(&c.built, lines);
    pdb_check_open(&c);
    u32 *const rvas = malloc(count * sizeof *rvas);
    for (u32 i = 0; i < count; i++)
        rvas[i] = 0x11000 + i;
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, count, NULL), ETL_OK);
    for (u32 i = 0; i < count; i++) {
        assert_true(etl_pdb_resolver_next(c.resolver, &location));
        assert_int_equal(location.index, i);
        assert_int_equal(location.displacement, i);
        assert_int_equal(location.function.line, i < 200000 ? 1 : 2);
    }
    assert_false(etl_pdb_resolver_next(c.resolver, &location));
    free(rvas);
}

static void scattered_blocks_give_the_same_answers(void **state)
{
    (void)state;
    char wanted[0x200][40];
    char long_name[1500];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    pdb_build_function(&c.built, 1, 0x60, 0x10, long_name);
    pdb_build_thunk(&c.built, 1, 0x70, 6, "thunk");
    for (u32 i = 0; i < 100; i++)
        pdb_build_public(&c.built, 1, 0x100 + 2 * i, i % 2 ? "odd" : "even");
    pdb_check_open(&c);
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++)
        (void)snprintf(wanted[i], sizeof wanted[i], "%s", pdb_check_at(&c, 0x1000 + i));
    c.built.is_scattered = true;
    pdb_build_container(c.built.streams, c.built.stream_count, 512, true, &c.bytes);
    assert_int_equal(pdb_check_reopen(&c), ETL_OK);
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++)
        assert_int_equal(strncmp(pdb_check_at(&c, 0x1000 + i), wanted[i], 39), 0);
    assert_int_equal(strlen(pdb_check_at(&c, 0x1060)), sizeof long_name - 1 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(address_gets_the_procedure_around_it, begin_test, end_test),
        cmocka_unit_test_setup_teardown(function_has_start_and_size, begin_test, end_test),
        cmocka_unit_test_setup_teardown(first_of_folded_procedures_has_the_address, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(every_kind_of_procedure_is_read, begin_test, end_test),
        cmocka_unit_test_setup_teardown(procedure_without_believable_end_is_stepped_through,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(end_that_is_no_end_is_stepped_through, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(procedure_outside_its_modules_code_is_not_found, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(module_without_symbols_leaves_public_ones, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(thunk_has_its_own_name, begin_test, end_test),
        cmocka_unit_test_setup_teardown(incremental_thunk_is_named_after_the_public_target,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(piece_of_a_procedure_has_its_name, begin_test, end_test),
        cmocka_unit_test_setup_teardown(address_without_procedure_gets_the_nearest_public,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(public_symbols_are_listed_by_address, begin_test, end_test),
        cmocka_unit_test_setup_teardown(batch_answers_each_address_once_module_by_module,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(addresses_at_any_distance_find_their_place, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(begin_drops_what_is_left_of_the_batch_before, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(empty_batch_has_no_locations, begin_test, end_test),
        cmocka_unit_test_setup_teardown(descending_batch_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(unknown_wishes_are_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(module_with_very_many_addresses_is_read_in_parts,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(scattered_blocks_give_the_same_answers, begin_test,
                                        end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
