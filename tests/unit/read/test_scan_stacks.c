/*
 * Goal: the ring finds the latest event that a stack belongs to; the queue writes
 * each stack's reference where it belongs, as one look-up after the other would.
 * Method: rings and queues filled by hand; references compared with those of a
 * plain table, for stacks that are known, new, repeated and alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/scan_stacks.h"

/* --- ring ----------------------------------------------------------------------- */

#define EVENTS 64u

/* Event i is an allocation at ticks 100 + i, of thread 7. */
static void make_events(memory_event events[EVENTS])
{
    memset(events, 0, EVENTS * sizeof *events);
    for (u32 i = 0; i < EVENTS; i++) {
        events[i].ticks = 100 + (i64)i;
        events[i].tid = 7;
        events[i].op = OP_ALLOC;
    }
}

static stack_ring_entry *found(stack_ring *ring, const memory_event *events, i64 ticks, u32 tid)
{
    event_sort sort;
    return stack_ring_find(ring, events, EVENTS, ticks, tid, &sort);
}

static void an_empty_ring_finds_nothing(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    assert_null(found(&ring, events, 100, 7));
}

static void an_event_is_found_by_time_and_thread(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    stack_ring_push_if(&ring, 0, true);
    stack_ring_push_if(&ring, 1, true);
    assert_int_equal(found(&ring, events, 100, 7)->event, 0);
    assert_int_equal(found(&ring, events, 101, 7)->event, 1);
    assert_null(found(&ring, events, 102, 7));
    assert_null(found(&ring, events, 100, 8));
}

static void of_those_alike_the_oldest_without_a_stack_is_found(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    events[1].ticks = events[0].ticks;
    stack_ring_push_if(&ring, 0, true);
    stack_ring_push_if(&ring, 1, true);
    assert_int_equal(found(&ring, events, 100, 7)->event, 0);
    events[0].stack = 1;
    assert_int_equal(found(&ring, events, 100, 7)->event, 1);
    events[1].stack = 2;
    assert_int_equal(found(&ring, events, 100, 7)->event, 1);
}

/* Which of them is the oldest, the ring cannot say. */
static void a_crowd_that_is_larger_than_the_ring_is_left_to_the_join(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    for (u32 i = 0; i < STACK_RING_SIZE; i++) {
        events[i].ticks = 100;
        stack_ring_push_if(&ring, i, true);
    }
    assert_int_equal(found(&ring, events, 100, 7)->event, 0);
    events[STACK_RING_SIZE].ticks = 100;
    stack_ring_push_if(&ring, STACK_RING_SIZE, true);
    assert_null(found(&ring, events, 100, 7));
    stack_ring_push_if(&ring, STACK_RING_SIZE + 1, true);
    assert_null(found(&ring, events, 100, 7));
}

static void only_the_latest_events_are_in_the_ring(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    for (u32 i = 0; i < EVENTS; i++)
        stack_ring_push_if(&ring, i, true);
    for (u32 i = 0; i < EVENTS; i++) {
        const stack_ring_entry *const entry = found(&ring, events, 100 + (i64)i, 7);
        assert_int_equal(entry != NULL, i >= EVENTS - STACK_RING_SIZE);
        assert_true(entry == NULL || entry->event == i);
    }
}

/* Not even where they are written: in place of the oldest one of a full ring. */
static void events_that_want_no_stack_leave_the_ring_alone(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    for (u32 i = 0; i < STACK_RING_SIZE; i++)
        stack_ring_push_if(&ring, i, true);
    for (u32 i = STACK_RING_SIZE; i < EVENTS; i++)
        stack_ring_push_if(&ring, i, false);
    for (u32 i = 0; i < EVENTS; i++) {
        const stack_ring_entry *const entry = found(&ring, events, 100 + (i64)i, 7);
        assert_int_equal(entry != NULL, i < STACK_RING_SIZE);
    }
}

/* What one thread does on one tick, and the event that a part gets which comes then. */
typedef struct tick_case {
    u8 ops[4];
    event_sort sort; /* of the part */
    int index;       /* of the event; -1: none of the ring */
} tick_case;

static void a_part_is_of_what_the_thread_did_last(void **state)
{
    (void)state;
    static const tick_case cases[] = {
        { { OP_EXPAND }, SORT_EXTENT, 0 },
        { { OP_EXPAND, OP_RELEASE }, SORT_UNWANTED, -1 },
        { { OP_EXPAND, OP_DECOMMIT }, SORT_UNWANTED, -1 },
        { { OP_EXPAND, OP_COMMIT }, SORT_COMMIT, 1 },
        { { OP_EXPAND, OP_FREE }, SORT_SPENT, -1 },
        { { OP_EXPAND, OP_CONTRACT }, SORT_EXTENT, 0 },
        { { OP_EXPAND, OP_ALLOC }, SORT_BLOCK, 1 },
        { { OP_ALLOC, OP_COMMIT }, SORT_COMMIT, 1 },
        { { OP_ALLOC, OP_COMMIT, OP_ALLOC }, SORT_BLOCK, 0 },
        { { OP_COMMIT, OP_ALLOC }, SORT_BLOCK, 1 },
        { { OP_COMMIT, OP_RELEASE, OP_COMMIT }, SORT_COMMIT, 0 },
        { { OP_COMMIT, OP_RELEASE }, SORT_UNWANTED, -1 },
        { { OP_ALLOC, OP_RESERVE }, SORT_UNWANTED, -1 },
        { { OP_RESERVE, OP_COMMIT }, SORT_COMMIT, 1 },
        { { OP_ALLOC, OP_FREE, OP_ALLOC }, SORT_BLOCK, 0 },
        { { OP_ALLOC, OP_FREE }, SORT_BLOCK, 0 },
        { { OP_REALLOC_NEW, OP_REALLOC_OLD }, SORT_BLOCK, 0 },
        { { OP_FREE, OP_ALLOC }, SORT_BLOCK, 1 },
        { { OP_ALLOC, OP_RUNDOWN_START, OP_RUNDOWN_END }, SORT_BLOCK, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stack_ring ring = { 0 };
        memory_event events[EVENTS];
        make_events(events);
        u32 count = 0;
        for (; count < 4 && cases[i].ops[count] != 0; count++) {
            events[count].ticks = 100;
            events[count].op = cases[i].ops[count];
            stack_ring_push_if(&ring, count, op_wants_stack(events[count].op));
        }
        event_sort sort;
        const stack_ring_entry *const entry = stack_ring_find(&ring, events, count, 100, 7, &sort);
        if (sort != cases[i].sort || (entry == NULL ? -1 : (int)entry->event) != cases[i].index)
            fail_msg("case %zu: sort %d, %d", i, (int)sort, entry == NULL ? -1 : (int)entry->event);
    }
}

/* A free that comes behind an allocation with its stack has the next one. */
static void a_stack_too_many_is_of_what_wants_none(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    events[1].ticks = events[0].ticks;
    events[1].op = OP_FREE;
    events[0].stack = 1;
    stack_ring_push_if(&ring, 0, true);
    event_sort sort;
    assert_non_null(stack_ring_find(&ring, events, 1, 100, 7, &sort));
    assert_int_equal(sort, SORT_BLOCK);
    assert_null(stack_ring_find(&ring, events, 2, 100, 7, &sort));
    assert_int_equal(sort, SORT_SPENT);
}

static void of_two_threads_each_has_what_it_did_last(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    events[1].ticks = events[0].ticks;
    events[0].op = OP_EXPAND;
    events[1].op = OP_COMMIT;
    events[1].tid = 8;
    stack_ring_push_if(&ring, 0, true);
    stack_ring_push_if(&ring, 1, true);
    event_sort sort;
    assert_int_equal(stack_ring_find(&ring, events, 2, 100, 7, &sort)->event, 0);
    assert_int_equal(sort, SORT_EXTENT);
    assert_null(stack_ring_find(&ring, events, 2, 101, 7, &sort));
    assert_int_equal(sort, SORT_UNKNOWN);
}

static void what_has_no_thread_is_not_of_the_thread(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    events[1].ticks = events[0].ticks;
    events[1].op = OP_COMMIT;
    events[1].tid = ETL_NO_ID;
    stack_ring_push_if(&ring, 0, true);
    stack_ring_push_if(&ring, 1, true);
    for (u32 stack = 0; stack < 2; stack++) {
        event_sort sort;
        events[0].stack = stack;
        events[0].op = OP_EXPAND;
        assert_int_equal(stack_ring_find(&ring, events, 2, 100, 7, &sort)->event, 0);
        assert_int_equal(sort, SORT_EXTENT);
        events[0].op = OP_ALLOC;
        assert_int_equal(stack_ring_find(&ring, events, 2, 100, 7, &sort)->event, 0);
        assert_int_equal(sort, SORT_BLOCK);
    }
}

static void a_kernel_part_or_a_stack_resolves_an_event(void **state)
{
    (void)state;
    stack_ring ring = { 0 };
    memory_event events[EVENTS];
    make_events(events);
    stack_ring_push_if(&ring, 0, true);
    stack_ring_entry *const entry = found(&ring, events, 100, 7);
    assert_true(stack_ring_is_unresolved(entry, events));
    assert_false(stack_ring_is_unresolved(NULL, events));
    entry->has_kernel_part = true;
    assert_false(stack_ring_is_unresolved(entry, events));
    entry->has_kernel_part = false;
    events[0].stack = STACK_TAG_LOCAL;
    assert_false(stack_ring_is_unresolved(entry, events));
}

/* --- queue ---------------------------------------------------------------------- */

#define STACKS     500u
#define FRAMES_MAX 70u

/* Stack i: every length up to FRAMES_MAX, some alike in all frames but one. */
static u32 make_stack(u32 i, u64 frames[FRAMES_MAX])
{
    const u32 count = 1 + i % FRAMES_MAX;
    for (u32 k = 0; k < count; k++)
        frames[k] = 0x7ff600000000 + k;
    frames[count - 1] += i * 0x100;
    return count;
}

typedef struct queue_bench {
    stack_table stacks;
    scan_output out;
    stack_queue queue;
    u64 frames[STACKS][FRAMES_MAX];
} queue_bench;

/* `known` of the stacks are in the run's table. */
static queue_bench *open_bench(u32 known)
{
    queue_bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (u32 i = 0; i < STACKS; i++) {
        u32 id;
        const u32 count = make_stack(i, b->frames[i]);
        if (i < known)
            assert_true(
                stack_add(&b->stacks, stack_hash(b->frames[i], count), b->frames[i], count, &id));
    }
    b->queue = (stack_queue){ .stacks = &b->stacks, .out = &b->out };
    return b;
}

static void close_bench(queue_bench *b)
{
    scan_output_free(&b->out);
    stack_table_free(&b->stacks);
    free(b);
}

static void push(queue_bench *b, u32 i, stack_target target, size_t index)
{
    assert_true(stack_queue_push(&b->queue, b->frames[i], 1 + i % FRAMES_MAX, target, index));
}

/* An event that asks for stack i. */
static void push_event(queue_bench *b, u32 i)
{
    assert_true(ETLHEAP_PUSH(&b->out.events, (memory_event){ .stack = STACK_TAG_LOCAL }));
    push(b, i, TARGET_EVENT, b->out.events.count - 1);
}

static void known_stacks_have_the_ids_of_the_table(void **state)
{
    (void)state;
    queue_bench *const b = open_bench(STACKS);
    for (u32 i = 0; i < STACKS; i++)
        push_event(b, STACKS - 1 - i);
    assert_true(stack_queue_flush(&b->queue));
    for (u32 i = 0; i < STACKS; i++)
        assert_int_equal(b->out.events.at[i].stack, STACKS - i);
    assert_int_equal(b->out.new_stacks.list.count, 0);
    close_bench(b);
}

static void new_stacks_are_numbered_in_the_order_of_the_pushes(void **state)
{
    (void)state;
    queue_bench *const b = open_bench(0);
    for (u32 round = 0; round < 2; round++) {
        for (u32 i = 0; i < STACKS; i++)
            push_event(b, i);
    }
    assert_true(stack_queue_flush(&b->queue));
    for (u32 i = 0; i < 2 * STACKS; i++)
        assert_int_equal(b->out.events.at[i].stack, STACK_TAG_LOCAL | (i % STACKS + 1));
    close_bench(b);
}

static void known_and_new_stacks_may_take_turns(void **state)
{
    (void)state;
    const u32 known = STACKS / 2;
    queue_bench *const b = open_bench(known);
    for (u32 i = 0; i < known; i++) {
        push_event(b, known + i);
        push_event(b, i);
    }
    assert_true(stack_queue_flush(&b->queue));
    for (u32 i = 0; i < known; i++) {
        assert_int_equal(b->out.events.at[2 * i].stack, STACK_TAG_LOCAL | (i + 1));
        assert_int_equal(b->out.events.at[2 * i + 1].stack, i + 1);
    }
    close_bench(b);
}

static void flushing_at_any_time_changes_nothing(void **state)
{
    (void)state;
    for (u32 every = 1; every < STACK_QUEUE_SIZE + 3; every++) {
        queue_bench *const b = open_bench(STACKS / 3);
        for (u32 i = 0; i < STACKS; i++) {
            push_event(b, i);
            if (i % every == 0)
                assert_true(stack_queue_flush(&b->queue));
        }
        assert_true(stack_queue_flush(&b->queue));
        for (u32 i = 0; i < STACKS; i++) {
            const stack_ref wanted =
                i < STACKS / 3 ? i + 1 : STACK_TAG_LOCAL | (i - STACKS / 3 + 1);
            assert_int_equal(b->out.events.at[i].stack, wanted);
        }
        close_bench(b);
    }
}

static void references_go_to_the_rows_that_asked(void **state)
{
    (void)state;
    queue_bench *const b = open_bench(3);
    for (u32 i = 0; i < 3; i++) {
        assert_true(ETLHEAP_PUSH(&b->out.events, (memory_event){ 0 }));
        assert_true(ETLHEAP_PUSH(&b->out.pieces, (stack_piece){ 0 }));
        assert_true(ETLHEAP_PUSH(&b->out.definitions, (key_definition){ 0 }));
    }
    push(b, 0, TARGET_EVENT, 2);
    push(b, 1, TARGET_PIECE, 1);
    push(b, 2, TARGET_DEFINITION, 0);
    assert_true(stack_queue_flush(&b->queue));
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(b->out.events.at[i].stack, i == 2 ? 1 : 0);
        assert_int_equal(b->out.pieces.at[i].stack, i == 1 ? 2 : 0);
        assert_int_equal(b->out.definitions.at[i].stack, i == 0 ? 3 : 0);
    }
    close_bench(b);
}

/* A list that grows moves; a queue that kept pointers into it would miss it. */
static void rows_may_move_while_stacks_wait(void **state)
{
    (void)state;
    queue_bench *const b = open_bench(1);
    push_event(b, 0);
    assert_true(ETLHEAP_RESERVE(&b->out.events, 100000));
    assert_true(stack_queue_flush(&b->queue));
    assert_int_equal(b->out.events.at[0].stack, 1);
    close_bench(b);
}

static void an_empty_queue_may_be_flushed(void **state)
{
    (void)state;
    queue_bench *const b = open_bench(0);
    assert_true(stack_queue_flush(&b->queue));
    assert_true(stack_queue_flush(&b->queue));
    close_bench(b);
}

/* A task's new stacks get the numbers that the run's table gives them: those that another
 * task brought meanwhile are there already. */
static void merge_new_stacks(u32 new_count)
{
    enum { KNOWN = 4 };
    queue_bench *const b = open_bench(KNOWN);
    const u32 asked = new_count + KNOWN;
    for (u32 i = 0; i < asked; i++) {
        const u32 stack = asked - 1 - i;
        push_event(b, stack);
        assert_true(ETLHEAP_PUSH(&b->out.pieces, (stack_piece){ .stack = STACK_TAG_LOCAL }));
        push(b, stack, TARGET_PIECE, i);
        assert_true(ETLHEAP_PUSH(&b->out.definitions, (key_definition){ .ticks = 1 }));
        push(b, stack, TARGET_DEFINITION, i);
    }
    assert_true(stack_queue_flush(&b->queue));
    u32 id;
    const u32 elsewhere = STACKS - 1, count = 1 + elsewhere % FRAMES_MAX;
    assert_true(stack_add(&b->stacks, stack_hash(b->frames[elsewhere], count), b->frames[elsewhere],
                          count, &id));
    assert_int_equal(id, KNOWN + 1);
    assert_true(scan_merge_stacks(&b->out, &b->stacks));
    for (u32 i = 0; i < asked; i++) {
        const u32 stack = asked - 1 - i, frame_count = 1 + stack % FRAMES_MAX;
        const stack_ref number = stack_find(&b->stacks, stack_hash(b->frames[stack], frame_count),
                                            b->frames[stack], frame_count);
        assert_int_not_equal(number, STACK_NONE);
        assert_int_equal(b->out.events.at[i].stack, number);
        assert_int_equal(b->out.pieces.at[i].stack, number);
        assert_int_equal(b->out.definitions.at[i].stack, number);
    }
    close_bench(b);
}

static void merged_references_are_those_of_the_runs_table(void **state)
{
    (void)state;
    for (u32 new_count = 0; new_count < 9; new_count++)
        merge_new_stacks(new_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ring_finds_nothing),
        cmocka_unit_test(an_event_is_found_by_time_and_thread),
        cmocka_unit_test(of_those_alike_the_oldest_without_a_stack_is_found),
        cmocka_unit_test(a_crowd_that_is_larger_than_the_ring_is_left_to_the_join),
        cmocka_unit_test(only_the_latest_events_are_in_the_ring),
        cmocka_unit_test(events_that_want_no_stack_leave_the_ring_alone),
        cmocka_unit_test(a_part_is_of_what_the_thread_did_last),
        cmocka_unit_test(a_stack_too_many_is_of_what_wants_none),
        cmocka_unit_test(of_two_threads_each_has_what_it_did_last),
        cmocka_unit_test(what_has_no_thread_is_not_of_the_thread),
        cmocka_unit_test(a_kernel_part_or_a_stack_resolves_an_event),
        cmocka_unit_test(known_stacks_have_the_ids_of_the_table),
        cmocka_unit_test(new_stacks_are_numbered_in_the_order_of_the_pushes),
        cmocka_unit_test(known_and_new_stacks_may_take_turns),
        cmocka_unit_test(flushing_at_any_time_changes_nothing),
        cmocka_unit_test(references_go_to_the_rows_that_asked),
        cmocka_unit_test(rows_may_move_while_stacks_wait),
        cmocka_unit_test(an_empty_queue_may_be_flushed),
        cmocka_unit_test(merged_references_are_those_of_the_runs_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
