/*
 * buffer_index.c - goes through a file once and notes where each buffer is.
 *
 * In: the bytes of a file, which may be damaged. Out: rows of an etl_buffer_index: offset, session,
 * CPU, sequence, first time; and the sessions' headers.
 *
 * A file is a chain: each buffer header states the distance to the next. A broken link costs no
 * more than its own buffer:
 *
 *     header sound, next header sound          the normal case: take the buffer
 *     size broken, but a header stands where   take it with the session's buffer
 *     the session's buffer size puts the next  size; count the header
 *     buffer reaches beyond the file           take what is there; count the rest
 *     nothing but zeros left                   the unused tail of a file that was
 *                                              allocated in advance: done
 *     anything else                            count it and search the next buffer
 *
 * A HEADER buffer further on means appended or joined files: its log-file header begins a new
 * session, to which the buffers from there on belong.
 *
 * The walk can stop between two buffers and go on later. Of a file that is still being written it
 * waits for the bytes that it looks at. Whether the file has a tail of zeros is known only
 * when all are there, so it waits for all before it takes anything but the normal case.
 *
 * Invariant: each byte is passed over once, so a hostile file costs time in proportion to its size;
 * rows cost 40 bytes for each 72 bytes of file at worst.
 */
#include <stdlib.h>

#include "buffer_header.h"
#include "buffer_index.h"
#include "buffer_losses.h"
#include "buffer_peek.h"
#include "index_ahead.h"
#include "index_begins.h"
#include "layout.h"
#include "session.h"

#define FIRST_CAPACITY 64u

/* The last buffers of a file: those that all processors held when the session stopped. */
#define TAIL_BYTES (8 * ETL_MIB)

struct etl_index_walk {
    etl_buffer_index *index;
    etl_bytes file;
    const etl_map *map;
    etl_arrival_fn *arrival; /* NULL: all bytes are there */
    void *arrival_user;
    u64 arrived; /* so many bytes are there */
    bool is_done;
    etl_peek peek; /* into the file, at headers */
    etl_index_ahead ahead;
    etl_index_begins begins;
    u64 offset;
    etl_buffer_limits limits;
    bool may_resync;
    etl_error *err; /* of the call at hand */
};

typedef struct etl_index_walk index_walk;

static etl_status begin(index_walk *walk);
static etl_status complete(index_walk *walk);
static etl_status await(index_walk *walk, u64 end);
static void add(index_walk *walk, etl_diag diag, u64 n);
static etl_status begin_session(index_walk *walk, const etl_buffer_header *header, etl_error *err);
static etl_status step(index_walk *walk);
static bool may_end_at(index_walk *walk, u64 offset);
static bool repair_size(index_walk *walk, etl_buffer_header *header);
static etl_status take_buffer(index_walk *walk, const etl_buffer_header *header);
static etl_status begin_later_session(index_walk *walk, const etl_buffer_header *header);
static etl_status add_buffer(index_walk *walk, const etl_buffer_header *header, u32 stored_size);
static i64 first_ticks(index_walk *walk, const etl_buffer_info *info);
static u32 usable_size(const etl_buffer_limits *limits, const etl_buffer_header *header,
                       u32 stored_size);
static u16 cpu_of(index_walk *walk, const etl_buffer_header *header);
static void skip_broken(index_walk *walk);
static void *grow(void *rows, u32 *capacity, size_t row_size);

etl_status etl_index_walk_open(etl_buffer_index *index, const etl_index_source *from,
                               etl_index_walk **out, etl_error *err)
{
    const etl_open_options *const options = from->options;
    index_walk *const walk = calloc(1, sizeof *walk);
    *out = NULL;
    if (walk == NULL)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to index its buffers");
    const u64 size = from->file.size;
    *walk = (index_walk){
        .index = index,
        .file = from->file,
        .map = from->map,
        .arrival = options->arrival,
        .arrival_user = options->arrival_user,
        .arrived = options->arrival == NULL ? size : 0,
        .peek = { .file = from->file, .descriptor = from->descriptor },
        .begins = { .map = from->map,
                    .descriptor = from->descriptor,
                    .run_tasks = options->run_tasks,
                    .run_user = options->run_user },
        .limits = { .zero_from = size, .size_max = options->buffer_bytes_max },
        .may_resync = !options->no_resync,
        .err = err,
    };
    walk->peek.ahead = &walk->begins;
    const etl_status status = begin(walk);
    if (status == ETL_OK)
        *out = walk;
    else
        etl_index_walk_close(walk);
    return status;
}

/* Preallocated tails are gigabytes: most of one is skipped 8 bytes at a time. */
static u64 find_zero_tail(etl_bytes file)
{
    size_t end = file.size;
    while (end >= 8 && etl_load_u64(file.at + end - 8) == 0)
        end -= 8;
    while (end > 0 && file.at[end - 1] == 0)
        end--;
    return end;
}

static etl_status begin(index_walk *walk)
{
    if (walk->arrival == NULL)
        walk->limits.zero_from = find_zero_tail(walk->file);
    const etl_status status = await(walk, ETL_START_BYTES);
    if (status != ETL_OK)
        return status;
    etl_buffer_header first;
    if (!etl_buffer_header_read(walk->file, 0, &first))
        return etl_fail_with(walk->err, ETL_ERR_NOT_ETL, 0, "too short for an ETL trace");
    return begin_session(walk, &first, walk->err);
}

etl_status etl_index_walk_to(etl_index_walk *walk, u64 offset, etl_error *err)
{
    const u64 to = etl_min_u64(offset, walk->file.size);
    etl_status status = ETL_OK;
    walk->err = err;
    while (status == ETL_OK && walk->offset < to)
        status = step(walk);
    if (status == ETL_OK && walk->offset >= walk->file.size && !walk->is_done)
        status = complete(walk);
    return status;
}

static etl_status complete(index_walk *walk)
{
    etl_buffer_index *const index = walk->index;
    u64 arrived;
    if (walk->arrival != NULL) {
        const etl_status status =
            walk->arrival(walk->arrival_user, UINT64_MAX, &arrived, walk->err);
        if (status != ETL_OK)
            return status;
    }
    walk->is_done = true;
    if (etl_buffer_losses_count(index) != ETL_OK)
        return etl_fail_with(walk->err, ETL_ERR_MEMORY, 0, "no memory to index its buffers");
    return ETL_OK;
}

/* The bytes before `end` are there, or all. */
static etl_status await(index_walk *walk, u64 end)
{
    const u64 wanted = etl_min_u64(end, walk->file.size);
    if (wanted <= walk->arrived)
        return ETL_OK;
    const etl_status status = walk->arrival(walk->arrival_user, wanted, &walk->arrived, walk->err);
    if (status == ETL_OK && walk->arrived >= walk->file.size)
        walk->limits.zero_from = find_zero_tail(walk->file);
    return status;
}

u64 etl_index_walk_offset(const etl_index_walk *walk)
{
    return walk->offset;
}

void etl_index_walk_ask(etl_index_walk *walk, etl_index_asks asks)
{
    const bool is_arriving = etl_index_walk_is_arriving(walk);
    walk->ahead.map = asks == ETL_INDEX_ASKS_NOTHING || is_arriving ? NULL : walk->map;
    walk->ahead.wants_bytes = asks == ETL_INDEX_ASKS_BYTES;
}

bool etl_index_walk_is_arriving(const etl_index_walk *walk)
{
    return walk->arrived < walk->file.size;
}

u32 etl_index_walk_tail(const etl_index_walk *walk, etl_buffer_info *rows, u32 max)
{
    const etl_buffer_limits *const limits = &walk->limits;
    const u64 end = etl_min_u64(limits->zero_from, walk->file.size);
    if (end <= TAIL_BYTES)
        return 0;
    (void)etl_map_fetch(walk->map, end - TAIL_BYTES, TAIL_BYTES);
    u32 count = 0;
    u64 at = etl_buffer_find_next(walk->file, end - TAIL_BYTES, limits);
    while (count < max && at < end && etl_buffer_is_at(walk->file, at, limits)) {
        etl_buffer_header header;
        (void)etl_buffer_header_read(walk->file, at, &header);
        const u32 stored_size = (u32)etl_min_u64(header.size, walk->file.size - at);
        rows[count++] = (etl_buffer_info){
            .offset = at,
            .stored_size = stored_size,
            .valid_size = usable_size(limits, &header, stored_size),
            .flags = header.flags,
            .type = header.type,
            .first_ticks = ETL_TICKS_UNKNOWN,
        };
        at += header.size;
    }
    return count;
}

void etl_index_walk_close(etl_index_walk *walk)
{
    if (walk == NULL)
        return;
    etl_index_begins_free(&walk->begins);
    free(walk);
}

void etl_buffer_index_free(etl_buffer_index *index)
{
    free(index->buffers);
    free(index->headers);
    *index = (etl_buffer_index){ 0 };
}

/* Reads the log-file header of the HEADER buffer at walk->offset. */
static etl_status begin_session(index_walk *walk, const etl_buffer_header *header, etl_error *err)
{
    etl_buffer_index *const index = walk->index;
    etl_session session;
    const etl_status status = etl_session_read(walk->file, walk->offset, &session, err);
    if (status != ETL_OK)
        return status;
    if (index->header_count == index->header_capacity) {
        void *const rows = grow(index->headers, &index->header_capacity, sizeof *index->headers);
        if (!rows)
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to index its sessions");
        index->headers = rows;
    }
    const u32 nominal = session.buffer_size_bytes;
    const bool is_nominal_possible =
        nominal >= ETL_BUFFER_HEADER_BYTES && nominal <= walk->limits.size_max;
    walk->limits.size_nominal = is_nominal_possible ? nominal : 0;
    walk->limits.valid_max = ETL_BUFFER_VALID_MAX_LEAST;
    if (walk->limits.size_nominal > walk->limits.valid_max)
        walk->limits.valid_max = nominal;
    index->headers[index->header_count++] = (etl_log_header){
        .session = session,
        .first_buffer = index->buffer_count,
        .valid_max = walk->limits.valid_max,
        .compression = (u8)header->state,
    };
    return ETL_OK;
}

/* Takes or skips the buffer at walk->offset and moves on. */
static etl_status step(index_walk *walk)
{
    const u64 left = walk->file.size - walk->offset;
    etl_status status = await(walk, walk->offset + ETL_PEEK_BYTES);
    if (status != ETL_OK)
        return status;
    if (walk->offset >= walk->limits.zero_from) {
        add(walk, ETL_DIAG_bytes_unused, left);
        walk->offset = walk->file.size;
        return ETL_OK;
    }
    etl_buffer_header header;
    if (!etl_buffer_header_read(etl_peek_at(&walk->peek, walk->offset), 0, &header)) {
        add(walk, ETL_DIAG_file_truncated, ETL_BUFFER_HEADER_BYTES - left);
        add(walk, ETL_DIAG_bytes_skipped, left);
        walk->offset = walk->file.size;
        return ETL_OK;
    }
    const bool is_size_possible =
        header.size >= ETL_BUFFER_HEADER_BYTES && header.size <= walk->limits.size_max;
    const u64 next = walk->offset + header.size;
    if (is_size_possible)
        status = await(walk, next + ETL_PEEK_BYTES);
    if (status != ETL_OK)
        return status;
    if (is_size_possible && may_end_at(walk, next))
        return take_buffer(walk, &header);
    if (etl_index_walk_is_arriving(walk))
        return await(walk, walk->file.size); /* and looks again */
    if (repair_size(walk, &header)) {
        add(walk, ETL_DIAG_buffer_header_invalid, 1);
        return take_buffer(walk, &header);
    }
    if (is_size_possible && etl_buffer_header_is_sound(&header, header.size, &walk->limits))
        return take_buffer(walk, &header);
    skip_broken(walk);
    return ETL_OK;
}

static void add(index_walk *walk, etl_diag diag, u64 n)
{
    etl_diag_add(&walk->index->diag, diag, n);
}

static bool may_end_at(index_walk *walk, u64 offset)
{
    if (offset >= walk->file.size)
        return offset == walk->file.size;
    return etl_buffer_may_end_before(etl_peek_at(&walk->peek, offset), offset, &walk->limits);
}

/* Repairs a size: true if only the size is wrong and the session's buffer size fits. */
static bool repair_size(index_walk *walk, etl_buffer_header *header)
{
    const u32 nominal = walk->limits.size_nominal;
    if (nominal == 0 || !etl_buffer_header_is_sound(header, nominal, &walk->limits) ||
        !may_end_at(walk, walk->offset + nominal))
        return false;
    header->size = nominal;
    return true;
}

static etl_status take_buffer(index_walk *walk, const etl_buffer_header *header)
{
    if (header->type == ETL_BUFFER_TYPE_HEADER && walk->offset > 0 &&
        begin_later_session(walk, header) != ETL_OK)
        return ETL_ERR_MEMORY;
    const u64 left = walk->file.size - walk->offset;
    const u32 stored_size = header->size <= left ? header->size : (u32)left;
    const bool is_compressed = (header->flags & ETL_BUFFER_COMPRESSED) != 0;
    etl_index_ahead_at(&walk->ahead, walk->offset, stored_size, is_compressed);
    add(walk, ETL_DIAG_file_truncated, header->size - stored_size);
    const etl_status status = add_buffer(walk, header, stored_size);
    etl_index_begins_at(&walk->begins, walk->offset, stored_size);
    walk->offset += stored_size;
    return status;
}

/* Begins another session. Without a log-file header, it is one more buffer of the session
 * before. */
static etl_status begin_later_session(index_walk *walk, const etl_buffer_header *header)
{
    if (walk->index->header_count > UINT16_MAX)
        return ETL_OK; /* more than a row can name */
    const etl_status status = begin_session(walk, header, NULL);
    if (status == ETL_OK)
        add(walk, ETL_DIAG_log_header_extra, 1);
    if (status == ETL_ERR_MEMORY)
        return etl_fail_with(walk->err, status, 0, "no memory to index its sessions");
    return ETL_OK;
}

static etl_status add_buffer(index_walk *walk, const etl_buffer_header *header, u32 stored_size)
{
    etl_buffer_index *const index = walk->index;
    if (index->buffer_count == UINT32_MAX)
        return etl_fail_with(walk->err, ETL_ERR_LIMIT, walk->offset,
                             "the file has 2^32 or more buffers");
    if (index->buffer_count == index->buffer_capacity) {
        void *const rows = grow(index->buffers, &index->buffer_capacity, sizeof *index->buffers);
        if (!rows)
            return etl_fail_with(walk->err, ETL_ERR_MEMORY, 0, "no memory to index its buffers");
        index->buffers = rows;
    }
    etl_log_header *const session = &index->headers[index->header_count - 1];
    session->events_lost_flags += (header->flags & ETL_BUFFER_EVENTS_LOST) != 0;
    session->buffers_lost_flags += (header->flags & ETL_BUFFER_BUFFER_LOST) != 0;
    if (header->type >= ETL_BUFFER_TYPE_COUNT)
        add(walk, ETL_DIAG_buffer_type_unknown, 1);
    if (!etl_buffer_valid_is_possible(header, header->size, &walk->limits))
        add(walk, ETL_DIAG_buffer_header_invalid, 1);
    etl_buffer_info *const row = &index->buffers[index->buffer_count++];
    *row = (etl_buffer_info){
        .offset = walk->offset,
        .stored_size = stored_size,
        .valid_size = usable_size(&walk->limits, header, stored_size),
        .sequence = header->sequence,
        .flags = header->flags,
        .type = header->type,
        .cpu = cpu_of(walk, header),
        .session = (u16)(index->header_count - 1),
    };
    row->first_ticks = first_ticks(walk, row);
    return ETL_OK;
}

/* The first time in the bytes that were peeked at. A record that is cut off there does not count,
 * so this is never the time of a later record. */
static i64 first_ticks(index_walk *walk, const etl_buffer_info *info)
{
    i64 ticks = ETL_TICKS_UNKNOWN;
    if ((info->flags & ETL_BUFFER_COMPRESSED) != 0 || !etl_buffer_has_records(info))
        return ticks;
    const etl_bytes begin = etl_peek_at(&walk->peek, info->offset);
    const etl_buffer buffer = {
        .base = begin.at,
        .at = ETL_BUFFER_HEADER_BYTES,
        .end = (u32)etl_min_u64(begin.size, info->valid_size),
    };
    (void)etl_buffer_find_ticks(buffer, &ticks);
    return ticks;
}

/* The uncompressed valid size, limited to what is possible. */
static u32 usable_size(const etl_buffer_limits *limits, const etl_buffer_header *header,
                       u32 stored_size)
{
    const bool is_compressed = (header->flags & ETL_BUFFER_COMPRESSED) != 0;
    const u32 usable_max = is_compressed ? limits->valid_max : stored_size;
    if (header->valid < ETL_BUFFER_HEADER_BYTES)
        return ETL_BUFFER_HEADER_BYTES;
    return header->valid < usable_max ? header->valid : usable_max;
}

static u16 cpu_of(index_walk *walk, const etl_buffer_header *header)
{
    const etl_session *const session = &walk->index->headers[walk->index->header_count - 1].session;
    const bool is_index = (header->flags & ETL_BUFFER_PROC_INDEX) != 0;
    const u16 cpu = header->processor & (is_index ? ETL_CPU_INDEX_MASK : UINT8_MAX);
    if (session->cpu_known && cpu >= session->cpu_count)
        add(walk, ETL_DIAG_cpu_index_invalid, 1);
    return cpu;
}

static void skip_broken(index_walk *walk)
{
    const u64 next = walk->may_resync
                         ? etl_buffer_find_next(walk->file, walk->offset, &walk->limits)
                         : walk->file.size;
    add(walk, ETL_DIAG_buffer_header_invalid, 1);
    add(walk, ETL_DIAG_bytes_skipped, next - walk->offset);
    walk->offset = next;
}

/* Room for more rows: the new array, or NULL with the old one untouched. */
static void *grow(void *rows, u32 *capacity, size_t row_size)
{
    const u32 wanted = *capacity == 0               ? FIRST_CAPACITY
                       : *capacity > UINT32_MAX / 2 ? UINT32_MAX
                                                    : *capacity * 2;
    size_t size_bytes;
    if (!etl_mul_size(wanted, row_size, &size_bytes))
        return NULL;
    void *const grown = realloc(rows, size_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}
