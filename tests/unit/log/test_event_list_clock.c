/*
 * Goal: an event list with a clock finds the first word at or after any moment: between chunks,
 * among words of one tick, with late words merged in, before the first and after the last. Method:
 * random slices with small and huge steps of time; the words read back, each with its tick; a naive
 * search through all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/log/event_list_clock.h"
#include "tests/support/event_list_check.h"

#define T0         CHECK_START
#define SLICES     40u
#define EVENTS_MAX 300u
#define MOMENTS    500u

typedef ETLHEAP_VECTOR(i64) moment_list;

typedef struct clock_case {
    event_list_check *f;
    u64 seed;
    moment_list ticks; /* of all events, then all that are different, ascending */
} clock_case;

static u64 next(clock_case *c, u64 below)
{
    c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
    return (c->seed >> 33) % below;
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Steps of time that take one byte, two, and nine. */
static i64 step(clock_case *c)
{
    static const u64 most[] = { 2, 2, 2, 127, 129, 20000, (u64)1 << 57 };
    const u64 limit = most[next(c, 200) == 0 ? 6 : next(c, 6)];
    return (i64)(limit > UINT32_MAX ? limit : next(c, limit));
}

/* A slice of events, some of which open blocks; some blocks end late, some are too big for a
 * word. */
static i64 add_slice(clock_case *c, i64 ticks)
{
    i64 at[EVENTS_MAX];
    const u32 count = (u32)next(c, EVENTS_MAX);
    for (u32 i = 0; i < count; i++) {
        at[i] = ticks += step(c);
        assert_true(ETLHEAP_PUSH(&c->ticks, ticks));
    }
    event_list_check_begin(c->f, at, count);
    for (u32 i = 0; i < count; i += 1 + (u32)next(c, 3)) {
        const u64 size = next(c, 10) == 0 ? ENTRY_BIG + i : 1 + i;
        const entry_block noted =
            event_list_check_alloc(c->f, (noted_event){ at[i], i }, 1 + i % 50, size);
        if (next(c, 10) == 0)
            event_list_check_free(c->f, &noted, at[count - 1], ENTRY_LATE);
    }
    event_list_check_end(c->f, ticks + 1);
    return ticks + 1;
}

static void keep_different(moment_list *ticks)
{
    size_t kept = 0;
    qsort(ticks->at, ticks->count, sizeof *ticks->at, by_value);
    for (size_t i = 0; i < ticks->count; i++) {
        if (kept == 0 || ticks->at[kept - 1] != ticks->at[i])
            ticks->at[kept++] = ticks->at[i];
    }
    ticks->count = kept;
}

/* The moments to be looked for, ascending: ticks of events, the moments next to them, and those
 * before and after everything. */
static void choose(clock_case *c, i64 moments[MOMENTS])
{
    for (u32 i = 0; i < MOMENTS; i++)
        moments[i] = c->ticks.at[next(c, c->ticks.count)] + (i64)next(c, 3) - 1;
    moments[0] = INT64_MIN;
    moments[1] = c->ticks.at[0];
    moments[2] = c->ticks.at[c->ticks.count - 1];
    moments[3] = INT64_MAX;
    qsort(moments, MOMENTS, sizeof *moments, by_value);
}

static u64 find_naively(const clock_case *c, i64 moment)
{
    const told *const rows = c->f->told.at;
    for (size_t i = 0; i < c->f->told.count; i++) {
        if (c->ticks.at[rows[i].time - 1] >= moment)
            return rows[i].index;
    }
    return c->f->event_list.next_index;
}

static void check_case(event_list_check *f, u64 seed)
{
    clock_case c = { .f = f, .seed = seed };
    window_crossings found = { 0 };
    i64 ticks = T0, moments[MOMENTS];
    event_list_check_window(f, INT64_MIN, INT64_MAX);
    f->event_list.keeps_clock = true;
    for (u32 i = 0; i < SLICES; i++)
        ticks = add_slice(&c, ticks);
    keep_different(&c.ticks);
    event_list_check_read(f);
    choose(&c, moments);
    assert_true(event_list_clock_find(&f->event_list, moments, MOMENTS, &found));
    assert_int_equal(found.count, MOMENTS + 1);
    assert_int_equal(found.at[0].index, 0);
    assert_true(found.at[0].ticks == INT64_MIN);
    for (u32 i = 0; i < MOMENTS; i++) {
        assert_true(found.at[i + 1].ticks == moments[i]);
        assert_int_equal(found.at[i + 1].index, find_naively(&c, moments[i]));
    }
    ETLHEAP_VECTOR_FREE(&found);
    ETLHEAP_VECTOR_FREE(&c.ticks);
}

static void any_moment_is_found(void **state)
{
    for (u64 seed = 1; seed <= 20; seed++)
        check_case(*state, seed);
}

static void empty_event_list_has_no_words_to_find(void **state)
{
    event_list_check *const f = *state;
    static const i64 moments[] = { INT64_MIN, T0 };
    window_crossings found = { 0 };
    f->event_list.keeps_clock = true;
    assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    assert_true(event_list_clock_find(&f->event_list, moments, ETL_COUNT_OF(moments), &found));
    assert_int_equal(found.count, 3);
    for (u32 i = 0; i < 3; i++)
        assert_int_equal(found.at[i].index, 0);
    ETLHEAP_VECTOR_FREE(&found);
}

int main(void)
{
#define RULE(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, event_list_check_open, event_list_check_close)
    const struct CMUnitTest tests[] = {
        RULE(any_moment_is_found),
        RULE(empty_event_list_has_no_words_to_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
