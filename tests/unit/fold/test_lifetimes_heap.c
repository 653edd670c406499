/*
 * Goal: the rules by which heap events become lifetimes hold on whole traces.
 * Method: one short trace a rule, its lifetimes by hand, analysed with several
 * slice sizes and numbers of jobs (lifetime_check.h). No stacks here.
 * Ranges: test_lifetimes_ranges.c. Stacks: test_lifetimes_stacks.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lifetime_check.h"

#define PID   42u
#define HEAP  0x1F0000u
#define HEAP2 0x2F0000u

/* CPU n is where thread 7 + n runs. */
static etl_build_at at(i64 after, u32 cpu)
{
    return (etl_build_at){ .ticks = LIFE_START + after, .cpu = cpu, .pid = PID, .tid = 7 + cpu };
}

static life block(u64 address, u64 size, i64 alloc, i64 freed)
{
    return (life){ .pid = PID,
                   .tid = 7,
                   .heap = HEAP,
                   .address = address,
                   .size = size,
                   .alloc = LIFE_START + alloc,
                   .freed = LIFE_START + freed,
                   .end = ETLHEAP_FREE_FREE };
}

static life outstanding(u64 address, u64 size, i64 alloc)
{
    life row = block(address, size, alloc, 0);
    row.end = ETLHEAP_FREE_NONE;
    return row;
}

static life ended_by(life row, etlheap_free_type end)
{
    row.end = (u8)end;
    return row;
}

static life by_cpu(life row, u32 cpu)
{
    row.tid = 7 + cpu;
    return row;
}

static life by_realloc(life row)
{
    row.is_realloc = true;
    return row;
}

static life of_heap(life row, u64 heap)
{
    row.heap = heap;
    return row;
}

/* --- alloc and free --- */

static void free_on_another_cpu_closes_the_block(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(11, 0), HEAP, 0x200, 48);
    etl_build_heap_free(b, at(90, 3), HEAP, 0x100);
    ASSERT_LIFETIMES(b, block(0x100, 24, 10, 90), outstanding(0x200, 48, 11));
}

static void address_used_again_is_a_lifetime_each(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    for (i64 i = 0; i < 3; i++) {
        etl_build_heap_alloc(b, at(100 * i, 0), HEAP, 0x100, 24);
        etl_build_heap_free(b, at(100 * i + 50, (u32)i), HEAP, 0x100);
    }
    etl_build_heap_alloc(b, at(300, 0), HEAP2, 0x100, 5);
    etl_build_heap_alloc(b, at(301, 0), HEAP, 0x100, 6);
    ASSERT_LIFETIMES(b, block(0x100, 24, 0, 50), block(0x100, 24, 100, 150),
                     block(0x100, 24, 200, 250), of_heap(outstanding(0x100, 5, 300), HEAP2),
                     outstanding(0x100, 6, 301));
}

static void frees_of_unknown_memory_are_counted_apart_by_kind(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_free(b, at(10, 0), HEAP, 0x100);
    etl_build_heap_free(b, at(11, 1), HEAP, 0x200);
    etl_build_heap_alloc(b, at(12, 0), HEAP, 0x200, 24);
    etl_build_heap_free(b, at(13, 0), HEAP, 0x200);
    etl_build_heap_free(b, at(14, 0), HEAP, 0x200);
    etl_build_heap_contract(b, at(20, 0), HEAP, 0x10000, 0x1000);
    etl_build_virtual_free(b, at(30, 0), 0x20000, 0x1000, ETL_BUILD_DECOMMIT);
    etl_build_virtual_free(b, at(31, 0), 0x20000, 0x1000, ETL_BUILD_RELEASE);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ block(0x200, 24, 12, 13) }, 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 3);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_EXTENT), 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_VIRTUALALLOC), 2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_free_without_alloc), 6);
    lifetime_check_close(check);
}

static void failed_allocations_are_no_lifetimes(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0, 24);
    etl_build_heap_alloc(b, at(20, 0), HEAP, 0x100, 8);
    ASSERT_LIFETIMES(b, outstanding(0x100, 8, 20));
}

static void records_of_32_bit_programs_mix_with_others(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_at narrow = at(10, 0);
    narrow.pointer_bytes = 4;
    narrow.pid = 1000;
    etl_build_process(b, at(0, 1), ETL_BUILD_DCSTART,
                      &(etl_build_process_spec){ .pid = 1000, .wow64 = true, .name = "old.exe" });
    etl_build_heap_alloc(b, narrow, 0x9F0000, 0xFFFF0000, 24);
    etl_build_heap_alloc(b, at(11, 0), HEAP, 0x7FF712340000, 48);
    narrow.ticks += 30;
    etl_build_heap_realloc(b, narrow, 0x9F0000,
                           &(etl_build_realloc){ 0xFFFF0000, 0xFFFF0000, 96, 24 });
    narrow.ticks += 30;
    etl_build_heap_free(b, narrow, 0x9F0000, 0xFFFF0000);
    life old = block(0xFFFF0000, 24, 10, 40), renewed = by_realloc(block(0xFFFF0000, 96, 40, 70));
    old.pid = renewed.pid = 1000;
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ of_heap(old, 0x9F0000), of_heap(renewed, 0x9F0000),
                                        outstanding(0x7FF712340000, 48, 11) },
                        3);
    assert_int_equal(lifetime_check_process(check, 1000, 0)->pointer_bits, 32);
    lifetime_check_close(check);
}

/* --- realloc --- */

static void moving_realloc_counts_once(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(100, 1), HEAP, 0x200, 48);
    etl_build_heap_free(b, at(134, 1), HEAP, 0x100);
    etl_build_heap_realloc(b, at(138, 1), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 134),
                                        by_cpu(by_realloc(outstanding(0x200, 48, 100)), 1) },
                        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_realloc_synthesized), 0);
    assert_int_equal(lifetime_check_process(check, PID, 0)->events[ETLHEAP_KIND_HEAP], 4);
    lifetime_check_close(check);
}

static void moving_realloc_supplies_its_missing_alloc(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_free(b, at(134, 0), HEAP, 0x100);
    etl_build_heap_realloc(b, at(138, 0), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 134), by_realloc(outstanding(0x200, 48, 138)) },
        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_realloc_synthesized), 1);
    lifetime_check_close(check);
}

static void moving_realloc_supplies_its_missing_free(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(100, 0), HEAP, 0x200, 48);
    etl_build_heap_realloc(b, at(138, 0), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 138), by_realloc(outstanding(0x200, 48, 100)) },
        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_realloc_synthesized), 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 0);
    lifetime_check_close(check);
}

static void moving_realloc_without_either_is_both(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_realloc(b, at(138, 0), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    etl_build_heap_free(b, at(150, 0), HEAP, 0x200);
    ASSERT_LIFETIMES(b, block(0x100, 24, 10, 138), by_realloc(block(0x200, 48, 138, 150)));
}

static void moving_realloc_of_an_unknown_block_counts_its_free_apart(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(100, 0), HEAP, 0x200, 48);
    etl_build_heap_free(b, at(134, 0), HEAP, 0x100);
    etl_build_heap_realloc(b, at(138, 0), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ by_realloc(outstanding(0x200, 48, 100)) }, 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 1);
    lifetime_check_close(check);
}

/* Another thread is given the old address before the summary is logged. */
static void moving_realloc_spares_the_next_user_of_the_old_address(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(100, 0), HEAP, 0x200, 48);
    etl_build_heap_free(b, at(134, 0), HEAP, 0x100);
    etl_build_heap_alloc(b, at(136, 2), HEAP, 0x100, 16);
    etl_build_heap_realloc(b, at(138, 0), HEAP, &(etl_build_realloc){ 0x200, 0x100, 48, 24 });
    ASSERT_LIFETIMES(b, block(0x100, 24, 10, 134), by_realloc(outstanding(0x200, 48, 100)),
                     by_cpu(outstanding(0x100, 16, 136), 2));
}

static void realloc_that_failed_changes_nothing(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_realloc(b, at(50, 0), HEAP, &(etl_build_realloc){ 0, 0x100, 48, 24 });
    ASSERT_LIFETIMES(b, outstanding(0x100, 24, 10));
}

/* The largest time there is must not keep the reader from ending. */
static void event_at_the_end_of_time_is_read(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_break(b, ETL_BREAK_RECORD_TICKS, 1, INT64_MAX);
    life row = outstanding(0x100, 24, 10);
    row.alloc = INT64_MAX - 1; /* the last that a window can have */
    ASSERT_LIFETIMES(b, row);
}

static void realloc_in_place_ends_one_lifetime_and_begins_another(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_realloc(b, at(50, 0), HEAP, &(etl_build_realloc){ 0x100, 0x100, 48, 24 });
    etl_build_heap_realloc(b, at(80, 1), HEAP, &(etl_build_realloc){ 0x100, 0, 12, 48 });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 50),
                                        by_realloc(block(0x100, 48, 50, 80)),
                                        by_cpu(by_realloc(outstanding(0x100, 12, 80)), 1) },
                        3);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_realloc_synthesized), 0);
    lifetime_check_close(check);
}

/* --- events out of order across CPUs --- */

static void free_logged_just_after_the_next_alloc_closes_the_older_block(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(500, 1), HEAP, 0x100, 48);
    etl_build_heap_free(b, at(530, 0), HEAP, 0x100);
    etl_build_heap_free(b, at(900, 1), HEAP, 0x100);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 530), by_cpu(block(0x100, 48, 500, 900), 1) },
        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_over_live), 0);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 0);
    lifetime_check_close(check);
}

static void free_a_millisecond_after_the_next_alloc_is_the_older_blocks(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(500, 1), HEAP, 0x100, 48);
    etl_build_heap_free(b, at(500 + LIFE_MS, 0), HEAP, 0x100);
    ASSERT_LIFETIMES(b, block(0x100, 24, 10, 500 + LIFE_MS),
                     by_cpu(outstanding(0x100, 48, 500), 1));
}

static void free_later_than_that_is_the_newer_blocks(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(500, 1), HEAP, 0x100, 48);
    etl_build_heap_free(b, at(501 + LIFE_MS, 0), HEAP, 0x100);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500),
                                        by_cpu(block(0x100, 48, 500, 501 + LIFE_MS), 1) },
                        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_over_live), 1);
    lifetime_check_close(check);
}

static void block_whose_free_was_lost_ends_when_its_address_is_given_out(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(500, 0), HEAP, 0x100, 48);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 500), outstanding(0x100, 48, 500) }, 2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_over_live), 1);
    lifetime_check_close(check);
}

/* --- heaps --- */

static void destroying_a_heap_ends_its_blocks(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_create(b, at(0, 0), HEAP);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(11, 1), HEAP, 0x200, 24);
    etl_build_heap_alloc(b, at(12, 0), HEAP2, 0x300, 24);
    etl_build_heap_free(b, at(20, 0), HEAP, 0x200);
    etl_build_heap_destroy(b, at(100, 2), HEAP);
    etl_build_heap_alloc(b, at(200, 0), HEAP2, 0x400, 24);
    ASSERT_LIFETIMES(b, ended_by(block(0x100, 24, 10, 100), ETLHEAP_FREE_HEAP_DESTROY),
                     by_cpu(block(0x200, 24, 11, 20), 1),
                     of_heap(outstanding(0x300, 24, 12), HEAP2),
                     of_heap(outstanding(0x400, 24, 200), HEAP2));
}

static void heap_handle_used_again_is_another_heap(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    for (i64 i = 0; i < 3; i++) {
        etl_build_heap_create(b, at(1000 * i, 0), HEAP);
        etl_build_heap_alloc(b, at(1000 * i + 10, 0), HEAP, 0x100, 24);
        etl_build_heap_alloc(b, at(1000 * i + 20, 0), HEAP, 0x200, 24);
        etl_build_heap_free(b, at(1000 * i + 30, 0), HEAP, 0x200);
        if (i < 2)
            etl_build_heap_destroy(b, at(1000 * i + 500, 0), HEAP);
    }
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check,
        (const life[]){ ended_by(block(0x100, 24, 10, 500), ETLHEAP_FREE_HEAP_DESTROY),
                        ended_by(block(0x100, 24, 1010, 1500), ETLHEAP_FREE_HEAP_DESTROY),
                        outstanding(0x100, 24, 2010), block(0x200, 24, 20, 30),
                        block(0x200, 24, 1020, 1030), block(0x200, 24, 2020, 2030) },
        6);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_over_live), 0);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 0);
    lifetime_check_close(check);
}

static void free_of_a_destroyed_heaps_block_is_of_an_unknown_one(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_destroy(b, at(100, 0), HEAP);
    etl_build_heap_free(b, at(200, 0), HEAP, 0x100);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ ended_by(block(0x100, 24, 10, 100), ETLHEAP_FREE_HEAP_DESTROY) }, 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 1);
    lifetime_check_close(check);
}

static void same_handle_in_another_process_is_another_heap(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_at other = at(10, 1);
    other.pid = PID + 4;
    etl_build_heap_alloc(b, at(10, 0), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, other, HEAP, 0x100, 48);
    etl_build_heap_destroy(b, at(100, 0), HEAP);
    life spared = by_cpu(outstanding(0x100, 48, 10), 1);
    spared.pid = PID + 4;
    ASSERT_LIFETIMES(b, ended_by(block(0x100, 24, 10, 100), ETLHEAP_FREE_HEAP_DESTROY), spared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_on_another_cpu_closes_the_block),
        cmocka_unit_test(address_used_again_is_a_lifetime_each),
        cmocka_unit_test(frees_of_unknown_memory_are_counted_apart_by_kind),
        cmocka_unit_test(failed_allocations_are_no_lifetimes),
        cmocka_unit_test(records_of_32_bit_programs_mix_with_others),
        cmocka_unit_test(moving_realloc_counts_once),
        cmocka_unit_test(moving_realloc_supplies_its_missing_alloc),
        cmocka_unit_test(moving_realloc_supplies_its_missing_free),
        cmocka_unit_test(moving_realloc_without_either_is_both),
        cmocka_unit_test(moving_realloc_of_an_unknown_block_counts_its_free_apart),
        cmocka_unit_test(moving_realloc_spares_the_next_user_of_the_old_address),
        cmocka_unit_test(realloc_that_failed_changes_nothing),
        cmocka_unit_test(event_at_the_end_of_time_is_read),
        cmocka_unit_test(realloc_in_place_ends_one_lifetime_and_begins_another),
        cmocka_unit_test(free_logged_just_after_the_next_alloc_closes_the_older_block),
        cmocka_unit_test(free_a_millisecond_after_the_next_alloc_is_the_older_blocks),
        cmocka_unit_test(free_later_than_that_is_the_newer_blocks),
        cmocka_unit_test(block_whose_free_was_lost_ends_when_its_address_is_given_out),
        cmocka_unit_test(destroying_a_heap_ends_its_blocks),
        cmocka_unit_test(heap_handle_used_again_is_another_heap),
        cmocka_unit_test(free_of_a_destroyed_heaps_block_is_of_an_unknown_one),
        cmocka_unit_test(same_handle_in_another_process_is_another_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
