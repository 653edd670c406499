/*
 * pe_exports.c - the export directory as a table sorted by address.
 *
 * In: the directory of an image: three arrays that may be cut off or wrong. Out: rows by (address,
 * name); the export at or before an RVA.
 *
 *     on disk    addresses by ordinal | names in byte order | the index of each name's address
 *     rows       { address, name } of 16 bytes, sorted; names are looked up when asked for
 *
 * One pass over the names makes a row for each and marks its address as named; a second pass over
 * the addresses makes rows for those without a name. The name array is in byte order, so an index
 * says which of two names comes first. Invariant: indices come from the file and are bounded before
 * they are used; arrays are cut to what the file holds, which is counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "layout_pe.h"
#include "pe_inside.h"

#define NO_NAME UINT32_MAX

/* One export; `name` is an index into the name array. */
typedef struct export_row {
    u32 target; /* address, or that of the forwarder's text */
    u32 name;   /* NO_NAME: by ordinal only */
    u32 ordinal;
    bool is_forwarder;
} export_row;

struct etl_pe_exports {
    const etl_pe_image *image;
    etl_bytes names; /* array of u32 RVAs */
    export_row *rows;
    u32 count;
    u32 address_count; /* rows before the forwarders */
    etl_pe_damage damage;
};

/* The directory's arrays, cut to what the file holds. */
typedef struct export_arrays {
    u32 ordinal_base;
    u32 function_count;
    u32 name_count;
    etl_bytes functions;
    etl_bytes names;
    etl_bytes name_indices;
    bool *is_named; /* per function */
} export_arrays;

static u32 first_row_from(const etl_pe_exports *exports, u64 rva);
static bool read_directory(etl_pe_exports *exports, export_arrays *arrays);
static etl_bytes array_at(etl_pe_exports *exports, u32 rva, size_t size, const char *what);
static u32 bounded(etl_pe_exports *exports, u32 count, u32 count_max, const char *what);
static etl_status read_rows(etl_pe_exports *exports, export_arrays *arrays, etl_error *err);
static void add_named(etl_pe_exports *exports, const export_arrays *arrays);
static void add_unnamed(etl_pe_exports *exports, const export_arrays *arrays);
static void add_row(etl_pe_exports *exports, const export_arrays *arrays, u32 function, u32 name);
static u32 element_u32(etl_bytes array, u32 index);
static int compare_rows(const void *left, const void *right);
static etl_bytes name_of(const etl_pe_exports *exports, u32 name);
static etl_bytes text_at(const etl_pe_image *image, u32 rva);

etl_status etl_pe_exports_open(const etl_pe_image *image, etl_pe_exports **out, etl_error *err)
{
    *out = NULL;
    etl_pe_exports *const exports = calloc(1, sizeof *exports);
    if (!exports)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for its exports");
    exports->image = image;
    export_arrays arrays = { 0 };
    if (read_directory(exports, &arrays)) {
        const etl_status status = read_rows(exports, &arrays, err);
        if (status != ETL_OK) {
            etl_pe_exports_close(exports);
            return status;
        }
    }
    *out = exports;
    return ETL_OK;
}

void etl_pe_exports_close(etl_pe_exports *exports)
{
    if (!exports)
        return;
    free(exports->rows);
    free(exports);
}

u32 etl_pe_exports_count(const etl_pe_exports *exports)
{
    return exports->count;
}

const etl_pe_damage *etl_pe_exports_damage(const etl_pe_exports *exports)
{
    return &exports->damage;
}

etl_pe_export etl_pe_exports_at(const etl_pe_exports *exports, u32 index)
{
    if (index >= exports->count)
        return (etl_pe_export){ .rva = 0 };
    const export_row *const row = &exports->rows[index];
    etl_pe_export entry = { .ordinal = row->ordinal, .name = name_of(exports, row->name) };
    if (row->is_forwarder)
        entry.forwarder = text_at(exports->image, row->target);
    else
        entry.rva = row->target;
    return entry;
}

bool etl_pe_exports_find(const etl_pe_exports *exports, u32 rva, etl_pe_export *out)
{
    const u32 above = first_row_from(exports, (u64)rva + 1);
    if (above == 0)
        return false;
    const u32 target = exports->rows[above - 1].target;
    if (pe_section_index_of(exports->image, target) != pe_section_index_of(exports->image, rva))
        return false;
    *out = etl_pe_exports_at(exports, first_row_from(exports, target));
    return true;
}

size_t etl_pe_export_display_name(const etl_pe_export *entry, char *out, size_t capacity)
{
    if (entry->name.size > 0)
        return etl_text_to_utf8(entry->name, out, capacity);
    /* "litware!Ordinal3+0x6042". Source: The Old New Thing, 2013-11-15. */
    const int size = snprintf(out, capacity, "Ordinal%u", (unsigned)entry->ordinal);
    return size > 0 ? (size_t)size : 0;
}

/* The first row whose address is not below `rva`; address_count for none. */
static u32 first_row_from(const etl_pe_exports *exports, u64 rva)
{
    u32 row;
    ETL_BISECT(row, 0, exports->address_count, exports->rows[row].target < rva);
    return row;
}

/* False when there is nothing to read. */
static bool read_directory(etl_pe_exports *exports, export_arrays *arrays)
{
    const pe_directory directory = exports->image->export_directory;
    if (directory.rva == 0 || directory.size == 0)
        return false;
    const etl_bytes bytes =
        array_at(exports, directory.rva, PE_EXPORT_DIRECTORY_BYTES, "the export directory");
    etl_cursor c = etl_cursor_of(bytes);
    if (!etl_need(&c, PE_EXPORT_DIRECTORY_BYTES))
        return false;
    etl_skip(&c, 16);
    arrays->ordinal_base = etl_u32(&c);
    const u32 function_count = etl_u32(&c);
    const u32 name_count = etl_u32(&c);
    const u32 functions_rva = etl_u32(&c);
    const u32 names_rva = etl_u32(&c);
    const u32 name_indices_rva = etl_u32(&c);
    const u32 functions = bounded(exports, function_count, PE_EXPORT_FUNCTIONS_MAX, "functions");
    const u32 names = bounded(exports, name_count, PE_EXPORT_NAMES_MAX, "names");
    arrays->functions =
        array_at(exports, functions_rva, (size_t)functions * 4, "AddressOfFunctions");
    arrays->names = array_at(exports, names_rva, (size_t)names * 4, "AddressOfNames");
    arrays->name_indices =
        array_at(exports, name_indices_rva, (size_t)names * 2, "AddressOfNameOrdinals");
    arrays->function_count = (u32)(arrays->functions.size / 4);
    arrays->name_count = (u32)etl_min_u64(arrays->names.size / 4, arrays->name_indices.size / 2);
    exports->names = arrays->names;
    return arrays->function_count > 0;
}

/* Up to `size` bytes at `rva`; if the file holds fewer, that counts as damage. */
static etl_bytes array_at(etl_pe_exports *exports, u32 rva, size_t size, const char *what)
{
    if (size == 0)
        return (etl_bytes){ NULL, 0 };
    etl_bytes bytes = pe_view_from(exports->image, rva);
    if (bytes.size < size)
        pe_damage_add(&exports->damage, pe_offset_of(exports->image, bytes.at),
                      "%s at RVA 0x%x has %zu bytes, of which the file holds %zu", what,
                      (unsigned)rva, size, bytes.size);
    bytes.size = (size_t)etl_min_u64(bytes.size, size);
    return bytes;
}

static u32 bounded(etl_pe_exports *exports, u32 count, u32 count_max, const char *what)
{
    if (count <= count_max)
        return count;
    pe_damage_add(&exports->damage, 0, "the export directory claims %u %s, more than %u",
                  (unsigned)count, what, (unsigned)count_max);
    return count_max;
}

static etl_status read_rows(etl_pe_exports *exports, export_arrays *arrays, etl_error *err)
{
    const size_t rows_max = (size_t)arrays->function_count + arrays->name_count;
    exports->rows = calloc(rows_max, sizeof *exports->rows);
    arrays->is_named = calloc(arrays->function_count, sizeof *arrays->is_named);
    etl_status status = ETL_OK;
    if (exports->rows && arrays->is_named) {
        add_named(exports, arrays);
        add_unnamed(exports, arrays);
        qsort(exports->rows, exports->count, sizeof *exports->rows, compare_rows);
    } else {
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for its %zu exports", rows_max);
    }
    free(arrays->is_named);
    arrays->is_named = NULL;
    return status;
}

static void add_named(etl_pe_exports *exports, const export_arrays *arrays)
{
    etl_cursor indices = etl_cursor_of(arrays->name_indices);
    for (u32 name = 0; name < arrays->name_count; name++) {
        const u32 function = etl_u16(&indices);
        if (function >= arrays->function_count) {
            pe_damage_add(&exports->damage, pe_offset_of(exports->image, arrays->name_indices.at),
                          "export name %u belongs to function %u of %u", (unsigned)name,
                          (unsigned)function, (unsigned)arrays->function_count);
            continue;
        }
        if (pe_view_from(exports->image, element_u32(arrays->names, name)).size == 0) {
            pe_damage_add(&exports->damage, pe_offset_of(exports->image, arrays->names.at),
                          "export name %u lies outside the file", (unsigned)name);
            continue;
        }
        arrays->is_named[function] = true;
        add_row(exports, arrays, function, name);
    }
}

static void add_unnamed(etl_pe_exports *exports, const export_arrays *arrays)
{
    for (u32 function = 0; function < arrays->function_count; function++)
        if (!arrays->is_named[function])
            add_row(exports, arrays, function, NO_NAME);
}

/* Address 0 is an ordinal that is not in use. */
static void add_row(etl_pe_exports *exports, const export_arrays *arrays, u32 function, u32 name)
{
    const pe_directory directory = exports->image->export_directory;
    const u32 target = element_u32(arrays->functions, function);
    if (target == 0)
        return;
    const bool is_forwarder = target >= directory.rva && target - directory.rva < directory.size;
    if (!is_forwarder && target >= exports->image->info.image_size_bytes) {
        pe_damage_add(&exports->damage, pe_offset_of(exports->image, arrays->functions.at),
                      "export %u lies at RVA 0x%x, outside the image of 0x%x bytes",
                      (unsigned)function, (unsigned)target,
                      (unsigned)exports->image->info.image_size_bytes);
        return;
    }
    exports->rows[exports->count++] = (export_row){
        .target = target,
        .name = name,
        .ordinal = arrays->ordinal_base + function,
        .is_forwarder = is_forwarder,
    };
    exports->address_count += !is_forwarder;
}

/* The caller has bounded the index. */
static u32 element_u32(etl_bytes array, u32 index)
{
    etl_cursor c = etl_cursor_of(array);
    etl_skip(&c, (size_t)index * 4);
    return etl_u32(&c);
}

/* Rows with an address by (address, name), no name last; forwarders by ordinal. */
static int compare_rows(const void *left, const void *right)
{
    const export_row *const a = left;
    const export_row *const b = right;
    if (a->is_forwarder != b->is_forwarder)
        return a->is_forwarder ? 1 : -1;
    if (!a->is_forwarder && a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->is_forwarder && a->ordinal != b->ordinal)
        return a->ordinal < b->ordinal ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static etl_bytes name_of(const etl_pe_exports *exports, u32 name)
{
    if (name == NO_NAME)
        return (etl_bytes){ NULL, 0 };
    return text_at(exports->image, element_u32(exports->names, name));
}

static etl_bytes text_at(const etl_pe_image *image, u32 rva)
{
    etl_bytes bytes = pe_view_from(image, rva);
    bytes.size = (size_t)etl_min_u64(bytes.size, PE_EXPORT_NAME_BYTES_MAX);
    return pe_text_in(bytes);
}
