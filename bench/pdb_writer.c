/*
 * pdb_writer.c - writes the container of a large PDB stream after stream, and the records in it.
 *
 * In: the bytes of one stream at a time (pdb_buffer). Out: an MSF file.
 *
 *     superblock, free block maps | stream | stream | ... | directory | list of its blocks
 *
 * A stream leaves memory when it is written; only its size and first block are kept for the
 * directory. The superblock is written last, when the place of the directory is known. Invariant:
 * the blocks of a stream are consecutive, and a stream that was written never moves.
 */
#include "pdb_writer.h"

#include "bench.h"

#include "parser/symbols/layout_pdb.h"

#include <stdlib.h>

#define BLOCK_BYTES PDB_WRITER_BLOCK_BYTES

/* --- bytes -------------------------------------------------------------------- */

u8 *pdb_grow(pdb_buffer *b, size_t size)
{
    if (b->capacity - b->size < size) {
        b->capacity = b->capacity * 2 + size + 4096;
        b->at = realloc(b->at, b->capacity);
        if (b->at == NULL)
            abort();
    }
    u8 *const at = b->at + b->size;
    memset(at, 0, size);
    b->size += size;
    return at;
}

void pdb_put(pdb_buffer *b, const void *bytes, size_t size)
{
    memcpy(pdb_grow(b, size), bytes, size);
}

void pdb_put_u16(pdb_buffer *b, u32 value)
{
    const u16 field = (u16)value;
    pdb_put(b, &field, sizeof field);
}

void pdb_put_u32(pdb_buffer *b, u32 value)
{
    pdb_put(b, &value, sizeof value);
}

void pdb_put_text(pdb_buffer *b, const char *text)
{
    pdb_put(b, text, strlen(text) + 1);
}

void pdb_align(pdb_buffer *b)
{
    (void)pdb_grow(b, (4 - b->size % 4) % 4);
}

void pdb_set_u32(pdb_buffer *b, size_t at, u32 value)
{
    memcpy(b->at + at, &value, sizeof value);
}

size_t pdb_begin_record(pdb_buffer *b, u32 kind)
{
    const size_t at = b->size;
    pdb_put_u16(b, 0);
    pdb_put_u16(b, kind);
    return at;
}

void pdb_end_record(pdb_buffer *b, size_t at)
{
    pdb_align(b);
    const u16 length = (u16)(b->size - at - 2);
    memcpy(b->at + at, &length, sizeof length);
}

void pdb_put_record(pdb_buffer *b, u32 kind, size_t payload_size)
{
    const size_t at = pdb_begin_record(b, kind);
    (void)pdb_grow(b, payload_size);
    pdb_end_record(b, at);
}

/* --- streams -------------------------------------------------------------------- */

void pdb_writer_begin(pdb_writer *w, FILE *file, u32 first_stream, u32 stream_count_max)
{
    *w = (pdb_writer){ .file = file, .stream_count = first_stream };
    w->streams = bench_allocate((size_t)stream_count_max + 2, sizeof *w->streams);
    /* Room for the superblock and the free block maps. */
    pdb_buffer blank = { 0 };
    (void)pdb_grow(&blank, 3 * (size_t)BLOCK_BYTES);
    pdb_write_stream_as(w, 0, &blank);
    w->streams[0] = (pdb_stream){ 0, 0 };
    free(blank.at);
}

/* Writes a stream whose number was reserved before. */
void pdb_write_stream_as(pdb_writer *w, u32 index, const pdb_buffer *b)
{
    static const u8 zeros[BLOCK_BYTES];
    w->streams[index] = (pdb_stream){ w->block_count, (u32)b->size };
    const size_t padding = (BLOCK_BYTES - b->size % BLOCK_BYTES) % BLOCK_BYTES;
    if (b->size > 0 && (fwrite(b->at, 1, b->size, w->file) != b->size ||
                        fwrite(zeros, 1, padding, w->file) != padding))
        return; /* ferror tells at the end */
    w->block_count += (u32)((b->size + padding) / BLOCK_BYTES);
    /* Each interval of 4096 blocks has two free block maps near its start. Nobody reads them, so
     * nothing is kept free for them here. */
}

u32 pdb_write_stream(pdb_writer *w, const pdb_buffer *b)
{
    const u32 index = w->stream_count++;
    pdb_write_stream_as(w, index, b);
    return index;
}

/* --- the container --------------------------------------------------------------------- */

/* The directory, the list of its blocks, and the superblock, which is first. */
void pdb_writer_end(pdb_writer *w)
{
    pdb_buffer directory = { 0 };
    pdb_buffer map = { 0 };
    pdb_buffer super = { 0 };
    pdb_put_u32(&directory, w->stream_count);
    for (u32 i = 0; i < w->stream_count; i++)
        pdb_put_u32(&directory, w->streams[i].size);
    for (u32 i = 0; i < w->stream_count; i++)
        for (u32 k = 0; k < (w->streams[i].size + BLOCK_BYTES - 1) / BLOCK_BYTES; k++)
            pdb_put_u32(&directory, w->streams[i].first_block + k);
    for (u32 k = 0; k < (directory.size + BLOCK_BYTES - 1) / BLOCK_BYTES; k++)
        pdb_put_u32(&map, w->block_count + k);
    (void)pdb_write_stream(w, &directory);
    pdb_put(&super, PDB_MAGIC_MSF7, PDB_MAGIC_BYTES);
    pdb_put_u32(&super, BLOCK_BYTES);
    pdb_put_u32(&super, 1);
    const u32 map_blocks = (u32)((map.size + BLOCK_BYTES - 1) / BLOCK_BYTES);
    pdb_put_u32(&super, w->block_count + map_blocks);
    pdb_put_u32(&super, (u32)directory.size);
    pdb_put_u32(&super, 0);
    for (u32 k = 0; k < map_blocks; k++)
        pdb_put_u32(&super, w->block_count + k);
    (void)pdb_write_stream(w, &map);
    if (fseeko(w->file, 0, SEEK_SET) == 0)
        (void)fwrite(super.at, 1, super.size, w->file);
    free(directory.at);
    free(map.at);
    free(super.at);
    free(w->streams);
}
