/*
 * Goal: each frame of a location has the checksum of its own file, and a checksum that is damaged
 * is none.
 * Method: small files built in memory, whose memory ends with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "pdb_check.h"

static pdb_check c;
static u8 sum[64];

static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x1000);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0, 0x1000);
    for (size_t i = 0; i < sizeof sum; i++)
        sum[i] = (u8)(i + 1);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

static void add_function(u32 offset, const char *name, u32 file)
{
    static const u32 lines[] = { 0, 10 };
    const u32 begin = pdb_build_lines_begin(&c.built, offset, 0x10);
    pdb_build_lines_block(&c.built, file, lines, 1);
    pdb_build_lines_end(&c.built, begin);
    pdb_build_function(&c.built, 1, offset, 0x10, name);
}

/* The checksum at an address whose level there is one; false: the frame has no file. */
static bool checksum_at(u32 rva, etl_pdb_checksum *out)
{
    etl_pdb_location location;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, &rva, 1, NULL), ETL_OK);
    assert_true(etl_pdb_resolver_next(c.resolver, &location));
    assert_int_equal(location.inline_count, 0);
    assert_false(etl_pdb_frame_checksum(c.resolver, 1, out));
    return etl_pdb_frame_checksum(c.resolver, 0, out);
}

static void checksums_of_all_kinds_are_read(void **state)
{
    (void)state;
    static const struct {
        u8 kind, size;
    } rows[] = { { ETL_PDB_CHECKSUM_NONE, 0 },
                 { ETL_PDB_CHECKSUM_MD5, 16 },
                 { ETL_PDB_CHECKSUM_SHA1, 20 },
                 { ETL_PDB_CHECKSUM_SHA256, 32 } };
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        char name[16];
        snprintf(name, sizeof name, "%u.cpp", i);
        add_function(0x100 * i, name,
                     pdb_build_file_checksum(&c.built, name, rows[i].kind, sum + i, rows[i].size));
    }
    pdb_check_open(&c);
    for (u32 i = 0; i < ETL_COUNT_OF(rows); i++) {
        etl_pdb_checksum found;
        assert_true(checksum_at(0x1000 + 0x100 * i, &found));
        assert_int_equal(found.kind, rows[i].kind);
        assert_int_equal(found.size, rows[i].size);
        assert_memory_equal(found.bytes, sum + i, found.size);
    }
}

/* A size that is not that of its kind, a kind from later, and one that goes on behind the end. */
static void damaged_checksums_are_none(void **state)
{
    (void)state;
    etl_pdb_checksum found;
    add_function(0x000, "short", pdb_build_file_checksum(&c.built, "a", 1, sum, 15));
    add_function(0x100, "long", pdb_build_file_checksum(&c.built, "b", 3, sum, 33));
    add_function(0x200, "later", pdb_build_file_checksum(&c.built, "c", 4, sum, 48));
    add_function(0x300, "zero", pdb_build_file_checksum(&c.built, "d", 0, sum, 16));
    add_function(0x400, "cut", pdb_build_file_checksum(&c.built, "e", 3, sum, 32));
    c.built.modules[0].checksums.size -= 4;
    pdb_check_open(&c);
    for (u32 i = 0; i < 5; i++) {
        assert_true(checksum_at(0x1000 + 0x100 * i, &found));
        assert_int_equal(found.kind, ETL_PDB_CHECKSUM_NONE);
        assert_int_equal(found.size, 0);
    }
}

static void frame_without_a_file_has_none(void **state)
{
    (void)state;
    etl_pdb_checksum found;
    pdb_build_function(&c.built, 1, 0x10, 0x10, "f");
    add_function(0x100, "g", pdb_build_file_checksum(&c.built, "a", 1, sum, 16));
    pdb_check_open(&c);
    assert_true(checksum_at(0x1100, &found));
    assert_false(checksum_at(0x1010, &found));
    assert_int_equal(found.kind, ETL_PDB_CHECKSUM_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(checksums_of_all_kinds_are_read, begin_test, end_test),
        cmocka_unit_test_setup_teardown(damaged_checksums_are_none, begin_test, end_test),
        cmocka_unit_test_setup_teardown(frame_without_a_file_has_none, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
