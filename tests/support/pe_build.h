/*
 * pe_build.h - writes program files (PE images) from a few facts.
 *
 * For tests of the PE reader and of the search for symbols: an image has code at
 * RVA 0x1000, an export directory and a debug directory at RVA 0x3000, and
 * nothing that would run. The offsets of what a test may want to break come back.
 */
#ifndef TESTS_PE_BUILD_H
#define TESTS_PE_BUILD_H

#include "hand_bytes.h"

#define PE_BUILD_TEXT_RVA    0x1000u
#define PE_BUILD_TEXT_BYTES  0x1000u
#define PE_BUILD_DATA_RVA    0x3000u
#define PE_BUILD_DATA_BYTES  0x4000u
#define PE_BUILD_IMAGE_BYTES 0x8000u

typedef struct pe_build_export {
    const char *name;      /* NULL: by ordinal only */
    u32 ordinal;           /* from base up; several names may share one */
    u32 rva;               /* ignored for a forwarder */
    const char *forwarder; /* NULL: none */
} pe_build_export;

typedef struct pe_build_options {
    unsigned pointer_bytes; /* 4 or 8 */
    u32 time_date_stamp;
    u32 image_checksum;
    const char *pdb_path; /* NULL: no debug directory */
    bool is_nb10;
    etl_guid guid;
    u32 signature; /* NB10 */
    u32 age;
    u32 ordinal_base;
    const pe_build_export *exports; /* names in byte order */
    u32 export_count;
} pe_build_options;

/* File offsets. */
typedef struct pe_build_fields {
    size_t pe_header;
    size_t optional_header;
    size_t directories; /* the data directories */
    size_t sections;
    size_t debug_entry;
    size_t codeview;
    size_t export_directory;
    size_t functions;
    size_t names;
    size_t name_indices;
    size_t export_names_end;
} pe_build_fields;

/* Appends the image to *out, which must be empty. */
pe_build_fields pe_build(hand_bytes *out, const pe_build_options *options);

/* RVA of a file offset within the data section. */
u32 pe_build_data_rva(size_t offset);

/* Writes an image to a file; ends the test program when it cannot. */
void pe_build_file(const char *path, const pe_build_options *options);

#endif
