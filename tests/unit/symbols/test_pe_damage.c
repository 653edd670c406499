/*
 * Goal: a damaged or hostile program file says what is wrong and where, gives what
 * can still be believed, and never crashes.
 * Method: an image with one field broken at a time; every cut and many random
 * changes of an image whose bytes end at a page that cannot be touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pe_check.h"

#define RANDOM_CHANGES 20000

/* --- damage ------------------------------------------------------------------------ */

static void assert_fails(pe_check *f, etl_status expected, const char *word)
{
    assert_int_equal(pe_check_open(f), expected);
    assert_null(f->image);
    assert_int_equal(f->error.status, expected);
    assert_non_null(strstr(f->error.message, word));
}

static void what_is_no_image_is_unsupported(void **state)
{
    pe_check *const f = *state;
    f->bytes.at[0] = 'P';
    assert_fails(f, ETL_ERR_UNSUPPORTED, "MZ");
}

static void an_empty_file_is_unsupported(void **state)
{
    pe_check *const f = *state;
    f->bytes.size = 0;
    assert_fails(f, ETL_ERR_UNSUPPORTED, "empty");
}

static void a_dos_program_is_unsupported(void **state)
{
    pe_check *const f = *state;
    memcpy(f->bytes.at + f->fields.pe_header, "NE", 2);
    assert_fails(f, ETL_ERR_UNSUPPORTED, "not a PE file");
}

static void a_pe_header_outside_the_file_is_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, 0x3c, 0xfffffff0);
    assert_fails(f, ETL_ERR_CORRUPT, "e_lfanew");
    assert_true(f->error.offset == 0x3c);
}

static void an_optional_header_of_unknown_kind_is_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u16(&f->bytes, f->fields.optional_header, 0x30b);
    assert_fails(f, ETL_ERR_CORRUPT, "0x30b");
    assert_true(f->error.offset == f->fields.optional_header);
}

static void an_optional_header_shorter_than_its_kind_is_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u16(&f->bytes, f->fields.pe_header + 20, 0x6f);
    assert_fails(f, ETL_ERR_CORRUPT, "shorter");
}

static void a_section_table_beyond_the_file_is_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u16(&f->bytes, f->fields.pe_header + 6, 4000);
    assert_fails(f, ETL_ERR_CORRUPT, "section table");
}

static void too_many_sections_are_refused(void **state)
{
    pe_check *const f = *state;
    hand_set_u16(&f->bytes, f->fields.pe_header + 6, 0xffff);
    assert_fails(f, ETL_ERR_CORRUPT, "65535 sections");
}

static void a_lying_directory_count_is_cut_to_the_header(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.directories - 4, UINT32_MAX);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_RSDS);
}

static void directories_that_are_not_counted_are_absent(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.directories - 4, 6);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_NONE);
    assert_int_equal(etl_pe_exports_count(f->exports), 7);
}

static void a_section_beyond_the_file_is_cut_and_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.sections + 40 + 16, 0xfffff000);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_damage_of(f->image)->count, 1);
    assert_non_null(strstr(etl_pe_damage_of(f->image)->first.message, ".rdata"));
    assert_int_equal(etl_pe_sections(f->image)[1].file_size, PE_BUILD_DATA_BYTES);
    assert_string_equal(pe_check_name(f, 0x1100), "Alpha");
}

static void of_overlapping_sections_the_first_counts(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.sections + 8, 0x10000);
    assert_int_equal(pe_check_open(f), ETL_OK);
    /* .text claims the addresses of .rdata, where it has no bytes. */
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_NONE);
    assert_int_equal(etl_pe_exports_count(f->exports), 0);
    assert_true(etl_pe_damage_of(f->image)->count > 0);
    assert_true(etl_pe_exports_damage(f->exports)->count > 0);
}

static void lying_export_counts_are_cut_to_the_file(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.export_directory + 20, UINT32_MAX);
    hand_set_u32(&f->bytes, f->fields.export_directory + 24, UINT32_MAX);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_true(etl_pe_exports_damage(f->exports)->count > 0);
    assert_non_null(strstr(etl_pe_exports_damage(f->exports)->first.message, "4294967295"));
    assert_string_equal(pe_check_name(f, 0x1100), "Alpha");
}

static void an_export_array_outside_the_file_is_named(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.export_directory + 28, 0x70000000);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_exports_count(f->exports), 0);
    assert_non_null(strstr(etl_pe_exports_damage(f->exports)->first.message, "AddressOfFunctions"));
}

static void a_name_index_beyond_the_functions_costs_that_name(void **state)
{
    pe_check *const f = *state;
    hand_set_u16(&f->bytes, f->fields.name_indices, 0xffff);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_exports_damage(f->exports)->count, 1);
    assert_string_equal(pe_check_name(f, 0x1100), "Ordinal12");
}

static void a_name_outside_the_file_costs_that_name(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.names, 0x7fffffff);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_exports_damage(f->exports)->count, 1);
    assert_string_equal(pe_check_name(f, 0x1100), "Ordinal12");
}

static void an_address_outside_the_image_costs_that_export(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.functions, 0x80000000);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_exports_damage(f->exports)->count, 1);
    assert_string_equal(pe_check_name(f, 0x1020), "none");
    assert_string_equal(pe_check_name(f, 0x1100), "Alpha");
}

/* Asks an image for all it has; the bytes lie before a page that is not there. */
static void ask_everything(etl_bytes bytes)
{
    const hand_guarded guarded = hand_guard_bytes(bytes, HAND_AT_END);
    etl_pe_image *image;
    etl_pe_exports *exports;
    etl_error error;
    if (etl_pe_open_memory((etl_bytes){ guarded.at, guarded.size }, &image, &error) == ETL_OK) {
        char name[64];
        u64 sum = 0;
        etl_pe_export entry;
        assert_int_equal(etl_pe_exports_open(image, &exports, &error), ETL_OK);
        for (u32 i = 0; i < etl_pe_exports_count(exports); i++) {
            entry = etl_pe_exports_at(exports, i);
            sum += etl_pe_export_display_name(&entry, name, sizeof name) + entry.forwarder.size;
        }
        for (u32 rva = 0; rva < PE_BUILD_IMAGE_BYTES; rva += 0x333)
            sum += etl_pe_exports_find(exports, rva, &entry);
        const etl_bytes path = etl_pe_pdb_of(image)->path;
        for (size_t i = 0; i < path.size; i++)
            sum += path.at[i];
        assert_true(sum != UINT64_MAX);
        etl_pe_exports_close(exports);
        etl_pe_close(image);
    } else {
        assert_null(image);
        assert_true(error.message[0] != 0);
    }
    hand_unguard((hand_guarded[]){ guarded });
}

static void no_cut_of_an_image_crashes(void **state)
{
    const pe_check *const f = *state;
    for (size_t size = 0; size < f->fields.export_names_end + 64; size++)
        if (size < 0x400 || size >= 0x1400 || size % 64 == 0)
            ask_everything((etl_bytes){ f->bytes.at, size });
}

static void no_change_of_an_image_crashes(void **state)
{
    pe_check *const f = *state;
    /* Where a change means something: headers and directories. */
    const size_t headers_end = f->fields.sections + 80;
    const size_t data_start = f->fields.debug_entry;
    const size_t data_size = f->fields.export_names_end - data_start;
    u64 seed = 20240229;
    hand_bytes changed = { 0 };
    hand_put(&changed, f->bytes.at, f->bytes.size);
    for (u32 i = 0; i < RANDOM_CHANGES; i++) {
        memcpy(changed.at, f->bytes.at, f->fields.export_names_end);
        for (u32 change = hand_random(&seed) % 4 + 1; change > 0; change--) {
            const u32 place = hand_random(&seed) % (u32)(headers_end + data_size);
            const size_t at = place < headers_end ? place : place - headers_end + data_start;
            static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
            const u32 value = hand_random(&seed);
            changed.at[at] = value % 2 ? values[value / 2 % 5] : (u8)(value >> 8);
        }
        ask_everything(hand_view(&changed));
    }
    hand_free(&changed);
}

static void a_file_that_is_not_there_is_an_io_error(void **state)
{
    (void)state;
    etl_pe_image *image;
    etl_error error;
    assert_int_equal(etl_pe_open("/nonexistent/app.exe", &image, &error), ETL_ERR_IO);
    assert_null(image);
    etl_pe_close(NULL);
    etl_pe_exports_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pe_check_set_up, pe_check_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_image_is_unsupported),
        TEST(an_empty_file_is_unsupported),
        TEST(a_dos_program_is_unsupported),
        TEST(a_pe_header_outside_the_file_is_named),
        TEST(an_optional_header_of_unknown_kind_is_named),
        TEST(an_optional_header_shorter_than_its_kind_is_named),
        TEST(a_section_table_beyond_the_file_is_named),
        TEST(too_many_sections_are_refused),
        TEST(a_lying_directory_count_is_cut_to_the_header),
        TEST(directories_that_are_not_counted_are_absent),
        TEST(a_section_beyond_the_file_is_cut_and_named),
        TEST(of_overlapping_sections_the_first_counts),
        TEST(lying_export_counts_are_cut_to_the_file),
        TEST(an_export_array_outside_the_file_is_named),
        TEST(a_name_index_beyond_the_functions_costs_that_name),
        TEST(a_name_outside_the_file_costs_that_name),
        TEST(an_address_outside_the_image_costs_that_export),
        TEST(no_cut_of_an_image_crashes),
        TEST(no_change_of_an_image_crashes),
        cmocka_unit_test(a_file_that_is_not_there_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
