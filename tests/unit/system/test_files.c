/*
 * Goal: files and folders behave the same on every system: names of any language and
 * length, replacing and removing what is open and mapped, temporary files that leave
 * nothing behind.
 * Method: a folder of the test, in which each is done and looked at by other means of
 * the same interface. It runs on Linux and, under Wine, on Windows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/map.h"
#include "tests/support/temporary.h"

#define PATH_SIZE 2048

static char folder[TEMPORARY_PATH_BYTES];

static const char *path_of(char path[PATH_SIZE], const char *name)
{
    assert_in_range(snprintf(path, PATH_SIZE, "%s/%s", folder, name), 1, PATH_SIZE - 1);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/etlheap-test-files-XXXXXX", temporary_folder());
    return etl_folder_make_temporary(folder) ? 0 : -1;
}

/* Fails when a test left something behind. */
static int tear_down(void **state)
{
    (void)state;
    return etl_folder_remove(folder) ? 0 : -1;
}

static void write_file(const char *path, const char *text)
{
    const int file = etl_file_create(path);
    assert_true(file >= 0);
    assert_true(etl_file_write(file, text, strlen(text)));
    assert_true(etl_file_close(file));
}

static void assert_text(const char *path, const char *expected)
{
    char text[64] = "";
    const int file = etl_file_open(path);
    assert_true(file >= 0);
    assert_int_equal(etl_file_read(file, text, sizeof text - 1), strlen(expected));
    assert_true(etl_file_close(file));
    assert_string_equal(text, expected);
}

static void bytes_are_not_translated(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    write_file(path_of(path, "text"), "a\nb\r\nc\x1a"
                                      "d");
    assert_text(path, "a\nb\r\nc\x1a"
                      "d");
    FILE *const stream = etl_file_stream(path);
    assert_non_null(stream);
    char text[16] = "";
    assert_int_equal(fread(text, 1, sizeof text - 1, stream), 8);
    fclose(stream);
    assert_true(etl_file_remove(path));
}

static void names_of_any_language_are_found_again(void **state)
{
    static const char name[] = "\xc3\x9c"
                               "bung \xe6\xb8\xac\xe8\xa9\xa6 \xf0\x9f\x93\x88.etl";
    char path[PATH_SIZE];
    bool found = false;
    (void)state;
    write_file(path_of(path, name), "x");
    assert_int_equal(etl_path_kind_of(path), ETL_PATH_FILE);
    etl_listing *const listing = etl_listing_open(folder);
    assert_non_null(listing);
    for (const char *each; (each = etl_listing_next(listing)) != NULL;)
        found |= strcmp(each, name) == 0;
    etl_listing_close(listing);
    assert_true(found);
    assert_true(etl_file_remove(path));
}

/* Far behind the 260 characters that Windows' older calls end at. */
static void names_are_as_long_as_the_file_system_allows(void **state)
{
    char path[PATH_SIZE];
    char part[101];
    size_t ends[12];
    size_t depth = 0;
    (void)state;
    memset(part, 'd', sizeof part - 1);
    part[sizeof part - 1] = '\0';
    size_t size = strlen(path_of(path, ""));
    for (; depth < 8; depth++) {
        size += (size_t)snprintf(path + size, sizeof path - size, "%s%s", depth ? "/" : "", part);
        assert_true(etl_folder_make(path));
        ends[depth] = size;
    }
    snprintf(path + size, sizeof path - size, "/x.etl");
    write_file(path, "deep");
    assert_text(path, "deep");
    etl_map map;
    assert_int_equal(etl_map_open(path, false, &map, NULL), ETL_OK);
    assert_int_equal(map.bytes.size, 4);
    etl_map_close(&map);
    assert_true(etl_file_remove(path));
    while (depth > 0) {
        path[ends[--depth]] = '\0';
        assert_true(etl_folder_remove(path));
    }
}

static void kinds_are_told_apart(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    assert_int_equal(etl_path_kind_of(folder), ETL_PATH_FOLDER);
    errno = 0;
    assert_int_equal(etl_path_kind_of(path_of(path, "nothing")), ETL_PATH_ABSENT);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(etl_path_kind_of(path_of(path, "no/thing")), ETL_PATH_ABSENT);
    assert_int_equal(errno, ENOENT);
    assert_true(etl_file_open(path) < 0);
    assert_int_equal(errno, ENOENT);
    etl_map map;
    etl_error err;
    assert_int_equal(etl_map_open(folder, false, &map, &err), ETL_ERR_IO);
    assert_string_equal(err.message, "is a directory, not a file");
}

static void one_file_has_many_spellings(void **state)
{
    char path[PATH_SIZE];
    char other[PATH_SIZE];
    char third[PATH_SIZE];
    (void)state;
    write_file(path_of(path, "a"), "same");
    write_file(path_of(third, "b"), "same");
    snprintf(other, sizeof other, "%s/./..%s/a", folder, strrchr(folder, '/'));
    assert_true(etl_path_is_same(path, other));
    assert_false(etl_path_is_same(path, third));
    assert_false(etl_path_is_same(path, path_of(other, "c")));
    char *const resolved = etl_path_resolve(path);
    assert_non_null(resolved);
    assert_true(etl_path_is_same(resolved, path));
    assert_true(etl_path_root_size(resolved) > 0);
    free(resolved);
    assert_true(etl_file_remove(path));
    assert_true(etl_file_remove(third));
}

static void a_new_file_never_takes_the_place_of_another(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    write_file(path_of(path, "there"), "old");
    assert_true(etl_file_create_new(path) < 0);
    assert_int_equal(errno, EEXIST);
    assert_text(path, "old");
    assert_true(etl_file_remove(path));
}

/* By name it is the new file, and for who has it open still what it was. */
static void what_is_open_can_be_replaced(void **state)
{
    char path[PATH_SIZE];
    char other[PATH_SIZE];
    char text[8] = "";
    (void)state;
    write_file(path_of(path, "file"), "old");
    write_file(path_of(other, "file.new"), "new");
    const int file = etl_file_open(path);
    assert_true(file >= 0);
    assert_true(etl_file_replace(other, path));
    assert_text(path, "new");
    assert_int_equal(etl_path_kind_of(other), ETL_PATH_ABSENT);
    assert_int_equal(etl_file_read(file, text, sizeof text), 3);
    assert_string_equal(text, "old");
    assert_true(etl_file_close(file));
    assert_true(etl_file_remove(path));
}

static void a_file_that_somebody_writes_can_be_read(void **state)
{
    char path[PATH_SIZE];
    u64 size;
    (void)state;
    const int file = etl_file_open_exclusive(path_of(path, "log"), &size);
    assert_true(file >= 0);
    assert_int_equal(size, 0);
    assert_true(etl_file_write(file, "begun", 5));
    assert_text(path, "begun");
    assert_true(etl_file_close(file));
    const int again = etl_file_open_exclusive(path, &size);
    assert_true(again >= 0);
    assert_int_equal(size, 5);
    u64 other;
    assert_true(etl_file_open_exclusive(path, &other) < 0);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_true(etl_file_write(again, "+", 1));
    assert_true(etl_file_close(again));
    assert_text(path, "begun+");
    assert_true(etl_file_remove(path));
}

static void a_file_is_cut_and_begun_again(void **state)
{
    char path[PATH_SIZE];
    u64 size = 7;
    etl_path_kind kind;
    (void)state;
    const int file = etl_file_create(path_of(path, "cut"));
    assert_true(etl_file_write(file, "something", 9));
    assert_true(etl_file_truncate(file));
    assert_true(etl_file_write(file, "else", 4));
    assert_true(etl_file_examine(file, &kind, &size));
    assert_int_equal(kind, ETL_PATH_FILE);
    assert_int_equal(size, 4);
    assert_true(etl_file_sync(file));
    assert_true(etl_file_close(file));
    assert_text(path, "else");
    assert_true(etl_file_remove(path));
}

/* Beyond 4 GiB, in a file with a hole. */
static void places_have_64_bits(void **state)
{
    char path[PATH_SIZE];
    char text[2] = "";
    u64 size = 0;
    etl_path_kind kind;
    (void)state;
    const int file = etl_file_create(path_of(path, "large"));
    assert_true(etl_file_seek(file, 5 * ETL_GIB));
    assert_true(etl_file_write(file, "z", 1));
    assert_true(etl_file_examine(file, &kind, &size));
    assert_true(size == 5 * ETL_GIB + 1);
    assert_true(etl_file_seek(file, 5 * ETL_GIB));
    assert_int_equal(etl_file_read(file, text, 2), 1);
    assert_string_equal(text, "z");
    assert_true(etl_file_close(file));
    assert_true(etl_file_remove(path));
}

static void what_is_mapped_stays_readable_when_it_is_removed(void **state)
{
    char path[PATH_SIZE];
    etl_map map;
    (void)state;
    write_file(path_of(path, "mapped"), "still here");
    assert_int_equal(etl_map_open(path, false, &map, NULL), ETL_OK);
    assert_true(map.is_mapped);
    assert_true(etl_file_remove(path));
    assert_memory_equal(map.bytes.at, "still here", 10);
    etl_map_close(&map);
    assert_int_equal(etl_path_kind_of(path), ETL_PATH_ABSENT);
}

static void temporary_files_leave_nothing_behind(void **state)
{
    char path[PATH_SIZE];
    char other[PATH_SIZE];
    etl_map map;
    (void)state;
    int file = etl_temporary_open(memcpy(path, path_of(other, "t-XXXXXX"), PATH_SIZE));
    assert_true(file >= 0);
    assert_string_not_equal(path, other);
    const int second = etl_temporary_open(other);
    assert_true(second >= 0);
    assert_string_not_equal(path, other);
    assert_true(etl_file_write(file, "kept", 4));
    assert_true(etl_temporary_finish(&file));
    assert_int_equal(etl_map_open(path, false, &map, NULL), ETL_OK);
    etl_temporary_remove(file, path);
    etl_temporary_remove(second, other);
    assert_memory_equal(map.bytes.at, "kept", 4);
    etl_map_close(&map);
    assert_int_equal(etl_path_kind_of(path), ETL_PATH_ABSENT);
    assert_int_equal(etl_path_kind_of(other), ETL_PATH_ABSENT);
}

static void there_is_room_in_a_folder(void **state)
{
    u64 block_bytes = 0;
    u64 blocks = 0;
    char path[PATH_SIZE];
    (void)state;
    assert_true(etl_folder_room(folder, &block_bytes, &blocks));
    assert_true(block_bytes > 0 && blocks > 0);
    assert_true(etl_folder_is_usable(folder, true));
    assert_false(etl_folder_is_usable(path_of(path, "none"), true));
    assert_false(etl_folder_room(path, &block_bytes, &blocks));
    assert_false(etl_folder_make(folder));
    assert_int_equal(errno, EEXIST);
}

/* As Windows has them; elsewhere a backslash is a letter. */
static void roots_of_names_are_known(void **state)
{
    static const struct {
        const char *name;
        size_t posix, windows;
    } rows[] = {
        { "a/b", 0, 0 },
        { "/a", 1, 1 },
        { "", 0, 0 },
        { "C:\\a", 0, 3 },
        { "c:/a", 0, 3 },
        { "C:a", 0, 2 },
        { "\\a", 0, 1 },
        { "\\\\s\\share\\a", 0, 10 },
        { "\\\\s\\share", 0, 9 },
        { "//s/share/a", 1, 10 },
        { "::", 0, 0 },
    };
    const bool is_windows = etl_path_is_separator('\\');
    (void)state;
    assert_true(etl_path_is_separator('/'));
    assert_false(etl_path_is_separator(':'));
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(etl_path_root_size(rows[i].name),
                         is_windows ? rows[i].windows : rows[i].posix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_are_not_translated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_any_language_are_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_as_long_as_the_file_system_allows, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(kinds_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_file_has_many_spellings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_file_never_takes_the_place_of_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_open_can_be_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_somebody_writes_can_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_cut_and_begun_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places_have_64_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_mapped_stays_readable_when_it_is_removed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(temporary_files_leave_nothing_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_room_in_a_folder, set_up, tear_down),
        cmocka_unit_test(roots_of_names_are_known),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
