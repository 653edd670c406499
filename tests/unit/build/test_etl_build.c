/*
 * Goal: the trace builder writes files that keep the rules of the format, and
 * says truly what it wrote.
 * Method: a strict reader of its own (plain_reader) checks structure; a few
 * payloads are compared byte for byte with hand-written ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/build/etl_build.h"
#include "plain_reader.h"
#include "tests/build/scenario.h"
#include "tests/support/temporary.h"

#define HEAP 0x1f0000u

static etl_build_at at(i64 ticks, u32 cpu)
{
    return (etl_build_at){ .ticks = ticks, .cpu = cpu, .pid = 42, .tid = 7 };
}

/* Finishes and reads back; the file must keep the rules. */
static plain_file finish_and_read(etl_build *b)
{
    if (!etl_build_finish(b))
        fail_msg("%s", etl_build_error(b));
    size_t size = 0;
    const u8 *const bytes = etl_build_data(b, &size);
    plain_file file = plain_read(bytes, size);
    if (file.error[0] != '\0')
        fail_msg("%s", file.error);
    assert_int_equal(file.buffer_count, etl_build_buffer_count(b));
    assert_int_equal(file.record_count, etl_build_record_count(b));
    return file;
}

/* A few hundred allocations over all CPUs. */
static void add_allocs(etl_build *b, u32 count, u32 cpus)
{
    for (u32 i = 0; i < count; i++)
        etl_build_heap_alloc(b, at(1001000 + (i64)i * 10, i % cpus), HEAP, 0x2000 + i * 32, 24);
}

/* --- payloads ---------------------------------------------------------------- */

static void heap_alloc_has_the_published_layout(void **state)
{
    (void)state;
    static const u8 wide[] = { 2, 0,    2,    0xC0, 60,   0, 0x21, 0x10, 7, 0, 0,  0, 42, 0,  0,
                               0, 0x39, 0x30, 0,    0,    0, 0,    0,    0, 3, 0,  0, 0,  11, 0,
                               0, 0,    0,    0,    0x1f, 0, 0,    0,    0, 0, 24, 0, 0,  0,  0,
                               0, 0,    0,    0x10, 0x20, 0, 0,    0,    0, 0, 0,  2, 0,  0,  0 };
    static const u8 narrow_payload[] = { 0, 0, 0x1f, 0, 24, 0, 0, 0, 0x10, 0x20, 0, 0, 2, 0, 0, 0 };
    etl_build *const b = etl_build_new(NULL);
    etl_build_at when = at(12345, 0);
    etl_build_heap_alloc(b, when, HEAP, 0x2010, 24);
    when.pointer_bytes = 4;
    etl_build_heap_alloc(b, when, HEAP, 0x2010, 24);
    plain_file file = finish_and_read(b);
    const plain_record *const first = &file.records[1];
    assert_int_equal(first->size, sizeof wide);
    assert_memory_equal(first->at, wide, sizeof wide);
    const plain_record *const second = &file.records[2];
    assert_int_equal(second->type, 1);
    assert_int_equal(second->payload_size, sizeof narrow_payload);
    assert_memory_equal(second->payload, narrow_payload, sizeof narrow_payload);
    plain_free(&file);
    etl_build_free(b);
}

/* Lengths of the layouts by hook, pointer width 4 and 8. */
static void payloads_have_the_published_lengths(void **state)
{
    (void)state;
    static const struct {
        u32 hook;
        u32 lengths[2];
    } expected[] = {
        { 0x1020, { 20, 36 } }, { 0x1022, { 24, 44 } }, { 0x1023, { 4, 8 } },
        { 0x1024, { 12, 20 } }, { 0x1025, { 32, 60 } }, { 0x102A, { 32, 60 } },
        { 0x1026, { 40, 64 } }, { 0x102F, { 16, 32 } }, { 0x1033, { 16, 28 } },
        { 0x1035, { 20, 36 } }, { 0x1036, { 8, 12 } },  { 0x0262, { 16, 24 } },
        { 0x0263, { 16, 24 } }, { 0x0281, { 20, 32 } }, { 0x0264, { 36, 56 } },
        { 0x0266, { 12, 24 } }, { 0x1825, { 20, 24 } }, { 0x0B0A, { 820, 828 } },
    };
    for (u32 wide = 0; wide < 2; wide++) {
        etl_build *const b = etl_build_new(NULL);
        etl_build_at when = at(1000100, 0);
        when.pointer_bytes = wide ? 8 : 4;
        etl_build_heap_create(b, when, HEAP);
        etl_build_heap_realloc(b, when, HEAP, &(etl_build_realloc){ 1, 2, 3, 4 });
        etl_build_heap_destroy(b, when, HEAP);
        etl_build_heap_free(b, when, HEAP, 0x2000);
        etl_build_heap_expand(b, when, HEAP, 0x3000, 0x1000);
        etl_build_heap_contract(b, when, HEAP, 0x3000, 0x1000);
        etl_build_heap_snapshot(b, when, HEAP, 42, 0x9000);
        for (u8 type = 0x2F; type <= 0x36; type++)
            etl_build_heap_other(b, when, type, HEAP);
        etl_build_virtual_alloc(b, when, 0x10000, 0x1000, 0x3000);
        etl_build_virtual_free(b, when, 0x10000, 0x1000, 0x8000);
        etl_build_virtual(b, when, &(etl_build_virtual_spec){ .hook = 0x0281 });
        etl_build_heap_range_rundown(b, when, HEAP, (etl_build_range[2]){ { 1, 2 } }, 2);
        etl_build_heap_range(b, when, 0x66, HEAP, (etl_build_range){ 1, 2 });
        etl_build_stack_key(b, when, 0x1825, 1000050, 0xFFFFFA80);
        etl_build_config_cpu(b, when, &(etl_build_cpu_spec){ .mhz = 1 });
        plain_file file = finish_and_read(b);
        for (size_t i = 0; i < ETL_COUNT_OF(expected); i++) {
            const plain_record *const record = plain_find(&file, expected[i].hook, 0);
            assert_non_null(record);
            assert_int_equal(record->payload_size, expected[i].lengths[wide]);
        }
        plain_free(&file);
        etl_build_free(b);
    }
}

static void log_file_header_states_session_and_totals(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 3,
                                                             .buffer_bytes = 8192,
                                                             .start_ticks = 5000,
                                                             .clock_hz = 3117777,
                                                             .session_name = "name",
                                                             .events_lost = 9 });
    etl_build_heap_free(b, at(5000 + 3117777, 2), HEAP, 0x2000);
    plain_file file = finish_and_read(b);
    const plain_record *const header = &file.records[0];
    const u8 *const p = header->payload;
    assert_int_equal(header->hook, 0);
    assert_int_equal(header->ticks, 5000);
    assert_int_equal(plain_u32(p), 8192);
    assert_int_equal(plain_u32(p + 0x0C), 3);
    assert_int_equal(plain_u32(p + 0x24), 2); /* buffers */
    assert_int_equal(plain_u32(p + 0x2C), 8); /* pointer size */
    assert_int_equal(plain_u32(p + 0x30), 9); /* events lost */
    assert_int_equal(plain_u64(p + 0x100), 3117777);
    const u64 start = plain_u64(p + 0x108);
    assert_in_range(plain_u64(p + 0x10), start + 10000000, start + 10000001); /* one second */
    assert_int_equal(plain_u32(p + 0x110), 1);
    assert_memory_equal(p + 0x118, "n\0a\0m\0e\0\0\0", 10);
    plain_free(&file);
    etl_build_free(b);
}

/* --- buffers ------------------------------------------------------------------- */

/* What holds for every file, whatever the options. */
static void assert_streams_in_order(const plain_file *file)
{
    i64 stamp = 0;
    for (u32 i = 1; i < file->buffer_count; i++) {
        const plain_buffer *const buffer = &file->buffers[i];
        assert_true(buffer->timestamp >= stamp);
        stamp = buffer->timestamp;
        i64 ticks = INT64_MIN;
        for (u32 j = 0; j < buffer->record_count; j++) {
            const plain_record *const record = &file->records[buffer->record_first + j];
            assert_true(record->type == 0 || record->ticks >= ticks);
            ticks = record->type == 0 ? ticks : record->ticks;
        }
        for (u32 k = 1; k < i; k++) {
            assert_int_not_equal(file->buffers[k].sequence, buffer->sequence);
            if (file->buffers[k].cpu == buffer->cpu)
                assert_true(file->buffers[k].sequence < buffer->sequence);
        }
    }
}

static void every_combination_of_options_gives_a_sound_file(void **state)
{
    (void)state;
    static const u32 sizes[] = { 4096, 65536 };
    static const u32 cpus[] = { 1, 4, 64 };
    for (u32 mask = 0; mask < 1u << 6; mask++) {
        const etl_build_options options = { .cpus = cpus[(mask & 3) % 3],
                                            .buffer_bytes = sizes[mask >> 2 & 1],
                                            .compress = mask >> 3 & 1,
                                            .keyed_stacks = mask >> 4 & 1,
                                            .header_records = mask >> 5 & 1,
                                            .stack_key_slots = 16 };
        etl_build *const b = etl_build_new(&options);
        scenario_run run = { .cpus = options.cpus, .operations = 300 };
        assert_true(scenario_write(scenario_find("workload"), &run, b));
        plain_file file = finish_and_read(b);
        assert_streams_in_order(&file);
        plain_free(&file);
        scenario_run_free(&run);
        etl_build_free(b);
    }
}

static void an_idle_cpu_is_written_last_but_began_first(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 2, .buffer_bytes = 4096 });
    etl_build_heap_free(b, at(1000001, 1), HEAP, 0x2000);
    add_allocs(b, 300, 1);
    plain_file file = finish_and_read(b);
    const plain_buffer *const last = &file.buffers[file.buffer_count - 1];
    assert_true(file.buffer_count > 4);
    assert_int_equal(last->cpu, 1);
    assert_int_equal(last->sequence, 1);
    assert_int_equal(last->flags, 0x21); /* flush marker */
    assert_int_equal(file.buffers[1].sequence, 2);
    plain_free(&file);
    etl_build_free(b);
}

static void a_flush_interval_bounds_how_late_buffers_are(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .cpus = 4, .buffer_bytes = 4096, .flush_interval_ticks = 500 });
    add_allocs(b, 1000, 4);
    plain_file file = finish_and_read(b);
    for (u32 i = 1; i < file.buffer_count; i++) {
        const plain_record *const first = &file.records[file.buffers[i].record_first];
        assert_true(file.buffers[i].timestamp - first->ticks <= 500 + 10);
    }
    plain_free(&file);
    etl_build_free(b);
}

static void a_lost_buffer_leaves_a_gap_and_is_reported(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 2 });
    add_allocs(b, 10, 2);
    etl_build_lose_buffer(b, 1001055, 0); /* CPU 0 has 0, 20, 40 */
    plain_file file = finish_and_read(b);
    const u8 *const p = file.records[0].payload;
    assert_int_equal(plain_u32(p + 0x30), 3);
    assert_int_equal(plain_u32(p + 0x114), 1);
    assert_int_equal(plain_count(&file, 0x1021), 7);
    assert_int_equal(file.buffer_count, 3);
    assert_int_equal(file.buffers[1].sequence + file.buffers[2].sequence, 2 + 3);
    plain_free(&file);
    etl_build_free(b);
}

static void an_unclosed_session_misses_its_end(void **state)
{
    (void)state;
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 1, .buffer_bytes = 4096, .unclosed = true });
    add_allocs(b, 100, 1);
    plain_file file = finish_and_read(b);
    assert_int_equal(plain_u64(file.records[0].payload + 0x10), 0);
    assert_int_equal(plain_u32(file.records[0].payload + 0x24), 0);
    assert_in_range(plain_count(&file, 0x1021), 1, 99);
    plain_free(&file);
    etl_build_free(b);
}

static void an_appended_session_has_its_own_header(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    etl_build_heap_free(b, at(1000100, 0), HEAP, 0x2000);
    etl_build_append_session(b, &(etl_build_options){ .cpus = 1, .start_ticks = 2000000 });
    etl_build_heap_free(b, at(2000100, 0), HEAP, 0x3000);
    plain_file file = finish_and_read(b);
    assert_int_equal(file.buffer_count, 4);
    assert_int_equal(file.buffers[2].type, 4);
    assert_int_equal(file.buffers[3].sequence, 1);
    assert_int_equal(plain_u32(file.records[0].payload + 0x24), 2);
    assert_int_equal(plain_u32(file.records[2].payload + 0x24), 2);
    plain_free(&file);
    etl_build_free(b);
}

static void a_circular_file_keeps_the_latest_buffers(void **state)
{
    (void)state;
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 1, .buffer_bytes = 4096, .ring_buffers = 4 });
    add_allocs(b, 500, 1);
    plain_file file = finish_and_read(b);
    i64 newest = 0;
    assert_int_equal(file.buffer_count, 5);
    for (u32 i = 1; i < 5; i++)
        newest = file.buffers[i].sequence > newest ? file.buffers[i].sequence : newest;
    for (u32 i = 1; i < 5; i++)
        assert_in_range(file.buffers[i].sequence, newest - 3, newest);
    assert_true(newest > 4);
    plain_free(&file);
    etl_build_free(b);
}

/* --- order ----------------------------------------------------------------------- */

static void sorted_order_takes_calls_in_any_order(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    for (u32 i = 0; i < 200; i++)
        etl_build_heap_free(b, at(1001000 + (i64)(i * 77 % 200), 0), HEAP, 0x2000);
    plain_file file = finish_and_read(b);
    assert_streams_in_order(&file);
    assert_int_equal(etl_build_last_ticks(b), 1001199);
    plain_free(&file);
    etl_build_free(b);
}

static void equal_times_keep_the_order_of_calls(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    for (u32 i = 0; i < 50; i++)
        etl_build_heap_free(b, at(1001000, 0), HEAP, i);
    plain_file file = finish_and_read(b);
    for (u32 i = 0; i < 50; i++)
        assert_int_equal(plain_u64(file.records[1 + i].payload + 8), i);
    plain_free(&file);
    etl_build_free(b);
}

static void called_order_keeps_times_that_run_backwards(void **state)
{
    (void)state;
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 1, .order = ETL_BUILD_AS_CALLED });
    etl_build_heap_free(b, at(1002000, 0), HEAP, 1);
    etl_build_heap_free(b, at(1001000, 0), HEAP, 2);
    plain_file file = finish_and_read(b);
    assert_int_equal(file.records[1].ticks, 1002000);
    assert_int_equal(file.records[2].ticks, 1001000);
    plain_free(&file);
    etl_build_free(b);
}

static char *temporary_path(void)
{
    static char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "test_etl_build");
    assert_true(file >= 0);
    close(file);
    return path;
}

static void streaming_to_a_file_writes_what_sorting_in_memory_does(void **state)
{
    (void)state;
    etl_build_options options = {
        .cpus = 4, .buffer_bytes = 8192, .compress = true, .keyed_stacks = true
    };
    scenario_run runs[2] = { { .operations = 600 }, { .operations = 600 } };
    etl_build *const sorted = etl_build_new(&options);
    assert_true(scenario_write(scenario_find("workload"), &runs[0], sorted));
    assert_true(etl_build_finish(sorted));
    size_t size = 0;
    const u8 *const expected = etl_build_data(sorted, &size);

    options.order = ETL_BUILD_STREAMING;
    options.path = temporary_path();
    etl_build *const streamed = etl_build_new(&options);
    assert_true(scenario_write(scenario_find("workload"), &runs[1], streamed));
    assert_true(etl_build_finish(streamed));
    FILE *const file = fopen(options.path, "rb");
    assert_non_null(file);
    u8 *const found = malloc(size + 1);
    assert_non_null(found);
    assert_int_equal(fread(found, 1, size + 1, file), size);
    assert_memory_equal(found, expected, size);
    fclose(file);
    unlink(options.path);
    free(found);
    for (int i = 0; i < 2; i++)
        scenario_run_free(&runs[i]);
    etl_build_free(streamed);
    etl_build_free(sorted);
}

/* --- stacks ------------------------------------------------------------------------ */

static void a_stack_walk_names_its_event(void **state)
{
    (void)state;
    static const u64 kernel[2] = { 0xfffff80000001000, 0xfffff80000002000 };
    static const u64 user[3] = { 0x1000, 0x2000, 0x3000 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 2 });
    const etl_build_stack stack = { .kernel = kernel,
                                    .kernel_count = 2,
                                    .user = user,
                                    .user_count = 3,
                                    .user_cpu_differs = true,
                                    .user_cpu = 1,
                                    .user_delay_ticks = 700 };
    etl_build_stack_walk(b, at(1001000, 0), &stack);
    plain_file file = finish_and_read(b);
    const plain_record *const first = &file.records[1];
    const plain_record *const second = &file.records[2];
    assert_int_equal(first->hook, 0x1820);
    assert_int_equal(plain_u64(first->payload), 1001000);
    assert_int_equal(plain_u32(first->payload + 8), 42);
    assert_int_equal(plain_u32(first->payload + 12), 7);
    assert_memory_equal(first->payload + 16, kernel, sizeof kernel);
    assert_int_equal(file.buffers[second->buffer].cpu, 1);
    assert_int_equal(second->ticks, 1001700);
    assert_memory_equal(second->payload + 16, user, sizeof user);
    plain_free(&file);
    etl_build_free(b);
}

/* The first definition of a key that is not earlier than a record. */
static const plain_record *definition_of(const plain_file *file, u64 key, i64 ticks)
{
    const plain_record *best = NULL;
    for (u32 i = 0; i < file->record_count; i++) {
        const plain_record *const r = &file->records[i];
        const bool defines = r->hook == 0x1823 || r->hook == 0x1824;
        if (defines && plain_u64(r->payload) == key && r->ticks >= ticks &&
            (best == NULL || r->ticks < best->ticks))
            best = r;
    }
    return best;
}

/* The stack of the event a tid stands for begins with this, so a wrong
 * definition shows. */
static u64 first_frame(u32 tid, bool same_cpu)
{
    return same_cpu ? tid * 7 % 300 : tid / 3;
}

/* Times so close that a slot often cannot be given up: because it was used a
 * moment ago on another CPU, or because this CPU has logged at the same time. */
static void assert_keys_resolve(bool same_cpu)
{
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .cpus = 3, .keyed_stacks = true, .stack_key_slots = 4 });
    i64 ticks = 1001000;
    for (u32 i = 0; i < 900; i++) {
        const u64 frames[5] = { first_frame(i, same_cpu), 2, 3, 4, 5 };
        etl_build_at when = at(ticks, same_cpu ? i / 2 % 3 : i % 3);
        when.tid = i;
        etl_build_stack_walk(b, when, &(etl_build_stack){ .user = frames, .user_count = 5 });
        ticks += i * 5 % 4;
    }
    plain_file file = finish_and_read(b);
    assert_streams_in_order(&file);
    u32 keyed = 0;
    for (u32 i = 0; i < file.record_count; i++) {
        const plain_record *const r = &file.records[i];
        if (r->hook != 0x1826)
            continue;
        const plain_record *const d = definition_of(&file, plain_u64(r->payload + 16), r->ticks);
        const u32 tid = plain_u32(r->payload + 12);
        assert_non_null(d);
        assert_int_equal(d->payload_size, 6 * 8);
        assert_int_equal(plain_u64(d->payload + 8), first_frame(tid, same_cpu));
        keyed++;
    }
    assert_in_range(keyed, 400, 899);
    assert_int_equal(keyed + plain_count(&file, 0x1820), 900);
    assert_true(plain_count(&file, 0x1823) > 100);
    plain_free(&file);
    etl_build_free(b);
}

static void every_key_is_defined_later_by_the_right_frames(void **state)
{
    (void)state;
    assert_keys_resolve(false);
    assert_keys_resolve(true);
}

/* --- errors -------------------------------------------------------------------------- */

static void errors_stick_and_are_explained(void **state)
{
    (void)state;
    etl_build *b = etl_build_new(&(etl_build_options){ .cpus = 2 });
    etl_build_heap_free(b, at(1000100, 2), HEAP, 0);
    assert_false(etl_build_finish(b));
    assert_string_equal(etl_build_error(b), "a record names CPU 2 of 2");
    etl_build_free(b);

    b = etl_build_new(&(etl_build_options){ .buffer_bytes = 1024 });
    u8 large[2000] = { 0 };
    etl_build_hook(b, at(1000100, 0), 0x7F7F, large, sizeof large);
    assert_false(etl_build_finish(b));
    assert_non_null(strstr(etl_build_error(b), "does not fit"));
    etl_build_free(b);

    b = etl_build_new(&(etl_build_options){ .path = "/nonexistent/file.etl" });
    etl_build_heap_free(b, at(1000100, 0), HEAP, 0);
    assert_false(etl_build_finish(b));
    assert_non_null(strstr(etl_build_error(b), "/nonexistent/file.etl"));
    etl_build_free(b);
}

static void the_largest_record_fits_and_a_larger_one_does_not(void **state)
{
    (void)state;
    u8 *const payload = calloc(1, 65536);
    assert_non_null(payload);
    etl_build *b = etl_build_new(&(etl_build_options){ .buffer_bytes = 131072 });
    etl_build_hook(b, at(1000100, 0), 0x7F7F, payload, 65535 - 32);
    plain_file file = finish_and_read(b);
    assert_int_equal(file.records[1].size, 65535);
    plain_free(&file);
    etl_build_free(b);

    b = etl_build_new(&(etl_build_options){ .buffer_bytes = 131072 });
    etl_build_hook(b, at(1000100, 0), 0x7F7F, payload, 65536 - 32);
    assert_false(etl_build_finish(b));
    etl_build_free(b);
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_alloc_has_the_published_layout),
        cmocka_unit_test(payloads_have_the_published_lengths),
        cmocka_unit_test(log_file_header_states_session_and_totals),
        cmocka_unit_test(every_combination_of_options_gives_a_sound_file),
        cmocka_unit_test(an_idle_cpu_is_written_last_but_began_first),
        cmocka_unit_test(a_flush_interval_bounds_how_late_buffers_are),
        cmocka_unit_test(a_lost_buffer_leaves_a_gap_and_is_reported),
        cmocka_unit_test(an_unclosed_session_misses_its_end),
        cmocka_unit_test(an_appended_session_has_its_own_header),
        cmocka_unit_test(a_circular_file_keeps_the_latest_buffers),
        cmocka_unit_test(sorted_order_takes_calls_in_any_order),
        cmocka_unit_test(equal_times_keep_the_order_of_calls),
        cmocka_unit_test(called_order_keeps_times_that_run_backwards),
        cmocka_unit_test(streaming_to_a_file_writes_what_sorting_in_memory_does),
        cmocka_unit_test(a_stack_walk_names_its_event),
        cmocka_unit_test(every_key_is_defined_later_by_the_right_frames),
        cmocka_unit_test(errors_stick_and_are_explained),
        cmocka_unit_test(the_largest_record_fits_and_a_larger_one_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
