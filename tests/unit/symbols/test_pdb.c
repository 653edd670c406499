/*
 * Goal: a PDB is opened for what it is, and what cannot be used is refused with
 * a sentence that helps.
 * Method: small files built in memory, with one property changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "parser/symbols/msf.h"
#include "pdb_check.h"
#include "tests/support/temporary.h"

static pdb_check c;

static int begin_test(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build_section(&c.built, 0x1000, 0x2000);
    pdb_build_section(&c.built, 0x4000, 0x500);
    pdb_build_module(&c.built);
    pdb_build_contribution(&c.built, 1, 0, 0x100);
    pdb_build_function(&c.built, 1, 0x10, 0x20, "main");
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    return 0;
}

static void assert_refused(etl_status status, const char *part)
{
    assert_int_equal(pdb_check_reopen(&c), status);
    assert_null(c.file);
    if (!strstr(c.error.message, part))
        fail_msg("\"%s\" does not say \"%s\"", c.error.message, part);
}

/* File offset of a byte of a stream, where streams lie block after block. */
static size_t file_offset(u32 stream, u32 offset)
{
    msf_file msf;
    u8 scratch[4];
    assert_int_equal(msf_open(hand_view(&c.bytes), &msf, NULL), ETL_OK);
    msf_stream reader = msf_stream_of(&msf, stream);
    const etl_bytes view = msf_view(&reader, offset, 4, scratch);
    const size_t at = (size_t)(view.at - c.bytes.at);
    msf_close(&msf);
    return at;
}

static void information_is_that_of_the_file(void **state)
{
    (void)state;
    pdb_check_open(&c);
    const etl_pdb_info *const info = etl_pdb_info_of(c.file);
    char guid[ETL_GUID_TEXT_SIZE];
    etl_guid_format(info->guid.bytes, guid);
    assert_string_equal(guid, "a3a2a1a0-a5a4-a7a6-a8a9-aaabacadaeaf");
    assert_int_equal(info->time_date, 0x12345678);
    assert_int_equal(info->machine, 0x8664);
    assert_int_equal(info->module_count, 1);
    assert_int_equal(info->section_count, 2);
    assert_false(info->is_stripped);
    assert_false(info->has_omap);
}

/* Tools that add streams raise the file's own age; images go by the other one. */
static void age_is_that_of_the_debug_information(void **state)
{
    (void)state;
    c.built.age = 5;
    c.built.file_age = 9;
    pdb_check_open(&c);
    assert_int_equal(etl_pdb_info_of(c.file)->age, 5);
    assert_int_equal(etl_pdb_info_of(c.file)->file_age, 9);
}

static void sections_are_those_of_the_image(void **state)
{
    (void)state;
    pdb_check_open(&c);
    const etl_pdb_section *const sections = etl_pdb_sections(c.file);
    assert_int_equal(sections[1].rva, 0x4000);
    assert_int_equal(sections[1].size_bytes, 0x500);
    assert_int_equal(sections[1].characteristics, 0x60000020);
}

static void stripped_file_says_so(void **state)
{
    (void)state;
    c.built.debug_flags = PDB_DBI_FLAG_STRIPPED;
    pdb_check_open(&c);
    assert_true(etl_pdb_info_of(c.file)->is_stripped);
}

static void file_on_disk_is_opened_by_path(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH_BYTES];
    const int fd = temporary_file(path, "test_pdb");
    assert_true(fd >= 0);
    pdb_check_write(&c);
    assert_int_equal(write(fd, c.bytes.at, c.bytes.size), (int)c.bytes.size);
    (void)close(fd);
    const etl_status status = etl_pdb_open(path, &c.file, &c.error);
    (void)unlink(path);
    assert_int_equal(status, ETL_OK);
    assert_int_equal(etl_pdb_resolver_open(c.file, ETL_PDB_WANT_ALL, &c.resolver, NULL), ETL_OK);
    pdb_check_says(&c, 0x1014, "main+0x4");
}

static void missing_file_is_an_error_of_the_environment(void **state)
{
    (void)state;
    assert_int_equal(etl_pdb_open("/nowhere/at.pdb", &c.file, &c.error), ETL_ERR_IO);
    assert_null(c.file);
}

static void fastlink_is_refused_with_advice(void **state)
{
    (void)state;
    c.built.feature = PDB_FEATURE_MINIMAL_DEBUG;
    pdb_check_write(&c);
    assert_refused(ETL_ERR_UNSUPPORTED, "/DEBUG:FULL");
}

static void types_only_file_is_refused_with_advice(void **state)
{
    (void)state;
    c.built.has_no_debug = true;
    pdb_check_write(&c);
    assert_refused(ETL_ERR_UNSUPPORTED, "linker");
}

static void file_without_sections_is_refused(void **state)
{
    (void)state;
    hand_free(&c.built.sections);
    pdb_check_write(&c);
    assert_refused(ETL_ERR_UNSUPPORTED, "sections");
}

static void old_information_stream_is_refused(void **state)
{
    (void)state;
    pdb_check_write(&c);
    hand_set_u32(&c.bytes, file_offset(PDB_STREAM_INFO, 0), 19970604);
    assert_refused(ETL_ERR_CORRUPT, "stream 1, offset 0x0");
}

static void stream_names_longer_than_their_stream_are_refused(void **state)
{
    (void)state;
    pdb_check_write(&c);
    hand_set_u32(&c.bytes, file_offset(PDB_STREAM_INFO, 28), 0x7fffffff);
    assert_refused(ETL_ERR_CORRUPT, "stream 1");
}

static void old_debug_information_is_refused(void **state)
{
    (void)state;
    pdb_check_write(&c);
    hand_set_u32(&c.bytes, file_offset(PDB_STREAM_DBI, 0), 1);
    assert_refused(ETL_ERR_CORRUPT, "stream 3, offset 0x0");
}

static void parts_of_debug_information_must_fit_it(void **state)
{
    (void)state;
    /* Modules, contributions, map, sources, type servers, table, names. */
    static const u32 fields[] = { 0x18, 0x1c, 0x20, 0x24, 0x28, 0x30, 0x34 };
    for (size_t i = 0; i < ETL_COUNT_OF(fields); i++) {
        pdb_check_write(&c);
        hand_set_u32(&c.bytes, file_offset(PDB_STREAM_DBI, fields[i]), UINT32_MAX);
        assert_refused(ETL_ERR_CORRUPT, "stream 3, offset 0x18");
        pdb_check_end(&c);
        (void)begin_test(NULL);
    }
}

static void unknown_contributions_are_refused(void **state)
{
    (void)state;
    pdb_check_write(&c);
    const size_t sizes = file_offset(PDB_STREAM_DBI, 0x18);
    const u32 modules_size = etl_load_u32(c.bytes.at + sizes);
    hand_set_u32(&c.bytes, file_offset(PDB_STREAM_DBI, PDB_DBI_HEADER_BYTES + modules_size), 77);
    assert_refused(ETL_ERR_CORRUPT, "section contributions");
}

static void stump_of_a_module_is_no_module(void **state)
{
    (void)state;
    pdb_check_write(&c);
    const size_t sizes = file_offset(PDB_STREAM_DBI, 0x18);
    const u32 modules_size = etl_load_u32(c.bytes.at + sizes);
    const u32 contributions_size = etl_load_u32(c.bytes.at + sizes + 4);
    hand_set_u32(&c.bytes, sizes, PDB_MODULE_FIXED_BYTES - 4);
    hand_set_u32(&c.bytes, sizes + 4, 0);
    hand_set_u32(&c.bytes, sizes + 8,
                 contributions_size + modules_size - (PDB_MODULE_FIXED_BYTES - 4));
    assert_int_equal(pdb_check_reopen(&c), ETL_OK);
    assert_int_equal(etl_pdb_info_of(c.file)->module_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(information_is_that_of_the_file, begin_test, end_test),
        cmocka_unit_test_setup_teardown(age_is_that_of_the_debug_information, begin_test, end_test),
        cmocka_unit_test_setup_teardown(sections_are_those_of_the_image, begin_test, end_test),
        cmocka_unit_test_setup_teardown(stripped_file_says_so, begin_test, end_test),
        cmocka_unit_test_setup_teardown(file_on_disk_is_opened_by_path, begin_test, end_test),
        cmocka_unit_test_setup_teardown(missing_file_is_an_error_of_the_environment, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(fastlink_is_refused_with_advice, begin_test, end_test),
        cmocka_unit_test_setup_teardown(types_only_file_is_refused_with_advice, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(file_without_sections_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(old_information_stream_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(stream_names_longer_than_their_stream_are_refused,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(old_debug_information_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(parts_of_debug_information_must_fit_it, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(unknown_contributions_are_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(stump_of_a_module_is_no_module, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
