/*
 * pe_build.c - writes program files (PE images) from a few facts.
 */
#include <stdio.h>

#include "pe_build.h"

#define HEADER_BYTES 0x400u
#define TEXT_OFFSET  HEADER_BYTES
#define DATA_OFFSET  (TEXT_OFFSET + PE_BUILD_TEXT_BYTES)
#define FILE_BYTES   (DATA_OFFSET + PE_BUILD_DATA_BYTES)

static void put_headers(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields);
static void put_section(hand_bytes *out, const char *name, u32 rva, u32 offset, u32 size);
static void put_debug(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields);
static void put_exports(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields);
static u32 put_text(hand_bytes *out, const char *text);
static void set_directory(hand_bytes *out, const pe_build_fields *fields, u32 index, size_t from);

pe_build_fields pe_build(hand_bytes *out, const pe_build_options *options)
{
    pe_build_fields fields = { 0 };
    put_headers(out, options, &fields);
    hand_fill(out, 0, TEXT_OFFSET - out->size);
    hand_fill(out, 0xcc, PE_BUILD_TEXT_BYTES);
    if (options->pdb_path)
        put_debug(out, options, &fields);
    if (options->export_count > 0)
        put_exports(out, options, &fields);
    hand_fill(out, 0, FILE_BYTES - out->size);
    return fields;
}

static void put_headers(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields)
{
    const bool is_wide = options->pointer_bytes == 8;
    hand_put(out, "MZ", 2);
    hand_fill(out, 0, 0x3a);
    hand_u32(out, 0x80);
    hand_fill(out, 0, 0x80 - out->size);
    fields->pe_header = out->size;
    hand_put(out, "PE\0", 4);
    hand_u16(out, is_wide ? 0x8664 : 0x14c);
    hand_u16(out, 2);
    hand_u32(out, options->time_date_stamp);
    hand_u64(out, 0);
    hand_u16(out, is_wide ? 0xf0 : 0xe0);
    hand_u16(out, 0x2022);
    fields->optional_header = out->size;
    hand_u16(out, is_wide ? 0x20b : 0x10b);
    hand_fill(out, 0, 14);
    hand_u32(out, PE_BUILD_TEXT_RVA + 0x10);
    hand_fill(out, 0, is_wide ? 4 : 8);
    if (is_wide)
        hand_u64(out, 0x180000000);
    else
        hand_u32(out, 0x10000000);
    hand_fill(out, 0, 24);
    hand_u32(out, PE_BUILD_IMAGE_BYTES);
    hand_u32(out, HEADER_BYTES);
    hand_u32(out, options->image_checksum);
    hand_fill(out, 0, 8 + 4 * (size_t)options->pointer_bytes);
    hand_u32(out, 16);
    fields->directories = out->size;
    hand_fill(out, 0, 16 * 8);
    fields->sections = out->size;
    put_section(out, ".text", PE_BUILD_TEXT_RVA, TEXT_OFFSET, PE_BUILD_TEXT_BYTES);
    put_section(out, ".rdata", PE_BUILD_DATA_RVA, DATA_OFFSET, PE_BUILD_DATA_BYTES);
}

static void put_section(hand_bytes *out, const char *name, u32 rva, u32 offset, u32 size)
{
    hand_put(out, name, strlen(name));
    hand_fill(out, 0, 8 - strlen(name));
    hand_u32(out, size);
    hand_u32(out, rva);
    hand_u32(out, size);
    hand_u32(out, offset);
    hand_fill(out, 0, 12);
    hand_u32(out, rva == PE_BUILD_TEXT_RVA ? 0x60000020 : 0x40000040);
}

static void put_debug(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields)
{
    fields->debug_entry = out->size;
    const size_t record = out->size + 28;
    const size_t fixed = options->is_nb10 ? 16 : 24;
    hand_fill(out, 0, 12);
    hand_u32(out, 2);
    hand_u32(out, (u32)(fixed + strlen(options->pdb_path) + 1));
    hand_u32(out, pe_build_data_rva(record));
    hand_u32(out, (u32)record);
    set_directory(out, fields, 6, fields->debug_entry);
    fields->codeview = out->size;
    if (options->is_nb10) {
        hand_put(out, "NB10", 4);
        hand_u32(out, 0);
        hand_u32(out, options->signature);
    } else {
        hand_put(out, "RSDS", 4);
        hand_put(out, options->guid.bytes, sizeof options->guid.bytes);
    }
    hand_u32(out, options->age);
    (void)put_text(out, options->pdb_path);
    hand_align(out, 4);
}

static void put_exports(hand_bytes *out, const pe_build_options *options, pe_build_fields *fields)
{
    u32 function_count = 0;
    u32 name_count = 0;
    for (u32 i = 0; i < options->export_count; i++) {
        const pe_build_export *const entry = &options->exports[i];
        const u32 index = entry->ordinal - options->ordinal_base;
        function_count = index + 1 > function_count ? index + 1 : function_count;
        name_count += entry->name != NULL;
    }
    fields->export_directory = out->size;
    fields->functions = out->size + 40;
    fields->names = fields->functions + (size_t)function_count * 4;
    fields->name_indices = fields->names + (size_t)name_count * 4;
    hand_fill(out, 0, 12);
    hand_u32(out, 0); /* the name of the DLL, which nobody reads */
    hand_u32(out, options->ordinal_base);
    hand_u32(out, function_count);
    hand_u32(out, name_count);
    hand_u32(out, pe_build_data_rva(fields->functions));
    hand_u32(out, pe_build_data_rva(fields->names));
    hand_u32(out, pe_build_data_rva(fields->name_indices));
    hand_fill(out, 0, (size_t)function_count * 4 + (size_t)name_count * 6);
    u32 name = 0;
    for (u32 i = 0; i < options->export_count; i++) {
        const pe_build_export *const entry = &options->exports[i];
        const u32 index = entry->ordinal - options->ordinal_base;
        const u32 target = entry->forwarder ? put_text(out, entry->forwarder) : entry->rva;
        hand_set_u32(out, fields->functions + (size_t)index * 4, target);
        if (!entry->name)
            continue;
        const u32 text = put_text(out, entry->name);
        hand_set_u32(out, fields->names + (size_t)name * 4, text);
        hand_set_u16(out, fields->name_indices + (size_t)name * 2, index);
        name++;
    }
    fields->export_names_end = out->size;
    set_directory(out, fields, 0, fields->export_directory);
}

/* Returns its RVA. */
static u32 put_text(hand_bytes *out, const char *text)
{
    const u32 rva = pe_build_data_rva(out->size);
    hand_put(out, text, strlen(text) + 1);
    return rva;
}

/* The directory reaches from `from` to what was written last. */
static void set_directory(hand_bytes *out, const pe_build_fields *fields, u32 index, size_t from)
{
    hand_set_u32(out, fields->directories + (size_t)index * 8, pe_build_data_rva(from));
    hand_set_u32(out, fields->directories + (size_t)index * 8 + 4, (u32)(out->size - from));
}

u32 pe_build_data_rva(size_t offset)
{
    return (u32)(offset - DATA_OFFSET + PE_BUILD_DATA_RVA);
}

void pe_build_file(const char *path, const pe_build_options *options)
{
    hand_bytes image = { 0 };
    (void)pe_build(&image, options);
    FILE *const file = fopen(path, "wb");
    if (!file || fwrite(image.at, 1, image.size, file) != image.size || fclose(file) != 0)
        abort();
    hand_free(&image);
}
