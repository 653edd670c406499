/* pe_inside.h - shared by the PE readers (private to the parser). */
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
    etl_map map; /* map of etl_pe_open; empty after etl_pe_open_memory */
    etl_bytes file;
    etl_pe_info info;
    u32 headers_size; /* bytes from the start that are in memory as in the file */
    etl_pe_section *sections;
    pe_directory export_directory;
    pe_directory debug_directory;
    etl_pe_pdb pdb;
    etl_pe_damage damage;
};

/* The bytes of the file that are loaded at `rva`, to the end of the section's part of the file;
 * {NULL, 0} if there are none. If sections overlap, the first one in the table counts. */
etl_bytes pe_view_from(const etl_pe_image *image, u32 rva);

/* The index of the section that contains an address; info.section_count if none does. */
u32 pe_section_index_of(const etl_pe_image *image, u32 rva);

/* The file offset of a view into the image, for messages. */
u64 pe_offset_of(const etl_pe_image *image, const u8 *at);

/* The string at the start of `bytes`, up to its NUL or the end. */
etl_bytes pe_text_in(etl_bytes bytes);

/* Counts a damaged place; keeps the message of the first one. */
void pe_damage_add(etl_pe_damage *damage, u64 offset, const char *format, ...) ETL_PRINTF(3, 4);

/* Reads the debug directory into image->pdb. */
void pe_debug_read(etl_pe_image *image);

#endif
