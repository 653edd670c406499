/*
 * Goal: ranges.c opens, splits and closes committed ranges and heap extents by
 * the rules of ranges.h.
 * Method: single events applied to one table and the rows it puts out, one rule
 * a test. Addresses and sizes are pages. Random sequences: test_ranges_random.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/pair/range_map.h"
#include "ranges_fixture.h"

/* --- commit --- */

static void decommit_closes_its_commit(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 16, 4);
    apply(f, OP_DECOMMIT, 9, 16, 4);
    assert_row(f, row_of(16, 4, 0, 9));
    finish(f);
    assert_rows(f, NULL, 0);
}

static void reservation_alone_is_no_lifetime(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 16, 4);
    finish(f);
    assert_rows(f, NULL, 0);
}

static void overlapping_commit_keeps_the_first_committer(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 20, 4);
    apply(f, OP_COMMIT, 1, 20, 4);
    apply(f, OP_COMMIT, 2, 21, 1);
    finish(f);
    assert_row(f, row_of(20, 4, 0, NEVER));
}

static void commit_around_committed_pages_opens_a_lifetime_for_each_gap(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 12, 2);
    apply(f, OP_COMMIT, 1, 16, 2);
    apply(f, OP_COMMIT, 2, 10, 10);
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(10, 2, 2, NEVER), row_of(12, 2, 0, NEVER),
                                    row_of(14, 2, 2, NEVER), row_of(16, 2, 1, NEVER),
                                    row_of(18, 2, 2, NEVER) },
                5);
}

static void commits_side_by_side_stay_two(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 2);
    apply(f, OP_COMMIT, 1, 12, 2);
    apply(f, OP_DECOMMIT, 2, 10, 4);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 0, 2), row_of(12, 2, 1, 2) }, 2);
}

static void commit_of_nothing_opens_nothing(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 0);
    apply(f, OP_RESERVE, 0, 10, 0);
    apply(f, OP_EXPAND, 0, 10, 0);
    finish(f);
    assert_rows(f, NULL, 0);
}

static void commit_beyond_the_address_space_is_cut(void **state)
{
    fixture *const f = *state;
    const u64 last = UINT64_MAX / PAGE;
    apply(f, OP_COMMIT, 0, last, 3);
    apply(f, OP_COMMIT, 1, last, 1);
    apply(f, OP_RELEASE, 2, last, 3);
    lifetime row = row_of(last, 1, 0, 2);
    row.size -= 1; /* the end is exclusive */
    assert_row(f, row);
}

/* --- decommit --- */

static void decommit_in_the_middle_splits_the_range(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 10);
    apply(f, OP_DECOMMIT, 5, 13, 3);
    assert_row(f, row_of(13, 3, 0, 5));
    apply(f, OP_DECOMMIT, 7, 16, 4);
    assert_row(f, row_of(16, 4, 0, 7));
    finish(f);
    assert_row(f, row_of(10, 3, 0, NEVER));
}

static void decommit_of_either_end_leaves_the_rest(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 10);
    apply(f, OP_DECOMMIT, 1, 8, 4);
    apply(f, OP_DECOMMIT, 2, 18, 4);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 0, 1), row_of(18, 2, 0, 2) }, 2);
    finish(f);
    assert_row(f, row_of(12, 6, 0, NEVER));
}

static void decommit_over_several_ranges_closes_a_part_of_each(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 4);
    apply(f, OP_COMMIT, 1, 16, 4);
    apply(f, OP_COMMIT, 2, 20, 4);
    apply(f, OP_DECOMMIT, 9, 12, 10);
    assert_rows(
        f, (const lifetime[]){ row_of(12, 2, 0, 9), row_of(16, 4, 1, 9), row_of(20, 2, 2, 9) }, 3);
    finish(f);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 0, NEVER), row_of(22, 2, 2, NEVER) }, 2);
}

static void pages_committed_again_are_a_new_lifetime(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 4);
    apply(f, OP_DECOMMIT, 1, 11, 2);
    apply(f, OP_COMMIT, 2, 10, 4);
    apply(f, OP_DECOMMIT, 3, 10, 4);
    assert_rows(f,
                (const lifetime[]){ row_of(11, 2, 0, 1), row_of(10, 1, 0, 3), row_of(11, 2, 2, 3),
                                    row_of(13, 1, 0, 3) },
                4);
}

static void free_of_unknown_memory_is_counted_apart(void **state)
{
    fixture *const f = *state;
    apply(f, OP_DECOMMIT, 0, 10, 4);
    apply(f, OP_RELEASE, 1, 30, 4);
    apply(f, OP_RELEASE, 2, 50, 0);
    apply(f, OP_CONTRACT, 3, 10, 4);
    apply(f, OP_DECOMMIT, 4, 10, 0);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 4);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_EXTENT), 1);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_HEAP), 0);
    assert_rows(f, NULL, 0);
}

static void free_of_partly_known_memory_is_not(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 12, 1);
    apply(f, OP_DECOMMIT, 1, 10, 4);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
    assert_row(f, row_of(12, 1, 0, 1));
}

/* Nothing is committed there, and that is known. */
static void free_of_empty_pages_of_a_known_reservation_is_not(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 10);
    apply(f, OP_DECOMMIT, 1, 12, 2);
    apply(f, OP_RELEASE, 2, 10, 0);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
}

/* --- release --- */

static void release_without_a_size_closes_the_whole_reservation(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_COMMIT, 1, 10, 2);
    apply(f, OP_COMMIT, 2, 28, 2);
    apply(f, OP_COMMIT, 3, 30, 2); /* the neighbour's */
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 1, 9), row_of(28, 2, 2, 9) }, 2);
    finish(f);
    assert_row(f, row_of(30, 2, 3, NEVER));
}

static void release_with_a_size_closes_what_is_inside(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_COMMIT, 1, 10, 2);
    apply(f, OP_COMMIT, 2, 28, 2);
    apply(f, OP_RELEASE, 9, 10, 20);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 1, 9), row_of(28, 2, 2, 9) }, 2);
}

static void decommit_without_a_size_closes_what_is_in_the_reservation(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_COMMIT, 1, 10, 2);
    apply(f, OP_COMMIT, 2, 28, 2);
    apply(f, OP_COMMIT, 3, 30, 2); /* the neighbour's */
    apply(f, OP_DECOMMIT, 8, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 1, 8), row_of(28, 2, 2, 8) }, 2);
    apply(f, OP_COMMIT, 9, 12, 1);
    apply(f, OP_RELEASE, 10, 10, 0); /* the reservation has stayed */
    assert_row(f, row_of(12, 1, 9, 10));
    apply(f, OP_DECOMMIT, 11, 30, 0); /* its start was not seen */
    assert_row(f, row_of(30, 2, 3, 11));
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
    apply(f, OP_DECOMMIT, 12, 40, 0);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 1);
}

static void release_of_a_reservation_from_before_closes_the_range_there(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 4);
    apply(f, OP_COMMIT, 1, 20, 4);
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_row(f, row_of(10, 4, 0, 9));
    finish(f);
    assert_row(f, row_of(20, 4, 1, NEVER));
}

static void released_reservation_is_forgotten(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_RELEASE, 1, 10, 0);
    apply(f, OP_COMMIT, 2, 10, 2);
    apply(f, OP_COMMIT, 3, 15, 2);
    apply(f, OP_RELEASE, 4, 10, 0);
    assert_row(f, row_of(10, 2, 2, 4));
}

static void new_reservation_replaces_one_whose_release_was_lost(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_RESERVE, 1, 10, 4);
    apply(f, OP_COMMIT, 2, 10, 4);
    apply(f, OP_COMMIT, 3, 20, 4);
    apply(f, OP_RELEASE, 4, 10, 0);
    assert_row(f, row_of(10, 4, 2, 4));
}

/* --- extents --- */

static void contract_closes_what_expand_opened(void **state)
{
    fixture *const f = *state;
    apply(f, OP_EXPAND, 0, 10, 8);
    apply(f, OP_CONTRACT, 5, 14, 4);
    assert_row(f, extent_of(14, 4, 0, 5));
    finish(f);
    assert_row(f, extent_of(10, 4, 0, NEVER));
}

static void extents_and_commits_of_the_same_pages_are_apart(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 8);
    apply(f, OP_EXPAND, 1, 10, 8);
    apply(f, OP_DECOMMIT, 5, 10, 8);
    assert_row(f, row_of(10, 8, 0, 5));
    finish(f);
    assert_row(f, extent_of(10, 8, 1, NEVER));
}

static void destroying_a_heap_ends_its_extents(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 8);
    apply(f, OP_EXPAND, 1, 10, 8);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    ranges_sweep(&f->table, &f->check.context, T0 + 50, &f->check.out);
    assert_rows(f, NULL, 0);
    ranges_sweep(&f->table, &f->check.context, T0 + 51, &f->check.out);
    assert_row(f, ended(extent_of(10, 8, 1, 50), ETLHEAP_FREE_HEAP_DESTROY));
    finish(f);
    assert_row(f, row_of(10, 8, 0, NEVER));
}

/* The handle is used again before any sweep. */
static void extents_of_a_destroyed_heap_are_not_the_new_heaps(void **state)
{
    fixture *const f = *state;
    apply(f, OP_EXPAND, 0, 10, 8);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    apply(f, OP_EXPAND, 60, 12, 4);
    assert_row(f, ended(extent_of(10, 8, 0, 50), ETLHEAP_FREE_HEAP_DESTROY));
    finish(f);
    assert_row(f, extent_of(12, 4, 60, NEVER));
}

static void contract_of_the_new_heap_leaves_the_destroyed_ones_extents(void **state)
{
    fixture *const f = *state;
    apply(f, OP_EXPAND, 0, 10, 8);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    apply(f, OP_CONTRACT, 60, 12, 4);
    assert_row(f, ended(extent_of(10, 8, 0, 50), ETLHEAP_FREE_HEAP_DESTROY));
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_EXTENT), 1);
}

/* As with pages of a reservation: nothing is there, and that is known. */
static void contract_of_what_was_contracted_is_no_unknown_free(void **state)
{
    fixture *const f = *state;
    apply(f, OP_EXPAND, 0, 10, 8);
    apply(f, OP_CONTRACT, 1, 14, 4);
    apply(f, OP_CONTRACT, 2, 14, 4);
    apply(f, OP_CONTRACT, 3, 16, 20);
    apply(f, OP_EXPAND, 4, 14, 2);
    apply(f, OP_CONTRACT, 5, 14, 2);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_EXTENT), 0);
    apply(f, OP_CONTRACT, 6, 18, 4);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_EXTENT), 1);
    assert_rows(f, (const lifetime[]){ extent_of(14, 4, 0, 1), extent_of(14, 2, 4, 5) }, 2);
}

static void each_extent_ends_with_the_destruction_after_it(void **state)
{
    fixture *const f = *state;
    engine_check_destroy(&f->check, PID, HEAP, T0 + 50);
    engine_check_destroy(&f->check, PID, HEAP, T0 + 150);
    apply(f, OP_EXPAND, 0, 10, 2);
    apply(f, OP_EXPAND, 100, 20, 2);
    apply(f, OP_EXPAND, 200, 30, 2);
    finish(f);
    assert_rows(f,
                (const lifetime[]){ ended(extent_of(10, 2, 0, 50), ETLHEAP_FREE_HEAP_DESTROY),
                                    ended(extent_of(20, 2, 100, 150), ETLHEAP_FREE_HEAP_DESTROY),
                                    extent_of(30, 2, 200, NEVER) },
                3);
}

/* Looking through all extents at each Expand would take half a minute. */
static void expanding_stays_cheap_after_a_heap_was_destroyed(void **state)
{
    fixture *const f = *state;
    engine_check_destroy(&f->check, PID, HEAP, T0);
    engine_check_destroy(&f->check, PID, HEAP + 0x10000, T0);
    for (u64 i = 0; i < 60000; i++)
        apply(f, OP_EXPAND, 1, 2 * i, 1);
}

/* --- processes --- */

static void end_of_the_process_ends_its_ranges_after_the_late_frees(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 4);
    apply(f, OP_EXPAND, 0, 10, 4);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, PID, T0 + 50, "app.exe", 1);
    ranges_sweep(&f->table, &f->check.context, T0 + 50 + 2 * CHECK_MS, &f->check.out);
    assert_rows(f, NULL, 0);
    apply(f, OP_DECOMMIT, 60, 10, 1);
    assert_row(f, row_of(10, 1, 0, 60));
    ranges_sweep(&f->table, &f->check.context, T0 + 51 + 2 * CHECK_MS, &f->check.out);
    assert_rows(f,
                (const lifetime[]){ ended(row_of(11, 3, 0, 50), ETLHEAP_FREE_PROCESS_EXIT),
                                    ended(extent_of(10, 4, 0, 50), ETLHEAP_FREE_PROCESS_EXIT) },
                2);
}

static void same_pages_of_another_process_are_apart(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 10, 4);
    f->process = engine_check_owner(&f->check, PID + 1, CHECK_START);
    apply(f, OP_DECOMMIT, 5, 10, 4);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 1);
    finish(f);
    assert_row(f, row_of(10, 4, 0, NEVER));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(decommit_closes_its_commit),
        RULE(reservation_alone_is_no_lifetime),
        RULE(overlapping_commit_keeps_the_first_committer),
        RULE(commit_around_committed_pages_opens_a_lifetime_for_each_gap),
        RULE(commits_side_by_side_stay_two),
        RULE(commit_of_nothing_opens_nothing),
        RULE(commit_beyond_the_address_space_is_cut),
        RULE(decommit_in_the_middle_splits_the_range),
        RULE(decommit_of_either_end_leaves_the_rest),
        RULE(decommit_over_several_ranges_closes_a_part_of_each),
        RULE(pages_committed_again_are_a_new_lifetime),
        RULE(free_of_unknown_memory_is_counted_apart),
        RULE(free_of_partly_known_memory_is_not),
        RULE(free_of_empty_pages_of_a_known_reservation_is_not),
        RULE(release_without_a_size_closes_the_whole_reservation),
        RULE(release_with_a_size_closes_what_is_inside),
        RULE(decommit_without_a_size_closes_what_is_in_the_reservation),
        RULE(release_of_a_reservation_from_before_closes_the_range_there),
        RULE(released_reservation_is_forgotten),
        RULE(new_reservation_replaces_one_whose_release_was_lost),
        RULE(contract_closes_what_expand_opened),
        RULE(extents_and_commits_of_the_same_pages_are_apart),
        RULE(destroying_a_heap_ends_its_extents),
        RULE(extents_of_a_destroyed_heap_are_not_the_new_heaps),
        RULE(contract_of_the_new_heap_leaves_the_destroyed_ones_extents),
        RULE(contract_of_what_was_contracted_is_no_unknown_free),
        RULE(each_extent_ends_with_the_destruction_after_it),
        RULE(expanding_stays_cheap_after_a_heap_was_destroyed),
        RULE(end_of_the_process_ends_its_ranges_after_the_late_frees),
        RULE(same_pages_of_another_process_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
