/*
 * Goal: the trace builder breaks exactly the field it is asked to break, so that
 * a test of damage tests that damage.
 * Method: the same trace with and without a break is compared byte by byte; a
 * break that changes lengths must leave what the strict reader accepts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/build/etl_build.h"
#include "plain_reader.h"

/* A file with a break, or without for ETL_BREAK_COUNT. */
static etl_build *broken(bool compress, etl_build_field field, u64 index, u64 value)
{
    etl_build *const b = etl_build_new(
        &(etl_build_options){ .cpus = 2, .buffer_bytes = 4096, .compress = compress });
    if (field != ETL_BREAK_COUNT)
        etl_build_break(b, field, index, value);
    for (u32 i = 0; i < 200; i++) {
        const etl_build_at at = { .ticks = 1001000 + (i64)i * 10, .cpu = i % 2, .pid = 42 };
        etl_build_heap_alloc(b, at, 0x1f0000, 0x2000 + i * 32, 24);
    }
    if (!etl_build_finish(b))
        fail_msg("%s: %s", etl_build_field_name(field), etl_build_error(b));
    return b;
}

/* Where the two files differ: [*from, *to). */
static void difference(const etl_build *a, const etl_build *b, size_t *from, size_t *to)
{
    size_t a_size = 0;
    size_t b_size = 0;
    const u8 *const a_bytes = etl_build_data(a, &a_size);
    const u8 *const b_bytes = etl_build_data(b, &b_size);
    assert_int_equal(a_size, b_size);
    *from = a_size;
    *to = 0;
    for (size_t i = 0; i < a_size; i++) {
        if (a_bytes[i] == b_bytes[i])
            continue;
        *from = i < *from ? i : *from;
        *to = i + 1;
    }
}

static void a_break_changes_its_field_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        etl_build_field field;
        u64 index;
        size_t from;
        size_t width;
    } expected[] = {
        { ETL_BREAK_BUFFER_SIZE, 0, 0x00, 4 },
        { ETL_BREAK_BUFFER_SIZE, 1, 4096, 4 },
        { ETL_BREAK_BUFFER_SAVED_OFFSET, 1, 4096 + 0x04, 4 },
        { ETL_BREAK_BUFFER_CURRENT_OFFSET, 1, 4096 + 0x08, 4 },
        { ETL_BREAK_BUFFER_REFERENCE_COUNT, 1, 4096 + 0x0C, 4 },
        { ETL_BREAK_BUFFER_TIMESTAMP, 2, 8192 + 0x10, 8 },
        { ETL_BREAK_BUFFER_SEQUENCE, 2, 8192 + 0x18, 8 },
        { ETL_BREAK_BUFFER_CPU, 1, 4096 + 0x28, 2 },
        { ETL_BREAK_BUFFER_LOGGER_ID, 1, 4096 + 0x2A, 2 },
        { ETL_BREAK_BUFFER_STATE, 1, 4096 + 0x2C, 4 },
        { ETL_BREAK_BUFFER_OFFSET, 1, 4096 + 0x30, 4 },
        { ETL_BREAK_BUFFER_FLAGS, 1, 4096 + 0x34, 2 },
        { ETL_BREAK_BUFFER_TYPE, 1, 4096 + 0x36, 2 },
        { ETL_BREAK_RECORD_VERSION, 1, 4096 + 72, 2 },
        { ETL_BREAK_RECORD_TYPE, 1, 4096 + 72 + 2, 1 },
        { ETL_BREAK_RECORD_MARKER, 1, 4096 + 72 + 3, 1 },
        { ETL_BREAK_RECORD_SIZE, 1, 4096 + 72 + 4, 2 },
        { ETL_BREAK_RECORD_HOOK, 3, 4096 + 72 + 64 + 6, 2 },
        { ETL_BREAK_RECORD_TICKS, 3, 4096 + 72 + 64 + 16, 8 },
        { ETL_BREAK_RECORD_SIZE, 0, 72 + 4, 2 },
        { ETL_BREAK_SESSION_BUFFER_SIZE, 0, 104, 4 },
        { ETL_BREAK_SESSION_CPU_COUNT, 0, 104 + 0x0C, 4 },
        { ETL_BREAK_SESSION_END_TIME, 0, 104 + 0x10, 8 },
        { ETL_BREAK_SESSION_LOG_FILE_MODE, 0, 104 + 0x20, 4 },
        { ETL_BREAK_SESSION_BUFFERS_WRITTEN, 0, 104 + 0x24, 4 },
        { ETL_BREAK_SESSION_POINTER_SIZE, 0, 104 + 0x2C, 4 },
        { ETL_BREAK_SESSION_EVENTS_LOST, 0, 104 + 0x30, 4 },
        { ETL_BREAK_SESSION_CPU_MHZ, 0, 104 + 0x34, 4 },
        { ETL_BREAK_SESSION_FREQUENCY, 0, 104 + 0x100, 8 },
        { ETL_BREAK_SESSION_START_TIME, 0, 104 + 0x108, 8 },
        { ETL_BREAK_SESSION_CLOCK, 0, 104 + 0x110, 4 },
        { ETL_BREAK_SESSION_BUFFERS_LOST, 0, 104 + 0x114, 4 },
    };
    etl_build *const whole = broken(false, ETL_BREAK_COUNT, 0, 0);
    for (size_t i = 0; i < ETL_COUNT_OF(expected); i++) {
        etl_build *const b =
            broken(false, expected[i].field, expected[i].index, 0x9B9B9B9B9B9B9B9B);
        size_t from = 0;
        size_t to = 0;
        difference(whole, b, &from, &to);
        assert_int_equal(from, expected[i].from);
        assert_int_equal(to, expected[i].from + expected[i].width);
        etl_build_free(b);
    }
    etl_build_free(whole);
}

static void single_bytes_are_broken_where_named(void **state)
{
    (void)state;
    size_t from = 0;
    size_t to = 0;
    etl_build *const plain = broken(false, ETL_BREAK_COUNT, 0, 0);
    etl_build *const packed = broken(true, ETL_BREAK_COUNT, 0, 0);
    etl_build *b = broken(false, ETL_BREAK_BUFFER_BYTE, 1, ETL_BUILD_BYTE(4000, 0xEE));
    difference(plain, b, &from, &to);
    assert_int_equal(from, 4096 + 4000);
    assert_int_equal(to, from + 1);
    etl_build_free(b);

    b = broken(false, ETL_BREAK_RECORD_BYTE, 1, ETL_BUILD_BYTE(33, 0xEE));
    difference(plain, b, &from, &to);
    assert_int_equal(from, 4096 + 72 + 33);
    assert_int_equal(to, from + 1);
    etl_build_free(b);

    b = broken(true, ETL_BREAK_COMPRESSED_BYTE, 1, ETL_BUILD_BYTE(9, 0xEE));
    difference(packed, b, &from, &to);
    size_t size = 0;
    const u8 *const bytes = etl_build_data(packed, &size);
    assert_int_equal(from, plain_u32(bytes) + 72 + 9);
    assert_int_equal(to, from + 1);
    etl_build_free(b);
    etl_build_free(plain);
    etl_build_free(packed);
}

/* Records of a size in a sound file. */
static u32 count_of_size(const etl_build *b, u32 record_size)
{
    size_t size = 0;
    const u8 *const bytes = etl_build_data(b, &size);
    plain_file file = plain_read(bytes, size);
    assert_string_equal(file.error, "");
    u32 count = 0;
    for (u32 i = 0; i < file.record_count; i++)
        count += file.records[i].size == record_size;
    plain_free(&file);
    return count;
}

static void breaks_that_change_lengths_do_so(void **state)
{
    (void)state;
    size_t whole_size = 0;
    size_t size = 0;
    etl_build *const whole = broken(true, ETL_BREAK_COUNT, 0, 0);
    etl_build_data(whole, &whole_size);
    static const struct {
        etl_build_field field;
        u64 index;
        i64 change;
    } expected[] = {
        { ETL_BREAK_COMPRESSED_CUT, 1, -5 },
        { ETL_BREAK_FILE_CUT, 0, -5 },
        { ETL_BREAK_FILE_ZEROS, 0, 5 },
        { ETL_BREAK_FILE_GARBAGE, 0, 5 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(expected); i++) {
        etl_build *const b = broken(true, expected[i].field, expected[i].index, 5);
        etl_build_data(b, &size);
        assert_int_equal((i64)size - (i64)whole_size, expected[i].change);
        etl_build_free(b);
    }
    etl_build_free(whole);

    etl_build *b = broken(false, ETL_BREAK_RECORD_CUT, 1, 8);
    assert_int_equal(count_of_size(b, 60), 199);
    assert_int_equal(count_of_size(b, 60 - 8), 1);
    etl_build_free(b);

    b = broken(false, ETL_BREAK_BUFFER_DROP, 2, 0);
    assert_in_range(count_of_size(b, 60), 100, 199);
    etl_build_free(b);
}

static void a_break_that_finds_nothing_is_an_error(void **state)
{
    (void)state;
    etl_build *const b = etl_build_new(NULL);
    etl_build_break(b, ETL_BREAK_RECORD_SIZE, 5000, 0);
    assert_false(etl_build_finish(b));
    assert_non_null(strstr(etl_build_error(b), "RECORD_SIZE"));
    etl_build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_break_changes_its_field_and_nothing_else),
        cmocka_unit_test(single_bytes_are_broken_where_named),
        cmocka_unit_test(breaks_that_change_lengths_do_so),
        cmocka_unit_test(a_break_that_finds_nothing_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
