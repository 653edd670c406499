/* fault_inputs.c - see fault_inputs.h. */
#include "fault_inputs.h"

#include <stdlib.h>

#include "parser/etl/layout.h"

#define RECORD_HEADER_BYTES_MAX 80u

static bool is_counted(const etl_trace *trace);
static bool list_buffers(fault_material *material, const etl_trace *trace);
static bool list_header_bytes(fault_material *material, const etl_trace *trace);

bool fault_material_open(fault_material *out, const char *name, u8 *bytes, size_t size)
{
    etl_trace *trace = NULL;
    *out = (fault_material){ .name = name, .bytes = bytes, .size = size };
    const bool opened = etl_open_memory((etl_bytes){ bytes, size }, NULL, &trace, NULL) == ETL_OK &&
                        list_buffers(out, trace) && list_header_bytes(out, trace);
    out->is_counted = opened && is_counted(trace);
    etl_close(trace);
    return opened;
}

void fault_material_close(fault_material *material)
{
    free(material->bytes);
    free(material->buffers);
    free(material->header_bytes);
    *material = (fault_material){ 0 };
}

static bool is_counted(const etl_trace *trace)
{
    const etl_session *const session = etl_session_of(trace, 0);
    return etl_session_count(trace) == 1 && session->end_time_filetime != 0 &&
           (session->log_file_mode & ETL_MODE_CIRCULAR) == 0;
}

static bool list_buffers(fault_material *material, const etl_trace *trace)
{
    material->buffer_count = etl_buffer_count(trace);
    material->buffers = calloc((size_t)material->buffer_count + 1, sizeof *material->buffers);
    for (u32 i = 0; material->buffers != NULL && i < material->buffer_count; i++)
        material->buffers[i] = *etl_buffer_info_of(trace, i);
    return material->buffers != NULL;
}

static void mark(u8 *marks, size_t size, size_t from, size_t count)
{
    for (size_t i = from; i < size && i < from + count; i++)
        marks[i] = 1;
}

/* The first buffer's records are the log-file header, which counts as a whole. */
static bool mark_headers(const fault_material *material, const etl_trace *trace, u8 *marks)
{
    etl_scratch scratch = { 0 };
    for (u32 i = 0; i < material->buffer_count; i++) {
        const etl_buffer_info *const info = &material->buffers[i];
        etl_diag_counts ignored = { 0 };
        etl_buffer buffer;
        etl_record record;
        mark(marks, material->size, info->offset, ETL_BUFFER_HEADER_BYTES);
        if (i == 0)
            mark(marks, material->size, info->offset, info->valid_size);
        if ((info->flags & ETL_BUFFER_COMPRESSED) != 0)
            continue;
        if (etl_buffer_load(trace, i, &scratch, &ignored, &buffer) != ETL_OK)
            return false;
        for (u32 at = buffer.at; etl_record_next(&buffer, &record); at = buffer.at)
            mark(marks, material->size, info->offset + at,
                 etl_min_u64(buffer.at - at, RECORD_HEADER_BYTES_MAX));
    }
    etl_scratch_free(&scratch);
    return true;
}

static bool list_header_bytes(fault_material *material, const etl_trace *trace)
{
    u8 *const marks = calloc(material->size + 1, 1);
    material->header_bytes = calloc(material->size + 1, sizeof *material->header_bytes);
    const bool marked =
        marks != NULL && material->header_bytes != NULL && mark_headers(material, trace, marks);
    for (size_t i = 0; marked && i < material->size; i++) {
        if (marks[i] != 0)
            material->header_bytes[material->header_byte_count++] = (u32)i;
    }
    free(marks);
    return marked;
}

/* --- the harms ------------------------------------------------------------------ */

static u64 count_bytes(const fault_material *material)
{
    return material->size;
}

static u64 count_header_bits(const fault_material *material)
{
    return (u64)material->header_byte_count * 8;
}

static u64 count_buffers(const fault_material *material)
{
    return material->buffer_count;
}

/* The log-file header stays where it is. */
static u64 count_data_buffers(const fault_material *material)
{
    return material->buffer_count > 0 ? material->buffer_count - 1u : 0;
}

/* Neighbours, and then the first with each that is none of its own. */
static u64 count_data_pairs(const fault_material *material)
{
    const u64 buffers = count_data_buffers(material);
    return buffers < 2 ? 0 : 2 * buffers - 3;
}

static size_t keep(const fault_material *material, u64 number, u8 *out)
{
    (void)number;
    memcpy(out, material->bytes, material->size);
    return material->size;
}

static u64 count_one(const fault_material *material)
{
    (void)material;
    return 1;
}

static size_t cut(const fault_material *material, u64 number, u8 *out)
{
    memcpy(out, material->bytes, number);
    return number;
}

static size_t flip(const fault_material *material, u64 number, u8 *out)
{
    const size_t size = keep(material, 0, out);
    out[material->header_bytes[number / 8]] ^= (u8)(1u << (number % 8));
    return size;
}

static size_t zero_buffer(const fault_material *material, u64 number, u8 *out)
{
    const size_t size = keep(material, 0, out);
    memset(out + material->buffers[number].offset, 0, material->buffers[number].stored_size);
    return size;
}

static size_t zero_buffer_header(const fault_material *material, u64 number, u8 *out)
{
    const size_t size = keep(material, 0, out);
    memset(out + material->buffers[number].offset, 0, ETL_BUFFER_HEADER_BYTES);
    return size;
}

static size_t append(const fault_material *material, u64 buffer, u8 *out, size_t size)
{
    const etl_buffer_info *const info = &material->buffers[buffer];
    memcpy(out + size, material->bytes + info->offset, info->stored_size);
    return size + info->stored_size;
}

static size_t drop_buffer(const fault_material *material, u64 number, u8 *out)
{
    size_t size = 0;
    for (u32 i = 0; i < material->buffer_count; i++) {
        if (i != number + 1)
            size = append(material, i, out, size);
    }
    return size;
}

static size_t repeat_buffer(const fault_material *material, u64 number, u8 *out)
{
    size_t size = 0;
    for (u32 i = 0; i < material->buffer_count; i++) {
        size = append(material, i, out, size);
        if (i == number + 1)
            size = append(material, i, out, size);
    }
    return size;
}

static size_t swap_buffers(const fault_material *material, u64 number, u8 *out)
{
    const u32 neighbours = material->buffer_count - 2;
    const bool is_near = number < neighbours;
    const u32 first = is_near ? 1 + (u32)number : 1;
    const u32 second = is_near ? first + 1 : 3 + (u32)number - neighbours;
    size_t size = 0;
    for (u32 i = 0; i < material->buffer_count; i++)
        size = append(material, i == first ? second : i == second ? first : i, out, size);
    return size;
}

/* The file's own header again in the middle, as when files were joined. */
static size_t repeat_header(const fault_material *material, u64 number, u8 *out)
{
    size_t size = 0;
    for (u32 i = 0; i < material->buffer_count; i++) {
        if (i == number + 1)
            size = append(material, 0, out, size);
        size = append(material, i, out, size);
    }
    return size;
}

/* Every number of the session again, as when a circular file began anew. */
static size_t overlap_numbers(const fault_material *material, u64 number, u8 *out)
{
    const size_t size = keep(material, 0, out);
    for (u32 i = 1; i < material->buffer_count; i++) {
        u8 *const at = out + material->buffers[i].offset + 24; /* SequenceNumber */
        const u64 sequence = etl_load_u64(at) % (number + 1);
        memcpy(at, &sequence, sizeof sequence);
    }
    return size;
}

static size_t garble_buffer(const fault_material *material, u64 number, u8 *out)
{
    const size_t size = keep(material, 0, out);
    const etl_buffer_info *const info = &material->buffers[number + 1];
    for (u32 i = ETL_BUFFER_HEADER_BYTES; i < info->stored_size; i++)
        out[info->offset + i] = (u8)(i * 167 + number);
    return size;
}

/* A file that ends between two buffers, or in zeros behind one, as if there had been
 * room for more. */
static bool ends_between(const fault_material *material, u64 size)
{
    u64 at = size;
    while (at > 0 && material->bytes[at - 1] == 0)
        at--;
    for (u32 i = 0; i < material->buffer_count; i++) {
        const u64 offset = material->buffers[i].offset;
        if (offset >= at && offset <= size)
            return true;
    }
    return false;
}

bool fault_is_told(const fault_material *material, const fault_harm *harm, u64 number)
{
    if ((harm->promises & FAULT_TOLD) == 0)
        return false;
    if (material->is_counted)
        return true;
    return harm->make == cut ? !ends_between(material, number)
                             : (harm->promises & FAULT_WHOLE) == 0;
}

const fault_harm fault_harms[] = {
    { "as it is", count_one, keep, FAULT_NO_MORE },
    { "cut off at each byte", count_bytes, cut, FAULT_TOLD | FAULT_NO_MORE },
    { "a bit of a header flipped", count_header_bits, flip, 0 },
    { "a buffer zeroed", count_buffers, zero_buffer, FAULT_TOLD | FAULT_NO_MORE | FAULT_WHOLE },
    { "a buffer header zeroed", count_buffers, zero_buffer_header, FAULT_TOLD | FAULT_NO_MORE },
    { "a buffer missing", count_data_buffers, drop_buffer,
      FAULT_TOLD | FAULT_NO_MORE | FAULT_WHOLE },
    { "a buffer twice", count_data_buffers, repeat_buffer, 0 },
    { "two buffers swapped", count_data_pairs, swap_buffers, FAULT_NO_MORE },
    { "a second header in the middle", count_data_buffers, repeat_header, 0 },
    { "sequence numbers that overlap", count_data_buffers, overlap_numbers, FAULT_NO_MORE },
    { "the bytes of a buffer garbled", count_data_buffers, garble_buffer, FAULT_TOLD },
};

const size_t fault_harm_count = ETL_COUNT_OF(fault_harms);
