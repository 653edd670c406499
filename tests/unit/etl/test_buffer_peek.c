/*
 * Goal: beginnings of buffers that are read from the file lead to the same index as the
 * mapping does, of sound files and of broken ones; and the file's pages are given back
 * slice by slice without anything being lost.
 * Method: built traces, some with flipped bits, are opened by name and in memory, and
 * compared buffer by buffer; the time of each first record comes from reading it. A file
 * whose mapped bytes are others than those it is read from shows where a byte came from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "engine/read/release.h"
#include "tests/support/hand_bytes.h"
#include "parser/etl/buffer_peek.h"
#include "parser/system/files.h"
#include "tests/build/etl_build.h"
#include "tests/support/temporary.h"

#define BUFFER_BYTES 4096u
#define FRAMES_MAX   150u /* more than are peeked at */

static char path[TEMPORARY_PATH_BYTES];
static int opened = -1;

static int remove_file(void **state)
{
    (void)state;
    etl_temporary_remove(opened, path);
    opened = -1;
    return 0;
}

/* Writes the bytes to a file of its own, which stays open for reading. */
static void write_file(const void *bytes, size_t size)
{
    (void)snprintf(path, sizeof path, "%s/test_peek_XXXXXX", temporary_folder());
    opened = etl_temporary_open(path);
    assert_true(opened >= 0);
    assert_true(etl_file_write(opened, bytes, size));
}

/* The same, to be opened by its name. */
static etl_trace *open_file(const hand_bytes *file)
{
    write_file(file->at, file->size);
    assert_true(etl_temporary_finish(&opened));
    etl_trace *trace;
    assert_int_equal(etl_open(path, NULL, &trace, NULL), ETL_OK);
    return trace;
}

static etl_trace *open_bytes(const hand_bytes *file)
{
    etl_trace *trace;
    assert_int_equal(etl_open_memory((etl_bytes){ file->at, file->size }, NULL, &trace, NULL),
                     ETL_OK);
    return trace;
}

/* --- one look ------------------------------------------------------------------------ */

static void bytes_are_read_and_not_mapped(void **state)
{
    (void)state;
    static u8 written[3000], mapped[sizeof written];
    memset(written, 'w', sizeof written);
    memset(mapped, 'm', sizeof mapped);
    write_file(written, sizeof written);
    etl_peek peek = { .file = { mapped, sizeof mapped }, .descriptor = opened };
    const etl_bytes first = etl_peek_at(&peek, 100);
    const etl_bytes second = etl_peek_at(&peek, 2900);
    assert_int_equal(first.size, ETL_PEEK_BYTES);
    assert_int_equal(second.size, 100);
    assert_int_equal(first.at[0], 'w');
    assert_int_equal(second.at[99], 'w');
    assert_ptr_equal(etl_peek_at(&peek, 100).at, first.at);
    assert_int_equal(etl_peek_at(&peek, sizeof written).size, 0);
}

/* It became shorter after it was mapped: then the mapping has what there is. */
static void what_cannot_be_read_is_looked_at_where_it_is_mapped(void **state)
{
    (void)state;
    static const u8 written[50];
    static u8 mapped[3000];
    memset(mapped, 'm', sizeof mapped);
    write_file(written, sizeof written);
    etl_peek peek = { .file = { mapped, sizeof mapped }, .descriptor = opened };
    assert_ptr_equal(etl_peek_at(&peek, 10).at, mapped + 10);
    assert_int_equal(etl_peek_at(&peek, 10).size, sizeof mapped - 10);
    peek = (etl_peek){ .file = { mapped, sizeof mapped }, .descriptor = -1 };
    assert_ptr_equal(etl_peek_at(&peek, 2999).at, mapped + 2999);
    assert_int_equal(etl_peek_at(&peek, 2999).size, 1);
}

/* --- whole files --------------------------------------------------------------------- */

/* Buffers begin with records of all lengths: some are longer than what is peeked at. */
static hand_bytes build(u64 *random, u32 flips, bool compress)
{
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .cpus = 3, .buffer_bytes = BUFFER_BYTES, .compress = compress });
    i64 ticks = etl_build_start_ticks(b);
    u64 frames[FRAMES_MAX];
    for (u32 i = 0; i < FRAMES_MAX; i++)
        frames[i] = 0x7FF600000000u + hand_random(random) % 4096;
    for (u32 i = 0; i < 600; i++) {
        ticks += 1 + hand_random(random) % 90;
        const etl_build_at at = { .ticks = ticks, .cpu = i % 3, .pid = 8, .tid = 16 };
        etl_build_heap_alloc(b, at, 0x1000, 0x2000 + 64 * (u64)i, 48);
        const etl_build_stack stack = { .user = frames,
                                        .user_count = 1 + hand_random(random) % FRAMES_MAX };
        etl_build_stack_walk(b, at, &stack);
    }
    assert_true(etl_build_finish(b));
    size_t size;
    const u8 *const built = etl_build_data(b, &size);
    hand_bytes file = { NULL, 0 };
    hand_put(&file, built, size);
    etl_build_free(b);
    for (u32 i = 0; i < flips; i++) {
        const size_t buffer = 1 + hand_random(random) % (size / BUFFER_BYTES - 1);
        file.at[buffer * BUFFER_BYTES + hand_random(random) % 80] ^=
            (u8)(1u << hand_random(random) % 8);
    }
    return file;
}

/* ETL_TICKS_UNKNOWN: no record has one. */
static i64 read_first_ticks(const etl_trace *trace, u32 index)
{
    etl_scratch scratch = { 0 };
    etl_diag_counts ignored = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    i64 ticks = ETL_TICKS_UNKNOWN;
    assert_int_equal(etl_buffer_load(trace, index, &scratch, &ignored, &buffer), ETL_OK);
    while (ticks == ETL_TICKS_UNKNOWN && etl_record_next(&buffer, &record))
        ticks = record.has_time ? record.ticks : ticks;
    etl_scratch_free(&scratch);
    return ticks;
}

static void assert_same_buffer(const etl_trace *by_name, const etl_trace *in_memory, u32 index)
{
    const etl_buffer_info *const x = etl_buffer_info_of(by_name, index);
    const etl_buffer_info *const y = etl_buffer_info_of(in_memory, index);
    assert_true(x->offset == y->offset && x->sequence == y->sequence);
    assert_int_equal(x->stored_size, y->stored_size);
    assert_int_equal(x->valid_size, y->valid_size);
    assert_true(x->flags == y->flags && x->type == y->type);
    assert_true(x->cpu == y->cpu && x->session == y->session);
    const i64 expected = read_first_ticks(in_memory, index);
    i64 ticks = ETL_TICKS_UNKNOWN;
    assert_true(x->first_ticks == expected || x->first_ticks == ETL_TICKS_UNKNOWN);
    assert_int_equal(etl_buffer_first_ticks(by_name, index, &ticks), expected != ETL_TICKS_UNKNOWN);
    assert_true(ticks == expected);
}

static void check_file(const hand_bytes *file)
{
    etl_trace *const by_name = open_file(file);
    etl_trace *const in_memory = open_bytes(file);
    assert_int_equal(etl_buffer_count(by_name), etl_buffer_count(in_memory));
    for (u32 i = 0; i < etl_buffer_count(by_name); i++)
        assert_same_buffer(by_name, in_memory, i);
    assert_memory_equal(etl_trace_diagnostics(by_name), etl_trace_diagnostics(in_memory),
                        sizeof(etl_diag_counts));
    etl_close(by_name);
    etl_close(in_memory);
    remove_file(NULL);
}

static void index_of_a_named_file_is_that_of_its_bytes(void **state)
{
    (void)state;
    u64 random = 11;
    for (u32 round = 0; round < 60; round++) {
        hand_bytes file = build(&random, round < 4 ? 0 : round % 7, round % 4 == 1);
        check_file(&file);
        hand_free(&file);
    }
}

/* --- giving pages back ---------------------------------------------------------------- */

static void assert_same_records(const etl_trace *a, const etl_trace *b)
{
    for (u32 i = 0; i < etl_buffer_count(a); i++) {
        const etl_buffer_info *const info = etl_buffer_info_of(a, i);
        etl_scratch scratch[2] = { { 0 } };
        etl_diag_counts ignored = { { 0 } };
        etl_buffer x, y;
        assert_int_equal(etl_buffer_load(a, i, &scratch[0], &ignored, &x), ETL_OK);
        assert_int_equal(etl_buffer_load(b, i, &scratch[1], &ignored, &y), ETL_OK);
        assert_int_equal(x.end, y.end);
        assert_memory_equal(x.base, y.base, info->flags == 0 ? info->stored_size : x.end);
        etl_scratch_free(&scratch[0]);
        etl_scratch_free(&scratch[1]);
    }
}

/* Pieces are the buffers that are done, each once, and neighbours are one piece. */
static void check_pieces(const release_list *list, const etl_trace *trace, const plan_slice *slice)
{
    u64 pieces_bytes = 0, done_bytes = 0;
    for (size_t i = 0; i < list->pieces.count; i++) {
        const release_piece *const piece = &list->pieces.at[i];
        assert_int_equal(piece->trace, 0);
        pieces_bytes += piece->size_bytes;
        if (i > 0) /* pieces that touch would have been one: all are small here */
            assert_true(piece->offset > piece[-1].offset + piece[-1].size_bytes);
    }
    for (size_t i = 0; i < slice->buffers.count; i++) {
        const plan_buffer *const buffer = &slice->buffers.at[i];
        const etl_buffer_info *const info = etl_buffer_info_of(trace, buffer->buffer);
        u32 times = 0;
        for (size_t k = 0; k < list->pieces.count; k++) {
            const release_piece *const piece = &list->pieces.at[k];
            times += info->offset >= piece->offset &&
                     info->offset + info->stored_size <= piece->offset + piece->size_bytes;
        }
        assert_int_equal(times, buffer->resume == PLAN_DONE);
        done_bytes += buffer->resume == PLAN_DONE ? info->stored_size : 0;
    }
    assert_true(pieces_bytes == done_bytes);
}

static void what_is_read_is_given_back_and_can_be_read_again(void **state)
{
    (void)state;
    u64 random = 5;
    for (u32 round = 0; round < 20; round++) {
        hand_bytes file = build(&random, 0, round % 3 == 1);
        etl_trace *trace = open_file(&file);
        etl_trace *const in_memory = open_bytes(&file);
        plan_slice slice = { 0 };
        release_list list = { 0 };
        for (u32 i = 0; i < etl_buffer_count(trace); i++) {
            const u32 resume = hand_random(&random) % 4 == 0 ? 72 : PLAN_DONE;
            const u32 buffer = (i * 7 + round) % etl_buffer_count(trace);
            assert_true(
                ETLHEAP_PUSH(&slice.buffers, (plan_buffer){ .buffer = buffer, .resume = resume }));
        }
        assert_true(release_plan(&list, &trace, &slice));
        if (etl_buffer_count(trace) % 7 != 0) /* else some are named twice */
            check_pieces(&list, trace, &slice);
        for (u32 i = 0; i < list.pieces.count; i++)
            release_run(&list, &trace, i);
        assert_same_records(trace, in_memory);
        release_free(&list);
        plan_slice_free(&slice);
        etl_close(trace);
        etl_close(in_memory);
        remove_file(NULL);
        hand_free(&file);
    }
}

static void nothing_is_given_back_of_what_is_in_memory(void **state)
{
    (void)state;
    u64 random = 3;
    hand_bytes file = build(&random, 0, false);
    etl_trace *const trace = open_bytes(&file);
    etl_trace_release(trace, 0, file.size);
    assert_true(read_first_ticks(trace, 0) != ETL_TICKS_UNKNOWN);
    etl_close(trace);
    hand_free(&file);
}

#define PEEK(test) cmocka_unit_test_teardown(test, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PEEK(bytes_are_read_and_not_mapped),
        PEEK(what_cannot_be_read_is_looked_at_where_it_is_mapped),
        PEEK(index_of_a_named_file_is_that_of_its_bytes),
        PEEK(what_is_read_is_given_back_and_can_be_read_again),
        PEEK(nothing_is_given_back_of_what_is_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
