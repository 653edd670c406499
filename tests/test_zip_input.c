/*
 * Goal: traces come out of zip files whole, and zips that lie, are damaged or
 * hold no trace are refused with nothing left behind.
 * Method: zips made with libzip in a folder of the test, some with bytes of
 * their directory changed; extraction goes to a second folder that is listed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/formats.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zip.h>

#define PATH_SIZE   256
#define FILE_BYTES  100000
#define CENTRAL_SIG "PK\x01\x02"

typedef struct fixture {
    char folder[PATH_SIZE / 2]; /* of temporary files */
    char zip[PATH_SIZE];
} fixture;

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    snprintf(f->folder, sizeof f->folder, "/tmp/etlheap-zip-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->zip, sizeof f->zip, "%s.zip", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    unlink(f->zip);
    const int left = rmdir(f->folder); /* fails when a file was left behind */
    free(f);
    return left;
}

static u8 content_at(size_t i)
{
    return (u8)(i * 7 + i / 1000);
}

/* A zip with one member of FILE_BYTES for each name; NULL ends the names. */
static void make_zip(const fixture *f, const char *const *names)
{
    int code = 0;
    static u8 content[FILE_BYTES];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = content_at(i);
    zip_t *const zip = zip_open(f->zip, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    for (; *names; names++) {
        zip_source_t *const source = zip_source_buffer(zip, content, sizeof content, 0);
        assert_non_null(source);
        assert_true(zip_file_add(zip, *names, source, ZIP_FL_ENC_UTF_8) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static etl_status extract(const fixture *f, etlheap_zip **zip, etl_error *err)
{
    const etlheap_zip_options options = { .size = sizeof options, .folder = f->folder };
    return etlheap_zip_extract(f->zip, &options, zip, err);
}

static void expect_refused(const fixture *f, etl_status status, const char *word)
{
    etlheap_zip *zip = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(extract(f, &zip, &err), status);
    print_message("  %s\n", err.message);
    assert_null(zip);
    assert_non_null(strstr(err.message, word));
}

/* Writes a u32 at an offset from the first central directory entry. */
static void patch_directory(const fixture *f, size_t offset, u32 value)
{
    FILE *const file = fopen(f->zip, "r+");
    char bytes[4096];
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    const long from = size > (long)sizeof bytes ? size - (long)sizeof bytes : 0;
    fseek(file, from, SEEK_SET);
    const size_t got = fread(bytes, 1, sizeof bytes, file);
    size_t at = 0;
    while (at + 4 < got && memcmp(bytes + at, CENTRAL_SIG, 4) != 0)
        at++;
    assert_true(at + 4 < got);
    fseek(file, from + (long)(at + offset), SEEK_SET);
    assert_true(fwrite(&value, 1, sizeof value, file) == sizeof value);
    fclose(file);
}

static void a_member_comes_out_whole(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "readme.txt", "traces/App.ETL", NULL };
    etlheap_zip *zip;
    etl_error err;
    make_zip(f, names);
    assert_true(etlheap_zip_recognise(f->zip));
    assert_int_equal(extract(f, &zip, &err), ETL_OK);
    assert_int_equal(etlheap_zip_count(zip), 1);
    const etlheap_zip_member member = etlheap_zip_member_of(zip, 0);
    assert_string_equal(member.name, "traces/App.ETL");
    FILE *const file = fopen(member.path, "r");
    assert_non_null(file);
    for (size_t i = 0; i < FILE_BYTES; i++)
        assert_int_equal(fgetc(file), content_at(i));
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    etlheap_zip_close(zip);
}

static void several_members_are_files_of_one_recording(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.kernel.etl",     "app.etl",  "._app.etl",
                                         "__MACOSX/._app.etl", "app.etlx", NULL };
    etlheap_zip *zip;
    make_zip(f, names);
    assert_int_equal(extract(f, &zip, NULL), ETL_OK);
    assert_int_equal(etlheap_zip_count(zip), 2);
    assert_string_equal(etlheap_zip_member_of(zip, 0).name, "app.kernel.etl");
    assert_string_equal(etlheap_zip_member_of(zip, 1).name, "app.etl");
    etlheap_zip_close(zip);
}

static void a_zip_without_a_trace_is_refused(void **state)
{
    static const char *const names[] = { "readme.txt", ".etl", NULL };
    make_zip(*state, names);
    expect_refused(*state, ETL_ERR_NOT_ETL, "no .etl file");
}

static void a_member_longer_than_stated_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 24, 1000); /* uncompressed size */
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_member_shorter_than_stated_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 24, FILE_BYTES + 1);
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_member_with_a_wrong_checksum_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 16, 0x12345678);
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_cut_zip_is_refused(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", NULL };
    make_zip(f, names);
    assert_int_equal(truncate(f->zip, 300), 0);
    expect_refused(f, ETL_ERR_CORRUPT, "cannot open the zip");
}

static void the_room_and_the_limit_are_checked_before_writing(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", NULL };
    etlheap_zip_options options = { .size = sizeof options, .folder = f->folder };
    etlheap_zip *zip;
    etl_error err;
    make_zip(f, names);
    options.member_bytes_max = FILE_BYTES - 1;
    assert_int_equal(etlheap_zip_extract(f->zip, &options, &zip, &err), ETL_ERR_LIMIT);
    options.member_bytes_max = FILE_BYTES;
    assert_int_equal(etlheap_zip_extract(f->zip, &options, &zip, &err), ETL_OK);
    etlheap_zip_close(zip);
    options.folder = "/nonexistent";
    assert_int_equal(etlheap_zip_extract(f->zip, &options, &zip, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "TMPDIR"));
}

static bool cancel(void *user, u64 done_bytes, u64 total_bytes)
{
    u64 *const calls = user;
    (*calls)++;
    assert_true(done_bytes > 0 && done_bytes <= total_bytes);
    return false;
}

static void a_cancelled_extraction_leaves_nothing(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", "b.etl", NULL };
    u64 calls = 0;
    const etlheap_zip_options options = {
        .size = sizeof options, .folder = f->folder, .progress = cancel, .progress_user = &calls
    };
    etlheap_zip *zip;
    make_zip(f, names);
    assert_int_equal(etlheap_zip_extract(f->zip, &options, &zip, NULL), ETL_ERR_CANCELLED);
    assert_int_equal(calls, 1);
}

static void only_zips_are_recognised(void **state)
{
    const fixture *const f = *state;
    FILE *const file = fopen(f->zip, "w");
    assert_non_null(file);
    fputs("PK", file);
    fclose(file);
    assert_false(etlheap_zip_recognise(f->zip));
    assert_false(etlheap_zip_recognise(f->folder));
    assert_false(etlheap_zip_recognise("/nonexistent"));
    assert_false(etlheap_zip_recognise("/dev/null"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_member_comes_out_whole),
        TEST(several_members_are_files_of_one_recording),
        TEST(a_zip_without_a_trace_is_refused),
        TEST(a_member_longer_than_stated_is_refused),
        TEST(a_member_shorter_than_stated_is_refused),
        TEST(a_member_with_a_wrong_checksum_is_refused),
        TEST(a_cut_zip_is_refused),
        TEST(the_room_and_the_limit_are_checked_before_writing),
        TEST(a_cancelled_extraction_leaves_nothing),
        TEST(only_zips_are_recognised),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
