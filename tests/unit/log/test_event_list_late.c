/*
 * Goal: what is noted late lies where it happened, in whichever slice that was, and
 * time moves on where it does; chunks wait long enough for it, and no longer.
 * Method: slices whose times are given and notes by hand; random slices and notes
 * against one list that is sorted at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/event_list_check.h"

#define T0 CHECK_START

/* --- what is noted late --- */

/* One slice of events at T0 + 10, 20 and 30, then a late free at T0 + `after`. */
static const told *tell_late(event_list_check *f, i64 after, u64 size)
{
    EVENT_LIST_BEGIN(f, T0 + 10, T0 + 20, T0 + 30);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0 + 10, 0 }, 3, size);
    event_list_check_free(f, &noted, T0 + after, ENTRY_LATE);
    event_list_check_end(f, T0 + 31);
    return event_list_check_read(f);
}

static void late_end_before_the_slice_is_told_first(void **state)
{
    event_list_check *const f = *state;
    const told *const rows = tell_late(f, 5, 100);
    assert_int_equal(f->told.count, 4);
    event_list_check_told(&rows[0], 1, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[1], 2, ENTRY_ALLOC, 3, 100);
    assert_int_equal(rows[1].rank, 0);
    assert_int_equal(rows[3].rank, 2);
}

static void late_end_in_the_slice_is_told_between(void **state)
{
    event_list_check *const f = *state;
    const told *const rows = tell_late(f, 15, 100);
    event_list_check_told(&rows[0], 1, ENTRY_ALLOC, 3, 100);
    event_list_check_told(&rows[1], 2, ENTRY_FREE, 3, 100);
    assert_true(rows[1].is_late);
    event_list_check_told(&rows[2], 3, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[3], 4, ENTRY_NONE, 0, 0);
    assert_int_equal(rows[2].rank, 1);
}

static void late_end_at_an_event_begins_no_tick(void **state)
{
    event_list_check *const f = *state;
    const told *const rows = tell_late(f, 20, 100);
    event_list_check_told(&rows[1], 2, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[2], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[3], 3, ENTRY_NONE, 0, 0);
}

static void late_end_after_the_slice_is_told_last(void **state)
{
    event_list_check *const f = *state;
    const told *const rows = tell_late(f, 50, ENTRY_BIG);
    assert_int_equal(f->told.count, 5);
    event_list_check_told(&rows[3], 3, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[4], 4, ENTRY_FREE, 3, ENTRY_BIG);
}

static void late_end_in_a_slice_before_is_told_there(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_end(f, T0 + 20);
    EVENT_LIST_BEGIN(f, T0 + 20, T0 + 30);
    event_list_check_end(f, T0 + 40);
    EVENT_LIST_BEGIN(f, T0 + 40);
    event_list_check_free(f, &noted, T0 + 9, ENTRY_LATE);
    event_list_check_end(f, T0 + 50);
    const told *const rows = event_list_check_read(f);
    event_list_check_told(&rows[1], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[2], 3, ENTRY_NONE, 0, 0);
    assert_int_equal(f->event_list.chunks.at[0].count, 3);
    assert_int_equal(f->event_list.chunks.at[1].first_index, 3);
}

/* At the last event of a slice: the next slice may have events of that tick, or not. */
static void late_end_at_the_end_of_a_slice_begins_the_next(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_free(f, &noted, T0 + 10, ENTRY_LATE);
    event_list_check_end(f, T0 + 20);
    EVENT_LIST_BEGIN(f, T0 + 20, T0 + 30);
    event_list_check_end(f, T0 + 40);
    const told *const rows = event_list_check_read(f);
    event_list_check_told(&rows[1], 2, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[2], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[3], 3, ENTRY_NONE, 0, 0);
    assert_int_equal(f->event_list.chunks.at[1].first_index, 2);
    assert_false(f->event_list.chunks.at[1].starts_tick);
}

/* Or its block would end before it begins. */
static void late_end_comes_after_all_slices_of_its_tick(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    event_list_check_end(f, T0 + 5);
    EVENT_LIST_BEGIN(f, T0 + 10, T0 + 10);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0 + 10, 0 }, 3, 100);
    event_list_check_free(f, &noted, T0 + 10, ENTRY_LATE);
    event_list_check_end(f, T0 + 6);
    event_list_check_begin(f, NULL, 0);
    event_list_check_end(f, T0 + 7);
    EVENT_LIST_BEGIN(f, T0 + 10, T0 + 20);
    event_list_check_end(f, T0 + 30);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 7);
    event_list_check_told(&rows[2], 2, ENTRY_ALLOC, 3, 100);
    event_list_check_told(&rows[4], 2, ENTRY_NONE, 0, 0);
    event_list_check_told(&rows[5], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[6], 3, ENTRY_NONE, 0, 0);
}

/* Between two slices: it begins the second one. */
static void late_end_between_slices_begins_the_later(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_end(f, T0 + 20);
    EVENT_LIST_BEGIN(f, T0 + 20);
    event_list_check_free(f, &noted, T0 + 11, ENTRY_LATE);
    event_list_check_end(f, T0 + 30);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->event_list.chunks.at[0].count, 2);
    event_list_check_told(&rows[2], 3, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[3], 4, ENTRY_NONE, 0, 0);
}

/* The shards' own end comes after the last slice. */
static void end_noted_after_the_last_slice_is_told(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_end(f, INT64_MAX);
    event_list_check_free(f, &noted, T0 + 11, ENTRY_LATE);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 3);
    event_list_check_told(&rows[2], 3, ENTRY_FREE, 3, 100);
}

static void late_ends_of_all_shards_are_put_in_order(void **state)
{
    event_list_check *const f = *state;
    enum { BLOCKS = 2 * HEAP_SHARDS };
    entry_block blocks[BLOCKS];
    i64 ticks[BLOCKS];
    for (u32 i = 0; i < BLOCKS; i++)
        ticks[i] = T0 + i;
    event_list_check_begin(f, ticks, BLOCKS);
    for (u32 i = 0; i < BLOCKS; i++)
        blocks[i] = event_list_check_alloc(f, (noted_event){ ticks[i], i }, i + 1, 10);
    for (u32 i = 0; i < BLOCKS; i++)
        event_list_check_free(f, &blocks[i], T0 + 1000 + (i * 29 % BLOCKS), ENTRY_LATE);
    event_list_check_end(f, T0 + 2000);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 2 * BLOCKS);
    for (u32 i = 0; i < BLOCKS; i++) {
        const told *const row = &rows[BLOCKS + i * 29 % BLOCKS];
        event_list_check_told(row, 1 + BLOCKS + i * 29 % BLOCKS, ENTRY_FREE, i + 1, 10);
    }
}

static void words_before_the_window_count_late_ones_too(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, T0 + 15, INT64_MAX);
    const told *const rows = tell_late(f, 14, ENTRY_BIG); /* twice three words before it */
    assert_int_equal(f->event_list.from_index, 7);
    event_list_check_told(&rows[3], 3, ENTRY_NONE, 0, 0);
    assert_int_equal(rows[3].index, 7);
}

/* --- patience --- */

/* Chunks stay open as long as something of theirs may still be noted. */
static void chunk_is_held_open_for_the_patience(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 10);
    event_list_check_end(f, T0 + 20);
    assert_int_equal(f->event_list.closed, 0);
    EVENT_LIST_BEGIN(f, T0 + 20);
    event_list_check_end(f, T0 + 10 + EVENT_LIST_PATIENCE);
    assert_int_equal(f->event_list.closed, 0);
    EVENT_LIST_BEGIN(f, T0 + 10 + EVENT_LIST_PATIENCE);
    event_list_check_end(f, T0 + 11 + EVENT_LIST_PATIENCE);
    assert_int_equal(f->event_list.closed, 1);
    assert_null(f->event_list.chunks.at[0].ticks);
    assert_non_null(f->event_list.chunks.at[1].ticks);
    EVENT_LIST_BEGIN(f, T0 + 11 + EVENT_LIST_PATIENCE);
    event_list_check_end(f, INT64_MAX);
    assert_int_equal(f->event_list.closed, 4);
}

/* The last slice ends after all times, and the shards' own end still comes. */
static void chunk_of_the_last_of_all_times_is_held_open(void **state)
{
    event_list_check *const f = *state;
    const i64 last = INT64_MAX - 10;
    EVENT_LIST_BEGIN(f, last, last + 4);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ last, 0 }, 3, 100);
    event_list_check_end(f, INT64_MAX);
    assert_int_equal(f->event_list.closed, 0);
    event_list_check_free(f, &noted, last + 2, ENTRY_LATE);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 3);
    event_list_check_told(&rows[1], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[2], 3, ENTRY_NONE, 0, 0);
}

static void slice_without_events_holds_nothing_up(void **state)
{
    event_list_check *const f = *state;
    event_list_check_begin(f, NULL, 0);
    event_list_check_end(f, T0);
    EVENT_LIST_BEGIN(f, T0, T0 + 1);
    event_list_check_end(f, T0 + 2);
    event_list_check_begin(f, NULL, 0);
    event_list_check_end(f, T0 + 2 + EVENT_LIST_PATIENCE);
    EVENT_LIST_BEGIN(f, T0 + 2 + EVENT_LIST_PATIENCE);
    event_list_check_end(f, T0 + 3 + EVENT_LIST_PATIENCE);
    assert_int_equal(f->event_list.closed, 3);
    event_list_check_read(f);
    assert_int_equal(f->told.count, 3);
    assert_int_equal(f->told.at[2].time, 3);
    assert_int_equal(f->told.at[2].rank, 2);
}

/* What comes later than that is told as early as is still possible. */
static void end_that_is_too_late_is_told_nevertheless(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0);
    const entry_block noted = event_list_check_alloc(f, (noted_event){ T0, 0 }, 3, 100);
    event_list_check_end(f, T0 + CHECK_SECOND);
    EVENT_LIST_BEGIN(f, T0 + CHECK_SECOND, T0 + CHECK_SECOND + 1);
    event_list_check_free(f, &noted, T0 + 1, ENTRY_LATE);
    event_list_check_end(f, T0 + 2 * CHECK_SECOND);
    const told *const rows = event_list_check_read(f);
    assert_int_equal(f->told.count, 4);
    event_list_check_told(&rows[1], 2, ENTRY_FREE, 3, 100);
    event_list_check_told(&rows[2], 3, ENTRY_NONE, 0, 0);
}

/* --- any slices and notes --- */

/* What happened, in the order in which it was noted. */
typedef struct happening {
    i64 ticks;
    told row; /* time and index are known once all are sorted */
} happening;

typedef struct model {
    event_list_check *f;
    ETLHEAP_VECTOR(happening) all;
    ETLHEAP_VECTOR(entry_block) open;
    ETLHEAP_VECTOR(i64) ticks; /* of the slice at hand */
    i64 now;
    i64 from_ticks;
    u64 seed;
} model;

static u32 roll(model *m, u32 below)
{
    return engine_check_random(&m->seed, below);
}

static void happens(model *m, i64 ticks, const told *row)
{
    const happening one = { ticks, *row };
    assert_true(ETLHEAP_PUSH(&m->all, one));
}

/* A note about a block: in place, or apart from its event, whose place is empty. */
static void expect(model *m, const entry_block *noted, entry_kind kind, noted_event at)
{
    const bool is_late = at.rank == ENTRY_LATE, is_big = noted->size >= ENTRY_BIG;
    const u32 rank = m->f->event_list.shards[0].first_rank + at.rank;
    told row = { .kind = kind,
                 .origin = noted->origin,
                 .size = noted->size,
                 .rank = kind == ENTRY_FREE ? 0 : rank,
                 .is_inside = noted->alloc_ticks >= m->from_ticks,
                 .is_realloc = noted->is_realloc,
                 .is_late = is_late && !is_big };
    happens(m, at.ticks, &row);
    if (is_big && !is_late)
        happens(m, at.ticks, &(told){ .kind = ENTRY_NONE, .rank = rank });
}

static void open_one(model *m, noted_event at)
{
    const u64 size = roll(m, 8) == 0 ? ENTRY_BIG + roll(m, 9) : roll(m, 1000);
    const entry_block noted = event_list_check_alloc(m->f, at, 1 + roll(m, 100), size);
    expect(m, &noted, ENTRY_ALLOC, at);
    assert_true(ETLHEAP_PUSH(&m->open, noted));
}

static void close_one(model *m, noted_event at)
{
    const u32 index = roll(m, (u32)m->open.count);
    const entry_block noted = m->open.at[index];
    if (at.ticks < noted.alloc_ticks)
        return;
    event_list_check_free(m->f, &noted, at.ticks, at.rank);
    expect(m, &noted, ENTRY_FREE, at);
    m->open.at[index] = m->open.at[--m->open.count];
}

static void mark_one(model *m, noted_event at)
{
    entry_block *const noted = &m->open.at[roll(m, (u32)m->open.count)];
    event_list_check_realloc(m->f, noted, at.ticks, at.rank);
    expect(m, noted, ENTRY_REALLOC, at);
    noted->is_realloc = true;
}

static void add_event(model *m, u32 rank)
{
    const noted_event at = { m->ticks.at[rank], rank };
    const u32 what = m->open.count < 5 ? 0 : roll(m, 8);
    if (what < 3)
        open_one(m, at);
    else if (what < 6)
        close_one(m, at);
    else if (what == 6)
        mark_one(m, at);
    else
        happens(
            m, at.ticks,
            &(told){ .kind = ENTRY_NONE, .rank = m->f->event_list.shards[0].first_rank + rank });
}

/* Some slices end within a tick, some are empty, some are milliseconds long. */
static void add_slice(model *m)
{
    m->ticks.count = 0;
    for (u32 left = roll(m, 40); left > 0; left--) {
        m->now += roll(m, 3) == 0 ? 0 : roll(m, 10) == 0 ? roll(m, 20000) : 1 + roll(m, 3);
        assert_true(ETLHEAP_PUSH(&m->ticks, m->now));
    }
    event_list_check_begin(m->f, m->ticks.at, (u32)m->ticks.count);
    for (u32 rank = 0; rank < m->ticks.count; rank++)
        add_event(m, rank);
    for (u32 late = roll(m, 4); late > 0 && m->open.count > 5; late--) {
        const u32 ago = roll(m, 4) == 0 ? 0 : roll(m, EVENT_LIST_PATIENCE / 2);
        close_one(m, (noted_event){ m->now - ago, ENTRY_LATE });
    }
    event_list_check_end(m->f, m->now);
}

static int by_ticks(const void *a, const void *b)
{
    const happening *const x = a, *const y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Within a tick nothing counts as earlier or later. */
static int by_content(const void *a, const void *b)
{
    const told *const x = &((const happening *)a)->row, *const y = &((const happening *)b)->row;
    const u64 of_x[] = {
        x->time, x->kind, x->origin, x->size, x->rank, x->is_inside, x->is_realloc
    };
    const u64 of_y[] = {
        y->time, y->kind, y->origin, y->size, y->rank, y->is_inside, y->is_realloc
    };
    for (size_t i = 0; i < ETL_COUNT_OF(of_x); i++) {
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i] ? -1 : 1;
    }
    return (int)x->is_late - (int)y->is_late;
}

/* Gives the model's rows their times, and the event list's their ticks. */
static happening *put_in_order(model *m)
{
    const size_t count = m->all.count;
    happening *const found = calloc(count + 1, sizeof *found);
    assert_non_null(found);
    event_list_check_read(m->f);
    assert_int_equal(m->f->told.count, count);
    qsort(m->all.at, count, sizeof *m->all.at, by_ticks);
    for (size_t i = 0; i < count; i++) {
        const bool moves_on = i == 0 || m->all.at[i].ticks != m->all.at[i - 1].ticks;
        m->all.at[i].row.time = (i == 0 ? 0 : m->all.at[i - 1].row.time) + moves_on;
        found[i] = (happening){ m->all.at[i].ticks, m->f->told.at[i] };
        assert_int_equal(found[i].row.time, m->all.at[i].row.time);
        if (found[i].row.kind == ENTRY_FREE)
            found[i].row.rank = 0;
    }
    return found;
}

/* Is what is noted late behind all events of its tick? */
static void compare_ends(const model *m, const happening *found)
{
    for (size_t i = 1; i < m->all.count; i++) {
        const bool same_tick = found[i].ticks == found[i - 1].ticks;
        const told *const row = &found[i].row;
        const bool is_apart = row->is_late || row->size >= ENTRY_BIG;
        assert_false(same_tick && found[i - 1].row.is_late && !is_apart);
    }
}

static void compare_places(const model *m, const happening *found)
{
    const event_list *const list = &m->f->event_list;
    u64 before = 0; /* rows before the window */
    while (before < m->all.count && found[before].ticks < m->from_ticks)
        before++;
    if (before < m->all.count)
        assert_int_equal(list->from_index, found[before].row.index);
    size_t at = 0;
    for (size_t c = 0; c < list->chunks.count; c++) {
        const event_chunk *const chunk = &list->chunks.at[c];
        while (at < m->all.count && found[at].row.index < chunk->first_index)
            at++;
        if (chunk->count > 0 && at > 0)
            assert_int_equal(chunk->starts_tick, found[at].ticks != found[at - 1].ticks);
    }
}

static void any_notes_are_told_in_order(void **state)
{
    event_list_check *const f = *state;
    for (u64 seed = 1; seed <= 40; seed++) {
        model m = { .f = f, .now = T0, .seed = seed };
        m.from_ticks = T0 + roll(&m, 100000);
        event_list_check_window(f, m.from_ticks, INT64_MAX);
        for (u32 i = 0; i < 60; i++)
            add_slice(&m);
        happening *const found = put_in_order(&m);
        compare_ends(&m, found);
        compare_places(&m, found);
        qsort(m.all.at, m.all.count, sizeof *m.all.at, by_content);
        qsort(found, m.all.count, sizeof *found, by_content);
        for (size_t i = 0; i < m.all.count; i++)
            assert_int_equal(by_content(&m.all.at[i], &found[i]), 0);
        free(found);
        ETLHEAP_VECTOR_FREE(&m.all);
        ETLHEAP_VECTOR_FREE(&m.open);
        ETLHEAP_VECTOR_FREE(&m.ticks);
    }
}

int main(void)
{
#define RULE(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, event_list_check_open, event_list_check_close)
    const struct CMUnitTest tests[] = {
        RULE(late_end_before_the_slice_is_told_first),
        RULE(late_end_in_the_slice_is_told_between),
        RULE(late_end_at_an_event_begins_no_tick),
        RULE(late_end_after_the_slice_is_told_last),
        RULE(late_end_in_a_slice_before_is_told_there),
        RULE(late_end_at_the_end_of_a_slice_begins_the_next),
        RULE(late_end_comes_after_all_slices_of_its_tick),
        RULE(late_end_between_slices_begins_the_later),
        RULE(end_noted_after_the_last_slice_is_told),
        RULE(late_ends_of_all_shards_are_put_in_order),
        RULE(words_before_the_window_count_late_ones_too),
        RULE(chunk_is_held_open_for_the_patience),
        RULE(chunk_of_the_last_of_all_times_is_held_open),
        RULE(slice_without_events_holds_nothing_up),
        RULE(end_that_is_too_late_is_told_nevertheless),
        RULE(any_notes_are_told_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
