/*
 * Goal: every sound buffer of a file is indexed, damage costs no more than the
 * damaged buffer, everything lost is counted, and hostile files cost time in
 * proportion to their size.
 * Method: files of small buffers put together by hand and then broken in one
 * place; what stays is told by the sequence numbers of the buffers found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_trace.h"

static hand_bytes file;
static hand_guarded memory;
static etl_trace *trace;

static int begin_test(void **state)
{
    (void)state;
    file = (hand_bytes){ NULL, 0 };
    trace = NULL;
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    etl_close(trace);
    if (memory.pages)
        hand_unguard(&memory);
    hand_free(&file);
    return 0;
}

/* Opens what is in `file`, in memory that ends with it. */
static etl_status reopen_with(const etl_open_options *options)
{
    etl_close(trace);
    if (memory.pages)
        hand_unguard(&memory);
    memory = hand_guard_bytes(hand_view(&file), HAND_AT_END);
    return etl_open_memory((etl_bytes){ memory.at, memory.size }, options, &trace, NULL);
}

static void reopen(void)
{
    assert_int_equal(reopen_with(NULL), ETL_OK);
}

static u64 counted(etl_diag name)
{
    return etl_trace_diagnostics(trace)->of[name];
}

/* Asserts that these diagnostics were counted and no others; ends with a -1. */
static void assert_counted(int name, ...)
{
    etl_diag_counts expected = { { 0 } };
    va_list arguments;
    va_start(arguments, name);
    while (name >= 0) {
        expected.of[name] = va_arg(arguments, u64);
        name = va_arg(arguments, int);
    }
    va_end(arguments);
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        if (counted((etl_diag)i) != expected.of[i])
            fail_msg("%s is %llu, not %llu", etl_diag_describe((etl_diag)i)->name,
                     (unsigned long long)counted((etl_diag)i), (unsigned long long)expected.of[i]);
}

/* The sequence numbers of the data buffers found, as text: "123". */
static void assert_found(const char *sequences)
{
    char found[100] = { 0 };
    size_t size = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++)
        if (etl_buffer_info_of(trace, i)->type != ETL_BUFFER_TYPE_HEADER)
            found[size++] = (char)('0' + etl_buffer_info_of(trace, i)->sequence);
    assert_string_equal(found, sequences);
}

/* A header buffer and data buffers 1 to `count`, all of HAND_BUFFER_BYTES. */
static void put_plain_trace(int count)
{
    const hand_log_header facts = hand_header();
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    for (int i = 1; i <= count; i++)
        hand_data_buffer(&file, (u16)(i % 4), i, 2000 + (u64)i);
}

/* Merged files have a header buffer of 512 bytes and data buffers of any size. */
static void put_merged_trace(int count)
{
    hand_log_header facts = hand_header();
    facts.buffer_size = 65536;
    hand_bytes records = { 0 };
    hand_log_record(&records, &facts);
    const hand_buffer header = { .type = ETL_BUFFER_TYPE_HEADER, .fill_to = 512 };
    hand_put_buffer(&file, &header, &records);
    for (int i = 1; i <= count; i++) {
        records.size = 0;
        for (int k = 0; k <= i; k++)
            hand_hook(&records, ETL_TYPE_SYSTEM64, 2, 2000 + (u64)i, "payload");
        const hand_buffer data = { .sequence = i, .fill_to = (u32)(200 + 37 * i) };
        hand_put_buffer(&file, &data, &records);
    }
    hand_free(&records);
}

static size_t offset_of(int sequence)
{
    return (size_t)sequence * HAND_BUFFER_BYTES;
}

static void rows_say_what_the_headers_say(void **state)
{
    (void)state;
    put_plain_trace(0);
    hand_bytes records = { 0 };
    hand_fill(&records, 0xff, 100);
    const hand_buffer data = { .flags = ETL_BUFFER_PROC_INDEX | ETL_BUFFER_FLUSH_MARKER,
                               .type = ETL_BUFFER_TYPE_BATCHED,
                               .processor = 3,
                               .sequence = 908 };
    hand_put_buffer(&file, &data, &records);
    hand_free(&records);
    reopen();
    assert_int_equal(etl_buffer_count(trace), 2);
    const etl_buffer_info *const info = etl_buffer_info_of(trace, 1);
    assert_int_equal(info->offset, HAND_BUFFER_BYTES);
    assert_int_equal(info->stored_size, HAND_BUFFER_BYTES);
    assert_int_equal(info->valid_size, 172);
    assert_int_equal(info->sequence, 908);
    assert_int_equal(info->flags, 0x21);
    assert_int_equal(info->type, ETL_BUFFER_TYPE_BATCHED);
    assert_int_equal(info->cpu, 3);
    assert_int_equal(info->session, 0);
    assert_int_equal(etl_file_size(trace), 2 * HAND_BUFFER_BYTES);
    assert_counted(ETL_DIAG_buffers_overwritten, (u64)907, -1);
}

static void buffers_of_any_size_follow_each_other(void **state)
{
    (void)state;
    put_merged_trace(9);
    reopen();
    assert_found("123456789");
    assert_counted(-1);
}

/* The high bits of the 16-bit index and the alignment byte are not the cpu. */
static void the_cpu_has_16_bits_or_8(void **state)
{
    (void)state;
    const u16 fields[] = { 0x0803, 0x0803 };
    const u16 flags[] = { 0, ETL_BUFFER_PROC_INDEX };
    put_plain_trace(0);
    for (size_t i = 0; i < ETL_COUNT_OF(fields); i++) {
        const hand_buffer data = { .flags = flags[i],
                                   .processor = fields[i],
                                   .sequence = 1 + (i64)i };
        hand_put_buffer(&file, &data, NULL);
    }
    const hand_buffer far = { .flags = ETL_BUFFER_PROC_INDEX, .processor = 0x0703, .sequence = 3 };
    hand_put_buffer(&file, &far, NULL);
    reopen();
    assert_int_equal(etl_buffer_info_of(trace, 1)->cpu, 3);
    assert_int_equal(etl_buffer_info_of(trace, 2)->cpu, 3);
    assert_int_equal(etl_buffer_info_of(trace, 3)->cpu, 0x703);
    assert_counted(ETL_DIAG_cpu_index_invalid, (u64)1, -1);
}

static void zeros_behind_the_last_buffer_are_unused(void **state)
{
    (void)state;
    for (size_t zeros = 1; zeros < 3000; zeros += 71) {
        hand_free(&file);
        put_plain_trace(2);
        hand_fill(&file, 0, zeros);
        reopen();
        assert_found("12");
        assert_counted(ETL_DIAG_bytes_unused, (u64)zeros, -1);
    }
}

static void a_file_that_ends_in_a_buffer_keeps_what_is_there(void **state)
{
    (void)state;
    put_plain_trace(2);
    for (size_t cut = 1; cut <= HAND_BUFFER_BYTES - 72; cut += 7) {
        file.size = 3 * HAND_BUFFER_BYTES - cut;
        reopen();
        assert_found("12");
        const etl_buffer_info *const last = etl_buffer_info_of(trace, 2);
        assert_int_equal(last->stored_size, HAND_BUFFER_BYTES - cut);
        assert_int_equal(last->valid_size, last->stored_size < 112 ? last->stored_size : 112);
        assert_counted(ETL_DIAG_file_truncated, (u64)cut, -1);
    }
}

static void a_file_that_ends_in_a_buffer_header_lacks_that_buffer(void **state)
{
    (void)state;
    put_plain_trace(2);
    for (size_t left = 2; left < 72; left++) {
        file.size = 2 * HAND_BUFFER_BYTES + left;
        reopen();
        assert_found("1");
        assert_counted(ETL_DIAG_file_truncated, (u64)(72 - left), ETL_DIAG_bytes_skipped, (u64)left,
                       -1);
    }
}

static void every_cut_of_a_file_opens_or_fails_cleanly(void **state)
{
    (void)state;
    put_merged_trace(3);
    const size_t whole = file.size;
    for (file.size = 0; file.size < whole; file.size++) {
        const etl_status status = reopen_with(NULL);
        assert_true(status == ETL_OK || status == ETL_ERR_NOT_ETL || status == ETL_ERR_CORRUPT);
        assert_int_equal(status == ETL_OK, trace != NULL);
    }
}

static void a_broken_size_is_replaced_when_the_next_header_agrees(void **state)
{
    (void)state;
    const u32 sizes[] = { 0, 1, 71, 72, 500, 1025, 1500, 1 << 20, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++)
        for (int broken = 0; broken <= 3; broken++) {
            hand_free(&file);
            put_plain_trace(3);
            hand_set_u32(&file, offset_of(broken), sizes[i]);
            reopen();
            assert_found("123");
            assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, -1);
        }
}

/* Without a size to step by there is none to replace a broken one with. */
static void an_impossible_session_buffer_size_is_not_stepped_by(void **state)
{
    (void)state;
    const u32 sizes[] = { 0, 71, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        hand_free(&file);
        hand_log_header facts = hand_header();
        facts.buffer_size = sizes[i];
        hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
        const hand_buffer data = { .flags = ETL_BUFFER_COMPRESSED, .sequence = 1 };
        hand_put_buffer(&file, &data, NULL);
        hand_fill(&file, 0xa5, 500);
        hand_data_buffer(&file, 0, 2, 5000);
        reopen();
        assert_found("12");
        assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, ETL_DIAG_bytes_skipped, (u64)500,
                       -1);
    }
}

static void a_broken_header_costs_its_own_buffer(void **state)
{
    (void)state;
    put_plain_trace(4);
    memset(file.at + offset_of(2), 0xa5, 72);
    reopen();
    assert_found("134");
    assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, ETL_DIAG_bytes_skipped,
                   (u64)HAND_BUFFER_BYTES, ETL_DIAG_sequence_gaps, (u64)1, -1);
}

static void buffers_are_found_again_where_sizes_vary(void **state)
{
    (void)state;
    put_merged_trace(5);
    const size_t second = 512 + 237;
    memset(file.at + second, 0xa5, 72);
    reopen();
    assert_found("1345");
    assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, ETL_DIAG_bytes_skipped, (u64)274,
                   ETL_DIAG_sequence_gaps, (u64)1, -1);
}

/* A small u32 among small u32s looks like a size and a valid end: no proof. */
static void event_data_is_not_taken_for_buffers(void **state)
{
    (void)state;
    hand_bytes payload = { 0 };
    for (int i = 0; i < 200; i++)
        hand_u32(&payload, i % 4 == 0 ? 72 + 8 * (u32)(i % 16) : 0);
    put_merged_trace(1);
    const size_t broken = file.size;
    const hand_buffer data = { .sequence = 2, .fill_to = 1 };
    hand_put_buffer(&file, &data, &payload);
    memset(file.at + broken, 0xa5, 72);
    const size_t good = file.size;
    hand_data_buffer(&file, 0, 3, 5000);
    reopen();
    assert_found("13");
    assert_int_equal(etl_buffer_info_of(trace, 2)->offset, good);
    hand_free(&payload);
}

static void nothing_is_searched_when_asked_not_to(void **state)
{
    (void)state;
    put_plain_trace(4);
    memset(file.at + offset_of(2), 0xa5, 72);
    const etl_open_options options = { .size = sizeof options, .no_resync = true };
    assert_int_equal(reopen_with(&options), ETL_OK);
    assert_found("1");
    assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, ETL_DIAG_bytes_skipped,
                   (u64)3 * HAND_BUFFER_BYTES, -1);
}

static void buffers_larger_than_accepted_are_broken(void **state)
{
    (void)state;
    put_merged_trace(4);
    const etl_open_options options = { .size = sizeof options, .buffer_bytes_max = 512 };
    hand_set_u32(&file, 512, 513);
    assert_int_equal(reopen_with(&options), ETL_OK);
    assert_found("234");
}

static void types_we_do_not_know_are_indexed_and_counted(void **state)
{
    (void)state;
    put_plain_trace(3);
    hand_set_u16(&file, offset_of(2) + 0x36, 8);
    reopen();
    assert_found("123");
    assert_counted(ETL_DIAG_buffer_type_unknown, (u64)1, -1);
}

static void valid_ends_outside_the_buffer_are_brought_into_it(void **state)
{
    (void)state;
    put_plain_trace(4);
    hand_set_u32(&file, offset_of(1) + 0x30, 71);
    hand_set_u32(&file, offset_of(3) + 0x30, HAND_BUFFER_BYTES + 1);
    reopen();
    assert_found("1234");
    assert_int_equal(etl_buffer_info_of(trace, 1)->valid_size, 72);
    assert_int_equal(etl_buffer_info_of(trace, 3)->valid_size, HAND_BUFFER_BYTES);
    assert_counted(ETL_DIAG_buffer_header_invalid, (u64)2, -1);
}

/* A few bytes may not claim to hold more than the session's buffers can. */
static void compressed_buffers_hold_no_more_than_a_session_buffer(void **state)
{
    (void)state;
    put_plain_trace(2);
    hand_set_u16(&file, offset_of(1) + 0x34, ETL_BUFFER_COMPRESSED);
    hand_set_u32(&file, offset_of(1) + 0x30, 65536);
    hand_set_u16(&file, offset_of(2) + 0x34, ETL_BUFFER_COMPRESSED);
    hand_set_u32(&file, offset_of(2) + 0x30, 65537);
    reopen();
    assert_int_equal(etl_buffer_info_of(trace, 1)->valid_size, 65536);
    assert_int_equal(etl_buffer_info_of(trace, 2)->valid_size, 65536);
    assert_counted(ETL_DIAG_buffer_header_invalid, (u64)1, -1);
}

static void a_later_log_file_header_begins_a_session(void **state)
{
    (void)state;
    put_plain_trace(2);
    hand_log_header facts = hand_header();
    facts.ticks = 9000;
    facts.cpus = 1;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    hand_data_buffer(&file, 0, 1, 9999);
    reopen();
    assert_found("121");
    assert_int_equal(etl_session_count(trace), 2);
    assert_true(etl_session_of(trace, 0)->header_ticks == 1000);
    assert_true(etl_session_of(trace, 1)->header_ticks == 9000);
    assert_int_equal(etl_session_of(trace, 1)->header_offset, offset_of(3) + 72);
    const u16 sessions[] = { 0, 0, 0, 1, 1 };
    for (u32 i = 0; i < ETL_COUNT_OF(sessions); i++)
        assert_int_equal(etl_buffer_info_of(trace, i)->session, sessions[i]);
    assert_counted(ETL_DIAG_log_header_extra, (u64)1, -1);
}

static void a_header_buffer_without_a_header_changes_nothing(void **state)
{
    (void)state;
    put_plain_trace(3);
    hand_set_u16(&file, offset_of(2) + 0x36, ETL_BUFFER_TYPE_HEADER);
    reopen();
    assert_int_equal(etl_session_count(trace), 1);
    assert_int_equal(etl_buffer_count(trace), 4);
    assert_int_equal(counted(ETL_DIAG_log_header_extra), 0);
}

static void assert_gaps(const i64 *sequences, size_t count, u64 gaps)
{
    hand_free(&file);
    put_plain_trace(0);
    for (size_t i = 0; i < count; i++)
        hand_data_buffer(&file, 0, sequences[i], 5000);
    reopen();
    assert_int_equal(etl_buffer_count(trace), count + 1);
    assert_int_equal(counted(ETL_DIAG_sequence_gaps), gaps);
}

static void missing_sequence_numbers_are_counted(void **state)
{
    (void)state;
    assert_gaps((const i64[]){ 1, 2, 3 }, 3, 0);
    assert_gaps((const i64[]){ 3, 1, 2 }, 3, 0);
    assert_gaps((const i64[]){ 1, 5, 3 }, 3, 2);
    assert_gaps((const i64[]){ 908, 909, 911 }, 3, 1);
    assert_gaps((const i64[]){ 1, 1, 2, 2, 4 }, 5, 1);
    assert_gaps((const i64[]){ -2, 1 }, 2, 2);
    assert_gaps((const i64[]){ 7 }, 1, 0);
}

static void each_session_has_its_own_numbering(void **state)
{
    (void)state;
    put_plain_trace(2);
    const hand_log_header facts = hand_header();
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    hand_data_buffer(&file, 0, 101, 5000);
    hand_data_buffer(&file, 0, 103, 5000);
    reopen();
    assert_int_equal(counted(ETL_DIAG_sequence_gaps), 1);
}

static void a_ring_lacks_what_was_overwritten(void **state)
{
    static const i64 sequences[] = { 50, 51, 7, 52 };
    (void)state;
    hand_log_header facts = hand_header();
    facts.mode |= ETL_MODE_CIRCULAR;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    for (u32 i = 0; i < ETL_COUNT_OF(sequences); i++)
        hand_data_buffer(&file, 0, sequences[i], 5000);
    reopen();
    assert_int_equal(counted(ETL_DIAG_sequence_gaps), 0);
    assert_int_equal(counted(ETL_DIAG_buffers_overwritten), 6 + 42);
    assert_int_equal(etl_session_of(trace, 0)->kept_sequence, 50);
}

static void jumps_no_session_makes_are_not_counted_as_losses(void **state)
{
    (void)state;
    assert_gaps((const i64[]){ 1, 2, INT64_MAX }, 3, 0);
    assert_gaps((const i64[]){ INT64_MIN, 1, 3 }, 3, 1);
}

static void losses_come_from_the_header(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.events_lost = 41;
    facts.buffers_lost = 2;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    const hand_buffer data = { .flags = ETL_BUFFER_EVENTS_LOST | ETL_BUFFER_BUFFER_LOST };
    hand_put_buffer(&file, &data, NULL);
    reopen();
    assert_counted(ETL_DIAG_events_lost, (u64)41, ETL_DIAG_buffers_lost, (u64)2, -1);
}

static void fewer_buffers_than_the_header_counts_are_missing(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.buffers_written = 4;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    hand_data_buffer(&file, 0, 1, 5000);
    reopen();
    assert_counted(ETL_DIAG_buffers_missing, (u64)2, -1);
    hand_data_buffer(&file, 0, 2, 5000);
    hand_data_buffer(&file, 0, 3, 5000);
    reopen();
    assert_counted(-1);
    hand_data_buffer(&file, 0, 4, 5000);
    reopen();
    assert_counted(-1);
}

static void what_a_circular_file_counts_is_not_known(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.buffers_written = 400;
    facts.mode |= ETL_MODE_CIRCULAR;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    hand_data_buffer(&file, 0, 1, 5000);
    reopen();
    assert_counted(-1);
}

static void without_it_flagged_buffers_count(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.end_time = 0;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    for (int i = 0; i < 3; i++) {
        const hand_buffer data = {
            .flags = ETL_BUFFER_EVENTS_LOST | (i == 0 ? ETL_BUFFER_BUFFER_LOST : 0), .sequence = i
        };
        hand_put_buffer(&file, &data, NULL);
    }
    reopen();
    assert_counted(ETL_DIAG_events_lost, (u64)3, ETL_DIAG_buffers_lost, (u64)1,
                   ETL_DIAG_session_not_closed, (u64)1, -1);
}

/* Rows lie in the file one after the other, whatever the file says. */
static void assert_rows_are_sound(void)
{
    u64 end = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++) {
        const etl_buffer_info *const info = etl_buffer_info_of(trace, i);
        assert_true(info->offset >= end && info->stored_size >= 72);
        assert_true(info->stored_size <= file.size - info->offset);
        assert_true(info->valid_size >= 72 && info->cpu < 2048);
        assert_true(info->session < etl_session_count(trace));
        end = info->offset + info->stored_size;
    }
}

static void random_damage_leaves_sound_rows(void **state)
{
    (void)state;
    put_merged_trace(6);
    u64 random = 17;
    for (int round = 0; round < 3000; round++) {
        const size_t at = hand_random(&random) % file.size;
        const u8 saved = file.at[at];
        file.at[at] = (u8)hand_random(&random);
        if (reopen_with(NULL) == ETL_OK)
            assert_rows_are_sound();
        file.at[at] = saved;
    }
}

/* Four million bytes in which each place looks a little like a buffer header. */
static void hostile_files_cost_no_more_than_their_size(void **state)
{
    (void)state;
    const u8 patterns[][4] = {
        { 72, 0, 0, 0 }, { 0, 72, 0, 0 }, { 80, 0, 0, 1 }, { 0xc0, 2, 0, 72 }
    };
    for (size_t i = 0; i < ETL_COUNT_OF(patterns); i++) {
        hand_free(&file);
        put_plain_trace(1);
        while (file.size < 4000000)
            hand_put(&file, patterns[i], sizeof patterns[i]);
        reopen();
        assert_rows_are_sound();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_say_what_the_headers_say),
        TEST(buffers_of_any_size_follow_each_other),
        TEST(the_cpu_has_16_bits_or_8),
        TEST(zeros_behind_the_last_buffer_are_unused),
        TEST(a_file_that_ends_in_a_buffer_keeps_what_is_there),
        TEST(a_file_that_ends_in_a_buffer_header_lacks_that_buffer),
        TEST(every_cut_of_a_file_opens_or_fails_cleanly),
        TEST(a_broken_size_is_replaced_when_the_next_header_agrees),
        TEST(an_impossible_session_buffer_size_is_not_stepped_by),
        TEST(a_broken_header_costs_its_own_buffer),
        TEST(buffers_are_found_again_where_sizes_vary),
        TEST(event_data_is_not_taken_for_buffers),
        TEST(nothing_is_searched_when_asked_not_to),
        TEST(buffers_larger_than_accepted_are_broken),
        TEST(types_we_do_not_know_are_indexed_and_counted),
        TEST(valid_ends_outside_the_buffer_are_brought_into_it),
        TEST(compressed_buffers_hold_no_more_than_a_session_buffer),
        TEST(a_later_log_file_header_begins_a_session),
        TEST(a_header_buffer_without_a_header_changes_nothing),
        TEST(missing_sequence_numbers_are_counted),
        TEST(each_session_has_its_own_numbering),
        TEST(a_ring_lacks_what_was_overwritten),
        TEST(jumps_no_session_makes_are_not_counted_as_losses),
        TEST(losses_come_from_the_header),
        TEST(fewer_buffers_than_the_header_counts_are_missing),
        TEST(what_a_circular_file_counts_is_not_known),
        TEST(without_it_flagged_buffers_count),
        TEST(random_damage_leaves_sound_rows),
        TEST(hostile_files_cost_no_more_than_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
