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

#include <stdlib.h>

#include "engine/range_map.h"
#include "engine/ranges.h"
#include "engine_check.h"

#define PID  42u
#define TID  7u
#define HEAP 0x1F0000u
#define PAGE ((u64)4096)
#define T0   (CHECK_START + 1000)

typedef struct fixture {
    engine_check check;
    range_table table;
    u32 process;
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    ranges_free(&f->table);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

/* At T0 + after, over `count` pages from `page`; the stack is `after` + 1. */
static void apply(fixture *f, memory_op op, i64 after, u64 page, u64 count)
{
    const bool is_extent = op == OP_EXPAND || op == OP_CONTRACT;
    const memory_event event = { .ticks = T0 + after,
                                 .op = (u8)op,
                                 .address = page * PAGE,
                                 .size = count * PAGE,
                                 .heap = is_extent ? HEAP : 0,
                                 .pid = PID,
                                 .tid = TID,
                                 .stack = (stack_ref)after + 1 };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
}

static void rundown(fixture *f, memory_op op, u64 page, u64 count, u64 committed)
{
    const memory_event event = { .ticks = T0,
                                 .op = (u8)op,
                                 .address = page * PAGE,
                                 .size = committed * PAGE,
                                 .heap = count * PAGE,
                                 .pid = PID,
                                 .tid = 1 };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
}

#define NEVER  INT64_MAX
#define BEFORE INT64_MIN

static i64 ticks_of(i64 after)
{
    return after == NEVER || after == BEFORE ? after : T0 + after;
}

static lifetime row_of(u64 page, u64 count, i64 committed, i64 freed)
{
    const bool seeded = committed == BEFORE;
    return (lifetime){ .alloc_ticks = ticks_of(committed),
                       .free_ticks = ticks_of(freed),
                       .address = page * PAGE,
                       .size = count * PAGE,
                       .process = 1,
                       .stack = seeded ? 0 : (stack_ref)committed + 1,
                       .thread = seeded ? ETL_NO_ID : TID,
                       .kind = ETLHEAP_KIND_VIRTUALALLOC,
                       .free_type = freed == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
}

static lifetime extent_of(u64 page, u64 count, i64 committed, i64 freed)
{
    lifetime row = row_of(page, count, committed, freed);
    row.kind = ETLHEAP_KIND_EXTENT;
    row.heap = HEAP;
    return row;
}

static lifetime ended(lifetime row, etlheap_free_type type)
{
    row.free_type = (u8)type;
    return row;
}

static void assert_rows(fixture *f, const lifetime *rows, size_t count)
{
    engine_check_rows(&f->check, rows, count);
}

static void assert_row(fixture *f, lifetime row)
{
    assert_rows(f, &row, 1);
}

static void finish(fixture *f)
{
    ranges_finish(&f->table, &f->check.context, &f->check.out);
}

static u64 unknown_frees(const fixture *f, etlheap_kind kind)
{
    return f->check.out.counts.count == 0
               ? 0
               : f->check.out.counts.at[f->process - 1].free_without_alloc[kind];
}

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
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 3);
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

/* --- rundowns --- */

static void rundown_at_the_start_seeds_what_was_committed_before(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 8, 8);
    rundown(f, OP_RUNDOWN_START, 30, 8, 3);
    rundown(f, OP_RUNDOWN_START, 50, 8, 0);
    apply(f, OP_DECOMMIT, 5, 12, 2);
    assert_row(f, row_of(12, 2, BEFORE, 5));
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(10, 2, BEFORE, NEVER), row_of(14, 4, BEFORE, NEVER),
                                    row_of(30, 3, BEFORE, NEVER) },
                3);
}

static void rundown_adds_only_what_is_not_known(void **state)
{
    fixture *const f = *state;
    apply(f, OP_COMMIT, 0, 12, 2);
    rundown(f, OP_RUNDOWN_END, 10, 8, 5);
    finish(f);
    assert_rows(f,
                (const lifetime[]){ row_of(10, 2, BEFORE, NEVER), row_of(12, 2, 0, NEVER),
                                    row_of(14, 1, BEFORE, NEVER) },
                3);
}

static void both_rundowns_of_a_region_are_one_lifetime(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 8, 8);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    finish(f);
    assert_row(f, row_of(10, 8, BEFORE, NEVER));
}

static void rundown_at_the_end_knows_nothing_new_of_a_started_process(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, PID, CHECK_START, "app.exe", 1);
    rundown(f, OP_RUNDOWN_END, 10, 8, 8);
    finish(f);
    assert_rows(f, NULL, 0);
}

static void rundown_with_more_committed_than_the_region_fills_it(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 4, 9);
    rundown(f, OP_RUNDOWN_START, UINT64_MAX / PAGE, 4, 9);
    finish(f);
    lifetime top = row_of(UINT64_MAX / PAGE, 1, BEFORE, NEVER);
    top.size -= 1;
    assert_rows(f, (const lifetime[]){ row_of(10, 4, BEFORE, NEVER), top }, 2);
}

/* A region of a rundown is a reservation: the trace did not see it made. */
static void release_without_a_size_covers_the_region_of_a_rundown(void **state)
{
    fixture *const f = *state;
    rundown(f, OP_RUNDOWN_START, 10, 20, 2);
    rundown(f, OP_RUNDOWN_START, 30, 4, 4);
    apply(f, OP_COMMIT, 1, 20, 2);
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, BEFORE, 9), row_of(20, 2, 1, 9) }, 2);
    assert_int_equal(unknown_frees(f, ETLHEAP_KIND_VIRTUALALLOC), 0);
}

/* Records may speak of parts of a reservation whose making the trace saw. */
static void rundown_inside_a_known_reservation_leaves_it_whole(void **state)
{
    fixture *const f = *state;
    apply(f, OP_RESERVE, 0, 10, 20);
    apply(f, OP_COMMIT, 1, 10, 2);
    apply(f, OP_COMMIT, 2, 24, 2);
    rundown(f, OP_RUNDOWN_START, 10, 4, 2);
    apply(f, OP_RELEASE, 9, 10, 0);
    assert_rows(f, (const lifetime[]){ row_of(10, 2, 1, 9), row_of(24, 2, 2, 9) }, 2);
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
        RULE(release_of_a_reservation_from_before_closes_the_range_there),
        RULE(released_reservation_is_forgotten),
        RULE(new_reservation_replaces_one_whose_release_was_lost),
        RULE(rundown_at_the_start_seeds_what_was_committed_before),
        RULE(rundown_adds_only_what_is_not_known),
        RULE(both_rundowns_of_a_region_are_one_lifetime),
        RULE(rundown_at_the_end_knows_nothing_new_of_a_started_process),
        RULE(rundown_with_more_committed_than_the_region_fills_it),
        RULE(release_without_a_size_covers_the_region_of_a_rundown),
        RULE(rundown_inside_a_known_reservation_leaves_it_whole),
        RULE(contract_closes_what_expand_opened),
        RULE(extents_and_commits_of_the_same_pages_are_apart),
        RULE(destroying_a_heap_ends_its_extents),
        RULE(extents_of_a_destroyed_heap_are_not_the_new_heaps),
        RULE(contract_of_the_new_heap_leaves_the_destroyed_ones_extents),
        RULE(each_extent_ends_with_the_destruction_after_it),
        RULE(expanding_stays_cheap_after_a_heap_was_destroyed),
        RULE(end_of_the_process_ends_its_ranges_after_the_late_frees),
        RULE(same_pages_of_another_process_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
