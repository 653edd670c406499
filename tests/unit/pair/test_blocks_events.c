/*
 * Goal: with an event list, blocks.c notes every opening, end and realloc once, at the place of
 * the event that caused it, with what the event list needs to know of the block; sizes of
 * 4 GiB and more come back exactly.
 * Method: single events applied to one table whose output has a shard event list, and what
 * the event list was told after each. Without an event list the rows are compared. A vector that
 * claims to be as long as any can be stands for one that finds no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "block_check.h"

#define GIB ((u64)1 << 30)

static shard_events open_event_list(void)
{
    return (shard_events){ .from_ticks = INT64_MIN, .to_ticks = INT64_MAX, .keeps_events = true };
}

static void close_event_list(block_check *f, shard_events *events)
{
    f->check.out.events = NULL;
    ETLHEAP_VECTOR_FREE(&events->late);
    ETLHEAP_VECTOR_FREE(&events->reallocs);
    ETLHEAP_VECTOR_FREE(&events->survivors);
    ETLHEAP_VECTOR_FREE(&events->unsure);
}

/* Applies an event; what was noted at its own place. */
static event_entry entry_after(block_check *f, memory_event event)
{
    f->check.out.events->entry = 0;
    block_check_apply(f, event);
    assert_false(f->check.out.out_of_memory);
    return f->check.out.events->entry;
}

static void assert_entry(event_entry entry, entry_kind kind, u64 size)
{
    assert_int_equal(entry_kind_of(entry), kind);
    assert_int_equal(entry_size_of(entry), size);
}

static void opening_and_end_are_noted_at_their_events(void **state)
{
    block_check *const f = *state;
    shard_events events = open_event_list();
    f->check.out.events = &events;
    const event_entry opened = entry_after(f, block_event(OP_ALLOC, T0, 0x100, 24));
    assert_entry(opened, ENTRY_ALLOC, 24);
    assert_int_equal(events.partner, 0);
    assert_entry(entry_after(f, block_event(OP_ALLOC, T0 + 1, 0x200, 32)), ENTRY_ALLOC, 32);
    const event_entry ended = entry_after(f, block_event(OP_FREE, T0 + 5, 0x100, 0));
    assert_entry(ended, ENTRY_FREE, 24);
    assert_int_equal(events.partner, 0);
    assert_int_equal(entry_origin_of(ended), entry_origin_of(opened));
    assert_int_equal(events.late.count, 0);
    block_check_no_rows(f);
    close_event_list(f, &events);
}

static void realloc_marks_its_block_once(void **state)
{
    block_check *const f = *state;
    shard_events events = open_event_list();
    f->check.out.events = &events;
    (void)entry_after(f, block_event(OP_ALLOC, T0, 0x100, 24));
    assert_entry(entry_after(f, block_event(OP_REALLOC_NEW, T0 + 1, 0x100, 24)), ENTRY_REALLOC, 24);
    assert_int_equal(entry_after(f, block_event(OP_REALLOC_NEW, T0 + 2, 0x100, 24)), 0);
    assert_int_equal(events.reallocs.count, 1);
    assert_int_equal(events.reallocs.at[0].rank, 1);
    assert_int_equal(events.reallocs.at[0].block, 0);
    const event_entry ended = entry_after(f, block_event(OP_FREE, T0 + 3, 0x100, 0));
    assert_int_equal(ended & ENTRY_IS_REALLOC, ENTRY_IS_REALLOC);
    close_event_list(f, &events);
}

/* An event as ordering leaves it; the stack of the block it opens is open. */
static void apply_unsure(block_check *f, u64 address, bool stack_is_open)
{
    const u32 heap = origins_add_heap(&f->check.origins, f->process, HEAP);
    const u32 owner = origins_add_owner(&f->check.origins, &(owner_row){ T0, heap, 0 });
    const u32 origin = origins_add(&f->check.origins, (stack_ref)address, owner);
    assert_true(heap != 0 && owner != 0 && origin != 0);
    ordered_event event = { .ticks = T0,
                            .address = address,
                            .size = 8,
                            .heap = heap,
                            .origin = origin,
                            .tid = TID,
                            .rank = f->check.next_rank++,
                            .op = OP_ALLOC,
                            .stack_is_open = stack_is_open };
    blocks_prepare(&f->table, &event);
    blocks_apply(&f->table, &f->rules, &event, &f->check.out);
}

/* They are counted, to say how many stacks came to nothing. */
static void blocks_whose_stack_is_open_are_told_and_no_others(void **state)
{
    block_check *const f = *state;
    shard_events events = open_event_list();
    f->check.out.events = &events;
    apply_unsure(f, 0x100, false);
    apply_unsure(f, 0x200, true);
    assert_int_equal(events.unsure.count, 1);
    const u32 origin = events.unsure.at[0];
    assert_int_equal(f->check.origins.origins.at[origin - 1].stack, 0x200);
    close_event_list(f, &events);
}

/* An allocation with a stack of its own: a stack's number takes memory. */
static memory_event huge_event(memory_op op, i64 ticks, u64 address, u64 size)
{
    memory_event event = block_event(op, ticks, address, size);
    event.stack = 1;
    return event;
}

static lifetime huge_row(u64 address, u64 size, i64 alloc_ticks, i64 free_ticks)
{
    lifetime row = block_row(address, size, alloc_ticks, free_ticks);
    row.stack = 1;
    return row;
}

static void every_huge_size_is_its_own(void **state)
{
    block_check *const f = *state;
    enum { BLOCKS = 7 };
    static const u32 order[BLOCKS] = { 3, 6, 0, 5, 1, 4, 2 };
    for (u32 i = 0; i < BLOCKS; i++)
        block_check_apply(f, huge_event(OP_ALLOC, T0 + i, 0x100 * (i + 1), (4 + i) * GIB));
    for (u32 i = 0; i < BLOCKS; i++) {
        const u32 n = order[i];
        block_check_apply(f, block_event(OP_FREE, T0 + 100 + i, 0x100 * (n + 1), 0));
        block_check_row(f, huge_row(0x100 * (n + 1), (4 + n) * GIB, T0 + n, T0 + 100 + i));
    }
}

/* One byte below, and at, the size that a block does not hold itself. */
static void sizes_around_4_gib_are_exact(void **state)
{
    block_check *const f = *state;
    static const u64 sizes[] = { UINT32_MAX - (u64)1, UINT32_MAX, 4 * GIB, 4 * GIB + 1 };
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++)
        block_check_apply(f, huge_event(OP_ALLOC, T0 + i, 0x100 * (i + 1), sizes[i]));
    assert_int_equal(f->table.big.count, 3);
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++) {
        block_check_apply(f, block_event(OP_FREE, T0 + 100, 0x100 * (i + 1), 0));
        block_check_row(f, huge_row(0x100 * (i + 1), sizes[i], T0 + i, T0 + 100));
    }
}

static void huge_block_that_was_displaced_keeps_its_size(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, huge_event(OP_ALLOC, T0, 0x100, 5 * GIB));
    block_check_apply(f, huge_event(OP_ALLOC, T0 + 1, 0x100, 6 * GIB));
    block_check_finish(f);
    block_check_rows(f,
                     (const lifetime[]){ huge_row(0x100, 5 * GIB, T0, T0 + 1),
                                         huge_row(0x100, 6 * GIB, T0 + 1, ETLHEAP_TICKS_NEVER) },
                     2);
}

static void all_that_waited_too_long_are_decided_at_once(void **state)
{
    block_check *const f = *state;
    enum { PAIRS = 5 };
    lifetime rows[PAIRS];
    for (u32 i = 0; i < PAIRS; i++) {
        const u64 address = 0x100 * (i + 1);
        block_check_apply(f, block_event(OP_ALLOC, T0, address, 24));
        block_check_apply(f, block_event(OP_ALLOC, T0 + 5, address, 48));
        rows[i] = block_row(address, 24, T0, T0 + 5);
    }
    blocks_decide(&f->table, &f->rules, T0 + 5 + CHECK_PATIENCE, &f->check.out);
    block_check_no_rows(f);
    blocks_decide(&f->table, &f->rules, T0 + 6 + CHECK_PATIENCE, &f->check.out);
    block_check_rows(f, rows, PAIRS);
    assert_int_equal(f->table.displaced_count, 0);
}

/* --- without memory --- */

/* A vector that cannot grow; what it holds is kept elsewhere meanwhile. */
#define FILL_UP(vector) ((vector)->count = (vector)->capacity = SIZE_MAX / 2 + 1)
#define EMPTY(vector)   ((vector)->count = (vector)->capacity = 0)

static bool take_failure(block_check *f)
{
    const bool failed = f->check.out.out_of_memory;
    f->check.out.out_of_memory = false;
    return failed;
}

static void notes_that_find_no_memory_are_told(void **state)
{
    block_check *const f = *state;
    shard_events events = open_event_list();
    f->check.out.events = &events;
    apply_unsure(f, 0x100, false);
    assert_false(take_failure(f));
    FILL_UP(&events.unsure);
    apply_unsure(f, 0x200, true);
    assert_true(take_failure(f));
    EMPTY(&events.unsure);
    FILL_UP(&events.reallocs);
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x300, 24));
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 1, 0x300, 24));
    assert_true(take_failure(f));
    EMPTY(&events.reallocs);
    FILL_UP(&events.late);
    block_check_apply(f, huge_event(OP_ALLOC, T0, 0x400, 5 * GIB));
    assert_true(take_failure(f));
    EMPTY(&events.late);
    close_event_list(f, &events);
}

static void end_that_finds_no_memory_is_told(void **state)
{
    block_check *const f = *state;
    shard_events events = open_event_list();
    f->check.out.events = &events;
    block_check_apply(f, huge_event(OP_ALLOC, T0, 0x400, 3 * GIB));
    EMPTY(&events.late);
    free(events.late.at);
    events.late.at = NULL;
    assert_false(take_failure(f));
    FILL_UP(&events.late);
    block_check_apply(f, block_event(OP_FREE, T0 + 1, 0x400, 0));
    assert_true(take_failure(f));
    EMPTY(&events.late);
    block_check_apply(f, block_event(OP_ALLOC, T0 + 2, 0x500, 8));
    FILL_UP(&events.survivors);
    block_check_finish(f);
    assert_true(take_failure(f));
    EMPTY(&events.survivors);
    close_event_list(f, &events);
}

/* 2^31 - 2 displaced blocks are the most that a block can name. */
static void displaced_block_that_finds_no_place_is_told(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    FILL_UP(&f->table.displaced);
    f->table.displaced.count = 0x7FFFFFFE;
    block_check_apply(f, block_event(OP_ALLOC, T0 + 1, 0x100, 48));
    assert_true(take_failure(f));
    FILL_UP(&f->table.displaced);
    block_check_apply(f, block_event(OP_ALLOC, T0 + 1, 0x100, 48));
    assert_true(take_failure(f));
    EMPTY(&f->table.displaced);
    block_check_apply(f, block_event(OP_FREE, T0 + 2, 0x100, 0));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 2));
}

static void huge_size_that_finds_no_place_is_told(void **state)
{
    block_check *const f = *state;
    FILL_UP(&f->table.big);
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    assert_false(take_failure(f));
    block_check_apply(f, huge_event(OP_ALLOC, T0, 0x200, 5 * GIB));
    assert_true(take_failure(f));
    EMPTY(&f->table.big);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, block_check_open, block_check_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(opening_and_end_are_noted_at_their_events),
        TEST(realloc_marks_its_block_once),
        TEST(blocks_whose_stack_is_open_are_told_and_no_others),
        TEST(every_huge_size_is_its_own),
        TEST(sizes_around_4_gib_are_exact),
        TEST(huge_block_that_was_displaced_keeps_its_size),
        TEST(all_that_waited_too_long_are_decided_at_once),
        TEST(notes_that_find_no_memory_are_told),
        TEST(end_that_finds_no_memory_is_told),
        TEST(displaced_block_that_finds_no_place_is_told),
        TEST(huge_size_that_finds_no_place_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
