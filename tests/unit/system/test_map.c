/*
 * Goal: what becomes of a file while it is read is noticed: that its bytes changed, or
 * that it became shorter within a page, which no signal tells. What makes no difference
 * to the bytes that were opened is not.
 * Method: a small file is opened, changed in one way, and asked about. Its time of
 * change is set back first, so that the clock's steps do not matter.
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
#include <unistd.h>

#include "engine/engine.h"
#include "parser/system/map.h"
#include "tests/build/etl_build.h"
#include "tests/support/temporary.h"

#define FILE_BYTES 5000

static char path[TEMPORARY_PATH_BYTES];

static void write_file(const char *to, const void *bytes, size_t size)
{
    FILE *const file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    const struct timespec past[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    assert_int_equal(utimensat(AT_FDCWD, to, past, 0), 0);
}

static int begin_test(void **state)
{
    static char bytes[FILE_BYTES];
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    const int file = temporary_file(path, "test_map");
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    write_file(path, bytes, sizeof bytes);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static void overwrite(off_t at)
{
    const int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "y", 1, at), 1);
    assert_int_equal(close(file), 0);
}

static void cut_off(void)
{
    assert_int_equal(truncate(path, FILE_BYTES - 1), 0);
}

static void write_in_place(void)
{
    overwrite(7);
}

static void append(void)
{
    overwrite(FILE_BYTES);
}

static void do_nothing(void)
{
}

static void delete (void)
{
    assert_int_equal(unlink(path), 0);
}

static void replace(void)
{
    char other[sizeof path + 4];
    (void)snprintf(other, sizeof other, "%s.new", path);
    write_file(other, "z", 1);
    assert_int_equal(rename(other, path), 0);
}

/* Whether it is noticed, of a file that is mapped and of one that is read. */
static void expect_changed(void change(void), bool expected)
{
    for (int read_it = 0; read_it < 2; read_it++) {
        etl_map map;
        void *none = NULL;
        assert_int_equal(end_test(&none) | begin_test(&none), 0);
        assert_int_equal(etl_map_open(path, read_it != 0, &map, NULL), ETL_OK);
        change();
        assert_int_equal(etl_map_changed(&map), expected);
        assert_int_equal(map.bytes.size, FILE_BYTES);
        etl_map_close(&map);
    }
}

static void file_left_alone_is_unchanged(void **state)
{
    (void)state;
    expect_changed(do_nothing, false);
}

static void file_cut_off_within_its_last_page_is_changed(void **state)
{
    (void)state;
    expect_changed(cut_off, true);
}

static void file_written_in_place_is_changed(void **state)
{
    (void)state;
    expect_changed(write_in_place, true);
}

static void file_that_grows_is_seen_as_it_was(void **state)
{
    (void)state;
    expect_changed(append, false);
}

static void file_that_is_deleted_stays_what_it_was(void **state)
{
    (void)state;
    expect_changed(delete, false);
}

static void file_that_is_replaced_stays_what_it_was(void **state)
{
    (void)state;
    expect_changed(replace, false);
}

static void file_without_a_name_is_not_asked_about(void **state)
{
    etl_map map;
    (void)state;
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(etl_map_descriptor(file, false, &map, NULL), ETL_OK);
    cut_off();
    assert_false(etl_map_changed(&map));
    etl_map_close(&map);
    assert_int_equal(close(file), 0);
}

/* --- what is told ----------------------------------------------------------- */

static etl_trace *open_built_trace(size_t *size)
{
    const etl_build_options options = { .cpus = 1, .buffer_bytes = 4096 };
    etl_build *const b = etl_build_new(&options);
    const etl_build_at at = { .ticks = etl_build_start_ticks(b) + 10, .pid = 4, .tid = 8 };
    etl_trace *trace = NULL;
    etl_build_heap_alloc(b, at, 0x10000, 0x20000, 64);
    assert_true(etl_build_finish(b));
    const u8 *const bytes = etl_build_data(b, size);
    write_file(path, bytes, *size);
    etl_build_free(b);
    assert_int_equal(etl_open(path, NULL, &trace, NULL), ETL_OK);
    return trace;
}

static u64 changes_told_by_analysis(etl_trace *trace)
{
    const char *const name = path;
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_analyze(&trace, &name, 1, NULL, &result, NULL), ETL_OK);
    const u64 told = etlheap_result_diagnostics(result)->of[ETL_DIAG_file_changed];
    etlheap_result_free(result);
    return told;
}

static u64 changes_told_by_stream(etl_trace *trace)
{
    etlheap_stream *stream = NULL;
    etlheap_stream_record record;
    assert_int_equal(etlheap_stream_open(&trace, 1, &stream, NULL), ETL_OK);
    while (etlheap_stream_next(stream, &record))
        assert_int_equal(etlheap_stream_diagnostics(stream)->of[ETL_DIAG_file_changed], 0);
    assert_false(etlheap_stream_next(stream, &record));
    const u64 told = etlheap_stream_diagnostics(stream)->of[ETL_DIAG_file_changed];
    etlheap_stream_close(stream);
    return told;
}

static void answers_tell_of_a_changed_file_once(void **state)
{
    size_t size;
    (void)state;
    etl_trace *const trace = open_built_trace(&size);
    assert_false(etl_trace_changed(trace));
    assert_int_equal(changes_told_by_analysis(trace), 0);
    assert_int_equal(changes_told_by_stream(trace), 0);
    overwrite((off_t)size - 1);
    assert_true(etl_trace_changed(trace));
    assert_int_equal(changes_told_by_analysis(trace), 1);
    assert_int_equal(changes_told_by_stream(trace), 1);
    etl_close(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_left_alone_is_unchanged),
        TEST(file_cut_off_within_its_last_page_is_changed),
        TEST(file_written_in_place_is_changed),
        TEST(file_that_grows_is_seen_as_it_was),
        TEST(file_that_is_deleted_stays_what_it_was),
        TEST(file_that_is_replaced_stays_what_it_was),
        TEST(file_without_a_name_is_not_asked_about),
        TEST(answers_tell_of_a_changed_file_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
