/*
 * Goal: before indexing gets there, the system is asked for the headers of large buffers and
 * for nothing between them, and for all bytes of small or compressed ones. A file that is in
 * the page cache, or was read into memory, is left alone.
 * Method: a file that is dropped from the page cache is mapped, and the cache says what of it
 * is there afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "parser/etl/index_ahead.h"
#include "tests/support/cold_file.h"
#include "tests/support/temporary.h"

#define FILE_BYTES   ((u32)24 << 20)
#define BUFFER_BYTES ((u32)64 << 10)
#define PAGE_BYTES   4096u

static char path[TEMPORARY_PATH_BYTES];
static bool is_cold;

static int begin_test(void **state)
{
    (void)state;
    const int file = temporary_file(path, "test_index_ahead");
    u8 *const bytes = calloc(1, FILE_BYTES);
    if (file < 0 || bytes == NULL || close(file) != 0)
        return -1;
    is_cold = cold_file_write(path, bytes, FILE_BYTES);
    free(bytes);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    return unlink(path);
}

static etl_map open_map(bool read_it)
{
    etl_map map;
    assert_int_equal(etl_map_open(path, read_it, &map, NULL), ETL_OK);
    return map;
}

static void headers_alone_are_asked_for(void **state)
{
    (void)state;
    if (!is_cold)
        skip();
    etl_map map = open_map(false);
    etl_index_ahead ahead = { .map = &map };
    etl_index_ahead_at(&ahead, 0, BUFFER_BYTES, false);
    for (u32 i = 1; i <= 64; i++)
        assert_true(cold_file_arrives(path, (u64)i * BUFFER_BYTES, PAGE_BYTES));
    assert_true(cold_file_present(path, 0, FILE_BYTES) <= 64 * PAGE_BYTES);
    etl_index_ahead_at(&ahead, BUFFER_BYTES, BUFFER_BYTES, false);
    for (u32 i = 65; i <= 128; i++)
        assert_true(cold_file_arrives(path, (u64)i * BUFFER_BYTES, PAGE_BYTES));
    etl_index_ahead_at(&ahead, (u64)2 * BUFFER_BYTES, BUFFER_BYTES, false); /* enough is ahead */
    assert_true(cold_file_present(path, 0, FILE_BYTES) <= 128 * PAGE_BYTES);
    etl_map_close(&map);
}

static void prediction_ends_with_the_file(void **state)
{
    (void)state;
    if (!is_cold)
        skip();
    etl_map map = open_map(false);
    etl_index_ahead ahead = { .map = &map };
    etl_index_ahead_at(&ahead, FILE_BYTES - 2 * BUFFER_BYTES, BUFFER_BYTES, false);
    assert_true(cold_file_arrives(path, FILE_BYTES - BUFFER_BYTES, PAGE_BYTES));
    etl_index_ahead_at(&ahead, FILE_BYTES - BUFFER_BYTES, BUFFER_BYTES, false);
    etl_index_ahead_at(&ahead, FILE_BYTES - 100, UINT32_MAX, false);
    assert_true(cold_file_present(path, 0, FILE_BYTES) <= PAGE_BYTES);
    etl_map_close(&map);
}

static void expect_all_bytes(u32 stored_size, bool is_compressed)
{
    etl_map map = open_map(false);
    etl_index_ahead ahead = { .map = &map };
    etl_index_ahead_at(&ahead, 0, stored_size, is_compressed);
    assert_true(cold_file_arrives(path, 0, FILE_BYTES));
    etl_index_ahead_at(&ahead, FILE_BYTES - 1, stored_size, is_compressed);
    etl_map_close(&map);
}

static void all_bytes_of_compressed_buffers_are_asked_for(void **state)
{
    (void)state;
    if (!is_cold)
        skip();
    expect_all_bytes(20000, true);
}

static void all_bytes_of_small_buffers_are_asked_for(void **state)
{
    (void)state;
    if (!is_cold)
        skip();
    expect_all_bytes(4096, false);
}

/* The system may take pages back between reading and asking, but hardly each time. */
static bool is_left_alone(const etl_map *map, u64 offset, u64 size)
{
    bool is_asked = true;
    for (u32 i = 0; is_asked && i < 100; i++) {
        etl_map copy = open_map(true);
        is_asked = etl_map_fetch(map, offset, size);
        etl_map_close(&copy);
    }
    return !is_asked;
}

static void what_is_there_is_left_alone(void **state)
{
    (void)state;
    if (!is_cold)
        skip();
    etl_map map = open_map(false), copy = open_map(true);
    assert_true(cold_file_evict(path));
    assert_false(etl_map_fetch(&copy, 0, FILE_BYTES));
    assert_int_equal(cold_file_present(path, 0, FILE_BYTES), 0);
    assert_true(etl_map_fetch(&map, 0, FILE_BYTES));
    assert_true(cold_file_arrives(path, 0, FILE_BYTES));
    assert_true(is_left_alone(&map, 0, FILE_BYTES));
    assert_true(is_left_alone(&map, FILE_BYTES - 1, 1));
    assert_false(etl_map_fetch(&map, FILE_BYTES, 0));
    map.tells_present = false; /* the system keeps it to itself */
    assert_true(etl_map_fetch(&map, 0, FILE_BYTES));
    etl_map_close(&copy);
    etl_map_close(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(headers_alone_are_asked_for, begin_test, end_test),
        cmocka_unit_test_setup_teardown(prediction_ends_with_the_file, begin_test, end_test),
        cmocka_unit_test_setup_teardown(all_bytes_of_compressed_buffers_are_asked_for, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(all_bytes_of_small_buffers_are_asked_for, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(what_is_there_is_left_alone, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
