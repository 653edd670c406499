/*
 * Goal: a report says the same whether the engine kept an event list, a log, lifetimes or a store.
 * Method: built traces of what few traces hold, and the report from each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/run_check.h"
#include "tests/support/store_check.h"

#define PID      42u
#define OTHER    9u
#define TID      7u
#define HEAP     0x10000u
#define BLOCKS   0x200000u
#define BASE     0x7ff600000000u
#define SECONDS  ((i64)10000000)
#define ALL_HERE ((u64)0)

#define REALLOC_TICKS 2 /* from the Alloc of a realloc to its last record */

typedef enum home { HOME_EVENT_LIST, HOME_LOG, HOME_LIFETIMES, HOME_COUNT } home;

static const char *const home_names[] = { "event list", "log", "lifetimes" };

static etl_build *new_trace(void)
{
    return etl_build_new(&(etl_build_options){ .cpus = 2, .buffer_bytes = 1024 });
}

/* Times may go back. */
static etl_build *new_trace_as_called(void)
{
    return etl_build_new(
        &(etl_build_options){ .cpus = 1, .buffer_bytes = 1024, .order = ETL_BUILD_AS_CALLED });
}

static etl_build_at at(const etl_build *b, i64 ticks, u32 cpu)
{
    return (etl_build_at){
        .ticks = etl_build_start_ticks(b) + ticks, .cpu = cpu, .pid = PID, .tid = TID
    };
}

static void allocate(etl_build *b, i64 ticks, u32 cpu, u32 number)
{
    etl_build_heap_alloc(b, at(b, ticks, cpu), HEAP, BLOCKS + 0x100 * (u64)number, 100 + number);
}

/* --- homes ----------------------------------------------------------------------------- */

static etlheap_result *analyze(const check_traces *traces, home wanted, u64 slice_bytes,
                               const etlheap_query *query)
{
    const etlheap_options options = {
        .size = sizeof options,
        .jobs = 1,
        .slice_bytes = slice_bytes,
        ASKED_IF(wanted != HOME_LIFETIMES,
                 wanted == HOME_LOG ? ETLHEAP_ASK_EVENTS : ETLHEAP_ASK_TABLE, query, NULL)
    };
    return check_analyze(traces, &options);
}

static char *report_of_store(const check_traces *traces, u64 slice_bytes,
                             const etlheap_query *query)
{
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 1,
                                      .slice_bytes = slice_bytes };
    ehs_bytes file = store_check_write(traces, &options, NULL);
    etlheap_result *const result = store_check_read(&file);
    char *const text = check_aggregate_text(result, query);
    etlheap_result_free(result);
    ETLHEAP_VECTOR_FREE(&file);
    return text;
}

static bool is_same(const char *first, const char *other, const char *name)
{
    const bool same = check_same_text(first, other);
    if (!same)
        print_error("the event list's report differs from that of the %s\n", name);
    return same;
}

/* The answer, which is the same from every home. To be freed. */
static char *answer(const check_traces *traces, u64 slice_bytes, const etlheap_query *query)
{
    char *first = NULL;
    for (home next = HOME_EVENT_LIST; next < HOME_COUNT; next++) {
        etlheap_result *const result = analyze(traces, next, slice_bytes, query);
        char *const text = check_aggregate_text(result, query);
        etlheap_result_free(result);
        if (next == HOME_EVENT_LIST) {
            first = text;
            continue;
        }
        assert_true(is_same(first, text, home_names[next]));
        free(text);
    }
    char *const stored = report_of_store(traces, slice_bytes, query);
    assert_true(is_same(first, stored, "store"));
    free(stored);
    return first;
}

/* The report. If the end of a process frees its blocks, it is another one, and is compared too. To
 * be freed. */
static char *report(const check_traces *traces, u64 slice_bytes)
{
    etlheap_query query = etlheap_query_default();
    query.jobs = 1;
    query.at_exit_freed = true;
    free(answer(traces, slice_bytes, &query));
    query.at_exit_freed = false;
    return answer(traces, slice_bytes, &query);
}

static u32 count_of(const char *text, const char *part)
{
    u32 count = 0;
    for (const char *found = strstr(text, part); found != NULL; found = strstr(found + 1, part))
        count++;
    return count;
}

/* --- times before the session ------------------------------------------------------------- */

/* A time that no record can have becomes time zero, and what its CPU wrote next, at a time
 * that one may have, is before that. */
static void what_follows_an_impossible_time_is_in_the_window(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    etl_build *const b = new_trace();
    allocate(b, -7200 * SECONDS, 0, 1);
    allocate(b, -30 * SECONDS, 0, 2);
    allocate(b, 1 * SECONDS, 0, 3);
    check_open(&traces, b);
    char *const text = report(&traces, ALL_HERE);
    assert_int_equal(count_of(text, "AOFO"), 0);
    free(text);
    check_close(&traces);
}

/* Slices end where buffers begin, which here is before time zero. */
static void slices_may_end_before_an_impossible_time_is_mended(void **state)
{
    (void)state;
    for (u32 cpu = 0; cpu < 2; cpu++) {
        check_traces traces = { .count = 0 };
        etl_build *const b = etl_build_new(
            &(etl_build_options){ .cpus = 2, .buffer_bytes = 1024, .order = ETL_BUILD_AS_CALLED });
        for (u32 i = 0; i < 400; i++) {
            const i64 ticks = -55 * SECONDS + i * SECONDS / 4;
            allocate(b, i % 7 == 3 ? -7200 * SECONDS : ticks, i % 2, i);
            if (i > 0 && i % 3 == 0)
                etl_build_heap_free(b, at(b, ticks + 10, (i + cpu) % 2), HEAP,
                                    BLOCKS + 0x100 * (u64)(i - 1));
        }
        check_open(&traces, b);
        free(report(&traces, ALL_HERE));
        free(report(&traces, 2048));
        check_close(&traces);
    }
}

/* --- blocks that end in another slice than their time says ------------------------------- */

/* An allocation, and the last record of a realloc whose Free came before. */
static void reallocate(etl_build *b, i64 ticks, u32 number)
{
    const u64 old = BLOCKS + 0x100 * (u64)(number + 1000);
    const etl_build_realloc moved = { .new_address = BLOCKS + 0x100 * (u64)number,
                                      .old_address = old,
                                      .new_size = 100 + number };
    allocate(b, ticks, 0, number);
    etl_build_heap_free(b, at(b, ticks + 1, 0), HEAP, old);
    etl_build_heap_realloc(b, at(b, ticks + REALLOC_TICKS, 0), HEAP, &moved);
}

/* Blocks freed and outstanding, in one slice as in many. */
static void expect_freed(const check_traces *traces, const char *freed, const char *outstanding)
{
    static const u64 slices[] = { ALL_HERE, 1024 };
    for (u32 i = 0; i < ETL_COUNT_OF(slices); i++) {
        char *const text = report(traces, slices[i]);
        assert_int_equal(count_of(text, freed), 1);
        assert_int_equal(count_of(text, outstanding), 1);
        free(text);
    }
}

/* All events have impossible times, so all slices have one tick. Each block is displaced by the
 * next one, mostly of its own slice. */
static void blocks_begin_and_end_in_slices_of_one_tick(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    etl_build *const b = new_trace();
    for (u32 i = 0; i < 100; i++) {
        if (i % 10 == 5)
            reallocate(b, -7200 * SECONDS + 10 * i, 0);
        else
            allocate(b, -7200 * SECONDS + 10 * i, 0, 0);
    }
    check_open(&traces, b);
    expect_freed(&traces, ": 99 9900 ", ": 1 100 ");
    check_close(&traces);
}

/* What ends blocks: a record that is told of late. */
typedef struct late_end {
    bool ends_process; /* or destroys the heap */
    i64 step_ticks;    /* between blocks */
    u32 behind;        /* block whose records it follows ... */
    i64 after_ticks;   /* ... and its time after that of block 30 */
} late_end;

static etl_build *end_late(const late_end *end)
{
    const etl_build_process_spec process = { .pid = PID, .name = "app.exe" };
    etl_build *const b = new_trace_as_called();
    for (u32 i = 0; i < 100; i++) {
        const etl_build_at when = at(b, 30 * end->step_ticks + end->after_ticks, 0);
        reallocate(b, i * end->step_ticks, i);
        if (i == end->behind && end->ends_process)
            etl_build_process(b, when, ETL_BUILD_END, &process);
        else if (i == end->behind)
            etl_build_heap_destroy(b, when, HEAP);
    }
    return b;
}

/* Wherever the record lies in a buffer. The steps are longer and shorter than a chunk of the
 * event list stays open. */
static void expect_agreement(bool ends_process, i64 after_ticks)
{
    static const i64 steps[] = { SECONDS / 10, SECONDS / 1000, SECONDS / 100000 };
    for (u32 i = 0; i < 10 * ETL_COUNT_OF(steps); i++) {
        const late_end end = { ends_process, steps[i / 10], 70 + i % 10, after_ticks };
        check_traces traces = { .count = 0 };
        check_open(&traces, end_late(&end));
        if (!ends_process && after_ticks > REALLOC_TICKS) {
            expect_freed(&traces, ": 31 3565 ", ": 69 11385 ");
        } else {
            free(report(&traces, ALL_HERE));
            free(report(&traces, 1024));
        }
        check_close(&traces);
    }
}

/* Only older blocks end, whichever slice the record is in. */
static void a_heap_whose_end_is_told_of_late_ends_older_blocks(void **state)
{
    (void)state;
    expect_agreement(false, REALLOC_TICKS + 1);
}

/* A realloc of an earlier slice has marked its block by then, at a later time. */
static void a_heap_whose_end_is_told_of_late_may_have_changed_since(void **state)
{
    (void)state;
    expect_agreement(false, REALLOC_TICKS - 1);
}

static void a_process_whose_end_is_told_of_late_may_have_changed_since(void **state)
{
    (void)state;
    expect_agreement(true, REALLOC_TICKS - 1);
}

static void process_at(etl_build *b, i64 ticks, u8 type)
{
    const etl_build_process_spec process = { .pid = PID, .name = "app.exe" };
    etl_build_process(b, at(b, ticks, 0), type, &process);
}

static void allocate_elsewhere(etl_build *b, i64 ticks, u32 number)
{
    etl_build_at other = at(b, ticks, 0);
    other.pid = OTHER;
    etl_build_heap_alloc(b, other, HEAP, BLOCKS + 0x100 * (u64)number, 64);
}

/* The trace in one slice and in many, from every home. */
static void compare_in_slices(etl_build *b)
{
    check_traces traces = { .count = 0 };
    check_open(&traces, b);
    free(report(&traces, ALL_HERE));
    free(report(&traces, 1024));
    check_close(&traces);
}

/* Late events of the process are waited for from when its end takes effect. */
static void blocks_of_a_process_whose_end_is_read_late_end_then(void **state)
{
    (void)state;
    const i64 step = SECONDS / 20000;
    etl_build *const b = new_trace_as_called();
    process_at(b, 0, ETL_BUILD_START);
    for (u32 i = 0; i < 100; i++) {
        allocate(b, i * step, 0, i);
        if (i == 70)
            process_at(b, 30 * step, ETL_BUILD_END);
    }
    for (u32 i = 0; i < 100; i++)
        allocate_elsewhere(b, (1 + i) * SECONDS, i);
    compare_in_slices(b);
}

/* An event counts from its slice, too, and its process may have ended by then. */
static void an_event_read_after_its_process_ended_has_a_process(void **state)
{
    (void)state;
    for (i64 step = SECONDS / 100000; step <= SECONDS; step *= 10) {
        etl_build *const b = new_trace_as_called();
        process_at(b, step, ETL_BUILD_START);
        allocate(b, 2 * step, 0, 0);
        process_at(b, 5 * step, ETL_BUILD_END);
        for (u32 i = 0; i < 200; i++) {
            allocate_elsewhere(b, (10 + i) * step, i);
            if (i == 50)
                allocate(b, 3 * step, 0, 1);
        }
        compare_in_slices(b);
    }
}

/* Until another event comes, nothing decides how the displaced block ended, and no time is late
 * enough for a guess. */
static void blocks_are_displaced_at_the_last_of_all_times(void **state)
{
    (void)state;
    for (u32 is_freed = 0; is_freed < 2; is_freed++) {
        check_traces traces = { .count = 0 };
        etl_build *const b = new_trace();
        const i64 last = INT64_MAX - etl_build_start_ticks(b) - 50;
        allocate(b, 0, 0, 0);
        for (u32 i = 0; i < 9; i++)
            allocate(b, last + 2 * i, 0, i / 3);
        if (is_freed != 0) {
            etl_build_at other = at(b, last + 20, 1);
            other.tid = TID + 1;
            etl_build_heap_free(b, other, HEAP, BLOCKS + 0x100);
        }
        allocate(b, last + 40, 0, 9);
        check_open(&traces, b);
        free(report(&traces, ALL_HERE));
        check_close(&traces);
    }
}

/* --- stacks of another process ---------------------------------------------------------- */

static void move_module(etl_build *b, i64 ticks, u8 type, const char *path)
{
    const etl_build_image_spec image = {
        .pid = OTHER, .base = BASE, .size = 0x10000, .path = path
    };
    etl_build_at when = at(b, ticks, 0);
    when.pid = OTHER;
    etl_build_image(b, when, type, &image);
}

static void allocate_from_outside(etl_build *b, i64 ticks, u32 number)
{
    const u64 frames[] = { BASE + 0x10, BASE + 0x20 };
    allocate(b, ticks, 0, number);
    etl_build_at when = at(b, ticks + 10, 0);
    when.pid = OTHER;
    etl_build_stack_inline(b, when, at(b, ticks, 0).ticks, frames, 2);
}

/* The owner of the memory has the same modules all the time. */
static void addresses_of_another_process_mean_what_they_meant_then(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    etl_build *const b = new_trace();
    move_module(b, 1 * SECONDS, ETL_BUILD_START, "\\Device\\HarddiskVolume3\\old.dll");
    allocate_from_outside(b, 2 * SECONDS, 1);
    move_module(b, 3 * SECONDS, ETL_BUILD_END, "\\Device\\HarddiskVolume3\\old.dll");
    move_module(b, 4 * SECONDS, ETL_BUILD_START, "\\Device\\HarddiskVolume3\\new.dll");
    allocate_from_outside(b, 5 * SECONDS, 2);
    allocate_from_outside(b, 6 * SECONDS, 3);
    check_open(&traces, b);
    char *const text = report(&traces, ALL_HERE);
    assert_int_equal(count_of(text, "old.dll"), 2);
    assert_int_equal(count_of(text, "new.dll"), 2);
    free(text);
    check_close(&traces);
}

/* --- modules that are told of late ------------------------------------------------------- */

static void replace_module(etl_build *b, i64 ticks)
{
    etl_build_image_spec image = {
        .pid = PID, .base = BASE, .size = 0x10000, .path = "\\Device\\HarddiskVolume3\\old.dll"
    };
    etl_build_image(b, at(b, ticks, 0), ETL_BUILD_END, &image);
    image.path = "\\Device\\HarddiskVolume3\\new.dll";
    etl_build_image(b, at(b, ticks + 10, 0), ETL_BUILD_START, &image);
}

/* 100 allocations, ten a second, and a record from the third second between two of them. */
static etl_build *tell_late(u32 behind)
{
    const u64 frames[] = { BASE + 0x10, BASE + 0x20 };
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .cpus = 1, .buffer_bytes = 1024, .order = ETL_BUILD_AS_CALLED });
    for (u32 i = 0; i < 100; i++) {
        const i64 ticks = i * SECONDS / 10;
        allocate(b, ticks, 0, i);
        etl_build_stack_inline(b, at(b, ticks + 10, 0), at(b, ticks, 0).ticks, frames, 2);
        if (i == behind)
            replace_module(b, 3 * SECONDS - SECONDS / 20);
    }
    return b;
}

/* Wherever it lies in a buffer. In one slice, the record counts at its time. */
static void a_module_that_is_told_of_late_does_not_change_earlier_slices(void **state)
{
    (void)state;
    for (u32 behind = 70; behind < 80; behind++) {
        check_traces traces = { .count = 0 };
        check_open(&traces, tell_late(behind));
        char *const whole = report(&traces, ALL_HERE);
        assert_int_equal(count_of(whole, ": 30 "), 1);
        assert_int_equal(count_of(whole, ": 70 "), 1);
        free(whole);
        free(report(&traces, 2048));
        check_close(&traces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_an_impossible_time_is_in_the_window),
        cmocka_unit_test(slices_may_end_before_an_impossible_time_is_mended),
        cmocka_unit_test(blocks_begin_and_end_in_slices_of_one_tick),
        cmocka_unit_test(a_heap_whose_end_is_told_of_late_ends_older_blocks),
        cmocka_unit_test(a_heap_whose_end_is_told_of_late_may_have_changed_since),
        cmocka_unit_test(a_process_whose_end_is_told_of_late_may_have_changed_since),
        cmocka_unit_test(blocks_of_a_process_whose_end_is_read_late_end_then),
        cmocka_unit_test(an_event_read_after_its_process_ended_has_a_process),
        cmocka_unit_test(blocks_are_displaced_at_the_last_of_all_times),
        cmocka_unit_test(addresses_of_another_process_mean_what_they_meant_then),
        cmocka_unit_test(a_module_that_is_told_of_late_does_not_change_earlier_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
