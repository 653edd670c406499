/*
 * Goal: an analysis does what its options say, describes its trace, and cannot
 * be brought out of step by where slices and tasks are cut.
 * Method: small built traces, one for each promise of engine.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/support/run_check.h"

#define HEAP 0x1f0000u

static etl_build_at at(i64 ticks, u32 cpu)
{
    return (etl_build_at){ .ticks = ticks, .cpu = cpu, .pid = 8, .tid = 16 + cpu };
}

/* Blocks that are allocated every 100 ticks, freed 50 ticks later but for every
 * tenth. */
static void add_blocks(etl_build *b, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        const i64 ticks = etl_build_start_ticks(b) + 1000 + 100 * (i64)i;
        etl_build_heap_alloc(b, at(ticks, i % 4), HEAP, 0x20000 + 0x100 * i, 64);
        if (i % 10 != 0)
            etl_build_heap_free(b, at(ticks + 50, i % 4), HEAP, 0x20000 + 0x100 * i);
    }
}

static check_traces blocks_trace(u32 count)
{
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 });
    add_blocks(b, count);
    check_open(&traces, b);
    return traces;
}

static u64 row_count(const etlheap_result *result)
{
    u64 rows = 0;
    for (u32 i = 0; i < etlheap_segment_count(result); i++)
        rows += etlheap_segment_of(result, i).rows;
    return rows;
}

/* --- options ------------------------------------------------------------------- */

static void no_trace_is_refused(void **state)
{
    (void)state;
    etlheap_result *result;
    etl_error err;
    assert_int_equal(etlheap_analyze(NULL, NULL, 0, NULL, &result, &err), ETL_ERR_ARGUMENT);
    assert_null(result);
    assert_true(err.message[0] != '\0');
}

static void options_may_be_absent_or_of_an_older_header(void **state)
{
    (void)state;
    check_traces traces = blocks_trace(200);
    etlheap_result *const plain = check_analyze(&traces, NULL);
    /* What lies behind `size` is not looked at. */
    etlheap_options options = { .size = offsetof(etlheap_options, inventory_only), .jobs = 1 };
    options.inventory_only = true;
    etlheap_result *const older = check_analyze(&traces, &options);
    assert_int_equal(row_count(plain), 200);
    assert_int_equal(row_count(older), 200);
    etlheap_result_free(plain);
    etlheap_result_free(older);
    check_close(&traces);
}

static void an_inventory_keeps_no_lifetimes_but_counts_events(void **state)
{
    (void)state;
    check_traces traces = blocks_trace(200);
    etlheap_result *const full = check_analyze(&traces, NULL);
    const etlheap_options options = { .size = sizeof options, .inventory_only = true };
    etlheap_result *const inventory = check_analyze(&traces, &options);
    assert_int_equal(row_count(inventory), 0);
    assert_int_equal(etlheap_process_count(inventory), 1);
    const etlheap_process_info *const process =
        etlheap_process_of(inventory, (etlheap_process){ 1 });
    assert_int_equal(process->events[ETLHEAP_KIND_HEAP], 380);
    assert_int_equal(etlheap_process_of(full, (etlheap_process){ 1 })->events[ETLHEAP_KIND_HEAP],
                     380);
    assert_true((etlheap_result_kinds(inventory) >> ETLHEAP_KIND_HEAP & 1) != 0);
    etlheap_result_free(full);
    etlheap_result_free(inventory);
    check_close(&traces);
}

/* --- progress ---------------------------------------------------------------------- */

typedef struct watcher {
    u32 calls, stop_after;
    u64 done, total;
    pthread_t caller;
    bool in_order, same_thread;
} watcher;

static bool watch(void *user, u64 done_bytes, u64 total_bytes)
{
    watcher *const w = user;
    w->in_order &= done_bytes >= w->done && done_bytes <= total_bytes;
    w->same_thread &= pthread_equal(pthread_self(), w->caller) != 0;
    w->done = done_bytes;
    w->total = total_bytes;
    return ++w->calls != w->stop_after;
}

static etl_status watched_run(const check_traces *traces, watcher *w, etlheap_result **result,
                              etl_error *err)
{
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 3,
                                      .slice_bytes = 4096,
                                      .progress = watch,
                                      .progress_user = w };
    w->caller = pthread_self();
    w->in_order = w->same_thread = true;
    return etlheap_analyze(traces->at, traces->names, traces->count, &options, result, err);
}

static void progress_goes_forward_to_the_end(void **state)
{
    (void)state;
    check_traces traces = blocks_trace(1000);
    watcher w = { 0 };
    etlheap_result *result;
    assert_int_equal(watched_run(&traces, &w, &result, NULL), ETL_OK);
    assert_true(w.calls > 5);
    assert_true(w.in_order);
    assert_true(w.same_thread);
    assert_int_equal(w.total, etl_file_size(traces.at[0]));
    assert_int_equal(w.done, w.total);
    etlheap_result_free(result);
    check_close(&traces);
}

static void a_callback_that_says_no_cancels(void **state)
{
    (void)state;
    check_traces traces = blocks_trace(1000);
    for (u32 stop = 1; stop < 6; stop++) {
        watcher w = { .stop_after = stop };
        etlheap_result *result;
        etl_error err;
        assert_int_equal(watched_run(&traces, &w, &result, &err), ETL_ERR_CANCELLED);
        assert_null(result);
        assert_int_equal(w.calls, stop);
        assert_int_equal(err.status, ETL_ERR_CANCELLED);
    }
    check_close(&traces);
}

/* --- the trace -------------------------------------------------------------------------- */

static void the_trace_is_described(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    const etl_build_options options = { .session_name = "heap session",
                                        .cpus = 6,
                                        .clock_hz = 3000000,
                                        .start_ticks = 500,
                                        .os_build = 19041,
                                        .events_lost = 7,
                                        .buffers_lost = 2 };
    etl_build *const b = etl_build_new(&options);
    etl_build_config_cpu(
        b, at(600, 0),
        &(etl_build_cpu_spec){ .mhz = 3000, .memory_mib = 1, .computer_name = "BENCH" });
    etl_build_mark(b, at(500 + 3000000, 5), "after a second");
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    const etlheap_trace_info *const info = etlheap_result_trace(result);
    assert_int_equal(info->file_count, 1);
    assert_string_equal(info->files[0], "a.etl");
    assert_string_equal(info->session, "heap session");
    assert_string_equal(info->computer, "BENCH");
    assert_int_equal(info->os_build, 19041);
    assert_int_equal(info->pointer_bits, 64);
    assert_int_equal(info->cpus, 6);
    assert_string_equal(info->clock, "qpc");
    assert_int_equal(info->clock_hz, 3000000);
    assert_int_equal(info->start_time_filetime,
                     etl_session_of(traces.at[0], 0)->start_time_filetime);
    assert_int_equal(info->duration_ns, 1000000000);
    assert_int_equal(info->end_ns, 1000000333);
    assert_int_equal(info->buffers, etl_build_buffer_count(b));
    assert_int_equal(info->events, etl_build_record_count(b));
    assert_int_equal(info->events_lost, 7);
    assert_int_equal(info->buffers_lost, 2);
    assert_int_equal(info->bytes, etl_file_size(traces.at[0]));
    assert_int_equal(etlheap_time_ns(result, 500 + 3000000), 1000000000);
    assert_int_equal(etlheap_time_ticks(result, 1000000000), 500 + 3000000);
    etlheap_result_free(result);
    check_close(&traces);
}

static void counts_of_several_files_add_up(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    for (u32 i = 0; i < 3; i++) {
        etl_build *const b = etl_build_new(&(etl_build_options){ .events_lost = 1 + i });
        etl_build_mark(b, at(1000100 + i, 0), "mark");
        check_open(&traces, b);
    }
    etlheap_result *const result = check_analyze(&traces, NULL);
    const etlheap_trace_info *const info = etlheap_result_trace(result);
    assert_int_equal(info->file_count, 3);
    assert_string_equal(info->files[2], "c.etl");
    assert_int_equal(info->events, 6);
    assert_int_equal(info->events_lost, 6);
    assert_int_equal(info->duration_ns, 10200);
    assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_clock_mismatch], 0);
    etlheap_result_free(result);
    check_close(&traces);
}

static void files_of_different_clocks_are_said_to_be(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    for (u32 i = 0; i < 2; i++) {
        etl_build *const b = etl_build_new(&(etl_build_options){ .clock_hz = 3000000 + i });
        etl_build_mark(b, at(1000100, 0), "mark");
        check_open(&traces, b);
    }
    etlheap_result *const result = check_analyze(&traces, NULL);
    assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_clock_mismatch], 1);
    etlheap_result_free(result);
    check_close(&traces);
}

/* At 3 GHz three ticks share a nanosecond; the window must not end before the
 * last event whichever of them it is. */
static void the_default_window_holds_the_last_event_of_a_fast_clock(void **state)
{
    (void)state;
    for (u32 late = 0; late < 6; late++) {
        check_traces traces = { 0 };
        etl_build *const b =
            etl_build_new(&(etl_build_options){ .clock = 3, .clock_hz = 3000000000 });
        etl_build_heap_alloc(b, at(9000000 + late, 0), HEAP, 0x1000, 64);
        check_open(&traces, b);
        etlheap_result *const result = check_analyze(&traces, NULL);
        const etlheap_query query = etlheap_query_default();
        etlheap_table *table;
        assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
        assert_int_equal(table->row_count, 1);
        assert_int_equal(table->rows[0].type, ETLHEAP_TYPE_AIFO);
        etlheap_table_free(table);
        etlheap_result_free(result);
        check_close(&traces);
    }
}

/* --- cuts ----------------------------------------------------------------------------------- */

/* One megabyte of one CPU is several tasks. All at one tick: a heap of loads and
 * unloads at one base, each its own image. */
static void system_events_of_one_tick_keep_their_order_over_tasks(void **state)
{
    (void)state;
    enum { LIVES = 6000 };
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    for (u32 i = 0; i < LIVES; i++) {
        const etl_build_image_spec image = { .pid = 8,
                                             .base = 0x10000000,
                                             .size = 0x1000 * (1 + i % 50),
                                             .path = "\\Device\\HarddiskVolume3\\plugin.dll" };
        etl_build_image(b, at(1000500, 0), ETL_BUILD_START, &image);
        etl_build_image(b, at(1000500, 0), ETL_BUILD_END, &image);
    }
    check_open(&traces, b);
    assert_true(etl_file_size(traces.at[0]) > 0x180000);
    etlheap_result *const result = check_analyze(&traces, NULL);
    assert_int_equal(etlheap_module_count(result), LIVES);
    for (u32 i = 0; i < LIVES; i++)
        assert_int_equal(etlheap_module_of(result, i)->size_bytes, 0x1000 * (1 + i % 50));
    etlheap_result_free(result);
    check_close(&traces);
}

/* A record at a slice's end is met twice: once to see that it is too late, once
 * to be read. What is wrong with it is counted once. */
static void what_is_wrong_with_a_record_is_counted_once(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024, .cpus = 2 });
    const u8 frames[16] = { 1 };
    const etl_build_item item = { .type = 6, .data = frames, .size = sizeof frames };
    etl_build_manifest event = { .id = 1, .items = &item, .item_count = 1 };
    etl_build_guid("3f471139-acb7-4a01-b7a7-ff5da4ba2d43", event.provider);
    for (u32 i = 0; i < 60; i++)
        etl_build_event(b, at(1000100 + 100 * (i64)i, i % 2), &event);
    /* The size of the item list of every event: more than the event has. */
    for (u64 i = 1; i <= 60; i++)
        etl_build_break(b, ETL_BREAK_RECORD_BYTE, i, ETL_BUILD_BYTE(81, 0x40));
    check_open(&traces, b);
    static const u64 slices[] = { 0, 1, 2048 };
    for (size_t i = 0; i < ETL_COUNT_OF(slices); i++) {
        const etlheap_options options = { .size = sizeof options, .slice_bytes = slices[i] };
        etlheap_result *const result = check_analyze(&traces, &options);
        assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_items_invalid], 60);
        etlheap_result_free(result);
    }
    check_close(&traces);
}

/* An allocation without a thread in one slice, its stack in the next. */
static void a_thread_learned_later_is_the_lifetimes(void **state)
{
    (void)state;
    static const u64 kernel[] = { 0xfffff80000001000 }, user[] = { 0x7ff600001000 };
    const etl_build_stack stack = { .kernel = kernel,
                                    .kernel_count = 1,
                                    .user = user,
                                    .user_count = 1,
                                    .delay_ticks = 5000,
                                    .user_delay_ticks = 9000 };
    check_traces traces = { 0 };
    const etl_build_options build = { .buffer_bytes = 1024,
                                      .cpus = 2,
                                      .virtual_alloc_without_tid = true };
    etl_build *const b = etl_build_new(&build);
    etl_build_virtual_alloc(b, at(1001000, 0), 0x10000, 0x1000, ETL_BUILD_COMMIT);
    etl_build_stack_walk(b, at(1001000, 0), &stack);
    for (u32 i = 0; i < 200; i++)
        etl_build_mark(b, at(1001001 + 100 * (i64)i, i % 2), "pushes them into other buffers");
    check_open(&traces, b);
    static const u64 slices[] = { 0, 1 };
    for (size_t i = 0; i < ETL_COUNT_OF(slices); i++) {
        const etlheap_options options = { .size = sizeof options, .slice_bytes = slices[i] };
        etlheap_result *const result = check_analyze(&traces, &options);
        assert_int_equal(row_count(result), 1);
        const etlheap_segment rows = etlheap_segment_of(result, 0);
        assert_int_equal(rows.thread[0], 16);
        assert_int_equal(etlheap_stack_frames(result, (etlheap_stack){ rows.stack[0] }).count, 2);
        etlheap_result_free(result);
    }
    check_close(&traces);
}

/* A commit that has a kernel part only, and a block that has a user part only,
 * written late enough to fall into another slice than the block. */
static void late_user_parts_serve_the_same_events_in_any_slice(void **state)
{
    (void)state;
    static const u64 kernel[] = { 0xfffff80000001000 }, user[] = { 0x7ff600001000 };
    const etl_build_stack inner = { .kernel = kernel, .kernel_count = 1 };
    const etl_build_stack outer = { .user = user, .user_count = 1, .delay_ticks = 5000 };
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024, .cpus = 2 });
    etl_build_virtual_alloc(b, at(1001000, 0), 0x10000, 0x1000, ETL_BUILD_COMMIT);
    etl_build_stack_walk(b, at(1001000, 0), &inner);
    etl_build_heap_alloc(b, at(1003000, 0), HEAP, 0x20000, 64);
    etl_build_stack_walk(b, at(1003000, 0), &outer);
    for (u32 i = 0; i < 200; i++)
        etl_build_mark(b, at(1001001 + 100 * (i64)i, i % 2), "pushes them into other buffers");
    check_open(&traces, b);
    static const u64 slices[] = { 0, 1, 2048 };
    for (size_t i = 0; i < ETL_COUNT_OF(slices); i++) {
        const etlheap_options options = { .size = sizeof options, .slice_bytes = slices[i] };
        etlheap_result *const result = check_analyze(&traces, &options);
        assert_int_equal(row_count(result), 2);
        assert_int_equal(etlheap_stack_count(result), 2);
        for (u32 id = 1; id <= 2; id++)
            assert_int_equal(etlheap_stack_frames(result, (etlheap_stack){ id }).count, 1);
        etlheap_result_free(result);
    }
    check_close(&traces);
}

/* Nothing of the traces but their bytes is needed once the result is there. */
static void a_result_outlives_its_names(void **state)
{
    (void)state;
    check_traces traces = blocks_trace(50);
    char name[] = "gone.etl";
    const char *names[] = { name };
    etlheap_result *result;
    assert_int_equal(etlheap_analyze(traces.at, names, 1, NULL, &result, NULL), ETL_OK);
    memset(name, 'x', sizeof name - 1);
    assert_string_equal(etlheap_result_trace(result)->files[0], "gone.etl");
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_trace_is_refused),
        cmocka_unit_test(options_may_be_absent_or_of_an_older_header),
        cmocka_unit_test(an_inventory_keeps_no_lifetimes_but_counts_events),
        cmocka_unit_test(progress_goes_forward_to_the_end),
        cmocka_unit_test(a_callback_that_says_no_cancels),
        cmocka_unit_test(the_trace_is_described),
        cmocka_unit_test(counts_of_several_files_add_up),
        cmocka_unit_test(files_of_different_clocks_are_said_to_be),
        cmocka_unit_test(the_default_window_holds_the_last_event_of_a_fast_clock),
        cmocka_unit_test(system_events_of_one_tick_keep_their_order_over_tasks),
        cmocka_unit_test(what_is_wrong_with_a_record_is_counted_once),
        cmocka_unit_test(a_thread_learned_later_is_the_lifetimes),
        cmocka_unit_test(late_user_parts_serve_the_same_events_in_any_slice),
        cmocka_unit_test(a_result_outlives_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
