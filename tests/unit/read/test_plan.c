/*
 * Goal: the plan hands out every buffer until it is read to its end, so that
 * over all slices each record is read exactly once, and none later than the
 * slice its time belongs to.
 * Method: built traces with CPUs that fill buffers at very different rates. A
 * reader like the engine's follows the plan and remembers what it has read; the
 * list of all records comes from reading the buffers one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/plan.h"
#include "tests/support/run_check.h"
#include "tests/support/hand_bytes.h"

/* A record of the traces and in which slice it was read. */
typedef struct seen_record {
    u32 trace, buffer, offset;
    i64 ticks; /* base clock */
    u32 times; /* how often it was read */
    u32 slice; /* of the latest reading */
    u32 order; /* of the latest reading */
} seen_record;

typedef struct reading {
    const check_traces *traces;
    timebase base;
    ETLHEAP_VECTOR(seen_record) records; /* by trace, buffer, offset */
    ETLHEAP_VECTOR(i64) ends;            /* of the slices */
    u32 slices, tasks, order;
    u32 handed_out; /* buffers, each time counted */
} reading;

/* Every record there is, in file order. */
static void list_records(reading *r)
{
    for (u32 t = 0; t < r->traces->count; t++) {
        for (u32 i = 0; i < etl_buffer_count(r->traces->at[t]); i++) {
            etl_scratch scratch = { 0 };
            etl_diag_counts ignored = { { 0 } };
            etl_buffer buffer;
            assert_int_equal(etl_buffer_load(r->traces->at[t], i, &scratch, &ignored, &buffer),
                             ETL_OK);
            const tick_map *const map = timebase_map(&r->base, t, buffer.session);
            etl_record record;
            while (etl_record_next(&buffer, &record)) {
                const seen_record row = { .trace = t,
                                          .buffer = i,
                                          .offset = record.offset,
                                          .ticks = tick_map_apply(map, record.ticks) };
                assert_true(ETLHEAP_PUSH(&r->records, row));
            }
            etl_scratch_free(&scratch);
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const seen_record *const x = a, *const y = b;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void see(reading *r, u32 trace, u32 buffer, u32 offset)
{
    const seen_record wanted = { .trace = trace, .buffer = buffer, .offset = offset };
    seen_record *const found =
        bsearch(&wanted, r->records.at, r->records.count, sizeof wanted, by_place);
    assert_non_null(found);
    found->times++;
    found->slice = r->slices;
    found->order = r->order++;
}

/* Reads a buffer as a scan does: up to the slice's end, else to its own. */
static void read_buffer(reading *r, plan_buffer *planned, i64 end_ticks)
{
    const u32 trace = plan_trace(planned->stream);
    etl_scratch scratch = { 0 };
    etl_diag_counts ignored = { { 0 } };
    etl_buffer buffer;
    assert_int_equal(
        etl_buffer_load(r->traces->at[trace], planned->buffer, &scratch, &ignored, &buffer),
        ETL_OK);
    if (planned->resume != 0)
        buffer.at = planned->resume;
    planned->resume = PLAN_DONE;
    assert_int_equal(buffer.session, plan_session(planned->stream));
    const tick_map *const map = timebase_map(&r->base, trace, buffer.session);
    etl_record record;
    while (etl_record_next(&buffer, &record)) {
        if (tick_map_apply(map, record.ticks) >= end_ticks) {
            planned->resume = record.offset;
            break;
        }
        see(r, trace, planned->buffer, record.offset);
    }
    etl_scratch_free(&scratch);
}

/* Tasks cover the buffers one after the other, each of one stream in time order. */
static void check_tasks(reading *r, const plan_slice *slice)
{
    u32 next = 0;
    for (size_t i = 0; i < slice->tasks.count; i++) {
        const plan_task *const task = &slice->tasks.at[i];
        assert_int_equal(task->first, next);
        assert_true(task->count > 0);
        next += task->count;
        assert_true(next <= slice->buffers.count);
        for (u32 k = 1; k < task->count; k++) {
            const plan_buffer *const buffer = &slice->buffers.at[task->first + k];
            assert_true(buffer->stream == buffer[-1].stream);
            assert_true(buffer->first_ticks >= buffer[-1].first_ticks);
        }
        const u64 stream = slice->buffers.at[task->first].stream;
        assert_true(i == 0 || slice->buffers.at[task->first - 1].stream <= stream);
    }
    assert_int_equal(next, slice->buffers.count);
    r->tasks += (u32)slice->tasks.count;
}

static void read_by_plan(reading *r, const check_traces *traces, u64 slice_bytes)
{
    *r = (reading){ .traces = traces };
    assert_true(timebase_open(&r->base, traces->at, traces->count));
    list_records(r);
    read_plan plan;
    assert_true(plan_open(&plan, traces->at, traces->count, &r->base, slice_bytes));
    plan_slice slice = { 0 };
    for (;;) {
        bool more;
        assert_true(plan_next(&plan, &slice, &more));
        if (!more)
            break;
        assert_true(slice.buffers.count > 0);
        check_tasks(r, &slice);
        for (size_t i = 0; i < slice.buffers.count; i++)
            read_buffer(r, &slice.buffers.at[i], slice.end_ticks);
        r->handed_out += (u32)slice.buffers.count;
        assert_true(ETLHEAP_PUSH(&r->ends, slice.end_ticks));
        r->slices++;
    }
    assert_int_equal(slice.buffers.count, 0);
    plan_slice_free(&slice);
    plan_close(&plan);
}

static void close_reading(reading *r)
{
    ETLHEAP_VECTOR_FREE(&r->records);
    ETLHEAP_VECTOR_FREE(&r->ends);
    timebase_close(&r->base);
}

/* What plan.h promises, whatever the slices are. */
static void check_reading(const reading *r)
{
    assert_true(r->slices > 0);
    assert_true(r->ends.at[r->slices - 1] == INT64_MAX);
    for (u32 i = 1; i < r->slices; i++)
        assert_true(r->ends.at[i] > r->ends.at[i - 1]);
    for (size_t i = 0; i < r->records.count; i++) {
        const seen_record *const row = &r->records.at[i];
        assert_int_equal(row->times, 1);
        assert_true(row->ticks < r->ends.at[row->slice]);
        if (row->slice > 0)
            assert_true(row->ticks >= r->ends.at[row->slice - 1]);
    }
}

/* A busy CPU, two slower ones, and one with a record now and then: its buffers
 * last the whole trace. */
static void build_uneven(check_traces *traces, const etl_build_options *options, u32 records)
{
    etl_build *const b = etl_build_new(options);
    u64 random = 7;
    i64 ticks = 1000100;
    for (u32 i = 0; i < records; i++) {
        const u32 dice = hand_random(&random) % 100;
        const u32 cpu = dice < 80 ? 0 : dice < 90 ? 1 : dice < 99 ? 2 : 3;
        ticks += hand_random(&random) % 50;
        const etl_build_at at = { .ticks = ticks, .cpu = cpu, .pid = 8, .tid = 16 };
        etl_build_heap_free(b, at, 0x1000, 0x2000);
    }
    check_open(traces, b);
}

static const u64 slice_sizes[] = { 1, 4096, 10000, 100000, (u64)64 << 20 };

static void check_all_slice_sizes(const check_traces *traces)
{
    for (size_t i = 0; i < ETL_COUNT_OF(slice_sizes); i++) {
        reading r;
        read_by_plan(&r, traces, slice_sizes[i]);
        check_reading(&r);
        close_reading(&r);
    }
}

static void every_record_is_read_once_whatever_the_slice(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 4000);
    check_all_slice_sizes(&traces);
    check_close(&traces);
}

static void compressed_buffers_are_read_once_too(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 4096, .compress = true }, 4000);
    check_all_slice_sizes(&traces);
    check_close(&traces);
}

static void several_files_are_one_plan(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 2000);
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 4096 }, 3000);
    check_all_slice_sizes(&traces);
    check_close(&traces);
}

/* The other clock is 3 MHz, so times go through wall time. */
static void another_clock_is_planned_in_the_first_ones_ticks(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 1000);
    const etl_build_options other = { .buffer_bytes = 1024,
                                      .clock_hz = 3000000,
                                      .start_ticks = 1000000 };
    build_uneven(&traces, &other, 1000);
    check_all_slice_sizes(&traces);
    check_close(&traces);
}

static void appended_sessions_are_streams_of_their_own(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
    for (u32 i = 0; i < 300; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 + i, .cpu = i % 2 }, "one");
    const etl_build_options again = { .buffer_bytes = 1024,
                                      .start_ticks = 2000000,
                                      .start_filetime = INT64_C(132404116300000000) };
    etl_build_append_session(b, &again);
    for (u32 i = 0; i < 300; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 2000100 + i, .cpu = i % 2 }, "two");
    check_open(&traces, b);
    assert_int_equal(etl_session_count(traces.at[0]), 2);
    check_all_slice_sizes(&traces);
    check_close(&traces);
}

/* Nothing but the first time tells buffers apart; a slice cannot end inside. */
static void buffers_of_one_tick_are_one_slice(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
    for (u32 i = 0; i < 500; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000000, .cpu = i % 4 }, "same");
    check_open(&traces, b);
    reading r;
    read_by_plan(&r, &traces, 1);
    check_reading(&r);
    assert_int_equal(r.slices, 1);
    close_reading(&r);
    check_close(&traces);
}

static void small_slices_end_where_the_next_buffer_begins(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024, .cpus = 1 });
    for (u32 i = 0; i < 400; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 + 10 * (i64)i }, "apart");
    check_open(&traces, b);
    reading r;
    read_by_plan(&r, &traces, 1);
    check_reading(&r);
    assert_int_equal(r.slices, etl_buffer_count(traces.at[0]));
    assert_int_equal(r.handed_out, etl_buffer_count(traces.at[0]));
    close_reading(&r);
    check_close(&traces);
}

static void a_large_slice_is_the_whole_trace(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 1000);
    reading r;
    read_by_plan(&r, &traces, (u64)1 << 30);
    check_reading(&r);
    assert_int_equal(r.slices, 1);
    assert_int_equal(r.handed_out, etl_buffer_count(traces.at[0]));
    close_reading(&r);
    check_close(&traces);
}

/* Within a stream, records come in the order in which they lie there. */
static void streams_are_read_in_order(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    build_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 2000);
    reading r;
    read_by_plan(&r, &traces, 4096);
    for (size_t i = 0; i < r.records.count; i++) {
        for (size_t k = i + 1; k < r.records.count && k < i + 40; k++) {
            const seen_record *const a = &r.records.at[i], *const b = &r.records.at[k];
            const u16 cpu_a = etl_buffer_info_of(traces.at[0], a->buffer)->cpu;
            const u16 cpu_b = etl_buffer_info_of(traces.at[0], b->buffer)->cpu;
            if (cpu_a == cpu_b && a->ticks < b->ticks)
                assert_true(a->order < b->order);
        }
    }
    close_reading(&r);
    check_close(&traces);
}

/* A megabyte of one stream is more than one task, so that threads share it. */
static void long_streams_are_cut_into_tasks(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    for (u32 i = 0; i < 60000; i++)
        etl_build_heap_free(b, (etl_build_at){ .ticks = 1000100 + i, .pid = 8, .tid = 16 }, 1, 2);
    check_open(&traces, b);
    reading r;
    read_by_plan(&r, &traces, (u64)64 << 20);
    check_reading(&r);
    assert_true(r.tasks >= 2);
    assert_true(r.tasks <= 4);
    close_reading(&r);
    check_close(&traces);
}

/* The second buffer of the CPU has only a message without a time of its own: it
 * must be read, and no earlier than its predecessor. */
static void buffers_without_a_time_are_handed_out(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .buffer_bytes = 1024, .cpus = 1, .order = ETL_BUILD_AS_CALLED });
    const etl_build_wpp message = { .number = 5, .parts = 0 };
    for (u32 i = 0; i < 200; i++)
        etl_build_message(b, (etl_build_at){ .ticks = 1000100 }, &message);
    check_open(&traces, b);
    assert_true(etl_buffer_count(traces.at[0]) > 2);
    reading r;
    read_by_plan(&r, &traces, 1);
    assert_int_equal(r.slices, 1);
    check_reading(&r);
    close_reading(&r);
    check_close(&traces);
}

/* Times that step back inside a buffer only move records to a later slice. */
static void backward_times_lose_and_repeat_nothing(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .buffer_bytes = 1024, .cpus = 2, .order = ETL_BUILD_AS_CALLED });
    u64 random = 3;
    for (u32 i = 0; i < 1000; i++) {
        const i64 ticks = 1000100 + 10 * (i64)i - hand_random(&random) % 2000;
        etl_build_mark(b, (etl_build_at){ .ticks = ticks, .cpu = i % 2 }, "to and fro");
    }
    check_open(&traces, b);
    for (size_t i = 0; i < ETL_COUNT_OF(slice_sizes); i++) {
        reading r;
        read_by_plan(&r, &traces, slice_sizes[i]);
        for (size_t k = 0; k < r.records.count; k++)
            assert_int_equal(r.records.at[k].times, 1);
        close_reading(&r);
    }
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_read_once_whatever_the_slice),
        cmocka_unit_test(compressed_buffers_are_read_once_too),
        cmocka_unit_test(several_files_are_one_plan),
        cmocka_unit_test(another_clock_is_planned_in_the_first_ones_ticks),
        cmocka_unit_test(appended_sessions_are_streams_of_their_own),
        cmocka_unit_test(buffers_of_one_tick_are_one_slice),
        cmocka_unit_test(small_slices_end_where_the_next_buffer_begins),
        cmocka_unit_test(a_large_slice_is_the_whole_trace),
        cmocka_unit_test(streams_are_read_in_order),
        cmocka_unit_test(long_streams_are_cut_into_tasks),
        cmocka_unit_test(buffers_without_a_time_are_handed_out),
        cmocka_unit_test(backward_times_lose_and_repeat_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
