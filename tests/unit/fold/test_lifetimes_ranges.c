/*
 * Goal: the rules by which VirtualAlloc and heap extent events become lifetimes
 * hold on whole traces.
 * Method: one short trace a rule, its lifetimes by hand, analysed with several
 * slice sizes and numbers of jobs (lifetime_check.h). Addresses and sizes are in
 * pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lifetime_check.h"

#define PID  42u
#define HEAP 0x1F0000u
#define PAGE ((u64)4096)

/* CPU n is where thread 7 + n runs. */
static etl_build_at at(i64 after, u32 cpu)
{
    return (etl_build_at){ .ticks = LIFE_START + after, .cpu = cpu, .pid = PID, .tid = 7 + cpu };
}

static void commit(etl_build *b, i64 after, u64 page, u64 count)
{
    etl_build_virtual_alloc(b, at(after, 0), page * PAGE, count * PAGE, ETL_BUILD_COMMIT);
}

static void reserve(etl_build *b, i64 after, u64 page, u64 count)
{
    etl_build_virtual_alloc(b, at(after, 0), page * PAGE, count * PAGE, ETL_BUILD_RESERVE);
}

static void decommit(etl_build *b, i64 after, u64 page, u64 count)
{
    etl_build_virtual_free(b, at(after, 1), page * PAGE, count * PAGE, ETL_BUILD_DECOMMIT);
}

static void release(etl_build *b, i64 after, u64 page, u64 count)
{
    etl_build_virtual_free(b, at(after, 1), page * PAGE, count * PAGE, ETL_BUILD_RELEASE);
}

#define DCSTART 0x0280
#define DCEND   0x0281

static void rundown(etl_build *b, i64 after, u16 hook, u64 page, u64 count, u64 committed)
{
    etl_build_virtual(b, at(after, 2),
                      &(etl_build_virtual_spec){ .hook = hook,
                                                 .base = page * PAGE,
                                                 .size = count * PAGE,
                                                 .owner_pid = PID,
                                                 .commit_bytes = committed * PAGE });
}

#define NEVER ETLHEAP_TICKS_NEVER

static life range(u64 page, u64 count, i64 alloc, i64 freed)
{
    return (life){ .pid = PID,
                   .tid = 7,
                   .kind = ETLHEAP_KIND_VIRTUALALLOC,
                   .address = page * PAGE,
                   .size = count * PAGE,
                   .alloc = LIFE_START + alloc,
                   .freed = freed == NEVER ? NEVER : LIFE_START + freed,
                   .end = freed == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
}

static life from_before(u64 page, u64 count, i64 freed)
{
    life row = range(page, count, 0, freed);
    row.alloc = ETLHEAP_TICKS_BEFORE;
    row.tid = ETL_NO_ID;
    return row;
}

static life extent(u64 page, u64 count, i64 alloc, i64 freed)
{
    life row = range(page, count, alloc, freed);
    row.kind = ETLHEAP_KIND_EXTENT;
    row.heap = HEAP;
    return row;
}

/* --- commit and decommit --- */

static void decommit_closes_the_commit(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    reserve(b, 0, 16, 16);
    commit(b, 10, 16, 4);
    commit(b, 11, 20, 4);
    decommit(b, 90, 16, 4);
    ASSERT_LIFETIMES(b, range(16, 4, 10, 90), range(20, 4, 11, NEVER));
}

static void overlapping_commit_keeps_the_first_committer(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, 10, 20, 4);
    commit(b, 100, 18, 8);
    commit(b, 200, 18, 8);
    ASSERT_LIFETIMES(b, range(20, 4, 10, NEVER), range(18, 2, 100, NEVER),
                     range(24, 2, 100, NEVER));
}

static void partial_decommit_splits_the_lifetime(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, 10, 20, 10);
    decommit(b, 100, 23, 2);
    decommit(b, 200, 28, 4);
    ASSERT_LIFETIMES(b, range(20, 3, 10, NEVER), range(23, 2, 10, 100), range(25, 3, 10, NEVER),
                     range(28, 2, 10, 200));
}

static void pages_committed_again_are_a_new_lifetime(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    for (i64 i = 0; i < 3; i++) {
        commit(b, 100 * i, 20, 2);
        decommit(b, 100 * i + 50, 20, 2);
    }
    ASSERT_LIFETIMES(b, range(20, 2, 0, 50), range(20, 2, 100, 150), range(20, 2, 200, 250));
}

static void flags_that_commit_nothing_open_nothing(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    reserve(b, 10, 20, 4);
    etl_build_virtual_alloc(b, at(20, 0), 20 * PAGE, 4 * PAGE, ETL_BUILD_RESET);
    etl_build_virtual_alloc(b, at(30, 0), 20 * PAGE, 4 * PAGE, 0);
    lifetime_check_all(b, NULL, 0);
}

static void large_pages_are_committed_with_their_reservation(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(10, 0), 512 * PAGE, 1024 * PAGE,
                            ETL_BUILD_RESERVE | ETL_BUILD_COMMIT | ETL_BUILD_LARGE_PAGES);
    release(b, 50, 512, 0);
    ASSERT_LIFETIMES(b, range(512, 1024, 10, 50));
}

/* Bit 0x4000 is a decommit in a VirtualFree alone. */
static void commit_that_replaces_a_placeholder_is_a_commit(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(10, 0), 20 * PAGE, 4 * PAGE,
                            ETL_BUILD_RESERVE | ETL_BUILD_COMMIT | ETL_BUILD_DECOMMIT);
    ASSERT_LIFETIMES(b, range(20, 4, 10, NEVER));
}

/* --- release --- */

static void release_without_a_size_frees_the_whole_reservation(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    reserve(b, 0, 16, 16);
    commit(b, 10, 16, 2);
    commit(b, 11, 30, 2);
    commit(b, 12, 32, 2);
    release(b, 90, 16, 0);
    ASSERT_LIFETIMES(b, range(16, 2, 10, 90), range(30, 2, 11, 90), range(32, 2, 12, NEVER));
}

static void release_with_its_size_frees_the_whole_reservation(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    reserve(b, 0, 16, 16);
    commit(b, 10, 16, 2);
    commit(b, 11, 30, 2);
    release(b, 90, 16, 16);
    ASSERT_LIFETIMES(b, range(16, 2, 10, 90), range(30, 2, 11, 90));
}

static void address_reserved_again_is_another_reservation(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    reserve(b, 0, 16, 16);
    commit(b, 10, 16, 16);
    release(b, 50, 16, 0);
    reserve(b, 100, 16, 4);
    commit(b, 110, 16, 4);
    commit(b, 111, 24, 4);
    release(b, 150, 16, 0);
    ASSERT_LIFETIMES(b, range(16, 16, 10, 50), range(16, 4, 110, 150), range(24, 4, 111, NEVER));
}

/* --- rundowns --- */

static void rundown_at_the_start_shows_what_was_committed_before(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    rundown(b, 0, DCSTART, 16, 8, 8);
    rundown(b, 1, DCSTART, 32, 8, 2);
    commit(b, 50, 16, 8);
    decommit(b, 100, 18, 2);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ from_before(16, 2, NEVER), from_before(18, 2, 100),
                                        from_before(20, 4, NEVER), from_before(32, 2, NEVER) },
                        4);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_VIRTUALALLOC), 0);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_without_stack), 0);
    lifetime_check_close(check);
}

static void rundown_at_the_end_shows_what_nobody_saw_committed(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, 10, 18, 2);
    commit(b, 20, 40, 2);
    decommit(b, 30, 40, 2);
    rundown(b, 500, DCEND, 16, 8, 8);
    rundown(b, 501, DCEND, 40, 8, 0);
    ASSERT_LIFETIMES(b, from_before(16, 2, NEVER), range(18, 2, 10, NEVER),
                     from_before(20, 4, NEVER), range(40, 2, 20, 30));
}

static void rundowns_at_both_ends_are_one_lifetime(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    rundown(b, 0, DCSTART, 16, 8, 8);
    rundown(b, 500, DCEND, 16, 8, 8);
    ASSERT_LIFETIMES(b, from_before(16, 8, NEVER));
}

static void rundown_at_the_end_tells_nothing_of_a_process_that_started(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_process(b, at(0, 3), ETL_BUILD_START,
                      &(etl_build_process_spec){ .pid = PID, .name = "app.exe" });
    commit(b, 10, 16, 2);
    rundown(b, 500, DCEND, 16, 8, 8);
    ASSERT_LIFETIMES(b, range(16, 2, 10, NEVER));
}

/* --- extents --- */

static void contract_takes_from_what_expand_gave(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_expand(b, at(10, 0), HEAP, 16 * PAGE, 8 * PAGE);
    etl_build_heap_expand(b, at(20, 0), HEAP, 24 * PAGE, 8 * PAGE);
    etl_build_heap_contract(b, at(90, 1), HEAP, 22 * PAGE, 4 * PAGE);
    ASSERT_LIFETIMES(b, extent(16, 6, 10, NEVER), extent(22, 2, 10, 90), extent(24, 2, 20, 90),
                     extent(26, 6, 20, NEVER));
}

static void extents_are_not_counted_with_commits(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, 10, 16, 8);
    etl_build_heap_expand(b, at(20, 0), HEAP, 16 * PAGE, 8 * PAGE);
    decommit(b, 50, 16, 8);
    ASSERT_LIFETIMES(b, range(16, 8, 10, 50), extent(16, 8, 20, NEVER));
}

static void extents_end_with_their_heap(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_expand(b, at(10, 0), HEAP, 16 * PAGE, 8 * PAGE);
    etl_build_heap_destroy(b, at(100, 1), HEAP);
    etl_build_heap_create(b, at(200, 0), HEAP);
    etl_build_heap_contract(b, at(210, 0), HEAP, 16 * PAGE, 1 * PAGE);
    etl_build_heap_expand(b, at(220, 0), HEAP, 18 * PAGE, 8 * PAGE);
    life ended = extent(16, 8, 10, 100);
    ended.end = ETLHEAP_FREE_HEAP_DESTROY;
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ ended, extent(18, 8, 220, NEVER) }, 2);
    assert_int_equal(lifetime_check_unknown_frees(check, ETLHEAP_KIND_EXTENT), 1);
    lifetime_check_close(check);
}

/* --- records of all forms --- */

static void records_of_a_32_bit_system_are_read(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(&(etl_build_options){ .pointer_bytes = 4 });
    reserve(b, 0, 0x7FFF0, 8);
    commit(b, 10, 0x7FFF0, 4);
    decommit(b, 20, 0x7FFF1, 1);
    rundown(b, 30, DCEND, 0x7FFF0, 8, 4);
    ASSERT_LIFETIMES(b, range(0x7FFF0, 1, 10, NEVER), range(0x7FFF1, 1, 10, 20),
                     range(0x7FFF2, 2, 10, NEVER), from_before(0x7FFF1, 1, NEVER));
}

static void records_without_a_thread_are_read(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(&(etl_build_options){ .virtual_alloc_without_tid = true });
    commit(b, 10, 16, 4);
    release(b, 20, 16, 4);
    life row = range(16, 4, 10, 20);
    row.tid = ETL_NO_ID;
    ASSERT_LIFETIMES(b, row);
}

static void records_that_cover_the_whole_address_space_are_read(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(10, 0), PAGE, UINT64_MAX, ETL_BUILD_COMMIT);
    etl_build_virtual_free(b, at(20, 0), 0, UINT64_MAX, ETL_BUILD_RELEASE);
    life row = range(1, 0, 10, 20);
    row.size = UINT64_MAX - PAGE;
    ASSERT_LIFETIMES(b, row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decommit_closes_the_commit),
        cmocka_unit_test(overlapping_commit_keeps_the_first_committer),
        cmocka_unit_test(partial_decommit_splits_the_lifetime),
        cmocka_unit_test(pages_committed_again_are_a_new_lifetime),
        cmocka_unit_test(flags_that_commit_nothing_open_nothing),
        cmocka_unit_test(large_pages_are_committed_with_their_reservation),
        cmocka_unit_test(commit_that_replaces_a_placeholder_is_a_commit),
        cmocka_unit_test(release_without_a_size_frees_the_whole_reservation),
        cmocka_unit_test(release_with_its_size_frees_the_whole_reservation),
        cmocka_unit_test(address_reserved_again_is_another_reservation),
        cmocka_unit_test(rundown_at_the_start_shows_what_was_committed_before),
        cmocka_unit_test(rundown_at_the_end_shows_what_nobody_saw_committed),
        cmocka_unit_test(rundowns_at_both_ends_are_one_lifetime),
        cmocka_unit_test(rundown_at_the_end_tells_nothing_of_a_process_that_started),
        cmocka_unit_test(contract_takes_from_what_expand_gave),
        cmocka_unit_test(extents_are_not_counted_with_commits),
        cmocka_unit_test(extents_end_with_their_heap),
        cmocka_unit_test(records_of_a_32_bit_system_are_read),
        cmocka_unit_test(records_without_a_thread_are_read),
        cmocka_unit_test(records_that_cover_the_whole_address_space_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
