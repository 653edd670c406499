/*
 * Goal: a heap that is created while its handle has blocks, and an address that is outstanding in
 * two heaps, are counted; nothing that a sound recording can hold is.
 * Method: single events applied to one table, one rule a test; then random ones against a model
 * that compares every two blocks that are left, and every block with every creation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "block_check.h"

#define SECOND_HEAP (HEAP + 0x10000u)
#define THIRD_HEAP  (HEAP + 0x20000u)

static memory_event in_heap(u64 heap, memory_event event)
{
    event.heap = heap;
    return event;
}

/* Allocates a block of one size at the address, in the heap. */
static void allocate(block_check *f, u64 heap, i64 ticks, u64 address)
{
    block_check_apply(f, in_heap(heap, block_event(OP_ALLOC, ticks, address, 24)));
}

static void release(block_check *f, u64 heap, i64 ticks, u64 address)
{
    block_check_apply(f, in_heap(heap, block_event(OP_FREE, ticks, address, 0)));
}

/* Ends the run; are exactly these counted? */
static void assert_counts(block_check *f, u64 created, u64 shared)
{
    block_check_finish(f);
    assert_int_equal(block_check_diag(f, ETL_DIAG_create_over_live), created);
    assert_int_equal(block_check_diag(f, ETL_DIAG_address_in_two_heaps), shared);
}

/* --- one address in two heaps --- */

static void address_in_two_heaps_is_counted(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    allocate(f, SECOND_HEAP, T0 + 1, 0x100);
    assert_counts(f, 0, 1);
}

static void each_further_heap_is_counted(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    allocate(f, SECOND_HEAP, T0 + 1, 0x100);
    allocate(f, THIRD_HEAP, T0 + 2, 0x100);
    allocate(f, HEAP, T0 + 3, 0x200);
    allocate(f, THIRD_HEAP, T0 + 4, 0x300);
    assert_counts(f, 0, 2);
}

static void address_freed_in_the_first_heap_is_no_longer_shared(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    allocate(f, SECOND_HEAP, T0 + 1, 0x100);
    release(f, HEAP, T0 + 2, 0x100);
    assert_counts(f, 0, 0);
}

static void address_freed_in_the_second_heap_is_no_longer_shared(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    allocate(f, SECOND_HEAP, T0 + 1, 0x100);
    release(f, SECOND_HEAP, T0 + 2, 0x100);
    assert_counts(f, 0, 0);
}

static void address_that_moved_to_another_heap_is_not_shared(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    release(f, HEAP, T0 + 1, 0x100);
    allocate(f, SECOND_HEAP, T0 + 2, 0x100);
    assert_counts(f, 0, 0);
}

static void two_processes_may_have_an_address_each(void **state)
{
    block_check *const f = *state;
    const u32 other = engine_check_owner(&f->check, PID + 4, CHECK_START);
    memory_event event = in_heap(SECOND_HEAP, block_event(OP_ALLOC, T0 + 1, 0x100, 24));
    event.pid = PID + 4;
    allocate(f, HEAP, T0, 0x100);
    engine_check_apply(&f->check, &f->table, &event, other);
    assert_counts(f, 0, 0);
}

static void blocks_of_a_destroyed_heap_share_nothing(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 1);
    allocate(f, SECOND_HEAP, T0 + 2, 0x100);
    assert_counts(f, 0, 0);
}

static void blocks_of_an_ended_process_share_nothing(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    allocate(f, SECOND_HEAP, T0 + 1, 0x100);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 2, "a.exe", 0);
    assert_counts(f, 0, 0);
}

/* --- a heap that is created again --- */

static void blocks_before_a_creation_are_counted(void **state)
{
    block_check *const f = *state;
    engine_check_create(&f->check, PID, HEAP, T0);
    allocate(f, HEAP, T0 + 1, 0x100);
    allocate(f, HEAP, T0 + 2, 0x200);
    engine_check_create(&f->check, PID, HEAP, T0 + 3);
    allocate(f, HEAP, T0 + 4, 0x300);
    assert_counts(f, 2, 0);
}

static void a_heap_needs_no_first_creation(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_create(&f->check, PID, HEAP, T0 + 1);
    assert_counts(f, 1, 0);
}

static void freed_blocks_contradict_no_creation(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    release(f, HEAP, T0 + 1, 0x100);
    engine_check_create(&f->check, PID, HEAP, T0 + 2);
    assert_counts(f, 0, 0);
}

static void a_destroyed_heap_may_be_created_again(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 1);
    engine_check_create(&f->check, PID, HEAP, T0 + 1);
    allocate(f, HEAP, T0 + 2, 0x100);
    assert_counts(f, 0, 0);
}

static void only_the_second_destruction_was_seen(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_create(&f->check, PID, HEAP, T0 + 1);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 2);
    blocks_sweep(&f->table, &f->rules, T0 + 3, &f->check.out);
    assert_counts(f, 1, 0);
}

/* A coarse clock gives a creation and the allocations behind it one time. */
static void a_creation_at_the_time_of_the_allocation_is_before_it(void **state)
{
    block_check *const f = *state;
    engine_check_create(&f->check, PID, HEAP, T0);
    allocate(f, HEAP, T0, 0x100);
    assert_counts(f, 0, 0);
}

static void creations_of_other_heaps_and_processes_count_for_nothing(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_create(&f->check, PID, SECOND_HEAP, T0 + 1);
    engine_check_create(&f->check, PID, HEAP - 0x10000, T0 + 1);
    engine_check_create(&f->check, PID + 4, HEAP, T0 + 1);
    assert_counts(f, 0, 0);
}

static void a_process_that_ended_before_keeps_its_blocks(void **state)
{
    block_check *const f = *state;
    allocate(f, HEAP, T0, 0x100);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 1, "a.exe", 0);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, T0 + 2, "b.exe", 0);
    engine_check_create(&f->check, PID, HEAP, T0 + 3);
    assert_counts(f, 0, 0);
}

/* --- random events --- */

#define EVENTS    600u
#define HEAPS     5u
#define ADDRESSES 40u

typedef struct model {
    bool is_open[HEAPS][ADDRESSES];
    i64 since[HEAPS][ADDRESSES];
    i64 created[HEAPS]; /* the last time; 0: never */
} model;

/* Destroys, creates, allocates or frees. Blocks whose heap is created in between stay open. */
static void step(block_check *f, model *m, u64 *seed, i64 ticks)
{
    const u32 heap = engine_check_random(seed, HEAPS), place = engine_check_random(seed, ADDRESSES);
    const u64 handle = HEAP + 0x10000 * (u64)heap;
    const u32 kind = engine_check_random(seed, 60);
    if (kind == 0) {
        engine_check_destroy(&f->check, PID, handle, ticks);
        memset(m->is_open[heap], 0, sizeof m->is_open[heap]);
    } else if (kind == 1) {
        engine_check_create(&f->check, PID, handle, ticks);
        m->created[heap] = ticks;
    } else if (m->is_open[heap][place]) {
        release(f, handle, ticks, 0x1000 + 0x10 * (u64)place);
        m->is_open[heap][place] = false;
    } else {
        allocate(f, handle, ticks, 0x1000 + 0x10 * (u64)place);
        m->is_open[heap][place] = true;
        m->since[heap][place] = ticks;
    }
}

static u64 shared_in(const model *m)
{
    u64 shared = 0;
    for (u32 place = 0; place < ADDRESSES; place++) {
        u64 open = 0;
        for (u32 heap = 0; heap < HEAPS; heap++)
            open += m->is_open[heap][place];
        shared += open > 1 ? open - 1 : 0;
    }
    return shared;
}

static u64 created_over_in(const model *m)
{
    u64 over = 0;
    for (u32 heap = 0; heap < HEAPS; heap++) {
        for (u32 place = 0; place < ADDRESSES; place++)
            over += m->is_open[heap][place] && m->since[heap][place] < m->created[heap];
    }
    return over;
}

/* Blocks that were destroyed after a creation count as well, so only outstanding ones are
 * compared. */
static void random_events_count_as_in_the_model(void **state)
{
    (void)state;
    u64 seen_shared = 0, seen_over = 0;
    for (u64 seed = 1; seed <= 60; seed++) {
        void *opened = NULL;
        u64 random = seed;
        model m = { 0 };
        assert_int_equal(block_check_open(&opened), 0);
        block_check *const f = opened;
        for (u32 i = 0; i < EVENTS; i++)
            step(f, &m, &random, T0 + 10 * (i64)i);
        blocks_sweep(&f->table, &f->rules, T0 + 10 * (i64)EVENTS, &f->check.out);
        const u64 before = block_check_diag(f, ETL_DIAG_create_over_live);
        assert_counts(f, before + created_over_in(&m), shared_in(&m));
        seen_shared += shared_in(&m);
        seen_over += created_over_in(&m);
        block_check_close(&opened);
    }
    assert_true(seen_shared > 1000 && seen_over > 1000);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, block_check_open, block_check_close)
    const struct CMUnitTest tests[] = {
        RULE(address_in_two_heaps_is_counted),
        RULE(each_further_heap_is_counted),
        RULE(address_freed_in_the_first_heap_is_no_longer_shared),
        RULE(address_freed_in_the_second_heap_is_no_longer_shared),
        RULE(address_that_moved_to_another_heap_is_not_shared),
        RULE(two_processes_may_have_an_address_each),
        RULE(blocks_of_a_destroyed_heap_share_nothing),
        RULE(blocks_of_an_ended_process_share_nothing),
        RULE(blocks_before_a_creation_are_counted),
        RULE(a_heap_needs_no_first_creation),
        RULE(freed_blocks_contradict_no_creation),
        RULE(a_destroyed_heap_may_be_created_again),
        RULE(only_the_second_destruction_was_seen),
        RULE(a_creation_at_the_time_of_the_allocation_is_before_it),
        RULE(creations_of_other_heaps_and_processes_count_for_nothing),
        RULE(a_process_that_ended_before_keeps_its_blocks),
        cmocka_unit_test(random_events_count_as_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
