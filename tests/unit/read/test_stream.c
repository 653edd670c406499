/*
 * Goal: the stream gives every record of all traces once, ordered by time, then
 * by file, CPU and position.
 * Method: built traces whose buffers overlap in every way, compared with a plain
 * list of all records, sorted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/core/timebase.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/run_check.h"

typedef struct listed_record {
    i64 ticks; /* base clock */
    u32 trace, buffer, offset;
    u16 cpu;
} listed_record;

typedef struct record_list {
    listed_record *at;
    size_t count, capacity;
} record_list;

static void list_buffer(record_list *list, const check_traces *traces, const timebase *base,
                        u32 trace, u32 index)
{
    etl_scratch scratch = { 0 };
    etl_diag_counts ignored = { { 0 } };
    etl_buffer buffer;
    assert_int_equal(etl_buffer_load(traces->at[trace], index, &scratch, &ignored, &buffer),
                     ETL_OK);
    etl_record record;
    while (etl_record_next(&buffer, &record)) {
        if (list->count == list->capacity) {
            list->capacity = list->capacity * 2 + 64;
            list->at = realloc(list->at, list->capacity * sizeof *list->at);
            assert_non_null(list->at);
        }
        list->at[list->count++] = (listed_record){
            .ticks = tick_map_apply(timebase_map(base, trace, buffer.session), record.ticks),
            .trace = trace,
            .buffer = index,
            .offset = record.offset,
            .cpu = etl_buffer_info_of(traces->at[trace], index)->cpu,
        };
    }
    etl_scratch_free(&scratch);
}

/* All records, in file order. */
static record_list list_records(const check_traces *traces)
{
    record_list list = { 0 };
    timebase base;
    assert_true(timebase_open(&base, traces->at, traces->count));
    for (u32 t = 0; t < traces->count; t++) {
        for (u32 i = 0; i < etl_buffer_count(traces->at[t]); i++)
            list_buffer(&list, traces, &base, t, i);
    }
    timebase_close(&base);
    return list;
}

static int by_time(const void *a, const void *b)
{
    const listed_record *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->trace != y->trace)
        return x->trace < y->trace ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static etlheap_stream *open_stream(const check_traces *traces)
{
    etlheap_stream *stream;
    assert_int_equal(etlheap_stream_open(traces->at, traces->count, &stream, NULL), ETL_OK);
    return stream;
}

/* Does the stream give exactly the sorted list? Buffers of each CPU must lie in
 * order in the file. */
static void expect_sorted(const check_traces *traces)
{
    record_list list = list_records(traces);
    qsort(list.at, list.count, sizeof *list.at, by_time);
    etlheap_stream *const stream = open_stream(traces);
    etlheap_stream_record row;
    for (size_t i = 0; i < list.count; i++) {
        assert_true(etlheap_stream_next(stream, &row));
        assert_int_equal(row.ticks, list.at[i].ticks);
        assert_int_equal(row.trace, list.at[i].trace);
        assert_int_equal(row.record.offset, list.at[i].offset);
        assert_int_equal(row.record.cpu, list.at[i].cpu);
        assert_int_equal(row.time_ns,
                         etl_time_ns(etl_session_of(traces->at[0], 0), list.at[i].ticks));
    }
    assert_false(etlheap_stream_next(stream, &row));
    assert_false(etlheap_stream_next(stream, &row));
    assert_int_equal(etlheap_stream_status(stream), ETL_OK);
    etlheap_stream_close(stream);
    free(list.at);
}

/* Times never go back, and there are as many records as there are; whatever the
 * order of equals. */
static void expect_all_in_time_order(const check_traces *traces)
{
    record_list list = list_records(traces);
    qsort(list.at, list.count, sizeof *list.at, by_time);
    etlheap_stream *const stream = open_stream(traces);
    etlheap_stream_record row;
    size_t count = 0;
    for (; etlheap_stream_next(stream, &row); count++) {
        assert_true(count < list.count);
        assert_int_equal(row.ticks, list.at[count].ticks);
    }
    assert_int_equal(count, list.count);
    etlheap_stream_close(stream);
    free(list.at);
}

static void add_uneven(check_traces *traces, const etl_build_options *options, u64 seed)
{
    etl_build *const b = etl_build_new(options);
    u64 random = seed;
    i64 ticks = etl_build_start_ticks(b) + 100;
    for (u32 i = 0; i < 3000; i++) {
        const u32 dice = hand_random(&random) % 100;
        const u32 cpu = dice < 80 ? 0 : dice < 90 ? 1 : dice < 99 ? 2 : 3;
        ticks += 1 + hand_random(&random) % 50;
        const etl_build_at at = { .ticks = ticks, .cpu = cpu, .pid = 8, .tid = 16 };
        etl_build_heap_free(b, at, 0x1000, ticks > 0 ? (u64)ticks : 0);
    }
    check_open(traces, b);
}

static void buffers_that_overlap_are_merged(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 5);
    expect_sorted(&traces);
    check_close(&traces);
}

static void compressed_buffers_are_merged_too(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 4096, .compress = true }, 6);
    expect_sorted(&traces);
    check_close(&traces);
}

static void several_files_are_one_stream(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 7);
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 2048 }, 8);
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 9);
    expect_all_in_time_order(&traces);
    check_close(&traces);
}

static void other_clocks_are_put_in_the_first_ones_order(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024 }, 7);
    const etl_build_options other = { .buffer_bytes = 1024,
                                      .clock_hz = 3000000,
                                      .start_ticks = 77 };
    add_uneven(&traces, &other, 8);
    expect_all_in_time_order(&traces);
    check_close(&traces);
}

static void records_of_one_tick_go_by_file_then_cpu_then_position(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    for (u32 f = 0; f < 2; f++) {
        etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
        for (u32 i = 0; i < 40; i++)
            etl_build_mark(b, (etl_build_at){ .ticks = 1000500, .cpu = i % 4 }, "same time");
        check_open(&traces, b);
    }
    expect_sorted(&traces);
    check_close(&traces);
}

/* Not by which of their buffers began first. */
static void ties_do_not_depend_on_what_was_before(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    for (u32 f = 0; f < 2; f++) {
        etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
        for (u32 cpu = 0; cpu < 4; cpu++) {
            const i64 first = 1000500 - 10 * (i64)cpu - 50 * (i64)f;
            etl_build_mark(b, (etl_build_at){ .ticks = first, .cpu = cpu }, "first of its buffer");
            for (u32 i = 0; i < 5; i++)
                etl_build_mark(b, (etl_build_at){ .ticks = 1000900, .cpu = cpu }, "same time");
        }
        check_open(&traces, b);
    }
    expect_sorted(&traces);
    check_close(&traces);
}

/* CPU 0 begins at the tick that CPU 1 has reached. */
static void a_buffer_that_begins_at_a_tie_is_in_it(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
    etl_build_mark(b, (etl_build_at){ .ticks = 1000100, .cpu = 1 }, "before");
    etl_build_mark(b, (etl_build_at){ .ticks = 1000500, .cpu = 1 }, "same time");
    etl_build_mark(b, (etl_build_at){ .ticks = 1000500, .cpu = 0 }, "same time");
    check_open(&traces, b);
    expect_sorted(&traces);
    check_close(&traces);
}

/* The header buffer of a session holds records from its whole length. */
static void records_in_the_header_buffer_come_in_their_time(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    const etl_build_options options = { .buffer_bytes = 1024, .header_records = true };
    etl_build *const b = etl_build_new(&options);
    for (u32 i = 0; i < 300; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 + 10 * (i64)i, .cpu = i % 4 }, "event");
    check_open(&traces, b);
    expect_all_in_time_order(&traces);
    check_close(&traces);
}

static void appended_sessions_are_in_the_stream(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
    for (u32 i = 0; i < 200; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 + i, .cpu = i % 2 }, "one");
    const etl_build_options again = { .buffer_bytes = 1024,
                                      .start_ticks = 2000000,
                                      .start_filetime = INT64_C(132404116300000000) };
    etl_build_append_session(b, &again);
    for (u32 i = 0; i < 200; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 2000100 + i, .cpu = i % 2 }, "two");
    check_open(&traces, b);
    etlheap_stream *const stream = open_stream(&traces);
    etlheap_stream_record row;
    u32 of_session[2] = { 0 };
    while (etlheap_stream_next(stream, &row)) {
        assert_true(row.session < 2);
        of_session[row.session]++;
    }
    assert_int_equal(of_session[0] + of_session[1], etl_build_record_count(b));
    assert_true(of_session[1] > 200);
    etlheap_stream_close(stream);
    expect_all_in_time_order(&traces);
    check_close(&traces);
}

/* A record whose time steps back stays behind its predecessor, with its own
 * time; nothing is lost and nothing else is moved. */
static void backward_times_keep_their_place(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 1, .order = ETL_BUILD_AS_CALLED });
    static const i64 ticks[] = { 1000100, 1000300, 1000200, 1000250, 1000400 };
    for (size_t i = 0; i < ETL_COUNT_OF(ticks); i++)
        etl_build_mark(b, (etl_build_at){ .ticks = ticks[i] }, "mark");
    check_open(&traces, b);
    etlheap_stream *const stream = open_stream(&traces);
    etlheap_stream_record row;
    assert_true(etlheap_stream_next(stream, &row)); /* the log-file header */
    for (size_t i = 0; i < ETL_COUNT_OF(ticks); i++) {
        assert_true(etlheap_stream_next(stream, &row));
        assert_int_equal(row.ticks, ticks[i]);
        assert_int_equal(row.record.ticks, ticks[i]);
    }
    assert_false(etlheap_stream_next(stream, &row));
    assert_int_equal(etlheap_stream_diagnostics(stream)->of[ETL_DIAG_time_backwards], 1);
    etlheap_stream_close(stream);
    check_close(&traces);
}

static void records_without_a_time_follow_their_predecessor(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 2, .order = ETL_BUILD_AS_CALLED });
    const etl_build_wpp message = { .number = 5, .parts = 0 };
    etl_build_mark(b, (etl_build_at){ .ticks = 1000100 }, "before");
    etl_build_message(b, (etl_build_at){ .ticks = 1000100 }, &message);
    etl_build_mark(b, (etl_build_at){ .ticks = 1000300 }, "after");
    etl_build_mark(b, (etl_build_at){ .ticks = 1000200, .cpu = 1 }, "between");
    check_open(&traces, b);
    etlheap_stream *const stream = open_stream(&traces);
    static const i64 expected[] = { 1000100, 1000100, 1000200, 1000300 };
    etlheap_stream_record row;
    assert_true(etlheap_stream_next(stream, &row));
    for (size_t i = 0; i < ETL_COUNT_OF(expected); i++) {
        assert_true(etlheap_stream_next(stream, &row));
        assert_int_equal(row.ticks, expected[i]);
        assert_int_equal(row.record.has_time, i != 1);
    }
    etlheap_stream_close(stream);
    check_close(&traces);
}

/* Views into compressed buffers must hold until the next call. */
static void payloads_are_whole_while_a_record_is_in_hand(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 2048, .compress = true }, 11);
    etlheap_stream *const stream = open_stream(&traces);
    etlheap_stream_record row;
    u32 frees = 0;
    while (etlheap_stream_next(stream, &row)) {
        etl_event event;
        etl_diag_counts diag = { { 0 } };
        if (!etl_decode(&row.record, &event, &diag) || event.kind != ETL_EVENT_HEAP_FREE)
            continue;
        assert_int_equal(event.as.heap_free.free_address, row.ticks);
        frees++;
    }
    assert_int_equal(frees, 3000);
    etlheap_stream_close(stream);
    check_close(&traces);
}

/* What opening the files found, and what reading finds. */
static void damage_is_counted(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1, .events_lost = 3 });
    etl_build_break(b, ETL_BREAK_RECORD_SIZE, 5, 4);
    for (u32 i = 0; i < 10; i++)
        etl_build_mark(b, (etl_build_at){ .ticks = 1000100 + i }, "mark");
    check_open(&traces, b);
    etlheap_stream *const stream = open_stream(&traces);
    etlheap_stream_record row;
    u32 count = 0;
    while (etlheap_stream_next(stream, &row))
        count++;
    assert_int_equal(count, 5);
    const etl_diag_counts *const diag = etlheap_stream_diagnostics(stream);
    assert_int_equal(diag->of[ETL_DIAG_record_invalid], 1);
    assert_int_equal(diag->of[ETL_DIAG_events_lost], 3);
    etlheap_stream_close(stream);
    check_close(&traces);
}

static void no_trace_is_refused(void **state)
{
    (void)state;
    etlheap_stream *stream;
    etl_error err;
    assert_int_equal(etlheap_stream_open(NULL, 0, &stream, &err), ETL_ERR_ARGUMENT);
    assert_null(stream);
    etlheap_stream_close(NULL);
}

static void a_stream_may_be_closed_half_way(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    add_uneven(&traces, &(etl_build_options){ .buffer_bytes = 1024, .compress = true }, 5);
    for (u32 stop = 0; stop < 100; stop += 7) {
        etlheap_stream *const stream = open_stream(&traces);
        etlheap_stream_record row;
        for (u32 i = 0; i < stop; i++)
            assert_true(etlheap_stream_next(stream, &row));
        etlheap_stream_close(stream);
    }
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_that_overlap_are_merged),
        cmocka_unit_test(compressed_buffers_are_merged_too),
        cmocka_unit_test(several_files_are_one_stream),
        cmocka_unit_test(other_clocks_are_put_in_the_first_ones_order),
        cmocka_unit_test(records_of_one_tick_go_by_file_then_cpu_then_position),
        cmocka_unit_test(ties_do_not_depend_on_what_was_before),
        cmocka_unit_test(a_buffer_that_begins_at_a_tie_is_in_it),
        cmocka_unit_test(records_in_the_header_buffer_come_in_their_time),
        cmocka_unit_test(appended_sessions_are_in_the_stream),
        cmocka_unit_test(backward_times_keep_their_place),
        cmocka_unit_test(records_without_a_time_follow_their_predecessor),
        cmocka_unit_test(payloads_are_whole_while_a_record_is_in_hand),
        cmocka_unit_test(damage_is_counted),
        cmocka_unit_test(no_trace_is_refused),
        cmocka_unit_test(a_stream_may_be_closed_half_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
