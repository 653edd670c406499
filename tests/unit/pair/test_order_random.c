/*
 * Goal: ordering gives any slice the order, the numbers and the counts that plain
 * rules give, whichever bucket is filled first and by whom.
 * Method: random slices of many streams, with ties, time that goes back, process
 * ids that change hands, images that come and go, more heaps than are remembered
 * and stacks of all tags. The model sorts all events by insertion, and numbers what
 * it has not met by searching lists from front to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/hand_result.h"
#include "order_check.h"

#define T0          (CHECK_START + 1000)
#define PIDS        4u
#define STREAMS_MAX 9u
#define SLICES      4u
#define EVENTS_MAX  18000u
#define PROCESSES   64u

/* An event of the slice at hand, as the model knows it. */
typedef struct model_event {
    memory_event event; /* its time moved up where time went back */
    u32 process, heap, origin;
} model_event;

typedef struct model {
    order_check *f;
    model_event *events; /* by rank once sorted */
    u32 count;
    ETLHEAP_VECTOR(heap_row) heaps;
    ETLHEAP_VECTOR(owner_row) owners;
    ETLHEAP_VECTOR(origin_row) origins;
    u64 counts[ETLHEAP_KIND_COUNT][PROCESSES];
    i64 from_ticks;
    u32 waiting;
    u64 seed;
} model;

static u32 roll(model *m, u32 below)
{
    return engine_check_random(&m->seed, below);
}

/* --- the model's numbers --- */

static u32 model_heap(model *m, u32 process, u64 handle)
{
    for (u32 i = 0; i < m->heaps.count; i++) {
        if (m->heaps.at[i].process == process && m->heaps.at[i].handle == handle)
            return i + 1;
    }
    assert_true(ETLHEAP_PUSH(&m->heaps, (heap_row){ handle, process }));
    return (u32)m->heaps.count;
}

static u32 model_owner(model *m, u32 heap, u32 epoch, i64 ticks)
{
    for (u32 i = 0; i < m->owners.count; i++) {
        if (m->owners.at[i].heap == heap && m->owners.at[i].epoch == epoch)
            return i + 1;
    }
    assert_true(ETLHEAP_PUSH(&m->owners, (owner_row){ ticks, heap, epoch }));
    return (u32)m->owners.count;
}

static u32 model_origin(model *m, stack_ref stack, u32 owner)
{
    const bool waits = (stack & STACK_TAG_MASK) == STACK_TAG_WAITING;
    for (u32 i = 0; i < m->origins.count && !waits; i++) {
        if (m->origins.at[i].stack == stack && m->origins.at[i].owner == owner)
            return i + 1;
    }
    assert_true(ETLHEAP_PUSH(&m->origins, (origin_row){ stack, owner }));
    return (u32)m->origins.count;
}

static void model_count(model *m, const model_event *row)
{
    assert_true(row->process < PROCESSES);
    switch ((memory_op)row->event.op) {
    case OP_REALLOC_OLD:
    case OP_REALLOC_FREED:
    case OP_REALLOC_ALONE:
    case OP_REALLOC_CLOSE:
        break;
    case OP_RESERVE:
        break;
    case OP_RESERVE_ALONE:
    case OP_COMMIT:
    case OP_DECOMMIT:
    case OP_RELEASE:
    case OP_RUNDOWN_START:
    case OP_RUNDOWN_END:
        m->counts[ETLHEAP_KIND_VIRTUALALLOC][row->process]++;
        break;
    case OP_CUSTOM_ALLOC:
    case OP_CUSTOM_FREE:
        m->counts[ETLHEAP_KIND_CUSTOM][row->process]++;
        break;
    case OP_EXPAND:
    case OP_CONTRACT:
        m->counts[ETLHEAP_KIND_HEAP][row->process]++;
        break;
    default:
        m->counts[op_kind(row->event.op)][row->process]++;
        break;
    }
}

/* Heaps of all events and origins of those that open a block, as they come. */
static void number_events(model *m)
{
    const trace_context *const context = &m->f->check.context;
    for (u32 rank = 0; rank < m->count; rank++) {
        model_event *const row = &m->events[rank];
        const memory_event *const event = &row->event;
        const u32 epoch = context_image_epoch(context, event->pid, event->ticks).number;
        row->process = context_process_at(context, event->pid, event->ticks);
        row->heap = model_heap(m, row->process, event->op >= OP_COMMIT ? 0 : event->heap);
        const u32 owner = model_owner(m, row->heap, epoch, event->ticks);
        const bool opens = event->op == OP_ALLOC || event->op == OP_REALLOC_NEW ||
                           event->op == OP_REALLOC_UNSEEN || event->op == OP_REALLOC_SAME;
        row->origin = opens ? model_origin(m, event->stack, owner) : 0;
        if (event->op == OP_REALLOC_OLD)
            row->origin = event->since_alloc; /* below ORDER_LOCAL */
        model_count(m, row);
    }
}

/* --- random slices --- */

static stack_ref random_stack(model *m)
{
    switch (roll(m, 10)) {
    case 0:
        return STACK_NONE;
    case 1:
        return STACK_TAG_WAITING | m->waiting++;
    case 2:
        return STACK_TAG_KEYED | (1 + roll(m, 20));
    default:
        return 1 + roll(m, 300);
    }
}

static memory_event random_event(model *m, i64 ticks)
{
    const u8 op = (u8)roll(m, OP_CONTRACT + 1);
    memory_event event = { .ticks = ticks,
                           .address = roll(m, 1000),
                           .size = roll(m, 1000),
                           .heap = 0x1000 + roll(m, 60),
                           .pid = 40 + roll(m, PIDS),
                           .tid = 1 + roll(m, 1000),
                           .stack = random_stack(m),
                           .op = op };
    if (op == OP_REALLOC_OLD)
        event.since_alloc = roll(m, 1000);
    event.shard =
        (u8)(op >= OP_COMMIT ? HEAP_SHARDS + roll(m, RANGE_SHARDS) : roll(m, HEAP_SHARDS));
    return event;
}

/* Inserts the event behind all that are not later. */
static void insert_event(model *m, const memory_event *event)
{
    u32 at = m->count++;
    for (; at > 0 && m->events[at - 1].event.ticks > event->ticks; at--)
        m->events[at] = m->events[at - 1];
    m->events[at] = (model_event){ .event = *event };
}

/* Events of a stream, in tasks of any length; some are earlier than the one before,
 * a few earlier than the slice. */
static void add_stream(model *m, u32 stream, u32 count)
{
    i64 ticks = m->from_ticks + roll(m, 10), latest = m->from_ticks;
    order_check_task(m->f, stream);
    for (u32 i = 0; i < count; i++) {
        ticks += roll(m, 4) == 0 ? roll(m, 8) : 0;
        memory_event event = random_event(m, ticks - (roll(m, 500) == 0 ? roll(m, 30) : 0));
        order_check_add(m->f, event);
        latest = event.ticks > latest ? event.ticks : latest;
        event.ticks = latest;
        insert_event(m, &event);
        if (roll(m, 700) == 0)
            order_check_task(m->f, stream);
    }
}

static void add_slice(model *m)
{
    const u32 streams = 1 + roll(m, STREAMS_MAX);
    m->count = 0;
    m->f->order.from_ticks = m->from_ticks;
    for (u32 stream = 0; stream < streams; stream++)
        add_stream(m, stream, roll(m, EVENTS_MAX / streams));
}

static void compare_event(const model *m, u32 rank)
{
    const model_event *const row = &m->events[rank];
    const ordered_event *const found = &m->f->by_rank[rank];
    const bool is_range = row->event.shard >= HEAP_SHARDS;
    assert_int_equal(found->ticks, row->event.ticks);
    assert_int_equal(found->address, row->event.address);
    assert_int_equal(is_range ? found->range->size : found->size, row->event.size);
    assert_int_equal(found->op, row->event.op);
    assert_int_equal(found->tid, row->event.tid);
    assert_int_equal(found->heap, is_range ? row->process : row->heap);
    assert_int_equal(found->origin, row->origin);
    assert_int_equal(found->stack_is_open,
                     row->event.stack == STACK_NONE || (row->event.stack & STACK_TAG_MASK) != 0);
    const bool moves_on = rank == 0 || row[-1].event.ticks != row->event.ticks;
    assert_int_equal(m->f->ticks[rank], row->event.ticks);
    assert_int_equal(m->f->entries[rank], moves_on ? ENTRY_NEW_TICK : 0);
}

/* Both have counted all slices up to here. */
static void compare_counts(const model *m, u64 events[ETLHEAP_KIND_COUNT][PROCESSES])
{
    const slice_order *const order = &m->f->order;
    for (u32 b = 0; b < order->bucket_count; b++) {
        const order_bucket *const bucket = &order->buckets[b];
        for (size_t i = 0; i < bucket->counts.count; i++) {
            const order_count *const count = &bucket->counts.at[i];
            assert_true(count->process < PROCESSES);
            for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
                events[kind][count->process] += count->events[kind];
        }
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (u32 i = 0; i < PROCESSES; i++)
            assert_int_equal(events[kind][i], m->counts[kind][i]);
    }
}

static void compare_tables(const model *m)
{
    const origin_table *const origins = &m->f->check.origins;
    assert_int_equal(origins->heaps.count, m->heaps.count);
    assert_int_equal(origins->owners.count, m->owners.count);
    assert_int_equal(origins->origins.count, m->origins.count);
    for (size_t i = 0; i < m->heaps.count; i++) {
        assert_int_equal(origins->heaps.at[i].handle, m->heaps.at[i].handle);
        assert_int_equal(origins->heaps.at[i].process, m->heaps.at[i].process);
    }
    for (size_t i = 0; i < m->owners.count; i++) {
        assert_int_equal(origins->owners.at[i].heap, m->owners.at[i].heap);
        assert_int_equal(origins->owners.at[i].epoch, m->owners.at[i].epoch);
        assert_int_equal(origins->owners.at[i].first_ticks, m->owners.at[i].first_ticks);
    }
    for (size_t i = 0; i < m->origins.count; i++) {
        assert_int_equal(origins->origins.at[i].stack, m->origins.at[i].stack);
        assert_int_equal(origins->origins.at[i].owner, m->origins.at[i].owner);
    }
}

/* Owners of ids that change, and images of some of them and of the kernel. */
static void prepare_context(model *m, i64 end_ticks)
{
    engine_check *const check = &m->f->check;
    for (i64 ticks = T0; ticks < end_ticks; ticks += 1 + roll(m, 600)) {
        const u32 pid = 40 + roll(m, 2);
        const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                        .pid = roll(m, 4) == 0 ? 0 : 41 + roll(m, 2),
                                        .base = 0x10000,
                                        .size_bytes = 0x1000,
                                        .ticks = ticks,
                                        .path = "a.dll" };
        if (roll(m, 3) != 0)
            hand_image(&check->context, &image);
        else
            engine_check_process(check, ETL_EVENT_PROCESS_START, pid, ticks, "a.exe",
                                 1 + (u64)ticks);
    }
}

static void compare_slices(order_check *f, u64 seed)
{
    model m = { .f = f, .from_ticks = T0, .seed = seed };
    u64 events[ETLHEAP_KIND_COUNT][PROCESSES] = { { 0 } };
    m.events = malloc(EVENTS_MAX * sizeof *m.events);
    assert_non_null(m.events);
    prepare_context(&m, T0 + 12000);
    for (u32 i = 0; i < SLICES; i++) {
        add_slice(&m);
        order_check_run(f, (order_check_fill)(seed % ORDER_CHECK_FILL_COUNT));
        number_events(&m);
        assert_int_equal(f->order.count, m.count);
        for (u32 rank = 0; rank < m.count; rank++)
            compare_event(&m, rank);
        compare_tables(&m);
        compare_counts(&m, events);
        m.from_ticks = m.count == 0 ? m.from_ticks : m.events[m.count - 1].event.ticks + 1;
    }
    ETLHEAP_VECTOR_FREE(&m.heaps);
    ETLHEAP_VECTOR_FREE(&m.owners);
    ETLHEAP_VECTOR_FREE(&m.origins);
    free(m.events);
}

static void any_slices_are_ordered_as_by_the_model(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 12; seed++) {
        void *f;
        assert_int_equal(order_check_open(&f), 0);
        compare_slices(f, seed);
        order_check_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_slices_are_ordered_as_by_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
