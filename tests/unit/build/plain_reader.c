/*
 * plain_reader.c - see plain_reader.h. One pass over the buffers, one over the
 * records of each; arrays double.
 */
#include "plain_reader.h"

#include "tests/build/lz77_reference.h"

#include <stdio.h>
#include <stdlib.h>

#define HEADER_BYTES    72u
#define FLAG_COMPRESSED 0x40u

static size_t read_buffer(plain_file *file, const u8 *at, size_t left, u64 offset);
static bool read_records(plain_file *file, u32 index);
static u32 read_record(plain_file *file, const plain_buffer *buffer, u32 at);
static u32 header_size(u8 type);
static void say(plain_file *file, const char *what, u64 where);
static void *grow(void *array, size_t count, size_t element);

plain_file plain_read(const u8 *bytes, size_t size)
{
    plain_file file = { 0 };
    size_t at = 0;
    while (at < size && file.error[0] == '\0') {
        const size_t taken = read_buffer(&file, bytes + at, size - at, at);
        if (taken == 0 || !read_records(&file, file.buffer_count - 1))
            break;
        at += taken;
    }
    return file;
}

void plain_free(plain_file *file)
{
    for (u32 i = 0; i < file->buffer_count; i++)
        free(file->buffers[i].bytes);
    free(file->buffers);
    free(file->records);
    *file = (plain_file){ 0 };
}

/* Returns the bytes it takes in the file, 0 when something is wrong. */
static size_t read_buffer(plain_file *file, const u8 *at, size_t left, u64 offset)
{
    if (left < HEADER_BYTES) {
        say(file, "a cut buffer header", offset);
        return 0;
    }
    plain_buffer buffer = { .offset = offset,
                            .stored_size = plain_u32(at),
                            .valid_size = plain_u32(at + 0x30),
                            .timestamp = (i64)plain_u64(at + 0x10),
                            .sequence = (i64)plain_u64(at + 0x18),
                            .cpu = plain_u16(at + 0x28),
                            .flags = plain_u16(at + 0x34),
                            .type = plain_u16(at + 0x36) };
    const bool packed = (buffer.flags & FLAG_COMPRESSED) != 0;
    if (buffer.stored_size < HEADER_BYTES || buffer.stored_size > left ||
        buffer.valid_size < HEADER_BYTES || (!packed && buffer.valid_size > buffer.stored_size)) {
        say(file, "a bad buffer size", offset);
        return 0;
    }
    buffer.bytes = grow(NULL, buffer.valid_size, 1);
    memcpy(buffer.bytes, at, packed ? HEADER_BYTES : buffer.valid_size);
    file->buffers = grow(file->buffers, file->buffer_count + 1, sizeof *file->buffers);
    file->buffers[file->buffer_count++] = buffer;
    const size_t in_size = buffer.stored_size - HEADER_BYTES;
    if (packed) {
        const size_t used =
            lz77_reference_decode(at + HEADER_BYTES, in_size, buffer.bytes + HEADER_BYTES,
                                  buffer.valid_size - HEADER_BYTES);
        if (used != in_size && used + 4 != in_size)
            say(file, "a bad compressed stream", offset);
    } else {
        for (u32 i = buffer.valid_size; i < buffer.stored_size; i++) {
            if (at[i] != 0xFF)
                say(file, "a buffer tail that is not 0xFF", offset + i);
        }
    }
    return buffer.stored_size;
}

static bool read_records(plain_file *file, u32 index)
{
    plain_buffer *const buffer = &file->buffers[index];
    buffer->record_first = file->record_count;
    u32 at = HEADER_BYTES;
    while (at < buffer->valid_size && file->error[0] == '\0') {
        const u32 size = read_record(file, buffer, at);
        if (size == 0)
            return false;
        at += (size + 7) & ~7u;
    }
    if (at != buffer->valid_size)
        say(file, "records that do not end with their buffer", buffer->offset + at);
    buffer->record_count = file->record_count - buffer->record_first;
    return file->error[0] == '\0';
}

static u32 read_record(plain_file *file, const plain_buffer *buffer, u32 at)
{
    const u8 *const bytes = buffer->bytes + at;
    const u32 left = buffer->valid_size - at;
    const bool is_message = left >= 8 && bytes[3] == 0x90 && bytes[2] == 0;
    if (left < 8 || (bytes[3] != 0xC0 && !is_message)) {
        say(file, "a bad record marker", buffer->offset + at);
        return 0;
    }
    const u8 type = bytes[2];
    const bool has_hook = !is_message && ((type >= 1 && type <= 4) || (type >= 16 && type <= 17));
    const u32 header = is_message ? 8 : header_size(type);
    const u32 size = plain_u16(bytes + (has_hook ? 4 : 0));
    if (header == 0 || size < header || size > left) {
        say(file, "a bad record type or size", buffer->offset + at);
        return 0;
    }
    plain_record record = { .at = bytes,
                            .size = size,
                            .buffer = (u32)(buffer - file->buffers),
                            .hook = has_hook ? plain_u16(bytes + 6) : UINT32_MAX,
                            .type = type,
                            .payload = bytes + header,
                            .payload_size = size - header };
    if (!is_message)
        record.ticks = (i64)plain_u64(bytes + (type == 16 || type == 17 ? 8 : 16));
    file->records = grow(file->records, file->record_count + 1, sizeof *file->records);
    file->records[file->record_count++] = record;
    return size;
}

static u32 header_size(u8 type)
{
    switch (type) {
    case 0x01:
    case 0x02:
        return 32;
    case 0x03:
    case 0x04:
        return 24;
    case 0x10:
    case 0x11:
        return 16;
    case 0x0A:
    case 0x14:
        return 48;
    case 0x0B:
    case 0x15:
        return 72;
    case 0x12:
    case 0x13:
        return 80;
    default:
        return 0;
    }
}

const plain_record *plain_find(const plain_file *file, u32 hook, u32 from)
{
    for (u32 i = from; i < file->record_count; i++) {
        if (file->records[i].hook == hook)
            return &file->records[i];
    }
    return NULL;
}

u32 plain_count(const plain_file *file, u32 hook)
{
    u32 count = 0;
    for (u32 i = 0; i < file->record_count; i++)
        count += file->records[i].hook == hook;
    return count;
}

static void say(plain_file *file, const char *what, u64 where)
{
    if (file->error[0] == '\0')
        snprintf(file->error, sizeof file->error, "%s at 0x%llx", what, (unsigned long long)where);
}

/* Doubles at powers of two, so `count` elements always fit. */
static void *grow(void *array, size_t count, size_t element)
{
    if (array != NULL && (count & (count - 1)) != 0)
        return array;
    void *const grown = realloc(array, 2 * count * element);
    if (grown == NULL)
        abort();
    return grown;
}

u16 plain_u16(const u8 *at)
{
    return (u16)(at[0] | at[1] << 8);
}

u32 plain_u32(const u8 *at)
{
    return plain_u16(at) | (u32)plain_u16(at + 2) << 16;
}

u64 plain_u64(const u8 *at)
{
    return plain_u32(at) | (u64)plain_u32(at + 4) << 32;
}
