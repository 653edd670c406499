/*
 * Goal: when records are missing or out of order, blocks.c chooses the block that the
 * evidence names, and counts what remains a guess (the table in blocks.h).
 * Method: one row of that table, or one limit of it, a test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "block_check.h"

static memory_event alone(memory_event summary)
{
    summary.op = OP_REALLOC_ALONE;
    return summary;
}

static void assert_guesses(const block_check *f, u64 count)
{
    assert_int_equal(block_check_diag(f, ETL_DIAG_pairing_guessed), count);
}

/* --- summaries of reallocs --- */

/* A summary by another thread than the block's; `since`: ticks since the alloc of its new
 * block, + 1, or 0. */
static memory_event summary_of(i64 ticks, u64 size, u32 since)
{
    memory_event old = block_event_by(OTHER, 1, block_event(OP_REALLOC_OLD, ticks, 0x100, size));
    old.since_alloc = since;
    return old;
}

/* Another thread was given the old address before the summary was logged. */
static void realloc_whose_free_was_seen_leaves_the_block_at_its_old_address(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f,
                      block_event_by(OTHER, 1, block_event(OP_REALLOC_FREED, T0 + 5, 0x100, 24)));
    block_check_apply(f, block_event(OP_REALLOC_FREED, T0 + 5, 0x100, 24));
    block_check_no_rows(f);
    assert_guesses(f, 0);
}

static void realloc_leaves_a_block_that_is_younger_than_its_new_one(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, summary_of(T0 + 50 * CHECK_MS, 24, (u32)(50 * CHECK_MS) + 2));
    block_check_no_rows(f);
    assert_guesses(f, 0);
}

static void realloc_closes_a_block_that_is_older_than_its_new_one(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, summary_of(T0 + 5, 24, 5));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 5));
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 1);
    assert_guesses(f, 0);
}

/* Of a trace whose reallocs have their free, which was lost here. */
static void realloc_whose_free_was_lost_leaves_another_threads_young_block(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, summary_of(T0 + CHECK_PATIENCE, 24, 0));
    block_check_no_rows(f);
    block_check_apply(f, summary_of(T0 + CHECK_PATIENCE + 1, 24, 0));
    block_check_row(f, block_row(0x100, 24, T0, T0 + CHECK_PATIENCE + 1));
    assert_guesses(f, 2);
}

static void realloc_alone_closes_another_threads_block_of_its_size(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, alone(summary_of(T0 + 5, 24, 0)));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 5));
    assert_guesses(f, 1);
}

static void realloc_alone_leaves_another_threads_young_block_of_another_size(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, alone(summary_of(T0 + CHECK_PATIENCE, 25, 0)));
    block_check_no_rows(f);
    block_check_apply(f, alone(summary_of(T0 + CHECK_PATIENCE + 1, 25, 0)));
    block_check_row(f, block_row(0x100, 24, T0, T0 + CHECK_PATIENCE + 1));
    assert_guesses(f, 2);
}

/* The thread allocated a block at the address itself, which another thread has freed. */
static void realloc_alone_takes_an_address_whose_free_is_late(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 48));
    block_check_apply(f, block_event(OP_REALLOC_UNSEEN, T0 + 5, 0x100, 48));
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 7, 0x100, 0)));
    block_check_finish(f);
    block_check_rows(
        f,
        (const lifetime[]){ block_row(0x100, 48, T0, T0 + 7),
                            as_realloc(block_row(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER)) },
        2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 1);
    assert_guesses(f, 1);
}

/* The free that tells that the alloc is the realloc's own may be what is missing. */
static void realloc_alone_keeps_its_threads_block_if_the_trace_lost_events(void **state)
{
    block_check *const f = *state;
    f->check.is_lossy = true;
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 48));
    block_check_apply(f, block_event(OP_REALLOC_UNSEEN, T0 + 5, 0x100, 48));
    block_check_finish(f);
    block_check_row(f, as_realloc(block_row(0x100, 48, T0, ETLHEAP_TICKS_NEVER)));
    assert_int_equal(block_check_diag(f, ETL_DIAG_realloc_synthesized), 0);
}

/* --- frees of displaced blocks --- */

/* One block displaces another on CPU 0; then the address is freed by `tid` on `cpu`. */
static void displace_and_free(block_check *f, u32 tid, u16 cpu, i64 free_ticks)
{
    block_check_apply(f, block_event(OP_ALLOC, T0, 0x100, 24));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 48));
    block_check_apply(f, block_event_by(tid, cpu, block_event(OP_FREE, free_ticks, 0x100, 0)));
}

static void assert_late(block_check *f, i64 free_ticks)
{
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, free_ticks),
                                         block_row(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER) },
                     2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 0);
}

static void assert_lost(block_check *f, i64 free_ticks)
{
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, T0 + 5),
                                         block_row(0x100, 48, T0 + 5, free_ticks) },
                     2);
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 1);
}

/* What a thread logs is in order. */
static void free_by_the_newer_blocks_thread_is_its_own(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, TID, 1, T0 + 7);
    assert_lost(f, T0 + 7);
    assert_guesses(f, 0);
}

static void free_in_doubt_is_late_if_another_cpu_logged_it_soon(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 5 + CHECK_MS);
    block_check_no_rows(f);
    block_check_finish(f);
    assert_late(f, T0 + 5 + CHECK_MS);
    assert_guesses(f, 1);
}

static void free_in_doubt_is_not_late_after_a_millisecond(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 5 + CHECK_MS + 1);
    block_check_finish(f);
    assert_lost(f, T0 + 5 + CHECK_MS + 1);
    assert_guesses(f, 1);
}

static void free_in_doubt_is_not_late_on_the_same_cpu(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 7);
    block_check_finish(f);
    assert_lost(f, T0 + 7);
}

static void free_in_doubt_is_not_late_if_the_trace_lost_events(void **state)
{
    block_check *const f = *state;
    f->rules.is_lossy = true;
    displace_and_free(f, OTHER, 1, T0 + 7);
    block_check_finish(f);
    assert_lost(f, T0 + 7);
}

static void the_older_blocks_thread_frees_late_even_if_the_trace_lost_events(void **state)
{
    block_check *const f = *state;
    f->rules.is_lossy = true;
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_ALLOC, T0, 0x100, 24)));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 48));
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 7, 0x100, 0)));
    block_check_finish(f);
    lifetime older = block_row(0x100, 24, T0, T0 + 7);
    older.thread = OTHER;
    block_check_rows(
        f, (const lifetime[]){ older, block_row(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER) }, 2);
}

static void second_free_tells_that_the_first_was_late(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 5 + 90 * CHECK_MS);
    block_check_apply(
        f, block_event_by(THIRD, 0, block_event(OP_FREE, T0 + 5 + 91 * CHECK_MS, 0x100, 0)));
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, T0 + 5 + 90 * CHECK_MS),
                                         block_row(0x100, 48, T0 + 5, T0 + 5 + 91 * CHECK_MS) },
                     2);
    assert_int_equal(block_check_unknown_frees(f), 0);
    assert_int_equal(block_check_diag(f, ETL_DIAG_alloc_over_live), 0);
    assert_guesses(f, 0);
}

static void realloc_in_place_tells_that_the_free_was_late(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 7);
    block_check_apply(f, block_event(OP_REALLOC_SAME, T0 + 9, 0x100, 64));
    block_check_finish(f);
    block_check_rows(
        f,
        (const lifetime[]){ block_row(0x100, 24, T0, T0 + 7), block_row(0x100, 48, T0 + 5, T0 + 9),
                            as_realloc(block_row(0x100, 64, T0 + 9, ETLHEAP_TICKS_NEVER)) },
        3);
}

/* Until its summary is logged nobody else knows the address. */
static void realloc_that_made_the_newer_block_tells_that_the_free_was_late(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 7);
    block_check_apply(f, block_event(OP_REALLOC_NEW, T0 + 9, 0x100, 48));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 7));
    block_check_finish(f);
    block_check_row(f, as_realloc(block_row(0x100, 48, T0 + 5, ETLHEAP_TICKS_NEVER)));
    assert_guesses(f, 0);
}

/* Else one lost free would shift all later pairs of a hot address. */
static void next_alloc_tells_that_the_free_was_the_newer_blocks(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 7);
    block_check_apply(f, block_event(OP_ALLOC, T0 + 9, 0x100, 64));
    assert_lost(f, T0 + 7);
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 11, 0x100, 0)));
    block_check_row(f, block_row(0x100, 64, T0 + 9, T0 + 11));
    assert_guesses(f, 0);
}

/* The older block's free may be late, and then so is the newer one's. Two frees follow, and the
 * last block gets both: it is known only then that one was not lost. */
static void next_alloc_leaves_a_guess_if_the_free_may_be_late(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 7);
    block_check_apply(f, block_event_by(THIRD, 1, block_event(OP_ALLOC, T0 + 9, 0x100, 64)));
    assert_lost(f, T0 + 7);
    assert_guesses(f, 1);
    block_check_apply(f, block_event_by(OTHER, 2, block_event(OP_FREE, T0 + 11, 0x100, 0)));
    block_check_apply(f, block_event(OP_FREE, T0 + 12, 0x100, 0));
    lifetime last = block_row(0x100, 64, T0 + 9, T0 + 11);
    last.thread = THIRD;
    block_check_row(f, last);
    assert_int_equal(block_check_unknown_frees(f), 1);
    assert_guesses(f, 1);
}

/* In a trace that lost events a lost free explains it better. */
static void next_alloc_leaves_no_guess_if_the_trace_lost_events(void **state)
{
    block_check *const f = *state;
    f->check.is_lossy = true;
    displace_and_free(f, OTHER, 1, T0 + 7);
    block_check_apply(f, block_event_by(THIRD, 1, block_event(OP_ALLOC, T0 + 9, 0x100, 64)));
    assert_lost(f, T0 + 7);
    assert_guesses(f, 0);
}

static void next_alloc_does_not_tell_so_if_the_older_blocks_thread_freed(void **state)
{
    block_check *const f = *state;
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_ALLOC, T0, 0x100, 24)));
    block_check_apply(f, block_event(OP_ALLOC, T0 + 5, 0x100, 48));
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 7, 0x100, 0)));
    block_check_apply(f, block_event_by(OTHER, 1, block_event(OP_ALLOC, T0 + 9, 0x100, 64)));
    lifetime older = block_row(0x100, 24, T0, T0 + 7);
    older.thread = OTHER;
    block_check_row(f, older);
}

static void doubt_ends_with_the_patience(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 7);
    block_check_apply(
        f, block_event_by(OTHER, 1, block_event(OP_FREE, T0 + 8 + CHECK_PATIENCE, 0x100, 0)));
    block_check_rows(f,
                     (const lifetime[]){ block_row(0x100, 24, T0, T0 + 7),
                                         block_row(0x100, 48, T0 + 5, T0 + 8 + CHECK_PATIENCE) },
                     2);
    assert_guesses(f, 1);
}

static void deciding_asks_for_the_patience_alone(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 7);
    blocks_decide(&f->table, &f->rules, T0 + 7 + CHECK_PATIENCE, &f->check.out);
    block_check_no_rows(f);
    blocks_decide(&f->table, &f->rules, T0 + 8 + CHECK_PATIENCE, &f->check.out);
    assert_lost(f, T0 + 7);
    assert_int_equal(f->table.open.count, 0);
    assert_int_equal(f->table.displaced_count, 0);
}

/* A realloc names the size of what it freed. */
static void realloc_tells_by_its_size_whose_free_it_was(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 0, T0 + 7);
    block_check_apply(f,
                      block_event_by(THIRD, 0, block_event(OP_REALLOC_FREED, T0 + 8, 0x100, 48)));
    block_check_no_rows(f);
    block_check_apply(f,
                      block_event_by(OTHER, 0, block_event(OP_REALLOC_FREED, T0 + 8, 0x100, 48)));
    assert_lost(f, T0 + 7);
    displace_and_free(f, OTHER, 0, T0 + 7);
    block_check_apply(f,
                      block_event_by(OTHER, 0, block_event(OP_REALLOC_FREED, T0 + 8, 0x100, 24)));
    block_check_row(f, block_row(0x100, 24, T0, T0 + 7));
    assert_guesses(f, 0);
}

static void free_after_the_patience_is_the_newer_blocks(void **state)
{
    block_check *const f = *state;
    displace_and_free(f, OTHER, 1, T0 + 6 + CHECK_PATIENCE);
    assert_lost(f, T0 + 6 + CHECK_PATIENCE);
    assert_guesses(f, 0);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, block_check_open, block_check_close)
    const struct CMUnitTest tests[] = {
        RULE(realloc_whose_free_was_seen_leaves_the_block_at_its_old_address),
        RULE(realloc_leaves_a_block_that_is_younger_than_its_new_one),
        RULE(realloc_closes_a_block_that_is_older_than_its_new_one),
        RULE(realloc_alone_closes_another_threads_block_of_its_size),
        RULE(realloc_alone_leaves_another_threads_young_block_of_another_size),
        RULE(realloc_whose_free_was_lost_leaves_another_threads_young_block),
        RULE(realloc_alone_takes_an_address_whose_free_is_late),
        RULE(realloc_alone_keeps_its_threads_block_if_the_trace_lost_events),
        RULE(the_older_blocks_thread_frees_late_even_if_the_trace_lost_events),
        RULE(free_by_the_newer_blocks_thread_is_its_own),
        RULE(free_in_doubt_is_late_if_another_cpu_logged_it_soon),
        RULE(free_in_doubt_is_not_late_after_a_millisecond),
        RULE(free_in_doubt_is_not_late_on_the_same_cpu),
        RULE(free_in_doubt_is_not_late_if_the_trace_lost_events),
        RULE(second_free_tells_that_the_first_was_late),
        RULE(realloc_in_place_tells_that_the_free_was_late),
        RULE(realloc_that_made_the_newer_block_tells_that_the_free_was_late),
        RULE(next_alloc_tells_that_the_free_was_the_newer_blocks),
        RULE(next_alloc_leaves_a_guess_if_the_free_may_be_late),
        RULE(next_alloc_leaves_no_guess_if_the_trace_lost_events),
        RULE(next_alloc_does_not_tell_so_if_the_older_blocks_thread_freed),
        RULE(doubt_ends_with_the_patience),
        RULE(deciding_asks_for_the_patience_alone),
        RULE(realloc_tells_by_its_size_whose_free_it_was),
        RULE(free_after_the_patience_is_the_newer_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
