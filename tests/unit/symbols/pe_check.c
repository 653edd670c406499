/*
 * pe_check.c - an image that tests of the PE reader open, change and open again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pe_check.h"

const etl_guid pe_check_guid = { { 0xcb, 0xfa, 0xb9, 0x1e, 0xc7, 0x04, 0x5d, 0x3c, 0xea, 0x71, 0x60,
                                   0x76, 0x4c, 0xd3, 0x33, 0xd0 } };

static const pe_build_export some_exports[] = {
    { "Alpha", 12, 0x1100, NULL },
    { "Beta", 10, 0x1020, NULL },
    { "Forwarded", 13, 0, "NTDLL.RtlAllocateHeap" },
    { "NtClose", 15, 0x1400, NULL },
    { "Variable", 16, 0x3500, NULL },
    { "ZwClose", 15, 0x1400, NULL },
    { NULL, 14, 0x1200, NULL },
};

pe_build_options pe_check_options(unsigned pointer_bytes)
{
    return (pe_build_options){
        .pointer_bytes = pointer_bytes,
        .time_date_stamp = 0x51ca1e00,
        .image_checksum = 0xc3a96,
        .pdb_path = "C:\\build\\heap app.pdb",
        .guid = pe_check_guid,
        .signature = 0x3a7b9d11,
        .age = 3,
        .ordinal_base = 10,
        .exports = some_exports,
        .export_count = ETL_COUNT_OF(some_exports),
    };
}

etl_status pe_check_open(pe_check *f)
{
    etl_pe_exports_close(f->exports);
    f->exports = NULL;
    etl_pe_close(f->image);
    f->error = (etl_error){ 0 };
    const etl_status status = etl_pe_open_memory(hand_view(&f->bytes), &f->image, &f->error);
    if (status == ETL_OK)
        assert_int_equal(etl_pe_exports_open(f->image, &f->exports, &f->error), ETL_OK);
    return status;
}

static int set_up_with(void **state, unsigned pointer_bytes)
{
    pe_check *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    const pe_build_options options = pe_check_options(pointer_bytes);
    f->fields = pe_build(&f->bytes, &options);
    *state = f;
    return pe_check_open(f) == ETL_OK ? 0 : -1;
}

int pe_check_set_up(void **state)
{
    return set_up_with(state, 8);
}

int pe_check_set_up_narrow(void **state)
{
    return set_up_with(state, 4);
}

int pe_check_tear_down(void **state)
{
    pe_check *const f = *state;
    etl_pe_exports_close(f->exports);
    etl_pe_close(f->image);
    hand_free(&f->bytes);
    free(f);
    return 0;
}

void pe_check_text(etl_bytes text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    if (text.size > 0)
        assert_memory_equal(text.at, expected, text.size);
}

const char *pe_check_name(const pe_check *f, u32 rva)
{
    static char name[64];
    etl_pe_export entry;
    if (!etl_pe_exports_find(f->exports, rva, &entry))
        return "none";
    (void)etl_pe_export_display_name(&entry, name, sizeof name);
    return name;
}
