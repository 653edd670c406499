/*
 * Goal: each kind of record leaves the rows that its meaning asks for, in the
 * order of the records, and nothing of one task is left for the next.
 * Method: short traces on one CPU, scanned as one task; the rows are compared one
 * by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/stages.h"
#include "tests/support/run_check.h"

#define HEAP 0x1f0000u

/* A trace being made, and what a scan found in it. Start with begin(). */
typedef struct scan_bench {
    etl_build *b;
    i64 start_ticks;
    scan_output out;
} scan_bench;

static scan_bench begin(void)
{
    scan_bench s = { .b = etl_build_new(
                         &(etl_build_options){ .cpus = 1, .order = ETL_BUILD_AS_CALLED }) };
    s.start_ticks = etl_build_start_ticks(s.b);
    return s;
}

/* The place of a record, so many ticks after the start. */
static etl_build_at after(const scan_bench *s, i64 ticks)
{
    return (etl_build_at){ .ticks = s->start_ticks + ticks, .pid = 8, .tid = 16 };
}

/* Scans all buffers of the trace as one task, into s->out as it is. */
static void scan(scan_bench *s)
{
    check_traces traces = { 0 };
    check_open(&traces, s->b);
    timebase base;
    assert_true(timebase_open(&base, traces.at, 1));
    const stack_table stacks = { 0 };
    plan_buffer buffers[16] = { { .buffer = 0 } };
    const u32 count = etl_buffer_count(traces.at[0]);
    assert_true(count <= ETL_COUNT_OF(buffers));
    for (u32 i = 0; i < count; i++)
        buffers[i].buffer = i;
    const scan_input input = { .traces = traces.at,
                               .base = &base,
                               .stacks = &stacks,
                               .buffers = buffers,
                               .buffer_count = count,
                               .end_ticks = INT64_MAX };
    etl_scratch scratch = { 0 };
    scan_task(&input, &scratch, &s->out);
    etl_scratch_free(&scratch);
    assert_int_equal(s->out.status, ETL_OK);
    timebase_close(&base);
    check_close(&traces);
}

static void assert_row(const scan_bench *s, size_t index, memory_op op, u64 address, u64 size)
{
    assert_true(index < s->out.events.count);
    const memory_event *const event = &s->out.events.at[index];
    assert_int_equal(event->op, op);
    assert_true(event->address == address);
    assert_true(event->size == size);
    assert_int_equal(event->pid, 8);
    assert_int_equal(event->tid, 16);
}

static void an_alloc_and_a_free_are_a_row_each(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x2000, 24);
    etl_build_heap_free(s.b, after(&s, 20), HEAP, 0x2000);
    scan(&s);
    assert_int_equal(s.out.events.count, 2);
    assert_row(&s, 0, OP_ALLOC, 0x2000, 24);
    assert_row(&s, 1, OP_FREE, 0x2000, 0);
    assert_true(s.out.events.at[0].ticks == s.start_ticks + 10);
    assert_true(s.out.events.at[0].heap == HEAP);
    assert_int_equal(s.out.events.at[0].shard, s.out.events.at[1].shard);
    assert_true(s.out.events.at[0].shard < HEAP_SHARDS);
    scan_output_free(&s.out);
}

static void a_realloc_in_place_closes_and_opens(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_realloc(s.b, after(&s, 10), HEAP,
                           &(etl_build_realloc){ 0x2000, 0x2000, 50, 24 });
    etl_build_heap_realloc(s.b, after(&s, 20), HEAP, &(etl_build_realloc){ 0x2000, 0, 60, 50 });
    scan(&s);
    assert_int_equal(s.out.events.count, 4);
    assert_row(&s, 0, OP_REALLOC_CLOSE, 0x2000, 50);
    assert_row(&s, 1, OP_REALLOC_SAME, 0x2000, 50);
    assert_row(&s, 2, OP_REALLOC_CLOSE, 0x2000, 60);
    assert_row(&s, 3, OP_REALLOC_SAME, 0x2000, 60);
    scan_output_free(&s.out);
}

static void a_moving_realloc_is_a_row_at_each_address(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_realloc(s.b, after(&s, 10), HEAP,
                           &(etl_build_realloc){ 0x5000, 0x2000, 50, 24 });
    scan(&s);
    assert_int_equal(s.out.events.count, 2);
    assert_row(&s, 0, OP_REALLOC_NEW, 0x5000, 50);
    assert_row(&s, 1, OP_REALLOC_OLD, 0x2000, 24);
    scan_output_free(&s.out);
}

static void a_failed_realloc_leaves_the_old_block(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_realloc(s.b, after(&s, 10), HEAP, &(etl_build_realloc){ 0, 0x2000, 50, 24 });
    scan(&s);
    assert_int_equal(s.out.events.count, 1);
    assert_row(&s, 0, OP_REALLOC_NEW, 0, 50);
    scan_output_free(&s.out);
}

static void a_commit_that_reserves_is_counted_once(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_virtual_alloc(s.b, after(&s, 10), 0x10000, 4096,
                            ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    etl_build_virtual_alloc(s.b, after(&s, 20), 0x20000, 4096, ETL_BUILD_RESERVE);
    etl_build_virtual_alloc(s.b, after(&s, 30), 0x20000, 4096, ETL_BUILD_RESET);
    etl_build_virtual_free(s.b, after(&s, 40), 0x10000, 4096, ETL_BUILD_DECOMMIT);
    etl_build_virtual_free(s.b, after(&s, 50), 0x10000, 4096, ETL_BUILD_RELEASE);
    scan(&s);
    assert_int_equal(s.out.events.count, 5);
    assert_row(&s, 0, OP_RESERVE, 0x10000, 4096);
    assert_row(&s, 1, OP_COMMIT, 0x10000, 4096);
    assert_row(&s, 2, OP_RESERVE_ALONE, 0x20000, 4096);
    assert_row(&s, 3, OP_DECOMMIT, 0x10000, 4096);
    assert_row(&s, 4, OP_RELEASE, 0x10000, 4096);
    assert_true(s.out.events.at[0].heap == 0 && s.out.events.at[2].heap == 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(s.out.events.at[i].shard, s.out.events.at[0].shard);
    assert_true(s.out.events.at[0].shard >= HEAP_SHARDS);
    scan_output_free(&s.out);
}

/* What is replaced, kept or joined stays reserved. */
static void placeholders_stay_reserved(void **state)
{
    (void)state;
    enum { PRESERVE = 2, COALESCE = 1 };
    scan_bench s = begin();
    etl_build_virtual_alloc(s.b, after(&s, 10), 0x10000, 0x4000,
                            ETL_BUILD_RESERVE | ETL_MEM_RESERVE_PLACEHOLDER);
    etl_build_virtual_free(s.b, after(&s, 20), 0x10000, 0x2000, ETL_BUILD_RELEASE | PRESERVE);
    etl_build_virtual_alloc(s.b, after(&s, 30), 0x10000, 0x2000,
                            ETL_BUILD_RESERVE | ETL_BUILD_COMMIT | ETL_MEM_REPLACE_PLACEHOLDER);
    etl_build_virtual_free(s.b, after(&s, 40), 0x10000, 0x4000, ETL_BUILD_RELEASE | COALESCE);
    etl_build_virtual_free(s.b, after(&s, 50), 0x10000, 0x4000, ETL_BUILD_RELEASE);
    scan(&s);
    assert_int_equal(s.out.events.count, 6);
    assert_row(&s, 0, OP_RESERVE_ALONE, 0x10000, 0x4000);
    assert_row(&s, 1, OP_DECOMMIT, 0x10000, 0x2000);
    assert_row(&s, 2, OP_RESERVE, 0x10000, 0x2000);
    assert_row(&s, 3, OP_COMMIT, 0x10000, 0x2000);
    assert_row(&s, 4, OP_DECOMMIT, 0x10000, 0x4000);
    assert_row(&s, 5, OP_RELEASE, 0x10000, 0x4000);
    assert_true(s.out.events.at[0].heap == 0 && s.out.events.at[2].heap == 1 &&
                s.out.events.at[3].heap == 0);
    scan_output_free(&s.out);
}

static void heap_events_without_rows_are_counted(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_create(s.b, after(&s, 10), HEAP);
    etl_build_heap_other(s.b, after(&s, 20), 0x2B, HEAP);
    scan(&s);
    assert_int_equal(s.out.events.count, 2);
    assert_row(&s, 0, OP_COUNT_HEAP, 0, 0);
    assert_row(&s, 1, OP_COUNT_HEAP, 0, 0);
    assert_int_equal(s.out.system.count, 1);
    scan_output_free(&s.out);
}

static void spans_follow_the_process_ids_of_the_events(void **state)
{
    (void)state;
    scan_bench s = begin();
    static const u32 pids[] = { 8, 8, 12, 12, 12, 8 };
    for (u32 i = 0; i < ETL_COUNT_OF(pids); i++) {
        etl_build_at at = after(&s, 10 * (i64)i);
        at.pid = pids[i];
        etl_build_heap_alloc(s.b, at, HEAP, 0x2000 + 0x10 * i, 24);
    }
    scan(&s);
    const pid_span wanted[] = { { 8, 2, s.start_ticks, s.start_ticks + 10 },
                                { 12, 3, s.start_ticks + 20, s.start_ticks + 40 },
                                { 8, 1, s.start_ticks + 50, s.start_ticks + 50 } };
    assert_int_equal(s.out.spans.count, ETL_COUNT_OF(wanted));
    assert_memory_equal(s.out.spans.at, wanted, sizeof wanted);
    assert_false(s.out.is_unsorted);
    scan_output_free(&s.out);
}

static void times_that_go_back_are_told(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_alloc(s.b, after(&s, 20), HEAP, 0x2000, 24);
    etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x3000, 24);
    scan(&s);
    assert_true(s.out.is_unsorted);
    assert_int_equal(s.out.diag.of[ETL_DIAG_time_backwards], 1);
    assert_true(s.out.last_ticks == s.start_ticks + 20);
    scan_output_free(&s.out);
}

static void a_stack_resolves_its_event_and_another_one_is_a_piece(void **state)
{
    (void)state;
    scan_bench s = begin();
    const u64 frames[] = { 0x7ff600001000, 0x7ff600002000 };
    etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x2000, 24);
    etl_build_heap_free(s.b, after(&s, 10), HEAP, 0x3000);
    for (i64 i = 0; i < 2; i++)
        etl_build_stack_inline(s.b, after(&s, 20 + i), s.start_ticks + 10, frames, 2);
    scan(&s);
    assert_int_equal(s.out.events.at[0].stack, STACK_TAG_LOCAL | 1);
    assert_int_equal(s.out.events.at[1].stack, STACK_NONE);
    assert_int_equal(s.out.pieces.count, 1);
    assert_int_equal(s.out.pieces.at[0].stack, STACK_TAG_LOCAL | 1);
    assert_int_equal(s.out.inventory.stack_records, 2);
    scan_output_free(&s.out);
}

/* A user part must not overtake the kernel part that its event has already. */
static void parts_of_a_stack_with_a_kernel_part_are_pieces(void **state)
{
    (void)state;
    scan_bench s = begin();
    const u64 kernel[] = { 0xfffff80000001000 }, user[] = { 0x7ff600002000 };
    etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x2000, 24);
    etl_build_stack_inline(s.b, after(&s, 20), s.start_ticks + 10, kernel, 1);
    etl_build_stack_inline(s.b, after(&s, 30), s.start_ticks + 10, user, 1);
    scan(&s);
    assert_int_equal(s.out.events.at[0].stack, STACK_NONE);
    assert_int_equal(s.out.pieces.count, 2);
    assert_int_equal(s.out.pieces.at[0].part, PART_KERNEL);
    assert_int_equal(s.out.pieces.at[1].part, PART_USER);
    scan_output_free(&s.out);
}

static void a_key_resolves_its_event_as_a_stack_does(void **state)
{
    (void)state;
    scan_bench s = begin();
    etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x2000, 24);
    for (i64 i = 0; i < 2; i++)
        etl_build_stack_key(s.b, after(&s, 20 + i), 0x1826, s.start_ticks + 10, 77);
    scan(&s);
    assert_int_equal(s.out.key_uses.count, 1);
    assert_true(s.out.key_uses.at[0].key == 77 && s.out.key_uses.at[0].event == 0);
    assert_int_equal(s.out.pieces.count, 1);
    assert_true(s.out.pieces.at[0].is_key);
    assert_int_equal(s.out.inventory.key_records, 2);
    scan_output_free(&s.out);
}

static void nothing_but_the_inventory_is_left_for_the_next_task(void **state)
{
    (void)state;
    const u64 frames[] = { 0x7ff600001000, 0x7ff600002000 };
    scan_bench s = begin();
    for (u32 round = 0; round < 2; round++) {
        etl_build_heap_create(s.b, after(&s, 5), HEAP);
        etl_build_heap_alloc(s.b, after(&s, 10), HEAP, 0x2000, 24);
        etl_build_stack_inline(s.b, after(&s, 20), s.start_ticks + 10, frames, 2);
        scan(&s);
        assert_int_equal(s.out.events.count, 2);
        assert_int_equal(s.out.spans.count, 1);
        assert_int_equal(s.out.system.count, 1);
        assert_int_equal(s.out.new_stacks.list.count, 1);
        assert_int_equal(s.out.inventory.stack_records, round + 1);
        if (round > 0)
            break;
        scan_output_reset(&s.out);
        assert_int_equal(s.out.events.count, 0);
        const scan_output kept = s.out;
        s = begin();
        s.out = kept;
    }
    scan_output_free(&s.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alloc_and_a_free_are_a_row_each),
        cmocka_unit_test(a_realloc_in_place_closes_and_opens),
        cmocka_unit_test(a_moving_realloc_is_a_row_at_each_address),
        cmocka_unit_test(a_failed_realloc_leaves_the_old_block),
        cmocka_unit_test(a_commit_that_reserves_is_counted_once),
        cmocka_unit_test(placeholders_stay_reserved),
        cmocka_unit_test(heap_events_without_rows_are_counted),
        cmocka_unit_test(spans_follow_the_process_ids_of_the_events),
        cmocka_unit_test(times_that_go_back_are_told),
        cmocka_unit_test(a_stack_resolves_its_event_and_another_one_is_a_piece),
        cmocka_unit_test(parts_of_a_stack_with_a_kernel_part_are_pieces),
        cmocka_unit_test(a_key_resolves_its_event_as_a_stack_does),
        cmocka_unit_test(nothing_but_the_inventory_is_left_for_the_next_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
