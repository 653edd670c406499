/*
 * Goal: context.c says whose memory an event is, by the rules of context.h, in
 * whatever order records come and however the trace is cut into slices.
 * Method: single records, one rule a test; all orders of the five process
 * records; then random histories of one id, applied event by event and in
 * slices, which must give the same owners.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"

#define PID    42u
#define KEY    0xFFFFFA8003200010u
#define HEAP   0x1F0000u
#define T0     (CHECK_START + CHECK_SECOND)
#define BEFORE ETLHEAP_TICKS_BEFORE
#define NEVER  ETLHEAP_TICKS_NEVER

#define START   ETL_EVENT_PROCESS_START
#define END     ETL_EVENT_PROCESS_END
#define DCSTART ETL_EVENT_PROCESS_DCSTART
#define DCEND   ETL_EVENT_PROCESS_DCEND
#define DEFUNCT ETL_EVENT_PROCESS_DEFUNCT

static void record(engine_check *check, etl_event_kind kind, i64 ticks, const char *name)
{
    engine_check_process(check, kind, PID, ticks, name, KEY);
}

static void touch(engine_check *check, i64 ticks)
{
    assert_true(context_ensure(&check->context, PID, ticks, ticks));
}

static u32 owner_at(const engine_check *check, i64 ticks)
{
    return context_process_at(&check->context, PID, ticks);
}

static const process_history *history(const engine_check *check, u32 process)
{
    assert_in_range(process, 1, check->context.processes.count);
    return &check->context.processes.at[process - 1];
}

static void assert_life(const engine_check *check, u32 process, i64 start, i64 end,
                        const char *name)
{
    const process_history *const row = history(check, process);
    assert_int_equal(row->pid, PID);
    assert_int_equal(row->start_ticks, start);
    assert_int_equal(row->end_ticks, end);
    assert_string_equal(etlheap_strings_get(&check->context.strings, row->name), name);
}

static u32 process_count(const engine_check *check)
{
    return (u32)check->context.processes.count;
}

static u64 starts_missing(const engine_check *check)
{
    return check->context.diag.of[ETL_DIAG_process_start_missing];
}

/* --- one process --- */

static void unknown_id_has_no_process(void **state)
{
    const engine_check *const check = *state;
    assert_int_equal(owner_at(check, T0), 0);
}

static void memory_events_alone_make_a_process_without_a_name(void **state)
{
    engine_check *const check = *state;
    touch(check, T0);
    touch(check, T0 - 10);
    touch(check, T0 + CHECK_SECOND);
    assert_int_equal(process_count(check), 1);
    assert_life(check, owner_at(check, T0), BEFORE, NEVER, "");
    assert_int_equal(owner_at(check, INT64_MIN), 1);
    assert_int_equal(owner_at(check, INT64_MAX), 1);
}

static void process_of_the_first_rundown_was_there_before(void **state)
{
    engine_check *const check = *state;
    record(check, DCSTART, T0, "app.exe");
    assert_life(check, owner_at(check, T0 - 5), BEFORE, NEVER, "app.exe");
    assert_int_equal(history(check, 1)->parent_pid, 4);
    assert_int_equal(history(check, 1)->pointer_bits, 64);
}

static void rundown_at_the_end_names_the_process_of_memory_events(void **state)
{
    engine_check *const check = *state;
    touch(check, T0);
    record(check, DCEND, T0 + CHECK_SECOND, "app.exe");
    assert_int_equal(process_count(check), 1);
    assert_life(check, owner_at(check, T0), BEFORE, NEVER, "app.exe");
}

static void process_lives_from_its_start_to_its_end(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0, "app.exe");
    record(check, END, T0 + 100, "other.exe");
    assert_int_equal(process_count(check), 1);
    assert_life(check, owner_at(check, T0), T0, T0 + 100, "app.exe");
}

static void end_alone_is_of_a_process_that_was_there_before(void **state)
{
    engine_check *const check = *state;
    record(check, END, T0, "app.exe");
    assert_life(check, owner_at(check, T0 - 5), BEFORE, T0, "app.exe");
}

static void wow64_process_has_32_bits(void **state)
{
    engine_check *const check = *state;
    system_event event = { .ticks = T0, .event = { .kind = START } };
    event.event.as.process.process_id = PID;
    event.event.as.process.flags = ETL_PROCESS_WOW64;
    assert_true(context_apply(&check->context, &event, 1));
    assert_int_equal(history(check, 1)->pointer_bits, 32);
}

/* --- events around the start and the end --- */

static void start_within_a_second_adopts_the_events_before_it(void **state)
{
    engine_check *const check = *state;
    touch(check, T0 - CHECK_SECOND);
    record(check, START, T0, "app.exe");
    assert_int_equal(process_count(check), 1);
    assert_life(check, owner_at(check, T0 - CHECK_SECOND), T0, NEVER, "app.exe");
    assert_int_equal(starts_missing(check), 0);
}

static void later_start_leaves_the_events_before_it_to_another(void **state)
{
    engine_check *const check = *state;
    touch(check, T0 - CHECK_SECOND - 1);
    record(check, START, T0, "app.exe");
    assert_int_equal(process_count(check), 2);
    assert_life(check, owner_at(check, T0 - CHECK_SECOND - 1), BEFORE, T0, "");
    assert_life(check, owner_at(check, T0), T0, NEVER, "app.exe");
    assert_int_equal(owner_at(check, T0 - 1), owner_at(check, T0 - CHECK_SECOND - 1));
    assert_int_equal(starts_missing(check), 1);
}

/* The slice with the start is applied before its memory events are looked at. */
static void start_that_is_known_first_adopts_by_the_same_rule(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0, "app.exe");
    touch(check, T0 - CHECK_SECOND);
    assert_int_equal(process_count(check), 1);
    touch(check, T0 - CHECK_SECOND - 1);
    assert_int_equal(process_count(check), 2);
    assert_life(check, owner_at(check, T0 - CHECK_SECOND - 1), BEFORE, T0, "");
    assert_int_equal(owner_at(check, T0 - 1), owner_at(check, T0 - CHECK_SECOND - 1));
    assert_int_equal(starts_missing(check), 1);
}

static void events_two_milliseconds_after_the_end_are_the_ended_processs(void **state)
{
    engine_check *const check = *state;
    const i64 last = T0 + 2 * CHECK_MS;
    record(check, START, T0 - 100, "app.exe");
    record(check, END, T0, "app.exe");
    touch(check, last);
    assert_int_equal(process_count(check), 1);
    touch(check, last + 1);
    assert_int_equal(process_count(check), 2);
    assert_int_equal(owner_at(check, T0), 1);
    assert_int_equal(owner_at(check, last), 1);
    assert_int_equal(owner_at(check, last + 1), 2);
    assert_life(check, 2, last + 1, NEVER, "");
}

static void run_of_events_over_the_end_is_shared_out_by_time(void **state)
{
    engine_check *const check = *state;
    record(check, DCSTART, T0 - 100, "app.exe");
    record(check, END, T0, "app.exe");
    assert_true(context_ensure(&check->context, PID, T0 - 50, T0 + CHECK_SECOND));
    assert_int_equal(process_count(check), 2);
    assert_int_equal(owner_at(check, T0 - 50), 1);
    assert_int_equal(owner_at(check, T0 + CHECK_MS), 1);
    assert_int_equal(owner_at(check, T0 + CHECK_SECOND), 2);
}

/* --- the id used again --- */

static void each_user_of_an_id_has_its_own_time(void **state)
{
    engine_check *const check = *state;
    for (i64 i = 0; i < 3; i++) {
        record(check, START, T0 + 10 * i * CHECK_SECOND, i == 1 ? "second.exe" : "app.exe");
        record(check, END, T0 + (10 * i + 5) * CHECK_SECOND, "app.exe");
    }
    assert_int_equal(process_count(check), 3);
    assert_life(check, owner_at(check, T0 + 12 * CHECK_SECOND), T0 + 10 * CHECK_SECOND,
                T0 + 15 * CHECK_SECOND, "second.exe");
    for (i64 i = 0; i < 3; i++) {
        assert_int_equal(owner_at(check, T0 + 10 * i * CHECK_SECOND), i + 1);
        assert_int_equal(owner_at(check, T0 + (10 * i + 5) * CHECK_SECOND), i + 1);
        assert_int_equal(owner_at(check, T0 + (10 * i + 5) * CHECK_SECOND + 2 * CHECK_MS), i + 1);
        assert_int_equal(owner_at(check, T0 + 10 * i * CHECK_SECOND - CHECK_SECOND), i + 1);
    }
}

static void start_while_the_id_is_in_use_ends_the_former_owner(void **state)
{
    engine_check *const check = *state;
    record(check, DCSTART, T0, "app.exe");
    record(check, START, T0 + CHECK_SECOND, "new.exe");
    assert_int_equal(process_count(check), 2);
    assert_life(check, owner_at(check, T0), BEFORE, T0 + CHECK_SECOND, "app.exe");
    assert_life(check, owner_at(check, T0 + CHECK_SECOND), T0 + CHECK_SECOND, NEVER, "new.exe");
    assert_int_equal(starts_missing(check), 1);
}

static void late_events_are_the_former_owners_until_the_next_start(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, T0, "app.exe");
    record(check, START, T0 + CHECK_MS, "new.exe");
    assert_int_equal(owner_at(check, T0 + CHECK_MS - 1), 1);
    assert_int_equal(owner_at(check, T0 + CHECK_MS), 2);
    touch(check, T0 + CHECK_MS - 1);
    assert_int_equal(process_count(check), 2);
}

static void gap_between_two_owners_is_a_third(void **state)
{
    engine_check *const check = *state;
    const i64 end = T0, start = T0 + 10 * CHECK_SECOND;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, end, "app.exe");
    record(check, START, start, "new.exe");
    touch(check, start - CHECK_SECOND);
    assert_int_equal(process_count(check), 2);
    assert_int_equal(owner_at(check, start - CHECK_SECOND), 2);
    touch(check, T0 + 3 * CHECK_SECOND);
    assert_int_equal(process_count(check), 3);
    const u32 third = owner_at(check, T0 + 3 * CHECK_SECOND);
    assert_life(check, third, end + 2 * CHECK_MS + 1, start, "");
    assert_int_equal(owner_at(check, end + 2 * CHECK_MS), 1);
    assert_int_equal(owner_at(check, start - CHECK_SECOND), third);
    assert_int_equal(owner_at(check, start), 2);
}

static void rundown_after_the_end_is_of_a_new_owner(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, T0, "app.exe");
    engine_check_process(check, DCEND, PID, T0 + CHECK_SECOND, "new.exe", KEY + 0x1000);
    assert_int_equal(process_count(check), 2);
    assert_life(check, owner_at(check, T0 + CHECK_SECOND), T0 + 2 * CHECK_MS + 1, NEVER, "new.exe");
}

static void end_after_the_end_is_of_a_new_owner(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, T0, "app.exe");
    engine_check_process(check, END, PID, T0 + CHECK_SECOND, "new.exe", KEY + 0x1000);
    assert_int_equal(process_count(check), 2);
    assert_life(check, owner_at(check, T0 + CHECK_SECOND), T0 + 2 * CHECK_MS + 1, T0 + CHECK_SECOND,
                "new.exe");
}

/* --- records of two sessions, and of the dead --- */

/* Each session stamps the record itself, a moment apart. */
static void records_of_a_second_session_change_nothing(void **state)
{
    engine_check *const check = *state;
    record(check, DCSTART, T0 - 10, "app.exe");
    record(check, DCSTART, T0 - 5, "app.exe");
    record(check, END, T0, "app.exe");
    record(check, END, T0, "app.exe");
    record(check, END, T0 + 7, "app.exe");
    record(check, START, T0 + CHECK_SECOND, "new.exe");
    record(check, START, T0 + CHECK_SECOND, "new.exe");
    record(check, START, T0 + CHECK_SECOND + 7, "new.exe");
    record(check, DCEND, T0 + 2 * CHECK_SECOND, "new.exe");
    record(check, DCEND, T0 + 3 * CHECK_SECOND, "new.exe");
    assert_int_equal(process_count(check), 2);
    assert_life(check, 1, BEFORE, T0, "app.exe");
    assert_life(check, 2, T0 + CHECK_SECOND, NEVER, "new.exe");
    assert_int_equal(starts_missing(check), 0);
}

static void second_end_without_a_key_changes_nothing(void **state)
{
    engine_check *const check = *state;
    engine_check_process(check, END, PID, T0, "app.exe", 0);
    engine_check_process(check, END, PID, T0 + 7, "app.exe", 0);
    assert_int_equal(process_count(check), 1);
    assert_life(check, 1, BEFORE, T0, "app.exe");
}

static void rundown_of_a_process_that_ended_does_not_revive_it(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, T0, "app.exe");
    record(check, DCEND, T0 + CHECK_SECOND, "app.exe");
    engine_check_process(check, DCEND, PID, T0 + CHECK_MS, "app.exe", 0);
    assert_int_equal(process_count(check), 1);
    assert_life(check, 1, T0 - CHECK_SECOND, T0, "app.exe");
}

static void record_of_the_ended_is_not_taken_for_the_unknown_owner_after_it(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0 - CHECK_SECOND, "app.exe");
    record(check, END, T0, "app.exe");
    touch(check, T0 + CHECK_SECOND);
    record(check, END, T0 + 2 * CHECK_SECOND, "app.exe");
    record(check, DCEND, T0 + 3 * CHECK_SECOND, "app.exe");
    record(check, DEFUNCT, T0 + 3 * CHECK_SECOND, "app.exe");
    assert_int_equal(process_count(check), 2);
    assert_life(check, 2, T0 + 2 * CHECK_MS + 1, NEVER, "");
}

static void defunct_process_lends_its_name_alone(void **state)
{
    engine_check *const check = *state;
    record(check, DEFUNCT, T0, "ghost.exe");
    assert_int_equal(process_count(check), 0);
    touch(check, T0);
    record(check, DEFUNCT, T0 + 1, "ghost.exe");
    assert_life(check, owner_at(check, T0), BEFORE, NEVER, "ghost.exe");
    record(check, START, T0 + 2, "app.exe");
    assert_int_equal(process_count(check), 1);
    assert_int_equal(history(check, 1)->start_ticks, T0 + 2);
}

static void defunct_process_renames_nobody(void **state)
{
    engine_check *const check = *state;
    record(check, DCSTART, T0, "app.exe");
    record(check, DEFUNCT, T0 + 5, "ghost.exe");
    assert_life(check, 1, BEFORE, NEVER, "app.exe");
}

/* --- all orders --- */

static bool next_order(u32 *order, u32 count)
{
    u32 at = count - 1;
    while (at > 0 && order[at - 1] >= order[at])
        at--;
    if (at == 0)
        return false;
    u32 with = count - 1;
    while (order[with] <= order[at - 1])
        with--;
    const u32 kept = order[at - 1];
    order[at - 1] = order[with];
    order[with] = kept;
    for (u32 low = at, high = count - 1; low < high; low++, high--) {
        const u32 swapped = order[low];
        order[low] = order[high];
        order[high] = swapped;
    }
    return true;
}

/* Owners follow one another: each begins after the former's end. */
static void assert_owners_in_order(const engine_check *check)
{
    for (u32 i = 1; i <= process_count(check); i++) {
        const process_history *const row = history(check, i);
        assert_true(row->start_ticks <= row->end_ticks);
        if (row->previous != 0)
            assert_true(history(check, row->previous)->end_ticks <= row->start_ticks);
    }
}

static void records_in_any_order_leave_one_owner_at_each_time(void **state)
{
    (void)state;
    static const etl_event_kind kinds[] = { START, END, DCSTART, DCEND, DEFUNCT };
    u32 order[5] = { 0, 1, 2, 3, 4 };
    do {
        engine_check check;
        engine_check_open(&check);
        for (u32 i = 0; i < 5; i++)
            record(&check, kinds[order[i]], T0 + 10 * (i64)i * CHECK_SECOND, "app.exe");
        for (i64 ticks = T0 - CHECK_SECOND; ticks < T0 + 60 * CHECK_SECOND; ticks += CHECK_SECOND)
            touch(&check, ticks);
        assert_owners_in_order(&check);
        for (u32 i = 0; i < 5; i++) {
            const i64 ticks = T0 + 10 * (i64)i * CHECK_SECOND;
            const process_history *const owner = history(&check, owner_at(&check, ticks));
            if (kinds[order[i]] == START)
                assert_int_equal(owner->start_ticks, ticks);
            if (kinds[order[i]] == DCSTART || kinds[order[i]] == DCEND)
                assert_true(owner->start_ticks <= ticks);
            assert_true(owner->end_ticks >= ticks || kinds[order[i]] != START);
        }
        engine_check_close(&check);
    } while (next_order(order, 5));
}

/* --- heaps --- */

static i64 heap_end(const engine_check *check, u32 process, u64 heap, i64 alloc_ticks)
{
    return context_heap_end(&check->context, process, heap, alloc_ticks);
}

static void heap_ends_with_the_first_destruction_after_the_allocation(void **state)
{
    engine_check *const check = *state;
    const u32 process = engine_check_owner(check, PID, T0);
    assert_int_equal(heap_end(check, process, HEAP, T0), NEVER);
    engine_check_destroy(check, PID, HEAP, T0 + 10);
    engine_check_destroy(check, PID, HEAP + 0x10000, T0 + 15);
    engine_check_destroy(check, PID, HEAP, T0 + 20);
    assert_int_equal(heap_end(check, process, HEAP, BEFORE), T0 + 10);
    assert_int_equal(heap_end(check, process, HEAP, T0 + 10), T0 + 10);
    assert_int_equal(heap_end(check, process, HEAP, T0 + 11), T0 + 20);
    assert_int_equal(heap_end(check, process, HEAP, T0 + 21), NEVER);
    assert_int_equal(heap_end(check, process, HEAP + 0x10000, T0), T0 + 15);
    assert_int_equal(heap_end(check, process, HEAP - 0x10000, T0), NEVER);
    assert_int_equal(heap_end(check, process, HEAP + 0x20000, T0), NEVER);
}

static i64 last_end(const engine_check *check, u32 process, u64 heap, i64 before_ticks)
{
    i64 ticks;
    return context_heap_ended(&check->context, process, heap, before_ticks, &ticks) ? ticks : NEVER;
}

static void last_destruction_before_a_moment_is_found(void **state)
{
    engine_check *const check = *state;
    const u32 process = engine_check_owner(check, PID, T0);
    assert_int_equal(last_end(check, process, HEAP, NEVER), NEVER);
    engine_check_destroy(check, PID, HEAP, T0 + 10);
    engine_check_destroy(check, PID, HEAP + 0x10000, T0 + 15);
    engine_check_destroy(check, PID, HEAP, T0 + 20);
    assert_int_equal(last_end(check, process, HEAP, T0 + 10), NEVER);
    assert_int_equal(last_end(check, process, HEAP, T0 + 11), T0 + 10);
    assert_int_equal(last_end(check, process, HEAP, T0 + 20), T0 + 10);
    assert_int_equal(last_end(check, process, HEAP, NEVER), T0 + 20);
    assert_int_equal(last_end(check, process, HEAP + 0x10000, T0 + 15), NEVER);
    assert_int_equal(last_end(check, process, HEAP + 0x10000, NEVER), T0 + 15);
    assert_int_equal(last_end(check, process, HEAP - 0x10000, NEVER), NEVER);
    assert_int_equal(last_end(check, process, HEAP + 0x20000, NEVER), NEVER);
}

static void heaps_of_another_process_are_apart(void **state)
{
    engine_check *const check = *state;
    const u32 process = engine_check_owner(check, PID, T0);
    const u32 other = engine_check_owner(check, PID + 1, T0);
    engine_check_destroy(check, PID + 1, HEAP, T0 + 10);
    engine_check_destroy(check, PID + 1, HEAP + 0x10000, T0 + 10);
    assert_int_equal(heap_end(check, process, HEAP, T0), NEVER);
    assert_int_equal(heap_end(check, other, HEAP, T0), T0 + 10);
}

static void destruction_belongs_to_the_owner_of_its_time(void **state)
{
    engine_check *const check = *state;
    record(check, START, T0, "app.exe");
    engine_check_destroy(check, PID, HEAP, T0 + 10);
    record(check, END, T0 + 20, "app.exe");
    record(check, START, T0 + CHECK_SECOND, "new.exe");
    engine_check_destroy(check, PID, HEAP, T0 + CHECK_SECOND + 10);
    assert_int_equal(heap_end(check, 1, HEAP, T0), T0 + 10);
    assert_int_equal(heap_end(check, 1, HEAP, T0 + 11), NEVER);
    assert_int_equal(heap_end(check, 2, HEAP, T0), T0 + CHECK_SECOND + 10);
}

static void destruction_alone_makes_its_process(void **state)
{
    engine_check *const check = *state;
    engine_check_destroy(check, PID, HEAP, T0);
    assert_int_equal(heap_end(check, owner_at(check, T0), HEAP, T0 - 1), T0);
}

/* --- hostile files --- */

static void any_times_can_be_compared(void **state)
{
    (void)state;
    static const i64 times[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX };
    static const etl_event_kind kinds[] = { START, END, DCEND, DEFUNCT };
    for (size_t a = 0; a < ETL_COUNT_OF(times); a++) {
        for (size_t k = 0; k < ETL_COUNT_OF(kinds); k++) {
            engine_check check;
            engine_check_open(&check);
            record(&check, kinds[k], times[a], "app.exe");
            for (size_t b = 0; b < ETL_COUNT_OF(times); b++) {
                touch(&check, times[b]);
                assert_int_not_equal(owner_at(&check, times[b]), 0);
                record(&check, kinds[(k + b) % ETL_COUNT_OF(kinds)], times[b], "app.exe");
            }
            engine_check_close(&check);
        }
    }
}

/* Going back owner by owner would take a minute. */
static void owner_of_an_early_time_is_found_fast_among_many(void **state)
{
    engine_check *const check = *state;
    const u32 owners = 150000;
    for (u32 i = 0; i < owners; i++)
        record(check, START, T0 + i * CHECK_SECOND, NULL);
    for (u32 i = 0; i < owners; i++)
        assert_int_equal(owner_at(check, T0 + i * CHECK_SECOND + 5), i + 1);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, engine_check_setup, engine_check_teardown)
    const struct CMUnitTest tests[] = {
        RULE(unknown_id_has_no_process),
        RULE(memory_events_alone_make_a_process_without_a_name),
        RULE(process_of_the_first_rundown_was_there_before),
        RULE(rundown_at_the_end_names_the_process_of_memory_events),
        RULE(process_lives_from_its_start_to_its_end),
        RULE(end_alone_is_of_a_process_that_was_there_before),
        RULE(wow64_process_has_32_bits),
        RULE(start_within_a_second_adopts_the_events_before_it),
        RULE(later_start_leaves_the_events_before_it_to_another),
        RULE(start_that_is_known_first_adopts_by_the_same_rule),
        RULE(events_two_milliseconds_after_the_end_are_the_ended_processs),
        RULE(run_of_events_over_the_end_is_shared_out_by_time),
        RULE(each_user_of_an_id_has_its_own_time),
        RULE(start_while_the_id_is_in_use_ends_the_former_owner),
        RULE(late_events_are_the_former_owners_until_the_next_start),
        RULE(gap_between_two_owners_is_a_third),
        RULE(rundown_after_the_end_is_of_a_new_owner),
        RULE(end_after_the_end_is_of_a_new_owner),
        RULE(records_of_a_second_session_change_nothing),
        RULE(second_end_without_a_key_changes_nothing),
        RULE(rundown_of_a_process_that_ended_does_not_revive_it),
        RULE(record_of_the_ended_is_not_taken_for_the_unknown_owner_after_it),
        RULE(defunct_process_lends_its_name_alone),
        RULE(defunct_process_renames_nobody),
        RULE(records_in_any_order_leave_one_owner_at_each_time),
        RULE(heap_ends_with_the_first_destruction_after_the_allocation),
        RULE(last_destruction_before_a_moment_is_found),
        RULE(heaps_of_another_process_are_apart),
        RULE(destruction_belongs_to_the_owner_of_its_time),
        RULE(destruction_alone_makes_its_process),
        RULE(any_times_can_be_compared),
        RULE(owner_of_an_early_time_is_found_fast_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
