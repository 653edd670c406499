/*
 * Goal: output is complete or absent, and the first error is the one told.
 * Method: sinks on files in a folder of their own, on /dev/full and on closed
 * pipes; the folder is listed afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/formats.h"
#include "formats/io/gzip.h"
#include "parser/system/files.h"
#include "tests/support/temporary.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE (2 * TEMPORARY_PATH_BYTES)

static char *make_folder(void **state)
{
    char made[TEMPORARY_PATH_BYTES];
    char *const folder = temporary_subfolder(made, "etlheap-sink") ? strdup(made) : NULL;
    *state = folder;
    return folder;
}

static int set_up(void **state)
{
    return make_folder(state) ? 0 : -1;
}

static void path_in(char path[PATH_SIZE], const char *folder, const char *name)
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

/* Removes the files of the folder; the number that were there. */
static int clear(const char *folder)
{
    DIR *const list = opendir(folder);
    int count = 0;
    assert_non_null(list);
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char path[PATH_SIZE * 2];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_int_equal(unlink(path), 0);
        count++;
    }
    closedir(list);
    return count;
}

static int tear_down(void **state)
{
    clear(*state);
    rmdir(*state);
    free(*state);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_file(const char *path, const char *text)
{
    char found[64] = "";
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(found, 1, sizeof found - 1, file) == strlen(text));
    fclose(file);
    assert_string_equal(found, text);
}

static void a_file_gets_its_name_when_it_is_complete(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink;
    path_in(path, *state, "out");
    assert_int_equal(etlheap_sink_open_file(path, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "hello");
    etlheap_sink_flush(sink);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    expect_file(path, "hello");
    assert_int_equal(clear(*state), 1);
}

static void a_discarded_file_leaves_nothing(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink;
    path_in(path, *state, "out");
    assert_int_equal(etlheap_sink_open_file(path, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "hello");
    etlheap_sink_discard(sink);
    assert_int_equal(clear(*state), 0);
}

static void an_existing_file_stays_until_then(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink;
    path_in(path, *state, "out");
    write_file(path, "old");
    assert_int_equal(etlheap_sink_open_file(path, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "new");
    expect_file(path, "old");
    etlheap_sink_discard(sink);
    expect_file(path, "old");
    assert_int_equal(etlheap_sink_open_file(path, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "new");
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    expect_file(path, "new");
    assert_int_equal(clear(*state), 1);
}

static void an_existing_file_keeps_its_mode_and_its_link(void **state)
{
    char path[PATH_SIZE];
    char link[PATH_SIZE];
    struct stat stat;
    etlheap_sink *sink;
    path_in(path, *state, "out");
    path_in(link, *state, "link");
    write_file(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("out", link), 0);
    assert_int_equal(etlheap_sink_open_file(link, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "new");
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    expect_file(path, "new");
    assert_int_equal(lstat(link, &stat), 0);
    assert_true(S_ISLNK(stat.st_mode));
    assert_int_equal(lstat(path, &stat), 0);
    assert_int_equal(stat.st_mode & 0777, 0640);
}

static void what_is_no_file_is_written_directly(void **state)
{
    char path[PATH_SIZE];
    struct stat stat;
    etlheap_sink *sink;
    (void)state;
    assert_int_equal(etlheap_sink_open_file("/dev/null", &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "gone");
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    assert_int_equal(lstat("/dev/null", &stat), 0);
    assert_true(S_ISCHR(stat.st_mode));
    path_in(path, *state, "");
    etl_error err;
    assert_int_equal(etlheap_sink_open_file(path, &sink, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "directory"));
}

static void a_folder_that_is_missing_is_told_at_once(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink;
    etl_error err;
    path_in(path, *state, "nowhere/out");
    assert_int_equal(etlheap_sink_open_file(path, &sink, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "No such file"));
    assert_null(sink);
}

static void a_full_disk_is_told_once(void **state)
{
    etlheap_sink *sink;
    etl_error err = { .status = ETL_OK };
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(etlheap_sink_open_file("/dev/full", &sink, NULL), ETL_OK);
    assert_true(etlheap_sink_ok(sink));
    for (int i = 0; i < 100000; i++)
        etlheap_sink_text(sink, "0123456789");
    assert_false(etlheap_sink_ok(sink));
    assert_int_equal(etlheap_sink_close(sink, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "No space left"));
}

static void a_closed_pipe_is_an_error_not_an_end(void **state)
{
    int ends[2];
    etlheap_sink *sink;
    etl_error err;
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction before;
    (void)state;
    sigaction(SIGPIPE, &ignore, &before);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(etlheap_sink_open_descriptor(ends[1], "pipe", &sink, NULL), ETL_OK);
    close(ends[0]);
    etlheap_sink_text(sink, "hello");
    assert_false(etlheap_sink_reader_left(sink));
    etlheap_sink_flush(sink);
    assert_true(etlheap_sink_reader_left(sink));
    assert_int_equal(etlheap_sink_close(sink, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "Broken pipe"));
    assert_int_equal(close(ends[1]), 0); /* it stayed the caller's */
    sigaction(SIGPIPE, &before, NULL);
}

static void large_writes_arrive_in_order(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink;
    const size_t size = 200000;
    char *const block = malloc(size);
    assert_non_null(block);
    memset(block, 'x', size);
    path_in(path, *state, "out");
    assert_int_equal(etlheap_sink_open_file(path, &sink, NULL), ETL_OK);
    etlheap_sink_text(sink, "a");
    etlheap_sink_write(sink, block, size);
    etlheap_sink_fill(sink, 'b', 3);
    etlheap_sink_format(sink, "%d", 42);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fgetc(file), 'a');
    assert_true(fread(block, 1, size, file) == size);
    assert_int_equal(block[size - 1], 'x');
    assert_true(fread(block, 1, size, file) == 5);
    assert_memory_equal(block, "bbb42", 5);
    fclose(file);
    free(block);
}

/* The frame that a compressing sink wrote, whole, cut short anywhere, and with a changed byte. */
static void a_frame_is_unpacked_whole_or_refused(void **state)
{
    (void)state;
    etlheap_text frame = { 0 };
    etlheap_text text = { 0 };
    etlheap_sink *sink;
    assert_int_equal(etlheap_sink_open_text(&frame, &sink, NULL), ETL_OK);
    assert_int_equal(etlheap_sink_compress(sink, NULL), ETL_OK);
    for (int i = 0; i < 60000; i++)
        etlheap_sink_format(sink, "%d,", i);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    const size_t step = frame.size / 50 + 1;
    for (size_t size = frame.size; size > 0; size -= size > step ? step : size) {
        const etl_status wanted = size == frame.size ? ETL_OK : ETL_ERR_CORRUPT;
        etlheap_text_free(&text);
        assert_int_equal(etlheap_sink_open_text(&text, &sink, NULL), ETL_OK);
        assert_int_equal(etlheap_sink_unpack(sink, frame.bytes, size, NULL), wanted);
        assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
        assert_true(wanted != ETL_OK || text.size == 348890);
        assert_true(wanted != ETL_OK || strcmp(text.bytes + text.size - 6, "59999,") == 0);
    }
    frame.bytes[frame.size / 2] ^= 0x10;
    assert_int_equal(etlheap_sink_open_text(&text, &sink, NULL), ETL_OK);
    assert_int_equal(etlheap_sink_unpack(sink, frame.bytes, frame.size, NULL), ETL_ERR_CORRUPT);
    etlheap_sink_discard(sink);
    etlheap_text_free(&frame);
    etlheap_text_free(&text);
}

/* Says no after so many questions. */
typedef struct patience {
    u32 left, asked;
} patience;

static bool is_patient(void *user)
{
    patience *const p = user;
    p->asked++;
    return p->left > 0 && p->left-- > 0;
}

static void a_watcher_stops_the_writing(void **state)
{
    const char *const folder = *state;
    static const char block[64 * 1024];
    char path[PATH_SIZE];
    patience p = { .left = 3 };
    etlheap_sink *sink;
    etl_error err = { .status = ETL_OK };
    path_in(path, folder, "out");
    assert_int_equal(etlheap_sink_open_file(path, &sink, &err), ETL_OK);
    etlheap_sink_watch(sink, is_patient, &p);
    for (u32 i = 0; i < 4; i++) {
        assert_true(etlheap_sink_ok(sink));
        etlheap_sink_write(sink, block, sizeof block);
    }
    etlheap_sink_write(sink, block, sizeof block);
    assert_false(etlheap_sink_ok(sink));
    assert_false(etlheap_sink_goes_on(sink));
    const u32 asked = p.asked;
    etlheap_sink_write(sink, block, sizeof block);
    assert_int_equal(etlheap_sink_close(sink, &err), ETL_ERR_CANCELLED);
    assert_int_equal(p.asked, asked); /* one no is enough */
    assert_int_equal(clear(folder), 0);
}

/* Zeros become a thousandth of themselves: asked by output, nobody would be heard for long. */
static void a_watcher_is_asked_by_what_is_compressed(void **state)
{
    static const char block[1024];
    etlheap_text text = { NULL, 0, 0, false };
    patience p = { .left = 10 };
    etlheap_sink *sink;
    (void)state;
    assert_int_equal(etlheap_sink_open_text(&text, &sink, NULL), ETL_OK);
    etlheap_sink_watch(sink, is_patient, &p);
    etlheap_gzip *const gzip = etlheap_gzip_open(sink);
    assert_non_null(gzip);
    u32 blocks = 0;
    for (; etlheap_sink_ok(sink) && blocks < 10000; blocks++)
        etlheap_gzip_write(gzip, block, sizeof block);
    assert_in_range(blocks, 1, 11 * 64);
    (void)etlheap_gzip_close(gzip);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_ERR_CANCELLED);
    etlheap_text_free(&text);
}

/* Another run removes what a killed run left, and nothing else. */
static void a_file_being_written_is_not_abandoned(void **state)
{
    char path[PATH_SIZE];
    etlheap_sink *sink = NULL;
    etl_error err;
    int count = 0;
    path_in(path, *state, "out.txt");
    assert_int_equal(etlheap_sink_open_file(path, &sink, &err), ETL_OK);
    etl_listing *const listing = etl_listing_open(*state);
    assert_non_null(listing);
    for (const char *name; (name = etl_listing_next(listing)) != NULL;) {
        if (name[0] == '.')
            continue;
        count++;
        path_in(path, *state, name);
        assert_false(etl_file_remove_abandoned(path, 0));
    }
    etl_listing_close(listing);
    assert_int_equal(count, 1);
    etlheap_sink_text(sink, "whole");
    assert_int_equal(etlheap_sink_close(sink, &err), ETL_OK);
    path_in(path, *state, "out.txt");
    assert_true(etl_file_remove_abandoned(path, 0));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_file_gets_its_name_when_it_is_complete),
        TEST(a_discarded_file_leaves_nothing),
        TEST(an_existing_file_stays_until_then),
        TEST(an_existing_file_keeps_its_mode_and_its_link),
        TEST(what_is_no_file_is_written_directly),
        TEST(a_folder_that_is_missing_is_told_at_once),
        TEST(a_full_disk_is_told_once),
        TEST(a_closed_pipe_is_an_error_not_an_end),
        TEST(large_writes_arrive_in_order),
        TEST(a_frame_is_unpacked_whole_or_refused),
        TEST(a_watcher_stops_the_writing),
        TEST(a_watcher_is_asked_by_what_is_compressed),
        TEST(a_file_being_written_is_not_abandoned),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
