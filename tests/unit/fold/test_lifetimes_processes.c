/*
 * Goal: memory belongs to a process, not to a process id, on whole traces.
 * Method: one short trace a rule: exits, ids used again, records that come late,
 * early or not at all, and two sessions in one recording; analysed with several
 * slice sizes and numbers of jobs (lifetime_check.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lifetime_check.h"

#define PID  42u
#define HEAP 0x1F0000u

static etl_build_at at(i64 after)
{
    return (etl_build_at){ .ticks = LIFE_START + after, .cpu = 1, .pid = PID, .tid = 7 };
}

/* A record of process PID, written by its creator on CPU 0. */
static void process_record(etl_build *b, i64 after, u8 type, const char *name)
{
    const etl_build_at by = { .ticks = LIFE_START + after, .pid = 4, .tid = 5 };
    etl_build_process(b, by, type,
                      &(etl_build_process_spec){ .pid = PID, .parent_pid = 4, .name = name });
}

static life block(u64 address, u64 size, i64 alloc, i64 freed, etlheap_free_type end)
{
    return (life){ .pid = PID,
                   .tid = 7,
                   .heap = HEAP,
                   .address = address,
                   .size = size,
                   .alloc = LIFE_START + alloc,
                   .freed = LIFE_START + freed,
                   .end = (u8)end };
}

static life range(u64 address, u64 size, i64 alloc, i64 freed, etlheap_free_type end)
{
    life row = block(address, size, alloc, freed, end);
    row.kind = ETLHEAP_KIND_VIRTUALALLOC;
    row.heap = 0;
    return row;
}

static void assert_process(const lifetime_check *check, u32 n, const char *name, i64 start, i64 end)
{
    const etlheap_process_info *const info = lifetime_check_process(check, PID, n);
    assert_string_equal(info->name, name);
    assert_int_equal(info->start_ticks, start);
    assert_int_equal(info->end_ticks, end);
}

#define BEFORE ETLHEAP_TICKS_BEFORE
#define NEVER  ETLHEAP_TICKS_NEVER

static void exit_ends_all_that_is_left(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "app.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(11), HEAP, 0x200, 24);
    etl_build_heap_expand(b, at(12), HEAP, 0x10000, 0x2000);
    etl_build_virtual_alloc(b, at(13), 0x20000, 0x3000, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    etl_build_heap_free(b, at(20), HEAP, 0x200);
    process_record(b, 500, ETL_BUILD_END, "app.exe");
    life extent = block(0x10000, 0x2000, 12, 500, ETLHEAP_FREE_PROCESS_EXIT);
    extent.kind = ETLHEAP_KIND_EXTENT;
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check,
        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT),
                        block(0x200, 24, 11, 20, ETLHEAP_FREE_FREE), extent,
                        range(0x20000, 0x3000, 13, 500, ETLHEAP_FREE_PROCESS_EXIT) },
        4);
    assert_process(check, 0, "app.exe", LIFE_START, LIFE_START + 500);
    assert_int_equal(lifetime_check_process(check, PID, 0)->events[ETLHEAP_KIND_HEAP], 4);
    assert_int_equal(lifetime_check_process(check, PID, 0)->events[ETLHEAP_KIND_VIRTUALALLOC], 1);
    lifetime_check_close(check);
}

static void exit_long_before_the_end_of_the_trace_is_the_same(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "app.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 500, ETL_BUILD_END, "app.exe");
    for (i64 i = 1; i <= 20; i++) {
        etl_build_at other = at(i * LIFE_SECOND);
        other.pid = PID + 4;
        etl_build_heap_free(b, other, HEAP, 0x100);
    }
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT) }, 1);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_HEAP), 20);
    lifetime_check_close(check);
}

static void id_used_again_is_another_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "first.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    etl_build_virtual_alloc(b, at(11), 0x20000, 0x3000, ETL_BUILD_COMMIT);
    process_record(b, 500, ETL_BUILD_END, "first.exe");
    process_record(b, 5 * LIFE_SECOND, ETL_BUILD_START, "second.exe");
    etl_build_heap_alloc(b, at(5 * LIFE_SECOND + 10), HEAP, 0x100, 48);
    etl_build_virtual_alloc(b, at(5 * LIFE_SECOND + 11), 0x20000, 0x3000, ETL_BUILD_COMMIT);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check,
        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT),
                        range(0x20000, 0x3000, 11, 500, ETLHEAP_FREE_PROCESS_EXIT),
                        block(0x100, 48, 5 * LIFE_SECOND + 10, 0, ETLHEAP_FREE_NONE),
                        range(0x20000, 0x3000, 5 * LIFE_SECOND + 11, 0, ETLHEAP_FREE_NONE) },
        4);
    assert_int_equal(lifetime_check_process_count(check, PID), 2);
    assert_process(check, 0, "first.exe", LIFE_START, LIFE_START + 500);
    assert_process(check, 1, "second.exe", LIFE_START + 5 * LIFE_SECOND, NEVER);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_over_live), 0);
    lifetime_check_close(check);
}

static void start_without_the_end_before_it_ends_the_former_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_DCSTART, "first.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 5 * LIFE_SECOND, ETL_BUILD_START, "second.exe");
    etl_build_heap_free(b, at(5 * LIFE_SECOND + 10), HEAP, 0x100);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 5 * LIFE_SECOND, ETLHEAP_FREE_PROCESS_EXIT) },
        1);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_process_start_missing), 1);
    assert_int_equal(lifetime_check_process(check, PID, 1)->free_without_alloc[ETLHEAP_KIND_HEAP],
                     1);
    lifetime_check_close(check);
}

/* The creator maps the child's memory before the start is logged. */
static void memory_up_to_a_second_before_the_start_is_the_new_processs(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(0), 0x20000, 0x3000, ETL_BUILD_COMMIT);
    process_record(b, LIFE_SECOND, ETL_BUILD_START, "app.exe");
    etl_build_virtual_free(b, at(LIFE_SECOND + 10), 0x20000, 0x3000, ETL_BUILD_DECOMMIT);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ range(0x20000, 0x3000, 0, LIFE_SECOND + 10, ETLHEAP_FREE_FREE) }, 1);
    assert_int_equal(lifetime_check_process_count(check, PID), 1);
    assert_process(check, 0, "app.exe", LIFE_START + LIFE_SECOND, NEVER);
    lifetime_check_close(check);
}

static void memory_longer_before_the_start_is_of_an_unknown_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(0), 0x20000, 0x3000, ETL_BUILD_COMMIT);
    process_record(b, LIFE_SECOND + 1, ETL_BUILD_START, "app.exe");
    etl_build_virtual_alloc(b, at(LIFE_SECOND + 10), 0x20000, 0x3000, ETL_BUILD_COMMIT);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check,
        (const life[]){ range(0x20000, 0x3000, 0, LIFE_SECOND + 1, ETLHEAP_FREE_PROCESS_EXIT),
                        range(0x20000, 0x3000, LIFE_SECOND + 10, 0, ETLHEAP_FREE_NONE) },
        2);
    assert_process(check, 0, "Unknown", BEFORE, LIFE_START + LIFE_SECOND + 1);
    assert_process(check, 1, "app.exe", LIFE_START + LIFE_SECOND + 1, NEVER);
    lifetime_check_close(check);
}

static void free_up_to_two_milliseconds_after_the_exit_is_the_processs(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "app.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    etl_build_heap_alloc(b, at(11), HEAP, 0x200, 24);
    process_record(b, 500, ETL_BUILD_END, "app.exe");
    etl_build_heap_free(b, at(500 + 2 * LIFE_MS), HEAP, 0x100);
    etl_build_heap_free(b, at(501 + 2 * LIFE_MS), HEAP, 0x200);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500 + 2 * LIFE_MS, ETLHEAP_FREE_FREE),
                                        block(0x200, 24, 11, 500, ETLHEAP_FREE_PROCESS_EXIT) },
                        2);
    assert_process(check, 0, "app.exe", LIFE_START, LIFE_START + 500);
    assert_int_equal(lifetime_check_process_count(check, PID), 2);
    assert_int_equal(lifetime_check_process(check, PID, 1)->free_without_alloc[ETLHEAP_KIND_HEAP],
                     1);
    lifetime_check_close(check);
}

static void memory_between_two_owners_of_an_id_is_of_an_unknown_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "first.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 500, ETL_BUILD_END, "first.exe");
    etl_build_heap_alloc(b, at(2 * LIFE_SECOND), HEAP, 0x200, 24);
    process_record(b, 5 * LIFE_SECOND, ETL_BUILD_START, "second.exe");
    etl_build_heap_alloc(b, at(6 * LIFE_SECOND), HEAP, 0x300, 24);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT),
                                        block(0x200, 24, 2 * LIFE_SECOND, 5 * LIFE_SECOND,
                                              ETLHEAP_FREE_PROCESS_EXIT),
                                        block(0x300, 24, 6 * LIFE_SECOND, 0, ETLHEAP_FREE_NONE) },
                        3);
    assert_int_equal(lifetime_check_process_count(check, PID), 3);
    assert_process(check, 1, "Unknown", LIFE_START + 501 + 2 * LIFE_MS,
                   LIFE_START + 5 * LIFE_SECOND);
    lifetime_check_close(check);
}

static void late_frees_beside_the_next_start_are_the_former_processs(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "first.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 500, ETL_BUILD_END, "first.exe");
    etl_build_heap_free(b, at(500 + LIFE_MS), HEAP, 0x100);
    process_record(b, 500 + 30 * LIFE_MS, ETL_BUILD_START, "second.exe");
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 24, 10, 500 + LIFE_MS, ETLHEAP_FREE_FREE) }, 1);
    lifetime_check_close(check);
}

static void process_without_any_record_is_unknown(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ block(0x100, 24, 10, 0, ETLHEAP_FREE_NONE) }, 1);
    assert_process(check, 0, "Unknown", BEFORE, NEVER);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_process_unknown), 1);
    lifetime_check_close(check);
}

static void rundown_at_the_end_names_the_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 5 * LIFE_SECOND, ETL_BUILD_DCEND, "app.exe");
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ block(0x100, 24, 10, 0, ETLHEAP_FREE_NONE) }, 1);
    assert_process(check, 0, "app.exe", BEFORE, NEVER);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_process_unknown), 0);
    lifetime_check_close(check);
}

static void zombie_at_the_end_stays_ended(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_DCSTART, "app.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 500, ETL_BUILD_END, "app.exe");
    process_record(b, 5 * LIFE_SECOND, ETL_BUILD_DEFUNCT, "app.exe");
    process_record(b, 5 * LIFE_SECOND + 1, ETL_BUILD_DCEND, "app.exe");
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT) }, 1);
    assert_int_equal(lifetime_check_process_count(check, PID), 1);
    lifetime_check_close(check);
}

/* Kernel sessions that run at once log each record, each at its own moment. */
static void records_of_two_sessions_are_of_one_process(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    process_record(b, 0, ETL_BUILD_START, "app.exe");
    process_record(b, 3, ETL_BUILD_START, "app.exe");
    etl_build_heap_alloc(b, at(10), HEAP, 0x100, 24);
    process_record(b, 500, ETL_BUILD_END, "app.exe");
    process_record(b, 502, ETL_BUILD_END, "app.exe");
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 24, 10, 500, ETLHEAP_FREE_PROCESS_EXIT) }, 1);
    assert_int_equal(lifetime_check_process_count(check, PID), 1);
    lifetime_check_close(check);
}

static void memory_is_the_owners_not_the_callers(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_at caller = at(10);
    caller.pid = 1234;
    etl_build_virtual(b, caller,
                      &(etl_build_virtual_spec){ .hook = 0x0262,
                                                 .base = 0x20000,
                                                 .size = 0x3000,
                                                 .flags = ETL_BUILD_COMMIT,
                                                 .owner_pid = PID });
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ range(0x20000, 0x3000, 10, 0, ETLHEAP_FREE_NONE) },
                        1);
    assert_int_equal(lifetime_check_process_count(check, 1234), 0);
    lifetime_check_close(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_ends_all_that_is_left),
        cmocka_unit_test(exit_long_before_the_end_of_the_trace_is_the_same),
        cmocka_unit_test(id_used_again_is_another_process),
        cmocka_unit_test(start_without_the_end_before_it_ends_the_former_process),
        cmocka_unit_test(memory_up_to_a_second_before_the_start_is_the_new_processs),
        cmocka_unit_test(memory_longer_before_the_start_is_of_an_unknown_process),
        cmocka_unit_test(free_up_to_two_milliseconds_after_the_exit_is_the_processs),
        cmocka_unit_test(memory_between_two_owners_of_an_id_is_of_an_unknown_process),
        cmocka_unit_test(late_frees_beside_the_next_start_are_the_former_processs),
        cmocka_unit_test(process_without_any_record_is_unknown),
        cmocka_unit_test(rundown_at_the_end_names_the_process),
        cmocka_unit_test(zombie_at_the_end_stays_ended),
        cmocka_unit_test(records_of_two_sessions_are_of_one_process),
        cmocka_unit_test(memory_is_the_owners_not_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
