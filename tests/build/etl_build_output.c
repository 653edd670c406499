/*
 * etl_build_output.c - where the file goes: a growing block of memory, or a file
 * written as the trace grows and touched again only to complete its header and
 * to overwrite the oldest buffers of a circular recording.
 */
#include "etl_build_inside.h"

#include <unistd.h>

#define FILE_BUFFER_BYTES ((size_t)1 << 20)

static void reserve(etl_build *b, size_t size);

void build_output_open(etl_build *b, const char *path)
{
    b->file = fopen(path, "wb");
    if (b->file == NULL) {
        build_fail(b, "cannot create %.120s", path);
        return;
    }
    setvbuf(b->file, NULL, _IOFBF, FILE_BUFFER_BYTES);
}

void build_output_append(etl_build *b, const u8 *bytes, size_t size)
{
    if (b->file != NULL) {
        if (fwrite(bytes, 1, size, b->file) != size)
            build_fail(b, "cannot write the file");
    } else if (size > 0) {
        reserve(b, b->data_size + size);
        memcpy(b->data + b->data_size, bytes, size);
        b->data_size += size;
    }
    b->file_size += size;
}

static void reserve(etl_build *b, size_t size)
{
    if (size <= b->data_capacity)
        return;
    const size_t doubled = b->data_capacity * 2;
    b->data_capacity = doubled > size ? doubled : size;
    b->data = build_realloc(b->data, b->data_capacity);
}

void build_output_fill(etl_build *b, u8 byte, u64 size)
{
    u8 chunk[4096];
    memset(chunk, byte, sizeof chunk);
    for (u64 left = size; left > 0;) {
        const size_t part = left < sizeof chunk ? (size_t)left : sizeof chunk;
        build_output_append(b, chunk, part);
        left -= part;
    }
}

void build_output_rewrite(etl_build *b, u64 offset, const u8 *bytes, size_t size)
{
    if (b->file == NULL) {
        assert(offset + size <= b->data_size);
        memcpy(b->data + offset, bytes, size);
        return;
    }
    const bool written = fseeko(b->file, (off_t)offset, SEEK_SET) == 0 &&
                         fwrite(bytes, 1, size, b->file) == size &&
                         fseeko(b->file, 0, SEEK_END) == 0;
    if (!written)
        build_fail(b, "cannot write to the file again");
}

void build_output_resize(etl_build *b, u64 size)
{
    if (size >= b->file_size)
        return;
    if (b->file == NULL)
        b->data_size = (size_t)size;
    else if (fflush(b->file) != 0 || ftruncate(fileno(b->file), (off_t)size) != 0 ||
             fseeko(b->file, 0, SEEK_END) != 0)
        build_fail(b, "cannot shorten the file");
    b->file_size = size;
}

void build_output_close(etl_build *b)
{
    if (b->file == NULL)
        return;
    if (fclose(b->file) != 0)
        build_fail(b, "cannot write the file");
    b->file = NULL;
}
