/*
 * Goal: a program file says which build it is, which PDB belongs to it and what
 * it exports.
 * Method: images built field by field, each fact once. Damage is test_pe_damage.c's,
 * real files and what other tools think of them are test_pe_real.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pe_check.h"

/* --- headers ----------------------------------------------------------------- */

static void headers_of_a_64_bit_image_are_read(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_info *const info = etl_pe_info_of(f->image);
    assert_int_equal(info->machine, 0x8664);
    assert_int_equal(info->pointer_bytes, 8);
    assert_true(info->image_base == 0x180000000);
    assert_int_equal(info->time_date_stamp, 0x51ca1e00);
    assert_int_equal(info->image_size_bytes, PE_BUILD_IMAGE_BYTES);
    assert_int_equal(info->image_checksum, 0xc3a96);
    assert_int_equal(info->entry_rva, 0x1010);
    assert_int_equal(info->characteristics, 0x2022);
    assert_true(etl_pe_damage_of(f->image)->count == 0);
}

static void headers_of_a_32_bit_image_are_read(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_info *const info = etl_pe_info_of(f->image);
    assert_int_equal(info->machine, 0x14c);
    assert_int_equal(info->pointer_bytes, 4);
    assert_true(info->image_base == 0x10000000);
    assert_int_equal(info->image_size_bytes, PE_BUILD_IMAGE_BYTES);
    assert_int_equal(info->image_checksum, 0xc3a96);
    assert_string_equal(pe_check_name(f, 0x1100), "Alpha");
    assert_int_equal(etl_pe_pdb_of(f->image)->age, 3);
}

static void sections_are_read_in_order(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_section *const sections = etl_pe_sections(f->image);
    assert_int_equal(etl_pe_info_of(f->image)->section_count, 2);
    assert_string_equal(sections[0].name, ".text");
    assert_int_equal(sections[0].rva, 0x1000);
    assert_int_equal(sections[0].characteristics, 0x60000020);
    assert_string_equal(sections[1].name, ".rdata");
    assert_int_equal(sections[1].file_offset, 0x1400);
    assert_int_equal(sections[1].file_size, PE_BUILD_DATA_BYTES);
}

static void a_section_name_of_eight_letters_ends_there(void **state)
{
    pe_check *const f = *state;
    memcpy(f->bytes.at + f->fields.sections, "12345678", 8);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_string_equal(etl_pe_sections(f->image)[0].name, "12345678");
}

/* --- the PDB ------------------------------------------------------------------- */

static void an_rsds_record_names_the_pdb(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_pdb *const pdb = etl_pe_pdb_of(f->image);
    assert_int_equal(pdb->kind, ETL_PE_PDB_RSDS);
    assert_memory_equal(pdb->guid.bytes, pe_check_guid.bytes, 16);
    assert_int_equal(pdb->age, 3);
    pe_check_text(pdb->path, "C:\\build\\heap app.pdb");
}

static void an_nb10_record_is_told_apart(void **state)
{
    pe_check *const f = *state;
    hand_free(&f->bytes);
    pe_build_options options = pe_check_options(4);
    options.is_nb10 = true;
    f->fields = pe_build(&f->bytes, &options);
    assert_int_equal(pe_check_open(f), ETL_OK);
    const etl_pe_pdb *const pdb = etl_pe_pdb_of(f->image);
    assert_int_equal(pdb->kind, ETL_PE_PDB_NB10);
    assert_int_equal(pdb->signature, 0x3a7b9d11);
    assert_int_equal(pdb->age, 3);
    pe_check_text(pdb->path, "C:\\build\\heap app.pdb");
}

static void an_image_without_debug_directory_has_no_pdb(void **state)
{
    pe_check *const f = *state;
    hand_set_u64(&f->bytes, f->fields.directories + 6 * 8, 0);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_NONE);
    assert_true(etl_pe_damage_of(f->image)->count == 0);
}

static void a_record_that_is_not_mapped_is_found_by_file_offset(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.debug_entry + 20, 0);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_RSDS);
}

static void a_record_without_file_offset_is_found_by_address(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.debug_entry + 24, 0);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_RSDS);
}

static void other_debug_entries_are_passed_over(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.debug_entry + 12, 13);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_NONE);
    assert_true(etl_pe_damage_of(f->image)->count == 0);
}

static void a_cut_off_record_is_named_damage(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.debug_entry + 24, (u32)f->bytes.size - 10);
    assert_int_equal(pe_check_open(f), ETL_OK);
    const etl_pe_damage *const damage = etl_pe_damage_of(f->image);
    assert_int_equal(damage->count, 1);
    assert_int_equal(damage->first.status, ETL_ERR_CORRUPT);
    assert_true(damage->first.offset == f->fields.debug_entry);
    assert_non_null(strstr(damage->first.message, "CodeView"));
    assert_int_equal(etl_pe_pdb_of(f->image)->kind, ETL_PE_PDB_NONE);
}

static void a_debug_directory_outside_the_file_is_named_damage(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.directories + 6 * 8, 0x7fff0000);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_damage_of(f->image)->count, 1);
    assert_non_null(strstr(etl_pe_damage_of(f->image)->first.message, "0x7fff0000"));
}

static void an_unterminated_path_ends_with_its_record(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.debug_entry + 16, 24 + 8);
    assert_int_equal(pe_check_open(f), ETL_OK);
    pe_check_text(etl_pe_pdb_of(f->image)->path, "C:\\build");
}

/* --- exports -------------------------------------------------------------------- */

static void an_address_is_named_after_the_nearest_export_below(void **state)
{
    const pe_check *const f = *state;
    assert_string_equal(pe_check_name(f, 0x1020), "Beta");
    assert_string_equal(pe_check_name(f, 0x10ff), "Beta");
    assert_string_equal(pe_check_name(f, 0x1100), "Alpha");
    assert_string_equal(pe_check_name(f, 0x1fff), "NtClose");
    assert_string_equal(pe_check_name(f, 0x101f), "none");
}

static void an_export_without_name_is_called_after_its_ordinal(void **state)
{
    const pe_check *const f = *state;
    assert_string_equal(pe_check_name(f, 0x1234), "Ordinal14");
}

static void of_two_names_the_alphabetically_first_is_shown(void **state)
{
    const pe_check *const f = *state;
    assert_string_equal(pe_check_name(f, 0x1400), "NtClose");
}

static void exports_of_another_section_name_nothing(void **state)
{
    const pe_check *const f = *state;
    assert_string_equal(pe_check_name(f, 0x3500), "Variable");
    assert_string_equal(pe_check_name(f, 0x3000), "none");
    assert_string_equal(pe_check_name(f, 0x2800), "none");
    assert_string_equal(pe_check_name(f, UINT32_MAX), "none");
}

static void exports_come_by_address_and_forwarders_last(void **state)
{
    const pe_check *const f = *state;
    static const char *const names[] = { "Beta",    "Alpha",    "",         "NtClose",
                                         "ZwClose", "Variable", "Forwarded" };
    assert_int_equal(etl_pe_exports_count(f->exports), ETL_COUNT_OF(names));
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++)
        pe_check_text(etl_pe_exports_at(f->exports, i).name, names[i]);
    assert_int_equal(etl_pe_exports_at(f->exports, 2).ordinal, 14);
    const u32 beyond[] = { ETL_COUNT_OF(names), INT32_MAX, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(beyond); i++) {
        const etl_pe_export none = etl_pe_exports_at(f->exports, beyond[i]);
        assert_true(none.rva == 0 && none.ordinal == 0 && none.name.size == 0);
    }
    assert_true(etl_pe_exports_damage(f->exports)->count == 0);
}

static void forwarders_are_readable_and_have_no_address(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_export entry = etl_pe_exports_at(f->exports, 6);
    assert_int_equal(entry.ordinal, 13);
    assert_int_equal(entry.rva, 0);
    pe_check_text(entry.forwarder, "NTDLL.RtlAllocateHeap");
    pe_check_text(etl_pe_exports_at(f->exports, 0).forwarder, "");
}

static void unused_ordinals_are_no_exports(void **state)
{
    pe_check *const f = *state;
    hand_set_u32(&f->bytes, f->fields.functions + 4 * 4, 0);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_string_equal(pe_check_name(f, 0x1234), "Alpha");
}

static void an_image_without_exports_has_none(void **state)
{
    pe_check *const f = *state;
    hand_set_u64(&f->bytes, f->fields.directories, 0);
    assert_int_equal(pe_check_open(f), ETL_OK);
    assert_int_equal(etl_pe_exports_count(f->exports), 0);
    assert_string_equal(pe_check_name(f, 0x1100), "none");
    assert_true(etl_pe_exports_damage(f->exports)->count == 0);
}

static void a_long_display_name_is_cut_at_the_buffer(void **state)
{
    const pe_check *const f = *state;
    const etl_pe_export entry = etl_pe_exports_at(f->exports, 0);
    char small[3];
    assert_int_equal(etl_pe_export_display_name(&entry, small, sizeof small), 4);
    assert_string_equal(small, "Be");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pe_check_set_up, pe_check_tear_down)
#define NARROW(name)                                                                               \
    cmocka_unit_test_setup_teardown(name, pe_check_set_up_narrow, pe_check_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(headers_of_a_64_bit_image_are_read),
        NARROW(headers_of_a_32_bit_image_are_read),
        TEST(sections_are_read_in_order),
        TEST(a_section_name_of_eight_letters_ends_there),
        TEST(an_rsds_record_names_the_pdb),
        TEST(an_nb10_record_is_told_apart),
        TEST(an_image_without_debug_directory_has_no_pdb),
        TEST(a_record_that_is_not_mapped_is_found_by_file_offset),
        TEST(a_record_without_file_offset_is_found_by_address),
        TEST(other_debug_entries_are_passed_over),
        TEST(a_cut_off_record_is_named_damage),
        TEST(a_debug_directory_outside_the_file_is_named_damage),
        TEST(an_unterminated_path_ends_with_its_record),
        TEST(an_address_is_named_after_the_nearest_export_below),
        TEST(an_export_without_name_is_called_after_its_ordinal),
        TEST(of_two_names_the_alphabetically_first_is_shown),
        TEST(exports_of_another_section_name_nothing),
        TEST(exports_come_by_address_and_forwarders_last),
        TEST(forwarders_are_readable_and_have_no_address),
        TEST(unused_ordinals_are_no_exports),
        TEST(an_image_without_exports_has_none),
        TEST(a_long_display_name_is_cut_at_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
