/*
 * recorder_sums.c - what the files of a recording say about programs; recorder.h says what for.
 *
 * In: the events that are in the files, in their true order. Out: sums for each program, and rates
 * by their definition. Everything follows from a replay of these events.
 */
#include "recorder.h"

#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)

/* --- sums ---------------------------------------------------------------------------------- */

/* A block that the replay has open. */
typedef struct open_block {
    u64 address, size, heap;
    i64 ticks;
    u8 program, site;
    bool is_open;
    bool is_over; /* its heap was created again meanwhile */
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

/* A destroyed heap takes its blocks with it. If one is created that has blocks, its destruction is
 * missing. */
static void turn_heap(recorder *r, open_block *blocks, u32 count, const recorder_event *event)
{
    for (u32 i = 0; i < count; i++) {
        open_block *const block = &blocks[i];
        if (!block->is_open || block->heap != event->heap || block->program != event->program)
            continue;
        block->is_over |= event->op == RECORDER_CREATE;
        if (event->op == RECORDER_CREATE)
            continue;
        block->is_open = false;
        r->created_over += block->is_over;
    }
}

static void add_open(recorder *r, recorder_kind kind, const open_block *block)
{
    recorder_sums *const sums = &r->sums[kind][block->program];
    if (!block->is_open)
        return;
    r->created_over += block->is_over;
    sums->outstanding_count++;
    sums->outstanding_size += (i64)block->size;
    sums->site_size[block->site] += (i64)block->size;
    if (block->ticks >= r->spans[kind].from_ticks)
        sums->sure_size += (i64)block->size;
}

static open_block opened_by(const recorder_event *event)
{
    return (open_block){
        .address = event->address,
        .size = event->size,
        .heap = event->heap,
        .ticks = event->ticks,
        .program = event->program,
        .site = event->has_stack ? event->site : RECORDER_NO_STACK,
        .is_open = true,
    };
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
        if (event->is_kept && (event->op == RECORDER_DESTROY || event->op == RECORDER_CREATE) &&
            kind == RECORDER_HEAP)
            turn_heap(r, blocks, count, event);
        if (!event->is_kept || (event->op != opens && event->op != closes))
            continue;
        recorder_sums *const sums = &r->sums[kind][event->program];
        open_block *const open = find_open(blocks, count, event);
        if (open != NULL)
            open->is_open = false;
        else
            sums->unknown_frees += event->op == closes;
        if (event->op == closes)
            continue;
        blocks[count] = opened_by(event);
        sums->count++;
        sums->site_count[blocks[count++].site]++;
    }
    for (u32 i = 0; i < count; i++)
        add_open(r, kind, &blocks[i]);
    free(blocks);
}

void recorder_find_sums(recorder *r)
{
    r->is_whole = true;
    for (u32 i = 0; i < r->count; i++)
        r->is_whole = r->is_whole && r->events[i].is_kept;
    for (u32 kind = 0; kind < RECORDER_KINDS; kind++)
        replay(r, (recorder_kind)kind);
}

/* --- rates --------------------------------------------------------------------------------- */

i64 recorder_ns(const recorder *r, i64 ticks)
{
    const i64 hz = (i64)r->setup.clock_hz, since = ticks - r->zero_ticks;
    const i64 seconds = since / hz - (since % hz < 0);
    return seconds * SECOND_NS + (since - seconds * hz) * SECOND_NS / hz;
}

i64 recorder_end_ns(const recorder *r, i64 last_ticks)
{
    const i64 next_ns = recorder_ns(r, last_ticks + 1);
    return next_ns > recorder_ns(r, last_ticks) ? next_ns : next_ns + 1;
}

void recorder_part(const recorder *r, recorder_kind kind, u32 program, i64 *from_ns, i64 *to_ns)
{
    const recorder_span *const span = &r->spans[kind];
    const i64 span_from_ns = recorder_ns(r, span->from_ticks);
    const i64 span_to_ns = recorder_end_ns(r, span->last_ticks);
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

/* Whether an event ends a block: its address is used again, or freed, or its heap destroyed. */
static bool ends(const recorder_event *later, const recorder_event *block, u8 closes)
{
    if (!later->is_kept || later->program != block->program)
        return false;
    if (later->op == RECORDER_DESTROY)
        return block->op == RECORDER_ALLOC && later->heap == block->heap;
    return (later->op == block->op || later->op == closes) && later->address == block->address;
}

/* The outstanding size just before a moment: blocks allocated before it and not freed before it. */
static i64 size_before(const recorder *r, recorder_kind kind, u32 program, i64 ns)
{
    const u8 opens = kind == RECORDER_HEAP ? RECORDER_ALLOC : RECORDER_COMMIT;
    const u8 closes = kind == RECORDER_HEAP ? RECORDER_FREE : RECORDER_RELEASE;
    i64 size = 0;
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        u32 end = i + 1;
        if (!event->is_kept || event->program != program || event->op != opens ||
            recorder_ns(r, event->ticks) >= ns)
            continue;
        while (end < r->count && !ends(&r->events[end], event, closes))
            end++;
        if (end == r->count || recorder_ns(r, r->events[end].ticks) >= ns)
            size += (i64)event->size;
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
