/*
 * Goal: records are named and classed by hook id or GUID, whether they decode
 * or not, and the const tables behind that hold together.
 * Method: walks all hook ids, all class GUIDs and all kinds of event, and some
 * records by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parser/etl/event_class.h"
#include "parser/parser.h"

static etl_record classic_record(const u8 *guid, u8 type)
{
    return (etl_record){
        .header = ETL_HEADER_FULL64, .pointer_bytes = 8, .opcode = type, .provider = guid
    };
}

/* The GUID of a class, as a record would hold it. */
static const u8 *guid_of(u8 class_number)
{
    for (size_t i = 0; i < etl_class_row_count(); i++) {
        if (etl_class_row_at(i)->class_number == class_number)
            return etl_class_row_at(i)->guid.bytes;
    }
    return NULL;
}

/* The search halves the table, so a row out of order would not be found. */
static void every_class_guid_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < etl_class_row_count(); i++) {
        const etl_class_row *const row = etl_class_row_at(i);
        assert_ptr_equal(etl_class_of_guid(row->guid.bytes), row);
        assert_true(row->class_number < ETL_CLASS_COUNT || row->class_number == ETL_CLASS_NONE);
    }
}

static void guids_that_differ_in_one_byte_are_not_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(etl_guid); i++) {
        etl_guid guid = etl_class_row_at(11)->guid;
        guid.bytes[i] ^= 0x80;
        assert_null(etl_class_of_guid(guid.bytes));
    }
}

/* Written down once more, as documentation has them. */
static void every_class_has_the_guid_that_is_published(void **state)
{
    (void)state;
    static const struct {
        u8 class_number;
        const char *guid;
    } rows[] = {
        { 0x00, "68fdd900-4a3e-11d1-84f4-0000f80464e3" },
        { 0x01, "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c" },
        { 0x02, "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c" },
        { 0x03, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c" },
        { 0x04, "90cbdc39-4a3e-11d1-84f4-0000f80464e3" },
        { 0x05, "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c" },
        { 0x06, "9a280ac0-c8e0-11d1-84e2-00c04fb998a2" },
        { 0x07, "3282fc76-feed-498e-8aa7-e70f459d430e" },
        { 0x08, "bf3a50c5-a9c9-4988-a005-2df0b7c80f80" },
        { 0x09, "ae53722e-c863-11d2-8659-00c04fa321a1" },
        { 0x0a, "13976d09-a327-438c-950b-7f03192815c7" },
        { 0x0b, "01853a65-418f-4f36-aefc-dc0f1d2fd235" },
        { 0x0c, "99134383-5248-43fc-834b-529454e75df3" },
        { 0x0d, "42695762-ea50-497a-9068-5cbbb35e0b95" },
        { 0x0e, "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf" },
        { 0x0f, "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc" },
        { 0x10, "222962ab-6180-4b88-a825-346b75f2a24a" },
        { 0x11, "89497f50-effe-4440-8cf2-ce6b1cdcaca7" },
        { 0x12, "e43445e0-0903-48c3-b878-ff0fccebdd04" },
        { 0x13, "a9152f00-3f58-4bee-92a1-70c7d079d5dd" },
        { 0x14, "2cb15d1d-5fc1-11d2-abe1-00a0c911f518" },
        { 0x15, "b2d14872-7c5b-463d-8419-ee9bf7d23e04" },
        { 0x16, "7687a439-f752-45b8-b741-321aec0f8df9" },
        { 0x17, "3ac66736-cc59-4cff-8115-8df50e39816b" },
        { 0x18, "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3" },
        { 0x19, "9aec974b-5b8e-4118-9b92-3186d8002ce5" },
        { 0x1a, "45d8cccd-539f-4b72-a8b7-5c683142609a" },
        { 0x1b, "d837ca92-12b9-44a5-ad6a-3a65b3578aa8" },
        { 0x1c, "c861d0e2-a2c1-4d36-9f9c-970bab943a12" },
        { 0x1d, "7f2a405c-69b5-4bf9-a1f5-30e8f1afab5e" },
        { 0x1e, "2ce9a149-effe-42f0-a635-a1d39e26c8f2" },
        { ETL_CLASS_IMAGE_ID, "b3e675d7-2554-4f18-830b-2762732560de" },
        { ETL_CLASS_SYSCONFIG_EX, "9b79ee91-b5fd-41c0-a243-4248e266e9d0" },
        { ETL_CLASS_METADATA, "bbccf6c1-6cd1-48c4-80ff-839482e37671" },
        { ETL_CLASS_WINSAT, "ed54dff8-c409-4cf6-bf83-05e1e61a09c4" },
        { ETL_CLASS_PERFTRACK, "bf6ef1cb-89b5-0490-80ac-b180cfbcff0f" },
        { ETL_CLASS_LOST_EVENT, "6a399ae0-4bc6-4de9-870b-3657f8947e7e" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char text[ETL_GUID_TEXT_SIZE];
        assert_non_null(guid_of(rows[i].class_number));
        etl_guid_format(guid_of(rows[i].class_number), text);
        assert_string_equal(text, rows[i].guid);
    }
}

static void names_of_hooks_are_class_and_type(void **state)
{
    (void)state;
    size_t named = 0;
    for (u32 hook = 0; hook <= UINT16_MAX; hook++) {
        const char *const name = etl_hook_name((u16)hook);
        if (name == NULL)
            continue;
        named++;
        const char *const slash = strchr(name, '/');
        assert_true(slash != NULL && slash > name && slash[1] != '\0');
        assert_null(strpbrk(name, " \"\\"));
    }
    assert_true(named > 200);
}

/* Numbers above the kernel's groups are ours for injected classes, no hooks. */
static void hooks_of_no_known_group_have_no_name(void **state)
{
    (void)state;
    for (u32 hook = ETL_CLASS_HOOK_COUNT << 8; hook <= UINT16_MAX; hook++)
        assert_null(etl_hook_name((u16)hook));
    assert_null(etl_hook_name(0x10ff));
}

static void names_are_those_the_tools_show(void **state)
{
    (void)state;
    assert_string_equal(etl_hook_name(0x0441), "FileIo/Cleanup");
    assert_string_equal(etl_hook_name(0x0444), "FileIo/Write");
    assert_string_equal(etl_hook_name(0x044a), "FileIo/QueryInfo");
    assert_string_equal(etl_hook_name(0x044c), "FileIo/OperationEnd");
    assert_string_equal(etl_hook_name(ETL_HOOK_HEAP_ALLOC), "Heap/Alloc");
    assert_string_equal(etl_hook_name(ETL_HOOK_VIRTUAL_ALLOC), "PageFault/VirtualAlloc");
    assert_string_equal(etl_hook_name(ETL_HOOK_PROCESS_DCSTART), "Process/DCStart");
    assert_string_equal(etl_hook_name(ETL_HOOK_STACK), "StackWalk/Stack");
    assert_string_equal(etl_hook_name(0x0f2e), "PerfInfo/SampleProf");
    assert_string_equal(etl_hook_name(0x0000), "EventTrace/Header");
}

static void classic_records_are_named_like_hooks(void **state)
{
    (void)state;
    for (u8 number = 0; number < ETL_CLASS_HOOK_COUNT; number++) {
        for (u32 type = 0; type < 256; type++) {
            const etl_record record = classic_record(guid_of(number), (u8)type);
            u16 hook = 0;
            assert_true(etl_record_hook(&record, &hook));
            assert_ptr_equal(etl_record_name(&record), etl_hook_name(hook));
            assert_false(etl_record_is_injected(&record));
        }
    }
}

static void injected_records_have_names_but_no_hooks(void **state)
{
    (void)state;
    static const struct {
        u8 class_number;
        u8 type;
        const char *name;
    } rows[] = {
        { ETL_CLASS_IMAGE_ID, 0x24, "ImageID/DbgID_RSDS" },
        { ETL_CLASS_SYSCONFIG_EX, 0x23, "SysConfigEx/VolumeMapping" },
        { ETL_CLASS_METADATA, 0x20, "MetaData/EventInfo" },
        { ETL_CLASS_WINSAT, 0x25, "WinSat/SystemConfig" },
        { ETL_CLASS_PERFTRACK, 0x20, NULL },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etl_record record = classic_record(guid_of(rows[i].class_number), rows[i].type);
        const char *const name = etl_record_name(&record);
        u16 hook = 0;
        assert_true(etl_record_is_injected(&record));
        assert_false(etl_record_hook(&record, &hook));
        assert_true(rows[i].name == NULL ? name == NULL : strcmp(name, rows[i].name) == 0);
    }
}

static void lost_event_records_are_not_injected(void **state)
{
    (void)state;
    const etl_record record = classic_record(guid_of(ETL_CLASS_LOST_EVENT), 33);
    assert_false(etl_record_is_injected(&record));
    assert_string_equal(etl_record_name(&record), "Lost_Event/RTLostBuffer");
}

/* Modern events of a class GUID have ids, not types. */
static void modern_events_are_named_by_their_provider(void **state)
{
    (void)state;
    static const u8 heap_snapshot[16] = { 0xfa, 0x2a, 0x1d, 0x90, 0xf6, 0x4f, 0xd7, 0x46,
                                          0x8d, 0x0e, 0x53, 0x64, 0x5e, 0x1a, 0x47, 0xf5 };
    etl_record record = classic_record(heap_snapshot, 0);
    record.header = ETL_HEADER_EVENT64;
    assert_string_equal(etl_record_name(&record), "Microsoft-Windows-Heap-Snapshot");
    record.provider = guid_of(ETL_CLASS_IMAGE_ID);
    assert_false(etl_record_is_injected(&record));
    u16 hook = 0;
    record.provider = guid_of(ETL_CLASS_HEAP);
    assert_false(etl_record_hook(&record, &hook));
}

/* Providers are in traces by GUID alone; a name belongs to one of them. */
static void providers_have_the_name_that_windows_registers(void **state)
{
    (void)state;
    static const struct {
        u8 guid[16];
        const char *name;
    } rows[] = {
        { { 0x27, 0x89, 0xd0, 0xed, 0xc4, 0x9c, 0x65, 0x4e, 0xb9, 0x70, 0xc2, 0x56, 0x0f, 0xb5,
            0xc2, 0x89 },
          "Microsoft-Windows-Kernel-File" },
        { { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee,
            0x27, 0xe4 },
          "Microsoft-Windows-DotNETRuntime" },
        { { 0xd9, 0x80, 0x4f, 0x4d, 0xbd, 0xc8, 0x73, 0x4d, 0xbb, 0x5b, 0x19, 0xc9, 0x04, 0x02,
            0xc5, 0xac },
          "Microsoft-Windows-PktMon" },
    };
    static const u8 unknown[16] = { 1 };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_string_equal(etl_provider_name(rows[i].guid), rows[i].name);
    assert_null(etl_provider_name(unknown));
    for (size_t i = 0; i < etl_class_row_count(); i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(etl_class_row_at(i)->name, etl_class_row_at(k)->name);
    }
}

static void records_without_a_known_guid_have_no_name(void **state)
{
    (void)state;
    static const u8 unknown[16] = { 1 };
    etl_record record = classic_record(unknown, 0);
    assert_null(etl_record_name(&record));
    record.provider = NULL;
    assert_null(etl_record_name(&record));
    record.header = ETL_HEADER_MESSAGE;
    record.provider = guid_of(ETL_CLASS_HEAP);
    assert_null(etl_record_name(&record));
}

static void a_hook_record_has_its_own_hook_even_of_an_unknown_group(void **state)
{
    (void)state;
    const etl_record record = { .has_hook = true, .hook = 0x2024, .header = ETL_HEADER_PERFINFO64 };
    u16 hook = 0;
    assert_true(etl_record_hook(&record, &hook));
    assert_int_equal(hook, 0x2024);
    assert_null(etl_record_name(&record));
    assert_false(etl_record_is_injected(&record));
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_false(etl_decode(&record, &event, &diag));
    assert_int_equal(diag.of[ETL_DIAG_event_truncated], 0);
}

static void every_kind_of_event_has_fields(void **state)
{
    (void)state;
    for (int kind = ETL_EVENT_NONE + 1; kind < ETL_EVENT_KIND_COUNT; kind++) {
        const etl_event_info *const info = etl_event_describe((etl_event_kind)kind);
        assert_true(info->field_count > 0);
        for (size_t i = 0; i < info->field_count; i++) {
            assert_non_null(info->fields[i].name);
            assert_true(info->fields[i].offset >= offsetof(etl_event, as));
            assert_true(info->fields[i].offset < sizeof(etl_event));
        }
    }
    assert_int_equal(etl_event_describe(ETL_EVENT_NONE)->field_count, 0);
}

/* Tries all keys with a payload of zeros, which is long enough for every event. */
static void every_kind_is_decoded_and_named(void **state)
{
    (void)state;
    static const u8 payload[1024] = { 0 };
    bool seen[ETL_EVENT_KIND_COUNT] = { false };
    for (u8 number = 0; number < ETL_CLASS_COUNT; number++) {
        for (u32 type = 0; guid_of(number) != NULL && type < 256; type++) {
            etl_record record = classic_record(guid_of(number), (u8)type);
            if (number >= ETL_CLASS_PROVIDERS)
                record = (etl_record){ .header = ETL_HEADER_EVENT64,
                                       .pointer_bytes = 8,
                                       .id = (u16)type,
                                       .provider = guid_of(number) };
            record.payload = (etl_bytes){ payload, sizeof payload };
            etl_event event;
            etl_diag_counts diag = { { 0 } };
            if (!etl_decode(&record, &event, &diag))
                continue;
            seen[event.kind] = true;
            assert_non_null(etl_record_name(&record));
        }
    }
    /* Custom allocators' have no rows: test_custom_events.c. */
    for (int kind = ETL_EVENT_NONE + 1; kind < ETL_EVENT_CUSTOM_ALLOC; kind++)
        assert_true(seen[kind]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_guid_is_found),
        cmocka_unit_test(guids_that_differ_in_one_byte_are_not_found),
        cmocka_unit_test(every_class_has_the_guid_that_is_published),
        cmocka_unit_test(names_of_hooks_are_class_and_type),
        cmocka_unit_test(hooks_of_no_known_group_have_no_name),
        cmocka_unit_test(names_are_those_the_tools_show),
        cmocka_unit_test(classic_records_are_named_like_hooks),
        cmocka_unit_test(injected_records_have_names_but_no_hooks),
        cmocka_unit_test(lost_event_records_are_not_injected),
        cmocka_unit_test(modern_events_are_named_by_their_provider),
        cmocka_unit_test(providers_have_the_name_that_windows_registers),
        cmocka_unit_test(records_without_a_known_guid_have_no_name),
        cmocka_unit_test(a_hook_record_has_its_own_hook_even_of_an_unknown_group),
        cmocka_unit_test(every_kind_of_event_has_fields),
        cmocka_unit_test(every_kind_is_decoded_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
