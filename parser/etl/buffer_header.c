/*
 * buffer_header.c - buffer headers: reading, judging and finding them.
 *
 * Headers have no magic number, so trust comes from agreement. A header is sound
 * when its fields have values that writers use. Going from buffer to buffer that
 * is enough, with what the next header says as a second witness. To pick the
 * trail up again behind damage it is not: the bytes searched are mostly event
 * data, where 72 bytes of small numbers are nothing rare. There a header must
 * also belong to a whole buffer, and either another buffer follows it or its
 * first record is sound.
 */
#include "buffer_header.h"
#include "parser/cursor.h"
#include "layout.h"

/* Numbers a session gives out one per buffer; more would be petabytes of trace. */
#define SEQUENCE_MAX ((i64)1 << 40)

static bool is_size_possible(u32 size, const etl_buffer_limits *limits);
static bool is_certain_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits);
static bool is_record_at(const u8 *base, const etl_buffer_header *header);

bool etl_buffer_header_read(etl_bytes file, u64 offset, etl_buffer_header *out)
{
    etl_cursor c = etl_cursor_of(file);
    etl_skip(&c, offset);
    etl_need(&c, ETL_BUFFER_HEADER_BYTES);
    out->size = etl_u32(&c);
    etl_skip(&c, 8); /* SavedOffset, CurrentOffset */
    out->reference_count = (i32)etl_u32(&c);
    out->flush_ticks = (i64)etl_u64(&c);
    out->sequence = (i64)etl_u64(&c);
    etl_skip(&c, 8); /* a kernel pointer */
    out->processor = etl_u16(&c);
    etl_skip(&c, 2); /* LoggerId */
    out->state = etl_u32(&c);
    out->valid = etl_u32(&c);
    out->flags = etl_u16(&c);
    out->type = etl_u16(&c);
    return etl_ok(&c);
}

bool etl_buffer_valid_is_possible(const etl_buffer_header *header, u32 size,
                                  const etl_buffer_limits *limits)
{
    const bool is_compressed = (header->flags & ETL_BUFFER_COMPRESSED) != 0;
    const u32 valid_max = is_compressed ? limits->valid_max : size;
    return header->valid >= ETL_BUFFER_HEADER_BYTES && header->valid <= valid_max;
}

bool etl_buffer_header_is_sound(const etl_buffer_header *header, u32 size,
                                const etl_buffer_limits *limits)
{
    return header->type < ETL_BUFFER_TYPE_COUNT && header->flags <= ETL_BUFFER_FLAGS_KNOWN &&
           etl_buffer_valid_is_possible(header, size, limits);
}

bool etl_buffer_is_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits)
{
    etl_buffer_header header;
    return etl_buffer_header_read(file, offset, &header) && is_size_possible(header.size, limits) &&
           etl_buffer_header_is_sound(&header, header.size, limits);
}

static bool is_size_possible(u32 size, const etl_buffer_limits *limits)
{
    return size >= ETL_BUFFER_HEADER_BYTES && size <= limits->size_max;
}

bool etl_buffer_may_end_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits)
{
    if (offset >= file.size)
        return offset == file.size;
    const etl_bytes next = { file.at + offset, file.size - (size_t)offset };
    return etl_buffer_may_end_before(next, offset, limits);
}

bool etl_buffer_may_end_before(etl_bytes next, u64 offset, const etl_buffer_limits *limits)
{
    return offset >= limits->zero_from || etl_buffer_is_at(next, 0, limits);
}

/* In a file of equal buffers the next multiple of their size is the next buffer. */
u64 etl_buffer_find_next(etl_bytes file, u64 broken, const etl_buffer_limits *limits)
{
    if (limits->size_nominal > 0) {
        const u64 next = (broken / limits->size_nominal + 1) * limits->size_nominal;
        if (etl_buffer_is_at(file, next, limits))
            return next;
    }
    const u64 end = etl_min_u64(limits->zero_from, file.size);
    assert(broken < end);
    for (u64 at = broken + 1; at < end; at++)
        if (is_certain_at(file, at, limits))
            return at;
    return end;
}

static bool is_certain_at(etl_bytes file, u64 offset, const etl_buffer_limits *limits)
{
    etl_buffer_header header;
    if (!etl_buffer_header_read(file, offset, &header) || !is_size_possible(header.size, limits) ||
        header.reference_count != 0 || header.size > file.size - offset || header.sequence < 0 ||
        header.sequence > SEQUENCE_MAX || !etl_buffer_header_is_sound(&header, header.size, limits))
        return false;
    return etl_buffer_may_end_at(file, offset + header.size, limits) ||
           is_record_at(file.at + offset, &header);
}

static bool is_record_at(const u8 *base, const etl_buffer_header *header)
{
    if ((header->flags & ETL_BUFFER_COMPRESSED) != 0)
        return false;
    etl_diag_counts ignored = { 0 };
    etl_buffer buffer = {
        .base = base, .at = ETL_BUFFER_HEADER_BYTES, .end = header->valid, .diag = &ignored
    };
    etl_record record;
    return etl_record_next(&buffer, &record) && record.header != ETL_HEADER_OTHER;
}
