/*
 * Goal: stack walks decode as layout_events.h says: frames inline, references
 * by key, definitions.
 * Method: hand-written payloads with every field expected, the checks that
 * follow from any vector (decode_check.h), and stacks built at the limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"

static const decode_vector vectors[] = {
    { .name = "stack of three frames",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "6741d17301000000 940f0000 c40e0000 785634f2 11223344 00104000",
      .event = "StackWalk/Stack event_ticks=6238060903 process_id=3988 thread_id=3780 "
               "frames=0xf2345678,0x44332211,0x401000",
      .least = 16,
      .open_ended = true,
      .newest = true },
    { .name = "stack of two frames, 64-bit",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "6741d17300000000 940f0000 c40e0000 90ed430383faffff 00103340f77f0000",
      .event = "StackWalk/Stack event_ticks=1943093607 process_id=3988 thread_id=3780 "
               "frames=0xfffffa830343ed90,0x7ff740331000",
      .least = 16,
      .open_ended = true,
      .newest = true },
    { .name = "stack without frames",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "ffffffffffffffff 940f0000 c40e0000",
      .event = "StackWalk/Stack event_ticks=-1 process_id=3988 thread_id=3780 frames=",
      .least = WHOLE,
      .open_ended = true,
      .newest = true },
    { .name = "zeros at the outer end are no frames, others are",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "6741d17300000000 940f0000 c40e0000 00104000 00000000 00204000 00000000 00000000",
      .event = "StackWalk/Stack event_ticks=1943093607 process_id=3988 thread_id=3780 "
               "frames=0x401000,0x0,0x402000",
      .least = 16,
      .open_ended = true,
      .newest = true },
    { .name = "nothing but zeros",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "6741d17300000000 940f0000 c40e0000 0000000000000000 0000000000000000",
      .event = "StackWalk/Stack event_ticks=1943093607 process_id=3988 thread_id=3780 frames=",
      .least = 16,
      .open_ended = true,
      .newest = true },
    { .name = "bytes that are no whole frame are left out",
      .key = ETL_HOOK_STACK,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "6741d17300000000 940f0000 c40e0000 00103340f77f0000 11223344556677",
      .event = "StackWalk/Stack event_ticks=1943093607 process_id=3988 thread_id=3780 "
               "frames=0x7ff740331000",
      .least = 16,
      .open_ended = true,
      .newest = true },
    { .name = "kernel key",
      .key = ETL_HOOK_STACK_KEY_KERNEL,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "6741d17300000000 940f0000 c40e0000 90ed430383faffff",
      .event = "StackWalk/KeyKernel event_ticks=1943093607 process_id=3988 thread_id=3780 "
               "stack_key=0xfffffa830343ed90",
      .least = WHOLE,
      .newest = true },
    { .name = "user key of a 32-bit system",
      .key = ETL_HOOK_STACK_KEY_USER,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "6741d17300000000 940f0000 c40e0000 90ed4383",
      .event = "StackWalk/KeyUser event_ticks=1943093607 process_id=3988 thread_id=3780 "
               "stack_key=0x8343ed90",
      .least = WHOLE,
      .newest = true },
    { .name = "definition when the key is created",
      .key = ETL_HOOK_STACK_KEY_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff 00103340f77f0000",
      .event = "StackWalk/KeyCreate stack_key=0xfffffa830343ed90 frames=0x7ff740331000",
      .least = 8,
      .open_ended = true,
      .newest = true },
    { .name = "definition when the key is deleted",
      .key = ETL_HOOK_STACK_KEY_DELETE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff 00103340f77f0000 00203340f77f0000",
      .event = "StackWalk/KeyDelete stack_key=0xfffffa830343ed90 "
               "frames=0x7ff740331000,0x7ff740332000",
      .least = 8,
      .open_ended = true,
      .newest = true },
    { .name = "definition at the end, with zeros behind it, 32-bit system",
      .key = ETL_HOOK_STACK_KEY_RUNDOWN,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "90ed4383 00104000 00204000 00000000",
      .event = "StackWalk/KeyRundown stack_key=0x8343ed90 frames=0x401000,0x402000",
      .least = 4,
      .open_ended = true,
      .newest = true },
};

#include "decode_vector_tests.h"

/* Decodes a stack of `frame_count` frames, all of them `frame`. */
static u32 decoded_frames(u16 hook, u32 frame_count, u8 frame, etl_diag_counts *diag)
{
    static u8 payload[16 + 8 * 8000];
    const size_t head = hook == ETL_HOOK_STACK ? 16 : 8;
    const size_t size = head + (size_t)frame_count * 8;
    assert_true(size <= sizeof payload);
    memset(payload, frame, sizeof payload);
    const etl_record record = { .hook = hook,
                                .opcode = (u8)hook,
                                .version = 2,
                                .header = ETL_HEADER_PERFINFO64,
                                .pointer_bytes = 8,
                                .has_hook = true,
                                .payload = { payload, size } };
    etl_event event;
    assert_true(etl_decode(&record, &event, diag));
    return hook == ETL_HOOK_STACK ? event.as.stack.frame_count
                                  : event.as.stack_definition.frame_count;
}

static void a_stack_at_the_limit_is_whole(void **state)
{
    (void)state;
    etl_diag_counts diag = { { 0 } };
    const u32 limit = ETL_STACK_FRAMES_MAX;
    assert_int_equal(decoded_frames(ETL_HOOK_STACK, limit, 0x11, &diag), limit);
    assert_int_equal(decoded_frames(ETL_HOOK_STACK_KEY_DELETE, limit, 0x11, &diag), limit);
    assert_int_equal(diag.of[ETL_DIAG_stack_too_deep], 0);
}

static void a_deeper_stack_is_cut_and_counted(void **state)
{
    (void)state;
    etl_diag_counts diag = { { 0 } };
    const u32 limit = ETL_STACK_FRAMES_MAX;
    assert_int_equal(decoded_frames(ETL_HOOK_STACK, limit + 1, 0x11, &diag), limit);
    assert_int_equal(decoded_frames(ETL_HOOK_STACK, 8000, 0x11, &diag), limit);
    assert_int_equal(decoded_frames(ETL_HOOK_STACK_KEY_RUNDOWN, 8000, 0x11, &diag), limit);
    assert_int_equal(diag.of[ETL_DIAG_stack_too_deep], 3);
    assert_int_equal(diag.of[ETL_DIAG_event_truncated], 0);
}

static void zeros_do_not_count_towards_the_limit(void **state)
{
    (void)state;
    etl_diag_counts diag = { { 0 } };
    assert_int_equal(decoded_frames(ETL_HOOK_STACK, 8000, 0, &diag), 0);
    assert_int_equal(diag.of[ETL_DIAG_stack_too_deep], 0);
}

/* The frames are not copied. */
static void frames_point_into_the_payload(void **state)
{
    (void)state;
    static const u8 payload[32] = { [24] = 1 };
    const etl_record record = { .hook = ETL_HOOK_STACK,
                                .opcode = ETL_HOOK_STACK & 0xff,
                                .version = 2,
                                .header = ETL_HEADER_PERFINFO64,
                                .pointer_bytes = 8,
                                .has_hook = true,
                                .payload = { payload, sizeof payload } };
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    assert_ptr_equal(event.as.stack.frames, payload + 16);
    assert_int_equal(event.as.stack.frame_bytes, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(a_stack_at_the_limit_is_whole),
        cmocka_unit_test(a_deeper_stack_is_cut_and_counted),
        cmocka_unit_test(zeros_do_not_count_towards_the_limit),
        cmocka_unit_test(frames_point_into_the_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
