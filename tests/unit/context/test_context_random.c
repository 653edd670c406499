/*
 * Goal: owners of an id do not depend on how a trace is cut into slices.
 * Method: random histories of one id, sensible or not. Once every item is
 * applied in time order by itself; then slice by slice as the engine does it:
 * a slice's process records first, its memory events after them, in any order.
 * Each memory event must have an owner with the same life both times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "tests/support/engine_check.h"

#define PID   42u
#define ITEMS 40u

typedef struct item {
    i64 ticks;
    etl_event_kind kind; /* ETL_EVENT_NONE: a memory event */
    u64 key;
} item;

static void invent(item *items, u64 *seed)
{
    static const i64 gaps[] = { 10, CHECK_MS, 3 * CHECK_MS, 200 * CHECK_MS, 2 * CHECK_SECOND };
    static const etl_event_kind kinds[] = { ETL_EVENT_PROCESS_START, ETL_EVENT_PROCESS_END,
                                            ETL_EVENT_PROCESS_DCSTART, ETL_EVENT_PROCESS_DCEND,
                                            ETL_EVENT_PROCESS_DEFUNCT };
    i64 ticks = CHECK_START;
    for (u32 i = 0; i < ITEMS; i++) {
        ticks += gaps[engine_check_random(seed, ETL_COUNT_OF(gaps))];
        items[i] = (item){ .ticks = ticks, .key = engine_check_random(seed, 4) };
        if (engine_check_random(seed, 2) == 0)
            items[i].kind = kinds[engine_check_random(seed, ETL_COUNT_OF(kinds))];
    }
}

static void apply(engine_check *check, const item *from)
{
    if (from->kind == ETL_EVENT_NONE)
        assert_true(context_ensure(&check->context, PID, from->ticks, from->ticks));
    else
        engine_check_process(check, from->kind, PID, from->ticks, "app.exe", from->key);
}

static void ensure_backwards(engine_check *check, const item *items, u32 count)
{
    for (u32 i = count; i-- > 0;) {
        if (items[i].kind == ETL_EVENT_NONE)
            apply(check, &items[i]);
    }
}

/* Asks again only when the last answer does not hold any more. */
static void ensure_forwards(engine_check *check, const item *items, u32 count)
{
    i64 until_ticks = INT64_MIN;
    for (u32 i = 0; i < count; i++) {
        if (items[i].kind == ETL_EVENT_NONE && items[i].ticks > until_ticks)
            assert_true(context_ensure_until(&check->context, PID, items[i].ticks, &until_ticks));
    }
}

static void apply_in_slices(engine_check *check, const item *items, u64 *seed)
{
    for (u32 first = 0; first < ITEMS;) {
        u32 end = first + 1 + engine_check_random(seed, ITEMS);
        end = end < ITEMS ? end : ITEMS;
        for (u32 i = first; i < end; i++) {
            if (items[i].kind != ETL_EVENT_NONE)
                apply(check, &items[i]);
        }
        if (engine_check_random(seed, 2) == 0)
            ensure_backwards(check, items + first, end - first);
        else
            ensure_forwards(check, items + first, end - first);
        first = end;
    }
}

static const process_history *owner(const engine_check *check, i64 ticks)
{
    const u32 process = context_process_at(&check->context, PID, ticks);
    assert_int_not_equal(process, 0);
    return &check->context.processes.at[process - 1];
}

static void print_items(const item *items, u64 seed)
{
    print_error("seed %" PRIu64 "\n", seed);
    for (u32 i = 0; i < ITEMS; i++) {
        print_error("%10" PRId64 " kind %d key %" PRIu64 "\n", items[i].ticks - CHECK_START,
                    (int)items[i].kind, items[i].key);
    }
}

static void compare(u64 seed_number)
{
    u64 seed = seed_number;
    item items[ITEMS];
    invent(items, &seed);
    engine_check once, sliced;
    engine_check_open(&once);
    engine_check_open(&sliced);
    for (u32 i = 0; i < ITEMS; i++)
        apply(&once, &items[i]);
    apply_in_slices(&sliced, items, &seed);
    for (u32 i = 0; i < ITEMS; i++) {
        if (items[i].kind != ETL_EVENT_NONE)
            continue;
        const process_history *const a = owner(&once, items[i].ticks);
        const process_history *const b = owner(&sliced, items[i].ticks);
        if (a->start_ticks == b->start_ticks && a->end_ticks == b->end_ticks)
            continue;
        print_items(items, seed_number);
        print_error("at %" PRId64 ": %" PRId64 " to %" PRId64 ", in slices %" PRId64 " to %" PRId64
                    "\n",
                    items[i].ticks - CHECK_START, a->start_ticks, a->end_ticks, b->start_ticks,
                    b->end_ticks);
        fail();
    }
    assert_int_equal(once.context.processes.count, sliced.context.processes.count);
    assert_int_equal(once.context.diag.of[ETL_DIAG_process_start_missing],
                     sliced.context.diag.of[ETL_DIAG_process_start_missing]);
    engine_check_close(&once);
    engine_check_close(&sliced);
}

static void owners_do_not_depend_on_slices(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 4000; seed++)
        compare(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_do_not_depend_on_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
