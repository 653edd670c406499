/*
 * recorder_truth.c - what the files of a recording can show; recorder.h says what for.
 *
 * In: the events in their true order, and the bytes of the files. Out: which events are in the
 * files, from when on each kind is complete, and sums for each program.
 *
 * The plain reader lists the buffers of a file. A processor's records are in its buffers one after
 * the other, so each buffer is a run of the processor's events. Sums follow from a replay of the
 * events that are left, in their true order.
 */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/build/plain_reader.h"

#define HEADER_BUFFER 4u
#define SECOND_NS     INT64_C(1000000000)

/* --- what is in the files ------------------------------------------------------------------ */

static u32 hook_of(u8 op)
{
    static const u32 hooks[] = {
        [RECORDER_ALLOC] = 0x1021,   [RECORDER_FREE] = 0x1024,  [RECORDER_COMMIT] = 0x0262,
        [RECORDER_RELEASE] = 0x0263, [RECORDER_START] = 0x0301, [RECORDER_RUNNING] = 0x0303,
        [RECORDER_EXIT] = 0x0302,
    };
    return hooks[op];
}

static u64 address_of(const plain_record *record)
{
    switch (record->hook) {
    case 0x1021:
        return plain_u64(record->payload + 16);
    case 0x1024:
        return plain_u64(record->payload + 8);
    case 0x0262:
    case 0x0263:
        return plain_u64(record->payload);
    default:
        return 0;
    }
}

static bool is_record_of(const plain_record *record, const recorder_event *event)
{
    return record->hook == hook_of(event->op) && record->ticks == event->ticks &&
           address_of(record) == event->address;
}

static int by_cpu_and_sequence(const void *a, const void *b)
{
    const plain_buffer *const x = *(const plain_buffer *const *)a;
    const plain_buffer *const y = *(const plain_buffer *const *)b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The data buffers of a file, by processor and number. */
static u32 list_buffers(const plain_file *file, const plain_buffer **out)
{
    u32 count = 0;
    for (u32 i = 0; i < file->buffer_count; i++) {
        if (file->buffers[i].type != HEADER_BUFFER && file->buffers[i].record_count > 0)
            out[count++] = &file->buffers[i];
    }
    qsort(out, count, sizeof(const plain_buffer *), by_cpu_and_sequence);
    return count;
}

/* The events that a file should have of a processor. */
static u32 list_events(const recorder *r, u32 file, u32 cpu, u32 *out)
{
    u32 count = 0;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (event->is_recorded && event->file == file && event->cpu == cpu)
            out[count++] = i;
    }
    return count;
}

static bool is_run_at(const recorder *r, const plain_file *file, const plain_buffer *buffer,
                      const u32 *events)
{
    bool is = true;
    for (u32 i = 0; is && i < buffer->record_count; i++)
        is = is_record_of(&file->records[buffer->record_first + i], &r->events[events[i]]);
    return is;
}

/* Marks the events of one buffer; returns where the next buffer may begin. */
static u32 keep_buffer(recorder *r, const plain_file *file, const plain_buffer *buffer,
                       const u32 *events, u32 from, u32 count)
{
    u32 at = from;
    while (at + buffer->record_count <= count && !is_run_at(r, file, buffer, events + at))
        at++;
    if (at + buffer->record_count > count) {
        snprintf(r->error, sizeof r->error, "buffer %lld of cpu %u is no run of events",
                 (long long)buffer->sequence, buffer->cpu);
        return count;
    }
    for (u32 i = 0; i < buffer->record_count; i++)
        r->events[events[at + i]].is_kept = true;
    return at + buffer->record_count;
}

static void find_kept(recorder *r, u32 file_index, const plain_file *file,
                      const plain_buffer *const *buffers, u32 count)
{
    u32 *const events = malloc((r->count + (size_t)1) * sizeof *events);
    if (events == NULL)
        abort();
    for (u32 first = 0; first < count;) {
        const u32 cpu = buffers[first]->cpu;
        const u32 event_count = list_events(r, file_index, cpu, events);
        u32 at = 0;
        for (; first < count && buffers[first]->cpu == cpu; first++)
            at = keep_buffer(r, file, buffers[first], events, at, event_count);
    }
    free(events);
}

/* --- spans --------------------------------------------------------------------------------- */

static int by_sequence(const void *a, const void *b)
{
    const plain_buffer *const x = *(const plain_buffer *const *)a;
    const plain_buffer *const y = *(const plain_buffer *const *)b;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Where the buffers begin that are there without a gap, by their numbers; 0: nothing is missing
 * before. Gaps of a file that is no ring are losses in its middle. */
static u32 first_of_rest(const plain_buffer *const *sorted, u32 count, bool is_ring)
{
    u32 first = 0;
    for (u32 i = 1; is_ring && i < count; i++)
        first = sorted[i]->sequence != sorted[i - 1]->sequence + 1 ? i : first;
    return first;
}

static i64 first_ticks(const plain_file *file, const plain_buffer *buffer)
{
    return file->records[buffer->record_first].ticks;
}

/* The latest of the first times of the processors' oldest buffers among these. */
static i64 latest_beginning(const plain_file *file, const plain_buffer *const *sorted, u32 count)
{
    bool has_met[64] = { false };
    i64 latest = INT64_MIN;
    for (u32 i = 0; i < count; i++) {
        if (has_met[sorted[i]->cpu])
            continue;
        has_met[sorted[i]->cpu] = true;
        if (first_ticks(file, sorted[i]) > latest)
            latest = first_ticks(file, sorted[i]);
    }
    return latest;
}

static recorder_span span_of(const plain_file *file, const plain_buffer **buffers, u32 count,
                             bool is_ring)
{
    recorder_span out = { INT64_MAX, INT64_MIN };
    for (u32 i = 0; i < count; i++) {
        const plain_buffer *const buffer = buffers[i];
        for (u32 k = 0; k < buffer->record_count; k++) {
            const i64 ticks = file->records[buffer->record_first + k].ticks;
            out.last_ticks = ticks > out.last_ticks ? ticks : out.last_ticks;
        }
        out.from_ticks =
            first_ticks(file, buffer) < out.from_ticks ? first_ticks(file, buffer) : out.from_ticks;
    }
    qsort(buffers, count, sizeof *buffers, by_sequence);
    const u32 first = first_of_rest(buffers, count, is_ring);
    if (count > 0 && (first > 0 || buffers[0]->sequence > 1)) {
        out.from_ticks = latest_beginning(file, buffers + first, count - first);
        if (buffers[first]->timestamp < out.from_ticks)
            out.from_ticks = buffers[first]->timestamp;
    }
    return out;
}

static bool has_kind(const recorder *r, u32 file, recorder_kind kind)
{
    bool has = false;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        const bool is_heap = event->op == RECORDER_ALLOC || event->op == RECORDER_FREE;
        const bool is_range = event->op == RECORDER_COMMIT || event->op == RECORDER_RELEASE;
        has |=
            event->is_kept && event->file == file && (kind == RECORDER_HEAP ? is_heap : is_range);
    }
    return has;
}

static void read_file(recorder *r, u32 index)
{
    size_t size;
    const u8 *const bytes = etl_build_data(r->files[index], &size);
    plain_file file = plain_read(bytes, size);
    const plain_buffer **const buffers =
        malloc((file.buffer_count + (size_t)1) * sizeof(const plain_buffer *));
    if (buffers == NULL)
        abort();
    if (file.error[0] != '\0')
        snprintf(r->error, sizeof r->error, "%s", file.error);
    const u32 count = file.error[0] != '\0' ? 0 : list_buffers(&file, buffers);
    find_kept(r, index, &file, buffers, count);
    const recorder_mode mode = r->setup.two_files && index == 0 ? RECORDER_FILE : r->setup.mode;
    const recorder_span span =
        span_of(&file, buffers, count, mode == RECORDER_RING || mode == RECORDER_BUFFERING);
    for (u32 kind = 0; kind < RECORDER_KINDS; kind++) {
        if (has_kind(r, index, (recorder_kind)kind))
            r->spans[kind] = span;
    }
    free(buffers);
    plain_free(&file);
}

/* --- sums ---------------------------------------------------------------------------------- */

/* A block that the replay has open. */
typedef struct open_block {
    u64 address, size;
    i64 ticks;
    u8 program;
    bool is_open;
} open_block;

static open_block *find_open(open_block *blocks, u32 count, const recorder_event *event)
{
    for (u32 i = 0; i < count; i++) {
        if (blocks[i].is_open && blocks[i].address == event->address &&
            blocks[i].program == event->program)
            return &blocks[i];
    }
    return NULL;
}

static void replay(recorder *r, recorder_kind kind)
{
    const u8 opens = kind == RECORDER_HEAP ? RECORDER_ALLOC : RECORDER_COMMIT;
    const u8 closes = kind == RECORDER_HEAP ? RECORDER_FREE : RECORDER_RELEASE;
    open_block *const blocks = calloc(r->count + (size_t)1, sizeof *blocks);
    u32 count = 0;
    if (blocks == NULL)
        abort();
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (!event->is_kept || (event->op != opens && event->op != closes))
            continue;
        recorder_sums *const sums = &r->sums[kind][event->program];
        open_block *const open = find_open(blocks, count, event);
        if (open != NULL)
            open->is_open = false;
        else
            sums->unknown_frees += event->op == closes;
        if (event->op == opens)
            blocks[count++] =
                (open_block){ event->address, event->size, event->ticks, event->program, true };
        sums->count += event->op == opens;
    }
    for (u32 i = 0; i < count; i++) {
        recorder_sums *const sums = &r->sums[kind][blocks[i].program];
        if (!blocks[i].is_open)
            continue;
        sums->outstanding_count++;
        sums->outstanding_size += (i64)blocks[i].size;
        if (blocks[i].ticks >= r->spans[kind].from_ticks)
            sums->sure_size += (i64)blocks[i].size;
    }
    free(blocks);
}

void recorder_find_truth(recorder *r)
{
    for (u32 kind = 0; kind < RECORDER_KINDS; kind++)
        r->spans[kind] = (recorder_span){ INT64_MAX, INT64_MIN };
    for (u32 i = 0; i < r->file_count; i++)
        read_file(r, i);
    r->is_whole = true;
    for (u32 i = 0; i < r->count; i++)
        r->is_whole = r->is_whole && r->events[i].is_kept;
    for (u32 kind = 0; kind < RECORDER_KINDS; kind++)
        replay(r, (recorder_kind)kind);
}

/* --- rates --------------------------------------------------------------------------------- */

i64 recorder_ns(const recorder *r, i64 ticks)
{
    return (ticks - r->zero_ticks) * (r->setup.clock == 3 ? 1 : 100);
}

void recorder_part(const recorder *r, recorder_kind kind, u32 program, i64 *from_ns, i64 *to_ns)
{
    const recorder_span *const span = &r->spans[kind];
    const i64 span_from_ns = recorder_ns(r, span->from_ticks);
    const i64 span_to_ns = recorder_ns(r, span->last_ticks + 1);
    *from_ns = *from_ns > span_from_ns ? *from_ns : span_from_ns;
    *to_ns = *to_ns < span_to_ns ? *to_ns : span_to_ns;
    i64 start_ns = INT64_MIN, end_ns = INT64_MAX;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (!event->is_kept || event->program != program)
            continue;
        if (event->op == RECORDER_START)
            start_ns = recorder_ns(r, event->ticks);
        if (event->op == RECORDER_EXIT)
            end_ns = recorder_ns(r, event->ticks);
    }
    if (*to_ns < *from_ns)
        *to_ns = *from_ns;
    const i64 from = start_ns > *from_ns ? start_ns : *from_ns;
    const i64 to = end_ns < *to_ns ? end_ns : *to_ns;
    if (from < to) {
        *from_ns = from;
        *to_ns = to;
    }
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Of two values in the middle the one nearer to zero; 0 if they have different signs. */
static i64 median(i64 *values, u32 count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    const i64 low = values[(count - 1) / 2], high = values[count / 2];
    if (low > 0)
        return low;
    return high < 0 ? high : 0;
}

/* The outstanding size just before a moment: blocks allocated before it and not freed before it. */
static i64 size_before(const recorder *r, recorder_kind kind, u32 program, i64 ns)
{
    const u8 opens = kind == RECORDER_HEAP ? RECORDER_ALLOC : RECORDER_COMMIT;
    const u8 closes = kind == RECORDER_HEAP ? RECORDER_FREE : RECORDER_RELEASE;
    i64 size = 0;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (!event->is_kept || event->program != program || event->op != opens ||
            recorder_ns(r, event->ticks) >= ns)
            continue;
        bool is_freed = false;
        for (u32 k = i + 1; k < r->count && !is_freed; k++) {
            const recorder_event *const later = &r->events[k];
            if (!later->is_kept || later->program != program || later->address != event->address ||
                (later->op != opens && later->op != closes))
                continue;
            is_freed = recorder_ns(r, later->ticks) < ns;
            break;
        }
        size += is_freed ? 0 : (i64)event->size;
    }
    return size;
}

void recorder_growth(const recorder *r, recorder_kind kind, u32 program, i64 from_ns, i64 to_ns,
                     i64 *rate, i64 *steadiness)
{
    i64 at_ns[RECORDER_SAMPLES], sizes[RECORDER_SAMPLES], medians[RECORDER_SAMPLES];
    i64 rises = 0, pairs = 0;
    u32 median_count = 0;
    for (u32 i = 0; i < RECORDER_SAMPLES; i++) {
        const i64 pieces = RECORDER_SAMPLES - 1, span = to_ns - from_ns;
        at_ns[i] = from_ns + span / pieces * i + span % pieces * i / pieces;
        sizes[i] = size_before(r, kind, program, at_ns[i]);
    }
    for (u32 i = 0; i < RECORDER_SAMPLES; i++) {
        i64 slopes[RECORDER_SAMPLES];
        u32 count = 0;
        for (u32 k = 0; k < RECORDER_SAMPLES; k++) {
            const u32 first = k < i ? k : i, last = k < i ? i : k;
            if (at_ns[first] == at_ns[last])
                continue;
            const i64 rise = sizes[last] - sizes[first];
            slopes[count++] = rise * SECOND_NS / (at_ns[last] - at_ns[first]);
            rises += rise > 0 ? 1 : rise < 0 ? -1 : 0;
            pairs++;
        }
        if (count > 0)
            medians[median_count++] = median(slopes, count);
    }
    *rate = median(medians, median_count);
    *steadiness = pairs == 0 ? 0 : rises * 100 / pairs;
}
