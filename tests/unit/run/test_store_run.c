/*
 * Goal: a store holds what an analysis of the trace finds, every lifetime and every
 * fact, whatever the slices; its bytes do not depend on the number of threads;
 * and a store that cannot be written is an error.
 * Method: scenarios and random workloads of several session kinds, analyzed into
 * a store and into rows; the store read back event by event; compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/long_tests.h"
#include "tests/build/scenario.h"
#include "tests/support/store_check.h"
#include "tests/build/workload.h"
#include "tests/support/asked.h"

/* A kind of session. */
typedef struct variety {
    const char *name;
    etl_build_options build;
    workload_options work;
} variety;

static const variety varieties[] = {
    { .name = "plain", .build = { .buffer_bytes = 4096 } },
    { .name = "keyed and compressed",
      .build = { .buffer_bytes = 16384,
                 .compress = true,
                 .keyed_stacks = true,
                 .stack_key_slots = 32 } },
    { .name = "threadless VirtualAlloc",
      .build = { .buffer_bytes = 4096, .virtual_alloc_without_tid = true },
      .work = { .tidless = true } },
    { .name = "rundown at the end only",
      .build = { .buffer_bytes = 8192, .keyed_stacks = true, .header_records = true },
      .work = { .end_rundown_only = true } },
    { .name = "stacks of frees",
      .build = { .buffer_bytes = 4096 },
      .work = { .free_stacks = true } },
    { .name = "many CPUs", .build = { .buffer_bytes = 65536, .cpus = 16 }, .work = { .cpus = 16 } },
};

static void write_variety(check_traces *traces, const variety *kind, u64 seed)
{
    workload_options options = kind->work;
    options.seed = seed;
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(&kind->build);
    workload_write(w, b, b);
    workload_free(w);
    check_open(traces, b);
}

/* The file holds what is expected; it is freed, and what was read the caller's. */
static etlheap_result *expect_file(ehs_bytes *file, const char *expected, const char *name)
{
    etlheap_result *const result = store_check_read(file);
    char *const found = check_result_text(result);
    if (!check_same_text(expected, found))
        fail_msg("%s", name);
    free(found);
    ETLHEAP_VECTOR_FREE(file);
    return result;
}

/* `counted`: an inventory of the same traces. */
static void expect_same(const check_traces *traces, u64 slice_bytes, const char *expected,
                        const etlheap_result *counted, const char *name)
{
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 2,
                                      .slice_bytes = slice_bytes };
    ehs_bytes file = store_check_write(traces, &options, NULL);
    etlheap_result *const result = expect_file(&file, expected, name);
    assert_memory_equal(&result->inventory_diag, &counted->diag, sizeof counted->diag);
    etlheap_result_free(result);
}

/* What `info` says is not in it, and what it has of stacks is what a run says. */
static void expect_same_of_temporary(const check_traces *traces, const char *expected,
                                     const char *name)
{
    static const etl_diag_counts none;
    ehs_bytes file = store_check_write_temporary(traces, NULL);
    assert_int_equal(store_check_checkpoints(&file), 0);
    etlheap_result *const result = expect_file(&file, expected, name);
    assert_memory_equal(&result->inventory_diag, &none, sizeof none);
    etlheap_result_free(result);
}

/* Then the file has no stacks but those of lifetimes. */
static void expect_same_without_frees(const check_traces *traces, const char *expected,
                                      u32 stack_count, const char *name)
{
    ehs_bytes file = store_check_write_without_frees(traces, NULL);
    etlheap_result *const result = expect_file(&file, expected, name);
    assert_int_equal(etlheap_stack_count(result), stack_count);
    etlheap_result_free(result);
}

/* Stores keep reservations, so the analysis does. */
static void compare(const check_traces *traces, const char *name)
{
    static const u64 slices[] = { 1, 4096, 50000, 0 };
    const etlheap_options inventory = { .size = sizeof inventory, .inventory_only = true };
    const etlheap_options whole = { .size = sizeof whole, .named_kinds = true };
    etlheap_result *const rows = check_analyze(traces, &whole);
    etlheap_result *const counted = check_analyze(traces, &inventory);
    char *const of_run = check_result_text(rows);
    expect_same_of_temporary(traces, of_run, name);
    free(of_run);
    rows->stack_counts = counted->stack_counts;
    char *const expected = check_result_text(rows);
    for (size_t i = 0; i < ETL_COUNT_OF(slices); i++)
        expect_same(traces, slices[i], expected, counted, name);
    expect_same_without_frees(traces, expected, etlheap_stack_count(rows), name);
    free(expected);
    etlheap_result_free(rows);
    etlheap_result_free(counted);
}

static void stores_of_workloads_hold_what_analyses_find(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        for (u64 seed = 1; seed <= (long_tests() ? 20 : 1); seed++) {
            check_traces traces = { 0 };
            write_variety(&traces, &varieties[i], 200 + seed + 50 * i);
            compare(&traces, varieties[i].name);
            check_close(&traces);
        }
    }
}

static void stores_of_scenarios_hold_what_analyses_find(void **state)
{
    (void)state;
    for (const scenario *s = scenarios; s->name != NULL; s++) {
        scenario_run run = { .seed = 9, .operations = 3000, .cpus = 4 };
        etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 4 });
        assert_true(scenario_write(s, &run, b));
        scenario_run_free(&run);
        check_traces traces = { 0 };
        check_open(&traces, b);
        compare(&traces, s->name);
        check_close(&traces);
    }
}

static void the_bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const u32 jobs[] = { 2, 7 };
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        check_traces traces = { 0 };
        write_variety(&traces, &varieties[i], 300 + i);
        etlheap_options options = { .size = sizeof options, .jobs = 1, .slice_bytes = 30000 };
        ehs_bytes one = store_check_write(&traces, &options, NULL);
        for (size_t j = 0; j < ETL_COUNT_OF(jobs); j++) {
            options.jobs = jobs[j];
            ehs_bytes many = store_check_write(&traces, &options, NULL);
            assert_int_equal(many.count, one.count);
            assert_memory_equal(many.at, one.at, one.count);
            ETLHEAP_VECTOR_FREE(&many);
        }
        ETLHEAP_VECTOR_FREE(&one);
        check_close(&traces);
    }
}

/* --- traces that take many segments ---------------------------------------------------- */

/* Together more than a batch of segments; the first are so many that the open blocks
 * of the checkpoint lie among others that have ended. */
#define MANY_KEPT  67000u
#define MANY_PAIRS 600000u

/* Blocks that live for various times, a few of them for good, of one process that
 * is killed at the end: their ends are noticed together. */
static void write_many(check_traces *traces)
{
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 65536, .cpus = 2 });
    const etl_build_at at = { .ticks = 1000010, .pid = 42, .tid = 7 };
    const etl_build_process_spec spec = { .pid = 42, .name = "many.exe" };
    etl_build_process(b, at, ETL_BUILD_START, &spec);
    u64 live[64] = { 0 };
    for (u32 i = 0; i < MANY_PAIRS; i++) {
        const u32 place = (u32)(i * 2654435761u >> 26);
        etl_build_at now = { .cpu = i % 2, .ticks = 1001000 + 10 * (i64)i, .pid = 42, .tid = 7 };
        if (live[place] != 0 && i > MANY_KEPT && i % 1999 != 0)
            etl_build_heap_free(b, now, 0x1F0000, live[place]);
        now.ticks += 3;
        live[place] = 0x10000 + (u64)i * 0x20;
        etl_build_heap_alloc(b, now, 0x1F0000, live[place], 1 + i % 1000);
    }
    const etl_build_at end = { .ticks = 1001000 + 10 * (i64)MANY_PAIRS, .pid = 42, .tid = 7 };
    etl_build_process(b, end, ETL_BUILD_END, &spec);
    check_open(traces, b);
}

static void many_segments_and_checkpoints_hold_together(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    write_many(&traces);
    etlheap_options options = { .size = sizeof options, .jobs = 2 };
    ehs_bytes file = store_check_write(&traces, &options, NULL);
    options.jobs = 1;
    ehs_bytes again = store_check_write(&traces, &options, NULL);
    assert_int_equal(file.count, again.count);
    assert_memory_equal(file.at, again.at, file.count);
    assert_true(store_check_checkpoints(&file) > 0);
    etlheap_result *const rows = check_analyze(&traces, NULL);
    etlheap_result *const read = store_check_read(&file);
    char *const expected = check_result_text(rows), *const found = check_result_text(read);
    assert_true(check_same_text(expected, found));
    expect_same_of_temporary(&traces, expected, "temporary");
    free(expected);
    free(found);
    etlheap_result_free(rows);
    etlheap_result_free(read);
    ETLHEAP_VECTOR_FREE(&file);
    ETLHEAP_VECTOR_FREE(&again);
    check_close(&traces);
}

/* --- single cases ------------------------------------------------------------------------- */

/* The store of what the builder wrote, read back; the caller frees the result. */
static etlheap_result *store_of(etl_build *b)
{
    check_traces traces = { 0 };
    check_open(&traces, b);
    compare(&traces, "single case");
    ehs_bytes file = store_check_write(&traces, NULL, NULL);
    etlheap_result *const result = store_check_read(&file);
    ETLHEAP_VECTOR_FREE(&file);
    check_close(&traces);
    return result;
}

static etl_build_at at_ticks(i64 ticks)
{
    return (etl_build_at){ .ticks = 1001000 + ticks, .pid = 42, .tid = 7 };
}

static void an_empty_trace_makes_a_store_of_facts(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(NULL);
    etl_build_process(b, at_ticks(0), ETL_BUILD_START,
                      &(etl_build_process_spec){ .pid = 42, .name = "idle.exe" });
    etlheap_result *const result = store_of(b);
    assert_int_equal(etlheap_segment_count(result), 0);
    assert_string_equal(etlheap_process_of(result, (etlheap_process){ 1 })->name, "idle.exe");
    etlheap_result_free(result);
}

/* Sizes that an event list of a report has no room for. */
static void sizes_of_all_widths_are_kept(void **state)
{
    (void)state;
    static const u64 sizes[] = { 0,          INT32_MAX,           (u64)INT32_MAX + 1,
                                 UINT32_MAX, (u64)UINT32_MAX + 1, (u64)5 << 40 };
    etl_build *const b = etl_build_new(NULL);
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++)
        etl_build_heap_alloc(b, at_ticks(i), 0x1F0000, 0x10000 + i * 0x100, sizes[i]);
    etl_build_heap_free(b, at_ticks(100), 0x1F0000, 0x10500);
    etlheap_result *const result = store_of(b);
    const etlheap_segment rows = etlheap_segment_of(result, 0);
    assert_int_equal(rows.rows, ETL_COUNT_OF(sizes));
    for (u32 i = 0; i < rows.rows; i++)
        assert_int_equal(rows.size_bytes[i], sizes[i]);
    assert_int_equal(rows.free_ticks[5], 1001100);
    assert_int_equal(rows.free_ticks[4], ETLHEAP_TICKS_NEVER);
    etlheap_result_free(result);
}

/* Ends for which there is no event: noticed late, told at their time. */
static void late_ends_stand_at_their_time(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(NULL);
    etl_build_heap_alloc(b, at_ticks(0), 0x1F0000, 0x10000, 10);
    etl_build_heap_alloc(b, at_ticks(1), 0x2F0000, 0x20000, 20);
    etl_build_heap_alloc(b, at_ticks(2), 0x1F0000, 0x10000, 30); /* displaces the first */
    etl_build_heap_destroy(b, at_ticks(3), 0x2F0000);
    for (u32 i = 0; i < 200; i++)
        etl_build_heap_alloc(b, at_ticks(4 + 1000 * (i64)i), 0x1F0000, 0x30000 + i * 0x100, 1);
    etlheap_result *const result = store_of(b);
    const etlheap_segment rows = etlheap_segment_of(result, 0);
    assert_int_equal(rows.free_ticks[0], 1001002);
    assert_int_equal(rows.free_type[0], ETLHEAP_FREE_FREE);
    assert_int_equal(rows.free_ticks[1], 1001003);
    assert_int_equal(rows.free_type[1], ETLHEAP_FREE_HEAP_DESTROY);
    assert_int_equal(rows.free_type[2], ETLHEAP_FREE_NONE);
    etlheap_result_free(result);
}

static void a_moving_realloc_marks_the_block_it_opened(void **state)
{
    (void)state;
    const etl_build_realloc moved = {
        .new_address = 0x20000, .old_address = 0x10000, .new_size = 64, .old_size = 32
    };
    etl_build *const b = etl_build_new(NULL);
    etl_build_heap_alloc(b, at_ticks(0), 0x1F0000, 0x10000, 32);
    etl_build_heap_alloc(b, at_ticks(10), 0x1F0000, 0x20000, 64);
    etl_build_heap_free(b, at_ticks(11), 0x1F0000, 0x10000);
    etl_build_heap_realloc(b, at_ticks(12), 0x1F0000, &moved);
    etlheap_result *const result = store_of(b);
    const etlheap_segment rows = etlheap_segment_of(result, 0);
    assert_int_equal(rows.rows, 2);
    assert_false(rows.is_realloc[0]);
    assert_true(rows.is_realloc[1]);
    assert_int_equal(rows.free_ticks[1], ETLHEAP_TICKS_NEVER);
    etlheap_result_free(result);
}

static void the_result_holds_facts_alone(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etlheap_result *facts;
    write_variety(&traces, &varieties[0], 400);
    ehs_bytes file = store_check_write(&traces, NULL, &facts);
    assert_false(etlheap_result_is_for_questions(facts));
    assert_int_equal(etlheap_segment_count(facts), 0);
    assert_true(etlheap_process_count(facts) > 0);
    ETLHEAP_VECTOR_FREE(&file);
    etlheap_result_free(facts);
    check_close(&traces);
}

/* --- failures ----------------------------------------------------------------------------- */

typedef struct full_disk {
    size_t left, written;
} full_disk;

static bool keep_some(void *user, const void *bytes, size_t size)
{
    full_disk *const disk = user;
    (void)bytes;
    if (size > disk->left)
        return false;
    disk->left -= size;
    disk->written += size;
    return true;
}

static etl_status store_on(const check_traces *traces, full_disk *disk, etl_error *err)
{
    const etlheap_store_options store = { .size = sizeof store, .write = keep_some, .user = disk };
    const etlheap_options options = {
        .size = sizeof options, .jobs = 1, .slice_bytes = 50000, .store = &store
    };
    etlheap_result *result = NULL;
    *err = (etl_error){ .message = "" };
    const etl_status status =
        etlheap_analyze(traces->at, traces->names, traces->count, &options, &result, err);
    assert_true((status == ETL_OK) == (result != NULL));
    etlheap_result_free(result);
    return status;
}

static void a_disk_that_is_full_at_any_time_is_an_error(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    write_variety(&traces, &varieties[0], 401);
    full_disk large = { .left = SIZE_MAX };
    etl_error err;
    assert_int_equal(store_on(&traces, &large, &err), ETL_OK);
    const size_t lefts[] = { 0, 31, 32, large.written / 2, large.written - 1 };
    for (size_t i = 0; i < ETL_COUNT_OF(lefts); i++) {
        full_disk small = { .left = lefts[i] };
        assert_int_equal(store_on(&traces, &small, &err), ETL_ERR_IO);
        assert_non_null(strstr(err.message, "store"));
    }
    check_close(&traces);
}

/* How far a reading has come, and how often it began again. */
typedef struct reading {
    u64 done_bytes, total_bytes, restarts;
} reading;

static bool follow(void *user, u64 done_bytes, u64 total_bytes)
{
    reading *const r = user;
    r->restarts += done_bytes < r->done_bytes;
    r->done_bytes = done_bytes;
    r->total_bytes = total_bytes;
    return true;
}

static void the_traces_are_read_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        check_traces traces = { 0 };
        write_variety(&traces, &varieties[i], 500 + i);
        reading r = { 0 };
        const etlheap_options options = {
            .size = sizeof options, .slice_bytes = 20000, .progress = follow, .progress_user = &r
        };
        ehs_bytes file = store_check_write(&traces, &options, NULL);
        assert_int_equal(r.restarts, 0);
        assert_int_equal(r.done_bytes, r.total_bytes);
        assert_int_equal(r.total_bytes, etl_file_size(traces.at[0]));
        ETLHEAP_VECTOR_FREE(&file);
        check_close(&traces);
    }
}

static bool cancel(void *user, u64 done_bytes, u64 total_bytes)
{
    (void)user;
    (void)total_bytes;
    return done_bytes == 0;
}

static void a_cancelled_store_is_not_completed(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    write_variety(&traces, &varieties[0], 402);
    full_disk disk = { .left = SIZE_MAX };
    const etlheap_store_options store = { .size = sizeof store, .write = keep_some, .user = &disk };
    const etlheap_options options = {
        .size = sizeof options, .slice_bytes = 20000, .progress = cancel, .store = &store
    };
    etlheap_result *result = NULL;
    etl_error err;
    assert_int_equal(etlheap_analyze(traces.at, traces.names, 1, &options, &result, &err),
                     ETL_ERR_CANCELLED);
    assert_null(result);
    check_close(&traces);
}

static void what_excludes_a_store_is_refused(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    write_variety(&traces, &varieties[0], 403);
    const etlheap_query query = etlheap_query_default();
    const etlheap_store_options store = { .size = sizeof store, .write = keep_some };
    const etlheap_options options[] = {
        { .size = sizeof *options, .inventory_only = true, .store = &store },
        { .size = sizeof *options, ASKED_TABLE(&query), .store = &store },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(options); i++) {
        etlheap_result *result = NULL;
        etl_error err;
        assert_int_equal(etlheap_analyze(traces.at, traces.names, 1, &options[i], &result, &err),
                         ETL_ERR_ARGUMENT);
        assert_null(result);
    }
    check_close(&traces);
}

/* Working memory is as promised, or it is said what is needed. */
static void a_store_keeps_to_the_memory_allowed(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    write_variety(&traces, &varieties[0], 404);
    full_disk disk = { .left = SIZE_MAX };
    const etlheap_store_options store = { .size = sizeof store, .write = keep_some, .user = &disk };
    const etlheap_options options = { .size = sizeof options,
                                      .memory_bytes_max = 1000,
                                      .store = &store };
    etlheap_result *result = NULL;
    etl_error err;
    assert_int_equal(etlheap_analyze(traces.at, traces.names, 1, &options, &result, &err),
                     ETL_ERR_LIMIT);
    assert_non_null(strstr(err.message, "MiB of memory, more than allowed"));
    assert_int_equal(err.hint, ETL_HINT_NARROWER_WINDOW);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_of_workloads_hold_what_analyses_find),
        cmocka_unit_test(stores_of_scenarios_hold_what_analyses_find),
        cmocka_unit_test(the_bytes_do_not_depend_on_threads),
        cmocka_unit_test(many_segments_and_checkpoints_hold_together),
        cmocka_unit_test(an_empty_trace_makes_a_store_of_facts),
        cmocka_unit_test(sizes_of_all_widths_are_kept),
        cmocka_unit_test(late_ends_stand_at_their_time),
        cmocka_unit_test(a_moving_realloc_marks_the_block_it_opened),
        cmocka_unit_test(the_result_holds_facts_alone),
        cmocka_unit_test(a_disk_that_is_full_at_any_time_is_an_error),
        cmocka_unit_test(the_traces_are_read_once),
        cmocka_unit_test(a_cancelled_store_is_not_completed),
        cmocka_unit_test(what_excludes_a_store_is_refused),
        cmocka_unit_test(a_store_keeps_to_the_memory_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
