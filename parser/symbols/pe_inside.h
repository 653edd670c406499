/*
 * pe_inside.h - what the PE readers share (private to the parser).
 */
#ifndef ETL_PE_INSIDE_H
#define ETL_PE_INSIDE_H

#include "parser/cursor.h"
#include "parser/pe.h"
#include "parser/system/map.h"

typedef struct pe_directory {
    u32 rva;
    u32 size;
} pe_directory;

struct etl_pe_image {
    etl_map map; /* of etl_pe_open; empty after etl_pe_open_memory */
    etl_bytes file;
    etl_pe_info info;
    u32 headers_size; /* bytes from the start that lie in memory as in the file */
    etl_pe_section *sections;
    pe_directory export_directory;
    pe_directory debug_directory;
    etl_pe_pdb pdb;
    etl_pe_damage damage;
};

/*
 * The bytes of the file that lie in memory from `rva` on, to the end of the
 * section's part of the file: {NULL, 0} when there are none. Where sections
 * overlap the first of the table that holds the address counts.
 */
etl_bytes pe_view_from(const etl_pe_image *image, u32 rva);

/* The section an address lies in, as an index; info.section_count for none. */
u32 pe_section_index_of(const etl_pe_image *image, u32 rva);

/* File offset of a view into the image, for messages. */
u64 pe_offset_of(const etl_pe_image *image, const u8 *at);

/* The string at the front of `bytes`: to its NUL, or to the end. */
etl_bytes pe_text_in(etl_bytes bytes);

/* Counts a place; the first one keeps its message. */
void pe_damage_add(etl_pe_damage *damage, u64 offset, const char *format, ...) ETL_PRINTF(3, 4);

/* Reads the debug directory into image->pdb. */
void pe_debug_read(etl_pe_image *image);

#endif
