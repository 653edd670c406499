/*
 * Goal: blocks.c opens and closes heap blocks by the rules of blocks.h.
 * Method: single events applied to one table and the rows it puts out, one rule
 * a test; then random events against a model that keeps every block in one
 * array and looks at all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "block_check.h"

/* --- alloc and free --- */

static void free_closes_its_alloc(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_no_rows(f);
    block_check_apply(f, block_event(OP_FREE, T0 + 5, 0x100, 0));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 5));
    block_check_finish(f);
    block_check_no_rows(f);
}

static void block_never_freed_is_outstanding(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_finish(f);
    block_check_row(f, block_row(0x100, 24, T0, ETLHEAP_TICKS_NEVER));
}

static void address_reused_is_a_lifetime_each(void **state)
{
    block_check *const f = *state;
    for (i64 i = 0; i < 3; i++) {
        block_check_apply(f, block_event(OP_ALLOC, T0 + 10 * i, 0x100, (u64)(i + 1)));
        block_check_apply(f, block_event(OP_FREE, T0 + 10 * i + 5, 0x100, 0));
    }
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 1, T0, T0 + 5),
                                         block_row(0x100, 2, T0 + 10, T0 + 15),
                                         block_row(0x100, 3, T0 + 20, T0 + 25) },
                     3);
}

static void free_in_another_thread_closes_the_block(void **state)
{
    block_check *const f = *state;
    memory_event freed = block_event(OP_FREE, T0 + 5, 0x100, 0);
    freed.tid = OTHER;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, freed);
    block_check_row(f, block_row(0x100, 24, T0, T0 + 5));
}

static void free_of_an_unknown_block_is_counted_apart(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_FREE, T0, 0x100, 0));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 1, 0x100, 24));
    block_check_apply(f, block_event(OP_FREE, T0 + 2, 0x100, 0));
    block_check_apply(f, block_event(OP_FREE, T0 + 3, 0x100, 0));
    block_check_row(f, block_row(0x100, 24, T0 + 1, T0 + 2));
    assert_int_equal(block_check_unknown_frees(f), 2);
}

static void same_address_in_another_heap_is_another_block(void **state)
{
    block_check *const f = *state;
    memory_event other = block_event(OP_ALLOC, T0, 0x100, 8);
    other.heap = HEAP + 0x10000;
    block_check_apply(f, other);
    block_check_apply(f, block_event(OP_FREE, T0 + 1, 0x100, 0));
    block_check_no_rows(f);
    assert_int_equal(block_check_unknown_frees(f), 1);
}

static void same_address_in_another_process_is_another_block(void **state)
{
    block_check *const f = *state;
    const u32 second = engine_check_owner(&f->check, PID + 1, CHECK_START);
    const memory_event alloc = block_event(OP_ALLOC, T0, 0x100, 8);
    engine_check_apply(&f->check, &f->table, &alloc, second);
    block_check_apply(f, block_event(OP_FREE, T0 + 1, 0x100, 0));
    block_check_no_rows(f);
    block_check_finish(f);
    lifetime row = block_row(0x100, 8, T0, ETLHEAP_TICKS_NEVER);
    row.process = second;
    block_check_row(f, row);
}

static void calls_that_failed_and_frees_of_null_change_nothing(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_FREE, T0, 0, 0));
    block_check_apply(f, block_event(OP_ALLOC, T0, 0, 24));
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 1, 0, 24));
    block_check_apply(f, block_event(OP_REALLOC_SAME, T0 + 2, 0, 24));
    block_check_finish(f);
    block_check_no_rows(f);
    assert_int_equal(block_check_unknown_frees(f), 0);
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 0);
}

/* --- realloc --- */

static void moving_realloc_after_its_alloc_and_free_counts_once(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 10, 0x200, 48));
    block_check_apply(f, block_event(OP_FREE, T0 + 12, 0x100, 0));
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 14, 0x200, 48));
    block_check_apply(f, block_event(OP_REALLOC_OLD, T0 + 14, 0x100, 24));
    block_check_finish(f);
    block_check_rows(
        f,
        (const lifetime[]){ block_row(0x100, 24, T0, T0 + 12),
                            as_realloc(block_row(0x200, 48, T0 + 10, ETLHEAP_TICKS_NEVER)) },
        2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 0);
}

/* What is noted of a block comes before its end. */
static void summary_after_the_end_of_the_process_marks_nothing(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x200, 48));
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 5, "app.exe", 1);
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 6, 0x200, 48));
    block_check_finish(f);
    lifetime row = block_row(0x200, 48, T0, T0 + 5);
    row.free_type = ETLHEAP_FREE_PROCESS_EXIT;
    block_check_row(f, row);
}

static void moving_realloc_without_its_alloc_opens_the_new_block(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0, 0x200, 48));
    block_check_apply(f, block_event(OP_FREE, T0 + 9, 0x200, 0));
    block_check_row(f, as_realloc(block_row(0x200, 48, T0, T0 + 9)));
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 1);
}

static void moving_realloc_without_its_free_closes_the_old_block(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_REALLOC_OLD, T0 + 3, 0x100, 24));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 3));
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 1);
}

static void moving_realloc_over_a_block_of_another_size_displaces_it(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x200, 24));
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 5, 0x200, 48));
    block_check_finish(f);
    block_check_rows(
        f,
        (const lifetime[]){ block_row(0x200, 24, T0, T0 + 5),
                            as_realloc(block_row(0x200, 48, T0 + 5, ETLHEAP_TICKS_NEVER)) },
        2);
}

static void realloc_in_place_ends_one_lifetime_and_begins_another(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_REALLOC_SAME, T0 + 5, 0x100, 48));
    block_check_apply(f, block_event(OP_FREE, T0 + 9, 0x100, 0));
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, T0 + 5),
                                         as_realloc(block_row(0x100, 48, T0 + 5, T0 + 9)) },
                     2);
    assert_int_equal(block_check_unknown_frees(f), 0);
}

static void realloc_in_place_of_an_unknown_block_begins_one(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_REALLOC_SAME, T0, 0x100, 48));
    block_check_finish(f);
    block_check_row(f, as_realloc(block_row(0x100, 48, T0, ETLHEAP_TICKS_NEVER)));
    assert_int_equal(block_check_unknown_frees(f), 0);
}

/* --- events out of order across CPUs --- */

static void block_displaced_twice_keeps_the_newest_pair(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 1));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 2));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 10, 0x100, 3));
    block_check_row(f, block_row(0x100, 1, T0, T0 + 5));
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 12, 0x100, 0)));
    block_check_apply(f, block_event(OP_FREE, T0 + 13, 0x100, 0));
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 2, T0 + 5, T0 + 12),
                                         block_row(0x100, 3, T0 + 10, T0 + 13) },
                     2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 1);
}

static void displaced_block_that_nothing_freed_ended_when_displaced(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 48));
    block_check_finish(f);
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, T0 + 5),
                                         block_row(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER) },
                     2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 1);
}

static void places_of_displaced_blocks_are_used_again(void **state)
{
    block_check *const f = *state;
    for (i64 round = 0; round < 1000; round++) {
        for (u64 address = 0x100; address <= 0x300; address += 0x100) {
            block_check_apply(f, block_event(OP_ALLOC, T0 + round * 100, address, 8));
            block_check_apply(f, block_event(OP_ALLOC, T0 + round * 100 + 1, address, 8));
            block_check_apply(
                f,
                block_event_by(OTHER, 1, block_event(OP_FREE, T0 + round * 100 + 2, address, 0)));
            block_check_apply(f, block_event(OP_FREE, T0 + round * 100 + 3, address, 0));
        }
    }
    assert_int_equal(f->check.out.rows.count, 6000);
    assert_in_range(f->table.displaced.count, 1, 3);
    assert_int_equal(f->table.open.count, 0);
}

/* --- ends without an event --- */

static lifetime ended(lifetime row, i64 ticks, etlheap_free_type type)
{
    row.free_ticks = ticks;
    row.free_type = (u8)type;
    return row;
}

static void destroying_a_heap_ends_its_blocks_alone(void **state)
{
    block_check *const f = *state;
    memory_event elsewhere = block_event(OP_ALLOC, T0, 0x300, 8);
    elsewhere.heap = HEAP + 0x10000;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 1, 0x200, 24));
    block_check_apply(f, elsewhere);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    blocks_sweep(&f->table, &f->rules, T0 + 50, &f->check.out);
    block_check_no_rows(f);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    block_check_rows(
        f,
        (const lifetime[]){
            ended(block_row(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
            ended(block_row(0x200, 24, T0 + 1, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY) },
        2);
    block_check_finish(f);
    lifetime alive = block_row(0x300, 8, T0, ETLHEAP_TICKS_NEVER);
    alive.heap = HEAP + 0x10000;
    block_check_row(f, alive);
}

/* Taking a block out of the table moves others to its place. */
static void one_sweep_ends_all_the_dead_and_no_other(void **state)
{
    block_check *const f = *state;
    for (u64 i = 0; i < 2000; i++) {
        memory_event event = block_event(OP_ALLOC, T0, 0x100 + 16 * i, 8);
        event.heap = i % 3 == 0 ? HEAP + 0x10000 : HEAP;
        block_check_apply(f, event);
    }
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 1333);
    assert_int_equal(f->table.open.count, 667);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 1333);
}

/* More heaps than a sweep remembers, two that share a place among them. */
static void a_sweep_tells_many_heaps_apart(void **state)
{
    block_check *const f = *state;
    u32 dead = 0;
    for (u32 i = 0; i < 3000; i++) {
        memory_event event = block_event(OP_ALLOC, T0 + i, 0x100 + 16 * i, 8);
        event.heap = HEAP + i % 1000 * 0x10000u;
        block_check_apply(f, event);
        dead += i % 1000 % 4 == 0 && i < 2000;
    }
    for (u32 i = 0; i < 1000; i += 4) /* after two of its three blocks were allocated */
        engine_check_destroy(&f->check, PID, HEAP + i * 0x10000u, T0 + 1999);
    blocks_sweep(&f->table, &f->rules, T0 + 5000, &f->check.out);
    assert_int_equal(f->check.out.rows.count, dead);
    for (u32 i = 0; i < dead; i++) {
        assert_int_equal((f->check.out.rows.at[i].heap - HEAP) / 0x10000 % 4, 0);
        assert_true(f->check.out.rows.at[i].alloc_ticks < T0 + 2000);
    }
    assert_int_equal(f->table.open.count, 3000 - dead);
}

/* The handle is used again before any sweep. */
static void block_of_a_destroyed_heap_is_not_the_new_heaps(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x200, 24));
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    block_check_apply(f, block_event(OP_ALLOC, T0 + 60, 0x100, 48));
    block_check_apply(f, block_event(OP_FREE, T0 + 61, 0x200, 0));
    block_check_rows(f,
                     (const lifetime[]){
                         ended(block_row(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
                         ended(block_row(0x200, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY) },
                     2);
    assert_int_equal(block_check_unknown_frees(f), 1);
    block_check_apply(f, block_event(OP_FREE, T0 + 70, 0x100, 0));
    block_check_row(f, block_row(0x100, 48, T0 + 60, T0 + 70));
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 0);
}

static void each_block_ends_with_the_destruction_after_it(void **state)
{
    block_check *const f = *state;
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 150);
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 8));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 100, 0x200, 8));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 200, 0x300, 8));
    block_check_finish(f);
    block_check_rows(
        f,
        (const lifetime[]){
            ended(block_row(0x100, 8, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
            ended(block_row(0x200, 8, T0 + 100, 0), T0 + 150, ETLHEAP_FREE_HEAP_DESTROY),
            block_row(0x300, 8, T0 + 200, ETLHEAP_TICKS_NEVER) },
        3);
}

static void end_of_the_process_ends_its_blocks_after_the_late_frees(void **state)
{
    block_check *const f = *state;
    const i64 end = T0 + 50;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x200, 24));
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, end, "app.exe", 1);
    blocks_sweep(&f->table, &f->rules, end + 2 * CHECK_MS, &f->check.out);
    block_check_no_rows(f);
    block_check_apply(f, block_event(OP_FREE, end + 2 * CHECK_MS, 0x200, 0));
    block_check_row(f, block_row(0x200, 24, T0, end + 2 * CHECK_MS));
    blocks_sweep(&f->table, &f->rules, end + 2 * CHECK_MS + 1, &f->check.out);
    block_check_row(f, ended(block_row(0x100, 24, T0, 0), end, ETLHEAP_FREE_PROCESS_EXIT));
    assert_int_equal(f->table.open.count, 0);
}

static void allocation_after_the_end_of_its_process_has_no_length(void **state)
{
    block_check *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0, "app.exe", 1);
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 24));
    block_check_finish(f);
    block_check_row(f, ended(block_row(0x100, 24, T0 + 5, 0), T0 + 5, ETLHEAP_FREE_PROCESS_EXIT));
}

static void destruction_of_the_heap_comes_before_the_end_of_the_process(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 90, "app.exe", 1);
    block_check_finish(f);
    block_check_row(f, ended(block_row(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY));
}

/* A hostile file may have any time, also one after another that is far less. */
static void any_two_times_can_be_compared(void **state)
{
    block_check *const f = *state;
    static const i64 times[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX };
    for (size_t a = 0; a < ETL_COUNT_OF(times); a++) {
        for (size_t b = 0; b < ETL_COUNT_OF(times); b++) {
            memory_event old = block_event(OP_REALLOC_OLD, times[b], 0x100, 1);
            old.tid = OTHER;
            block_check_apply(f, block_event(OP_ALLOC, times[a], 0x100, 1));
            block_check_apply(f, block_event(OP_ALLOC, times[b], 0x100, 1));
            block_check_apply(f, block_event(OP_FREE, times[a], 0x100, 0));
            block_check_apply(f, old);
            blocks_sweep(&f->table, &f->rules, times[b], &f->check.out);
            block_check_apply(f, block_event(OP_FREE, times[b], 0x100, 0));
        }
    }
    block_check_finish(f);
    for (size_t i = 0; i < f->check.out.rows.count; i++)
        assert_true(f->check.out.rows.at[i].free_ticks >= f->check.out.rows.at[i].alloc_ticks);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, block_check_open, block_check_close)
    const struct CMUnitTest tests[] = {
        RULE(free_closes_its_alloc),
        RULE(block_never_freed_is_outstanding),
        RULE(address_reused_is_a_lifetime_each),
        RULE(free_in_another_thread_closes_the_block),
        RULE(free_of_an_unknown_block_is_counted_apart),
        RULE(same_address_in_another_heap_is_another_block),
        RULE(same_address_in_another_process_is_another_block),
        RULE(calls_that_failed_and_frees_of_null_change_nothing),
        RULE(moving_realloc_after_its_alloc_and_free_counts_once),
        RULE(summary_after_the_end_of_the_process_marks_nothing),
        RULE(moving_realloc_without_its_alloc_opens_the_new_block),
        RULE(moving_realloc_without_its_free_closes_the_old_block),
        RULE(moving_realloc_over_a_block_of_another_size_displaces_it),
        RULE(realloc_in_place_ends_one_lifetime_and_begins_another),
        RULE(realloc_in_place_of_an_unknown_block_begins_one),
        RULE(block_displaced_twice_keeps_the_newest_pair),
        RULE(displaced_block_that_nothing_freed_ended_when_displaced),
        RULE(places_of_displaced_blocks_are_used_again),
        RULE(destroying_a_heap_ends_its_blocks_alone),
        RULE(one_sweep_ends_all_the_dead_and_no_other),
        RULE(a_sweep_tells_many_heaps_apart),
        RULE(block_of_a_destroyed_heap_is_not_the_new_heaps),
        RULE(each_block_ends_with_the_destruction_after_it),
        RULE(end_of_the_process_ends_its_blocks_after_the_late_frees),
        RULE(allocation_after_the_end_of_its_process_has_no_length),
        RULE(destruction_of_the_heap_comes_before_the_end_of_the_process),
        RULE(any_two_times_can_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
