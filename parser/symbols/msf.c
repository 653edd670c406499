/*
 * msf.c - the MSF 7 container of a PDB: superblock, directory, and streams made of blocks.
 *
 * In: the bytes of a file, which may be hostile. Out: any range of a stream, as a view of the file
 * or gathered in scratch.
 *
 *   superblock -> block map -> directory -> blocks of each stream
 *
 * The directory is checked as a whole when the file is opened: the lists of all streams must lie in
 * it, and together name no more blocks than the file has. So a list that goes round in circles is
 * found at once, and reading all streams to their ends never costs more than the file's size.
 * Invariant: that each number in a list is a block of the file is checked only when it is followed
 * (block_at), because checking all would touch megabytes of directory for nothing.
 */
#include <stdlib.h>

#include "parser/cursor.h"
#include "layout_pdb.h"
#include "msf.h"

/* Blocks looked at beyond the wanted ones when a run is measured. */
#define RUN_BLOCKS_MAX 1024u

static etl_status check_magic(etl_bytes bytes, etl_error *err);
static etl_status read_superblock(msf_file *file, u32 *directory_size, etl_error *err);
static etl_status gather_directory(msf_file *file, u32 size, etl_error *err);
static u32 mapped_block(const msf_file *file, u32 i);
static etl_status index_streams(msf_file *file, etl_error *err);
static u32 stream_size(const msf_file *file, u32 index);
static u32 blocks_of(const msf_file *file, u32 size);
static const u8 *block_at(const msf_file *file, u32 number);
static bool find_run(msf_stream *stream, u32 offset);

/* True if a stream, other than the earlier directory, has a block with a number from `begin` to
 * `end`, exclusive. */
static bool lists_block_between(const msf_file *file, u32 begin, u32 end)
{
    for (u32 i = 1; i < file->stream_count; i++) {
        const u8 *const list = file->directory.at + (size_t)file->lists[i] * sizeof(u32);
        const u32 count = blocks_of(file, stream_size(file, i));
        for (u32 k = 0; k < count; k++) {
            const u32 number = etl_load_u32(list + (size_t)k * sizeof(u32));
            if (number >= begin && number < end)
                return true;
        }
    }
    return false;
}

/* A file that is cut off has fewer blocks than its header counts. Some linkers count blocks that
 * they never write, so the count alone says nothing: a file is whole if the blocks of all its
 * streams are there. Later only those are looked at. */
static etl_status check_blocks(msf_file *file, u32 directory_size, etl_error *err)
{
    const u32 declared = file->block_count;
    const size_t present = file->bytes.size >> file->block_shift;
    file->block_count = (u32)etl_min_u64(declared, present);
    etl_status status = gather_directory(file, directory_size, err);
    if (status == ETL_OK)
        status = index_streams(file, err);
    if (declared <= present || status == ETL_ERR_MEMORY ||
        (status == ETL_OK && !lists_block_between(file, (u32)present, declared)))
        return status;
    return etl_fail_with(err, ETL_ERR_CORRUPT, file->bytes.size,
                         "the file ends in block %zu of %u; copy it again", present, declared);
}

etl_status msf_open(etl_bytes bytes, msf_file *out, etl_error *err)
{
    *out = (msf_file){ .bytes = bytes };
    u32 directory_size = 0;
    etl_status status = check_magic(bytes, err);
    if (status == ETL_OK)
        status = read_superblock(out, &directory_size, err);
    if (status == ETL_OK)
        status = check_blocks(out, directory_size, err);
    if (status != ETL_OK)
        msf_close(out);
    return status;
}

void msf_close(msf_file *file)
{
    free(file->gathered);
    free(file->lists);
    *file = (msf_file){ 0 };
}

static bool begins_with(etl_bytes bytes, const char *magic, size_t size)
{
    return bytes.size >= size && memcmp(bytes.at, magic, size) == 0;
}

static etl_status check_magic(etl_bytes bytes, etl_error *err)
{
    static const char msf7[PDB_MAGIC_BYTES] = PDB_MAGIC_MSF7;
    if (begins_with(bytes, msf7, sizeof msf7))
        return ETL_OK;
    if (begins_with(bytes, PDB_MAGIC_MSFZ, sizeof PDB_MAGIC_MSFZ - 1))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "is a compressed PDB (MSFZ); convert it with pdbtool, or have the "
                             "symbol server send the plain one");
    if (begins_with(bytes, PDB_MAGIC_MSF2, sizeof PDB_MAGIC_MSF2 - 1))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "is a PDB 2.00 of Visual C++ 6 or older; link the program again with "
                             "a newer linker");
    if (begins_with(bytes, PDB_MAGIC_PORTABLE, sizeof PDB_MAGIC_PORTABLE - 1))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "is a portable PDB of .NET, which holds no native addresses");
    return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "is not a PDB file");
}

static etl_status read_superblock(msf_file *file, u32 *directory_size, etl_error *err)
{
    etl_cursor c = etl_cursor_of(file->bytes);
    etl_skip(&c, PDB_MAGIC_BYTES);
    const u32 block_size = etl_u32(&c);
    etl_skip(&c, 4);
    file->block_count = etl_u32(&c);
    *directory_size = etl_u32(&c);
    etl_skip(&c, 4);
    if (!etl_ok(&c))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the file ends inside its superblock");
    if (block_size < PDB_BLOCK_BYTES_MIN || block_size > PDB_BLOCK_BYTES_MAX ||
        (block_size & (block_size - 1)) != 0)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0x20, "the superblock: a block size of %u",
                             block_size);
    file->block_shift = (u32)__builtin_ctz(block_size);
    return ETL_OK;
}

/* The number of a block of the directory. These numbers are in blocks, whose own numbers are in the
 * superblock's block from BlockMap on. */
static u32 mapped_block(const msf_file *file, u32 i)
{
    const u32 entries = 1u << (file->block_shift - 2);
    const u64 at = PDB_SUPERBLOCK_BYTES + (u64)(i / entries) * 4;
    if (at + 4 > (u64)1 << file->block_shift)
        return 0;
    const u8 *const map = block_at(file, etl_load_u32(file->bytes.at + at));
    return map ? etl_load_u32(map + (size_t)(i % entries) * 4) : 0;
}

static etl_status gather_directory(msf_file *file, u32 size, etl_error *err)
{
    if (size < 4 || size > file->bytes.size || size % 4 != 0 || file->block_count == 0)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0x2c, "the superblock: a directory of %u bytes",
                             size);
    file->gathered = malloc(size);
    if (!file->gathered)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for a directory of %u bytes", size);
    const u32 block_size = 1u << file->block_shift;
    u32 filled = 0;
    for (u32 i = 0; filled < size; i++) {
        const u8 *const block = block_at(file, mapped_block(file, i));
        if (!block)
            return etl_fail_with(err, ETL_ERR_CORRUPT, PDB_SUPERBLOCK_BYTES,
                                 "the directory: its block %u is not in the file", i);
        const u32 part = size - filled < block_size ? size - filled : block_size;
        memcpy(file->gathered + filled, block, part);
        filled += part;
    }
    file->directory = (etl_bytes){ file->gathered, size };
    return ETL_OK;
}

static etl_status index_streams(msf_file *file, etl_error *err)
{
    const u32 words = (u32)(file->directory.size / 4);
    file->stream_count = etl_load_u32(file->directory.at);
    if (file->stream_count > PDB_STREAM_COUNT_MAX || file->stream_count > words - 1)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the directory: %u streams do not fit in it",
                             file->stream_count);
    file->lists = calloc((size_t)file->stream_count + 1, sizeof *file->lists);
    if (!file->lists)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for a list of %u streams",
                             file->stream_count);
    u64 at = 1 + (u64)file->stream_count;
    u64 used = 0;
    for (u32 i = 0; i < file->stream_count; i++) {
        const u32 blocks = blocks_of(file, stream_size(file, i));
        file->lists[i] = (u32)at;
        at += blocks;
        /* Stream 0 is an earlier directory, whose blocks may have new owners. */
        used += i == 0 ? 0 : blocks;
        if (at > words || used > file->block_count)
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "the directory: stream %u lists %u blocks, more than there are", i,
                                 blocks);
    }
    return ETL_OK;
}

static u32 stream_size(const msf_file *file, u32 index)
{
    const u32 size = etl_load_u32(file->directory.at + 4 + (size_t)index * 4);
    return size == PDB_STREAM_ABSENT_SIZE ? 0 : size;
}

static u32 blocks_of(const msf_file *file, u32 size)
{
    const u32 whole = size >> file->block_shift;
    return whole + ((size & ((1u << file->block_shift) - 1)) != 0);
}

/* A block of a stream; NULL if the number is not one. Block 0 is the superblock. */
static const u8 *block_at(const msf_file *file, u32 number)
{
    if (number == 0 || number >= file->block_count)
        return NULL;
    return file->bytes.at + ((size_t)number << file->block_shift);
}

msf_stream msf_stream_of(const msf_file *file, u32 index)
{
    const u32 size = index < file->stream_count ? stream_size(file, index) : 0;
    return (msf_stream){ .file = file, .index = index, .size = size };
}

etl_bytes msf_view_slow(msf_stream *stream, u32 offset, u32 size, u8 *scratch)
{
    if (offset > stream->size || size > stream->size - offset)
        return (etl_bytes){ NULL, 0 };
    if (size == 0)
        return (etl_bytes){ scratch, 0 };
    u32 filled = 0;
    while (filled < size) {
        const u32 at = offset + filled;
        if ((at < stream->run_begin || at >= stream->run_end) && !find_run(stream, at))
            return (etl_bytes){ NULL, 0 };
        const u8 *const from = stream->run + (at - stream->run_begin);
        const u32 left = stream->run_end - at;
        if (filled == 0 && size <= left)
            return (etl_bytes){ from, size };
        const u32 part = size - filled < left ? size - filled : left;
        memcpy(scratch + filled, from, part);
        filled += part;
    }
    return (etl_bytes){ scratch, size };
}

/* Measures the run of neighbouring blocks from the one with byte `offset`. */
static bool find_run(msf_stream *stream, u32 offset)
{
    const msf_file *const file = stream->file;
    const u32 first = offset >> file->block_shift;
    const u32 count = blocks_of(file, stream->size);
    const u8 *const list =
        file->directory.at + ((size_t)file->lists[stream->index] + first) * sizeof(u32);
    const u32 number = etl_load_u32(list);
    const u8 *const block = block_at(file, number);
    if (!block)
        return false;
    u32 n = 1;
    while (n < RUN_BLOCKS_MAX && first + n < count && number + n < file->block_count &&
           etl_load_u32(list + (size_t)n * 4) == number + n)
        n++;
    const u64 end = (u64)(first + n) << file->block_shift;
    stream->run = block;
    stream->run_begin = first << file->block_shift;
    stream->run_end = (u32)etl_min_u64(end, stream->size);
    return true;
}

etl_bytes msf_text(msf_stream *stream, u32 offset, u32 limit, u8 *scratch)
{
    u32 filled = 0;
    while (filled < limit && offset < stream->size && stream->size - offset > filled) {
        const u32 at = offset + filled;
        if ((at < stream->run_begin || at >= stream->run_end) && !find_run(stream, at))
            return (etl_bytes){ NULL, 0 };
        const u8 *const from = stream->run + (at - stream->run_begin);
        const u32 left = stream->run_end - at;
        const u32 part = limit - filled < left ? limit - filled : left;
        const u8 *const nul = memchr(from, 0, part);
        const u32 length = nul ? (u32)(nul - from) : part;
        if (filled == 0 && (nul || part == limit))
            return (etl_bytes){ from, length };
        memcpy(scratch + filled, from, length);
        filled += length;
        if (nul)
            break;
    }
    return (etl_bytes){ scratch, filled };
}
