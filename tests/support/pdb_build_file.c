/*
 * pdb_build_file.c - the parts of a small PDB put together.
 *
 * Streams are numbered in the order they are made here, after those with fixed
 * numbers, and are then packed into blocks.
 */
#include <string.h>

#include "pdb_build.h"

static void put_bytes(hand_bytes *to, const hand_bytes *from)
{
    hand_put(to, from->at, from->size);
}

/* --- streams --------------------------------------------------------------------------- */

static hand_bytes *add_stream(pdb_build *b, u32 *index)
{
    if (b->stream_count == PDB_BUILD_STREAMS_MAX)
        abort();
    *index = b->stream_count++;
    return &b->streams[*index];
}

static u32 add_copy(pdb_build *b, const hand_bytes *bytes)
{
    if (bytes->size == 0)
        return PDB_STREAM_NONE;
    u32 index = 0;
    put_bytes(add_stream(b, &index), bytes);
    return index;
}

static void write_info(pdb_build *b, u32 names_stream)
{
    static const char name[] = PDB_NAMES_STREAM_NAME;
    hand_bytes *const to = &b->streams[PDB_STREAM_INFO];
    hand_u32(to, PDB_INFO_VERSION_VC70);
    hand_u32(to, 0x12345678);
    hand_u32(to, b->file_age);
    hand_put(to, b->guid, sizeof b->guid);
    hand_u32(to, sizeof name);
    hand_put(to, name, sizeof name);
    hand_u32(to, 1); /* entries */
    hand_u32(to, 1); /* capacity */
    hand_u32(to, 1); /* present: one word */
    hand_u32(to, 1);
    hand_u32(to, 0); /* deleted: none */
    hand_u32(to, 0);
    hand_u32(to, names_stream);
    hand_u32(to, 0);
    hand_u32(to, b->feature != 0 ? b->feature : 20140508);
}

static void write_types(pdb_build *b, u32 stream, const hand_bytes *records, u32 count)
{
    u32 hash_stream = PDB_STREAM_NONE;
    const bool is_indexed = stream == PDB_STREAM_TPI && !b->has_no_index;
    if (is_indexed)
        put_bytes(add_stream(b, &hash_stream), &b->type_index);
    hand_bytes *const to = &b->streams[stream];
    hand_u32(to, 20040203);
    hand_u32(to, PDB_TYPES_HEADER_BYTES);
    hand_u32(to, PDB_TYPES_FIRST);
    hand_u32(to, PDB_TYPES_FIRST + count);
    hand_u32(to, (u32)records->size);
    hand_u16(to, hash_stream);
    hand_u16(to, PDB_STREAM_NONE);
    hand_fill(to, 0, 16);
    hand_u32(to, 0);
    hand_u32(to, is_indexed ? (u32)b->type_index.size : 0);
    hand_fill(to, 0, 8);
    put_bytes(to, records);
}

static void put_subsection(hand_bytes *to, u32 kind, const hand_bytes *data)
{
    if (data->size == 0)
        return;
    hand_u32(to, kind);
    hand_u32(to, (u32)data->size);
    put_bytes(to, data);
}

/* One row of the module list, and the stream it leads to. */
static void write_module(pdb_build *b, pdb_build_row *module, hand_bytes *list)
{
    static const char names[] = "module.obj\0library.lib";
    u32 stream = 0;
    hand_bytes *const to = add_stream(b, &stream);
    put_bytes(to, &module->symbols);
    const u32 lines_at = (u32)to->size;
    put_bytes(to, &module->lines);
    put_subsection(to, PDB_SUBSECTION_INLINEE_LINES, &module->inlinee_lines);
    put_subsection(to, PDB_SUBSECTION_CHECKSUMS, &module->checksums);

    hand_fill(list, 0, 34);
    hand_u16(list, stream);
    hand_u32(list, lines_at);
    hand_u32(list, 0);
    hand_u32(list, (u32)to->size - lines_at);
    hand_fill(list, 0, 16);
    hand_put(list, names, sizeof names);
    hand_fill(list, 0, (4 - list->size % 4) % 4);
}

static void put_contributions(const pdb_build *b, hand_bytes *to)
{
    hand_u32(to, PDB_CONTRIBUTIONS_V1);
    for (u32 i = 0; i < b->contribution_count; i++) {
        const pdb_build_piece *const piece = &b->contributions[i];
        hand_u32(to, piece->section);
        hand_u32(to, piece->offset);
        hand_u32(to, piece->size);
        hand_u32(to, 0x60000020);
        hand_u32(to, piece->module);
        hand_fill(to, 0, 8);
    }
}

static u32 write_publics(pdb_build *b)
{
    u32 index = 0;
    hand_bytes *const to = add_stream(b, &index);
    hand_u32(to, 16); /* a hash table that nobody reads */
    hand_u32(to, (u32)b->public_map.size);
    hand_fill(to, 0, 20);
    hand_fill(to, 0xcc, 16);
    put_bytes(to, &b->public_map);
    return index;
}

static void write_debug(pdb_build *b)
{
    hand_bytes modules = { 0 };
    hand_bytes contributions = { 0 };
    hand_fill(&modules, 0, 0);
    for (u32 i = 0; i < b->module_count; i++)
        write_module(b, &b->modules[i], &modules);
    put_contributions(b, &contributions);
    const u32 publics = write_publics(b);
    const u32 symbols = add_copy(b, &b->publics);
    u32 table[PDB_DEBUG_COUNT];
    for (u32 i = 0; i < PDB_DEBUG_COUNT; i++)
        table[i] = PDB_STREAM_NONE;
    table[PDB_DEBUG_OMAP_TO_SOURCE] = add_copy(b, &b->omap_to_source);
    table[PDB_DEBUG_OMAP_FROM_SOURCE] = add_copy(b, &b->omap_from_source);
    table[PDB_DEBUG_SECTIONS] = add_copy(b, &b->sections);
    table[PDB_DEBUG_SECTIONS_ORIGINAL] = add_copy(b, &b->original_sections);

    hand_bytes *const to = &b->streams[PDB_STREAM_DBI];
    hand_u32(to, PDB_DBI_SIGNATURE);
    hand_u32(to, 19990903);
    hand_u32(to, b->age);
    hand_u32(to, PDB_STREAM_NONE);
    hand_u32(to, publics);
    hand_u32(to, symbols);
    hand_u32(to, (u32)modules.size);
    hand_u32(to, (u32)contributions.size);
    hand_fill(to, 0, 16);
    hand_u32(to, PDB_DEBUG_COUNT * 2);
    hand_u32(to, 0);
    hand_u16(to, b->debug_flags);
    hand_u16(to, 0x8664);
    hand_u32(to, 0);
    put_bytes(to, &modules);
    put_bytes(to, &contributions);
    for (u32 i = 0; i < PDB_DEBUG_COUNT; i++)
        hand_u16(to, table[i]);
    hand_free(&modules);
    hand_free(&contributions);
}

void pdb_build_finish(pdb_build *b, hand_bytes *out)
{
    u32 names_stream = 0;
    b->stream_count = PDB_STREAM_IPI + 1;
    hand_u32(&b->streams[0], 0);
    hand_bytes *const names = add_stream(b, &names_stream);
    hand_u32(names, PDB_NAMES_SIGNATURE);
    hand_u32(names, 1);
    hand_u32(names, (u32)b->names.size);
    put_bytes(names, &b->names);
    write_info(b, names_stream);
    write_types(b, PDB_STREAM_TPI, &b->types, b->type_count);
    write_types(b, PDB_STREAM_IPI, &b->ids, b->id_count);
    if (!b->has_no_debug)
        write_debug(b);
    pdb_build_container(b->streams, b->stream_count, b->block_bytes, b->is_scattered, out);
}

/* --- the container ------------------------------------------------------------------------ */

static u32 blocks_of(size_t size, u32 block_bytes)
{
    return (u32)((size + block_bytes - 1) / block_bytes);
}

static void put_block(hand_bytes *out, const hand_bytes *from, size_t at, u32 block_bytes)
{
    const size_t left = from->size - at;
    const size_t part = left < block_bytes ? left : block_bytes;
    hand_put(out, from->at + at, part);
    hand_fill(out, 0, block_bytes - part);
}

/*
 * The superblock and the two free block maps (left empty) come first, then the
 * streams, the directory and the list of its blocks. Scattered, each block of a
 * stream is followed by one that nobody owns.
 */
void pdb_build_container(const hand_bytes *streams, u32 count, u32 block_bytes, bool is_scattered,
                         hand_bytes *out)
{
    hand_bytes directory = { 0 };
    hand_bytes map = { 0 };
    hand_free(out);
    hand_fill(out, 0, 3 * (size_t)block_bytes);
    hand_u32(&directory, count);
    for (u32 i = 0; i < count; i++)
        hand_u32(&directory, (u32)streams[i].size);
    for (u32 i = 0; i < count; i++) {
        for (u32 k = 0; k < blocks_of(streams[i].size, block_bytes); k++) {
            hand_u32(&directory, (u32)(out->size / block_bytes));
            put_block(out, &streams[i], (size_t)k * block_bytes, block_bytes);
            hand_fill(out, 0xdd, is_scattered ? block_bytes : 0);
        }
    }
    for (u32 k = 0; k < blocks_of(directory.size, block_bytes); k++) {
        hand_u32(&map, (u32)(out->size / block_bytes));
        put_block(out, &directory, (size_t)k * block_bytes, block_bytes);
    }
    const u32 map_blocks = blocks_of(map.size, block_bytes);
    for (u32 k = 0; k < map_blocks; k++) {
        hand_set_u32(out, PDB_SUPERBLOCK_BYTES + (size_t)k * 4, (u32)(out->size / block_bytes));
        put_block(out, &map, (size_t)k * block_bytes, block_bytes);
    }
    memcpy(out->at, PDB_MAGIC_MSF7, PDB_MAGIC_BYTES);
    hand_set_u32(out, 0x20, block_bytes);
    hand_set_u32(out, 0x24, 1);
    hand_set_u32(out, 0x28, (u32)(out->size / block_bytes));
    hand_set_u32(out, 0x2c, (u32)directory.size);
    hand_free(&directory);
    hand_free(&map);
}
