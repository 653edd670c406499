/*
 * Goal: image events and what merges add about images decode as
 * layout_events.h says.
 * Method: hand-written payloads with every field expected and the checks that
 * follow from any vector (decode_check.h); what a vector cannot say has a test
 * of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"

#define PATH_16 "5c006100 2e006400 6c006c00 0000 " /* "\a.dll", UTF-16 */
#define NAME_16 "61002e00 64006c00 6c00 0000 "     /* "a.dll" */
#define GUID    "04030201 0605 0807 090a0b0c0d0e0f10 "

static const decode_vector vectors[] = {
    { .name = "image version 0 belongs to the process in the header",
      .key = ETL_HOOK_IMAGE_LOAD,
      .version = 0,
      .pointer_bytes = 4,
      .hex = "00001601 00e01900 " PATH_16,
      .event = "Image/Load image_base=0x1160000 image_size=1695744 process_id=77 "
               "image_checksum=0 time_date_stamp=0 file_name='\\a.dll'",
      .least = 8 },
    { .name = "image version 0, 64-bit",
      .key = ETL_HOOK_IMAGE_UNLOAD,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 00e01900 " PATH_16,
      .event = "Image/UnLoad image_base=0x7ff740330000 image_size=1695744 process_id=77 "
               "image_checksum=0 time_date_stamp=0 file_name='\\a.dll'",
      .least = 12 },
    { .name = "image version 1",
      .key = ETL_HOOK_IMAGE_DCSTART,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "00001601 00e01900 e1100000 " PATH_16,
      .event = "Image/DCStart image_base=0x1160000 image_size=1695744 process_id=4321 "
               "image_checksum=0 time_date_stamp=0 file_name='\\a.dll'",
      .least = 12 },
    { .name = "image version 1, 64-bit",
      .key = ETL_HOOK_IMAGE_DCEND,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 00e0190000000000 e1100000 " PATH_16,
      .event = "Image/DCEnd image_base=0x7ff740330000 image_size=1695744 process_id=4321 "
               "image_checksum=0 time_date_stamp=0 file_name='\\a.dll'",
      .least = 20 },
    { .name = "image version 2",
      .key = ETL_HOOK_IMAGE_LOAD,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001601 00e01900 e1100000 865d1300 a6a79147 00000000 00001000 "
             "00000000 00000000 00000000 00000000 " PATH_16,
      .event = "Image/Load image_base=0x1160000 image_size=1695744 process_id=4321 "
               "image_checksum=1269126 time_date_stamp=1200727974 file_name='\\a.dll'",
      .least = 44 },
    { .name = "image version 2, 64-bit",
      .key = ETL_HOOK_IMAGE_UNLOAD,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 00e0190000000000 e1100000 865d1300 a6a79147 00000000 "
             "0000004001000000 00000000 00000000 00000000 00000000 " PATH_16,
      .event = "Image/UnLoad image_base=0x7ff740330000 image_size=1695744 process_id=4321 "
               "image_checksum=1269126 time_date_stamp=1200727974 file_name='\\a.dll'",
      .least = 56 },
    { .name = "image version 3",
      .key = ETL_HOOK_IMAGE_DCSTART,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00001601 00e01900 e1100000 865d1300 a6a79147 0c010000 00001000 "
             "00000000 00000000 00000000 00000000 " PATH_16,
      .event = "Image/DCStart image_base=0x1160000 image_size=1695744 process_id=4321 "
               "image_checksum=1269126 time_date_stamp=1200727974 file_name='\\a.dll'",
      .least = 44,
      .newest = true },
    { .name = "image version 3, 64-bit",
      .key = ETL_HOOK_IMAGE_DCEND,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 00e0190000000000 e1100000 865d1300 00000000 0c010000 "
             "0000004001000000 00000000 00000000 00000000 00000000 " PATH_16,
      .event = "Image/DCEnd image_base=0x7ff740330000 image_size=1695744 process_id=4321 "
               "image_checksum=1269126 time_date_stamp=0 file_name='\\a.dll'",
      .least = 56,
      .newest = true },
    { .name = "kernel base",
      .key = ETL_HOOK_IMAGE_KERNEL_BASE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0090482100f8ffff",
      .event = "Image/KernelBase image_base=0xfffff80021489000",
      .least = WHOLE,
      .newest = true },

    { .name = "image id",
      .key = ETL_KEY_IMAGE_ID,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001601 00e01900 e1100000 a6a79147 " NAME_16,
      .event = "ImageID/Info image_base=0x1160000 image_size=1695744 process_id=4321 "
               "time_date_stamp=1200727974 original_file_name='a.dll'",
      .least = 16,
      .newest = true },
    { .name = "image id, 64-bit",
      .key = ETL_KEY_IMAGE_ID,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 00e0190000000000 e1100000 a6a79147 " NAME_16,
      .event = "ImageID/Info image_base=0x7ff740330000 image_size=1695744 process_id=4321 "
               "time_date_stamp=1200727974 original_file_name='a.dll'",
      .least = 24,
      .newest = true },
    { .name = "image without debug information",
      .key = ETL_KEY_IMAGE_NONE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001601 e1100000",
      .event = "ImageID/None image_base=0x1160000 process_id=4321",
      .least = WHOLE,
      .newest = true },
    { .name = "reproducible image",
      .key = ETL_KEY_IMAGE_DETERMINISTIC,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100100",
      .event = "ImageID/DbgDeterm image_base=0x7ff740330000 process_id=69857",
      .least = WHOLE,
      .newest = true },
    { .name = "image with a DBG file",
      .key = ETL_KEY_IMAGE_DBG_FILE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100000 865d1300 a6a79147 00e01900 " NAME_16,
      .event = "ImageID/DbgID_DBG image_base=0x7ff740330000 process_id=4321 "
               "image_checksum=1269126 time_date_stamp=1200727974 image_size=1695744 "
               "file_name='a.dll'",
      .least = 24,
      .newest = true },
    { .name = "pdb",
      .key = ETL_KEY_IMAGE_RSDS,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001601 e1100000 " GUID "02000000 612e70646200",
      .event = "ImageID/DbgID_RSDS image_base=0x1160000 process_id=4321 "
               "guid=01020304-0506-0708-090a-0b0c0d0e0f10 age=2 pdb_file_name='a.pdb'",
      .least = 28,
      .newest = true },
    { .name = "pdb with a name in Latin-1, 64-bit",
      .key = ETL_KEY_IMAGE_RSDS,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100000 " GUID "02000000 e92e70646200",
      .event = "ImageID/DbgID_RSDS image_base=0x7ff740330000 process_id=4321 "
               "guid=01020304-0506-0708-090a-0b0c0d0e0f10 age=2 pdb_file_name='\u00e9.pdb'",
      .least = 32,
      .newest = true },
    { .name = "managed pdb",
      .key = ETL_KEY_IMAGE_IL_RSDS,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100000 " GUID "02000000 612e70646200",
      .event = "ImageID/DbgID_ILRSDS image_base=0x7ff740330000 process_id=4321 "
               "guid=01020304-0506-0708-090a-0b0c0d0e0f10 age=2 pdb_file_name='a.pdb'",
      .least = 32,
      .newest = true },
    { .name = "portable pdb",
      .key = ETL_KEY_IMAGE_PORTABLE_PDB,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100000 a6a79147 0001 0200",
      .event = "ImageID/DbgPPDB image_base=0x7ff740330000 process_id=4321 "
               "time_date_stamp=1200727974 major_version=256 minor_version=2",
      .least = WHOLE,
      .newest = true },
    { .name = "embedded pdb",
      .key = ETL_KEY_IMAGE_EMBEDDED_PDB,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "00003340f77f0000 e1100000 0001 0200 " GUID "03000000",
      .event = "ImageID/DbgEmbeddedPDB image_base=0x7ff740330000 process_id=4321 "
               "major_version=256 minor_version=2 guid=01020304-0506-0708-090a-0b0c0d0e0f10 age=3",
      .least = WHOLE,
      .newest = true },
    { .name = "why an image could not be read",
      .key = ETL_KEY_IMAGE_ERROR,
      .version = 1,
      .pointer_bytes = 8,
      .hex = NAME_16,
      .event = "ImageID/Error text='a.dll'",
      .least = 0,
      .newest = true },
    { .name = "file version with an empty string amid",
      .key = ETL_KEY_IMAGE_FILE_VERSION,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "00e01900 a6a79147 " NAME_16 "42000000 43000000 44000000 0000 46000000 47000000 "
             "48000000 49000000 4a000000",
      .event = "ImageID/FileVersion image_size=1695744 time_date_stamp=1200727974 "
               "original_file_name='a.dll' file_description='B' file_version='C' "
               "binary_file_version='D' version_language='' product_name='F' company_name='G' "
               "product_version='H' file_id='I' program_id='J'",
      .least = 8,
      .newest = true },
};

#include "decode_vector_tests.h"

/* Decodes `hex` as a classic image event under a header of the given width. */
static etl_event decoded_classic(u16 version, u8 stated_width, const char *hex)
{
    const decode_vector vector = {
        .key = ETL_HOOK_IMAGE_DCSTART, .version = version, .pointer_bytes = stated_width, .hex = hex
    };
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(&vector, &size);
    const etl_header_kind header = stated_width == 4 ? ETL_HEADER_FULL32 : ETL_HEADER_FULL64;
    const etl_record record = decode_vector_record(&vector, (etl_bytes){ bytes, size }, header);
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    event.as.image.file_name.at = NULL; /* goes with the payload */
    free(bytes);
    return event;
}

static void a_classic_image_is_read_at_the_width_its_bytes_prove(void **state)
{
    (void)state;
    const etl_event version_0 = decoded_classic(0, 4, "0000160100000000 00e01900 " PATH_16);
    assert_int_equal(version_0.pointer_bytes, 8);
    assert_int_equal(version_0.as.image.image_size_bytes, 0x19e000);
    const etl_event version_1 =
        decoded_classic(1, 4, "00003340f77f0000 00e0190000000000 e1100000 " PATH_16);
    assert_int_equal(version_1.pointer_bytes, 8);
    assert_int_equal(version_1.as.image.process_id, 4321);
    const etl_event narrow = decoded_classic(1, 8, "00001601 00e01900 e1100000 " PATH_16);
    assert_int_equal(narrow.pointer_bytes, 4);
    assert_int_equal(narrow.as.image.process_id, 4321);
}

/* Neither width fits: nothing is proven, so the header is believed. */
static void a_classic_image_that_fits_no_width_is_read_as_its_header_says(void **state)
{
    (void)state;
    const etl_event event =
        decoded_classic(1, 4, "00003340f77f0000 00e0190000000000 e1100000 " PATH_16 "ee");
    assert_int_equal(event.pointer_bytes, 4);
    assert_int_equal(event.as.image.image_base, 0x40330000);
}

/* Image loads are type 10 of class Process as hooks, of class Image in classic form. */
static void an_image_load_has_one_hook_in_both_forms(void **state)
{
    (void)state;
    const decode_vector vector = { .key = ETL_HOOK_IMAGE_LOAD, .pointer_bytes = 8, .hex = "" };
    const etl_bytes nothing = { NULL, 0 };
    const etl_record hook_form = decode_vector_record(&vector, nothing, ETL_HEADER_SYSTEM64);
    const etl_record classic_form = decode_vector_record(&vector, nothing, ETL_HEADER_FULL64);
    u16 hook = 0;
    assert_true(etl_record_hook(&hook_form, &hook));
    assert_int_equal(hook, ETL_HOOK_IMAGE_LOAD);
    assert_true(etl_record_hook(&classic_form, &hook));
    assert_int_equal(hook, ETL_HOOK_IMAGE_LOAD);
    assert_string_equal(etl_record_name(&hook_form), "Image/Load");
    assert_string_equal(etl_record_name(&classic_form), "Image/Load");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(a_classic_image_is_read_at_the_width_its_bytes_prove),
        cmocka_unit_test(a_classic_image_that_fits_no_width_is_read_as_its_header_says),
        cmocka_unit_test(an_image_load_has_one_hook_in_both_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
