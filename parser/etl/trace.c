/*
 * trace.c - opens a trace and loads its buffers.
 *
 * In: a file or bytes in memory. Out: an etl_trace with the index of its buffers; later one buffer
 * at a time, as a view of the file or decompressed into the caller's scratch.
 *
 * A compressed buffer is decoded behind a copy of its header, so that all buffers look alike from
 * there on. Invariant: buffers are independent of each other, because no record spans two and each
 * has its own compression window. So any number of threads may load buffers, each with its own
 * scratch.
 */
#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/map.h"
#include "buffer_header.h"
#include "buffer_index.h"
#include "file_kind.h"
#include "layout.h"
#include "session.h"
#include "xpress.h"
#include "parser/sized.h"

/* Enough for the first record unless it is a giant; takes a few microseconds to decode. */
#define PREFIX_BYTES 4096u

#define STEPS_LEAST (64 * ETL_MIB) /* smaller files are indexed as fast as a first step is taken */
#define FIRST_STEP  1              /* one buffer */
#define TAIL_MOST   512u           /* buffers looked at: as many processors are rarely in use */

struct etl_trace {
    etl_map map; /* of etl_open; empty after etl_open_memory */
    etl_bytes file;
    etl_buffer_index index;
    etl_index_walk *walk; /* NULL: everything is indexed */
    int descriptor;       /* for the walk; -1: not open */
    i64 tail_ticks;
    bool was_written; /* while it was opened, by whom `arrival` waits for */
};

static etl_status create(const etl_open_options *options, etl_open_options *chosen, etl_trace **out,
                         etl_error *err);
static etl_status open_map(etl_trace *trace, const char *path, etl_open_options *options,
                           etl_error *err);
static etl_status finish(etl_trace *trace, const etl_open_options *options, etl_trace **out,
                         etl_error *err);
static etl_status build_index(etl_trace *trace, const etl_open_options *options, etl_error *err);
static bool wants_steps(const etl_trace *trace, const etl_open_options *options);
static bool is_tail_late(etl_trace *trace);
static etl_status walk_to(etl_trace *trace, u64 offset, etl_error *err);
static void end_walk(etl_trace *trace);
static bool first_ticks_of(const etl_trace *trace, const etl_buffer_info *info, i64 *ticks);
static etl_status explain(etl_bytes file, etl_status status, etl_error *err);
static etl_status load(const etl_trace *trace, const etl_buffer_info *info, etl_scratch *scratch,
                       etl_diag_counts *diag, etl_buffer *out);
static u8 format_of(const etl_trace *trace, const etl_buffer_info *info);
static bool is_trusted(u8 format);
static etl_status inflate(const etl_trace *trace, const etl_buffer_info *info, etl_scratch *scratch,
                          etl_buffer *out);
static bool reserve(etl_scratch *scratch, size_t size);
static etl_xpress_end decode(const etl_trace *trace, const etl_buffer_info *info,
                             etl_xpress_output *out);
static bool find_ticks_in_prefix(const etl_trace *trace, const etl_buffer_info *info, i64 *ticks);

etl_status etl_open(const char *path, const etl_open_options *options, etl_trace **out,
                    etl_error *err)
{
    *out = NULL;
    etl_open_options chosen;
    etl_trace *trace;
    etl_status status = create(options, &chosen, &trace, err);
    if (status != ETL_OK)
        return status;
    status = open_map(trace, path, &chosen, err);
    if (status != ETL_OK) {
        etl_close(trace);
        return status;
    }
    trace->file = trace->map.bytes;
    return finish(trace, &chosen, out, err);
}

/* A file that is read into memory, because it shall be or cannot be mapped, is complete first. */
static etl_status open_map(etl_trace *trace, const char *path, etl_open_options *options,
                           etl_error *err)
{
    const bool arrives = options->arrival != NULL;
    etl_status status = ETL_OK;
    if (!arrives || !options->no_mmap)
        status = etl_map_open_file(path, options->no_mmap, &trace->map, &trace->descriptor, err);
    trace->was_written = arrives && trace->map.is_mapped;
    if (status != ETL_OK || !arrives || trace->was_written)
        return status;
    u64 arrived;
    etl_map_close(&trace->map);
    if (trace->descriptor >= 0)
        (void)etl_file_close(trace->descriptor);
    trace->descriptor = -1;
    status = options->arrival(options->arrival_user, UINT64_MAX, &arrived, err);
    options->arrival = NULL;
    return status == ETL_OK ? etl_map_open_file(path, true, &trace->map, &trace->descriptor, err)
                            : status;
}

etl_status etl_open_memory(etl_bytes file, const etl_open_options *options, etl_trace **out,
                           etl_error *err)
{
    *out = NULL;
    etl_open_options chosen;
    etl_trace *trace;
    const etl_status status = create(options, &chosen, &trace, err);
    if (status != ETL_OK)
        return status;
    trace->file = file;
    chosen.in_steps = false;
    chosen.arrival = NULL;
    return finish(trace, &chosen, out, err);
}

/* Checks what etl_index_walk_open() checks. */
etl_status etl_check_start(etl_bytes start, etl_error *err)
{
    etl_session session;
    if (start.size == 0)
        return etl_fail_with(err, ETL_ERR_NOT_ETL, 0, "the file is empty");
    etl_status status = ETL_OK;
    if (start.size < ETL_BUFFER_HEADER_BYTES)
        status = etl_fail_with(err, ETL_ERR_NOT_ETL, 0, "too short for an ETL trace");
    else
        status = etl_session_read(start, 0, &session, err);
    return status == ETL_ERR_NOT_ETL ? explain(start, status, err) : status;
}

/* An empty handle, and the options with their defaults filled in. */
static etl_status create(const etl_open_options *options, etl_open_options *chosen, etl_trace **out,
                         etl_error *err)
{
    *chosen = (etl_open_options){ .size = sizeof *chosen };
    const etl_status status =
        etl_read_sized(options, "etl_open_options", chosen, sizeof *chosen, err);
    if (status != ETL_OK)
        return status;
    if (chosen->buffer_bytes_max == 0)
        chosen->buffer_bytes_max = ETL_BUFFER_BYTES_MAX_DEFAULT;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to open it");
    (*out)->descriptor = -1;
    (*out)->tail_ticks = INT64_MAX;
    return ETL_OK;
}

/* Indexes trace->file and hands the trace to the caller, or closes it. */
static etl_status finish(etl_trace *trace, const etl_open_options *options, etl_trace **out,
                         etl_error *err)
{
    etl_status status = ETL_OK;
    if (trace->file.size == 0)
        status = etl_fail_with(err, ETL_ERR_NOT_ETL, 0, "the file is empty");
    else
        status = build_index(trace, options, err);
    if (status == ETL_OK) {
        *out = trace;
        return ETL_OK;
    }
    if (status == ETL_ERR_NOT_ETL && trace->file.size > 0)
        status = explain(trace->file, status, err);
    etl_close(trace);
    return status;
}

static etl_status build_index(etl_trace *trace, const etl_open_options *options, etl_error *err)
{
    const bool in_steps = wants_steps(trace, options);
    etl_open_options chosen = *options;
    if (in_steps)
        chosen.run_tasks = NULL; /* which is for files in memory */
    const etl_index_source source = { .file = trace->file,
                                      .map = &trace->map,
                                      .descriptor = trace->map.is_mapped ? trace->descriptor : -1,
                                      .options = &chosen };
    etl_status status = etl_index_walk_open(&trace->index, &source, &trace->walk, err);
    if (status != ETL_OK)
        return status;
    if (in_steps) {
        etl_index_walk_ask(trace->walk, ETL_INDEX_ASKS_BYTES);
        status = walk_to(trace, FIRST_STEP, err);
    }
    return status == ETL_OK && (!in_steps || is_tail_late(trace)) ? etl_index_rest(trace, err)
                                                                  : status;
}

/* Steps cost a look at the end of the file, and the caller some reading that may be in vain. */
static bool wants_steps(const etl_trace *trace, const etl_open_options *options)
{
    if (!options->in_steps || !trace->map.is_mapped)
        return false;
    return options->arrival != NULL ||
           (trace->file.size >= STEPS_LEAST && etl_map_is_cold(&trace->map));
}

/*
 * A processor that was idle for long holds a buffer until the session stops. If one of the last
 * buffers is as old as the first half of the recording, little could be analyzed before the
 * whole file is indexed, and headers alone are read faster.
 */
static bool is_tail_late(etl_trace *trace)
{
    if (trace->walk == NULL || etl_index_walk_is_arriving(trace->walk))
        return false;
    etl_buffer_info rows[TAIL_MOST];
    const u32 count = etl_index_walk_tail(trace->walk, rows, TAIL_MOST);
    i64 earliest = INT64_MAX, latest = INT64_MIN;
    for (u32 i = 0; i < count; i++) {
        i64 ticks;
        if (!first_ticks_of(trace, &rows[i], &ticks))
            continue;
        earliest = ticks < earliest ? ticks : earliest;
        latest = ticks > latest ? ticks : latest;
    }
    trace->tail_ticks = earliest;
    const i64 start = trace->index.headers[0].session.header_ticks;
    return earliest > latest || earliest < start || earliest - start < (latest - start) / 2;
}

static void end_walk(etl_trace *trace)
{
    etl_index_walk_close(trace->walk);
    trace->walk = NULL;
    if (trace->descriptor >= 0)
        (void)etl_file_close(trace->descriptor);
    trace->descriptor = -1;
}

bool etl_is_indexed(const etl_trace *trace)
{
    return trace->walk == NULL;
}

etl_status etl_index_more(etl_trace *trace, u64 offset, etl_error *err)
{
    if (trace->walk == NULL)
        return ETL_OK;
    etl_index_walk_ask(trace->walk, ETL_INDEX_ASKS_NOTHING);
    return walk_to(trace, offset, err);
}

static etl_status walk_to(etl_trace *trace, u64 offset, etl_error *err)
{
    const etl_status status = etl_index_walk_to(trace->walk, offset, err);
    if (status != ETL_OK || etl_index_walk_offset(trace->walk) < trace->file.size)
        return status;
    if (trace->was_written)
        etl_map_accept(&trace->map, trace->descriptor);
    end_walk(trace);
    return ETL_OK;
}

etl_status etl_index_rest(etl_trace *trace, etl_error *err)
{
    if (trace->walk == NULL)
        return ETL_OK;
    etl_index_walk_ask(trace->walk, ETL_INDEX_ASKS_AS_NEEDED);
    return walk_to(trace, UINT64_MAX, err);
}

u64 etl_indexed_bytes(const etl_trace *trace)
{
    return trace->walk == NULL ? trace->file.size : etl_index_walk_offset(trace->walk);
}

bool etl_is_arriving(const etl_trace *trace)
{
    return trace->walk != NULL && etl_index_walk_is_arriving(trace->walk);
}

i64 etl_tail_ticks(const etl_trace *trace)
{
    return trace->walk == NULL ? INT64_MAX : trace->tail_ticks;
}

/* Says what kind of file it is, if known, instead of where it differs from an ETL file. */
static etl_status explain(etl_bytes file, etl_status status, etl_error *err)
{
    const char *const kind = etl_file_kind(file);
    if (!kind)
        return status;
    return etl_fail_with(err, status, 0, "not an ETL trace: it looks like %s", kind);
}

void etl_close(etl_trace *trace)
{
    if (!trace)
        return;
    end_walk(trace);
    etl_buffer_index_free(&trace->index);
    etl_map_close(&trace->map);
    free(trace);
}

bool etl_trace_changed(const etl_trace *trace)
{
    const bool is_expected = trace->was_written && trace->walk != NULL;
    return !is_expected && etl_map_changed(&trace->map);
}

void etl_trace_release(const etl_trace *trace, u64 offset, u64 size_bytes)
{
    const u64 from = etl_min_u64(offset, trace->file.size);
    etl_map_release(&trace->map, from, etl_min_u64(size_bytes, trace->file.size - from));
}

bool etl_trace_fetch(const etl_trace *trace, u64 offset, u64 size_bytes)
{
    const u64 from = etl_min_u64(offset, trace->file.size);
    return etl_map_fetch(&trace->map, from, etl_min_u64(size_bytes, trace->file.size - from));
}

bool etl_trace_is_warm(const etl_trace *trace)
{
    return etl_map_is_warm(&trace->map);
}

u64 etl_file_size(const etl_trace *trace)
{
    return trace->file.size;
}

u32 etl_session_count(const etl_trace *trace)
{
    return trace->index.header_count;
}

const etl_session *etl_session_of(const etl_trace *trace, u32 index)
{
    return index < trace->index.header_count ? &trace->index.headers[index].session : NULL;
}

const etl_diag_counts *etl_trace_diagnostics(const etl_trace *trace)
{
    return &trace->index.diag;
}

u32 etl_buffer_count(const etl_trace *trace)
{
    return trace->index.buffer_count;
}

const etl_buffer_info *etl_buffer_info_of(const etl_trace *trace, u32 index)
{
    return index < trace->index.buffer_count ? &trace->index.buffers[index] : NULL;
}

void etl_scratch_free(etl_scratch *scratch)
{
    free(scratch->bytes);
    *scratch = (etl_scratch){ 0 };
}

etl_status etl_buffer_load(const etl_trace *trace, u32 index, etl_scratch *scratch,
                           etl_diag_counts *diag, etl_buffer *out)
{
    const etl_buffer_info *const info = etl_buffer_info_of(trace, index);
    *out = (etl_buffer){ .diag = diag };
    return info ? load(trace, info, scratch, diag, out) : ETL_ERR_ARGUMENT;
}

static etl_status load(const etl_trace *trace, const etl_buffer_info *info, etl_scratch *scratch,
                       etl_diag_counts *diag, etl_buffer *out)
{
    const etl_session *const session = etl_session_of(trace, info->session);
    *out = (etl_buffer){
        .base = trace->file.at + info->offset,
        .at = ETL_BUFFER_HEADER_BYTES,
        .end = ETL_BUFFER_HEADER_BYTES,
        .cpu = session->cpu_known ? info->cpu : -1,
        .session = info->session,
        .file_offset = info->offset,
        .ticks_previous = session->header_ticks,
        .diag = diag,
    };
    if (!etl_buffer_has_records(info))
        return ETL_OK;
    if ((info->flags & ETL_BUFFER_COMPRESSED) == 0)
        out->end = info->valid_size;
    else if (inflate(trace, info, scratch, out) != ETL_OK)
        return ETL_ERR_MEMORY;
    (void)etl_buffer_find_ticks(*out, &out->ticks_previous);
    return ETL_OK;
}

bool etl_buffer_has_records(const etl_buffer_info *info)
{
    switch (info->type) {
    case ETL_BUFFER_TYPE_GENERIC:
    case ETL_BUFFER_TYPE_RUNDOWN:
    case ETL_BUFFER_TYPE_CTX_SWAP:
    case ETL_BUFFER_TYPE_HEADER:
    case ETL_BUFFER_TYPE_BATCHED:
        return true;
    default:
        return false;
    }
}

static u8 format_of(const etl_trace *trace, const etl_buffer_info *info)
{
    return trace->index.headers[info->session].compression;
}

/*
 * Is the format known? Other numbers may not be a compression format at all; such buffers are
 * decoded as plain XPRESS and believed if they decode to exactly the stated size.
 */
static bool is_trusted(u8 format)
{
    return format == ETL_COMPRESSION_XPRESS || format == ETL_COMPRESSION_XPRESS_HUFF;
}

static etl_status inflate(const etl_trace *trace, const etl_buffer_info *info, etl_scratch *scratch,
                          etl_buffer *out)
{
    const u8 format = format_of(trace, info);
    if (!reserve(scratch, (size_t)info->valid_size + ETL_XPRESS_SLACK))
        return ETL_ERR_MEMORY;
    memcpy(scratch->bytes, out->base, ETL_BUFFER_HEADER_BYTES);
    etl_xpress_output output = {
        .at = scratch->bytes + ETL_BUFFER_HEADER_BYTES,
        .wanted = info->valid_size - ETL_BUFFER_HEADER_BYTES,
        .slack = ETL_XPRESS_SLACK,
    };
    const etl_xpress_end end = decode(trace, info, &output);
    const bool is_defective = end != ETL_XPRESS_DONE;
    if (is_defective && !is_trusted(format)) {
        etl_diag_add(out->diag, ETL_DIAG_buffer_compression_unsupported, 1);
        return ETL_OK;
    }
    etl_diag_add(out->diag, ETL_DIAG_buffer_compression_invalid, is_defective);
    out->base = scratch->bytes;
    out->end = ETL_BUFFER_HEADER_BYTES + (u32)output.size;
    return ETL_OK;
}

/* Makes room in the scratch; its contents are lost. */
static bool reserve(etl_scratch *scratch, size_t size)
{
    if (size <= scratch->capacity)
        return true;
    const size_t least = ETL_BUFFER_VALID_MAX_LEAST + ETL_XPRESS_SLACK;
    const size_t capacity = size > least ? size : least;
    etl_scratch_free(scratch);
    scratch->bytes = malloc(capacity);
    if (!scratch->bytes)
        return false;
    scratch->capacity = capacity;
    return true;
}

static etl_xpress_end decode(const etl_trace *trace, const etl_buffer_info *info,
                             etl_xpress_output *out)
{
    const etl_bytes in = { trace->file.at + info->offset + ETL_BUFFER_HEADER_BYTES,
                           info->stored_size - ETL_BUFFER_HEADER_BYTES };
    switch (format_of(trace, info)) {
    case ETL_COMPRESSION_XPRESS_HUFF:
        return etl_xpress_huffman(in, out);
    case ETL_COMPRESSION_LZNT1:
        out->size = 0;
        return ETL_XPRESS_INVALID;
    default:
        return etl_xpress_plain(in, out);
    }
}

bool etl_buffer_first_ticks(const etl_trace *trace, u32 index, i64 *ticks)
{
    const etl_buffer_info *const info = etl_buffer_info_of(trace, index);
    return info && first_ticks_of(trace, info, ticks);
}

bool etl_buffer_flush_ticks(const etl_trace *trace, u32 index, i64 *ticks)
{
    const etl_buffer_info *const info = etl_buffer_info_of(trace, index);
    etl_buffer_header header;
    if (info == NULL || info->type == ETL_BUFFER_TYPE_HEADER ||
        (etl_session_of(trace, info->session)->log_file_mode & ETL_MODE_RELOG) != 0 ||
        !etl_buffer_header_read(trace->file, info->offset, &header) || header.flush_ticks <= 0)
        return false;
    *ticks = header.flush_ticks;
    return true;
}

static bool first_ticks_of(const etl_trace *trace, const etl_buffer_info *info, i64 *ticks)
{
    if (info->first_ticks != ETL_TICKS_UNKNOWN) {
        *ticks = info->first_ticks;
        return true;
    }
    if ((info->flags & ETL_BUFFER_COMPRESSED) != 0 && etl_buffer_has_records(info) &&
        is_trusted(format_of(trace, info)) && find_ticks_in_prefix(trace, info, ticks))
        return true;
    etl_diag_counts ignored = { 0 };
    etl_scratch scratch = { 0 };
    etl_buffer buffer;
    const bool found = load(trace, info, &scratch, &ignored, &buffer) == ETL_OK &&
                       etl_buffer_find_ticks(buffer, ticks);
    etl_scratch_free(&scratch);
    return found;
}

static bool find_ticks_in_prefix(const etl_trace *trace, const etl_buffer_info *info, i64 *ticks)
{
    u8 prefix[ETL_BUFFER_HEADER_BYTES + PREFIX_BYTES + ETL_XPRESS_SLACK];
    const u32 records = info->valid_size - ETL_BUFFER_HEADER_BYTES;
    etl_xpress_output output = {
        .at = prefix + ETL_BUFFER_HEADER_BYTES,
        .wanted = records < PREFIX_BYTES ? records : PREFIX_BYTES,
        .slack = ETL_XPRESS_SLACK,
    };
    (void)decode(trace, info, &output);
    const etl_buffer buffer = {
        .base = prefix,
        .at = ETL_BUFFER_HEADER_BYTES,
        .end = ETL_BUFFER_HEADER_BYTES + (u32)output.size,
    };
    return etl_buffer_find_ticks(buffer, ticks);
}

bool etl_buffer_find_ticks(etl_buffer buffer, i64 *ticks)
{
    etl_diag_counts ignored = { 0 };
    buffer.diag = &ignored;
    etl_record record;
    while (etl_record_next(&buffer, &record)) {
        if (record.has_time) {
            *ticks = record.ticks;
            return true;
        }
    }
    return false;
}
