/*
 * Goal: the short way through a heap trace's records says what the long way says
 * of them, takes no others, and reads no byte too far.
 * Method: plain records by hand, each read both ways; everything that makes a
 * record not plain, one at a time; then random damage, in memory whose end cannot
 * be passed: whatever the short way takes must be what the long way finds there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_records.h"
#include "parser/etl/layout_events.h"
#include "parser/etl/lean.h"

#define HEAP_HANDLE 0x1111111111111111u
#define FIRST       0x2222222222222222u /* the size of an alloc, the address of a free */
#define SECOND      0x3333333333333333u
#define EVENT_TICKS 0x0102030405060000
#define STACK_PID   0x44444444u
#define STACK_TID   0x66666666u
#define FILLING     200u /* behind a record: more than nothing is left there */

static etl_diag_counts diag;

/* What a test changes in a record. */
typedef struct plain_options {
    unsigned type, hook;
    unsigned version_word;
    u32 frames;    /* of a stack */
    u32 cut_bytes; /* off the end */
} plain_options;

static void put_head(hand_bytes *records, const plain_options *o, u64 ticks)
{
    hand_prefix(records, o->version_word, o->type, ETL_MARKER_EVENT, 0, o->hook);
    if (o->type != ETL_TYPE_PERFINFO64 && o->type != ETL_TYPE_PERFINFO32) {
        hand_u32(records, HAND_TID);
        hand_u32(records, HAND_PID);
    }
    hand_u64(records, ticks);
    if (o->type == ETL_TYPE_SYSTEM64 || o->type == ETL_TYPE_SYSTEM32)
        hand_u64(records, 0xeeeeeeeeeeeeeeee); /* processor times */
}

static void put_plain(hand_bytes *records, const plain_options *o, u64 ticks)
{
    const size_t start = records->size;
    put_head(records, o, ticks);
    if (o->hook == ETL_HOOK_STACK || o->hook == ETL_HOOK_STACK_KEY_USER) {
        hand_u64(records, EVENT_TICKS);
        hand_u32(records, STACK_PID);
        hand_u32(records, STACK_TID);
        for (u32 i = 0; i < o->frames; i++)
            hand_u64(records, 0x7ff600001000 + i);
    } else {
        hand_u64(records, HEAP_HANDLE);
        hand_u64(records, FIRST);
        if (o->hook == ETL_HOOK_HEAP_ALLOC)
            hand_u64(records, SECOND);
        hand_u32(records, 2); /* source */
    }
    records->size -= o->cut_bytes;
    hand_end_record(records, start, 4);
}

static const plain_options plain_alloc = { ETL_TYPE_SYSTEM64, ETL_HOOK_HEAP_ALLOC, 2, 0, 0 };
static const plain_options plain_free = { ETL_TYPE_SYSTEM64, ETL_HOOK_HEAP_FREE, 2, 0, 0 };
static const plain_options plain_stack = { ETL_TYPE_PERFINFO64, ETL_HOOK_STACK, 2, 9, 0 };
static const plain_options plain_key = { ETL_TYPE_PERFINFO64, ETL_HOOK_STACK_KEY_USER, 2, 1, 0 };

/* What the short way reads, of whatever sort. */
typedef struct lean_answer {
    u64 prefix;
    etl_lean_heap heap;
    etl_lean_stack stack;
} lean_answer;

/* Reads the record at the cursor if it is plain. */
static bool read_lean(etl_cursor c, lean_answer *out)
{
    out->prefix = etl_lean_prefix(c);
    if (etl_lean_is_heap(out->prefix))
        return etl_lean_read_heap(c, out->prefix, &out->heap);
    if (etl_lean_is_stack(out->prefix))
        return etl_lean_read_stack(c, out->prefix, &out->stack);
    return etl_lean_is_stack_key(out->prefix) &&
           etl_lean_read_stack_key(c, out->prefix, &out->stack);
}

static bool is_plain(const plain_options *options)
{
    hand_bytes records = { 0 };
    put_plain(&records, options, HAND_TICKS);
    hand_fill(&records, 0xee, FILLING);
    hand_guarded memory;
    const etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    lean_answer answer;
    const bool taken = read_lean(etl_lean_begin(&buffer), &answer);
    hand_unguard(&memory);
    hand_free(&records);
    return taken;
}

/* --- both ways say the same ----------------------------------------------------- */

static void assert_same_heap(const etl_lean_heap *heap, const etl_record *record,
                             const etl_event *event)
{
    assert_int_equal(heap->is_alloc, event->kind == ETL_EVENT_HEAP_ALLOC);
    assert_true(heap->is_alloc || event->kind == ETL_EVENT_HEAP_FREE);
    assert_true(heap->ticks == record->ticks);
    assert_int_equal(heap->pid, record->pid);
    assert_int_equal(heap->tid, record->tid);
    if (heap->is_alloc) {
        assert_true(heap->heap_handle == event->as.heap_alloc.heap_handle);
        assert_true(heap->size_bytes == event->as.heap_alloc.alloc_size_bytes);
        assert_true(heap->address == event->as.heap_alloc.alloc_address);
    } else {
        assert_true(heap->heap_handle == event->as.heap_free.heap_handle);
        assert_true(heap->size_bytes == 0);
        assert_true(heap->address == event->as.heap_free.free_address);
    }
}

static void assert_same_stack(const etl_lean_stack *stack, const etl_record *record,
                              const etl_event *event)
{
    assert_true(stack->ticks == record->ticks);
    if (stack->frames == NULL) {
        assert_int_equal(event->kind, ETL_EVENT_STACK_KEY_USER);
        assert_true(stack->event_ticks == event->as.stack_key.event_ticks);
        assert_int_equal(stack->pid, event->as.stack_key.process_id);
        assert_int_equal(stack->tid, event->as.stack_key.thread_id);
        assert_true(stack->key == event->as.stack_key.stack_key);
        return;
    }
    assert_int_equal(event->kind, ETL_EVENT_STACK);
    assert_true(stack->event_ticks == event->as.stack.event_ticks);
    assert_int_equal(stack->pid, event->as.stack.process_id);
    assert_int_equal(stack->tid, event->as.stack.thread_id);
    assert_ptr_equal(stack->frames, event->as.stack.frames);
    assert_int_equal(event->as.stack.frame_bytes, 8);
    /* The long way leaves out zeros at the outer end, and what is too deep. */
    u32 count = stack->frame_count;
    while (count > 0 && etl_frame_at(stack->frames, 8, count - 1) == 0)
        count--;
    if (count <= ETL_STACK_FRAMES_MAX)
        assert_int_equal(event->as.stack.frame_count, count);
}

/* Steps along as long as records are plain, the short way and the long one. */
static u32 walk_both_ways(etl_buffer buffer)
{
    etl_buffer lean = buffer;
    etl_cursor c = etl_lean_begin(&lean);
    u32 taken = 0;
    for (lean_answer answer; read_lean(c, &answer); taken++) {
        etl_record record;
        etl_event event;
        assert_true(etl_record_next(&buffer, &record));
        assert_true(etl_decode(&record, &event, buffer.diag));
        assert_int_equal(buffer.diag->of[ETL_DIAG_event_version_newer], 0);
        if (etl_lean_is_heap(answer.prefix))
            assert_same_heap(&answer.heap, &record, &event);
        else
            assert_same_stack(&answer.stack, &record, &event);
        assert_int_equal(etl_lean_size(answer.prefix), record.size);
        etl_lean_step(&c, answer.prefix);
        etl_lean_end(&lean, c, record.ticks);
        assert_int_equal(lean.at, buffer.at);
        assert_true(lean.ticks_previous == buffer.ticks_previous);
    }
    return taken;
}

static void put_all_sorts(hand_bytes *records)
{
    plain_options stack = plain_stack;
    for (u32 i = 0; i < 12; i++) {
        put_plain(records, &plain_alloc, 1000 + i);
        stack.frames = 1 + i * 7;
        put_plain(records, &stack, 1000 + i);
        put_plain(records, &plain_free, 1000 + i);
        put_plain(records, &plain_key, 1000 + i);
    }
}

static void plain_records_are_read_as_the_decoder_reads_them(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    put_all_sorts(&records);
    hand_fill(&records, 0xff, FILLING);
    hand_guarded memory;
    assert_int_equal(walk_both_ways(hand_open_records(&records, &memory, &diag)), 48);
    hand_unguard(&memory);
    hand_free(&records);
}

static void fields_are_where_the_layout_says(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    put_plain(&records, &plain_alloc, HAND_TICKS);
    hand_fill(&records, 0xee, FILLING);
    hand_guarded memory;
    const etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    lean_answer answer;
    assert_true(read_lean(etl_lean_begin(&buffer), &answer));
    assert_true(answer.heap.is_alloc);
    assert_true(answer.heap.ticks == HAND_TICKS);
    assert_int_equal(answer.heap.tid, HAND_TID);
    assert_int_equal(answer.heap.pid, HAND_PID);
    assert_true(answer.heap.heap_handle == HEAP_HANDLE);
    assert_true(answer.heap.size_bytes == FIRST);
    assert_true(answer.heap.address == SECOND);
    hand_unguard(&memory);
    hand_free(&records);
}

/* --- what is not plain ------------------------------------------------------------ */

static void known_versions_are_plain_and_newer_ones_are_not(void **state)
{
    (void)state;
    for (unsigned version = 0; version < 256; version++) {
        plain_options alloc = plain_alloc, free_event = plain_free;
        plain_options stack = plain_stack, key = plain_key;
        alloc.version_word = free_event.version_word = version;
        stack.version_word = key.version_word = version;
        assert_int_equal(is_plain(&alloc), version <= 3);
        assert_int_equal(is_plain(&free_event), version <= 3);
        assert_int_equal(is_plain(&stack), version <= 2);
        assert_int_equal(is_plain(&key), version <= 2);
    }
}

static void records_with_extra_words_are_not_plain(void **state)
{
    (void)state;
    for (unsigned bit = 8; bit < 16; bit++) {
        plain_options alloc = plain_alloc, stack = plain_stack;
        alloc.version_word = stack.version_word = 2 | 1u << bit;
        assert_false(is_plain(&alloc));
        assert_false(is_plain(&stack));
    }
}

static void other_headers_and_hooks_are_not_plain(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        plain_options alloc = plain_alloc, stack = plain_stack;
        alloc.type = stack.type = type;
        assert_int_equal(is_plain(&alloc), type == ETL_TYPE_SYSTEM64);
        assert_int_equal(is_plain(&stack), type == ETL_TYPE_PERFINFO64);
    }
    for (unsigned hook = 0; hook < 0x2000; hook++) {
        plain_options system = { ETL_TYPE_SYSTEM64, hook, 2, 9, 0 };
        plain_options perfinfo = { ETL_TYPE_PERFINFO64, hook, 2, 9, 0 };
        assert_int_equal(is_plain(&system),
                         hook == ETL_HOOK_HEAP_ALLOC || hook == ETL_HOOK_HEAP_FREE);
        assert_int_equal(is_plain(&perfinfo),
                         hook == ETL_HOOK_STACK || hook == ETL_HOOK_STACK_KEY_USER);
    }
}

static void records_shorter_than_their_layout_are_not_plain(void **state)
{
    (void)state;
    const plain_options sorts[] = { plain_alloc, plain_free, plain_stack, plain_key };
    for (size_t i = 0; i < ETL_COUNT_OF(sorts); i++) {
        plain_options whole = sorts[i];
        whole.frames = 1;
        assert_true(is_plain(&whole));
        for (whole.cut_bytes = 1; whole.cut_bytes <= 16; whole.cut_bytes++)
            assert_false(is_plain(&whole));
    }
}

static void a_stack_without_frames_is_not_plain(void **state)
{
    (void)state;
    plain_options stack = plain_stack;
    stack.frames = 0;
    assert_false(is_plain(&stack));
}

static void bytes_of_half_a_frame_are_no_frame(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    plain_options stack = plain_stack;
    stack.frames = 3;
    stack.cut_bytes = 4;
    put_plain(&records, &stack, HAND_TICKS);
    hand_fill(&records, 0xee, FILLING);
    hand_guarded memory;
    const etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    lean_answer answer;
    assert_true(read_lean(etl_lean_begin(&buffer), &answer));
    assert_int_equal(answer.stack.frame_count, 2);
    hand_unguard(&memory);
    hand_free(&records);
}

/* --- the end of a buffer ------------------------------------------------------------ */

/* Cut anywhere, what is left to the long way is what the short way did not take. */
static void no_cut_of_a_buffer_is_read_beyond_its_end(void **state)
{
    (void)state;
    hand_bytes whole = { 0 };
    put_all_sorts(&whole);
    for (size_t size = 0; size <= whole.size; size++) {
        hand_bytes records = whole;
        records.size = size;
        hand_guarded memory;
        (void)walk_both_ways(hand_open_records(&records, &memory, &diag));
        hand_unguard(&memory);
    }
    hand_free(&whole);
}

static void the_long_way_goes_on_where_the_short_one_ends(void **state)
{
    (void)state;
    hand_bytes records = { 0 };
    put_plain(&records, &plain_alloc, 2000);
    put_plain(&records, &plain_free, 1000); /* goes back */
    hand_fill(&records, 0xff, FILLING);
    hand_guarded memory;
    etl_buffer buffer = hand_open_records(&records, &memory, &diag);
    etl_cursor c = etl_lean_begin(&buffer);
    lean_answer answer;
    assert_true(read_lean(c, &answer));
    etl_lean_step(&c, answer.prefix);
    etl_lean_end(&buffer, c, answer.heap.ticks);
    etl_record record;
    assert_true(etl_record_next(&buffer, &record));
    assert_int_equal(record.hook, ETL_HOOK_HEAP_FREE);
    assert_int_equal(diag.of[ETL_DIAG_time_backwards], 1);
    hand_unguard(&memory);
    hand_free(&records);
}

/* --- damage ---------------------------------------------------------------------------- */

static void whatever_is_taken_of_damaged_records_is_what_they_say(void **state)
{
    (void)state;
    hand_bytes whole = { 0 };
    put_all_sorts(&whole);
    u64 random = 11;
    u64 taken = 0;
    for (u32 round = 0; round < 4000; round++) {
        hand_guarded memory;
        const etl_buffer buffer = hand_open_records(&whole, &memory, &diag);
        for (u32 i = hand_random(&random) % 6; i > 0; i--) {
            const size_t at = hand_random(&random) % whole.size;
            memory.at[ETL_BUFFER_HEADER_BYTES + at] ^= (u8)(1u << hand_random(&random) % 8);
        }
        taken += walk_both_ways(buffer);
        hand_unguard(&memory);
    }
    assert_true(taken > 4000);
    hand_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_records_are_read_as_the_decoder_reads_them),
        cmocka_unit_test(fields_are_where_the_layout_says),
        cmocka_unit_test(known_versions_are_plain_and_newer_ones_are_not),
        cmocka_unit_test(records_with_extra_words_are_not_plain),
        cmocka_unit_test(other_headers_and_hooks_are_not_plain),
        cmocka_unit_test(records_shorter_than_their_layout_are_not_plain),
        cmocka_unit_test(a_stack_without_frames_is_not_plain),
        cmocka_unit_test(bytes_of_half_a_frame_are_no_frame),
        cmocka_unit_test(no_cut_of_a_buffer_is_read_beyond_its_end),
        cmocka_unit_test(the_long_way_goes_on_where_the_short_one_ends),
        cmocka_unit_test(whatever_is_taken_of_damaged_records_is_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
