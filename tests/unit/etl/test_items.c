/*
 * Goal: the extended items of an event are found, cut off from its payload, and
 * never lead outside the event.
 * Method: chains of items put together by hand, each defect of an item on its
 * own, and random bytes taken for items, in memory whose end cannot be passed.
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
    hand_free(records);
    return record;
}

static void extended_items_lie_before_the_payload(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_event_header(&records, ETL_TYPE_EVENT64, ETL_EVENT_EXTENDED);
    hand_item(&records, 24, ETL_ITEM_PROVIDER_TRAITS, 1, 11, "eleven byte");
    hand_item(&records, 8, ETL_ITEM_SID, 0xffff, 0, "");
    hand_item(&records, 16, ETL_ITEM_EVENT_KEY, 0xfffe, 8, "the key.");
    hand_put(&records, "payload", 7);
    hand_end_record(&records, 0, 0);
    const etl_record record = read_only_record(&records);
    assert_text(record.payload, "payload");
    assert_int_equal(record.items.size, 24 + 8 + 16);
    etl_bytes items = record.items;
    etl_item item;
    assert_true(etl_item_next(&items, &item));
    assert_int_equal(item.type, ETL_ITEM_PROVIDER_TRAITS);
    assert_text(item.data, "eleven byte");
    assert_true(etl_item_next(&items, &item));
    assert_int_equal(item.type, ETL_ITEM_SID);
    assert_int_equal(item.data.size, 0);
    assert_true(etl_item_next(&items, &item));
    assert_int_equal(item.type, ETL_ITEM_EVENT_KEY);
    assert_text(item.data, "the key.");
    assert_false(etl_item_next(&items, &item));
    assert_false(etl_item_next(&items, &item));
    assert_int_equal(diag.of[ETL_DIAG_items_invalid], 0);
}

/* A record with a sound item and then one with the given header. */
static etl_record read_with_second_item(unsigned size, unsigned data_size)
{
    hand_bytes records = { 0 };
    hand_event_header(&records, ETL_TYPE_EVENT32, ETL_EVENT_EXTENDED);
    hand_item(&records, 16, ETL_ITEM_EVENT_KEY, 1, 8, "the key.");
    hand_item(&records, size, ETL_ITEM_SID, 0, data_size, "12345678");
    hand_end_record(&records, 0, 0);
    return read_only_record(&records);
}

static void an_unsound_item_ends_the_items_and_counts(void **state)
{
    (void)state;
    const unsigned headers[][2] = { { 0, 0 },  { 7, 0 },  { 12, 4 },
                                    { 16, 9 }, { 24, 8 }, { 65528, 8 } };
    for (size_t i = 0; i < ETL_COUNT_OF(headers); i++) {
        const etl_record record = read_with_second_item(headers[i][0], headers[i][1]);
        assert_int_equal(diag.of[ETL_DIAG_items_invalid], 1);
        assert_int_equal(record.items.size, 16);
        assert_int_equal(record.payload.size, 16); /* the rest is taken for payload */
    }
    (void)read_with_second_item(16, 8);
    assert_int_equal(diag.of[ETL_DIAG_items_invalid], 0);
}

static void an_item_that_promises_another_at_the_end_counts(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    hand_event_header(&records, ETL_TYPE_EVENT64, ETL_EVENT_EXTENDED);
    hand_item(&records, 16, ETL_ITEM_EVENT_KEY, 1, 8, "the key.");
    hand_end_record(&records, 0, 0);
    const etl_record record = read_only_record(&records);
    assert_int_equal(diag.of[ETL_DIAG_items_invalid], 1);
    assert_int_equal(record.items.size, 16);
    assert_int_equal(record.payload.size, 0);
}

static void stepping_through_any_bytes_as_items_ends(void **state)
{
    (void)state;
    u64 random = 5;
    for (int round = 0; round < 2000; round++) {
        hand_guarded memory = hand_guard(hand_random(&random) % 100, HAND_AT_END);
        for (size_t i = 0; i < memory.size; i++)
            memory.at[i] = (u8)(hand_random(&random) % 4 ? hand_random(&random) % 3 * 8 : 255);
        etl_bytes items = { memory.at, memory.size };
        etl_item item;
        size_t count = 0;
        while (etl_item_next(&items, &item))
            assert_true(++count <= memory.size / 8);
        assert_null(items.at);
        hand_unguard(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extended_items_lie_before_the_payload),
        cmocka_unit_test(an_unsound_item_ends_the_items_and_counts),
        cmocka_unit_test(an_item_that_promises_another_at_the_end_counts),
        cmocka_unit_test(stepping_through_any_bytes_as_items_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
