/*
 * Goal: commits of heaps and subsegments decode as layout_heap_pages.h says, in both pointer
 * widths.
 * Method: hand-written payloads with every field expected, and the checks that follow from any
 * vector (decode_check.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"
#include "parser/etl/layout_heap_pages.h"

static const decode_vector vectors[] = {
    { .name = "commit",
      .key = ETL_HOOK_HEAP_COMMIT,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010b0a0d8010000 0020000000000000 02000000",
      .event = "Heap/Commit heap_handle=0x1d8a0b00000 address=0x1d8a0b01000 size=8192 caller=2",
      .least = WHOLE,
      .newest = true },
    { .name = "decommit, 32-bit",
      .key = ETL_HOOK_HEAP_DECOMMIT,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00101f00 00200000 05000000",
      .event = "Heap/Decommit heap_handle=0x1f0000 address=0x1f1000 size=8192 caller=5",
      .least = WHOLE,
      .newest = true },
    { .name = "subsegment",
      .key = ETL_HOOK_HEAP_SUBSEGMENT_ALLOC,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010b0a0d8010000 0040000000000000 3000000000000000",
      .event = "Heap/SubsegmentAlloc heap_handle=0x1d8a0b00000 subsegment=0x1d8a0b01000 size=16384 "
               "block_size=48",
      .least = WHOLE,
      .newest = true },
    { .name = "subsegment into the cache, 32-bit",
      .key = ETL_HOOK_HEAP_SUBSEGMENT_FREE_CACHED,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 00101f00 00400000 30000000",
      .event = "Heap/SubsegmentFreeCached heap_handle=0x1f0000 subsegment=0x1f1000 size=16384 "
               "block_size=48",
      .least = WHOLE,
      .newest = true },
    { .name = "subsegment initialized",
      .key = ETL_HOOK_HEAP_SUBSEGMENT_INIT,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010b0a0d8010000 3000000000000000 5501000000000000 03000000",
      .event = "Heap/SubsegmentInit heap_handle=0x1d8a0b00000 subsegment=0x1d8a0b01000 "
               "block_size=48 block_count=341 number=3",
      .least = WHOLE,
      .newest = true },
    { .name = "affinity of a bucket, 32-bit",
      .key = ETL_HOOK_HEAP_BUCKET,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00001f00 11000000",
      .event = "Heap/AffinityManagerEnable heap_handle=0x1f0000 number=17",
      .least = WHOLE,
      .newest = true },
    { .name = "subsegment activated, without a number",
      .key = ETL_HOOK_HEAP_SUBSEGMENT_ACTIVATED,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010b0a0d8010000",
      .event = "Heap/SubSegmentActivated heap_handle=0x1d8a0b00000 subsegment=0x1d8a0b01000 "
               "number=0",
      .least = WHOLE,
      .open_ended = true },
    { .name = "subsegment of a slot",
      .key = ETL_HOOK_HEAP_SUBSEGMENT_SLOT,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "0000b0a0d8010000 0010b0a0d8010000 07000000",
      .event = "Heap/AffinitySlotChanged heap_handle=0x1d8a0b00000 subsegment=0x1d8a0b01000 "
               "number=7",
      .least = 16,
      .newest = true },
};

#include "decode_vector_tests.h"

int main(void)
{
    const struct CMUnitTest tests[] = { DECODE_VECTOR_TESTS };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
