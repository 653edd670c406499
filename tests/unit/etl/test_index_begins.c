/*
 * Goal: with threads lent to it, indexing reads most beginnings of equal buffers before it looks
 * at them, finds the same as without, and reads little for nothing where buffers are not equal.
 * Method: built traces, sound ones and some with a broken header or other sizes, are opened with
 * and without; the threads are one that does the tasks from the last to the first and counts
 * them. What is read by the structure alone is compared with the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "parser/etl/index_begins.h"
#include "parser/system/files.h"
#include "tests/build/etl_build.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/temporary.h"

#define BUFFER_BYTES 1024u
#define TASK_BUFFERS 128u /* that one task reads */
#define ALLOCATIONS  12000u
#define STRIDE       512u
#define FILE_BYTES   (4096u * STRIDE)
#define TRIES_MAX    100u

typedef struct lent {
    u32 calls;
    u32 tasks;
} lent;

static char path[TEMPORARY_PATH_BYTES];
static int opened = -1;

static int remove_file(void **state)
{
    (void)state;
    etl_temporary_remove(opened, path);
    opened = -1;
    return 0;
}

static void write_file(const void *bytes, size_t size)
{
    (void)snprintf(path, sizeof path, "%s/test_begins_XXXXXX", temporary_folder());
    opened = etl_temporary_open(path);
    assert_true(opened >= 0);
    assert_true(etl_file_write(opened, bytes, size));
}

static void run_backwards(void *user, u32 task_count, void (*fn)(void *context, u32 task),
                          void *context)
{
    lent *const threads = user;
    threads->calls++;
    threads->tasks += task_count;
    for (u32 i = task_count; i-- > 0;)
        fn(context, i);
}

/* --- the structure alone -------------------------------------------------------------- */

/* Every 8 bytes are their own offset. */
static u8 *numbered_bytes(void)
{
    u8 *const bytes = malloc(FILE_BYTES);
    assert_non_null(bytes);
    for (u64 at = 0; at < FILE_BYTES; at += sizeof at)
        memcpy(bytes + at, &at, sizeof at);
    return bytes;
}

static void open_numbered(etl_map *map)
{
    u8 *const bytes = numbered_bytes();
    write_file(bytes, FILE_BYTES);
    free(bytes);
    assert_int_equal(etl_map_open(path, false, map, NULL), ETL_OK);
}

static void go_on(etl_index_begins *begins, u64 *offset, u32 buffers)
{
    for (u32 i = 0; i < buffers; i++, *offset += STRIDE)
        etl_index_begins_at(begins, *offset, STRIDE);
}

static void equal_buffers_are_read_where_they_must_be(void **state)
{
    (void)state;
    etl_map map;
    lent threads = { 0 };
    open_numbered(&map);
    etl_index_begins begins = {
        .map = &map, .descriptor = opened, .run_tasks = run_backwards, .run_user = &threads
    };
    u64 offset = 0;
    go_on(&begins, &offset, 63);
    assert_int_equal(threads.calls, 0);
    /* The system may take a page back just before it is asked about. */
    while (threads.calls == 0 && offset < FILE_BYTES / 2)
        go_on(&begins, &offset, 1);
    if (threads.calls == 0) { /* a system that does not tell what is in memory */
        etl_map_close(&map);
        skip();
    }
    assert_int_equal(threads.calls, 1);
    assert_int_equal(threads.tasks, (begins.count + TASK_BUFFERS - 1) / TASK_BUFFERS);
    for (u32 i = 0; i < begins.count; i++) {
        const u64 expected = offset + (u64)i * STRIDE;
        const etl_peeked *const found = etl_index_begins_find(&begins, expected);
        assert_non_null(found);
        u64 number;
        memcpy(&number, found->bytes + found->size - sizeof number, sizeof number);
        assert_true(number == expected + found->size - sizeof number);
        assert_int_equal(found->size, etl_min_u64(ETL_PEEK_BYTES, FILE_BYTES - expected));
        assert_null(etl_index_begins_find(&begins, expected + 8));
    }
    assert_null(etl_index_begins_find(&begins, offset - STRIDE));
    assert_null(etl_index_begins_find(&begins, offset + (u64)begins.count * STRIDE));
    etl_index_begins_free(&begins);
    etl_map_close(&map);
}

/* A run of 64 buffers and one of another size, again and again. */
static void no_more_is_read_than_some_times_the_run(void **state)
{
    (void)state;
    etl_map map;
    lent threads = { 0 };
    open_numbered(&map);
    etl_index_begins begins = {
        .map = &map, .descriptor = opened, .run_tasks = run_backwards, .run_user = &threads
    };
    u64 offset = 0;
    for (u32 round = 0; round < 30; round++) {
        go_on(&begins, &offset, 64);
        etl_index_begins_at(&begins, offset, STRIDE / 2);
        offset += STRIDE / 2;
    }
    assert_true(threads.tasks * TASK_BUFFERS <= 30 * 4 * 65);
    etl_index_begins_free(&begins);
    etl_map_close(&map);
}

/* --- whole files ---------------------------------------------------------------------- */

static hand_bytes build(void)
{
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .cpus = 2, .buffer_bytes = BUFFER_BYTES });
    i64 ticks = etl_build_start_ticks(b);
    for (u32 i = 0; i < ALLOCATIONS; i++) {
        ticks += 10;
        const etl_build_at at = { .ticks = ticks, .cpu = i % 2, .pid = 8, .tid = 16 };
        etl_build_heap_alloc(b, at, 0x1000, 0x2000 + 64 * (u64)i, 48);
    }
    assert_true(etl_build_finish(b));
    size_t size;
    const u8 *const built = etl_build_data(b, &size);
    hand_bytes file = { NULL, 0 };
    hand_put(&file, built, size);
    etl_build_free(b);
    return file;
}

/* Opens the file with and without threads, and returns the tasks that these did. */
static u32 check_file(const hand_bytes *file)
{
    lent threads = { 0 };
    const etl_open_options options = { .size = sizeof options,
                                       .run_tasks = run_backwards,
                                       .run_user = &threads };
    write_file(file->at, file->size);
    assert_true(etl_temporary_finish(&opened));
    etl_trace *with, *without;
    assert_int_equal(etl_open(path, &options, &with, NULL), ETL_OK);
    assert_int_equal(etl_open(path, NULL, &without, NULL), ETL_OK);
    assert_int_equal(etl_buffer_count(with), etl_buffer_count(without));
    for (u32 i = 0; i < etl_buffer_count(with); i++)
        assert_memory_equal(etl_buffer_info_of(with, i), etl_buffer_info_of(without, i),
                            sizeof(etl_buffer_info));
    assert_memory_equal(etl_trace_diagnostics(with), etl_trace_diagnostics(without),
                        sizeof(etl_diag_counts));
    etl_close(with);
    etl_close(without);
    remove_file(NULL);
    return threads.tasks;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    hand_bytes file = build();
    const u32 buffers = (u32)(file.size / BUFFER_BYTES);
    assert_true(buffers > 600);
    u32 tasks = 0;
    for (u32 i = 0; i < TRIES_MAX && tasks == 0; i++)
        tasks = check_file(&file);
    if (tasks == 0) {
        hand_free(&file);
        skip();
    }
    assert_true(tasks * TASK_BUFFERS < 2 * buffers);
    for (u32 broken = 60; broken < buffers; broken += 37) {
        u8 *const header = file.at + (size_t)broken * BUFFER_BYTES;
        header[1] ^= 0x02; /* its size */
        (void)check_file(&file);
        header[1] ^= 0x02;
    }
    file.size -= BUFFER_BYTES / 2; /* the last one is cut */
    (void)check_file(&file);
    hand_free(&file);
}

#define BEGINS(test) cmocka_unit_test_teardown(test, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEGINS(equal_buffers_are_read_where_they_must_be),
        BEGINS(no_more_is_read_than_some_times_the_run),
        BEGINS(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
