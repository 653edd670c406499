/*
 * trace_counts.c - counts what a trace has, without keeping it.
 *
 * In: a file. Out: numbers of events, and of distinct stacks and frames, from which follows how
 * much memory a run takes (trace_memory.c).
 *
 *     buffers   . . X . . . X . . . X . . . X ...      X: sampled; their classes take turns
 *     distinct  in a quarter of the sample, in half of it, in all of it
 *                  └─ times g0 ─┘  └─ times g1 ─┘  and so on, by ever smaller steps
 *
 * Of a large trace only SAMPLE_BYTES are read. Numbers of events grow with the bytes. Distinct
 * values come again, so their growth is extrapolated from how it was when the sample doubled.
 * Values are kept by hash, and only those with a small hash if there are many, so that memory is
 * bounded. Invariant: a trace that is sampled whole is counted exactly, but for that.
 */
#include "trace_counts.h"

#include <stdlib.h>

#include "engine/core/intern.h"

#define SAMPLE_BYTES ((u64)64 << 20)
#define CLASSES      4u
#define SLOTS        8192u /* few, because a run that was refused still holds its memory */
#define DISTINCT_MAX (SLOTS / 2)

typedef struct distinct_slot {
    u64 hash; /* 0: empty */
    u32 weight;
    u32 classes; /* bits of the classes of buffers that it was seen in */
} distinct_slot;

/* Distinct values. */
typedef struct distinct {
    distinct_slot *slots;
    u32 count;
    u32 halvings; /* only hashes with so many zeros at the top are kept */
} distinct;

/* What the sample has. */
typedef struct trace_sample {
    etlheap_trace_counts counts;
    distinct stacks, addresses;
    u32 class;
    double scale; /* bytes of the trace by those of the sample */
} trace_sample;

static void add_slot(distinct *set, const distinct_slot *value)
{
    u32 at = (u32)value->hash & (SLOTS - 1);
    while (set->slots[at].hash != 0 && set->slots[at].hash != value->hash)
        at = (at + 1) & (SLOTS - 1);
    distinct_slot *const slot = &set->slots[at];
    set->count += slot->hash == 0;
    *slot = (distinct_slot){ value->hash, value->weight, slot->classes | value->classes };
}

static bool is_kept(const distinct *set, u64 hash)
{
    return set->halvings == 0 || hash >> (64 - set->halvings) == 0;
}

/* Keeps only half of the values. */
static void halve(distinct *set)
{
    distinct_slot *const old = set->slots;
    distinct_slot *const fresh = calloc(SLOTS, sizeof *fresh);
    if (fresh == NULL)
        return; /* the set is full for now, but works while a slot is free */
    set->slots = fresh;
    set->count = 0;
    set->halvings++;
    for (u32 i = 0; i < SLOTS; i++) {
        if (old[i].hash != 0 && is_kept(set, old[i].hash))
            add_slot(set, &old[i]);
    }
    free(old);
}

static void add(trace_sample *sample, distinct *set, u64 hash, u32 weight)
{
    const distinct_slot value = { hash | 1, weight, 1u << sample->class };
    if (!is_kept(set, value.hash) || set->count == SLOTS - 1)
        return;
    add_slot(set, &value);
    if (set->count > DISTINCT_MAX)
        halve(set);
}

static void add_frames(trace_sample *sample, const u8 *frames, u32 frame_bytes, u32 frame_count)
{
    if (frame_count == 0)
        return;
    add(sample, &sample->stacks, etlheap_mix_bytes(frames, (size_t)frame_bytes * frame_count),
        frame_count);
    for (u32 i = 0; i < frame_count; i++)
        add(sample, &sample->addresses, etl_mix_u64(etl_frame_at(frames, frame_bytes, i)), 1);
}

static void count_event(trace_sample *sample, const etl_record *record, const etl_event *event)
{
    etlheap_trace_counts *const counts = &sample->counts;
    switch (event->kind) {
    case ETL_EVENT_HEAP_ALLOC:
        counts->allocs++;
        break;
    case ETL_EVENT_HEAP_REALLOC:
        counts->allocs++;
        counts->frees++;
        break;
    case ETL_EVENT_HEAP_FREE:
        counts->frees++;
        break;
    case ETL_EVENT_STACK:
        counts->walks++;
        add_frames(sample, event->as.stack.frames, event->as.stack.frame_bytes,
                   event->as.stack.frame_count);
        break;
    case ETL_EVENT_STACK_KEY_KERNEL:
    case ETL_EVENT_STACK_KEY_USER:
        counts->walks++;
        break;
    case ETL_EVENT_STACK_DEFINITION:
        add_frames(sample, event->as.stack_definition.frames,
                   event->as.stack_definition.frame_bytes, event->as.stack_definition.frame_count);
        break;
    case ETL_EVENT_PROCESS_START:
    case ETL_EVENT_PROCESS_DCSTART:
        counts->processes++;
        counts->system_bytes += record->size;
        break;
    case ETL_EVENT_HEAP_EXPAND:
    case ETL_EVENT_HEAP_CONTRACT:
    case ETL_EVENT_VIRTUAL_ALLOC:
    case ETL_EVENT_VIRTUAL_FREE:
    case ETL_EVENT_VIRTUAL_ALLOC_DCSTART:
    case ETL_EVENT_VIRTUAL_ALLOC_DCEND:
        counts->lives++;
        break;
    default:
        if (event->kind >= ETL_EVENT_POOL_ALLOC)
            counts->lives++;
        else
            counts->system_bytes += record->size;
        break;
    }
}

/* A buffer that cannot be read counts as empty. */
static void sample_buffer(trace_sample *sample, const etl_trace *trace, u32 index,
                          etl_scratch *scratch)
{
    etl_diag_counts diag = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    etl_event event;
    if (etl_buffer_load(trace, index, scratch, &diag, &buffer) != ETL_OK)
        return;
    while (etl_record_next(&buffer, &record)) {
        if (etl_decode(&record, &event, &diag))
            count_event(sample, &record, &event);
    }
    const etl_buffer_info *const info = etl_buffer_info_of(trace, index);
    etl_trace_release(trace, info->offset, info->stored_size);
}

static void sample_trace(trace_sample *sample, const etl_trace *trace, u64 sample_bytes)
{
    const u32 count = etl_buffer_count(trace);
    etl_scratch scratch = { .bytes = NULL };
    u64 bytes = 0, sampled = 0;
    for (u32 i = 0; i < count; i++)
        bytes += etl_buffer_info_of(trace, i)->valid_size;
    const u32 step = (u32)(bytes / sample_bytes) + 1;
    for (u64 i = step / 2; i < count; i += step) {
        sample->class = (u32)(i / step % CLASSES);
        sampled += etl_buffer_info_of(trace, (u32)i)->valid_size;
        sample_buffer(sample, trace, (u32)i, &scratch);
    }
    sample->scale = sampled == 0 ? 1 : (double)bytes / (double)sampled;
    sample->counts.buffers = count;
    sample->counts.bytes = bytes;
    etl_scratch_free(&scratch);
}

/* The weight of the values that were seen in one of these classes. */
static double weight_in(const distinct *set, u32 classes, bool by_weight)
{
    double sum = 0;
    for (u32 i = 0; i < SLOTS; i++) {
        if ((set->slots[i].classes & classes) != 0)
            sum += by_weight ? set->slots[i].weight : 1;
    }
    return sum * (double)((u64)1 << set->halvings);
}

/* The weight of distinct values of the whole trace. */
static u64 estimate(const distinct *set, double scale, bool by_weight)
{
    const double quarter = (weight_in(set, 1, by_weight) + weight_in(set, 2, by_weight) +
                            weight_in(set, 4, by_weight) + weight_in(set, 8, by_weight)) /
                           4;
    const double half = (weight_in(set, 3, by_weight) + weight_in(set, 12, by_weight)) / 2;
    double all = weight_in(set, 15, by_weight);
    if (quarter == 0 || half == 0)
        return (u64)(all * scale);
    const double first = half / quarter - 1;
    double growth = all / half - 1;
    const double fading = first <= 0 || growth > first ? 1 : growth / first;
    for (; scale >= 2; scale /= 2) {
        growth *= fading;
        all *= 1 + growth;
    }
    return (u64)(all * (1 + growth * fading * (scale - 1)));
}

static void scale_counts(trace_sample *sample)
{
    etlheap_trace_counts *const counts = &sample->counts;
    u64 *const grow[] = { &counts->allocs, &counts->frees,     &counts->lives,
                          &counts->walks,  &counts->processes, &counts->system_bytes };
    for (size_t i = 0; i < ETL_COUNT_OF(grow); i++)
        *grow[i] = (u64)((double)*grow[i] * sample->scale);
    counts->stacks = estimate(&sample->stacks, sample->scale, false);
    counts->frames = estimate(&sample->stacks, sample->scale, true);
    counts->addresses = estimate(&sample->addresses, sample->scale, false);
}

etl_status trace_counts_sample(const etl_trace *trace, u64 sample_bytes, etlheap_trace_counts *out,
                               etl_error *err)
{
    trace_sample sample = { .scale = 1 };
    sample.stacks.slots = calloc(SLOTS, sizeof *sample.stacks.slots);
    sample.addresses.slots = calloc(SLOTS, sizeof *sample.addresses.slots);
    const bool ok = sample.stacks.slots != NULL && sample.addresses.slots != NULL;
    if (ok) {
        sample_trace(&sample, trace, sample_bytes);
        scale_counts(&sample);
        *out = sample.counts;
    }
    free(sample.stacks.slots);
    free(sample.addresses.slots);
    return ok ? ETL_OK : etl_no_memory(err);
}

etl_status etlheap_trace_counts_read(const char *path, etlheap_trace_counts *out, etl_error *err)
{
    etl_trace *trace = NULL;
    etl_status status = etl_open(path, NULL, &trace, err);
    if (status == ETL_OK)
        status = trace_counts_sample(trace, SAMPLE_BYTES, out, err);
    etl_close(trace);
    return status;
}
