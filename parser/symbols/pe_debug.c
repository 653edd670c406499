/*
 * pe_debug.c - the debug directory: which PDB belongs to an image.
 *
 * The directory lists records of many types; the first sound CodeView record
 * of type RSDS counts, else the first NB10. Linkers write one; a second one is
 * left behind by tools that edit images.
 */
#include "layout_pe.h"
#include "pe_inside.h"

static void read_entry(etl_pe_image *image, etl_cursor c);
static etl_bytes record_bytes(const etl_pe_image *image, u32 size, u32 rva, u32 file_offset);
static void read_codeview(etl_pe_image *image, etl_bytes record);
static void read_rsds(etl_pe_image *image, etl_cursor c);
static void read_nb10(etl_pe_image *image, etl_cursor c);

void pe_debug_read(etl_pe_image *image)
{
    const pe_directory directory = image->debug_directory;
    if (directory.rva == 0 || directory.size == 0)
        return;
    etl_bytes bytes = pe_view_from(image, directory.rva);
    if (bytes.size < directory.size)
        pe_damage_add(&image->damage, pe_offset_of(image, bytes.at),
                      "the debug directory at RVA 0x%x has %u bytes, of which the file holds %zu",
                      (unsigned)directory.rva, (unsigned)directory.size, bytes.size);
    bytes.size = (size_t)etl_min_u64(bytes.size, directory.size);
    etl_cursor c = etl_cursor_of(bytes);
    while (c.left >= PE_DEBUG_ENTRY_BYTES) {
        const etl_bytes entry = etl_view(&c, PE_DEBUG_ENTRY_BYTES);
        read_entry(image, etl_cursor_of(entry));
        if (image->pdb.kind == ETL_PE_PDB_RSDS)
            return;
    }
}

static void read_entry(etl_pe_image *image, etl_cursor c)
{
    const u64 offset = pe_offset_of(image, c.at);
    etl_skip(&c, 12);
    const u32 type = etl_u32(&c);
    const u32 size = etl_u32(&c);
    const u32 rva = etl_u32(&c);
    const u32 file_offset = etl_u32(&c);
    if (type != PE_DEBUG_TYPE_CODEVIEW)
        return;
    const etl_bytes record = record_bytes(image, size, rva, file_offset);
    if (record.size < size)
        pe_damage_add(&image->damage, offset,
                      "the CodeView record at 0x%x has %u bytes, of which the file holds %zu",
                      (unsigned)file_offset, (unsigned)size, record.size);
    read_codeview(image, record);
}

/* By file offset, which is what the entry is for; by address where it has none. */
static etl_bytes record_bytes(const etl_pe_image *image, u32 size, u32 rva, u32 file_offset)
{
    etl_bytes bytes = { NULL, 0 };
    if (file_offset == 0)
        bytes = pe_view_from(image, rva);
    else if (file_offset < image->file.size)
        bytes = (etl_bytes){ image->file.at + file_offset, image->file.size - file_offset };
    bytes.size = (size_t)etl_min_u64(bytes.size, size);
    return bytes;
}

static void read_codeview(etl_pe_image *image, etl_bytes record)
{
    etl_cursor c = etl_cursor_of(record);
    const u32 signature = etl_u32(&c);
    if (signature == PE_CODEVIEW_RSDS)
        read_rsds(image, c);
    if (signature == PE_CODEVIEW_NB10)
        read_nb10(image, c);
}

static void read_rsds(etl_pe_image *image, etl_cursor c)
{
    etl_pe_pdb pdb = { .kind = ETL_PE_PDB_RSDS };
    const u8 *const guid = etl_take(&c, sizeof pdb.guid.bytes);
    pdb.age = etl_u32(&c);
    const etl_bytes path = etl_rest(&c);
    if (!etl_ok(&c)) {
        pe_damage_add(&image->damage, 0, "its RSDS record is cut off before the age");
        return;
    }
    memcpy(pdb.guid.bytes, guid, sizeof pdb.guid.bytes);
    pdb.path = pe_text_in(path);
    image->pdb = pdb;
}

static void read_nb10(etl_pe_image *image, etl_cursor c)
{
    etl_pe_pdb pdb = { .kind = ETL_PE_PDB_NB10 };
    etl_skip(&c, 4);
    pdb.signature = etl_u32(&c);
    pdb.age = etl_u32(&c);
    const etl_bytes path = etl_rest(&c);
    if (!etl_ok(&c)) {
        pe_damage_add(&image->damage, 0, "its NB10 record is cut off before the age");
        return;
    }
    if (image->pdb.kind != ETL_PE_PDB_NONE)
        return;
    pdb.path = pe_text_in(path);
    image->pdb = pdb;
}
