/*
 * Goal: the event list tells every event at its rank, with the origin, the size and the
 * flags it was noted with, however large the size; blocks opened after the window
 * are left out, and those its end finds in use are known by their rank.
 * Method: slices whose times are given and notes by hand; the event list read back.
 * Late notes: test_event_list_late.c. Disk: test_event_list_disk.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/event_list_check.h"

#define T0 CHECK_START

/* --- entries --- */

static void event_is_told_at_its_rank(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 5, T0 + 5, T0 + 9);
    const entry_block late = event_list_check_alloc(f, (noted_event){ T0 + 5, 2 }, 4, 200);
    const entry_block early = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_free(f, &early, T0 + 9, 3);
    event_list_check_end(f, T0 + 10);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 4);
    event_list_check_told(&rows[0], 1, ENTRY_ALLOC, 3, 100);
    event_list_check_told(&rows[1], 2, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[2], 2, ENTRY_ALLOC, 4, 200);
    event_list_check_told(&rows[3], 3, ENTRY_FREE, 3, 100);
    assert_int_equal(rows[2].rank, late.rank);
}

static void ranks_go_on_from_slice_to_slice(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2);
    event_list_check_end(f, T0 + 3);
    EVENT_LIST_BEGIN(f, T0 + 4, T0 + 5);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0 + 5, 1 }, 7, 10);
    assert_int_equal(noted.rank, 4);
    event_list_check_end(f, T0 + 6);
    assert_int_equal(event_list_check_read(f)[4].rank, 4);
    event_list_check_told(&f->told.at[4], 5, ENTRY_ALLOC, 7, 10);
}

static void origins_and_sizes_fit_to_their_last_bit(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3);
    event_list_check_alloc(f, (noted_event){ T0, 0 }, ORIGIN_NUMBER_MAX, ENTRY_BIG - 1);
    event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, ORIGIN_NUMBER_MAX, 0);
    event_list_check_alloc(f, (noted_event){ T0 + 2, 2 }, 1, ENTRY_BIG - 1);
    event_list_check_end(f, T0 + 4);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 4);
    event_list_check_told(&rows[0], 1, ENTRY_ALLOC, ORIGIN_NUMBER_MAX, ENTRY_BIG - 1);
    event_list_check_told(&rows[1], 2, ENTRY_ALLOC, ORIGIN_NUMBER_MAX, 0);
    event_list_check_told(&rows[2], 3, ENTRY_ALLOC, 1, ENTRY_BIG - 1);
    event_list_check_told(&rows[3], 4, ENTRY_NONE, 0, 0);
}

/* Its event's own entry is then empty. */
static void size_that_does_not_fit_is_told_in_full(void **state)
{
    event_list_check *const f = *state;
    static const u64 sizes[] = { ENTRY_BIG, ENTRY_BIG + 1, UINT32_MAX, (u64)1 << 40, UINT64_MAX };
    EVENT_LIST_BEGIN(f, T0 - 1);
    event_list_check_end(f, T0);
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++) {
        EVENT_LIST_BEGIN(f, T0 + 10 * i, T0 + 10 * i + 1, T0 + 10 * i + 2);
        const entry_block noted =
            event_list_check_alloc(f, (noted_event){ T0 + 10 * i, 0 }, 9, sizes[i]);
        event_list_check_realloc(f, &noted, T0 + 10 * i + 1, 1);
        event_list_check_free(f, &noted, T0 + 10 * i + 2, 2);
        event_list_check_end(f, T0 + 10 * i + 10);
    }
    const told *rows = event_list_check_read(f) + 1;
    assert_int_equal(f->told.count, 1 + 6 * ETL_COUNT_OF(sizes));
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++, rows += 6) {
        event_list_check_told(&rows[0], 3 * i + 2, ENTRY_NONE, 0, 0);
        event_list_check_told(&rows[1], 3 * i + 2, ENTRY_ALLOC, 9, sizes[i]);
        assert_int_equal(rows[1].rank, 3 * i + 1);
        event_list_check_told(&rows[2], 3 * i + 3, ENTRY_NONE, 0, 0);
        event_list_check_told(&rows[3], 3 * i + 3, ENTRY_REALLOC, 9, sizes[i]);
        assert_int_equal(rows[3].rank, 3 * i + 2);
        event_list_check_told(&rows[4], 3 * i + 4, ENTRY_NONE, 0, 0);
        event_list_check_told(&rows[5], 3 * i + 4, ENTRY_FREE, 9, sizes[i]);
    }
}

static void mark_is_told_with_its_block(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3);
    entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_realloc(f, &noted, T0 + 1, 1);
    noted.is_realloc = true;
    event_list_check_free(f, &noted, T0 + 3, 3);
    event_list_check_end(f, T0 + 4);
    const told *const rows = event_list_check_read(f);
    assert_false(rows[0].is_realloc);
    event_list_check_told(&rows[1], 2, ENTRY_REALLOC, 3, 100);
    event_list_check_told(&rows[3], 4, ENTRY_FREE, 3, 100);
    assert_true(rows[3].is_realloc);
}

/* --- the window --- */

static void allocation_tells_whether_it_is_inside(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, T0 + 5, INT64_MAX);
    EVENT_LIST_BEGIN(f, T0 + 4, T0 + 5, T0 + 6, T0 + 6, T0 + 7);
    const entry_block before = event_list_check_alloc(f, (noted_event){ T0 + 4, 0 }, 1, 10);
    const entry_block first = event_list_check_alloc(f, (noted_event){ T0 + 5, 1 }, 2, 10);
    event_list_check_alloc(f, (noted_event){ T0 + 6, 2 }, 3, ENTRY_BIG);
    event_list_check_free(f, &before, T0 + 6, 3);
    event_list_check_free(f, &first, T0 + 7, 4);
    event_list_check_end(f, T0 + 8);
    const told *const rows = event_list_check_read(f);
    assert_false(rows[0].is_inside);
    assert_true(rows[1].is_inside);
    event_list_check_told(&rows[4], 3, ENTRY_ALLOC, 3, ENTRY_BIG);
    assert_true(rows[4].is_inside);
    event_list_check_told(&rows[3], 3, ENTRY_FREE, 1, 10);
    assert_false(rows[3].is_inside);
    assert_true(rows[5].is_inside);
}

static void what_is_opened_after_the_window_is_not_told(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, INT64_MIN, T0 + 5);
    EVENT_LIST_BEGIN(f, T0 + 4, T0 + 5, T0 + 6, T0 + 7);
    const entry_block after = event_list_check_alloc(f, (noted_event){ T0 + 5, 1 }, 2, 10);
    event_list_check_realloc(f, &after, T0 + 6, 2);
    event_list_check_free(f, &after, T0 + 7, 3);
    const entry_block big = event_list_check_alloc(f, (noted_event){ T0 + 5, 1 }, 2, ENTRY_BIG);
    event_list_check_free(f, &big, T0 + 7, ENTRY_LATE);
    event_list_check_free(f, &big, INT64_MAX, ENTRY_LATE);
    event_list_check_end(f, T0 + 8);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 4);
    for (u32 i = 0; i < 4; i++) {
        event_list_check_told(&rows[i], i + 1, ENTRY_NONE, 0, 0);
        assert_false(event_list_check_survives(f, i));
    }
}

static void what_ends_with_the_window_or_never_survives(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, INT64_MIN, T0 + 5);
    EVENT_LIST_BEGIN(f, T0);
    event_list_check_end(f, T0 + 1);
    EVENT_LIST_BEGIN(f, T0 + 1, T0 + 2, T0 + 3, T0 + 4, T0 + 5);
    const entry_block freed = event_list_check_alloc(f, (noted_event){ T0 + 1, 0 }, 1, 10);
    const entry_block with = event_list_check_alloc(f, (noted_event){ T0 + 2, 1 }, 2, 10);
    const entry_block never = event_list_check_alloc(f, (noted_event){ T0 + 3, 2 }, 3, ENTRY_BIG);
    event_list_check_free(f, &freed, T0 + 4, 3);
    event_list_check_free(f, &with, T0 + 5, 4);
    event_list_check_free(f, &never, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    event_list_check_end(f, T0 + 6);
    const told *const rows = event_list_check_read(f);
    event_list_check_told(&rows[4], 4, ENTRY_ALLOC, 3, ENTRY_BIG);
    event_list_check_told(&rows[5], 5, ENTRY_FREE, 1, 10);
    event_list_check_told(&rows[6], 6, ENTRY_NONE, 0, 0);
    assert_int_equal(f->told.count, 7);
    for (u32 rank = 0; rank < 6; rank++)
        assert_int_equal(event_list_check_survives(f, rank),
                         rank == with.rank || rank == never.rank);
}

static void mark_survives_with_its_block(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4);
    const entry_block freed = event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 10);
    const entry_block kept = event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, 2, 10);
    event_list_check_realloc(f, &freed, T0 + 2, 2);
    event_list_check_realloc(f, &kept, T0 + 3, 3);
    event_list_check_free(f, &freed, T0 + 4, 4);
    event_list_check_free(f, &kept, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    event_list_check_end(f, T0 + 5);
    event_list_check_read(f);
    assert_false(event_list_check_survives(f, 2));
    assert_true(event_list_check_survives(f, 3));
}

/* The rank of a block counts, not that of the slice it ends in. */
static void survivors_of_any_slice_are_known(void **state)
{
    event_list_check *const f = *state;
    enum { SLICES = 20 };
    entry_block blocks[SLICES];
    for (u32 i = 0; i < SLICES; i++) {
        EVENT_LIST_BEGIN(f, T0 + i * CHECK_SECOND, T0 + i * CHECK_SECOND + 1);
        blocks[i] =
            event_list_check_alloc(f, (noted_event){ T0 + i * CHECK_SECOND + 1, 1 }, i + 1, 10);
        event_list_check_end(f, T0 + i * CHECK_SECOND + 2);
    }
    for (u32 i = 0; i < SLICES; i += 3)
        event_list_check_free(f, &blocks[i], ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    event_list_check_read(f);
    for (u32 i = 0; i < SLICES; i++) {
        assert_false(event_list_check_survives(f, 2 * i));
        assert_int_equal(event_list_check_survives(f, 2 * i + 1), i % 3 == 0);
    }
}

static void first_word_in_the_window_is_known(void **state)
{
    event_list_check *const f = *state;
    static const u64 expected[] = { 0, 1, 3, 3, 4, 4 }; /* words before T0 + i */
    for (u32 i = 0; i < ETL_COUNT_OF(expected); i++) {
        event_list_check_window(f, T0 + i, INT64_MAX);
        EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 1);
        event_list_check_end(f, T0 + 3);
        EVENT_LIST_BEGIN(f, T0 + 3);
        event_list_check_end(f, T0 + 4);
        assert_int_equal(event_list_close(&f->event_list), ETL_OK);
        assert_int_equal(f->event_list.from_index, expected[i]);
    }
}

/* --- limits --- */

static void ranks_run_out(void **state)
{
    event_list_check *const f = *state;
    f->event_list.next_rank = ENTRY_NO_RANK - 5;
    assert_int_equal(event_list_begin_slice(&f->event_list, 5), ETL_ERR_LIMIT);
    assert_int_equal(f->event_list.chunks.count, 0);
    assert_int_equal(event_list_begin_slice(&f->event_list, 4), ETL_OK);
    assert_int_equal(f->event_list.chunks.at[0].first_rank, ENTRY_NO_RANK - 5);
    f->event_list.closed = 1;
    assert_int_equal(event_list_begin_slice(&f->event_list, 1), ETL_ERR_LIMIT);
    assert_int_equal(event_list_begin_slice(&f->event_list, 0), ETL_OK);
}

static void event_list_of_nothing_is_empty(void **state)
{
    event_list_check *const f = *state;
    event_list_check_read(f);
    assert_int_equal(f->told.count, 0);
    assert_int_equal(f->event_list.from_index, 0);
}

static void event_list_that_is_not_kept_is_freed(void **state)
{
    (void)state;
    event_list none = { 0 };
    event_list_free(&none);
}

int main(void)
{
#define RULE(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, event_list_check_open, event_list_check_close)
    const struct CMUnitTest tests[] = {
        RULE(event_is_told_at_its_rank),
        RULE(ranks_go_on_from_slice_to_slice),
        RULE(origins_and_sizes_fit_to_their_last_bit),
        RULE(size_that_does_not_fit_is_told_in_full),
        RULE(mark_is_told_with_its_block),
        RULE(allocation_tells_whether_it_is_inside),
        RULE(what_is_opened_after_the_window_is_not_told),
        RULE(what_ends_with_the_window_or_never_survives),
        RULE(mark_survives_with_its_block),
        RULE(survivors_of_any_slice_are_known),
        RULE(first_word_in_the_window_is_known),
        RULE(ranks_run_out),
        RULE(event_list_of_nothing_is_empty),
        cmocka_unit_test(event_list_that_is_not_kept_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
