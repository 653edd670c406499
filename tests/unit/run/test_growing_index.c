/*
 * Goal: an analysis that begins before the whole file is indexed says the same as one of the
 * whole index, whatever the order of the buffers; and it does begin before.
 * Method: random workloads in files that are written no further than they are waited for, in
 * small random steps: what lies beyond are buffers of other places, or zeros, so that a byte that
 * is read too early makes another answer. Analysed in small slices, compared as text with the same
 * bytes in memory, for one thread and several. Files with several processors of which one is idle,
 * files with a tail of zeros, damaged and joined files. A writer that fails is passed on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "parser/base.h"
#include "tests/support/run_check.h"
#include "tests/support/temporary.h"
#include "tests/build/workload.h"

#define SLICE_BYTES  32768u
#define STEP_BYTES   2000u  /* of the writer, at most */
#define FOREIGN_FROM 65536u /* how far away the bytes come from that lie beyond: whole buffers */

/* A file that arrives as it is waited for, and what was seen of it. */
typedef struct arrival {
    u64 size_bytes, arrived;
    const u8 *bytes; /* what is to be written */
    int file;        /* where to; -1: it is all there */
    u32 dice;
    u64 fails_from; /* bytes that do not come; 0: all do */
    bool is_finished;
    const etl_trace *trace;
    u32 early; /* slices that were done before all had arrived */
} arrival;

static etl_status arrive(void *user, u64 wanted, u64 *arrived, etl_error *err)
{
    arrival *const a = user;
    if (a->fails_from != 0 && wanted > a->fails_from)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 7, "the writer gave up");
    while (a->arrived < etl_min_u64(wanted, a->size_bytes)) {
        a->dice = a->dice * 1664525u + 1013904223u;
        const u64 step = etl_min_u64(1 + (a->dice >> 16) % STEP_BYTES, a->size_bytes - a->arrived);
        if (a->file >= 0)
            assert_int_equal(pwrite(a->file, a->bytes + a->arrived, step, (off_t)a->arrived), step);
        a->arrived += step;
    }
    a->is_finished |= wanted > a->size_bytes;
    *arrived = a->arrived;
    return ETL_OK;
}

static bool note_slice(void *user, u64 done_bytes, u64 total_bytes)
{
    arrival *const a = user;
    assert_int_equal(total_bytes, a->size_bytes);
    assert_true(done_bytes <= a->arrived);
    a->early += !a->is_finished;
    return true;
}

static void write_file(char path[TEMPORARY_PATH_BYTES], etl_bytes bytes)
{
    const int file = temporary_file(path, "test_growing_index");
    assert_true(file >= 0);
    FILE *const out = fdopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes.at, 1, bytes.size, out), bytes.size);
    assert_int_equal(fclose(out), 0);
}

/* A file in which nothing has arrived: each byte is that of another place, or 0. To be closed. */
static void begin_file(char path[TEMPORARY_PATH_BYTES], etl_bytes bytes, bool is_empty,
                       arrival *out)
{
    u8 *const foreign = calloc(1, bytes.size);
    assert_non_null(foreign);
    for (size_t i = 0; i < bytes.size && !is_empty; i++)
        foreign[i] = bytes.at[(i + FOREIGN_FROM) % bytes.size];
    write_file(path, (etl_bytes){ foreign, bytes.size });
    free(foreign);
    *out = (arrival){ .size_bytes = bytes.size, .bytes = bytes.at, .file = open(path, O_WRONLY) };
    assert_true(out->file >= 0);
}

static etl_status open_growing(const char *path, arrival *a, etl_trace **out, etl_error *err)
{
    const etl_open_options options = {
        .size = sizeof options, .in_steps = true, .arrival = arrive, .arrival_user = a
    };
    const etl_status status = etl_open(path, &options, out, err);
    a->trace = *out;
    return status;
}

static etlheap_options sliced(u32 jobs)
{
    return (etlheap_options){ .size = sizeof(etlheap_options),
                              .slice_bytes = SLICE_BYTES,
                              .jobs = jobs };
}

/* A question that a log answers; reports may be asked for, too. */
static char *log_text_of(etl_trace *trace, const etlheap_options *sliced)
{
    static const char *const names[] = { "trace" };
    const etlheap_query query = etlheap_query_default();
    etlheap_options options = *sliced;
    const etlheap_question question = { .size = sizeof question,
                                        .kind = ETLHEAP_ASK_EVENTS,
                                        .query = &query };
    options.questions = &question;
    options.question_count = 1;
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_analyze(&trace, names, 1, &options, &result, NULL), ETL_OK);
    char *const text = check_aggregate_text(result, &query);
    etlheap_result_free(result);
    return text;
}

static char *text_of(etl_trace *trace, const etlheap_options *options)
{
    static const char *const names[] = { "trace" };
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_analyze(&trace, names, 1, options, &result, NULL), ETL_OK);
    char *const text = check_result_text(result);
    etlheap_result_free(result);
    return text;
}

/* What wrote the file is expected to write it, and whoever writes to it later is not. */
static void expect_later_change_is_seen(const etl_trace *trace, const arrival *a)
{
    static const struct timespec later[] = { { 2000000000, 0 }, { 2000000000, 0 } };
    assert_int_equal(futimens(a->file, later), 0);
    assert_true(etl_trace_changed(trace));
}

typedef char *ask_fn(etl_trace *trace, const etlheap_options *options);

/* All readings of the bytes; returns the slices that were done early. */
static u32 check_answer(etl_bytes bytes, ask_fn *ask)
{
    u32 early = 0;
    etl_trace *whole = NULL;
    assert_int_equal(etl_open_memory(bytes, NULL, &whole, NULL), ETL_OK);
    const etlheap_options plain = sliced(1);
    char *const expected = ask(whole, &plain);
    etl_close(whole);
    for (u32 jobs = 1; jobs <= 3; jobs++) {
        char path[TEMPORARY_PATH_BYTES];
        arrival a;
        begin_file(path, bytes, jobs == 3, &a);
        etl_trace *growing = NULL;
        assert_int_equal(open_growing(path, &a, &growing, NULL), ETL_OK);
        etlheap_options options = sliced(jobs);
        options.progress = note_slice;
        options.progress_user = &a;
        char *const text = ask(growing, &options);
        assert_true(etl_is_indexed(growing));
        assert_true(check_same_text(text, expected));
        assert_false(etl_trace_changed(growing));
        early = a.early;
        free(text);
        expect_later_change_is_seen(growing, &a);
        etl_close(growing);
        assert_int_equal(close(a.file), 0);
        assert_int_equal(unlink(path), 0);
    }
    free(expected);
    return early;
}

/* The lesser of what was done early for both kinds of answers. */
static u32 check_bytes(etl_bytes bytes)
{
    const u32 early = check_answer(bytes, text_of), of_log = check_answer(bytes, log_text_of);
    return early < of_log ? early : of_log;
}

static etl_bytes built_bytes(etl_build *b)
{
    etl_bytes bytes;
    assert_true(etl_build_finish(b));
    bytes.at = etl_build_data(b, &bytes.size);
    return bytes;
}

/* To be freed. */
static u8 *workload_bytes(const etl_build_options *build, const workload_options *work,
                          size_t *size)
{
    workload *const w = workload_random(work);
    etl_build *const b = etl_build_new(build);
    workload_write(w, b, b);
    const etl_bytes bytes = built_bytes(b);
    u8 *const copy = malloc(bytes.size + 2 * (size_t)65536);
    assert_non_null(copy);
    memcpy(copy, bytes.at, bytes.size);
    *size = bytes.size;
    etl_build_free(b);
    workload_free(w);
    return copy;
}

static void results_are_those_of_the_whole_index(void **state)
{
    static const etl_build_options builds[] = {
        { .buffer_bytes = 4096 },
        { .buffer_bytes = 16384, .compress = true, .keyed_stacks = true, .stack_key_slots = 32 },
        { .buffer_bytes = 4096, .cpus = 16 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(builds); i++) {
        u32 early = 0;
        for (u64 seed = 1; seed <= 4; seed++) {
            const workload_options work = { .seed = seed, .operations = 8000 };
            size_t size;
            u8 *const bytes = workload_bytes(&builds[i], &work, &size);
            early += check_bytes((etl_bytes){ bytes, size });
            free(bytes);
        }
        assert_true(early > 0);
    }
}

static etl_build_at at(const etl_build *b, i64 ticks, u32 cpu)
{
    return (
        etl_build_at){ .ticks = etl_build_start_ticks(b) + ticks, .cpu = cpu, .pid = 4, .tid = 8 };
}

/* A processor's only buffer, which begins early, is written last: nobody could know. */
static void late_buffer_of_an_unseen_processor_begins_again(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096, .cpus = 2 };
    etl_build *const b = etl_build_new(&build);
    etl_build_heap_alloc(b, at(b, 500, 1), 0x1000, 0x20000, 24);
    etl_build_heap_free(b, at(b, 600, 0), 0x1000, 0x20000);
    for (u32 i = 0; i < 4000; i++)
        etl_build_heap_alloc(b, at(b, 1000 + i, 0), 0x1000, 0x30000 + 0x100 * i, 24);
    assert_true(check_bytes(built_bytes(b)) > 0);
    etl_build_free(b);
}

static void zeros_and_damage_at_the_end_count_as_ever(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 9, .operations = 6000 };
    size_t size;
    u8 *const bytes = workload_bytes(&build, &work, &size);
    memset(bytes + size, 0, 3 * 4096 + 20);
    (void)check_bytes((etl_bytes){ bytes, size + 3 * 4096 + 20 });
    (void)check_bytes((etl_bytes){ bytes, size + 20 });
    (void)check_bytes((etl_bytes){ bytes, size - 1000 });
    for (size_t at = 4096 * 3; at + 72 < size; at += 4096 * 7)
        memset(bytes + at, 0xEE, 40);
    (void)check_bytes((etl_bytes){ bytes, size });
    memset(bytes + size / 2, 0, 2 * 4096);
    (void)check_bytes((etl_bytes){ bytes, size });
    free(bytes);
}

static void joined_sessions_are_both_read(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 5, .operations = 3000 };
    size_t size;
    u8 *const once = workload_bytes(&build, &work, &size);
    u8 *const twice = malloc(2 * size);
    assert_non_null(twice);
    memcpy(twice, once, size);
    memcpy(twice + size, once, size);
    (void)check_bytes((etl_bytes){ twice, 2 * size });
    free(twice);
    free(once);
}

static void error_of_the_writer_is_passed_on(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 3, .operations = 6000 };
    size_t size;
    u8 *const bytes = workload_bytes(&build, &work, &size);
    const u64 places[] = { 100, size / 2, size };
    char path[TEMPORARY_PATH_BYTES];
    write_file(path, (etl_bytes){ bytes, size });
    for (size_t i = 0; i < ETL_COUNT_OF(places); i++) {
        static const char *const names[] = { "trace" };
        arrival a = { .size_bytes = size, .file = -1, .fails_from = places[i] };
        etl_error err = { .status = ETL_OK };
        etl_trace *trace = NULL;
        etl_status status = open_growing(path, &a, &trace, &err);
        assert_true((status == ETL_OK) == (places[i] > 4096));
        if (status == ETL_OK) {
            etlheap_result *result = NULL;
            const etlheap_options options = sliced(2);
            status = etlheap_analyze(&trace, names, 1, &options, &result, &err);
            assert_null(result);
        }
        assert_int_equal(status, ETL_ERR_CORRUPT);
        assert_string_equal(err.message, "the writer gave up");
        etl_close(trace);
    }
    assert_int_equal(unlink(path), 0);
    free(bytes);
}

/* Whoever needs all buffers at once gets them. */
static void stream_reads_the_rest_first(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 4, .operations = 6000 };
    size_t size;
    u8 *const bytes = workload_bytes(&build, &work, &size);
    char path[TEMPORARY_PATH_BYTES];
    write_file(path, (etl_bytes){ bytes, size });
    arrival a = { .size_bytes = size, .file = -1 };
    etl_trace *trace = NULL, *whole = NULL;
    assert_int_equal(open_growing(path, &a, &trace, NULL), ETL_OK);
    assert_int_equal(etl_open_memory((etl_bytes){ bytes, size }, NULL, &whole, NULL), ETL_OK);
    assert_true(!etl_is_indexed(trace) && etl_buffer_count(trace) < etl_buffer_count(whole));
    etlheap_stream *stream = NULL;
    assert_int_equal(etlheap_stream_open(&trace, 1, &stream, NULL), ETL_OK);
    assert_true(etl_is_indexed(trace));
    assert_int_equal(etl_buffer_count(trace), etl_buffer_count(whole));
    etlheap_stream_close(stream);
    etl_close(trace);
    etl_close(whole);
    assert_int_equal(unlink(path), 0);
    free(bytes);
}

/* A file that shall not be mapped is read when it is complete. */
static void memory_takes_the_complete_file(void **state)
{
    (void)state;
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 6, .operations = 3000 };
    size_t size;
    u8 *const bytes = workload_bytes(&build, &work, &size);
    char path[TEMPORARY_PATH_BYTES];
    arrival a;
    begin_file(path, (etl_bytes){ bytes, size }, false, &a);
    const etl_open_options options = { .size = sizeof options,
                                       .no_mmap = true,
                                       .in_steps = true,
                                       .arrival = arrive,
                                       .arrival_user = &a };
    etl_trace *trace = NULL, *whole = NULL;
    assert_int_equal(etl_open(path, &options, &trace, NULL), ETL_OK);
    assert_true(a.is_finished && etl_is_indexed(trace));
    assert_int_equal(etl_open_memory((etl_bytes){ bytes, size }, NULL, &whole, NULL), ETL_OK);
    const etlheap_options plain = sliced(2);
    char *const text = text_of(trace, &plain), *const expected = text_of(whole, &plain);
    assert_true(check_same_text(text, expected));
    free(text);
    free(expected);
    etl_close(trace);
    etl_close(whole);
    a.fails_from = 1;
    a.arrived = 0;
    assert_int_equal(etl_open(path, &options, &trace, NULL), ETL_ERR_CORRUPT);
    assert_null(trace);
    assert_int_equal(close(a.file), 0);
    assert_int_equal(unlink(path), 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_whole_index),
        cmocka_unit_test(late_buffer_of_an_unseen_processor_begins_again),
        cmocka_unit_test(zeros_and_damage_at_the_end_count_as_ever),
        cmocka_unit_test(joined_sessions_are_both_read),
        cmocka_unit_test(error_of_the_writer_is_passed_on),
        cmocka_unit_test(stream_reads_the_rest_first),
        cmocka_unit_test(memory_takes_the_complete_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
