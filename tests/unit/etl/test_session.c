/*
 * Goal: both layouts of the log-file header are read, lies in it are guarded
 * against, and times convert exactly, both ways, for every clock.
 * Method: headers put together by hand and opened as traces; conversions by
 * examples, and by what defines them for random times at many frequencies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_trace.h"

/* The session of a trace that is nothing but this header; closed at the next call. */
static const etl_session *session_of(const hand_log_header *facts)
{
    static hand_bytes file;
    static etl_trace *trace;
    etl_close(trace);
    hand_free(&file);
    hand_header_buffer(&file, facts, ETL_COMPRESSION_XPRESS);
    assert_int_equal(etl_open_memory(hand_view(&file), NULL, &trace, NULL), ETL_OK);
    return etl_session_of(trace, 0);
}

static void assert_text16(etl_bytes text, const char *expected)
{
    assert_int_equal(text.size, 2 * strlen(expected));
    for (size_t i = 0; i < text.size; i += 2)
        assert_int_equal(etl_load_u16(text.at + i), expected[i / 2]);
}

static void both_layouts_give_the_same_session(void **state)
{
    (void)state;
    for (int is_32 = 0; is_32 <= 1; is_32++) {
        hand_log_header facts = hand_header();
        facts.is_32 = is_32 != 0;
        facts.events_lost = 3;
        facts.buffers_lost = 4;
        facts.buffers_written = 7;
        facts.cpu_mhz = 2400;
        const etl_session *const session = session_of(&facts);
        assert_int_equal(session->header_offset, 72);
        assert_true(session->header_ticks == 1000);
        assert_true(session->start_time_filetime == 132404548206236167);
        assert_true(session->end_time_filetime == 132404548306236167);
        assert_true(session->boot_time_filetime == 132404540000000000);
        assert_int_equal(session->perf_frequency_hz, 10000000);
        assert_int_equal(session->clock_hz, 10000000);
        assert_int_equal(session->clock, ETL_CLOCK_QPC);
        assert_int_equal(session->buffer_size_bytes, HAND_BUFFER_BYTES);
        assert_int_equal(session->os_major, 10);
        assert_int_equal(session->os_minor, 1);
        assert_int_equal(session->layout_major, 2);
        assert_int_equal(session->layout_minor, 5);
        assert_int_equal(session->os_build, 19041);
        assert_int_equal(session->cpu_count, 4);
        assert_int_equal(session->pointer_bytes, 8);
        assert_int_equal(session->events_lost, 3);
        assert_int_equal(session->buffers_lost, 4);
        assert_int_equal(session->buffers_written, 7);
        assert_int_equal(session->timer_resolution, 156250);
        assert_int_equal(session->maximum_file_size, 100);
        assert_int_equal(session->cpu_mhz, 2400);
        assert_true(session->cpu_known);
        assert_text16(session->name_utf16, "session");
        assert_text16(session->log_file_name_utf16, "file.etl");
    }
}

static void a_missing_file_name_is_empty(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.file_name = NULL;
    const etl_session *const session = session_of(&facts);
    assert_text16(session->name_utf16, "session");
    assert_int_equal(session->log_file_name_utf16.size, 0);
}

static void an_impossible_pointer_size_is_that_of_the_layout(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.pointer_bytes = 5;
    assert_int_equal(session_of(&facts)->pointer_bytes, 8);
    facts.is_32 = true;
    assert_int_equal(session_of(&facts)->pointer_bytes, 4);
}

static void cpu_counts_are_kept_within_what_windows_has(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.cpus = 0;
    assert_int_equal(session_of(&facts)->cpu_count, 1);
    facts.cpus = UINT32_MAX;
    assert_int_equal(session_of(&facts)->cpu_count, 2048);
}

static void without_buffers_per_cpu_the_cpu_is_unknown(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.mode = ETL_MODE_NO_PER_PROCESSOR_BUFFERING;
    const etl_session *const session = session_of(&facts);
    assert_false(session->cpu_known);
    assert_int_equal(session->cpu_count, 1);
}

static void assert_clock(u32 clock, u64 frequency, u32 mhz, etl_clock expected, u64 expected_hz)
{
    hand_log_header facts = hand_header();
    facts.clock = clock;
    facts.perf_frequency = frequency;
    facts.cpu_mhz = mhz;
    const etl_session *const session = session_of(&facts);
    assert_int_equal(session->clock, expected);
    assert_true(session->clock_hz == expected_hz);
}

static void each_clock_has_its_frequency(void **state)
{
    (void)state;
    assert_clock(1, 3117777, 2400, ETL_CLOCK_QPC, 3117777);
    assert_clock(2, 3117777, 2400, ETL_CLOCK_SYSTEM_TIME, 10000000);
    assert_clock(3, 3117777, 2400, ETL_CLOCK_CPU_CYCLES, 2400000000);
}

static void frequencies_that_cannot_be_are_replaced(void **state)
{
    (void)state;
    assert_clock(1, 0, 0, ETL_CLOCK_QPC, 10000000);
    assert_clock(1, UINT64_MAX, 0, ETL_CLOCK_QPC, 10000000);
    assert_clock(1, 9000000000, 0, ETL_CLOCK_QPC, 9000000000);
    assert_clock(1, 9000000001, 0, ETL_CLOCK_QPC, 10000000);
    assert_clock(3, 1000, 0, ETL_CLOCK_CPU_CYCLES, 1000);
    assert_clock(3, 0, 0, ETL_CLOCK_CPU_CYCLES, 10000000);
    assert_clock(3, 1000, UINT32_MAX, ETL_CLOCK_CPU_CYCLES, 1000);
}

static void unknown_clocks_are_qpc_when_a_frequency_is_stated(void **state)
{
    (void)state;
    assert_clock(0, 3117777, 0, ETL_CLOCK_QPC, 3117777);
    assert_clock(0, 0, 0, ETL_CLOCK_SYSTEM_TIME, 10000000);
    assert_clock(77, 0, 0, ETL_CLOCK_SYSTEM_TIME, 10000000);
}

static etl_session clock_of(u64 hz, i64 header_ticks)
{
    return (etl_session){ .clock_hz = hz, .header_ticks = header_ticks };
}

static void time_zero_is_the_header(void **state)
{
    (void)state;
    const etl_session session = clock_of(10000000, 1942608875);
    assert_true(etl_time_ns(&session, 1942608875) == 0);
    assert_true(etl_time_ns(&session, 1942893712) == 28483700);
    assert_true(etl_time_ns(&session, 1942608874) == -100);
}

static void time_is_rounded_down_also_before_the_header(void **state)
{
    (void)state;
    const etl_session session = clock_of(3, 0);
    assert_true(etl_time_ns(&session, 1) == 333333333);
    assert_true(etl_time_ns(&session, 2) == 666666666);
    assert_true(etl_time_ns(&session, -1) == -333333334);
    assert_true(etl_time_ns(&session, -3) == -1000000000);
}

static void times_out_of_range_saturate(void **state)
{
    (void)state;
    const etl_session slow = clock_of(1, 0);
    assert_true(etl_time_ns(&slow, INT64_MAX) == INT64_MAX);
    assert_true(etl_time_ns(&slow, INT64_MIN) == INT64_MIN);
    const etl_session late = clock_of(9000000000, INT64_MAX);
    assert_true(etl_time_ns(&late, INT64_MIN) == etl_time_ns(&late, INT64_MIN + 5));
    const etl_session early = clock_of(9000000000, INT64_MIN);
    assert_true(etl_time_ns(&early, INT64_MAX) == etl_time_ns(&early, INT64_MAX - 5));
    assert_true(etl_time_ns(&early, INT64_MAX) > 0);
    const etl_session fast = clock_of(9000000000, 0);
    assert_true(etl_time_ticks(&fast, INT64_MAX) == INT64_MAX);
    assert_true(etl_time_ticks(&fast, INT64_MIN) == INT64_MIN);
}

static const u64 rates[] = { 1, 3, 1000, 3117777, 10000000, 2400000000, 8999999999, 9000000000 };

/* The smallest tick at or after a time: it is, and the tick before it is not. */
static void ticks_are_the_first_at_or_after_a_time(void **state)
{
    (void)state;
    u64 random = 42;
    for (size_t i = 0; i < ETL_COUNT_OF(rates); i++) {
        const etl_session session = clock_of(rates[i], (i64)hand_random(&random));
        for (int round = 0; round < 2000; round++) {
            const i64 spread = ((i64)hand_random(&random) << 24) + hand_random(&random);
            const i64 ns = hand_random(&random) % 2 ? spread >> hand_random(&random) % 50
                                                    : -spread >> hand_random(&random) % 50;
            const i64 ticks = etl_time_ticks(&session, ns);
            assert_true(etl_time_ns(&session, ticks) >= ns);
            assert_true(etl_time_ns(&session, ticks - 1) < ns);
        }
    }
}

static void time_never_decreases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rates); i++) {
        const etl_session session = clock_of(rates[i], 500);
        i64 previous = INT64_MIN;
        for (i64 ticks = -20000; ticks <= 20000; ticks++) {
            const i64 ns = etl_time_ns(&session, ticks);
            assert_true(ns >= previous);
            previous = ns;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_layouts_give_the_same_session),
        cmocka_unit_test(a_missing_file_name_is_empty),
        cmocka_unit_test(an_impossible_pointer_size_is_that_of_the_layout),
        cmocka_unit_test(cpu_counts_are_kept_within_what_windows_has),
        cmocka_unit_test(without_buffers_per_cpu_the_cpu_is_unknown),
        cmocka_unit_test(each_clock_has_its_frequency),
        cmocka_unit_test(frequencies_that_cannot_be_are_replaced),
        cmocka_unit_test(unknown_clocks_are_qpc_when_a_frequency_is_stated),
        cmocka_unit_test(time_zero_is_the_header),
        cmocka_unit_test(time_is_rounded_down_also_before_the_header),
        cmocka_unit_test(times_out_of_range_saturate),
        cmocka_unit_test(ticks_are_the_first_at_or_after_a_time),
        cmocka_unit_test(time_never_decreases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
