/*
 * recorder_truth.c - which events are in the files of a recording, and from when on they are
 * complete; recorder.h says what for.
 *
 * In: the events in their true order, and the bytes of the files. Out: is_kept of each event, the
 * spans, and the names that the files have.
 *
 * The plain reader lists the buffers of a file. Each header buffer begins a piece. A processor's
 * records are in its buffers one after the other, so each buffer is a run of the processor's
 * events, with their stacks between them. The plain reader refuses what is unusual; so a file that
 * was cut is read as if it had ended with its last whole record.
 */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/build/plain_reader.h"

#define HEADER_BUFFER       4u
#define BUFFER_HEADER_BYTES 72u
#define VALID_AT            0x30u
#define HOOK_STACK          0x1820u
#define CPUS_MAX            64u
#define OF_BUFFER           4096u /* more records than a buffer has */

/* A file as it was read, and where its pieces begin. */
typedef struct read_file {
    u8 *bytes;
    plain_file plain;
} read_file;

/* A data buffer of a piece. */
typedef struct kept_buffer {
    const plain_file *file;
    const plain_buffer *buffer;
    u32 piece;
} kept_buffer;

typedef struct reading {
    recorder *r;
    read_file files[RECORDER_PIECES];
    kept_buffer *buffers;
    u32 count;
    i64 header_ticks[RECORDER_PIECES]; /* INT64_MIN: not given */
} reading;

/* --- reading ------------------------------------------------------------------------------- */

static u32 record_size(const u8 *at)
{
    const u8 type = at[2];
    const bool has_hook = (type >= 1 && type <= 4) || type == 16 || type == 17;
    return (plain_u16(at + (has_hook ? 4 : 0)) + 7u) & ~7u;
}

/* Cuts a buffer that is not whole behind its last whole record; returns the bytes that are left. */
static size_t cut_buffer(u8 *at, size_t left)
{
    u32 used = BUFFER_HEADER_BYTES, valid;
    if (left < BUFFER_HEADER_BYTES)
        return 0;
    valid = plain_u32(at + VALID_AT);
    while (used + 8 <= left && used < valid && used + record_size(at + used) <= left)
        used += record_size(at + used);
    memcpy(at, &used, sizeof used);
    memcpy(at + VALID_AT, &used, sizeof used);
    return used;
}

static void read_one(read_file *out, const etl_build *b)
{
    size_t size, at = 0;
    const u8 *const bytes = etl_build_data(b, &size);
    out->bytes = malloc(size + 1);
    if (out->bytes == NULL)
        abort();
    memcpy(out->bytes, bytes, size);
    while (at + 4 <= size && at + plain_u32(out->bytes + at) <= size)
        at += plain_u32(out->bytes + at);
    if (at < size)
        at += cut_buffer(out->bytes + at, size - at);
    out->plain = plain_read(out->bytes, at);
}

/* Lists the data buffers of a file, by the piece that they are of. */
static void list_buffers(reading *at, u32 file)
{
    const plain_file *const plain = &at->files[file].plain;
    u32 piece = 0;
    bool has_begun = false;
    while (at->r->pieces[piece].file != file)
        piece++;
    for (u32 i = 0; i < plain->buffer_count; i++) {
        const plain_buffer *const buffer = &plain->buffers[i];
        if (buffer->type == HEADER_BUFFER) {
            piece += has_begun;
            has_begun = true;
            at->header_ticks[piece] = plain->records[buffer->record_first].ticks;
        } else if (buffer->record_count > 0) {
            at->buffers[at->count++] = (kept_buffer){ plain, buffer, piece };
        }
    }
}

static void read_files(reading *at)
{
    u32 total = 1;
    for (u32 i = 0; i < at->r->file_count; i++) {
        if (at->r->files[i] == NULL)
            continue;
        read_one(&at->files[i], at->r->files[i]);
        if (at->files[i].plain.error[0] != '\0')
            snprintf(at->r->error, sizeof at->r->error, "%s", at->files[i].plain.error);
        total += at->files[i].plain.buffer_count;
    }
    at->buffers = calloc(total, sizeof *at->buffers);
    if (at->buffers == NULL)
        abort();
    for (u32 i = 0; i < at->r->file_count && at->r->error[0] == '\0'; i++) {
        if (at->r->files[i] != NULL)
            list_buffers(at, i);
    }
}

/* --- what is in the files ------------------------------------------------------------------ */

static u32 hook_of(u8 op)
{
    static const u32 hooks[RECORDER_OPS] = {
        [RECORDER_ALLOC] = 0x1021,        [RECORDER_FREE] = 0x1024,
        [RECORDER_COMMIT] = 0x0262,       [RECORDER_RELEASE] = 0x0263,
        [RECORDER_START] = 0x0301,        [RECORDER_RUNNING] = 0x0303,
        [RECORDER_STILL] = 0x0304,        [RECORDER_EXIT] = 0x0302,
        [RECORDER_LOAD] = 0x030A,         [RECORDER_LOADED] = 0x1403,
        [RECORDER_STILL_LOADED] = 0x1404, [RECORDER_CREATE] = 0x1020,
        [RECORDER_DESTROY] = 0x1023,      [RECORDER_POOL_ALLOC] = 0x0e20,
        [RECORDER_POOL_FREE] = 0x0e22,    [RECORDER_POOL_LISTED] = 0x0e28,
        [RECORDER_POOL_STILL] = 0x0e29,   [RECORDER_OPEN] = 0x1120,
        [RECORDER_COPY] = 0x1122,         [RECORDER_SHUT] = 0x1121,
        [RECORDER_OPEN_LISTED] = 0x1126,  [RECORDER_OPEN_STILL] = 0x1127,
        [RECORDER_MAP] = 0x0425,          [RECORDER_UNMAP] = 0x0426,
        [RECORDER_MAPPED] = 0x0427,       [RECORDER_STILL_MAPPED] = 0x0428,
    };
    return hooks[op];
}

/* What tells a record from others of its hook and time. */
static u64 mark_of(const plain_record *record)
{
    switch (record->hook) {
    case 0x1021:
        return plain_u64(record->payload + 16);
    case 0x1024:
        return plain_u64(record->payload + 8);
    case 0x0e20:
    case 0x0e22:
    case 0x0e28:
    case 0x0e29:
        return plain_u64(record->payload + 16);
    case 0x1120:
    case 0x1121:
        return plain_u32(record->payload + 8);
    case 0x1122:
    case 0x1126:
    case 0x1127:
        return plain_u32(record->payload + 12);
    case 0x0301:
    case 0x0302:
    case 0x0303:
    case 0x0304:
        return 0;
    default:
        return plain_u64(record->payload);
    }
}

static bool is_record_of(const plain_record *record, const recorder_event *event)
{
    const bool is_of_whole_heap = event->op == RECORDER_CREATE || event->op == RECORDER_DESTROY;
    return record->hook == hook_of(event->op) && record->ticks == event->ticks &&
           mark_of(record) == (is_of_whole_heap ? event->heap : event->address);
}

static int by_piece_and_cpu(const void *a, const void *b)
{
    const kept_buffer *const x = a, *const y = b;
    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    if (x->buffer->cpu != y->buffer->cpu)
        return x->buffer->cpu < y->buffer->cpu ? -1 : 1;
    return (x->buffer->sequence > y->buffer->sequence) -
           (x->buffer->sequence < y->buffer->sequence);
}

/* The events that a piece should have of a processor. */
static u32 list_events(const recorder *r, u32 piece, u32 cpu, u32 *out)
{
    u32 count = 0;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (event->is_recorded && event->piece == piece && event->cpu == cpu)
            out[count++] = i;
    }
    return count;
}

/* The records of a buffer that are no stacks. */
static u32 list_records(const kept_buffer *buffer, const plain_record **out)
{
    u32 count = 0;
    for (u32 i = 0; i < buffer->buffer->record_count; i++) {
        const plain_record *const record = &buffer->file->records[buffer->buffer->record_first + i];
        if (record->hook != HOOK_STACK && count < OF_BUFFER)
            out[count++] = record;
    }
    return count;
}

static bool is_run_at(const recorder *r, const plain_record *const *records, u32 count,
                      const u32 *events)
{
    bool is = true;
    for (u32 i = 0; is && i < count; i++)
        is = is_record_of(records[i], &r->events[events[i]]);
    return is;
}

/* Marks the events of one buffer; returns where the next buffer may begin. */
static u32 keep_buffer(recorder *r, const kept_buffer *buffer, const u32 *events, u32 from,
                       u32 event_count)
{
    static const plain_record *records[OF_BUFFER];
    const u32 count = list_records(buffer, records);
    u32 at = from;
    while (at + count <= event_count && !is_run_at(r, records, count, events + at))
        at++;
    if (at + count > event_count) {
        snprintf(r->error, sizeof r->error, "buffer %lld of cpu %u is no run of events",
                 (long long)buffer->buffer->sequence, buffer->buffer->cpu);
        return event_count;
    }
    for (u32 i = 0; i < count; i++)
        r->events[events[at + i]].is_kept = true;
    return at + count;
}

/* Marks the events whose stacks are in a buffer. */
static void keep_stacks(recorder *r, const kept_buffer *buffer, const u32 *events, u32 event_count)
{
    for (u32 i = 0; i < buffer->buffer->record_count; i++) {
        const plain_record *const record = &buffer->file->records[buffer->buffer->record_first + i];
        if (record->hook != HOOK_STACK)
            continue;
        for (u32 k = 0; k < event_count; k++) {
            recorder_event *const event = &r->events[events[k]];
            if (event->ticks == (i64)plain_u64(record->payload) &&
                event->tid == plain_u32(record->payload + 12) && event->site != RECORDER_NO_STACK &&
                recorder_site_address(event->site) == plain_u64(record->payload + 16))
                event->has_stack = true;
        }
    }
}

static void find_kept(reading *at)
{
    recorder *const r = at->r;
    u32 *const events = malloc((r->count + (size_t)1) * sizeof *events);
    if (events == NULL)
        abort();
    qsort(at->buffers, at->count, sizeof *at->buffers, by_piece_and_cpu);
    for (u32 first = 0; first < at->count;) {
        const kept_buffer *const one = &at->buffers[first];
        const u32 event_count = list_events(r, one->piece, one->buffer->cpu, events);
        u32 from = 0;
        for (; first < at->count && at->buffers[first].piece == one->piece &&
               at->buffers[first].buffer->cpu == one->buffer->cpu;
             first++) {
            from = keep_buffer(r, &at->buffers[first], events, from, event_count);
            keep_stacks(r, &at->buffers[first], events, event_count);
        }
    }
    free(events);
}

/* --- spans --------------------------------------------------------------------------------- */

static int by_sequence(const void *a, const void *b)
{
    const plain_buffer *const x = ((const kept_buffer *)a)->buffer;
    const plain_buffer *const y = ((const kept_buffer *)b)->buffer;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Where the buffers begin that are there without a gap, by their numbers; 0: nothing is missing
 * before. Gaps of a file that is no ring are losses in its middle. */
static u32 first_of_rest(const kept_buffer *sorted, u32 count, bool is_ring)
{
    u32 first = 0;
    for (u32 i = 1; is_ring && i < count; i++)
        first = sorted[i].buffer->sequence != sorted[i - 1].buffer->sequence + 1 ? i : first;
    return first;
}

static i64 first_ticks(const kept_buffer *buffer)
{
    return buffer->file->records[buffer->buffer->record_first].ticks;
}

/* The latest of the first times of the processors' oldest buffers among these. */
static i64 latest_beginning(const kept_buffer *sorted, u32 count)
{
    bool has_met[CPUS_MAX] = { false };
    i64 latest = INT64_MIN;
    for (u32 i = 0; i < count; i++) {
        const u16 cpu = sorted[i].buffer->cpu;
        if (has_met[cpu])
            continue;
        has_met[cpu] = true;
        if (first_ticks(&sorted[i]) > latest)
            latest = first_ticks(&sorted[i]);
    }
    return latest;
}

/* Of the buffers of one session. */
static recorder_span span_of(recorder *r, kept_buffer *buffers, u32 count, bool is_ring)
{
    recorder_span out = { INT64_MAX, INT64_MIN };
    for (u32 i = 0; i < count; i++) {
        const kept_buffer *const one = &buffers[i];
        for (u32 k = 0; k < one->buffer->record_count; k++) {
            const i64 ticks = one->file->records[one->buffer->record_first + k].ticks;
            out.last_ticks = ticks > out.last_ticks ? ticks : out.last_ticks;
        }
        out.from_ticks = first_ticks(one) < out.from_ticks ? first_ticks(one) : out.from_ticks;
    }
    qsort(buffers, count, sizeof *buffers, by_sequence);
    const u32 first = first_of_rest(buffers, count, is_ring);
    for (u32 i = 1; !is_ring && i < count; i++)
        r->gaps += (u64)(buffers[i].buffer->sequence - buffers[i - 1].buffer->sequence - 1);
    if (count > 0 && (first > 0 || buffers[0].buffer->sequence > 1)) {
        r->is_overwritten = true;
        out.from_ticks = latest_beginning(buffers + first, count - first);
        if (buffers[first].buffer->timestamp < out.from_ticks)
            out.from_ticks = buffers[first].buffer->timestamp;
    }
    return out;
}

static bool has_kind(const recorder *r, u32 piece, u32 end, recorder_kind kind)
{
    bool has = false;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        const bool is_heap = event->op == RECORDER_ALLOC || event->op == RECORDER_FREE;
        const bool is_range = event->op == RECORDER_COMMIT || event->op == RECORDER_RELEASE;
        has |= event->is_kept && event->piece >= piece && event->piece < end &&
               (kind == RECORDER_HEAP ? is_heap : is_range);
    }
    return has;
}

/* A kind that several sessions record lasts from the first one's beginning to the last one's
 * end. */
static void add_span(recorder *r, recorder_kind kind, const recorder_span *span)
{
    recorder_span *const out = &r->spans[kind];
    out->from_ticks = span->from_ticks < out->from_ticks ? span->from_ticks : out->from_ticks;
    out->last_ticks = span->last_ticks > out->last_ticks ? span->last_ticks : out->last_ticks;
}

static void find_spans(reading *at)
{
    recorder *const r = at->r;
    r->gaps = 0;
    r->is_overwritten = false;
    for (u32 kind = 0; kind < RECORDER_KINDS; kind++)
        r->spans[kind] = (recorder_span){ INT64_MAX, INT64_MIN };
    for (u32 piece = 0, end = 0, first = 0; piece < r->piece_count; piece = end) {
        end = piece + 1;
        while (end < r->piece_count && r->pieces[end].goes_on)
            end++;
        u32 count = 0;
        while (first + count < at->count && at->buffers[first + count].piece < end)
            count++;
        recorder_span span = span_of(r, at->buffers + first, count, r->pieces[piece].is_ring);
        for (u32 i = piece; i < end; i++) /* the file was begun then */
            span.last_ticks =
                at->header_ticks[i] > span.last_ticks ? at->header_ticks[i] : span.last_ticks;
        for (u32 kind = 0; kind < RECORDER_KINDS; kind++) {
            if (has_kind(r, piece, end, (recorder_kind)kind))
                add_span(r, (recorder_kind)kind, &span);
        }
        first += count;
    }
}

static void find_names(recorder *r)
{
    memset(r->is_named, 0, sizeof r->is_named);
    memset(r->is_loaded, 0, sizeof r->is_loaded);
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (!event->is_kept)
            continue;
        if (event->op >= RECORDER_START && event->op <= RECORDER_EXIT)
            r->is_named[event->program] = true;
        if (event->op >= RECORDER_LOAD && event->op <= RECORDER_STILL_LOADED)
            r->is_loaded[event->program][event->address != recorder_image(0)] = true;
    }
}

void recorder_find_kept(recorder *r)
{
    reading at = { .r = r };
    for (u32 i = 0; i < RECORDER_PIECES; i++)
        at.header_ticks[i] = INT64_MIN;
    read_files(&at);
    if (r->error[0] == '\0')
        find_kept(&at);
    if (r->error[0] == '\0')
        find_spans(&at);
    find_names(r);
    for (u32 i = 0; i < RECORDER_PIECES; i++) {
        plain_free(&at.files[i].plain);
        free(at.files[i].bytes);
    }
    free(at.buffers);
}
