/* join_bench.c - see join_bench.h. */
#include "join_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/hand_result.h"

#define STACKS_MAX 90u

join_bench *join_bench_new(void)
{
    join_bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    const timebase base = hand_timebase();
    join_open(&b->join, &base);
    for (u64 n = 1; n <= STACKS_MAX; n++) {
        u32 id;
        assert_true(stack_add(&b->stacks, stack_hash(&n, 1), &n, 1, &id));
        assert_int_equal(id, n);
    }
    return b;
}

void join_add_event(join_bench *b, memory_event event)
{
    assert_true(ETLHEAP_PUSH(&b->task.events, event));
}

void join_add_alloc(join_bench *b, i64 ticks, u32 tid)
{
    join_add_event(b,
                   (memory_event){ .ticks = ticks, .op = OP_ALLOC, .pid = JOIN_PID, .tid = tid });
}

void join_add_piece(join_bench *b, stack_piece piece)
{
    assert_true(ETLHEAP_PUSH(&b->task.pieces, piece));
}

void join_add_part(join_bench *b, i64 ticks, i64 event_ticks, stack_part part, stack_ref stack)
{
    join_add_piece(b, (stack_piece){ .ticks = ticks,
                                     .event_ticks = event_ticks,
                                     .pid = JOIN_PID,
                                     .tid = JOIN_TID,
                                     .part = part & 3u,
                                     .stack = stack });
}

void join_task(join_bench *b, i64 end_ticks)
{
    b->task.unresolved.count = 0;
    for (size_t i = b->task.events.count; i > 0; i--) {
        const memory_event *const event = &b->task.events.at[i - 1];
        if (op_wants_stack(event->op) && event->stack == STACK_NONE)
            assert_true(ETLHEAP_PUSH(&b->task.unresolved, (u32)(i - 1)));
    }
    assert_true(join_slice(&b->join, &b->keyed, &b->task, 1, end_ticks));
}

void join_end_slice(join_bench *b, i64 end_ticks)
{
    join_task(b, end_ticks);
    for (size_t i = 0; i < b->task.events.count; i++) {
        assert_true(b->event_count < JOIN_EVENTS_MAX);
        b->events[b->event_count].stack = b->task.events.at[i].stack;
        b->events[b->event_count].tid = b->task.events.at[i].tid;
        b->event_count++;
    }
    scan_output_free(&b->task);
    b->task = (scan_output){ 0 };
}

void join_end_run(join_bench *b)
{
    join_end_slice(b, INT64_MAX);
    assert_true(keyed_finish(&b->keyed, &b->stacks, &b->ids, &b->unresolved));
}

void join_bench_free(join_bench *b)
{
    free(b->ids);
    join_close(&b->join);
    keyed_free(&b->keyed);
    stack_table_free(&b->stacks);
    free(b);
}

static u64 stack_of(const join_bench *b, u32 event)
{
    stack_ref ref = b->events[event].stack;
    if ((ref & STACK_TAG_MASK) == STACK_TAG_WAITING)
        ref = b->join.own_origins.at[ref & STACK_NUMBER_MAX].stack;
    if ((ref & STACK_TAG_MASK) == STACK_TAG_KEYED)
        ref = b->ids[ref & STACK_NUMBER_MAX];
    assert_int_equal(ref & STACK_TAG_MASK, 0);
    if (ref == STACK_NONE)
        return 0;
    u64 digits = 0;
    const etlheap_frames frames = stack_get(&b->stacks, ref);
    for (u32 i = 0; i < frames.count; i++)
        digits = digits * 10 + frames.addresses[i];
    return digits;
}

void join_expect_stack(const join_bench *b, u32 event, u64 digits)
{
    assert_int_equal(stack_of(b, event), digits);
}

void join_add_threadless(join_bench *b, i64 ticks, u32 pid, u16 cpu)
{
    join_add_event(b,
                   (memory_event){
                       .ticks = ticks, .op = OP_COMMIT, .pid = pid, .tid = ETL_NO_ID, .cpu = cpu });
}

void join_add_part_on(join_bench *b, i64 event_ticks, u16 cpu, stack_part part, stack_ref stack)
{
    join_add_piece(b, (stack_piece){ .ticks = event_ticks + 10,
                                     .event_ticks = event_ticks,
                                     .pid = JOIN_PID,
                                     .tid = JOIN_TID,
                                     .cpu = cpu,
                                     .part = part & 3u,
                                     .stack = stack });
}
