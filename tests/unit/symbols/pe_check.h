/*
 * pe_check.h - an image that tests of the PE reader open, change and open again.
 */
#ifndef TESTS_PE_CHECK_H
#define TESTS_PE_CHECK_H

#include "parser/pe.h"
#include "tests/support/pe_build.h"

extern const etl_guid pe_check_guid;

/* What the image is made of: seven exports from ordinal 10 up, and an RSDS record
 * with pe_check_guid, age 3 and the path "C:\\build\\heap app.pdb". */
pe_build_options pe_check_options(unsigned pointer_bytes);

typedef struct pe_check {
    hand_bytes bytes; /* may be changed before pe_check_open */
    pe_build_fields fields;
    etl_pe_image *image;
    etl_pe_exports *exports;
    etl_error error;
} pe_check;

/* Setups and teardown of cmocka: *state is a pe_check, open. */
int pe_check_set_up(void **state);
int pe_check_set_up_narrow(void **state); /* a 32-bit image */
int pe_check_tear_down(void **state);

/* Opens the bytes as they are now. */
etl_status pe_check_open(pe_check *check);

/* Display name of the export an address belongs to, or "none". */
const char *pe_check_name(const pe_check *check, u32 rva);

void pe_check_text(etl_bytes text, const char *expected);

#endif
