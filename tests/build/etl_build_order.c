/*
 * etl_build_order.c - puts the calls of a builder into order of time.
 *
 * In: calls with ticks. Out: records, each placed after all earlier ones.
 *
 *     call ──▶ binary heap by (ticks, order of the call) ──▶ place, when nothing earlier can come
 *
 * Sorted builders let everything wait until the end. Streaming builders place records at once, and
 * before each one whatever waits for an earlier or equal time; only stack walks, which are written
 * a while after their event, ever wait. Invariant: equal ticks keep the order of the calls.
 */
#include "etl_build_inside.h"

#include <stdlib.h>

static void wait_for(etl_build *b, build_waiting entry, const void *head, size_t head_size,
                     const void *tail);
static bool is_before(const build_waiting *a, const build_waiting *b);
static build_waiting take_first(etl_build *b);
static void place_waiting(etl_build *b, const build_waiting *entry);
static void place_waiting_half(etl_build *b, const build_waiting *entry);

void build_order_record(etl_build *b, i64 ticks, u32 cpu, u32 size)
{
    if (b->session.options.order == ETL_BUILD_SORTED) {
        wait_for(
            b,
            (build_waiting){ .ticks = ticks, .cpu = cpu, .kind = BUILD_WAIT_RECORD, .size = size },
            b->record, size, NULL);
        return;
    }
    if (b->waiting_count > 0 && b->waiting[0].ticks <= ticks) {
        /* Placing stacks composes them in b->record, so this one is kept aside. */
        u8 *const kept = build_realloc(NULL, size);
        memcpy(kept, b->record, size);
        build_order_drain(b, ticks);
        build_place(b, ticks, cpu, kept, size);
        free(kept);
        return;
    }
    build_place(b, ticks, cpu, b->record, size);
}

void build_order_half(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames)
{
    if (b->session.options.order == ETL_BUILD_AS_CALLED) {
        build_stack_place(b, ticks, cpu, half, frames);
        return;
    }
    const size_t frames_size = half->count * sizeof *frames;
    wait_for(b,
             (build_waiting){ .ticks = ticks,
                              .cpu = cpu,
                              .kind = BUILD_WAIT_STACK,
                              .size = (u32)(sizeof *half + frames_size) },
             half, sizeof *half, frames);
}

void build_order_lose(etl_build *b, i64 ticks, u32 cpu)
{
    if (b->session.options.order == ETL_BUILD_SORTED) {
        wait_for(b, (build_waiting){ .ticks = ticks, .cpu = cpu, .kind = BUILD_WAIT_LOSE }, NULL, 0,
                 NULL);
        return;
    }
    build_order_drain(b, ticks);
    build_lose(b, cpu);
}

/* Copies head and tail behind one another into the entry. */
static void wait_for(etl_build *b, build_waiting entry, const void *head, size_t head_size,
                     const void *tail)
{
    entry.order = b->order_next++;
    if (entry.size > 0) {
        entry.bytes = build_realloc(NULL, entry.size);
        memcpy(entry.bytes, head, head_size);
        if (entry.size > head_size)
            memcpy(entry.bytes + head_size, tail, entry.size - head_size);
    }
    if (b->waiting_count == b->waiting_capacity) {
        b->waiting_capacity = b->waiting_capacity ? b->waiting_capacity * 2 : 256;
        b->waiting = build_realloc(b->waiting, b->waiting_capacity * sizeof *b->waiting);
    }
    size_t at = b->waiting_count++;
    while (at > 0 && is_before(&entry, &b->waiting[(at - 1) / 2])) {
        b->waiting[at] = b->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    b->waiting[at] = entry;
}

static bool is_before(const build_waiting *a, const build_waiting *b)
{
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->order < b->order;
}

void build_order_drain(etl_build *b, i64 ticks)
{
    while (b->waiting_count > 0 && b->waiting[0].ticks <= ticks) {
        const build_waiting entry = take_first(b);
        place_waiting(b, &entry);
        free(entry.bytes);
    }
}

static build_waiting take_first(etl_build *b)
{
    const build_waiting first = b->waiting[0];
    const build_waiting last = b->waiting[--b->waiting_count];
    const size_t count = b->waiting_count;
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_before(&b->waiting[child + 1], &b->waiting[child]))
            child++;
        if (!is_before(&b->waiting[child], &last))
            break;
        b->waiting[at] = b->waiting[child];
        at = child;
    }
    if (count > 0)
        b->waiting[at] = last;
    return first;
}

static void place_waiting(etl_build *b, const build_waiting *entry)
{
    if (entry->kind == BUILD_WAIT_RECORD)
        build_place(b, entry->ticks, entry->cpu, entry->bytes, entry->size);
    else if (entry->kind == BUILD_WAIT_STACK)
        place_waiting_half(b, entry);
    else
        build_lose(b, entry->cpu);
}

static void place_waiting_half(etl_build *b, const build_waiting *entry)
{
    build_half half;
    memcpy(&half, entry->bytes, sizeof half);
    if (half.count > b->frames_capacity) {
        b->frames_capacity = half.count;
        b->frames = build_realloc(b->frames, half.count * sizeof *b->frames);
    }
    memcpy(b->frames, entry->bytes + sizeof half, half.count * sizeof *b->frames);
    build_stack_place(b, entry->ticks, entry->cpu, &half, b->frames);
}

void build_order_free(etl_build *b)
{
    for (size_t i = 0; i < b->waiting_count; i++)
        free(b->waiting[i].bytes);
    free(b->waiting);
    free(b->frames);
    b->waiting_count = 0;
}
