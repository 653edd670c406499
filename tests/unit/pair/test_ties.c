/*
 * test_ties.c - events of one time on several processors: is the merge the best one?
 *
 * Method: named cases, and small random ones against a search through all merges. With so many
 * processors that states are too many, a merge must at least keep each processor's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/pair/ties.h"
#include "tests/support/hand_bytes.h"

#define EVENTS 8u

/* "0F 1A": processor and effect of each event. */
static u32 read_events(const char *text, tie_event *out)
{
    u32 count = 0;
    for (; text[0] != '\0'; text += text[2] == ' ' ? 3 : 2) {
        const char effect = text[1];
        out[count++] = (tie_event){ (u16)(text[0] - '0'), effect == 'A'   ? TIE_ALLOC
                                                          : effect == 'F' ? TIE_FREE
                                                          : effect == 'C' ? TIE_CLOSE
                                                                          : TIE_NONE };
    }
    return count;
}

static void expect(const char *text, bool is_live, const char *order)
{
    tie_event events[TIE_EVENTS_MAX] = { { 0 } };
    u8 found[TIE_EVENTS_MAX];
    const u32 count = read_events(text, events);
    bool moves = false;
    const bool has_moved = ties_merge(events, count, is_live, found);
    for (u32 i = 0; i < count; i++) {
        assert_int_equal(found[i], order[i] - '0');
        moves |= found[i] != i;
    }
    assert_int_equal(has_moved, moves);
}

static void a_free_follows_its_allocation(void **state)
{
    (void)state;
    expect("0F 1A", false, "10");
    expect("0F 1A", true, "01");
    expect("0A 1F", true, "10");
    expect("0A 1F", false, "01");
}

static void the_order_on_each_processor_stays(void **state)
{
    (void)state;
    expect("0F 1A 1F", true, "012");
    expect("0F 0A 1A 1F", false, "2013");
    expect("0F 0A 1F 1A", true, "0123");
    expect("0A 0F 1F 1A", false, "0231");
    /* A session that goes on in another file has a processor's events in two places. */
    expect("0A 1N 0F", true, "012");
}

static void what_has_no_effect_stays_in_its_place(void **state)
{
    (void)state;
    expect("0N 0F 1A", false, "021");
    expect("0C 1A", true, "01");
}

/* Unknown frees first, then allocations over blocks. */
static u32 cost_of(const tie_event *events, const u8 *order, u32 count, bool is_live)
{
    u32 cost = 0;
    for (u32 i = 0; i < count; i++) {
        const u8 effect = events[order[i]].effect;
        cost += effect == TIE_FREE && !is_live ? 100 : 0;
        cost += effect == TIE_ALLOC && is_live;
        is_live = effect == TIE_ALLOC || (effect == TIE_NONE && is_live);
    }
    return cost;
}

static bool keeps_order(const tie_event *events, const u8 *order, u32 count)
{
    bool keeps = true;
    for (u32 i = 0; i < count; i++) {
        for (u32 k = 0; k < i; k++)
            keeps = keeps && (events[order[k]].cpu != events[order[i]].cpu || order[k] < order[i]);
    }
    return keeps;
}

/* The lowest cost of all merges: all orders are tried, digit by digit. */
static u32 lowest_cost(const tie_event *events, u32 count, bool is_live)
{
    u8 order[EVENTS];
    u32 lowest = UINT32_MAX, total = 1;
    for (u32 i = 1; i <= count; i++)
        total *= i;
    for (u32 number = 0; number < total; number++) {
        u8 left[EVENTS];
        u32 rest = number;
        for (u32 i = 0; i < count; i++)
            left[i] = (u8)i;
        for (u32 i = 0; i < count; i++) {
            const u32 at = rest % (count - i);
            rest /= count - i;
            order[i] = left[at];
            memmove(left + at, left + at + 1, count - i - at - 1);
        }
        if (!keeps_order(events, order, count))
            continue;
        const u32 cost = cost_of(events, order, count, is_live);
        lowest = cost < lowest ? cost : lowest;
    }
    return lowest;
}

static u32 random_events(u64 *random, u32 cpus, u32 each, tie_event *out)
{
    u32 count = 0;
    for (u32 cpu = 0; cpu < cpus; cpu++) {
        const u32 own = 1 + hand_random(random) % each;
        for (u32 i = 0; i < own && count < TIE_EVENTS_MAX; i++)
            out[count++] = (tie_event){ (u16)cpu, (u8)(hand_random(random) % 4) };
    }
    return count;
}

static void no_merge_is_cheaper(void **state)
{
    u64 random = 3;
    (void)state;
    for (u32 round = 0; round < 400; round++) {
        tie_event events[TIE_EVENTS_MAX] = { { 0 } };
        u8 order[TIE_EVENTS_MAX];
        const bool is_live = hand_random(&random) % 2 == 0;
        const u32 count = random_events(&random, 2 + hand_random(&random) % 2, 2, events);
        (void)ties_merge(events, count, is_live, order);
        assert_true(keeps_order(events, order, count));
        assert_int_equal(cost_of(events, order, count, is_live),
                         lowest_cost(events, count, is_live));
    }
}

static void many_processors_keep_their_order(void **state)
{
    u64 random = 5;
    (void)state;
    for (u32 round = 0; round < 200; round++) {
        tie_event events[TIE_EVENTS_MAX] = { { 0 } };
        u8 order[TIE_EVENTS_MAX];
        bool has_met[TIE_EVENTS_MAX] = { false };
        const u32 count = random_events(&random, 20, 5, events);
        (void)ties_merge(events, count, round % 2 == 0, order);
        for (u32 i = 0; i < count; i++)
            has_met[order[i]] = true;
        for (u32 i = 0; i < count; i++)
            assert_true(has_met[i]);
        assert_true(keeps_order(events, order, count));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_follows_its_allocation),
        cmocka_unit_test(the_order_on_each_processor_stays),
        cmocka_unit_test(what_has_no_effect_stays_in_its_place),
        cmocka_unit_test(no_merge_is_cheaper),
        cmocka_unit_test(many_processors_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
