/*
 * Goal: events that describe themselves give names and values, one field can be asked for by
 * its name, and no damage of a description or a payload does harm.
 * Method: a TraceLogging event and an EventInfo written byte by byte, from the layouts in
 * layout_descriptions.h; then every cut, and every byte changed. The values of all types
 * are compared by oracles/oracle_described.py, with a writer of its own and real traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/etl/layout.h"
#include "parser/parser.h"

#define SHOWN_SIZE 4096

static const u8 provider[16] = "0123456789abcde";

/* An EVENT record with the item of a schema, whose bytes begin with their size. */
typedef struct told {
    u8 items[512];
    size_t items_size;
    etl_record record;
} told;

static void put_u16(u8 *at, size_t value)
{
    at[0] = (u8)value;
    at[1] = (u8)(value >> 8);
}

/* One item of a record: header, data that begins with its own size, padding. */
static void add_item(told *out, u16 type, const void *data, size_t size, bool has_more)
{
    u8 *const at = out->items + out->items_size;
    const size_t padded = (ETL_ITEM_HEADER_BYTES + 2 + size + 7) / 8 * 8;
    put_u16(at, padded);
    put_u16(at + 2, type);
    put_u16(at + 4, has_more);
    put_u16(at + 6, 2 + size);
    put_u16(at + 8, 2 + size);
    memcpy(at + 10, data, size);
    out->items_size += padded;
}

static void tell(told *out, const void *schema, size_t schema_size, etl_bytes payload)
{
    static const char name[] = "Demo";
    memset(out, 0, sizeof *out);
    add_item(out, ETL_ITEM_PROVIDER_TRAITS, name, sizeof name, true);
    add_item(out, ETL_ITEM_SCHEMA_TL, schema, schema_size, false);
    out->record = (etl_record){ .header = ETL_HEADER_EVENT64,
                                .pointer_bytes = 8,
                                .provider = provider,
                                .payload = payload,
                                .items = { out->items, out->items_size } };
}

static void add_text(char *shown, etl_text text)
{
    char utf8[256];
    if (text.is_utf16)
        etl_utf16_to_utf8(text.bytes, utf8, sizeof utf8);
    else
        etl_text_to_utf8(text.bytes, utf8, sizeof utf8);
    strncat(shown, utf8, SHOWN_SIZE - strlen(shown) - 1);
}

/* "a=1 b={c='x'} d=[1 2]", and the diagnostics of the walk. */
static void show(const told *event, char shown[SHOWN_SIZE], etl_diag_counts *diag)
{
    etl_description description;
    etl_walk walk;
    etl_step step;
    u32 open = 0;
    shown[0] = '\0';
    if (!etl_description_of_record(&event->record, &description, diag))
        return;
    etl_walk_begin(&walk, &event->record, &description, diag);
    while (etl_walk_next(&walk, &step)) {
        char value[64] = "";
        open += step.kind == ETL_STEP_ARRAY || step.kind == ETL_STEP_STRUCT;
        if (step.kind == ETL_STEP_CLOSE) {
            assert_true(open > 0);
            open--;
            strncat(shown, "} ", SHOWN_SIZE - strlen(shown) - 1);
            continue;
        }
        add_text(shown, step.name);
        if (step.kind != ETL_STEP_VALUE)
            snprintf(value, sizeof value, step.kind == ETL_STEP_ARRAY ? "[" : "{");
        else if (step.value.type <= ETL_VALUE_BOOL)
            snprintf(value, sizeof value, "=%lld ", (long long)step.value.number);
        else
            snprintf(value, sizeof value, "=%u bytes ", (unsigned)step.value.bytes.size);
        strncat(shown, value, SHOWN_SIZE - strlen(shown) - 1);
    }
    assert_int_equal(open, 0);
    assert_false(etl_walk_next(&walk, &step));
}

/* Tags, then: u32 size; struct where { text module; array of u16 lines }; u8 left out. */
static const char schema[] = "\0Alloc\0"
                             "size\0\x08"
                             "where\0\x98\x02"
                             "module\0\x02"
                             "lines\0\x46"
                             "kind\0\x04";
static const u8 payload[] = "\x10\0\0\0"
                            "a.dll\0"
                            "\x02\0\x07\0\x08\0"
                            "\x05";

static const etl_bytes whole = { payload, sizeof payload - 1 };

static void a_tracelogging_event_gives_names_and_values(void **state)
{
    (void)state;
    told event;
    char shown[SHOWN_SIZE];
    etl_diag_counts diag = { { 0 } };
    etl_description description;
    tell(&event, schema, sizeof schema - 1, whole);
    show(&event, shown, &diag);
    assert_string_equal(shown, "size=16 where{module=5 bytes lines[=7 =8 } } kind=5 ");
    assert_true(etl_description_of_record(&event.record, &description, &diag));
    assert_int_equal(description.provider.bytes.size, 4);
    assert_memory_equal(description.provider.bytes.at, "Demo", 4);
    assert_memory_equal(description.event.bytes.at, "Alloc", 5);
    assert_int_equal(diag.of[ETL_DIAG_description_invalid], 0);
}

static void one_field_is_found_by_its_name(void **state)
{
    (void)state;
    told event;
    etl_diag_counts diag = { { 0 } };
    etl_description description;
    etl_value value;
    tell(&event, schema, sizeof schema - 1, whole);
    assert_true(etl_description_of_record(&event.record, &description, &diag));
    assert_true(etl_described_value(&event.record, &description, "SIZE", &value));
    assert_int_equal(value.number, 16);
    assert_true(etl_described_value(&event.record, &description, "where.module", &value));
    assert_memory_equal(value.bytes.at, "a.dll", 5);
    assert_true(etl_described_value(&event.record, &description, "where.lines", &value));
    assert_int_equal(value.number, 7);
    assert_true(etl_described_value(&event.record, &description, "kind", &value));
    assert_int_equal(value.number, 5);
    static const char *const none[] = { "",       "siz",        "sizes",          "module", "where",
                                        "where.", "where.kind", "where.module.x", ".size" };
    for (size_t i = 0; i < ETL_COUNT_OF(none); i++) {
        if (etl_described_value(&event.record, &description, none[i], &value))
            fail_msg("found '%s'", none[i]);
    }
}

static void a_payload_that_is_cut_shows_what_is_there(void **state)
{
    (void)state;
    for (size_t size = 0; size < whole.size; size++) {
        told event;
        char shown[SHOWN_SIZE];
        etl_diag_counts diag = { { 0 } };
        u8 *const bytes = malloc(size + 1);
        assert_non_null(bytes);
        memcpy(bytes, payload, size);
        tell(&event, schema, sizeof schema - 1, (etl_bytes){ bytes, size });
        show(&event, shown, &diag);
        /* A text without its NUL is a text: that cut alone leaves nothing out. */
        assert_int_equal(diag.of[ETL_DIAG_description_mismatch], 1);
        assert_int_equal(diag.of[ETL_DIAG_description_invalid], 0);
        free(bytes);
    }
}

/* Cut metadata that still names an event is a description of fewer fields; else it is
 * counted. */
static void metadata_that_is_cut_or_changed_does_no_harm(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof schema - 1; size++) {
        told event;
        char shown[SHOWN_SIZE];
        etl_diag_counts diag = { { 0 } };
        tell(&event, schema, size, whole);
        show(&event, shown, &diag);
        assert_true(diag.of[ETL_DIAG_description_invalid] <= 1);
    }
    for (size_t i = 0; i < sizeof schema - 1; i++) {
        for (unsigned change = 1; change < 256; change++) {
            told event;
            char changed[sizeof schema];
            char shown[SHOWN_SIZE];
            etl_diag_counts diag = { { 0 } };
            memcpy(changed, schema, sizeof schema);
            changed[i] = (char)(changed[i] ^ (int)change);
            tell(&event, changed, sizeof schema - 1, whole);
            show(&event, shown, &diag);
        }
    }
}

/* Arrays of arrays of nothing would go on for hours. */
static void structures_that_multiply_come_to_an_end(void **state)
{
    (void)state;
    static const char multiplied[] = "\0E\0"
                                     "a\0\xb8\x01\xff\xff"
                                     "b\0\xb8\x01\xff\xff"
                                     "c\0\xb8\x01\xff\xff"
                                     "d\0\x20\xff\xff";
    told event;
    etl_description description;
    etl_walk walk;
    etl_step step;
    etl_diag_counts diag = { { 0 } };
    u32 steps = 0, open = 0;
    tell(&event, multiplied, sizeof multiplied - 1, whole);
    assert_true(etl_description_of_record(&event.record, &description, &diag));
    for (etl_walk_begin(&walk, &event.record, &description, &diag); etl_walk_next(&walk, &step);
         steps++) {
        open += step.kind == ETL_STEP_ARRAY || step.kind == ETL_STEP_STRUCT;
        open -= step.kind == ETL_STEP_CLOSE;
    }
    assert_int_equal(open, 0);
    assert_true(steps < 1u << 21);
    assert_int_equal(diag.of[ETL_DIAG_description_invalid], 1);
}

static void deep_structures_are_refused(void **state)
{
    (void)state;
    char deep[3 + 4 * 40];
    memcpy(deep, "\0E\0", 3);
    for (size_t i = 0; i < 40; i++)
        memcpy(deep + 3 + 4 * i, "x\0\x98\x01", 4);
    told event;
    char shown[SHOWN_SIZE];
    etl_diag_counts diag = { { 0 } };
    tell(&event, deep, sizeof deep, whole);
    show(&event, shown, &diag);
    assert_int_equal(diag.of[ETL_DIAG_description_invalid], 1);
}

/* --- EventInfo ------------------------------------------------------------------------- */

#define INFO_SIZE (112 + 3 * 24 + 40)

static void put_u32(u8 *at, u32 value)
{
    put_u16(at, value & 0xffff);
    put_u16(at + 2, value >> 16);
}

static void put_property(u8 *at, u32 flags, u32 type_or_first, u32 count, u32 length)
{
    put_u32(at, flags);
    put_u32(at + 4, 112 + 3 * 24);
    put_u32(at + 8, type_or_first);
    put_u16(at + 16, count);
    put_u16(at + 18, length);
}

/* u8 n, then n bytes, then a text of n characters: all called "ab". */
static void make_info(u8 info[INFO_SIZE])
{
    memset(info, 0, INFO_SIZE);
    memcpy(info, provider, 16);
    put_u16(info + 0x20, 77);
    info[0x22] = 3;
    put_u32(info + 0x34, 112 + 3 * 24);
    put_u32(info + 0x64, 3);
    put_u32(info + 0x68, 3);
    put_property(info + 112, 0, 4, 1, 1);
    put_property(info + 112 + 24, 2, 14, 1, 0);
    put_property(info + 112 + 48, 2, 1, 1, 0);
    memcpy(info + 112 + 3 * 24, "a\0b\0\0", 6);
}

static void an_info_names_its_event_and_lengths_are_other_fields(void **state)
{
    (void)state;
    u8 info[INFO_SIZE];
    etl_event_id id, of_record;
    etl_description description;
    etl_walk walk;
    etl_step step;
    etl_diag_counts diag = { { 0 } };
    const etl_record record = { .header = ETL_HEADER_EVENT64,
                                .id = 77,
                                .version = 3,
                                .pointer_bytes = 8,
                                .provider = provider,
                                .payload = { (const u8 *)"\x02zyh\0i\0more", 11 } };
    make_info(info);
    assert_true(etl_description_of_info((etl_bytes){ info, sizeof info }, &id, &description));
    assert_true(etl_event_id_of_record(&record, &of_record));
    assert_memory_equal(&id, &of_record, sizeof id);
    static const struct {
        u8 type;
        size_t size;
        const char *bytes;
    } wanted[] = { { ETL_VALUE_UNSIGNED, 0, "" },
                   { ETL_VALUE_BYTES, 2, "zy" },
                   { ETL_VALUE_TEXT16, 4, "h\0i\0" },
                   { ETL_VALUE_BYTES, 4, "more" } };
    etl_walk_begin(&walk, &record, &description, &diag);
    for (size_t i = 0; i < ETL_COUNT_OF(wanted); i++) {
        assert_true(etl_walk_next(&walk, &step));
        assert_int_equal(step.value.type, wanted[i].type);
        assert_int_equal(step.value.bytes.size, wanted[i].size);
        assert_true(wanted[i].size == 0 ||
                    memcmp(step.value.bytes.at, wanted[i].bytes, wanted[i].size) == 0);
    }
    assert_false(etl_walk_next(&walk, &step));
    assert_int_equal(diag.of[ETL_DIAG_description_mismatch], 0);
}

static void an_info_that_is_cut_or_changed_does_no_harm(void **state)
{
    (void)state;
    u8 info[INFO_SIZE];
    make_info(info);
    for (size_t size = 0; size <= sizeof info; size++) {
        for (unsigned change = 0; change < 256; change += size == sizeof info ? 1 : 256) {
            for (size_t at = 0; at < (size == sizeof info ? size : 1); at++) {
                etl_event_id id;
                etl_description description;
                etl_walk walk;
                etl_step step;
                etl_diag_counts diag = { { 0 } };
                u8 *const bytes = malloc(size + 1);
                assert_non_null(bytes);
                memcpy(bytes, info, size);
                if (size > 0)
                    bytes[at] ^= (u8)change;
                const etl_record record = { .provider = provider, .payload = whole };
                if (etl_description_of_info((etl_bytes){ bytes, size }, &id, &description)) {
                    u32 steps = 0;
                    etl_walk_begin(&walk, &record, &description, &diag);
                    while (etl_walk_next(&walk, &step))
                        steps++;
                    assert_true(steps < 1u << 21);
                }
                free(bytes);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tracelogging_event_gives_names_and_values),
        cmocka_unit_test(one_field_is_found_by_its_name),
        cmocka_unit_test(a_payload_that_is_cut_shows_what_is_there),
        cmocka_unit_test(metadata_that_is_cut_or_changed_does_no_harm),
        cmocka_unit_test(structures_that_multiply_come_to_an_end),
        cmocka_unit_test(deep_structures_are_refused),
        cmocka_unit_test(an_info_names_its_event_and_lengths_are_other_fields),
        cmocka_unit_test(an_info_that_is_cut_or_changed_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
