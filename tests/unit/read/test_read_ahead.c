/*
 * Goal: while a slice is analyzed, what follows in the plan is read from the disk, up to the
 * bound and no further; small traces are left alone, and closing waits for nothing.
 * Method: a trace that is dropped from the page cache is planned, and the cache says what of
 * it is there afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/read/read_ahead.h"
#include "tests/build/etl_build.h"
#include "tests/support/cold_file.h"
#include "tests/support/temporary.h"

#define BUFFER_BYTES 65536u
#define RECORD_BYTES 60000u

typedef struct fixture {
    char path[TEMPORARY_PATH_BYTES];
    etl_trace *trace;
    u64 size_bytes;
    timebase base;
    read_plan plan;
} fixture;

/* Events of which a buffer holds one. */
static void write_trace(const char *path, u32 buffers)
{
    static u8 payload[RECORD_BYTES];
    const etl_build_options options = { .buffer_bytes = BUFFER_BYTES };
    etl_build *const b = etl_build_new(&options);
    for (u32 i = 0; i < buffers; i++) {
        const etl_build_at at = { .ticks = etl_build_start_ticks(b) + 1000 + i,
                                  .pid = 4,
                                  .tid = 8 };
        etl_build_hook(b, at, 0x1234, payload, sizeof payload);
    }
    assert_true(etl_build_finish_to(b, path));
    etl_build_free(b);
}

/* False: nothing can be evicted here. */
static bool open_cold(fixture *f, u32 buffers)
{
    *f = (fixture){ .size_bytes = 0 };
    const int file = temporary_file(f->path, "test_read_ahead");
    assert_true(file >= 0 && close(file) == 0);
    write_trace(f->path, buffers);
    assert_int_equal(etl_open(f->path, NULL, &f->trace, NULL), ETL_OK);
    assert_true(etl_buffer_count(f->trace) >= buffers);
    f->size_bytes = etl_file_size(f->trace);
    assert_true(timebase_open(&f->base, &f->trace, 1));
    assert_true(plan_open(&f->plan, &f->trace, 1, &f->base, 1));
    etl_trace_release(f->trace, 0, f->size_bytes);
    return cold_file_evict(f->path);
}

static void close_all(fixture *f)
{
    plan_close(&f->plan);
    timebase_close(&f->base);
    etl_close(f->trace);
    assert_int_equal(unlink(f->path), 0);
}

static void rest_a_moment(void)
{
    const struct timespec moment = { .tv_nsec = 100000000 };
    nanosleep(&moment, NULL);
}

static void all_that_is_within_the_bound_is_read(void **state)
{
    (void)state;
    fixture f;
    const bool is_cold = open_cold(&f, 640); /* 40 MiB */
    read_ahead *const ahead = is_cold ? read_ahead_open(&f.plan, &f.trace, 1, ETL_GIB) : NULL;
    if (is_cold) {
        assert_non_null(ahead);
        assert_true(cold_file_arrives(f.path, 0, f.size_bytes));
    }
    read_ahead_close(ahead);
    close_all(&f);
    if (!is_cold)
        skip();
}

static void no_more_than_the_bound_is_read(void **state)
{
    (void)state;
    fixture f;
    const u64 bound = 16 * ETL_MIB;
    const bool is_cold = open_cold(&f, 1024); /* 64 MiB */
    read_ahead *const ahead = is_cold ? read_ahead_open(&f.plan, &f.trace, 1, bound) : NULL;
    if (is_cold) {
        assert_non_null(ahead);
        assert_true(cold_file_arrives(f.path, 0, bound));
        rest_a_moment();
        assert_int_equal(cold_file_present(f.path, bound + ETL_MIB, f.size_bytes - bound - ETL_MIB),
                         0);
        read_ahead_go_on(ahead, 320); /* 20 MiB were handed out, and are not asked for any more */
        assert_true(cold_file_arrives(f.path, 21 * ETL_MIB, bound - 2 * ETL_MIB));
        rest_a_moment();
        assert_int_equal(cold_file_present(f.path, 46 * ETL_MIB, f.size_bytes - 46 * ETL_MIB), 0);
        read_ahead_go_on(ahead, f.plan.count);
    }
    read_ahead_close(ahead);
    close_all(&f);
    if (!is_cold)
        skip();
}

/* Reads the first bytes of a file as another program would. */
static void warm(const char *path, u64 size_bytes)
{
    static u8 bytes[ETL_MIB];
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    for (u64 done = 0; done < size_bytes; done += sizeof bytes)
        assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
}

/* Where the page cache ends lies within a window, or at its first byte. */
static void what_follows_a_warm_part_is_read(void **state)
{
    static const u64 warm_bytes[] = { 48 * ETL_MIB, 52 * ETL_MIB, 57 * ETL_MIB };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(warm_bytes); i++) {
        fixture f;
        const bool is_cold = open_cold(&f, 1600); /* 100 MiB */
        if (is_cold)
            warm(f.path, warm_bytes[i]);
        read_ahead *const ahead = is_cold ? read_ahead_open(&f.plan, &f.trace, 1, ETL_GIB) : NULL;
        if (is_cold) {
            assert_non_null(ahead);
            assert_true(cold_file_arrives(f.path, 64 * ETL_MIB, f.size_bytes - 64 * ETL_MIB));
        }
        read_ahead_close(ahead);
        close_all(&f);
        if (!is_cold)
            skip();
    }
}

static void small_trace_is_left_alone(void **state)
{
    (void)state;
    fixture f;
    (void)open_cold(&f, 64);
    assert_null(read_ahead_open(&f.plan, &f.trace, 1, ETL_GIB));
    read_ahead_go_on(NULL, 1);
    read_ahead_close(NULL);
    close_all(&f);
}

static void without_memory_nothing_is_read(void **state)
{
    (void)state;
    fixture f;
    (void)open_cold(&f, 640);
    assert_null(read_ahead_open(&f.plan, &f.trace, 1, ETL_MIB));
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_within_the_bound_is_read),
        cmocka_unit_test(no_more_than_the_bound_is_read),
        cmocka_unit_test(what_follows_a_warm_part_is_read),
        cmocka_unit_test(small_trace_is_left_alone),
        cmocka_unit_test(without_memory_nothing_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
