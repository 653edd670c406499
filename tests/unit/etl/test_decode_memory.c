/*
 * Goal: VirtualAlloc events, heap ranges and the memory samples decode as
 * layout_events.h says, and a count never reaches behind the payload.
 * Method: hand-written payloads with every field expected, the checks that
 * follow from any vector (decode_check.h), and hostile counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"

static const decode_vector vectors[] = {
    { .name = "virtual alloc",
      .key = ETL_HOOK_VIRTUAL_ALLOC,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00403b00 00600000 04180000 00100000",
      .event = "PageFault/VirtualAlloc base_address=0x3b4000 region_size=24576 process_id=6148 "
               "flags=0x1000",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual alloc, 64-bit",
      .key = ETL_HOOK_VIRTUAL_ALLOC,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003b40f77f0000 0000000001000000 04180000 00300000",
      .event = "PageFault/VirtualAlloc base_address=0x7ff7403b0000 region_size=4294967296 "
               "process_id=6148 flags=0x3000",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual free",
      .key = ETL_HOOK_VIRTUAL_FREE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00403b00 00f00000 04180000 00400000",
      .event = "PageFault/VirtualFree base_address=0x3b4000 region_size=61440 process_id=6148 "
               "flags=0x4000",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual free that releases and says its size, 32-bit",
      .key = ETL_HOOK_VIRTUAL_FREE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00004201 00000400 d80d0000 00800000",
      .event = "PageFault/VirtualFree base_address=0x1420000 region_size=262144 process_id=3544 "
               "flags=0x8000",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual free, 64-bit",
      .key = ETL_HOOK_VIRTUAL_FREE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003b40f77f0000 0000000000000000 04180000 00800000",
      .event = "PageFault/VirtualFree base_address=0x7ff7403b0000 region_size=0 process_id=6148 "
               "flags=0x8000",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual rundown at the start",
      .key = ETL_HOOK_VIRTUAL_ALLOC_DCSTART,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00403b00 00600000 04180000 00200000 00100000",
      .event = "PageFault/VirtualAllocDCStart base_address=0x3b4000 region_size=24576 "
               "process_id=6148 flags=0x2000 commit_size=4096",
      .least = WHOLE,
      .newest = true },
    { .name = "virtual rundown at the end, 64-bit",
      .key = ETL_HOOK_VIRTUAL_ALLOC_DCEND,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003b40f77f0000 0000000001000000 04180000 00200000 0010000002000000",
      .event = "PageFault/VirtualAllocDCEnd base_address=0x7ff7403b0000 region_size=4294967296 "
               "process_id=6148 flags=0x2000 commit_size=8589938688",
      .least = WHOLE,
      .newest = true },

    { .name = "heap range rundown before version 3",
      .key = ETL_HOOK_HEAP_RANGE_RUNDOWN,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 02000000 e1100000 02000000 00001f00 00000100 00002100 00100000",
      .event = "HeapRange/Rundown heap_handle=0x1f0000 flags=0x2 process_id=4321 range_count=2 "
               "ranges=0x1f0000,0x10000,0x210000,0x1000",
      .least = WHOLE,
      .open_ended = true },
    { .name = "heap range rundown before version 3 without ranges, 64-bit",
      .key = ETL_HOOK_HEAP_RANGE_RUNDOWN,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 02000000 e1100000 00000000",
      .event = "HeapRange/Rundown heap_handle=0x1d8a0b00000 flags=0x2 process_id=4321 "
               "range_count=0 ranges=",
      .least = WHOLE },
    { .name = "heap range rundown before version 3 whose length has room for Reserved",
      .key = ETL_HOOK_HEAP_RANGE_RUNDOWN,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 02000000 e1100000 01000000 99999999 0000b0a0d8010000 "
             "0000100000000000",
      .event = "HeapRange/Rundown heap_handle=0x1d8a0b00000 flags=0x2 process_id=4321 "
               "range_count=1 ranges=0x1d8a0b00000,0x100000",
      /* Four bytes less fit the count without the field, and nothing tells. */
      .least = 36,
      .open_ended = true },
    { .name = "heap range rundown version 3",
      .key = ETL_HOOK_HEAP_RANGE_RUNDOWN,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00001f00 02000000 e1100000 01000000 99999999 00001f00 00000100",
      .event = "HeapRange/Rundown heap_handle=0x1f0000 flags=0x2 process_id=4321 range_count=1 "
               "ranges=0x1f0000,0x10000",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range rundown version 3 without ranges, 64-bit",
      .key = ETL_HOOK_HEAP_RANGE_RUNDOWN,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 02000000 e1100000 00000000 99999999",
      .event = "HeapRange/Rundown heap_handle=0x1d8a0b00000 flags=0x2 process_id=4321 "
               "range_count=0 ranges=",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range create",
      .key = ETL_HOOK_HEAP_RANGE_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00000100 02000000",
      .event = "HeapRange/Create heap_handle=0x1f0000 first_range_size=65536 flags=0x2",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range create, 64-bit",
      .key = ETL_HOOK_HEAP_RANGE_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0000100000000000 02000000",
      .event = "HeapRange/Create heap_handle=0x1d8a0b00000 first_range_size=1048576 flags=0x2",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range reserve",
      .key = ETL_HOOK_HEAP_RANGE_RESERVE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00002100 00000100",
      .event = "HeapRange/Reserve heap_handle=0x1f0000 address=0x210000 size=65536",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range release, 64-bit",
      .key = ETL_HOOK_HEAP_RANGE_RELEASE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0000c1a0d8010000 0000100000000000",
      .event = "HeapRange/Release heap_handle=0x1d8a0b00000 address=0x1d8a0c10000 size=1048576",
      .least = WHOLE,
      .newest = true },
    { .name = "heap range destroy",
      .key = ETL_HOOK_HEAP_RANGE_DESTROY,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00",
      .event = "HeapRange/Destroy heap_handle=0x1f0000",
      .least = WHOLE,
      .newest = true },

    { .name = "memory info, short form",
      .key = ETL_HOOK_MEMINFO,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "01000000 02000000 03000000 04000000 05000000 "
             "01000000 01000000 01000000 01000000 01000000 01000000 01000000 0a000000 "
             "02000000 02000000 02000000 02000000 02000000 02000000 02000000 14000000 63000000",
      .event = "PageFault/MemInfo zero_pages=1 free_pages=2 modified_pages=3 "
               "modified_no_write_pages=4 bad_pages=5 standby_pages=17 repurposed_pages=34 "
               "modified_page_file_pages=99 paged_pool_commit_pages=0 non_paged_pool_pages=0 "
               "mdl_pages=0 commit_pages=0",
      .least = WHOLE,
      .newest = true },
    { .name = "memory info, long form, 64-bit",
      .key = ETL_HOOK_MEMINFO,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0100000000000000 0200000000000000 0300000000000000 0400000000000000 "
             "0500000000000000 "
             "0100000000000000 0100000000000000 0100000000000000 0100000000000000 "
             "0100000000000000 0100000000000000 0100000000000000 0a00000000000000 "
             "0200000000000000 0200000000000000 0200000000000000 0200000000000000 "
             "0200000000000000 0200000000000000 0200000000000000 1400000000000000 "
             "6300000000000000 "
             "0600000000000000 0700000000000000 0800000000000000 0000000001000000",
      .event = "PageFault/MemInfo zero_pages=1 free_pages=2 modified_pages=3 "
               "modified_no_write_pages=4 bad_pages=5 standby_pages=17 repurposed_pages=34 "
               "modified_page_file_pages=99 paged_pool_commit_pages=6 non_paged_pool_pages=7 "
               "mdl_pages=8 commit_pages=4294967296",
      .least = 176,
      .newest = true },
    { .name = "working sets before version 2",
      .key = ETL_HOOK_MEMINFO_WS,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "02000000 e1100000 01000000 02000000 03000000 04000000 "
             "e2100000 05000000 06000000 07000000 08000000",
      .event = "PageFault/MemInfoWS count=2 entries=4321:1/2/3/4,4322:5/6/7/8",
      .least = WHOLE },
    { .name = "working sets version 2",
      .key = ETL_HOOK_MEMINFO_WS,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "02000000 "
             "e1100000 01000000 02000000 03000000 04000000 91000000 92000000 93000000 94000000 "
             "e2100000 05000000 06000000 07000000 08000000 95000000 96000000 97000000 98000000",
      .event = "PageFault/MemInfoWS count=2 entries=4321:1/2/3/4,4322:5/6/7/8",
      .least = WHOLE,
      .newest = true },
    { .name = "working sets version 2, 64-bit",
      .key = ETL_HOOK_MEMINFO_WS,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "01000000 e1100000 0000000001000000 0200000000000000 0300000000000000 "
             "0400000000000000 9100000000000000 9200000000000000 9300000000000000 "
             "9400000000000000",
      .event = "PageFault/MemInfoWS count=1 entries=4321:4294967296/2/3/4",
      .least = WHOLE,
      .newest = true },
    { .name = "no working sets",
      .key = ETL_HOOK_MEMINFO_WS,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00000000",
      .event = "PageFault/MemInfoWS count=0 entries=",
      .least = WHOLE,
      .newest = true },
};

#include "decode_vector_tests.h"

/* A record of the given hook, version and payload from a 64-bit process. */
static etl_record record_of(u16 hook, u16 version, const u8 *payload, size_t size)
{
    return (etl_record){ .hook = hook,
                         .opcode = (u8)hook,
                         .version = version,
                         .header = ETL_HEADER_PERFINFO64,
                         .pointer_bytes = 8,
                         .has_hook = true,
                         .payload = { payload, size } };
}

/* Not shown as a field, but read by those who take all four kinds alike. */
static void virtual_alloc_and_free_have_no_commit_size(void **state)
{
    (void)state;
    const u16 hooks[] = { ETL_HOOK_VIRTUAL_ALLOC, ETL_HOOK_VIRTUAL_FREE };
    for (size_t i = 0; i < ETL_COUNT_OF(hooks); i++) {
        u8 payload[32];
        memset(payload, 0xff, sizeof payload);
        const etl_record record = record_of(hooks[i], 2, payload, sizeof payload);
        etl_event event;
        memset(&event, 0xa5, sizeof event);
        etl_diag_counts diag = { { 0 } };
        assert_true(etl_decode(&record, &event, &diag));
        assert_int_equal(event.as.virtual_memory.commit_size_bytes, 0);
    }
}

static void a_count_larger_than_the_payload_makes_it_truncated(void **state)
{
    (void)state;
    const u16 hooks[] = { ETL_HOOK_HEAP_RANGE_RUNDOWN, ETL_HOOK_MEMINFO_WS };
    const u32 counts[] = { 4, 0x10000001, 0x1c71c71d, 0x80000000, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(hooks); i++) {
        for (size_t j = 0; j < ETL_COUNT_OF(counts); j++) {
            u8 payload[80] = { 0 };
            const size_t count_at = hooks[i] == ETL_HOOK_MEMINFO_WS ? 0 : 16;
            memcpy(payload + count_at, &counts[j], sizeof counts[j]);
            const etl_record record = record_of(hooks[i], 2, payload, sizeof payload);
            etl_event event;
            etl_diag_counts diag = { { 0 } };
            assert_false(etl_decode(&record, &event, &diag));
            assert_int_equal(diag.of[ETL_DIAG_event_truncated], 1);
        }
    }
}

static void working_sets_of_a_newer_version_may_have_longer_entries(void **state)
{
    (void)state;
    u8 payload[4 + 2 * 80] = { 2 };
    payload[4] = 11;
    payload[4 + 80] = 12;
    const etl_record record = record_of(ETL_HOOK_MEMINFO_WS, 3, payload, sizeof payload);
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    assert_int_equal(diag.of[ETL_DIAG_event_version_newer], 1);
    assert_int_equal(event.as.meminfo_ws.entry_bytes, 80);
    etl_meminfo_ws_row row;
    assert_true(etl_meminfo_ws_entry(&event.as.meminfo_ws, 8, 1, &row));
    assert_int_equal(row.process_id, 12);
    assert_false(etl_meminfo_ws_entry(&event.as.meminfo_ws, 8, 2, &row));
}

static void page_counts_saturate(void **state)
{
    (void)state;
    u8 payload[22 * 8];
    memset(payload, 0xff, sizeof payload);
    const etl_record record = record_of(ETL_HOOK_MEMINFO, 2, payload, sizeof payload);
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    assert_true(event.as.meminfo.standby_pages == UINT64_MAX);
}

/* Heap ranges have a class of their own in classic form. */
static void the_heap_range_class_decodes_like_its_hooks(void **state)
{
    (void)state;
    static const u8 guid[16] = { 0x11, 0xca, 0x81, 0xd7, 0xc0, 0x61, 0x87, 0x43,
                                 0xb8, 0x3d, 0xaf, 0x52, 0xd3, 0xd2, 0xdd, 0x6a };
    static const u8 payload[8] = { 0, 0, 0x1f };
    etl_record record = record_of(0, 2, payload, sizeof payload);
    record.has_hook = false;
    record.header = ETL_HEADER_FULL64;
    record.provider = guid;
    record.opcode = ETL_HOOK_HEAP_RANGE_DESTROY & 0xff;
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    assert_int_equal(event.kind, ETL_EVENT_HEAP_RANGE_DESTROY);
    u16 hook = 0;
    assert_true(etl_record_hook(&record, &hook));
    assert_int_equal(hook, ETL_HOOK_HEAP_RANGE_DESTROY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(virtual_alloc_and_free_have_no_commit_size),
        cmocka_unit_test(a_count_larger_than_the_payload_makes_it_truncated),
        cmocka_unit_test(working_sets_of_a_newer_version_may_have_longer_entries),
        cmocka_unit_test(page_counts_saturate),
        cmocka_unit_test(the_heap_range_class_decodes_like_its_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
