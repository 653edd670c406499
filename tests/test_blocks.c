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

#include "engine/blocks.h"
#include "engine_check.h"

#define PID   42u
#define TID   7u
#define OTHER 8u /* another thread */
#define HEAP  0x1F0000u
#define T0    (CHECK_START + 1000)

typedef struct fixture {
    engine_check check;
    block_table table;
    block_rules rules;
    u32 process;
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->rules = engine_check_rules(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    blocks_free(&f->table);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

static memory_event event_of(memory_op op, i64 ticks, u64 address, u64 size)
{
    return (memory_event){ .ticks = ticks,
                           .op = (u8)op,
                           .address = address,
                           .size = size,
                           .heap = HEAP,
                           .pid = PID,
                           .tid = TID,
                           .stack = (stack_ref)size };
}

static void apply(fixture *f, memory_event event)
{
    engine_check_apply(&f->check, &f->table, &event, f->process);
}

/* A row of the fixture's process, heap and thread; its stack is its size. */
static lifetime row_of(u64 address, u64 size, i64 alloc_ticks, i64 free_ticks)
{
    return (lifetime){ .alloc_ticks = alloc_ticks,
                       .free_ticks = free_ticks,
                       .address = address,
                       .size = size,
                       .heap = HEAP,
                       .process = 1,
                       .stack = (stack_ref)size,
                       .thread = TID,
                       .kind = ETLHEAP_KIND_HEAP,
                       .free_type = free_ticks == ETLHEAP_TICKS_NEVER ? ETLHEAP_FREE_NONE
                                                                      : ETLHEAP_FREE_FREE };
}

static void assert_rows(fixture *f, const lifetime *rows, size_t count)
{
    engine_check_rows(&f->check, rows, count);
}

static void assert_row(fixture *f, lifetime row)
{
    assert_rows(f, &row, 1);
}

static void assert_no_rows(fixture *f)
{
    assert_rows(f, NULL, 0);
}

static void finish(fixture *f)
{
    blocks_finish(&f->table, &f->rules, &f->check.out);
}

static u64 unknown_frees(const fixture *f)
{
    return f->check.out.counts.count == 0
               ? 0
               : f->check.out.counts.at[f->process - 1].free_without_alloc[ETLHEAP_KIND_HEAP];
}

/* --- alloc and free --- */

static void free_closes_its_alloc(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    assert_no_rows(f);
    apply(f, event_of(OP_FREE, T0 + 5, 0x100, 0));
    assert_row(f, row_of(0x100, 24, T0, T0 + 5));
    finish(f);
    assert_no_rows(f);
}

static void block_never_freed_is_outstanding(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    finish(f);
    assert_row(f, row_of(0x100, 24, T0, ETLHEAP_TICKS_NEVER));
}

static void address_reused_is_a_lifetime_each(void **state)
{
    fixture *const f = *state;
    for (i64 i = 0; i < 3; i++) {
        apply(f, event_of(OP_ALLOC, T0 + 10 * i, 0x100, (u64)(i + 1)));
        apply(f, event_of(OP_FREE, T0 + 10 * i + 5, 0x100, 0));
    }
    assert_rows(f,
                (const lifetime[]){ row_of(0x100, 1, T0, T0 + 5),
                                    row_of(0x100, 2, T0 + 10, T0 + 15),
                                    row_of(0x100, 3, T0 + 20, T0 + 25) },
                3);
}

static void free_in_another_thread_closes_the_block(void **state)
{
    fixture *const f = *state;
    memory_event freed = event_of(OP_FREE, T0 + 5, 0x100, 0);
    freed.tid = OTHER;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, freed);
    assert_row(f, row_of(0x100, 24, T0, T0 + 5));
}

static void free_of_an_unknown_block_is_counted_apart(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_FREE, T0, 0x100, 0));
    apply(f, event_of(OP_ALLOC, T0 + 1, 0x100, 24));
    apply(f, event_of(OP_FREE, T0 + 2, 0x100, 0));
    apply(f, event_of(OP_FREE, T0 + 3, 0x100, 0));
    assert_row(f, row_of(0x100, 24, T0 + 1, T0 + 2));
    assert_int_equal(unknown_frees(f), 2);
}

static void same_address_in_another_heap_is_another_block(void **state)
{
    fixture *const f = *state;
    memory_event other = event_of(OP_ALLOC, T0, 0x100, 8);
    other.heap = HEAP + 0x10000;
    apply(f, other);
    apply(f, event_of(OP_FREE, T0 + 1, 0x100, 0));
    assert_no_rows(f);
    assert_int_equal(unknown_frees(f), 1);
}

static void same_address_in_another_process_is_another_block(void **state)
{
    fixture *const f = *state;
    const u32 second = engine_check_owner(&f->check, PID + 1, CHECK_START);
    const memory_event alloc = event_of(OP_ALLOC, T0, 0x100, 8);
    engine_check_apply(&f->check, &f->table, &alloc, second);
    apply(f, event_of(OP_FREE, T0 + 1, 0x100, 0));
    assert_no_rows(f);
    finish(f);
    lifetime row = row_of(0x100, 8, T0, ETLHEAP_TICKS_NEVER);
    row.process = second;
    assert_row(f, row);
}

static void calls_that_failed_and_frees_of_null_change_nothing(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_FREE, T0, 0, 0));
    apply(f, event_of(OP_ALLOC, T0, 0, 24));
    apply(f, event_of(OP_REALLOC_NEW, T0 + 1, 0, 24));
    apply(f, event_of(OP_REALLOC_SAME, T0 + 2, 0, 24));
    finish(f);
    assert_no_rows(f);
    assert_int_equal(unknown_frees(f), 0);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_realloc_synthesized), 0);
}

/* --- realloc --- */

static lifetime as_realloc(lifetime row)
{
    row.is_realloc = true;
    return row;
}

static void moving_realloc_after_its_alloc_and_free_counts_once(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 10, 0x200, 48));
    apply(f, event_of(OP_FREE, T0 + 12, 0x100, 0));
    apply(f, event_of(OP_REALLOC_NEW, T0 + 14, 0x200, 48));
    apply(f, event_of(OP_REALLOC_OLD, T0 + 14, 0x100, 24));
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(0x100, 24, T0, T0 + 12),
                                    as_realloc(row_of(0x200, 48, T0 + 10, ETLHEAP_TICKS_NEVER)) },
                2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_realloc_synthesized), 0);
}

static void moving_realloc_without_its_alloc_opens_the_new_block(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_REALLOC_NEW, T0, 0x200, 48));
    apply(f, event_of(OP_FREE, T0 + 9, 0x200, 0));
    assert_row(f, as_realloc(row_of(0x200, 48, T0, T0 + 9)));
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_realloc_synthesized), 1);
}

static void moving_realloc_without_its_free_closes_the_old_block(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_REALLOC_OLD, T0 + 3, 0x100, 24));
    assert_row(f, row_of(0x100, 24, T0, T0 + 3));
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_realloc_synthesized), 1);
}

/* Another thread was given the old address before the summary was logged. */
static void moving_realloc_leaves_a_block_another_thread_got_meanwhile(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    memory_event old = event_of(OP_REALLOC_OLD, T0 + CHECK_MS, 0x100, 24);
    old.tid = OTHER;
    apply(f, old);
    finish(f);
    assert_row(f, row_of(0x100, 24, T0, ETLHEAP_TICKS_NEVER));
}

static void moving_realloc_closes_an_old_block_of_another_thread(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    memory_event old = event_of(OP_REALLOC_OLD, T0 + CHECK_MS + 1, 0x100, 24);
    old.tid = OTHER;
    apply(f, old);
    assert_row(f, row_of(0x100, 24, T0, T0 + CHECK_MS + 1));
}

static void moving_realloc_over_a_block_of_another_size_displaces_it(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x200, 24));
    apply(f, event_of(OP_REALLOC_NEW, T0 + 5, 0x200, 48));
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(0x200, 24, T0, T0 + 5),
                                    as_realloc(row_of(0x200, 48, T0 + 5, ETLHEAP_TICKS_NEVER)) },
                2);
}

static void realloc_in_place_ends_one_lifetime_and_begins_another(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_REALLOC_SAME, T0 + 5, 0x100, 48));
    apply(f, event_of(OP_FREE, T0 + 9, 0x100, 0));
    assert_rows(f,
                (const lifetime[]){ row_of(0x100, 24, T0, T0 + 5),
                                    as_realloc(row_of(0x100, 48, T0 + 5, T0 + 9)) },
                2);
    assert_int_equal(unknown_frees(f), 0);
}

static void realloc_in_place_of_an_unknown_block_begins_one(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_REALLOC_SAME, T0, 0x100, 48));
    finish(f);
    assert_row(f, as_realloc(row_of(0x100, 48, T0, ETLHEAP_TICKS_NEVER)));
    assert_int_equal(unknown_frees(f), 0);
}

/* --- events out of order across CPUs --- */

static void free_within_a_millisecond_closes_the_displaced_block(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 500, 0x100, 48));
    apply(f, event_of(OP_FREE, T0 + 500 + CHECK_MS, 0x100, 0));
    assert_row(f, row_of(0x100, 24, T0, T0 + 500 + CHECK_MS));
    finish(f);
    assert_row(f, row_of(0x100, 48, T0 + 500, ETLHEAP_TICKS_NEVER));
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_alloc_over_live), 0);
}

static void second_free_closes_the_block_that_displaced(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 5, 0x100, 48));
    apply(f, event_of(OP_FREE, T0 + 7, 0x100, 0));
    apply(f, event_of(OP_FREE, T0 + 9, 0x100, 0));
    assert_rows(
        f, (const lifetime[]){ row_of(0x100, 24, T0, T0 + 7), row_of(0x100, 48, T0 + 5, T0 + 9) },
        2);
    assert_int_equal(unknown_frees(f), 0);
}

static void later_free_closes_the_newer_block_and_the_displaced_ended_before(void **state)
{
    fixture *const f = *state;
    const i64 late = T0 + 5 + CHECK_MS + 1;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 5, 0x100, 48));
    apply(f, event_of(OP_FREE, late, 0x100, 0));
    assert_rows(
        f, (const lifetime[]){ row_of(0x100, 24, T0, T0 + 5), row_of(0x100, 48, T0 + 5, late) }, 2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_alloc_over_live), 1);
}

static void block_displaced_twice_keeps_the_newest_pair(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 1));
    apply(f, event_of(OP_ALLOC, T0 + 5, 0x100, 2));
    apply(f, event_of(OP_ALLOC, T0 + 10, 0x100, 3));
    assert_row(f, row_of(0x100, 1, T0, T0 + 5));
    apply(f, event_of(OP_FREE, T0 + 12, 0x100, 0));
    assert_row(f, row_of(0x100, 2, T0 + 5, T0 + 12));
    finish(f);
    assert_row(f, row_of(0x100, 3, T0 + 10, ETLHEAP_TICKS_NEVER));
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_alloc_over_live), 1);
}

static void displaced_block_that_nothing_freed_ended_when_displaced(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 5, 0x100, 48));
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(0x100, 24, T0, T0 + 5),
                                    row_of(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER) },
                2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_alloc_over_live), 1);
}

static void places_of_displaced_blocks_are_used_again(void **state)
{
    fixture *const f = *state;
    for (i64 round = 0; round < 1000; round++) {
        for (u64 address = 0x100; address <= 0x300; address += 0x100) {
            apply(f, event_of(OP_ALLOC, T0 + round * 100, address, 8));
            apply(f, event_of(OP_ALLOC, T0 + round * 100 + 1, address, 8));
            apply(f, event_of(OP_FREE, T0 + round * 100 + 2, address, 0));
            apply(f, event_of(OP_FREE, T0 + round * 100 + 3, address, 0));
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
    fixture *const f = *state;
    memory_event elsewhere = event_of(OP_ALLOC, T0, 0x300, 8);
    elsewhere.heap = HEAP + 0x10000;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0 + 1, 0x200, 24));
    apply(f, elsewhere);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    blocks_sweep(&f->table, &f->rules, T0 + 50, &f->check.out);
    assert_no_rows(f);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    assert_rows(f,
                (const lifetime[]){
                    ended(row_of(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
                    ended(row_of(0x200, 24, T0 + 1, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY) },
                2);
    finish(f);
    lifetime alive = row_of(0x300, 8, T0, ETLHEAP_TICKS_NEVER);
    alive.heap = HEAP + 0x10000;
    assert_row(f, alive);
}

/* Taking a block out of the table moves others to its place. */
static void one_sweep_ends_all_the_dead_and_no_other(void **state)
{
    fixture *const f = *state;
    for (u64 i = 0; i < 2000; i++) {
        memory_event event = event_of(OP_ALLOC, T0, 0x100 + 16 * i, 8);
        event.heap = i % 3 == 0 ? HEAP + 0x10000 : HEAP;
        apply(f, event);
    }
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 1333);
    assert_int_equal(f->table.open.count, 667);
    blocks_sweep(&f->table, &f->rules, T0 + 51, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 1333);
}

/* The handle is used again before any sweep. */
static void block_of_a_destroyed_heap_is_not_the_new_heaps(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0, 0x200, 24));
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    apply(f, event_of(OP_ALLOC, T0 + 60, 0x100, 48));
    apply(f, event_of(OP_FREE, T0 + 61, 0x200, 0));
    assert_rows(
        f,
        (const lifetime[]){ ended(row_of(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
                            ended(row_of(0x200, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY) },
        2);
    assert_int_equal(unknown_frees(f), 1);
    apply(f, event_of(OP_FREE, T0 + 70, 0x100, 0));
    assert_row(f, row_of(0x100, 48, T0 + 60, T0 + 70));
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_alloc_over_live), 0);
}

static void each_block_ends_with_the_destruction_after_it(void **state)
{
    fixture *const f = *state;
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 150);
    apply(f, event_of(OP_ALLOC, T0, 0x100, 8));
    apply(f, event_of(OP_ALLOC, T0 + 100, 0x200, 8));
    apply(f, event_of(OP_ALLOC, T0 + 200, 0x300, 8));
    finish(f);
    assert_rows(f,
                (const lifetime[]){
                    ended(row_of(0x100, 8, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY),
                    ended(row_of(0x200, 8, T0 + 100, 0), T0 + 150, ETLHEAP_FREE_HEAP_DESTROY),
                    row_of(0x300, 8, T0 + 200, ETLHEAP_TICKS_NEVER) },
                3);
}

static void end_of_the_process_ends_its_blocks_after_the_late_frees(void **state)
{
    fixture *const f = *state;
    const i64 end = T0 + 50;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    apply(f, event_of(OP_ALLOC, T0, 0x200, 24));
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, end, "app.exe", 1);
    blocks_sweep(&f->table, &f->rules, end + 2 * CHECK_MS, &f->check.out);
    assert_no_rows(f);
    apply(f, event_of(OP_FREE, end + 2 * CHECK_MS, 0x200, 0));
    assert_row(f, row_of(0x200, 24, T0, end + 2 * CHECK_MS));
    blocks_sweep(&f->table, &f->rules, end + 2 * CHECK_MS + 1, &f->check.out);
    assert_row(f, ended(row_of(0x100, 24, T0, 0), end, ETLHEAP_FREE_PROCESS_EXIT));
    assert_int_equal(f->table.open.count, 0);
}

static void allocation_after_the_end_of_its_process_has_no_length(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0, "app.exe", 1);
    apply(f, event_of(OP_ALLOC, T0 + 5, 0x100, 24));
    finish(f);
    assert_row(f, ended(row_of(0x100, 24, T0 + 5, 0), T0 + 5, ETLHEAP_FREE_PROCESS_EXIT));
}

static void destruction_of_the_heap_comes_before_the_end_of_the_process(void **state)
{
    fixture *const f = *state;
    apply(f, event_of(OP_ALLOC, T0, 0x100, 24));
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 90, "app.exe", 1);
    finish(f);
    assert_row(f, ended(row_of(0x100, 24, T0, 0), T0 + 50, ETLHEAP_FREE_HEAP_DESTROY));
}

/* A hostile file may have any time, also one after another that is far less. */
static void any_two_times_can_be_compared(void **state)
{
    fixture *const f = *state;
    static const i64 times[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX };
    for (size_t a = 0; a < ETL_COUNT_OF(times); a++) {
        for (size_t b = 0; b < ETL_COUNT_OF(times); b++) {
            memory_event old = event_of(OP_REALLOC_OLD, times[b], 0x100, 1);
            old.tid = OTHER;
            apply(f, event_of(OP_ALLOC, times[a], 0x100, 1));
            apply(f, event_of(OP_ALLOC, times[b], 0x100, 1));
            apply(f, event_of(OP_FREE, times[a], 0x100, 0));
            apply(f, old);
            blocks_sweep(&f->table, &f->rules, times[b], &f->check.out);
            apply(f, event_of(OP_FREE, times[b], 0x100, 0));
        }
    }
    finish(f);
    for (size_t i = 0; i < f->check.out.rows.count; i++)
        assert_true(f->check.out.rows.at[i].free_ticks >= f->check.out.rows.at[i].alloc_ticks);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
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
        RULE(moving_realloc_without_its_alloc_opens_the_new_block),
        RULE(moving_realloc_without_its_free_closes_the_old_block),
        RULE(moving_realloc_leaves_a_block_another_thread_got_meanwhile),
        RULE(moving_realloc_closes_an_old_block_of_another_thread),
        RULE(moving_realloc_over_a_block_of_another_size_displaces_it),
        RULE(realloc_in_place_ends_one_lifetime_and_begins_another),
        RULE(realloc_in_place_of_an_unknown_block_begins_one),
        RULE(free_within_a_millisecond_closes_the_displaced_block),
        RULE(second_free_closes_the_block_that_displaced),
        RULE(later_free_closes_the_newer_block_and_the_displaced_ended_before),
        RULE(block_displaced_twice_keeps_the_newest_pair),
        RULE(displaced_block_that_nothing_freed_ended_when_displaced),
        RULE(places_of_displaced_blocks_are_used_again),
        RULE(destroying_a_heap_ends_its_blocks_alone),
        RULE(one_sweep_ends_all_the_dead_and_no_other),
        RULE(block_of_a_destroyed_heap_is_not_the_new_heaps),
        RULE(each_block_ends_with_the_destruction_after_it),
        RULE(end_of_the_process_ends_its_blocks_after_the_late_frees),
        RULE(allocation_after_the_end_of_its_process_has_no_length),
        RULE(destruction_of_the_heap_comes_before_the_end_of_the_process),
        RULE(any_two_times_can_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
