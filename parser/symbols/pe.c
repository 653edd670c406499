/*
 * pe.c - opens a program file (PE): headers and section table.
 *
 * In: the bytes of a file, which may be hostile. Out: an etl_pe_image; bytes at an RVA
 * (pe_view_from).
 *
 * Damage to the headers or to the section table itself is an error. Data reached through an RVA
 * (debug directory, exports) is read later; damage in it is counted, and the file opens. Sections
 * of hostile files may overlap, or lie outside the file or the image. Each is clipped to what the
 * file holds, which is counted too, and an address goes to the first section that claims it.
 * Invariant: after check_section every section lies within the file; pe_view_from relies on that.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "layout_pe.h"
#include "pe_inside.h"

static etl_status finish(etl_pe_image *image, etl_pe_image **out, etl_error *err);
static etl_status read_headers(etl_pe_image *image, etl_error *err);
static etl_status read_dos_header(etl_bytes file, u64 *pe_offset, etl_error *err);
static etl_status read_pe_header(etl_pe_image *image, etl_cursor *c, u64 offset,
                                 size_t *optional_size, etl_error *err);
static etl_status read_optional_header(etl_pe_image *image, etl_cursor c, u64 offset,
                                       etl_error *err);
static void read_directories(etl_pe_image *image, etl_cursor c);
static etl_status read_sections(etl_pe_image *image, etl_cursor c, u64 offset, etl_error *err);
static etl_pe_section read_section(etl_cursor *c);
static void check_section(etl_pe_image *image, u32 index, u64 offset);
static u32 memory_size(const etl_pe_section *section);
static bool holds(const etl_pe_section *section, u32 rva);

etl_status etl_pe_open(const char *path, etl_pe_image **out, etl_error *err)
{
    *out = NULL;
    etl_pe_image *const image = calloc(1, sizeof *image);
    if (!image)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to open it");
    const etl_status status = etl_map_open(path, false, &image->map, err);
    if (status != ETL_OK) {
        etl_pe_close(image);
        return status;
    }
    image->file = image->map.bytes;
    return finish(image, out, err);
}

etl_status etl_pe_open_memory(etl_bytes bytes, etl_pe_image **out, etl_error *err)
{
    *out = NULL;
    etl_pe_image *const image = calloc(1, sizeof *image);
    if (!image)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to open it");
    image->file = bytes;
    return finish(image, out, err);
}

/* Reads image->file and hands the image to the caller, or closes it. */
static etl_status finish(etl_pe_image *image, etl_pe_image **out, etl_error *err)
{
    const etl_status status = read_headers(image, err);
    if (status != ETL_OK) {
        etl_pe_close(image);
        return status;
    }
    pe_debug_read(image);
    *out = image;
    return ETL_OK;
}

void etl_pe_close(etl_pe_image *image)
{
    if (!image)
        return;
    free(image->sections);
    etl_map_close(&image->map);
    free(image);
}

const etl_pe_info *etl_pe_info_of(const etl_pe_image *image)
{
    return &image->info;
}

const etl_pe_section *etl_pe_sections(const etl_pe_image *image)
{
    return image->sections;
}

const etl_pe_pdb *etl_pe_pdb_of(const etl_pe_image *image)
{
    return &image->pdb;
}

const etl_pe_damage *etl_pe_damage_of(const etl_pe_image *image)
{
    return &image->damage;
}

static etl_status read_headers(etl_pe_image *image, etl_error *err)
{
    u64 offset = 0;
    etl_status status = read_dos_header(image->file, &offset, err);
    if (status != ETL_OK)
        return status;
    etl_cursor c = etl_cursor_of(image->file);
    etl_skip(&c, (size_t)offset);
    size_t optional_size = 0;
    status = read_pe_header(image, &c, offset, &optional_size, err);
    if (status != ETL_OK)
        return status;
    offset += PE_HEADER_BYTES;
    const etl_bytes optional = etl_view(&c, optional_size);
    if (!etl_ok(&c))
        return etl_fail_with(err, ETL_ERR_CORRUPT, offset,
                             "the optional header at 0x%llx is cut off",
                             (unsigned long long)offset);
    status = read_optional_header(image, etl_cursor_of(optional), offset, err);
    if (status != ETL_OK)
        return status;
    return read_sections(image, c, offset + optional_size, err);
}

static etl_status read_dos_header(etl_bytes file, u64 *pe_offset, etl_error *err)
{
    etl_cursor c = etl_cursor_of(file);
    const u16 magic = etl_u16(&c);
    if (magic != PE_DOS_MAGIC)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             file.size == 0 ? "the file is empty"
                                            : "not a program file: it does not begin with MZ");
    etl_skip(&c, PE_DOS_LFANEW_OFFSET - 2);
    *pe_offset = etl_u32(&c);
    if (!etl_ok(&c))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the DOS header is cut off");
    return ETL_OK;
}

/* Reads the PE header and leaves the cursor at the optional header. */
static etl_status read_pe_header(etl_pe_image *image, etl_cursor *c, u64 offset,
                                 size_t *optional_size, etl_error *err)
{
    (void)etl_need(c, PE_HEADER_BYTES);
    const u32 signature = etl_u32(c);
    image->info.machine = etl_u16(c);
    image->info.section_count = etl_u16(c);
    image->info.time_date_stamp = etl_u32(c);
    etl_skip(c, 8);
    *optional_size = etl_u16(c);
    image->info.characteristics = etl_u16(c);
    if (!etl_ok(c))
        return etl_fail_with(err, ETL_ERR_CORRUPT, PE_DOS_LFANEW_OFFSET,
                             "e_lfanew points to 0x%llx, where no PE header fits",
                             (unsigned long long)offset);
    if (signature != PE_SIGNATURE)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, offset,
                             "not a PE file but another kind of MZ program");
    return ETL_OK;
}

/* `c` is exactly the optional header, `offset` where it lies in the file. */
static etl_status read_optional_header(etl_pe_image *image, etl_cursor c, u64 offset,
                                       etl_error *err)
{
    const u16 magic = etl_u16(&c);
    if (magic != PE_MAGIC_PE32 && magic != PE_MAGIC_PE32_PLUS)
        return etl_fail_with(
            err, etl_ok(&c) && magic == PE_MAGIC_ROM ? ETL_ERR_UNSUPPORTED : ETL_ERR_CORRUPT,
            offset, "the optional header at 0x%llx has magic 0x%x, neither PE32 nor PE32+",
            (unsigned long long)offset, (unsigned)magic);
    const u8 width = magic == PE_MAGIC_PE32 ? 4 : 8;
    image->info.pointer_bytes = width;
    etl_skip(&c, 14);
    image->info.entry_rva = etl_u32(&c);
    etl_skip(&c, width == 4 ? 8 : 4);
    image->info.image_base = etl_pointer(&c, width);
    etl_skip(&c, 24);
    image->info.image_size_bytes = etl_u32(&c);
    image->headers_size = etl_u32(&c);
    image->info.image_checksum = etl_u32(&c);
    etl_skip(&c, 4 + 4 * (size_t)width + 4);
    const u32 directory_count = etl_u32(&c);
    if (!etl_ok(&c))
        return etl_fail_with(err, ETL_ERR_CORRUPT, offset,
                             "the optional header at 0x%llx is shorter than its kind",
                             (unsigned long long)offset);
    /* Packed files often claim more directories than the header holds: the excess is ignored. */
    const u64 wanted = (u64)directory_count * PE_DIRECTORY_BYTES;
    const etl_bytes directories = etl_view(&c, (size_t)etl_min_u64(c.left, wanted));
    read_directories(image, etl_cursor_of(directories));
    return ETL_OK;
}

/* Directories behind the end of the header are absent. */
static void read_directories(etl_pe_image *image, etl_cursor c)
{
    for (u32 i = 0; i < PE_DIRECTORY_COUNT; i++) {
        const u32 rva = etl_u32(&c);
        const u32 size = etl_u32(&c);
        if (!etl_ok(&c))
            return;
        if (i == PE_DIRECTORY_EXPORT)
            image->export_directory = (pe_directory){ rva, size };
        if (i == PE_DIRECTORY_DEBUG)
            image->debug_directory = (pe_directory){ rva, size };
    }
}

static etl_status read_sections(etl_pe_image *image, etl_cursor c, u64 offset, etl_error *err)
{
    const u32 count = image->info.section_count;
    if (count > PE_SECTION_COUNT_MAX)
        return etl_fail_with(err, ETL_ERR_CORRUPT, offset,
                             "the file claims %u sections, more than an image can have",
                             (unsigned)count);
    if (!etl_need(&c, (size_t)count * PE_SECTION_BYTES))
        return etl_fail_with(err, ETL_ERR_CORRUPT, offset,
                             "the section table at 0x%llx is cut off: it has %u rows",
                             (unsigned long long)offset, (unsigned)count);
    image->sections = calloc((size_t)count + 1, sizeof *image->sections);
    if (!image->sections)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for its %u sections",
                             (unsigned)count);
    for (u32 i = 0; i < count; i++) {
        image->sections[i] = read_section(&c);
        check_section(image, i, offset + (u64)i * PE_SECTION_BYTES);
    }
    return ETL_OK;
}

static etl_pe_section read_section(etl_cursor *c)
{
    etl_pe_section section = { 0 };
    const etl_bytes name = etl_view(c, PE_SECTION_NAME_BYTES);
    section.virtual_size = etl_u32(c);
    section.rva = etl_u32(c);
    section.file_size = etl_u32(c);
    section.file_offset = etl_u32(c);
    etl_skip(c, 12);
    section.characteristics = etl_u32(c);
    if (name.at)
        memcpy(section.name, name.at, name.size);
    return section;
}

/* Clips a section's raw data to the file. `offset` is that of its row in the section table. */
static void check_section(etl_pe_image *image, u32 index, u64 offset)
{
    etl_pe_section *const section = &image->sections[index];
    const u64 end = (u64)section->file_offset + section->file_size;
    if (section->file_size == 0 || end <= image->file.size)
        return;
    pe_damage_add(&image->damage, offset,
                  "section %u (%s) ends at 0x%llx, behind the end of the file at 0x%llx",
                  (unsigned)index, section->name, (unsigned long long)end,
                  (unsigned long long)image->file.size);
    const bool begins_inside = section->file_offset < image->file.size;
    section->file_size = begins_inside ? (u32)(image->file.size - section->file_offset) : 0;
}

etl_bytes pe_view_from(const etl_pe_image *image, u32 rva)
{
    u64 offset = rva;
    u64 end = etl_min_u64(image->headers_size, image->file.size);
    const u32 index = pe_section_index_of(image, rva);
    if (index < image->info.section_count) {
        const etl_pe_section *const section = &image->sections[index];
        offset = (u64)section->file_offset + (rva - section->rva);
        end = (u64)section->file_offset + section->file_size;
    }
    if (offset >= end)
        return (etl_bytes){ NULL, 0 };
    return (etl_bytes){ image->file.at + offset, (size_t)(end - offset) };
}

u32 pe_section_index_of(const etl_pe_image *image, u32 rva)
{
    for (u32 i = 0; i < image->info.section_count; i++)
        if (holds(&image->sections[i], rva))
            return i;
    return image->info.section_count;
}

/* Old linkers leave VirtualSize 0: then the size of the raw data counts. */
static u32 memory_size(const etl_pe_section *section)
{
    return section->virtual_size ? section->virtual_size : section->file_size;
}

static bool holds(const etl_pe_section *section, u32 rva)
{
    return rva >= section->rva && rva - section->rva < memory_size(section);
}

u64 pe_offset_of(const etl_pe_image *image, const u8 *at)
{
    return at ? (u64)(at - image->file.at) : 0;
}

etl_bytes pe_text_in(etl_bytes bytes)
{
    if (!bytes.at)
        return bytes;
    const u8 *const nul = memchr(bytes.at, 0, bytes.size);
    const size_t size = nul ? (size_t)(nul - bytes.at) : bytes.size;
    return (etl_bytes){ size ? bytes.at : NULL, size };
}

void pe_damage_add(etl_pe_damage *damage, u64 offset, const char *format, ...)
{
    if (damage->count++ > 0)
        return;
    damage->first.status = ETL_ERR_CORRUPT;
    damage->first.offset = offset;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(damage->first.message, sizeof damage->first.message, format, arguments);
    va_end(arguments);
}
