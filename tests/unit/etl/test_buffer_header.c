/*
 * Goal: a buffer header is told from other bytes, by each of its fields, and the
 * search behind damage finds the next buffer and nothing that only looks like one.
 * Method: one sound header, broken in one field at a time, looked at directly and
 * searched for in bytes around it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_trace.h"
#include "parser/etl/buffer_header.h"

static const etl_buffer_limits limits = {
    .zero_from = UINT64_MAX, .size_max = 60000, .valid_max = 65536, .size_nominal = 0
};

static const hand_buffer sound_facts = { .sequence = 7, .fill_to = 256 };

/* A sound buffer with one record, 256 bytes long. */
static void put_buffer(hand_bytes *file)
{
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, 5000, "payload");
    hand_put_buffer(file, &sound_facts, &records);
    hand_free(&records);
}

static void fields_are_read_from_their_places(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0xee, 3);
    const hand_buffer facts = { .size = 0x01020304,
                                .valid = 0x05060708,
                                .flags = 0x090a,
                                .type = 0x0b0c,
                                .processor = 0x0d0e,
                                .state = 0x0f101112,
                                .sequence = 0x0102030405060708,
                                .fill_to = 1 };
    hand_put_buffer(&file, &facts, NULL);
    hand_guarded memory = hand_guard_bytes(hand_view(&file), HAND_AT_END);
    etl_buffer_header header;
    assert_true(etl_buffer_header_read((etl_bytes){ memory.at, memory.size }, 3, &header));
    assert_int_equal(header.size, 0x01020304);
    assert_int_equal(header.valid, 0x05060708);
    assert_int_equal(header.flags, 0x090a);
    assert_int_equal(header.type, 0x0b0c);
    assert_int_equal(header.processor, 0x0d0e);
    assert_int_equal(header.state, 0x0f101112);
    assert_true(header.sequence == 0x0102030405060708);
    assert_int_equal(header.reference_count, 0);
    for (size_t offset = 4; offset < 100; offset++)
        assert_false(
            etl_buffer_header_read((etl_bytes){ memory.at, memory.size }, offset, &header));
    assert_false(
        etl_buffer_header_read((etl_bytes){ memory.at, memory.size }, UINT64_MAX, &header));
    hand_unguard(&memory);
    hand_free(&file);
}

static void each_field_of_a_header_must_make_sense(void **state)
{
    (void)state;
    const etl_buffer_header sound = { .valid = 100, .flags = 0x7f & ~ETL_BUFFER_COMPRESSED };
    assert_true(etl_buffer_header_is_sound(&sound, 256, &limits));
    etl_buffer_header header = sound;
    header.type = 7;
    assert_true(etl_buffer_header_is_sound(&header, 256, &limits));
    header.type = 8;
    assert_false(etl_buffer_header_is_sound(&header, 256, &limits));
    header = sound;
    header.flags = 0x80;
    assert_false(etl_buffer_header_is_sound(&header, 256, &limits));
    header = sound;
    header.valid = 71;
    assert_false(etl_buffer_header_is_sound(&header, 256, &limits));
    header.valid = 72;
    assert_true(etl_buffer_header_is_sound(&header, 256, &limits));
    header.valid = 256;
    assert_true(etl_buffer_header_is_sound(&header, 256, &limits));
    header.valid = 257;
    assert_false(etl_buffer_header_is_sound(&header, 256, &limits));
}

static void a_compressed_buffer_may_hold_more_than_its_size(void **state)
{
    (void)state;
    etl_buffer_header header = { .valid = 65536, .flags = ETL_BUFFER_COMPRESSED };
    assert_true(etl_buffer_header_is_sound(&header, 256, &limits));
    header.valid = 65537;
    assert_false(etl_buffer_header_is_sound(&header, 256, &limits));
}

static void a_buffer_may_end_where_something_sound_begins(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 100);
    put_buffer(&file);
    hand_fill(&file, 0, 50);
    etl_buffer_limits with_tail = limits;
    with_tail.zero_from = 356;
    const etl_bytes bytes = hand_view(&file);
    assert_true(etl_buffer_may_end_at(bytes, 100, &with_tail));
    assert_true(etl_buffer_may_end_at(bytes, 356, &with_tail));
    assert_true(etl_buffer_may_end_at(bytes, 380, &with_tail));
    assert_true(etl_buffer_may_end_at(bytes, 406, &limits));
    assert_false(etl_buffer_may_end_at(bytes, 407, &with_tail));
    assert_false(etl_buffer_may_end_at(bytes, 99, &with_tail));
    assert_false(etl_buffer_may_end_at(bytes, 101, &with_tail));
    assert_false(etl_buffer_may_end_at(bytes, 356, &limits));
    hand_free(&file);
}

/* Searches 300 bytes of data, a buffer broken by setting a u32 when `offset` is
 * not 0, and 300 bytes more. */
static u64 find(size_t offset, u32 value, const etl_buffer_limits *within)
{
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 301);
    put_buffer(&file);
    hand_fill(&file, 0x55, 300);
    if (offset != 0)
        hand_set_u32(&file, 301 + offset, value);
    const u64 found = etl_buffer_find_next(hand_view(&file), 0, within);
    hand_free(&file);
    return found;
}

static void the_search_finds_a_buffer_at_any_offset(void **state)
{
    (void)state;
    assert_int_equal(find(0, 0, &limits), 301);
    hand_bytes file = { 0 };
    for (size_t distance = 1; distance < 20; distance++) {
        hand_free(&file);
        hand_fill(&file, 0x55, 50 + distance);
        put_buffer(&file);
        assert_int_equal(etl_buffer_find_next(hand_view(&file), 50, &limits), 50 + distance);
    }
    hand_free(&file);
}

static void the_search_keeps_to_the_largest_size_accepted(void **state)
{
    (void)state;
    etl_buffer_limits small = limits;
    small.size_max = 256;
    assert_int_equal(find(0, 0, &small), 301);
    small.size_max = 255;
    assert_int_equal(find(0, 0, &small), 301 + 256 + 300);
}

static void the_search_passes_over_headers_in_doubt(void **state)
{
    (void)state;
    const u64 end = 301 + 256 + 300;
    assert_int_equal(find(0x0c, 1, &limits), end);          /* a reference count */
    assert_int_equal(find(0x1c, 1, &limits), 301);          /* sequence 2^32 */
    assert_int_equal(find(0x1c, 0x80000000, &limits), end); /* a negative sequence */
    assert_int_equal(find(0x1c, 0x00001000, &limits), end); /* one beyond all sessions */
    assert_int_equal(find(0x34, 8 << 16, &limits), end);    /* the type */
    assert_int_equal(find(0x48, 0x55555555, &limits), end); /* the first record */
    assert_int_equal(find(0x48, 0x900c0028, &limits), 301); /* a WPP message is one */
    assert_int_equal(find(0x48, 0x800c0028, &limits), end); /* an unknown kind proves nothing */
}

static void a_buffer_cut_off_by_the_end_is_not_found(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 301);
    put_buffer(&file);
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &limits), 301);
    file.size--;
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &limits), file.size);
    hand_free(&file);
}

static void what_follows_a_header_may_prove_it(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 301);
    put_buffer(&file);
    hand_set_u32(&file, 301 + 72, 0x55555555);
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &limits), 301); /* the end */
    put_buffer(&file);
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &limits), 301); /* a buffer */
    hand_free(&file);
}

static void the_next_multiple_is_tried_first(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 100);
    put_buffer(&file); /* would be found by the search */
    hand_fill(&file, 0x55, 1000 - file.size);
    put_buffer(&file);
    hand_set_u32(&file, 1000 + 0x0c, 1); /* would not */
    etl_buffer_limits with_nominal = limits;
    with_nominal.size_nominal = 500;
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 500, &with_nominal), 1000);
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &with_nominal), 100);
    hand_free(&file);
}

static void the_search_stops_at_the_zero_tail(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 300);
    hand_fill(&file, 0, 300);
    etl_buffer_limits with_tail = limits;
    with_tail.zero_from = 300;
    assert_int_equal(etl_buffer_find_next(hand_view(&file), 0, &with_tail), 300);
    hand_free(&file);
}

static void the_search_always_moves_on(void **state)
{
    (void)state;
    hand_bytes file = { 0 };
    hand_fill(&file, 0x55, 10);
    for (u64 broken = 0; broken < 10; broken++)
        assert_true(etl_buffer_find_next(hand_view(&file), broken, &limits) > broken);
    hand_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_from_their_places),
        cmocka_unit_test(each_field_of_a_header_must_make_sense),
        cmocka_unit_test(a_compressed_buffer_may_hold_more_than_its_size),
        cmocka_unit_test(a_buffer_may_end_where_something_sound_begins),
        cmocka_unit_test(the_search_finds_a_buffer_at_any_offset),
        cmocka_unit_test(the_search_keeps_to_the_largest_size_accepted),
        cmocka_unit_test(the_search_passes_over_headers_in_doubt),
        cmocka_unit_test(a_buffer_cut_off_by_the_end_is_not_found),
        cmocka_unit_test(what_follows_a_header_may_prove_it),
        cmocka_unit_test(the_next_multiple_is_tried_first),
        cmocka_unit_test(the_search_stops_at_the_zero_tail),
        cmocka_unit_test(the_search_always_moves_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
