/*
 * pdb.c - opens a PDB: its identity, modules and sections.
 *
 * In: the streams of an MSF file (msf.c). Out: an etl_pdb_file.
 *
 *     information stream    GUID, age, names of streams
 *     debug information     header, modules, contributions, optional streams (sections, OMAP)
 *     type streams          only their headers
 *
 * Everything else waits until an address needs it, so opening a file of gigabytes is fast.
 * Invariant: a table that is absent or damaged is left empty here, so that the resolver needs no
 * checks for it.
 */
#include <stdlib.h>

#include "pdb_internal.h"

/* The places that the header of the debug information leads to. */
typedef struct debug_header {
    u32 modules_size, contributions_size;
    u32 table_at, table_size; /* the optional debug header */
    u16 flags;
} debug_header;

static etl_status read_file(etl_pdb_file *file, etl_error *err);
static etl_status read_info(etl_pdb_file *file, etl_error *err);
static bool parse_info(etl_pdb_file *file, etl_cursor *c, bool *is_minimal);
static void find_names_stream(etl_pdb_file *file, etl_bytes names, etl_cursor entries);
static etl_status read_debug(etl_pdb_file *file, etl_error *err);
static etl_status read_debug_header(etl_pdb_file *file, debug_header *header, etl_error *err);
static etl_status read_modules(etl_pdb_file *file, u32 size, etl_error *err);
static bool read_module(etl_cursor *c, pdb_module *module);
static etl_status read_contributions(etl_pdb_file *file, const debug_header *header,
                                     etl_error *err);
static etl_status read_debug_streams(etl_pdb_file *file, const debug_header *header,
                                     etl_error *err);
static etl_status read_sections(const etl_pdb_file *file, u32 index, etl_pdb_section **out,
                                u32 *count, etl_error *err);
static void read_type_table(const etl_pdb_file *file, u32 index, pdb_type_table *table);
static etl_status load(const etl_pdb_file *file, u32 index, u32 offset, u32 size, u8 **memory,
                       etl_bytes *out, etl_error *err);
static etl_status corrupt(etl_error *err, u32 stream, u32 offset, const char *what);

/* Opens the file at `path`; NULL: the bytes. */
static etl_status open_file(const char *path, etl_bytes bytes, etl_pdb_file **out, etl_error *err)
{
    *out = NULL;
    etl_pdb_file *const file = calloc(1, sizeof *file);
    if (!file)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for a PDB");
    etl_status status = path ? etl_map_open(path, false, &file->map, err) : ETL_OK;
    if (status == ETL_OK)
        status = msf_open(path ? file->map.bytes : bytes, &file->msf, err);
    if (status == ETL_OK)
        status = read_file(file, err);
    if (status != ETL_OK) {
        etl_pdb_close(file);
        return status;
    }
    *out = file;
    return ETL_OK;
}

etl_status etl_pdb_open(const char *path, etl_pdb_file **out, etl_error *err)
{
    return open_file(path, (etl_bytes){ NULL, 0 }, out, err);
}

etl_status etl_pdb_open_memory(etl_bytes bytes, etl_pdb_file **out, etl_error *err)
{
    return open_file(NULL, bytes, out, err);
}

void etl_pdb_close(etl_pdb_file *file)
{
    if (!file)
        return;
    if (file->source_sections != file->sections)
        free(file->source_sections);
    free(file->sections);
    free(file->modules);
    msf_close(&file->msf);
    etl_map_close(&file->map);
    free(file);
}

const etl_pdb_info *etl_pdb_info_of(const etl_pdb_file *file)
{
    return &file->info;
}

const etl_pdb_section *etl_pdb_sections(const etl_pdb_file *file)
{
    return file->sections;
}

static etl_status read_file(etl_pdb_file *file, etl_error *err)
{
    file->names_stream = PDB_STREAM_NONE;
    etl_status status = read_info(file, err);
    if (status == ETL_OK)
        status = read_debug(file, err);
    if (status != ETL_OK)
        return status;
    read_type_table(file, PDB_STREAM_TPI, &file->types);
    read_type_table(file, PDB_STREAM_IPI, &file->ids);
    return ETL_OK;
}

/* --- the information stream --------------------------------------------------- */

static etl_status read_info(etl_pdb_file *file, etl_error *err)
{
    const u32 size = msf_stream_of(&file->msf, PDB_STREAM_INFO).size;
    if (size < PDB_INFO_HEADER_BYTES || size > PDB_INFO_BYTES_MAX)
        return corrupt(err, PDB_STREAM_INFO, 0, "its size is impossible");
    u8 *memory = NULL;
    etl_bytes bytes;
    const etl_status status = load(file, PDB_STREAM_INFO, 0, size, &memory, &bytes, err);
    if (status != ETL_OK)
        return status;
    etl_cursor c = etl_cursor_of(bytes);
    bool is_minimal = false;
    const bool is_sound = parse_info(file, &c, &is_minimal);
    free(memory);
    if (!is_sound)
        return corrupt(err, PDB_STREAM_INFO, 0, "no version, or damaged stream names");
    if (is_minimal)
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "was linked with /DEBUG:FASTLINK: its symbols are in the object files; "
            "link with /DEBUG:FULL, or run mspdbcmf.exe on it");
    return ETL_OK;
}

static bool parse_info(etl_pdb_file *file, etl_cursor *c, bool *is_minimal)
{
    const u32 version = etl_u32(c);
    file->info.time_date = etl_u32(c);
    file->info.file_age = etl_u32(c);
    file->info.age = file->info.file_age;
    const u8 *const guid = etl_take(c, sizeof file->info.guid.bytes);
    if (!etl_ok(c) || version < PDB_INFO_VERSION_VC70)
        return false;
    memcpy(file->info.guid.bytes, guid, sizeof file->info.guid.bytes);

    const u32 names_size = etl_u32(c);
    const etl_bytes names = etl_view(c, names_size);
    const u32 count = etl_u32(c);
    etl_skip(c, 4);
    const u32 present_words = etl_u32(c);
    etl_skip(c, (size_t)present_words * 4);
    const u32 deleted_words = etl_u32(c);
    etl_skip(c, (size_t)deleted_words * 4);
    const etl_bytes entries = etl_view(c, (size_t)count * 8);
    if (!etl_ok(c))
        return false;
    find_names_stream(file, names, etl_cursor_of(entries));
    while (c->left >= 4) {
        const u32 feature = etl_u32(c);
        *is_minimal = *is_minimal || feature == PDB_FEATURE_MINIMAL_DEBUG;
    }
    return true;
}

static void find_names_stream(etl_pdb_file *file, etl_bytes names, etl_cursor entries)
{
    static const char wanted[] = PDB_NAMES_STREAM_NAME;
    while (entries.left >= 8) {
        const u32 at = etl_u32(&entries);
        const u32 stream = etl_u32(&entries);
        if (at < names.size && names.size - at >= sizeof wanted &&
            memcmp(names.at + at, wanted, sizeof wanted) == 0)
            file->names_stream = stream;
    }
}

/* --- debug information ----------------------------------------------------------- */

static etl_status read_debug(etl_pdb_file *file, etl_error *err)
{
    debug_header header = { 0 };
    etl_status status = read_debug_header(file, &header, err);
    if (status == ETL_OK)
        status = read_modules(file, header.modules_size, err);
    if (status == ETL_OK)
        status = read_contributions(file, &header, err);
    if (status == ETL_OK)
        status = read_debug_streams(file, &header, err);
    return status;
}

static etl_status read_debug_header(etl_pdb_file *file, debug_header *header, etl_error *err)
{
    msf_stream stream = msf_stream_of(&file->msf, PDB_STREAM_DBI);
    if (stream.size == 0)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "holds types only, as the compiler writes them; give the PDB that the "
                             "linker wrote");
    u8 scratch[PDB_DBI_HEADER_BYTES];
    etl_cursor c = etl_cursor_of(msf_view(&stream, 0, PDB_DBI_HEADER_BYTES, scratch));
    const u32 signature = etl_u32(&c);
    etl_skip(&c, 4);
    file->info.age = etl_u32(&c);
    etl_skip(&c, 4);
    file->publics_stream = etl_u16(&c);
    etl_skip(&c, 2);
    file->symbols_stream = etl_u16(&c);
    etl_skip(&c, 2);
    header->modules_size = etl_u32(&c);
    header->contributions_size = etl_u32(&c);
    u64 at = PDB_DBI_HEADER_BYTES + (u64)header->modules_size + header->contributions_size;
    for (int i = 0; i < 3; i++)
        at += etl_u32(&c); /* section map, sources, type servers */
    etl_skip(&c, 4);
    header->table_size = etl_u32(&c);
    at += etl_u32(&c); /* edit-and-continue names */
    header->flags = etl_u16(&c);
    file->info.machine = etl_u16(&c);
    if (!etl_ok(&c) || signature != PDB_DBI_SIGNATURE)
        return corrupt(err, PDB_STREAM_DBI, 0, "no header of a version since Visual C++ 7");
    if (at + header->table_size > stream.size)
        return corrupt(err, PDB_STREAM_DBI, 0x18, "its parts are larger than the stream");
    header->table_at = (u32)at;
    file->info.is_stripped = (header->flags & PDB_DBI_FLAG_STRIPPED) != 0;
    return ETL_OK;
}

/* Counts in a first round and stores in a second one. */
static etl_status read_modules(etl_pdb_file *file, u32 size, etl_error *err)
{
    u8 *memory = NULL;
    etl_bytes bytes;
    const etl_status status =
        load(file, PDB_STREAM_DBI, PDB_DBI_HEADER_BYTES, size, &memory, &bytes, err);
    if (status != ETL_OK)
        return status;
    u32 count = 0;
    pdb_module module;
    etl_cursor c = etl_cursor_of(bytes);
    while (c.left >= PDB_MODULE_FIXED_BYTES && count < PDB_MODULE_COUNT_MAX &&
           read_module(&c, &module))
        count++;
    file->modules = calloc((size_t)count + 1, sizeof *file->modules);
    if (file->modules) {
        c = etl_cursor_of(bytes);
        for (u32 i = 0; i < count; i++)
            (void)read_module(&c, &file->modules[i]);
        file->info.module_count = count;
    }
    free(memory);
    if (!file->modules)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for %u modules", count);
    if (!etl_ok(&c) || c.left >= PDB_MODULE_FIXED_BYTES)
        return corrupt(err, PDB_STREAM_DBI, PDB_DBI_HEADER_BYTES + size - (u32)c.left,
                       "a module's entry is damaged");
    return ETL_OK;
}

static bool read_module(etl_cursor *c, pdb_module *module)
{
    const size_t before = c->left;
    etl_need(c, PDB_MODULE_FIXED_BYTES);
    etl_skip(c, 34);
    module->stream = etl_u16(c);
    module->symbols_size = etl_u32(c);
    const u32 old_lines_size = etl_u32(c);
    module->lines_size = etl_u32(c);
    etl_skip(c, 16);
    (void)etl_string8(c);
    (void)etl_string8(c);
    const size_t odd = (before - c->left) % 4;
    etl_skip(c, odd && etl_ok(c) ? (4 - odd < c->left ? 4 - odd : c->left) : 0);
    u64 lines_at = 0;
    if (!etl_ok(c) || !etl_add_u64(module->symbols_size, old_lines_size, &lines_at))
        return false;
    module->lines_at = (u32)etl_min_u64(lines_at, UINT32_MAX);
    return true;
}

static etl_status read_contributions(etl_pdb_file *file, const debug_header *header, etl_error *err)
{
    const u32 size = header->contributions_size;
    if (size < 4)
        return ETL_OK; /* a stripped file may have none */
    const u32 at = PDB_DBI_HEADER_BYTES + header->modules_size;
    msf_stream stream = msf_stream_of(&file->msf, PDB_STREAM_DBI);
    u8 scratch[4];
    etl_cursor c = etl_cursor_of(msf_view(&stream, at, 4, scratch));
    const u32 version = etl_u32(&c);
    if (version != PDB_CONTRIBUTIONS_V1 && version != PDB_CONTRIBUTIONS_V2)
        return corrupt(err, PDB_STREAM_DBI, at, "section contributions of an unknown version");
    file->contribution_bytes =
        version == PDB_CONTRIBUTIONS_V1 ? PDB_CONTRIBUTION_BYTES_V1 : PDB_CONTRIBUTION_BYTES_V2;
    file->contributions_at = at + 4;
    file->contribution_count = (size - 4) / file->contribution_bytes;
    return ETL_OK;
}

static etl_status read_debug_streams(etl_pdb_file *file, const debug_header *header, etl_error *err)
{
    u32 streams[PDB_DEBUG_COUNT];
    msf_stream stream = msf_stream_of(&file->msf, PDB_STREAM_DBI);
    u8 scratch[PDB_DEBUG_COUNT * 2];
    const u32 size = header->table_size < sizeof scratch ? header->table_size : (u32)sizeof scratch;
    etl_cursor c = etl_cursor_of(msf_view(&stream, header->table_at, size, scratch));
    for (u32 i = 0; i < PDB_DEBUG_COUNT; i++)
        streams[i] = c.left >= 2 ? etl_u16(&c) : PDB_STREAM_NONE;

    etl_status status = read_sections(file, streams[PDB_DEBUG_SECTIONS], &file->sections,
                                      &file->info.section_count, err);
    if (status != ETL_OK)
        return status;
    file->source_sections = file->sections;
    file->source_section_count = file->info.section_count;
    file->omap_to_source = streams[PDB_DEBUG_OMAP_TO_SOURCE];
    file->omap_from_source = streams[PDB_DEBUG_OMAP_FROM_SOURCE];
    file->info.has_omap = msf_stream_of(&file->msf, file->omap_to_source).size > 0 &&
                          msf_stream_of(&file->msf, file->omap_from_source).size > 0 &&
                          streams[PDB_DEBUG_SECTIONS_ORIGINAL] != PDB_STREAM_NONE;
    if (file->info.has_omap)
        status = read_sections(file, streams[PDB_DEBUG_SECTIONS_ORIGINAL], &file->source_sections,
                               &file->source_section_count, err);
    return status;
}

static etl_status read_sections(const etl_pdb_file *file, u32 index, etl_pdb_section **out,
                                u32 *count, etl_error *err)
{
    *out = NULL;
    const u32 size = msf_stream_of(&file->msf, index).size;
    const u32 n = size / PDB_SECTION_HEADER_BYTES;
    if (n == 0)
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "has no list of the image's sections, and so no addresses; give the PDB "
            "of the last link");
    if (n > PDB_SECTION_COUNT_MAX)
        return corrupt(err, index, 0, "an impossible number of sections");
    u8 *memory = NULL;
    etl_bytes bytes;
    const etl_status status = load(file, index, 0, size, &memory, &bytes, err);
    if (status != ETL_OK)
        return status;
    *out = calloc(n, sizeof **out);
    etl_cursor c = etl_cursor_of(bytes);
    for (u32 i = 0; *out && i < n; i++) {
        etl_skip(&c, 8);
        (*out)[i].size_bytes = etl_u32(&c);
        (*out)[i].rva = etl_u32(&c);
        etl_skip(&c, 20);
        (*out)[i].characteristics = etl_u32(&c);
    }
    free(memory);
    if (!*out)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for %u sections", n);
    *count = n;
    return ETL_OK;
}

/* --- types --------------------------------------------------------------------------- */

/* Reads the header of a type table. If it is absent or damaged, there are no types: last is 0. */
static void read_type_table(const etl_pdb_file *file, u32 index, pdb_type_table *table)
{
    msf_stream stream = msf_stream_of(&file->msf, index);
    *table = (pdb_type_table){ .stream = index, .hash_stream = PDB_STREAM_NONE };
    u8 scratch[PDB_TYPES_HEADER_BYTES];
    etl_cursor c = etl_cursor_of(msf_view(&stream, 0, PDB_TYPES_HEADER_BYTES, scratch));
    etl_skip(&c, 4);
    table->records_at = etl_u32(&c);
    table->first = etl_u32(&c);
    const u32 last = etl_u32(&c);
    table->records_size = etl_u32(&c);
    table->hash_stream = etl_u16(&c);
    etl_skip(&c, 18);
    table->index_at = etl_u32(&c);
    table->index_size = etl_u32(&c);
    if (etl_ok(&c) && table->records_at <= stream.size &&
        table->records_size <= stream.size - table->records_at)
        table->last = last;
}

/* --- helpers ---------------------------------------------------------------------------- */

/* Part of a stream in one piece: a view, or a copy that *memory owns. */
static etl_status load(const etl_pdb_file *file, u32 index, u32 offset, u32 size, u8 **memory,
                       etl_bytes *out, etl_error *err)
{
    msf_stream stream = msf_stream_of(&file->msf, index);
    *memory = NULL;
    *out = (etl_bytes){ NULL, 0 };
    if (offset > stream.size || size > stream.size - offset)
        return corrupt(err, index, offset, "the stream is shorter than its contents");
    if (size == 0)
        return ETL_OK;
    *memory = malloc(size);
    if (!*memory)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for %u bytes of stream %u", size,
                             index);
    *out = msf_view(&stream, offset, size, *memory);
    if (!out->at) {
        free(*memory);
        *memory = NULL;
        return corrupt(err, index, offset, "its block list names a block that is not in the file");
    }
    return ETL_OK;
}

static etl_status corrupt(etl_error *err, u32 stream, u32 offset, const char *what)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, offset, "stream %u, offset 0x%x: %s", stream,
                         (unsigned)offset, what);
}
