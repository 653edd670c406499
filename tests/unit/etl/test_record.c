/*
 * Goal: every kind of record is found and read where layout.h says, damage ends
 * its buffer with a count and never a crash, and the walk always ends.
 * Method: records put together by hand, field by field with values that tell the
 * fields apart; each rule and each defect on its own; then every cut of a buffer
 * that holds all kinds, and random damage, in memory whose end cannot be passed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_records.h"

static etl_diag_counts diag;

static void assert_text(etl_bytes bytes, const char *text)
{
    assert_int_equal(bytes.size, strlen(text));
    assert_memory_equal(bytes.at, text, bytes.size);
}

/* Reads the only record of a buffer; the memory stays until the next call. */
static etl_record read_only_record(hand_bytes *records)
{
    static hand_guarded memory;
    if (memory.pages)
        hand_unguard(&memory);
    etl_buffer buffer = hand_open_records(records, &memory, &diag);
    etl_record record = { 0 };
    assert_true(etl_record_next(&buffer, &record));
    assert_int_equal(record.offset, ETL_BUFFER_HEADER_BYTES);
    assert_int_equal(record.cpu, 5);
    etl_record none;
    assert_false(etl_record_next(&buffer, &none));
    assert_false(etl_record_next(&buffer, &none));
    hand_free(records);
    return record;
}

static void assert_hook_record(const etl_record *record, etl_header_kind header, unsigned width)
{
    assert_int_equal(record->header, header);
    assert_int_equal(record->pointer_bytes, width);
    assert_true(record->has_hook && record->has_time);
    assert_true(record->ticks == HAND_TICKS);
    assert_int_equal(record->hook, 0x1021);
    assert_int_equal(record->opcode, 0x21);
    assert_int_equal(record->version, 2);
    assert_int_equal(record->id, 0);
    assert_int_equal(record->level, 0);
    assert_null(record->provider);
    assert_int_equal(record->items.size, 0);
    assert_text(record->payload, "payload");
}

static void system_and_compact_records_have_ids_and_time(void **state)
{
    (void)state;
    const unsigned types[] = { ETL_TYPE_SYSTEM32, ETL_TYPE_SYSTEM64, ETL_TYPE_COMPACT32,
                               ETL_TYPE_COMPACT64 };
    const etl_header_kind headers[] = { ETL_HEADER_SYSTEM32, ETL_HEADER_SYSTEM64,
                                        ETL_HEADER_COMPACT32, ETL_HEADER_COMPACT64 };
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++) {
        hand_bytes records = { 0 };
        hand_hook(&records, types[i], 2, HAND_TICKS, "payload");
        const etl_record record = read_only_record(&records);
        assert_hook_record(&record, headers[i], i % 2 ? 8 : 4);
        assert_int_equal(record.tid, HAND_TID);
        assert_int_equal(record.pid, HAND_PID);
        assert_int_equal(record.size, (i < 2 ? 32 : 24) + 7);
    }
}

static void perfinfo_records_have_no_ids(void **state)
{
    (void)state;
    const unsigned types[] = { ETL_TYPE_PERFINFO32, ETL_TYPE_PERFINFO64 };
    for (unsigned i = 0; i < 2; i++) {
        hand_bytes records = { 0 };
        hand_hook(&records, types[i], 2, HAND_TICKS, "payload");
        const etl_record record = read_only_record(&records);
        assert_hook_record(&record, i ? ETL_HEADER_PERFINFO64 : ETL_HEADER_PERFINFO32, i ? 8 : 4);
        assert_int_equal(record.tid, ETL_NO_ID);
        assert_int_equal(record.pid, ETL_NO_ID);
        assert_int_equal(record.size, 16 + 7);
    }
}

static void extra_words_lie_between_header_and_payload(void **state)
{
    (void)state;
    const unsigned types[] = { ETL_TYPE_PERFINFO64, ETL_TYPE_SYSTEM64, ETL_TYPE_COMPACT32 };
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++)
        for (unsigned words = 0; words <= 8; words++) {
            const unsigned flags = words == 8 ? 0x8700 : words << 8;
            hand_bytes records = { 0 };
            hand_hook(&records, types[i], flags | 2, HAND_TICKS, "");
            hand_fill(&records, 0xee, (size_t)8 * words);
            hand_put(&records, "payload", 7);
            hand_set_u16(&records, 4, (unsigned)records.size);
            const etl_record record = read_only_record(&records);
            assert_int_equal(record.version, 2);
            assert_text(record.payload, "payload");
        }
}

static void extra_words_that_overrun_the_record_leave_no_payload(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_PERFINFO64, 0x8702, HAND_TICKS, "too little");
    const etl_record record = read_only_record(&records);
    assert_true(record.ticks == HAND_TICKS);
    assert_null(record.payload.at);
    assert_int_equal(record.payload.size, 0);
}

static void full_records_have_a_class_guid(void **state)
{
    (void)state;
    const unsigned types[] = { ETL_TYPE_FULL32, ETL_TYPE_FULL64, ETL_TYPE_INSTANCE32,
                               ETL_TYPE_INSTANCE64 };
    const etl_header_kind headers[] = { ETL_HEADER_FULL32, ETL_HEADER_FULL64, ETL_HEADER_INSTANCE32,
                                        ETL_HEADER_INSTANCE64 };
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++) {
        hand_bytes records = { 0 };
        hand_full(&records, types[i], i < 2 ? 48 : 72, "payload");
        const etl_record record = read_only_record(&records);
        assert_int_equal(record.header, headers[i]);
        assert_int_equal(record.pointer_bytes, i % 2 ? 8 : 4);
        assert_false(record.has_hook);
        assert_true(record.ticks == HAND_TICKS);
        assert_int_equal(record.tid, HAND_TID);
        assert_int_equal(record.pid, HAND_PID);
        assert_int_equal(record.opcode, 0x21);
        assert_int_equal(record.level, 7);
        assert_int_equal(record.version, 0x0903);
        assert_memory_equal(record.provider, hand_guid, sizeof hand_guid);
        assert_text(record.payload, "payload");
    }
}

/* Before Windows 5.2 the header had 56 bytes and no GUID. */
static void short_instance_records_have_no_guid(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_full(&records, ETL_TYPE_INSTANCE32, 56, "payload");
    const etl_record record = read_only_record(&records);
    assert_null(record.provider);
    assert_int_equal(record.tid, HAND_TID);
    assert_text(record.payload, "payload");
}

static void event_records_have_a_descriptor(void **state)
{
    (void)state;
    const unsigned types[] = { ETL_TYPE_EVENT32, ETL_TYPE_EVENT64, ETL_TYPE_ERROR };
    const etl_header_kind headers[] = { ETL_HEADER_EVENT32, ETL_HEADER_EVENT64, ETL_HEADER_ERROR };
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++) {
        hand_bytes records = { 0 };
        hand_event(&records, types[i], "payload");
        const etl_record record = read_only_record(&records);
        assert_int_equal(record.header, headers[i]);
        assert_int_equal(record.pointer_bytes, i == 0 ? 4 : 8);
        assert_false(record.has_hook);
        assert_true(record.ticks == HAND_TICKS);
        assert_int_equal(record.tid, HAND_TID);
        assert_int_equal(record.pid, HAND_PID);
        assert_memory_equal(record.provider, hand_guid, sizeof hand_guid);
        assert_int_equal(record.id, 0xabcd);
        assert_int_equal(record.version, 3);
        assert_int_equal(record.level, 4);
        assert_int_equal(record.opcode, 36);
        assert_int_equal(record.items.size, 0);
        assert_text(record.payload, "payload");
    }
}

static void message_parts_come_in_their_order(void **state)
{
    (void)state;
    hand_bytes parts = { 0 };
    hand_u32(&parts, 0xeeeeeeee); /* sequence */
    hand_put(&parts, hand_guid, sizeof hand_guid);
    hand_u64(&parts, HAND_TICKS);
    hand_u32(&parts, HAND_TID);
    hand_u32(&parts, HAND_PID);
    hand_put(&parts, "payload", 7);
    hand_bytes records = { 0 };
    hand_message(&records, 0x002b | ETL_MESSAGE_POINTER32, parts.at, parts.size);
    hand_free(&parts);
    const etl_record record = read_only_record(&records);
    assert_int_equal(record.header, ETL_HEADER_MESSAGE);
    assert_int_equal(record.id, 0x0102);
    assert_int_equal(record.pointer_bytes, 4);
    assert_memory_equal(record.provider, hand_guid, sizeof hand_guid);
    assert_true(record.has_time && record.ticks == HAND_TICKS);
    assert_int_equal(record.tid, HAND_TID);
    assert_int_equal(record.pid, HAND_PID);
    assert_text(record.payload, "payload");
}

static void a_component_id_wins_over_the_guid(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_message(&records, ETL_MESSAGE_COMPONENT | ETL_MESSAGE_GUID, "\1\2\3\4payload", 11);
    const etl_record record = read_only_record(&records);
    assert_null(record.provider);
    assert_int_equal(record.tid, ETL_NO_ID);
    assert_int_equal(record.pointer_bytes, 8);
    assert_text(record.payload, "payload");
}

static void message_parts_that_do_not_fit_are_absent(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_message(&records, ETL_MESSAGE_GUID | ETL_MESSAGE_TIME | ETL_MESSAGE_IDS, hand_guid, 16);
    const etl_record record = read_only_record(&records);
    assert_memory_equal(record.provider, hand_guid, sizeof hand_guid);
    assert_false(record.has_time);
    assert_true(record.ticks == 77);
    assert_int_equal(record.tid, ETL_NO_ID);
    assert_int_equal(record.payload.size, 0);
    assert_int_equal(diag.of[ETL_DIAG_event_truncated], 1);
}

static void records_without_time_inherit_the_one_before(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, 1000, "");
    hand_message(&records, 0, "", 0);
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, 2000, "");
    hand_message(&records, 0, "", 0);
    hand_guarded memory;
    etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    const i64 expected[] = { 1000, 1000, 2000, 2000 };
    for (size_t i = 0; i < ETL_COUNT_OF(expected); i++) {
        etl_record record;
        assert_true(etl_record_next(&buffer, &record));
        assert_true(record.ticks == expected[i]);
        assert_int_equal(record.has_time, i % 2 == 0);
    }
    hand_unguard(&memory);
    hand_free(&records);
}

static void times_that_go_backwards_are_counted_and_kept(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    const u64 ticks[] = { 100, 300, 200, 200, 250, 50 };
    for (size_t i = 0; i < ETL_COUNT_OF(ticks); i++)
        hand_hook(&records, ETL_TYPE_PERFINFO64, 2, ticks[i], "");
    hand_guarded memory;
    etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    for (size_t i = 0; i < ETL_COUNT_OF(ticks); i++) {
        etl_record record;
        assert_true(etl_record_next(&buffer, &record));
        assert_true(record.ticks == (i64)ticks[i]);
    }
    assert_int_equal(diag.of[ETL_DIAG_time_backwards], 2);
    hand_unguard(&memory);
    hand_free(&records);
}

/* Walks to the end and checks what was counted. */
static size_t walk(const hand_bytes *records)
{
    hand_guarded memory;
    etl_buffer buffer = hand_open_records(records, &memory, &diag);
    etl_record record;
    size_t count = 0;
    while (etl_record_next(&buffer, &record)) {
        assert_true(record.offset % 8 == 0 && record.size <= buffer.end - record.offset);
        count++;
    }
    assert_int_equal(buffer.at, buffer.end);
    hand_unguard(&memory);
    return count;
}

static void kinds_we_do_not_know_are_skipped_by_their_size(void **state)
{
    (void)state;
    const unsigned types_and_markers[][2] = { { 0x0c, 0xc0 }, { 0x0e, 0xc0 }, { 0x00, 0xc0 },
                                              { 0x0f, 0xc0 }, { 0x16, 0xc0 }, { 0xff, 0xc0 },
                                              { 0x02, 0xb0 }, { 0x02, 0x80 } };
    for (size_t i = 0; i < ETL_COUNT_OF(types_and_markers); i++) {
        hand_bytes records = { 0 };
        hand_prefix(&records, 21, types_and_markers[i][0], types_and_markers[i][1], 0, 0);
        hand_fill(&records, 0xee, 16);
        hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "payload");
        hand_guarded memory;
        etl_buffer buffer = hand_open_records(&records, &memory, &diag);
        etl_record record;
        assert_true(etl_record_next(&buffer, &record));
        assert_int_equal(record.header, ETL_HEADER_OTHER);
        assert_int_equal(record.size, 21);
        assert_false(record.has_time || record.has_hook);
        assert_true(record.ticks == 77);
        assert_true(etl_record_next(&buffer, &record));
        assert_int_equal(record.hook, 0x1021);
        assert_int_equal(diag.of[ETL_DIAG_record_kind_unknown], 1);
        assert_int_equal(diag.of[ETL_DIAG_record_invalid], 0);
        hand_unguard(&memory);
        hand_free(&records);
    }
}

static void more_marker_bits_do_not_hide_the_kind(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "payload");
    records.at[3] = 0xf0;
    const etl_record record = read_only_record(&records);
    assert_hook_record(&record, ETL_HEADER_SYSTEM64, 8);
}

static void padding_ends_the_buffer_without_a_count(void **state)
{
    (void)state;
    const u8 paddings[] = { 0x00, 0xff };
    for (size_t i = 0; i < ETL_COUNT_OF(paddings); i++) {
        hand_bytes records = { 0 };
        hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "payload");
        hand_fill(&records, paddings[i], 70000);
        assert_int_equal(walk(&records), 1);
        assert_int_equal(diag.of[ETL_DIAG_record_invalid], 0);
        assert_int_equal(diag.of[ETL_DIAG_record_bytes_skipped], 0);
        hand_free(&records);
    }
}

/* One sound record and then one broken by setting a u16; 64 bytes are skipped. */
static void assert_damaged(unsigned type, size_t offset, unsigned value)
{
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "payload");
    const size_t start = records.size;
    hand_prefix(&records, 64, type, ETL_MARKER_EVENT, 64, 0);
    hand_fill(&records, 0x55, 56);
    hand_set_u16(&records, start + offset, value);
    assert_int_equal(walk(&records), 1);
    assert_int_equal(diag.of[ETL_DIAG_record_invalid], 1);
    assert_int_equal(diag.of[ETL_DIAG_record_bytes_skipped], 64);
    hand_free(&records);
}

static void a_record_that_does_not_fit_ends_the_buffer(void **state)
{
    (void)state;
    assert_damaged(ETL_TYPE_SYSTEM64, 4, 65);
    assert_damaged(ETL_TYPE_SYSTEM64, 4, 65535);
    assert_damaged(ETL_TYPE_FULL64, 0, 65);
    assert_damaged(0x0c, 0, 65);
}

static void a_record_shorter_than_its_header_ends_the_buffer(void **state)
{
    (void)state;
    assert_damaged(ETL_TYPE_SYSTEM64, 4, 0);
    assert_damaged(ETL_TYPE_SYSTEM32, 4, 31);
    assert_damaged(ETL_TYPE_COMPACT64, 4, 23);
    assert_damaged(ETL_TYPE_PERFINFO64, 4, 15);
    assert_damaged(ETL_TYPE_FULL32, 0, 47);
    assert_damaged(ETL_TYPE_INSTANCE64, 0, 55);
    assert_damaged(ETL_TYPE_EVENT64, 0, 64);
    assert_damaged(0x0c, 0, 7);
    assert_damaged(0x0c, 0, 0);
}

static void a_marker_without_the_trace_bit_ends_the_buffer(void **state)
{
    (void)state;
    assert_damaged(ETL_TYPE_SYSTEM64, 2, 0x4002);
}

static void bytes_too_few_for_a_record_are_damage(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "");
    hand_fill(&records, 0, 5);
    assert_int_equal(walk(&records), 1);
    assert_int_equal(diag.of[ETL_DIAG_record_invalid], 1);
    assert_int_equal(diag.of[ETL_DIAG_record_bytes_skipped], 5);
    hand_free(&records);
}

/* The valid size of a buffer may end right behind a record of odd size. */
static void padding_of_the_last_record_may_be_missing(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS, "payload");
    records.size = 39;
    assert_int_equal(walk(&records), 1);
    assert_int_equal(diag.of[ETL_DIAG_record_invalid], 0);
    hand_free(&records);
}

static size_t put_all_kinds(hand_bytes *records)
{
    for (unsigned type = 0; type < ETL_TYPE_LIMIT; type++) {
        if (type <= ETL_TYPE_COMPACT64 || type == ETL_TYPE_PERFINFO32 ||
            type == ETL_TYPE_PERFINFO64)
            hand_hook(records, type == 0 ? ETL_TYPE_SYSTEM64 : type, 2, HAND_TICKS + type, "hook");
        else
            hand_full(records, type, 72, "the largest of these headers has 80 bytes");
    }
    hand_message(records, 0x00aa, "sixteen bytes of guid, then eight and eight", 43);
    const size_t start = records->size;
    hand_event_header(records, ETL_TYPE_EVENT64, ETL_EVENT_EXTENDED);
    hand_item(records, 24, ETL_ITEM_PROVIDER_TRAITS, 1, 11, "eleven byte");
    hand_item(records, 16, ETL_ITEM_EVENT_KEY, 0, 8, "the key.");
    hand_end_record(records, start, 0);
    return ETL_TYPE_LIMIT + 2;
}

static void every_cut_of_a_buffer_gives_the_records_before_it(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    const size_t count = put_all_kinds(&records);
    assert_int_equal(walk(&records), count);
    const size_t whole = records.size;
    size_t previous = 0;
    for (records.size = 0; records.size < whole; records.size++) {
        const size_t found = walk(&records);
        assert_true(found == previous || found == previous + 1);
        assert_true(diag.of[ETL_DIAG_record_invalid] <= 1);
        previous = found;
    }
    hand_free(&records);
}

static void random_damage_never_leaves_the_buffer(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    (void)put_all_kinds(&records);
    u64 random = 1;
    for (int round = 0; round < 20000; round++) {
        const size_t at = hand_random(&random) % records.size;
        const u8 saved = records.at[at];
        records.at[at] = (u8)hand_random(&random);
        (void)walk(&records);
        records.at[at] = saved;
    }
    hand_free(&records);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(etl_header_kind_name(ETL_HEADER_OTHER), "other");
    assert_string_equal(etl_header_kind_name(ETL_HEADER_PERFINFO64), "perfinfo64");
    assert_string_equal(etl_header_kind_name(ETL_HEADER_MESSAGE), "message");
    assert_string_equal(etl_header_kind_name(ETL_HEADER_KIND_COUNT), "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_and_compact_records_have_ids_and_time),
        cmocka_unit_test(perfinfo_records_have_no_ids),
        cmocka_unit_test(extra_words_lie_between_header_and_payload),
        cmocka_unit_test(extra_words_that_overrun_the_record_leave_no_payload),
        cmocka_unit_test(full_records_have_a_class_guid),
        cmocka_unit_test(short_instance_records_have_no_guid),
        cmocka_unit_test(event_records_have_a_descriptor),
        cmocka_unit_test(message_parts_come_in_their_order),
        cmocka_unit_test(a_component_id_wins_over_the_guid),
        cmocka_unit_test(message_parts_that_do_not_fit_are_absent),
        cmocka_unit_test(records_without_time_inherit_the_one_before),
        cmocka_unit_test(times_that_go_backwards_are_counted_and_kept),
        cmocka_unit_test(kinds_we_do_not_know_are_skipped_by_their_size),
        cmocka_unit_test(more_marker_bits_do_not_hide_the_kind),
        cmocka_unit_test(padding_ends_the_buffer_without_a_count),
        cmocka_unit_test(a_record_that_does_not_fit_ends_the_buffer),
        cmocka_unit_test(a_record_shorter_than_its_header_ends_the_buffer),
        cmocka_unit_test(a_marker_without_the_trace_bit_ends_the_buffer),
        cmocka_unit_test(bytes_too_few_for_a_record_are_damage),
        cmocka_unit_test(padding_of_the_last_record_may_be_missing),
        cmocka_unit_test(every_cut_of_a_buffer_gives_the_records_before_it),
        cmocka_unit_test(random_damage_never_leaves_the_buffer),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
