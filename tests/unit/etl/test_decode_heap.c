/*
 * Goal: heap events decode as layout_events.h says, for both pointer widths and
 * all versions, and never from too few bytes.
 * Method: one hand-written payload per layout with every field expected, and
 * the checks that follow from any vector (decode_check.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"
#include "parser/etl/layout_heap_pages.h"

/* Fields stand one after the other as on disk, little endian. */
static const decode_vector vectors[] = {
    { .name = "create before version 3 has no sizes",
      .key = ETL_HOOK_HEAP_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 02100000",
      .event = "Heap/Create heap_handle=0x1f0000 heap_flags=0x1002 reserved_space=0 "
               "committed_space=0 allocated_space=0",
      .least = WHOLE },
    { .name = "create before version 3, 64-bit",
      .key = ETL_HOOK_HEAP_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 02000000",
      .event = "Heap/Create heap_handle=0x1d8a0b00000 heap_flags=0x2 reserved_space=0 "
               "committed_space=0 allocated_space=0",
      .least = WHOLE },
    { .name = "create version 3",
      .key = ETL_HOOK_HEAP_CREATE,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00001f00 02100000 00001000 00200000 40070000",
      .event = "Heap/Create heap_handle=0x1f0000 heap_flags=0x1002 reserved_space=1048576 "
               "committed_space=8192 allocated_space=1856",
      .least = WHOLE,
      .newest = true },
    { .name = "create version 3, 64-bit",
      .key = ETL_HOOK_HEAP_CREATE,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 02000000 0000100000000000 0020000000000000 4007000001000000",
      .event = "Heap/Create heap_handle=0x1d8a0b00000 heap_flags=0x2 reserved_space=1048576 "
               "committed_space=8192 allocated_space=4294969152",
      .least = WHOLE,
      .newest = true },

    { .name = "alloc",
      .key = ETL_HOOK_HEAP_ALLOC,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 18000000 88102000 02000000",
      .event = "Heap/Alloc heap_handle=0x1f0000 alloc_size=24 alloc_address=0x201088 source_id=2",
      .least = WHOLE,
      .newest = true },
    { .name = "alloc of more than 4 GiB, 64-bit",
      .key = ETL_HOOK_HEAP_ALLOC,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 1000000001000000 7020c0a0d8010000 03000100",
      .event = "Heap/Alloc heap_handle=0x1d8a0b00000 alloc_size=4294967312 "
               "alloc_address=0x1d8a0c02070 source_id=65539",
      .least = WHOLE,
      .newest = true },

    { .name = "realloc",
      .key = ETL_HOOK_HEAP_REALLOC,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 88302000 88102000 00010000 18000000 03000000",
      .event = "Heap/ReAlloc heap_handle=0x1f0000 new_alloc_address=0x203088 "
               "old_alloc_address=0x201088 new_alloc_size=256 old_alloc_size=24 source_id=3",
      .least = WHOLE,
      .newest = true },
    { .name = "realloc, 64-bit",
      .key = ETL_HOOK_HEAP_REALLOC,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 7040c0a0d8010000 7020c0a0d8010000 0001000000000000 "
             "1800000000000000 06000100",
      .event =
          "Heap/ReAlloc heap_handle=0x1d8a0b00000 new_alloc_address=0x1d8a0c04070 "
          "old_alloc_address=0x1d8a0c02070 new_alloc_size=256 old_alloc_size=24 source_id=65542",
      .least = WHOLE,
      .newest = true },

    { .name = "destroy",
      .key = ETL_HOOK_HEAP_DESTROY,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00",
      .event = "Heap/Destroy heap_handle=0x1f0000",
      .least = WHOLE,
      .newest = true },
    { .name = "destroy, 64-bit",
      .key = ETL_HOOK_HEAP_DESTROY,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000",
      .event = "Heap/Destroy heap_handle=0x1d8a0b00000",
      .least = WHOLE,
      .newest = true },

    { .name = "free",
      .key = ETL_HOOK_HEAP_FREE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 88102000 02000000",
      .event = "Heap/Free heap_handle=0x1f0000 free_address=0x201088 source_id=2",
      .least = WHOLE,
      .newest = true },
    { .name = "free, 64-bit",
      .key = ETL_HOOK_HEAP_FREE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 7020c0a0d8010000 03000100",
      .event = "Heap/Free heap_handle=0x1d8a0b00000 free_address=0x1d8a0c02070 source_id=65539",
      .least = WHOLE,
      .newest = true },

    { .name = "expand before version 3",
      .key = ETL_HOOK_HEAP_EXPAND,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00100000 00002100 00020000 00300000 00001000 05000000",
      .event = "Heap/Expand heap_handle=0x1f0000 size=4096 address=0x210000 free_space=512 "
               "committed_space=12288 reserved_space=1048576 ucr_count=5 allocated_space=0",
      .least = WHOLE },
    { .name = "expand version 3",
      .key = ETL_HOOK_HEAP_EXPAND,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00001f00 00100000 00002100 00020000 00300000 00001000 05000000 aa000000",
      .event = "Heap/Expand heap_handle=0x1f0000 size=4096 address=0x210000 free_space=512 "
               "committed_space=12288 reserved_space=1048576 ucr_count=5 allocated_space=170",
      .least = WHOLE,
      .newest = true },
    { .name = "contract before version 3, 64-bit",
      .key = ETL_HOOK_HEAP_CONTRACT,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010000000000000 0000c1a0d8010000 0002000000000000 "
             "0030000000000000 0000100000000000 05000000",
      .event = "Heap/Contract heap_handle=0x1d8a0b00000 size=4096 address=0x1d8a0c10000 "
               "free_space=512 committed_space=12288 reserved_space=1048576 ucr_count=5 "
               "allocated_space=0",
      .least = WHOLE },
    { .name = "contract version 3, 64-bit",
      .key = ETL_HOOK_HEAP_CONTRACT,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010000000000000 0000c1a0d8010000 0002000000000000 "
             "0030000000000000 0000100000000000 05000000 aa00000000000000",
      .event = "Heap/Contract heap_handle=0x1d8a0b00000 size=4096 address=0x1d8a0c10000 "
               "free_space=512 committed_space=12288 reserved_space=1048576 ucr_count=5 "
               "allocated_space=170",
      .least = WHOLE,
      .newest = true },

    { .name = "snapshot of the first, short form",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00020000 00300000 00001000 02000000",
      .event = "Heap/SnapShot heap_handle=0x1f0000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=0 large_ucr_space=0 "
               "free_list_length=0 ucr_length=0 allocated_space=0",
      .least = WHOLE,
      .open_ended = true },
    { .name = "snapshot before version 3",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00020000 00300000 00001000 02000000 e1100000 00800000 07000000 09000000",
      .event = "Heap/SnapShot heap_handle=0x1f0000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=4321 large_ucr_space=32768 "
               "free_list_length=7 ucr_length=9 allocated_space=0",
      .least = WHOLE,
      .least_short = 20 },
    { .name = "snapshot before version 3, 64-bit",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0002000000000000 0030000000000000 0000100000000000 02000000 "
             "e1100000 0080000000000000 07000000 09000000",
      .event = "Heap/SnapShot heap_handle=0x1d8a0b00000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=4321 large_ucr_space=32768 "
               "free_list_length=7 ucr_length=9 allocated_space=0",
      .least = WHOLE,
      .least_short = 36 },
    { .name = "snapshot version 3",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00001f00 00020000 00300000 00001000 02000000 e1100000 00800000 07000000 09000000 "
             "bb000000",
      .event = "Heap/SnapShot heap_handle=0x1f0000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=4321 large_ucr_space=32768 "
               "free_list_length=7 ucr_length=9 allocated_space=187",
      .least = WHOLE,
      .least_short = 20 },
    { .name = "snapshot version 3, 64-bit",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0002000000000000 0030000000000000 0000100000000000 02000000 "
             "e1100000 0080000000000000 07000000 09000000 bb00000000000000",
      .event = "Heap/SnapShot heap_handle=0x1d8a0b00000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=4321 large_ucr_space=32768 "
               "free_list_length=7 ucr_length=9 allocated_space=187",
      .least = WHOLE,
      .least_short = 36 },
    { .name = "snapshot version 4, 64-bit, of 72 bytes",
      .key = ETL_HOOK_HEAP_SNAPSHOT,
      .version = 4,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0002000000000000 0030000000000000 0000100000000000 02000000 "
             "e1100000 0080000000000000 07000000 09000000 bb00000000000000 cc00000000000000",
      .event = "Heap/SnapShot heap_handle=0x1d8a0b00000 free_space=512 committed_space=12288 "
               "reserved_space=1048576 heap_flags=0x2 process_id=4321 large_ucr_space=32768 "
               "free_list_length=7 ucr_length=9 allocated_space=187",
      .least = 64,
      .least_short = 36,
      .newest = true },
};

#include "decode_vector_tests.h"

static bool is_decoded(u16 hook)
{
    return hook == ETL_HOOK_HEAP_CONTRACT ||
           (hook >= ETL_HOOK_HEAP_SUBSEGMENT_ALLOC && hook <= ETL_HOOK_HEAP_BUCKET) ||
           (hook >= ETL_HOOK_HEAP_SUBSEGMENT_ACTIVATED && hook <= ETL_HOOK_HEAP_SUBSEGMENT_REUSED);
}

/* Locks and walks have names, but nobody needs their payload. */
static void other_heap_events_are_named_but_not_decoded(void **state)
{
    (void)state;
    for (u16 hook = 0x1027; hook <= 0x103a; hook++) {
        if (is_decoded(hook))
            continue;
        const u8 payload[64] = { 0 };
        const etl_record record = { .hook = hook,
                                    .opcode = (u8)hook,
                                    .version = 2,
                                    .header = ETL_HEADER_SYSTEM64,
                                    .pointer_bytes = 8,
                                    .has_hook = true,
                                    .payload = { payload, sizeof payload } };
        etl_event event;
        etl_diag_counts diag = { { 0 } };
        assert_false(etl_decode(&record, &event, &diag));
        assert_int_equal(event.kind, ETL_EVENT_NONE);
        assert_int_equal(diag.of[ETL_DIAG_event_truncated], 0);
        assert_non_null(etl_record_name(&record));
        assert_memory_equal(etl_record_name(&record), "Heap/", 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(other_heap_events_are_named_but_not_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
