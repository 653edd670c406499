/*
 * test_custom_events.c - events of custom allocators: the built-in rows, rows from text, and
 * the stacks that events have inside.
 *
 * Payloads are written out byte by byte from the published manifests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "parser/base.h"
#include "parser/parser.h"

/* 138f4dbb-ee04-4899-aa0a-572ad4475779 */
static const u8 mimalloc[16] = { 0xbb, 0x4d, 0x8f, 0x13, 0x04, 0xee, 0x99, 0x48,
                                 0xaa, 0x0a, 0x57, 0x2a, 0xd4, 0x47, 0x57, 0x79 };
/* 8819ca17-7faa-4184-afb7-a4120ca793cd */
static const u8 pix[16] = { 0x17, 0xca, 0x19, 0x88, 0xaa, 0x7f, 0x84, 0x41,
                            0xaf, 0xb7, 0xa4, 0x12, 0x0c, 0xa7, 0x93, 0xcd };

static const u8 two_words[16] = { 0x40, 0x00, 0x02, 0x00, 0xf6, 0x7f, 0, 0,
                                  0x18, 0,    0,    0,    0,    0,    0, 0 };
static const u8 pix64[26] = { 0x03, 0x01, 0x40, 0, 2,    0, 0xf6, 0x7f, 0, 0, 0x00, 0x10, 0,
                              0,    0,    0,    0, 0x02, 0, 9,    9,    9, 9, 9,    9,    9 };
static const u8 pix32[22] = { 0x03, 0x01, 0x40, 0, 2, 0x10, 0x00, 0x10, 0, 0, 0,
                              0,    0,    0x02, 0, 9, 9,    9,    9,    9, 9, 9 };

static etl_record record_of(const u8 provider[16], u16 id, const u8 *payload, size_t size)
{
    return (etl_record){ .header = ETL_HEADER_EVENT64,
                         .pointer_bytes = 8,
                         .id = id,
                         .pid = 42,
                         .tid = 7,
                         .provider = provider,
                         .payload = { payload, size } };
}

static etl_event decode(const etl_record *record)
{
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_custom_decode(NULL, 0, record, &event, &diag));
    assert_int_equal(diag.of[ETL_DIAG_event_truncated], 0);
    return event;
}

static void expect(const etl_event *event, etl_event_kind kind, u64 address, u64 size)
{
    assert_int_equal(event->kind, kind);
    assert_int_equal(event->as.custom.address, address);
    assert_int_equal(event->as.custom.size_bytes, size);
}

static void mimalloc_is_paired_by_address(void **state)
{
    (void)state;
    etl_record record = record_of(mimalloc, 100, two_words, sizeof two_words);
    record.version = 1;
    etl_event event = decode(&record);
    expect(&event, ETL_EVENT_CUSTOM_ALLOC, 0x7ff600020040, 24);
    assert_false(event.as.custom.has_heap);
    assert_memory_equal(event.as.custom.allocator.at, "mimalloc", 8);
    record.id = 101; /* its size is what the block could hold, and is not told */
    event = decode(&record);
    expect(&event, ETL_EVENT_CUSTOM_FREE, 0x7ff600020040, 0);
    record.header = ETL_HEADER_EVENT32; /* the same in a 32-bit process */
    record.pointer_bytes = 4;
    event = decode(&record);
    expect(&event, ETL_EVENT_CUSTOM_FREE, 0x7ff600020040, 0);
}

static void pix_has_allocators_and_pointers(void **state)
{
    (void)state;
    etl_record record = record_of(pix, 16, pix64, sizeof pix64);
    etl_event event = decode(&record);
    expect(&event, ETL_EVENT_CUSTOM_ALLOC, 0x7ff600020040, UINT64_C(0x0200000000001000));
    assert_true(event.as.custom.has_heap);
    assert_int_equal(event.as.custom.heap, 0x103);
    record = record_of(pix, 17, pix32, sizeof pix32);
    record.header = ETL_HEADER_EVENT32;
    record.pointer_bytes = 4;
    event = decode(&record);
    expect(&event, ETL_EVENT_CUSTOM_FREE, 0x10020040, UINT64_C(0x0200000000001000));
    assert_int_equal(event.pointer_bytes, 4);
}

/* What follows the last value is not needed: the metadata of PIX is not read. */
static void short_payloads_are_counted(void **state)
{
    (void)state;
    const struct {
        const u8 *provider, *payload;
        u16 id;
        size_t needed;
    } cases[] = { { mimalloc, two_words, 100, 16 },
                  { mimalloc, two_words, 101, 8 },
                  { pix, pix64, 16, 18 },
                  { pix, pix64, 17, 18 } };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        for (size_t size = 0; size <= cases[i].needed; size++) {
            u8 *const copy = malloc(size + 1); /* for the sanitizers: not a byte more */
            etl_record record = record_of(cases[i].provider, cases[i].id, copy, size);
            etl_event event;
            etl_diag_counts diag = { { 0 } };
            assert_non_null(copy);
            memcpy(copy, cases[i].payload, size);
            const bool is_read = etl_custom_decode(NULL, 0, &record, &event, &diag);
            assert_int_equal(is_read, size >= cases[i].needed);
            assert_int_equal(event.kind == ETL_EVENT_NONE, !is_read);
            assert_int_equal(diag.of[ETL_DIAG_event_truncated], !is_read);
            free(copy);
        }
    }
}

static void other_records_are_none(void **state)
{
    (void)state;
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    etl_record record = record_of(mimalloc, 99, two_words, sizeof two_words);
    assert_false(etl_custom_decode(NULL, 0, &record, &event, &diag));
    record.id = 100;
    record.header = ETL_HEADER_FULL64; /* a class of that GUID, not a provider */
    assert_false(etl_custom_decode(NULL, 0, &record, &event, &diag));
    record.header = ETL_HEADER_EVENT64;
    record.provider = NULL;
    assert_false(etl_custom_decode(NULL, 0, &record, &event, &diag));
    assert_int_equal(diag.of[ETL_DIAG_event_truncated], 0);
}

/* --- rows from text ---------------------------------------------------------------------- */

static void built_in_rows_can_be_written(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "138F4DBB-EE04-4899-AA0A-572AD4475779:alloc=100(address@0:u64,size@8:u64),"
        "free=101(address@0:u64),name=mimalloc",
        "{8819ca17-7faa-4184-afb7-a4120ca793cd}:alloc=16(heap@0:u16,address@2:ptr,size@2+P:u64),"
        "free=17(heap@0:u16,address@2:ptr,size@2+P:u64),name=PIX",
    };
    for (u32 i = 0; i < etl_custom_allocator_count(); i++) {
        etl_custom_allocator row;
        assert_int_equal(etl_custom_parse(texts[i], &row, NULL), ETL_OK);
        assert_memory_equal(&row, etl_custom_allocator_at(i), sizeof row);
    }
    assert_null(etl_custom_allocator_at(etl_custom_allocator_count()));
}

static void rows_of_the_user_come_first(void **state)
{
    (void)state;
    etl_custom_allocator row;
    assert_int_equal(etl_custom_parse("microsoft-windows-MIMALLOC:free=101(address@8:u32),"
                                      "alloc=100(size@0:u16,address@4:u32)",
                                      &row, NULL),
                     ETL_OK);
    const etl_record record = record_of(mimalloc, 100, two_words, sizeof two_words);
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_custom_decode(&row, 1, &record, &event, &diag));
    expect(&event, ETL_EVENT_CUSTOM_ALLOC, 0x7ff6, 0x40);
    assert_memory_equal(event.as.custom.allocator.at, "custom", 7);
}

static void mistakes_are_named_with_their_place(void **state)
{
    (void)state;
#define GUID "8819ca17-7faa-4184-afb7-a4120ca793cd:"
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "", "the text ends at character 1: expected the GUID" },
        { "no-such-provider:alloc=1(",
          "'no-such-provider:alloc=1' at character 1: expected the GUID" },
        { "8819ca17-7faa-4184-afb7-a4120ca793cg:", "at character 1: expected the GUID" },
        { "8819ca17-7faa-4184-afb7-a4120ca793cd", "the text ends at character 37: expected ':'" },
        { GUID "allok=1", "'allok=1' at character 38: expected alloc=, free= or name=" },
        { GUID "alloc=x", "'x' at character 44: expected the number of an event" },
        { GUID "alloc=65536(", "'65536(' at character 44: expected the number of an event" },
        { GUID "alloc=1[", "'[' at character 45: expected '('" },
        { GUID "alloc=1(addr@0:u64", "'addr@0:u64' at character 46: expected address, size" },
        { GUID "alloc=1(address:u64", "':u64' at character 53: expected '@'" },
        { GUID "alloc=1(address@:u64", "':u64' at character 54: expected an offset" },
        { GUID "alloc=1(address@70000:u64", "at character 54: expected an offset" },
        { GUID "alloc=1(address@0u64", "'u64' at character 55: expected ':'" },
        { GUID "alloc=1(address@0:u8)", "'u8)' at character 56: expected u16, u32, u64 or ptr" },
        { GUID "alloc=1(address@0:u64 ", "expected ',' or ')'" },
        { GUID "alloc=1(address@0:u64,address@8:u64)",
          "at character 60: expected each value once" },
        { GUID "alloc=1(address@0:u64,size@8:u64)",
          "the text ends at character 71: expected free=" },
        { GUID "alloc=1(address@0:u64),free=2(address@0:u64)", "expected alloc=ID(...) with an" },
        { GUID "alloc=1(address@0:u64,size@8:u64),free=1(address@0:u64)", "different numbers" },
        { GUID "alloc=1(address@0:u64,size@8:u64,heap@16:u32),free=2(address@0:u64)", "in both" },
        { GUID "alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64);",
          "expected ',' or the end" },
        { GUID "name=", "the text ends at character 43: expected a name" },
        { GUID "name=ten_letters", "expected a name of 1 to 9" },
        { GUID "name=a!", "'!' at character 44: expected ',' or the end" },
        { GUID "alloc=1(address@0:u64,size@8:u64,heap@16:u32),free=2(address@0:u64,heap@8:u32),"
               "name=longname",
          "no more than 6 characters" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        etl_custom_allocator row;
        etl_error err = { .message = "" };
        assert_int_equal(etl_custom_parse(cases[i].text, &row, &err), ETL_ERR_ARGUMENT);
        if (strstr(err.message, cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].text, err.message);
    }
#undef GUID
}

/* --- stacks inside --------------------------------------------------------------------------- */

static void stacks_of_items_have_their_own_width(void **state)
{
    (void)state;
    static const u8 wide[28] = { 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
                                 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9 };
    static const u8 narrow[20] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0 };
    etl_item item = { .type = 6, .data = { wide, sizeof wide } };
    etl_item_stack stack;
    assert_true(etl_item_stack_of(&item, &stack));
    assert_int_equal(stack.match_id, 5);
    assert_int_equal(stack.frame_count, 2); /* and half a frame, which is none */
    assert_int_equal(etl_frame_at(stack.frames, stack.frame_bytes, 1), 2);
    item = (etl_item){ .type = 5, .data = { narrow, sizeof narrow } };
    assert_true(etl_item_stack_of(&item, &stack));
    assert_int_equal(stack.frame_bytes, 4);
    assert_int_equal(stack.frame_count, 2); /* zeros at the outer end are none */
    assert_false(stack.is_key);
}

static void items_that_are_no_stacks_are_refused(void **state)
{
    (void)state;
    static const u8 bytes[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x32, 0x54, 0x76, 0x98, 0, 0, 0 };
    static const struct {
        u16 type;
        size_t size;
        bool is_stack;
    } cases[] = { { 1, 16, false },    { 6, 7, false },     { 6, 8, true },
                  { 5, 8, true },      { 0x11, 11, false }, { 0x11, 12, true },
                  { 0x12, 15, false }, { 0x12, 16, true },  { 7, 16, false } };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        const etl_item item = { .type = cases[i].type, .data = { bytes, cases[i].size } };
        etl_item_stack stack;
        assert_int_equal(etl_item_stack_of(&item, &stack), cases[i].is_stack);
        if (cases[i].is_stack)
            assert_int_equal(stack.is_key, cases[i].type >= 0x11);
        if (cases[i].is_stack && stack.is_key)
            assert_int_equal(stack.key,
                             cases[i].type == 0x11 ? UINT64_C(0x76543210) : UINT64_C(0x9876543210));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mimalloc_is_paired_by_address),
        cmocka_unit_test(pix_has_allocators_and_pointers),
        cmocka_unit_test(short_payloads_are_counted),
        cmocka_unit_test(other_records_are_none),
        cmocka_unit_test(built_in_rows_can_be_written),
        cmocka_unit_test(rows_of_the_user_come_first),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(stacks_of_items_have_their_own_width),
        cmocka_unit_test(items_that_are_no_stacks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
